"""Where two runs part."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kip.memory.align import LIKE, aligned, partings
from kip.memory.contrast import RecalledStep, contrast, path_of
from kip.memory.signature import Signature, likeness, of_step
from kip.values import Json


@dataclass(frozen=True)
class Act:
    label: str
    signature: Signature


def act(label: str) -> Act:
    """``get`` is a call of get; ``book:economy`` one of book with an argument."""
    tool, _, value = label.partition(":")
    arguments: Json = {"with": value} if value else {}
    return Act(label, of_step("action", tool, arguments, ""))


def acts(labels: str) -> list[Act]:
    return [act(label) for label in labels.split()]


@pytest.mark.parametrize(
    ("success", "failure", "expected"),
    [
        ("get book", "get book", []),
        ("get check book", "get book", [("only in the success", "check", "", 1)]),
        ("get book", "get cancel book", [("only in the failure", "", "cancel", 1)]),
        ("get transfer", "get cancel", [("other step", "transfer", "cancel", 1)]),
        ("get:a book:gold", "get:a book:basic", [("other details", "book:gold", "book:basic", 1)]),
        ("a b c d", "a x y d", [("other step", "b", "x", 1)]),
        ("a b", "", [("only in the success", "a", "", 0)]),
        ("", "", []),
        (
            "look pay:card ship",
            "look pay:cash ship refund",
            [("other details", "pay:card", "pay:cash", 1), ("only in the failure", "", "refund", 3)],
        ),
    ],
)
def test_partings(success: str, failure: str, expected: list[tuple[str, str, str, int]]) -> None:
    found = [
        (one.manner, one.left[0].label if one.left else "", one.right[0].label if one.right else "", one.shared)
        for one in partings(acts(success), acts(failure))
    ]
    assert found == expected


labels = st.lists(st.sampled_from(["get:a", "get:b", "book:a", "book:b", "cancel", "check"]), max_size=12)


@given(labels, labels)
def test_an_alignment_keeps_every_step_in_order(left: list[str], right: list[str]) -> None:
    pairs = aligned([act(label) for label in left], [act(label) for label in right])
    assert [one.label for one, _ in pairs if one] == left
    assert [other.label for _, other in pairs if other] == right
    assert all(likeness(one.signature, other.signature) >= LIKE for one, other in pairs if one and other)


@given(labels, labels)
def test_runs_have_no_parting_exactly_when_they_do_the_same(left: list[str], right: list[str]) -> None:
    found = list(partings([act(label) for label in left], [act(label) for label in right]))
    assert (not found) == (left == right)


@given(labels, labels, labels)
def test_a_common_beginning_is_not_where_runs_part(start: list[str], left: list[str], right: list[str]) -> None:
    one = [act(label) for label in [*start, "mark", *left]]
    other = [act(label) for label in [*start, "mark", *right]]
    first = next(partings(one, other), None)
    assert first is None or first.shared >= len(start) + 1


def step(index: int, kind: str, summary: str, tool: str | None = None, **arguments: Json) -> RecalledStep:
    given_arguments: Json = arguments or None
    return RecalledStep(index, kind, summary, tool, None, of_step(kind, tool, given_arguments, summary), None)


def test_a_contrast_names_the_first_differing_step_and_the_first_change() -> None:
    success = [step(0, "action", "get", "get_order", id=1), step(2, "action", "refund", "refund_order", id=1)]
    failure = [
        step(0, "action", "get", "get_order", id=1),
        step(1, "action", "list", "list_items", id=1),
        step(3, "action", "cancel", "cancel_order", id=1),
    ]
    found = contrast(("S", success), ("F", failure), same_goal=True)
    assert found.first is not None
    assert found.first.in_success is not None
    assert found.first.in_failure is not None
    assert (found.first.in_success.index, found.first.in_failure.index) == (2, 1)
    assert found.first_change is not None
    assert found.first_change.in_failure is not None
    assert found.first_change.in_failure.tool == "cancel_order"
    assert "After 1 step in common" in found.summary


def test_differing_arguments_are_told() -> None:
    def pay(method: str) -> list[RecalledStep]:
        return [step(0, "action", "pay(...)", "pay", amount=3, method=method)]

    found = contrast(("S", pay("card")), ("F", pay("cash")), same_goal=True)
    assert found.first is not None
    assert found.first.success_details == ["method=card"]
    assert found.first.failure_details == ["method=cash"]
    assert "method=cash (failure)" in found.summary


def test_where_all_acts_are_equal_observations_tell_runs_apart() -> None:
    def run(seen: str) -> list[RecalledStep]:
        return [step(0, "action", "deploy", "deploy"), step(1, "observation", seen)]

    found = contrast(("S", run("all pods healthy")), ("F", run("a column is missing")), same_goal=True)
    assert found.differing_acts == 0
    assert found.first_change is None
    assert found.first is not None
    assert found.first.in_failure is not None
    assert found.first.in_failure.summary == "a column is missing"


def test_equal_runs_claim_no_difference() -> None:
    run = [step(0, "action", "deploy", "deploy")]
    found = contrast(("S", run), ("F", run), same_goal=True)
    assert found.first is None
    assert "not recorded" in found.summary


def test_the_way_of_thinking_aloud_is_no_parting() -> None:
    act_step = step(1, "action", "deploy", "deploy")
    thought = step(0, "decision", "I wonder", "think")
    assert contrast(("S", [thought, act_step]), ("F", [act_step]), same_goal=True).differing_acts == 0


def test_a_path_names_what_was_done() -> None:
    run = [
        step(0, "action", "x", "kubectl", command="kubectl get pods"),
        step(1, "observation", "fine"),
        step(2, "action", "y", "pay"),
        step(3, "action", "z", "pay"),
        step(4, "decision", "Ask the owner"),
        step(5, "action", "q", "db", sql="select a from orders"),
    ]
    assert path_of(run) == ["kubectl get", "pay ×2", "Ask the owner", "db select orders"]
    assert path_of([step(i, "action", f"act {i}") for i in range(40)])[-1] == "… 28 more"
