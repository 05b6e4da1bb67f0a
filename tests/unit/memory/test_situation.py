"""Features beside the goal's words, signatures of steps, and ranks made of named factors."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kip.memory.ranking import WEIGHTS, affinity, candidate
from kip.memory.signature import likeness, of_step
from kip.memory.situation import identifiers, identifiers_of, of_request, state_pairs, tools_of
from kip.memory.trace import Message, Step, Trace
from kip.values import Json

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I am ivan_muller_7015, flight HAT097 from JFK", ["ivan_muller_7015", "hat097", "jfk"]),
        ("ticket OPS-4471 on db.internal says 403", ["ops-4471", "db.internal", "403"]),
        ("mail ada@example.org about getUser", ["ada@example.org", "getuser"]),
        ("If and ONLY IF it is NOT possible", []),
        ("my ID is 7, ok?", []),
        ("cancel my flight tomorrow", []),
        ("HAT097 and hat097", ["hat097"]),
    ],
)
def test_identifiers(text: str, found: list[str]) -> None:
    assert identifiers(text) == found


def test_a_run_is_identified_by_what_was_asked_and_done_not_by_what_tools_listed() -> None:
    trace = Trace(
        "w",
        "cancel booking XEHM4B",
        steps=(
            Step("action", "s", "r", tool="get", arguments={"user_id": "raj_7"}),
            Step("observation", "flights HAT001 HAT002 HAT003", "r", tool="get"),
            Step("decision", "s", "r", tool="think"),
        ),
        messages=(Message("user", "it is for JFK"), Message("assistant", "LAX12 then")),
        initial_state={"env": "prod9"},
    )
    assert identifiers_of(trace) == ["xehm4b", "jfk", "prod9", "raj_7"]
    assert tools_of(trace) == ["get", "think"]


def test_state_pairs_are_leaves_with_their_path() -> None:
    state: dict[str, Json] = {"db": {"host": "Main", "up": True}, "tags": ["A", "b"], "none": None, "n": 3}
    assert state_pairs(state) == ["db.host=main", "db.up=true", "tags=a", "tags=b", "n=3"]


def act(tool: str | None, arguments: Any = None, summary: str = "") -> Any:
    return of_step("action", tool, arguments, summary)


@pytest.mark.parametrize(
    ("arguments", "operation"),
    [
        ({"command": "kubectl apply -f x.yaml"}, "kubectl apply"),
        ({"command": "sudo kubectl -n web apply -f x.yaml"}, "kubectl apply"),
        ({"command": "LANG=C /usr/bin/git --no-pager log"}, "git log"),
        ({"cmd": "ls -la /tmp"}, "ls"),
        ({"command": "cat /etc/hosts"}, "cat"),
        ({"query": "SELECT a, b FROM orders WHERE x = 1"}, "select orders"),
        ({"sql": "update orders set x = 1"}, "update orders"),
        ({"command": "DROP TABLE users"}, "drop table users"),
        ({"query": "best pizza in Oslo"}, ""),
        ({"url": "https://api.example.org/orders/77/items?x=1", "method": "GET"}, "get /orders/*/items"),
        ({"user_id": "x"}, ""),
        ("make test", "make test"),
        (None, ""),
        ({"command": "   "}, ""),
    ],
)
def test_the_operation_inside_a_general_tool(arguments: Any, operation: str) -> None:
    assert act("tool", arguments).operation == operation


@pytest.mark.parametrize(
    ("tool", "arguments", "looks"),
    [
        ("get_user_details", {}, True),
        ("searchFlights", {}, True),
        ("calculate", {}, True),
        ("shell", {"command": "kubectl get pods"}, True),
        ("shell", {"command": "cat x"}, True),
        ("sql", {"query": "select 1 from t"}, True),
        ("book_reservation", {}, False),
        ("shell", {"command": "kubectl delete pod x"}, False),
        ("shell", {"command": "catalog rebuild"}, False),
        ("sql", {"query": "DELETE FROM t"}, False),
        ("getaway_booking", {}, False),
    ],
)
def test_whether_a_call_only_looks(tool: str, arguments: Any, looks: bool) -> None:
    assert act(tool, arguments).looks_only is looks


def test_likeness_grades() -> None:
    one = act("book", {"cabin": "economy", "bags": 1})
    assert likeness(one, act("book", {"cabin": "economy", "bags": 1})) == 1.0
    other_value = likeness(one, act("book", {"cabin": "business", "bags": 1}))
    other_shape = likeness(one, act("book", {"cabin": "economy"}))
    assert 1.0 > other_value > other_shape > likeness(one, act("cancel", {"cabin": "economy", "bags": 1})) == 0.0
    assert likeness(act("shell", {"command": "git push"}), act("shell", {"command": "git pull"})) == 0.0


def test_steps_without_a_tool_are_alike_by_their_words() -> None:
    migrated, migration = act(None, None, "Run the migrations"), act(None, None, "Running migration")
    assert likeness(migrated, migration) > 0.4
    assert likeness(migrated, act(None, None, "Point the service at the main database")) == 0.0
    observed = of_step("observation", "shell", {"x": 1}, "exit 2")
    assert likeness(observed, of_step("observation", "other", None, "exit 2")) == 1.0


def ranked(score: float = 0.5, asked: Any = None, metadata: Any = None, **attributes: Json) -> Any:
    return candidate("n", {"goal": "cancel flight", **attributes}, metadata or {}, score, asked or ask(), NOW)


def ask(goal: str = "cancel flight", state: Any = None, tools: Any = ()) -> Any:
    return of_request(goal, state or {}, tools)


def test_text_similarity_alone_does_not_decide_the_rank() -> None:
    asked = ask("cancel the booking of raj_7", {"plan": "basic"}, ["cancel"])
    same = ranked(0.4, asked, identifiers=["raj_7"], initial_state={"plan": "basic"}, tools=["cancel"])
    wordy = ranked(0.7, asked, identifiers=["mia_3"], initial_state={"plan": "gold"}, tools=["refund"])
    assert same.rank > wordy.rank


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (ranked(0.6), ranked(0.4)),
        (ranked(asked=ask("for raj_7"), identifiers=["raj_7"]), ranked(asked=ask("for raj_7"), identifiers=["x_1"])),
        (
            ranked(asked=ask(state={"e": "disk is full"}), initial_state={"e": "the disk was full"}),
            ranked(asked=ask(state={"e": "disk is full"}), initial_state={"e": "no route"}),
        ),
        (ranked(asked=ask(tools=["a"]), tools=["a"]), ranked(asked=ask(tools=["a"]), tools=["a", "b"])),
        (ranked(metadata={"memory_strength": 0.9}), ranked(metadata={"memory_strength": 0.1})),
    ],
    ids=["goal", "identifiers", "state", "tools", "strength"],
)
def test_each_factor_moves_the_rank(better: Any, worse: Any) -> None:
    assert better.rank > worse.rank


def test_what_the_request_does_not_say_counts_for_nothing() -> None:
    factors = ranked().factors
    assert (factors.identifiers, factors.state, factors.tools) == (None, None, None)
    assert set(WEIGHTS) == set(type(factors).model_fields)


@given(st.floats(0, 1), st.dictionaries(st.text(), st.text(), max_size=3), st.lists(st.text(), max_size=3))
def test_a_rank_lies_between_0_and_1(score: float, state: dict[str, str], tools: list[str]) -> None:
    rank = ranked(score, ask("g " + " ".join(state), state, tools), initial_state=state, tools=tools).rank
    assert 0.0 <= rank <= 1.0 + 1e-9


def test_affinity_reads_words_and_identifiers() -> None:
    one, other = ask("cancel booking of raj_7"), ask("please cancel the booking for raj_7")
    assert affinity(one, other) > 0.9
    assert affinity(one, ask("bake a cake")) == 0.0
    assert affinity(ask(""), one) == 0.0
