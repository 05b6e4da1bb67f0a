"""Every trace is repaired, cleaned and cut to size before it is stored."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kip.errors import KipError
from kip.memory.marks import BEGIN, END
from kip.memory.privacy import REPLACEMENT, Tally
from kip.memory.screening import (
    ARGUMENT_ITEMS,
    ARGUMENT_TEXT_LIMIT,
    SUMMARY_LIMIT,
    bounded,
    call_text,
    repaired,
    screened,
    shortened,
)
from kip.memory.trace import Message, Outcome, Person, Step, Trace
from kip.values import Json

SECRET = "sk-" + "a1B2" * 8

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec=None)), inner, max_size=4),
    max_leaves=20,
)


def texts_of(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts_of(part)]
    return [text for item in value for text in texts_of(item)] if isinstance(value, list) else []


@given(json_values)
def test_repaired_records_hold_only_characters(value: Json) -> None:
    for text in texts_of(repaired(value, Tally())):
        text.encode("utf-8")
        assert "\0" not in text


def test_nesting_past_reason_is_refused() -> None:
    value: Json = "x"
    for _ in range(500):
        value = [value]
    with pytest.raises(KipError, match="nested"):
        repaired(value, Tally())


def test_no_part_of_a_trace_keeps_a_secret() -> None:
    arguments: Json = {"password": "letmein", "note": f"key {SECRET}"}
    step = Step("action", f"use {SECRET}", "r", tool="login", arguments=arguments, rationale=f"because {SECRET}")
    step = replace(step, expected=SECRET, actual=SECRET, prediction_error=SECRET, state={"token": "abc"})
    whole = Trace(
        where="w",
        goal=f"rotate {SECRET}",
        steps=(step, replace(step, summary="")),
        messages=(Message("user", SECRET),),
        outcome=Outcome(text=SECRET),
        initial_state={"api_key": "abc", "deep": [{"secret": "abc"}]},
        context={"note": SECRET},
    )
    tally = Tally()
    safe = repr(screened(whole, tally))
    assert SECRET not in safe
    assert "letmein" not in safe
    assert "'abc'" not in safe
    assert tally.secrets > 10
    assert REPLACEMENT in safe


def test_recalled_passages_are_left_out_of_every_text() -> None:
    tally = Tally()
    lore = f"{BEGIN} 3 similar runs {END}"
    safe = screened(
        Trace("w", f"deploy {lore}", (Step("feedback", lore, "r"),), (Message("user", f"hi {lore}"),)),
        tally,
    )
    assert "similar" not in repr(safe)
    assert safe.goal == "deploy"
    assert tally.recalled == 3


def test_a_person_without_a_name_is_nobody() -> None:
    safe = screened(Trace("w", "g", persons=(Person("  ", "Human"), Person("Ada", "Human"))), Tally())
    assert [person.name for person in safe.persons] == ["Ada"]


@given(st.text(st.characters(codec="utf-8")), st.integers(20, 300))
def test_shortened_text_is_one_line_within_its_limit(text: str, limit: int) -> None:
    short = shortened(text, limit)
    assert len(short) <= limit
    assert short == " ".join(short.split())
    assert shortened(short, limit) == short


def test_a_long_output_keeps_both_ends() -> None:
    short = shortened("Running tests " + "." * 5000 + " KeyError: 'plan'", SUMMARY_LIMIT)
    assert short.startswith("Running tests")
    assert short.endswith("KeyError: 'plan'")


@given(json_values)
def test_small_values_are_kept_exactly(value: Json) -> None:
    if all(len(text) <= 100 for text in texts_of(value)):
        assert bounded(value) == value


def test_large_values_are_cut() -> None:
    value: Json = {"text": "x" * 50_000, "list": [*range(500)], **{f"k{i}": i for i in range(100)}}
    kept = bounded(value)
    assert isinstance(kept, dict)
    assert len(kept) == ARGUMENT_ITEMS + 1
    assert len(str(kept["text"])) <= ARGUMENT_TEXT_LIMIT
    assert kept["list"] == [*range(ARGUMENT_ITEMS), "… 450 more"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"city": "Oslo", "limit": 3, "deep": {"a": [1]}}, 'search(city=Oslo, limit=3, deep={"a":[1]})'),
        ("{bad json", "search({bad json)"),
        (None, "search()"),
        ({}, "search()"),
    ],
)
def test_a_call_as_people_read_it(arguments: Json, text: str) -> None:
    assert call_text("search", arguments) == text
