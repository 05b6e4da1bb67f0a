"""OpenAI chat messages with tool calls: a bare list of messages, or ``{"messages": [..]}``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from kip.memory.adapters.chat import Transcript
from kip.memory.adapters.validation import blank_goal, validated
from kip.memory.model import ChatMessage
from kip.memory.trace import Outcome, Trace
from kip.values import Json

# An object with one of these is a payload of document 003, which can say more than messages.
_PAYLOAD_KEYS = frozenset({"goal", "trace", "outcome", "context", "initial_state", "run_id", "timestamp"})


def is_message_list(value: Json) -> bool:
    """True for a list in which some item has a role."""
    return isinstance(value, list) and any(isinstance(item, dict) and "role" in item for item in value)


def accepts(record: Json) -> bool:
    """True for a list of messages, and for an object with such a list as ``messages``."""
    if isinstance(record, dict):
        return _PAYLOAD_KEYS.isdisjoint(record) and is_message_list(record.get("messages"))
    return is_message_list(record)


def read(record: Json, where: str) -> Trace:
    """The run of a message list. Raises KIP_2002 or KIP_2003 naming the message and field at fault."""
    if isinstance(record, dict):
        return trace_of(cast(list[Json], record["messages"]), where, "messages", Outcome())
    return trace_of(cast(list[Json], record), where, "", Outcome())


def trace_of(messages: Sequence[Json], where: str, field: str, outcome: Outcome) -> Trace:
    """The run told by ``messages``, which stand under ``field`` of the record ``where``."""
    transcript = Transcript()
    for position, raw in enumerate(messages):
        ref = f"{field}[{position}]"
        transcript.add_chat(validated(ChatMessage, raw, f"{where}.{ref}" if field else f"{where}{ref}"), ref)
    goal = transcript.opening_request()
    if not goal.strip():
        raise blank_goal(where, field or "messages")
    return Trace(
        where=where,
        goal=goal,
        steps=tuple(transcript.steps),
        messages=tuple(transcript.messages),
        persons=transcript.persons(),
        outcome=outcome,
        started_at=min(transcript.times, default=None),
        ended_at=max(transcript.times, default=None),
        warnings=tuple(transcript.warnings),
    )
