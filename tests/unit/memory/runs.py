"""Small runs and a store to put them in, for the tests of memory."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from kip.api import Brain
from kip.backends.sqlite import SqliteBackend
from kip.clock import FixedClock
from kip.nexus.nexus import Nexus

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def fresh_brain(clock: FixedClock | None = None) -> Brain:
    """A memory in a new store that exists only in this process."""
    return Brain(Nexus(SqliteBackend(":memory:"), clock=clock or FixedClock(NOW)))


def step(kind: str, summary: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "summary": summary, **more}


def run(goal: str = "Deploy the shop", *steps: dict[str, Any], status: str = "success", **more: Any) -> dict[str, Any]:
    """A payload of document 003; two plain actions where no steps are given."""
    trace = [*steps] or [step("action", "Start it"), step("action", "Check it")]
    return {"goal": goal, "trace": trace, "outcome": {"status": status}, "timestamp": "2026-04-01T10:00:00Z", **more}


def rows(brain: Brain, query: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """The solutions of a FIND."""
    return brain.nexus.session().rows(query, parameters)


def count(brain: Brain, kind: str) -> int:
    """How many concepts of a type the store holds."""
    return brain.nexus.session().execute("FIND(COUNT(?x)) WHERE { ?x {type: :kind} }", {"kind": kind})


def census(brain: Brain) -> dict[str, Any]:
    """Every element that memory writes, with its version: equal before and after means that nothing changed."""
    kinds = ["Experience", "ExperienceStep", "Event", "Person", "Domain"]
    query = "FIND(?x.id, ?x.metadata._version) WHERE { ?x {type: :kind} }"
    found = [row for kind in kinds for row in rows(brain, query, kind=kind)]
    links = rows(
        brain, 'FIND(?l.id, ?l.metadata._version) WHERE { ?l (?s, "has_step" | "involves" | "caused_by", ?o) }'
    )
    return dict([*found, *links])
