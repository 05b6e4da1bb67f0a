"""The one normalised trace that every adapter produces (document 003, sections 5, 6 and 15).

A :class:`Trace` is what formation works on: a goal, the state it started from, ordered steps of the four
kinds, the messages around them, the people in it and the outcome. Nothing here knows a foreign format.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from kip.values import Json, dumps

StepKind = Literal["observation", "decision", "action", "feedback"]
STEP_KINDS: tuple[StepKind, ...] = ("observation", "decision", "action", "feedback")


@dataclass(frozen=True, slots=True)
class Step:
    """One observation, decision, action or feedback.

    ``answers`` is the position of the step that this one explicitly refers to (a tool result names its
    call); it is never guessed from adjacency. ``raw_ref`` says where in the source the step stands.
    ``success`` is None where nobody said.
    """

    kind: StepKind
    summary: str
    raw_ref: str
    tool: str | None = None
    arguments: Json = None
    success: bool | None = None
    timestamp: str | None = None
    rationale: str | None = None
    expected: str | None = None
    actual: str | None = None
    prediction_error: str | None = None
    state: dict[str, Json] = field(default_factory=dict[str, Json])
    answers: int | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """Something said: it gives context to a run and is not a step of it."""

    role: str
    text: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the run ended. ``success`` is None when unknown; ``judged`` when someone outside the run said so."""

    success: bool | None = None
    status: Literal["ongoing", "completed", "aborted"] = "completed"
    text: str = ""
    judged: bool = False


@dataclass(frozen=True, slots=True)
class Person:
    """A participant and what kind of actor it is (``Human``, ``AI`` or ``Unknown``)."""

    name: str
    person_class: str


@dataclass(frozen=True, slots=True)
class Trace:
    """One run in normal form. Times are UTC text in the form of :func:`kip.clock.iso`.

    ``key`` is what tells the run apart from others; see :func:`run_key`.
    """

    where: str
    goal: str
    steps: tuple[Step, ...] = ()
    messages: tuple[Message, ...] = ()
    persons: tuple[Person, ...] = ()
    outcome: Outcome = Outcome()
    initial_state: dict[str, Json] = field(default_factory=dict[str, Json])
    context: dict[str, Json] = field(default_factory=dict[str, Json])
    source: str | None = None
    run_id: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    warnings: tuple[str, ...] = ()
    key: str = ""

    def actions(self) -> Iterator[Step]:
        """The steps in which the actor did something."""
        return (step for step in self.steps if step.kind == "action")

    def user_texts(self) -> Iterator[str]:
        """What the users said, in order."""
        return (message.text for message in self.messages if message.role == "user" and message.text)


def run_key(trace: Trace) -> str:
    """Eight hexadecimal digits that tell runs apart (decision 23): of the source's run id, else of the content.

    The outcome takes part in the content: two equal transcripts with different verdicts are two runs. The key is
    made of the trace as it was read, so that a run keeps it when the rules of screening change.
    """
    if trace.run_id is not None:
        return _digest([trace.source, trace.run_id])[:8]
    return content_digest(trace)[:8]


def content_digest(trace: Trace) -> str:
    """Sixteen hexadecimal digits of everything that the run consists of, the place it was read from apart."""
    steps: list[Json] = [
        [s.kind, s.summary, s.tool, s.arguments, s.success, s.timestamp, s.rationale, s.expected, s.actual, s.state]
        for s in trace.steps
    ]
    messages: list[Json] = [[m.role, m.text, m.name] for m in trace.messages]
    outcome: list[Json] = [trace.outcome.success, trace.outcome.status, trace.outcome.text]
    return _digest([trace.goal, trace.initial_state, steps, messages, outcome, trace.started_at])[:16]


def _digest(value: list[Json]) -> str:
    return hashlib.sha256(dumps(value).encode()).hexdigest()
