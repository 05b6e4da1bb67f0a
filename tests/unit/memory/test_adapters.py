"""Each foreign format becomes the one normalised trace (document 003, section 15; bugs D24)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kip.errors import KipError
from kip.memory import adapters
from kip.memory.adapters import payload, tau_bench
from kip.memory.adapters.results import failed_or_succeeded
from kip.memory.trace import Step, Trace


def read(record: Any, name: str | None = None) -> Trace:
    return adapters.choose(record, "rec", name).read(record, "rec")


def call(name: str, arguments: Any = "{}", id: str = "c1") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def user(text: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def calls(*made: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": [*made]}


def result(text: Any, id: str = "c1", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text, **more}


def shape(trace: Trace) -> list[tuple[str, str | None, bool | None]]:
    return [(step.kind, step.tool, step.success) for step in trace.steps]


# --- choosing ---


@pytest.mark.parametrize(
    ("record", "name"),
    [
        ([user("fix it")], "openai-chat"),
        ({"messages": [user("fix it")], "model": "m"}, "openai-chat"),
        ({"messages": [user("fix it")], "timestamp": "2026-01-01T00:00:00Z"}, "payload"),
        ({"goal": "fix it", "trace": []}, "payload"),
        ({"traj": [user("fix it")], "reward": 1.0}, "tau-bench"),
    ],
)
def test_the_format_is_found_by_looking(record: Any, name: str) -> None:
    assert adapters.choose(record, "rec", None).name == name


@pytest.mark.parametrize("record", [None, 3, "text", [], {}, {"foo": 1}, [1, 2], True])
def test_an_unknown_format_is_refused_by_name(record: Any) -> None:
    with pytest.raises(KipError, match=r"rec is not in any known format") as caught:
        adapters.choose(record, "rec", None)
    assert caught.value.code == "KIP_2003"


def test_an_adapter_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(KipError) as caught:
        adapters.named("excel")
    assert "openai-chat" in caught.value.hint


def test_a_record_in_another_format_than_the_named_one() -> None:
    with pytest.raises(KipError, match="not in the format 'tau-bench'"):
        adapters.choose({"goal": "x"}, "rec", "tau-bench")


# --- the payload of document 003 ---


def test_the_documents_own_shape() -> None:
    trace = read(
        {
            "goal": "Bring the shop's new version up",
            "trace": [
                {"kind": "message", "role": "user", "content": "Bring it up"},
                {"kind": "action", "summary": "Start the service", "tool": "shell"},
                {"kind": "observation", "summary": "It stops: a column is missing", "result_status": "failure"},
                {"kind": "decision", "decision_rationale": "Suspect the migration. And more thoughts."},
                {"kind": "action", "summary": "Migrate", "result_status": "odd"},
                {"kind": "feedback", "summary": "Healthy", "result_status": "success"},
            ],
            "outcome": {"status": "success"},
            "timestamp": "2026-08-13T10:12:00Z",
        }
    )
    assert shape(trace) == [
        ("action", "shell", None),
        ("observation", None, False),
        ("decision", None, None),
        ("action", None, None),
        ("feedback", None, True),
    ]
    assert trace.steps[2].rationale == "Suspect the migration."
    assert trace.outcome.success is True
    assert trace.started_at == "2026-08-13T10:12:00.000000Z"
    assert [message.text for message in trace.messages] == ["Bring it up"]


def test_parallel_calls_are_paired_by_id_though_answers_come_reversed() -> None:
    trace = read(
        {
            "goal": "check build",
            "trace": [
                user("check"),
                calls(call("ls", id="c1"), call("make", "{bad json", id="c2")),
                result([{"type": "text", "text": "exit 2"}], id="c2"),
                result(None, id="c1"),
                {"role": "assistant", "content": "failed"},
            ],
        }
    )
    assert shape(trace) == [
        ("action", "ls", None),
        ("action", "make", None),
        ("observation", "make", False),
        ("observation", "ls", None),
    ]
    assert [step.answers for step in trace.steps] == [None, None, 1, 0]
    assert trace.steps[1].arguments == "{bad json"
    assert trace.steps[3].summary == "(no output)"


@pytest.mark.parametrize(
    ("given", "success", "status"),
    [
        ({"status": "success"}, True, "completed"),
        ({"status": "FAILED"}, False, "completed"),
        ({"status": "partial", "summary": "half"}, None, "completed"),
        ({"status": "aborted"}, None, "aborted"),
        ({"status": "ongoing"}, None, "ongoing"),
        (None, None, "completed"),
    ],
)
def test_outcomes(given: Any, success: bool | None, status: str) -> None:
    steps = [{"kind": "action", "summary": "try"}]
    trace = read({"goal": "g", "trace": steps, "outcome": given})
    assert (trace.outcome.success, trace.outcome.status) == (success, status)


def test_a_final_feedback_with_a_result_is_the_outcome() -> None:
    steps = [{"kind": "action", "summary": "try"}, {"kind": "feedback", "summary": "good", "result_status": "success"}]
    trace = read({"goal": "g", "trace": steps})
    assert trace.outcome.success is True
    assert trace.outcome.judged


def test_context_gives_source_counterparty_and_whatever_else_it_holds() -> None:
    trace = read({"goal": "g", "context": {"user": "ada", "source": "ci", "topic": "builds", "branch": "main"}})
    assert [person.name for person in trace.persons] == ["ada"]
    assert trace.source == "ci"
    assert trace.context["branch"] == "main"


def test_a_named_speaker_comes_before_the_counterparty() -> None:
    record = {"messages": [user("fix it", name="Bo")], "context": {"counterparty": "ada"}}
    assert [(person.name, person.person_class) for person in read(record).persons] == [("Bo", "Human")]


def test_fields_that_nobody_reads_are_named() -> None:
    trace = read({"goal": "g", "priority": 3, "trace": [{"kind": "action", "summary": "s", "colour": "red"}]})
    assert trace.warnings == ("field 'priority' is not read", "field trace[0].colour is not read")


def test_times_without_zone_and_no_times_are_warned_of() -> None:
    steps = [
        {"kind": "action", "summary": "a", "timestamp": "2026-01-15T23:00:00+05:30"},
        {"kind": "action", "summary": "b", "timestamp": "2026-01-15 18:00:00"},
        {"kind": "action", "summary": "c", "timestamp": "teatime"},
    ]
    trace = read({"goal": "g", "trace": steps})
    assert (trace.started_at, trace.ended_at) == ("2026-01-15T17:30:00.000000Z", "2026-01-15T18:00:00.000000Z")
    assert len(trace.warnings) == 2
    assert "trace[1].timestamp" in trace.warnings[0]
    assert "trace[2].timestamp is not a time" in trace.warnings[1]


@pytest.mark.parametrize(
    ("record", "place"),
    [
        ({"goal": "", "trace": []}, "rec.goal"),
        ({"goal": "  \t", "trace": [{"kind": "action", "summary": "s"}]}, "rec.goal"),
        ({"trace": [{"kind": "action", "summary": "s"}]}, "rec.goal"),
        ({"goal": "g", "trace": [{"kind": "thought", "summary": "s"}]}, "rec.trace[0].kind"),
        ({"goal": "g", "trace": [{"summary": "s"}]}, "rec.trace[0].kind"),
        ({"goal": "g", "trace": [{"kind": "message", "content": "s"}]}, "rec.trace[0].role"),
        ({"goal": "g", "trace": [{"kind": "action"}]}, "rec.trace[0].summary"),
        ({"goal": "g", "trace": [{"kind": "action", "summary": 7}]}, "rec.trace[0].summary"),
        ({"goal": "g", "trace": "none"}, "rec.trace"),
        ({"goal": ["g"]}, "rec.goal"),
        ({"goal": "g", "outcome": "success"}, "rec.outcome"),
        ({"goal": "g", "trace": [user("x"), {"role": "wizard", "content": "y"}]}, "rec.trace[1].role"),
        ([user("x"), {"role": "wizard", "content": "y"}], "rec[1].role"),
        ([user("x"), {"content": "y"}], "rec[1].role"),
        ([user({"text": "x"})], "rec[0].content"),
        ([{"role": "assistant", "content": "hello"}], "rec.messages"),
        ({"traj": [user("x")], "reward": "good"}, "rec.reward"),
        ({"traj": [user("x")], "reward": True}, "rec.reward"),
        ({"traj": []}, "rec.traj"),
    ],
)
def test_bad_records_are_refused_with_the_field_at_fault(record: Any, place: str) -> None:
    with pytest.raises(KipError) as caught:
        read(record)
    assert place in caught.value.message
    assert caught.value.code in ("KIP_2002", "KIP_2003")
    assert caught.value.hint


# --- chat messages ---


def test_the_goal_is_the_first_request_beyond_small_talk() -> None:
    trace = read([user("Hi!"), {"role": "assistant", "content": "Hello"}, user("Cancel my order 77")])
    assert trace.goal == "Cancel my order 77"


def test_what_a_user_says_after_an_action_is_feedback_and_before_it_context() -> None:
    trace = read([user("Cancel it"), user("order 77"), calls(call("cancel")), result("ok"), user("No, the other one")])
    assert [step.kind for step in trace.steps] == ["action", "observation", "feedback"]
    assert len(trace.messages) == 3


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}],
        [{"type": "image_url", "image_url": {"url": "x"}}, {"text": "see"}],
    ],
)
def test_an_image_leaves_a_placeholder_and_no_data(content: Any) -> None:
    trace = read([user("look at this picture"), user(content)])
    assert "[image_url]" in trace.messages[1].text
    assert "see" in trace.messages[1].text
    assert "AAAA" not in repr(trace)


def test_private_reasoning_is_never_read() -> None:
    trace = read(
        [
            user("fix it"),
            {
                **calls(call("make"), text="<think>hidden plan</think>I run make. More."),
                "reasoning_content": "hidden too",
                "thinking": "hidden again",
            },
            {"role": "assistant", "content": [{"type": "thinking", "text": "hidden still"}, {"text": "done"}]},
        ]
    )
    assert "hidden" not in repr(trace)
    assert trace.steps[0].rationale == "I run make."


def test_thinking_aloud_with_a_tool_is_a_decision_of_one_sentence() -> None:
    thought = json.dumps({"thought": "Check the fare first. Then a long private deliberation."})
    trace = read([user("fix it"), calls(call("think", thought)), result("")])
    assert [(step.kind, step.tool, step.rationale) for step in trace.steps] == [
        ("decision", "think", "Check the fare first.")
    ]
    assert "deliberation" not in repr(trace)


def test_a_result_without_a_call_stays_with_a_warning() -> None:
    trace = read([user("fix it"), result("exit code 1", id="nobody")])
    assert shape(trace) == [("observation", None, False)]
    assert "answers no known call" in trace.warnings[0]


def test_the_older_function_interface() -> None:
    message = {"role": "assistant", "content": None, "function_call": {"name": "ls", "arguments": '{"path": "."}'}}
    trace = read([user("list"), message, {"role": "function", "name": "ls", "content": "a b"}])
    assert trace.steps[0].arguments == {"path": "."}
    assert trace.steps[1].answers == 0


def test_flat_tool_calls_and_object_arguments() -> None:
    message = {"role": "assistant", "tool_calls": [{"name": "ls", "arguments": {"path": "."}}]}
    assert read([user("list"), message]).steps[0].arguments == {"path": "."}


def test_tau_records_give_messages_and_reward_and_nothing_else() -> None:
    record = {"traj": [user("book it"), calls(call("book"))], "reward": 0.0, "info": {"task": {"actions": ["GOLD"]}}}
    trace = tau_bench.read(record, "rec")
    assert trace.outcome.success is False
    assert trace.outcome.judged
    assert "GOLD" not in repr(trace)
    assert tau_bench.read({**record, "info": {"other": 1}}, "rec") == trace


@pytest.mark.parametrize(("reward", "success"), [(1.0, True), (0, False), (0.5, None), (None, None)])
def test_rewards(reward: Any, success: bool | None) -> None:
    assert tau_bench.read({"traj": [user("book it")], "reward": reward}, "rec").outcome.success is success


# --- results ---


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Error: seat taken", False),
        ("error executing query: near FROM", False),
        ("ValueError: no such plan", False),
        ("Traceback (most recent call last):\n  ...", False),
        ("building\nTraceback (most recent call last):\n  x", False),
        ("HTTP/1.1 503 Service Unavailable", False),
        ("make: done\n[exit code: 2]", False),
        ("done, exit code 0", True),
        ('{"success": true, "id": 3}', True),
        ('{"status": "error", "message": "x"}', False),
        ('{"error": "not found"}', False),
        ('{"error": null, "rows": []}', None),
        ('{"status": "active"}', None),
        ("error handling was improved in 3 places", None),
        ("The log has an Error: line further down", None),
        ("", None),
        ("{not json", None),
    ],
)
def test_only_clear_signs_of_failure_count(text: str, verdict: bool | None) -> None:
    assert failed_or_succeeded(text) is verdict


def test_a_step_built_by_hand_equals_a_read_one() -> None:
    trace = payload.read({"goal": "g", "trace": [{"kind": "observation", "summary": " dry "}]}, "rec")
    assert trace.steps == (Step("observation", "dry", "trace[0]"),)
