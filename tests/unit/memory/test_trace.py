"""Run identity and names (decision 23, behaviours 003.15)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kip.memory.naming import SLUG_LIMIT, run_name, slug, step_name
from kip.memory.trace import Message, Outcome, Step, Trace, run_key

BASE = Trace(
    where="runs.json[0]",
    goal="Cancel my flight",
    steps=(Step("action", "cancel(id=1)", "traj[3]", tool="cancel", arguments={"id": 1}),),
    messages=(Message("user", "Cancel my flight"),),
    outcome=Outcome(success=True),
)


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, goal="Cancel my flights"),
        replace(BASE, outcome=Outcome(success=False)),
        replace(BASE, steps=(replace(BASE.steps[0], arguments={"id": 2}),)),
        replace(BASE, messages=(*BASE.messages, Message("assistant", "Done."))),
        replace(BASE, run_id="run-7"),
    ],
)
def test_runs_that_differ_have_different_keys(other: Trace) -> None:
    assert run_key(other) != run_key(BASE)


def test_where_a_run_was_read_does_not_count() -> None:
    moved = replace(BASE, where="copy.jsonl line 9", warnings=("x",))
    assert run_key(moved) == run_key(BASE)


def test_the_sources_run_id_decides_whatever_the_content() -> None:
    first = replace(BASE, run_id="run-7", source="ci")
    grown = replace(first, steps=(*BASE.steps, Step("observation", "ok", "traj[4]")))
    assert run_key(first) == run_key(grown)
    assert run_key(first) != run_key(replace(first, source="other ci"))


def test_names() -> None:
    dated = replace(BASE, started_at="2026-08-13T10:12:05.000000Z", key="0a1b2c3d")
    name = run_name("Experience", dated)
    assert name == "Experience:2026-08-13T10:12:cancel_flight:0a1b2c3d"
    assert step_name(name, 7) == f"{name}:Step:0007"
    assert run_name("Experience", BASE).startswith("Experience:undated:cancel_flight:")


@given(st.text(st.characters(codec="utf-8")))
def test_a_slug_is_short_and_never_empty(text: str) -> None:
    made = slug(text)
    assert 0 < len(made) <= SLUG_LIMIT
    assert made == slug(text)
    assert made.strip("_ ") == made
