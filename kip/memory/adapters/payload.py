"""The formation payload of document 003, section 15: ``messages[]``, ``goal`` and ``trace[]``, ``outcome``."""

from __future__ import annotations

from typing import Any

from kip.errors import KipError
from kip.memory.adapters.chat import Transcript, content_text
from kip.memory.adapters.validation import blank_goal, validated
from kip.memory.model import ChatMessage, FormationContext, FormationInput, OutcomeInput, TraceEntry
from kip.memory.privacy import first_sentence
from kip.memory.trace import Outcome, Person, Step, Trace
from kip.values import Json

_KEYS = frozenset(FormationInput.model_fields)
_RESULT = {"success": True, "failure": False}
_OUTCOME = {"success": True, "succeeded": True, "failure": False, "failed": False, "rejected": False}


def accepts(record: Json) -> bool:
    """True for an object with a key of the payload."""
    return isinstance(record, dict) and not _KEYS.isdisjoint(record)


def read(record: Json, where: str) -> Trace:
    """The run of a payload. Raises KIP_2002 or KIP_2003 naming the entry and field at fault."""
    payload = validated(FormationInput, record, where)
    transcript = Transcript()
    started = transcript.time(payload.timestamp, "timestamp")
    for position, message in enumerate(payload.messages):
        transcript.add_chat(message, f"messages[{position}]")
    for position, entry in enumerate(payload.trace):
        _add_entry(transcript, entry, where, f"trace[{position}]")
    goal = payload.goal if payload.goal is not None else transcript.opening_request()
    if not goal.strip():
        raise blank_goal(where, "goal")
    return Trace(
        where=where,
        goal=goal.strip(),
        steps=tuple(transcript.steps),
        messages=tuple(transcript.messages),
        persons=transcript.persons() or _counterparty(payload.context),
        outcome=_outcome(payload.outcome, transcript.steps),
        initial_state=_state(payload.initial_state),
        context={key: value for key, value in payload.context.model_dump().items() if value is not None},
        source=payload.context.source,
        run_id=payload.run_id,
        started_at=min(transcript.times, default=started),
        ended_at=max(transcript.times, default=started),
        warnings=(*transcript.warnings, *_unread(payload)),
    )


def _add_entry(transcript: Transcript, entry: TraceEntry, where: str, ref: str) -> None:
    if entry.kind is None or entry.kind == "message":
        if entry.role is None:
            field = "kind" if entry.kind is None else "role"
            raise KipError("KIP_2002", f"{where}.{ref}.{field} is missing", hint="An entry has a step kind or a role.")
        if entry.kind == "message" and not entry.tool_calls and entry.role in ("user", "assistant"):
            transcript.add_message(entry.role, content_text(entry.content), entry.name)
            transcript.time(entry.timestamp, f"{ref}.timestamp")
        else:
            transcript.add_chat(ChatMessage.model_construct(**_chat_fields(entry)), ref)
        return
    transcript.add_step(_step(entry, entry.kind, transcript, where, ref))


def _chat_fields(entry: TraceEntry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ChatMessage.model_fields}


def _step(entry: TraceEntry, kind: Any, transcript: Transcript, where: str, ref: str) -> Step:
    said = entry.summary or content_text(entry.content) or entry.decision_rationale or entry.actual_observation or ""
    if not said.strip() and not entry.tool:
        raise KipError("KIP_2002", f"{where}.{ref}.summary is missing", hint="Say in one sentence what happened.")
    return Step(
        kind=kind,
        summary=said.strip(),
        raw_ref=ref,
        tool=entry.tool,
        arguments=entry.arguments,
        # Only what the document maps: a decision has no result, and other words than these two say nothing.
        success=None if kind == "decision" else _RESULT.get(entry.result_status or ""),
        timestamp=transcript.time(entry.timestamp, f"{ref}.timestamp"),
        rationale=first_sentence(entry.decision_rationale) if entry.decision_rationale else None,
        expected=entry.expected_observation,
        actual=entry.actual_observation,
        prediction_error=entry.prediction_error,
        state=dict(entry.state or {}),
    )


def _outcome(given: OutcomeInput | None, steps: list[Step]) -> Outcome:
    if given is None:
        # A final feedback with a result is the outcome; anything else leaves it open.
        last = steps[-1] if steps else None
        if last is None or last.kind != "feedback" or last.success is None:
            return Outcome()
        return Outcome(success=last.success, text=last.summary, judged=True)
    word = given.status.strip().casefold()
    success = _OUTCOME.get(word)
    text = given.summary or ("" if success is not None or word in ("aborted", "ongoing") else given.status)
    status = "aborted" if word == "aborted" else "ongoing" if word == "ongoing" else "completed"
    return Outcome(success=success, status=status, text=text)


def _counterparty(context: FormationContext) -> tuple[Person, ...]:
    name = context.counterparty or context.user
    return (Person(name, "Unknown"),) if name and name.strip() else ()


def _state(state: dict[str, Json] | str | None) -> dict[str, Json]:
    if isinstance(state, str):
        return {"description": state} if state.strip() else {}
    return dict(state or {})


def _unread(payload: FormationInput) -> list[str]:
    """Names of the fields that nobody reads, so that nothing is lost in silence."""
    unread = [f"field {name!r} is not read" for name in payload.model_extra or ()]
    for position, entry in enumerate(payload.trace):
        unread.extend(f"field trace[{position}].{name} is not read" for name in entry.model_extra or ())
    return unread
