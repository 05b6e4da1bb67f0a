"""The seven criteria of document 003, section 5, one at a time; length alone is none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kip.memory.trace import Message, Outcome, Step, Trace
from kip.memory.worth import judge

ACT = Step("action", "look", "trace[0]", tool="shell", arguments={"command": "ls"})
OTHER_ACT = Step("action", "build", "trace[1]", tool="shell", arguments={"command": "make"})
SEEN = Step("observation", "three files", "trace[2]")
FAILED = Step("observation", "exit 2", "trace[3]", success=False)
LATE = Step("observation", "slow", "trace[4]", expected="done in a second", actual="done in an hour")
PRAISE = Step("feedback", "That worked", "trace[5]")


def trace(*steps: Step, goal: str = "build the project", outcome: Outcome | None = None, said: str = "") -> Trace:
    messages = (Message("user", said),) if said else ()
    return Trace("test", goal, steps=steps, messages=messages, outcome=outcome or Outcome())


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (trace(ACT, OTHER_ACT), {1}),
        (trace(ACT, FAILED), {2}),
        (trace(ACT, LATE), {3}),
        (trace(ACT, FAILED, OTHER_ACT), {1, 2, 4}),
        (trace(ACT, FAILED, ACT), {1, 2}),
        (trace(ACT, OTHER_ACT, outcome=Outcome(success=True)), {1, 5, 7}),
        (trace(ACT, PRAISE), {6}),
        (trace(ACT, outcome=Outcome(success=True)), {7}),
        (trace(ACT, outcome=Outcome(success=False)), {2, 7}),
        (trace(ACT, SEEN), set()),
        (trace(outcome=Outcome(success=False)), set()),
        (trace(ACT, replace(ACT, kind="decision", tool="think")), set()),
        (trace(ACT, replace(ACT, kind="decision", tool=None)), {1}),
    ],
)
def test_which_criteria_hold(run: Trace, expected: set[int]) -> None:
    worth = judge(run)
    assert {criterion.number for criterion in worth.criteria if criterion.holds} == expected
    assert worth.product == ("experience" if expected else "nothing")
    assert [criterion.number for criterion in worth.criteria] == [1, 2, 3, 4, 5, 6, 7]
    assert all(criterion.reason for criterion in worth.criteria)


@given(st.lists(st.sampled_from(["hi", "haha", "nice weather today", "ok thanks", "how are you?"]), max_size=300))
def test_talk_of_any_length_is_nothing(said: list[str]) -> None:
    messages = tuple(Message("user" if i % 2 == 0 else "assistant", text) for i, text in enumerate(said))
    assert judge(Trace("test", "hi", messages=messages)).product == "nothing"


@given(st.integers(0, 400))
def test_observations_of_any_number_are_nothing(count: int) -> None:
    assert judge(trace(*[SEEN] * count)).product == "nothing"


def test_a_lasting_statement_without_a_process_is_an_event() -> None:
    worth = judge(trace(said="I always prefer dark mode."))
    assert worth.product == "event"
    assert "lasting" in worth.reason


def test_an_answer_in_words_alone_counts_once_it_is_judged() -> None:
    messages = (Message("user", "How many bags may I take?"), Message("assistant", "Two."))
    unjudged = Trace("test", "How many bags may I take?", messages=messages)
    judged = Trace("test", unjudged.goal, messages=messages, outcome=Outcome(success=False, judged=True))
    assert judge(unjudged).product == "nothing"
    assert judge(judged).product == "experience"
