"""What formation writes for a trace: the attributes of Experience, ExperienceStep and Event (behaviours 003.1-5).

Beside the profile's own attributes an Experience carries what recall needs without reading its steps:
``tools``, ``identifiers``, ``clarifications`` (what users said after the opening request), ``outcome_class``,
``final_reply``, ``step_count``, and ``run_id`` and ``trace_digest`` for recognising a run that comes again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from kip.clock import iso, parse_time
from kip.memory.retention import INITIAL_STRENGTH
from kip.memory.screening import GOAL_LIMIT, shortened
from kip.memory.situation import identifiers_of, tools_of
from kip.memory.speech import content_words
from kip.memory.trace import Step, Trace, content_digest
from kip.memory.worth import missed_expectation
from kip.values import Json

CONFIDENCE = 0.95
"""How faithful a recorded trace is taken to be; says nothing about whether the procedure was good."""

EVENT_CONFIDENCE = 0.9
EVENT_DAYS = 90
"""A conversation is due for forgetting after this many days (behaviours 003.17)."""

CLARIFICATIONS = 12
CLARIFICATION_LIMIT = 300
REPLY_LIMIT = 300
KEY_CONCEPTS = 12

SUCCESS_CLASS = "outcome_success"
FAILURE_CLASS = "outcome_failure"
OPEN_CLASS = "outcome_open"
"""Values of ``outcome_class``. They are single search tokens, so that recall can ask for the failures of a goal."""


def experience_attributes(trace: Trace, now: datetime) -> dict[str, Json]:
    """The attributes of the Experience for ``trace``."""
    said = list(trace.user_texts())
    replies = [message.text for message in trace.messages if message.role == "assistant"]
    attributes: dict[str, Json] = {
        "experience_class": _experience_class(trace),
        "goal": trace.goal,
        "initial_state": trace.initial_state,
        "status": trace.outcome.status,
        "outcome": _outcome_text(trace),
        "outcome_class": {True: SUCCESS_CLASS, False: FAILURE_CLASS, None: OPEN_CLASS}[trace.outcome.success],
        "success": trace.outcome.success,
        "prediction_error": _prediction_error(trace),
        "started_at": trace.started_at or iso(now),
        "time_inferred": True if trace.started_at is None else None,
        "ended_at": trace.ended_at if trace.ended_at != trace.started_at else None,
        "raw_trace_ref": trace.source or trace.where,
        "context": trace.context or None,
        "consolidation_status": "pending",
        "step_count": len(trace.steps),
        "tools": _texts(tools_of(trace)),
        "identifiers": _texts(identifiers_of(trace)),
        "clarifications": _texts(_clarifications(said, trace.goal)),
        "final_reply": shortened(replies[-1], REPLY_LIMIT) if replies else None,
        "run_id": trace.run_id,
        "trace_digest": content_digest(trace),
    }
    return _present(attributes)


def step_attributes(step: Step, index: int) -> dict[str, Json]:
    """The attributes of step ``index``."""
    attributes: dict[str, Json] = {
        "index": index,
        "kind": step.kind,
        "summary": step.summary,
        "timestamp": step.timestamp,
        "tool": step.tool,
        "arguments": step.arguments,
        "success": step.success,
        "state": step.state or None,
        "decision_rationale": step.rationale,
        "expected_observation": step.expected,
        "actual_observation": step.actual,
        "prediction_error": step.prediction_error,
        "raw_data_ref": step.raw_ref,
    }
    return _present(attributes)


def event_attributes(trace: Trace, now: datetime) -> dict[str, Json]:
    """The attributes of the Event for a conversation without a process."""
    said = "; ".join(trace.user_texts())
    names: list[Json] = [person.name for person in trace.persons]
    concepts = list(dict.fromkeys(content_words(said)))[:KEY_CONCEPTS]
    attributes: dict[str, Json] = {
        "event_class": "Conversation",
        "start_time": trace.started_at or iso(now),
        "end_time": trace.ended_at if trace.ended_at != trace.started_at else None,
        "content_summary": shortened(said, 2 * CLARIFICATION_LIMIT),
        "participants": names or None,
        "key_concepts": _texts(concepts),
        "raw_content_ref": trace.source or trace.where,
        "context": trace.context or None,
        "consolidation_status": "pending",
        "trace_digest": content_digest(trace),
    }
    return _present(attributes)


def provenance(trace: Trace, now: datetime, confidence: float) -> dict[str, Json]:
    """Metadata for everything that one trace writes: who says so, when, how surely."""
    return {
        "source": trace.source or trace.where,
        "author": "$self",
        "confidence": confidence,
        "created_at": iso(now),
        "observed_at": trace.ended_at or trace.started_at or iso(now),
    }


def episodic(trace: Trace, now: datetime) -> dict[str, Json]:
    """Metadata of an Experience and its steps (behaviours 003.16); both are due at the same time: at none."""
    return {
        **provenance(trace, now, CONFIDENCE),
        "memory_strength": INITIAL_STRENGTH,
        "strength_set_at": iso(now),
        "memory_tier": "short-term",
    }


def event_metadata(trace: Trace, now: datetime) -> dict[str, Json]:
    """Metadata of an Event, with the time from which it may be forgotten."""
    start = parse_time(trace.started_at)[0] if trace.started_at else now
    return {
        **episodic(trace, now),
        "confidence": EVENT_CONFIDENCE,
        "expires_at": iso(start + timedelta(days=EVENT_DAYS)),
    }


def _experience_class(trace: Trace) -> str:
    if not any(trace.actions()):
        return "decision_making" if any(step.kind == "decision" for step in trace.steps) else "interaction"
    failed = any(step.success is False for step in trace.steps)
    return "problem_solving" if failed else "task_execution"


def _outcome_text(trace: Trace) -> str:
    word = {True: "success", False: "failure", None: "outcome unknown"}[trace.outcome.success]
    if trace.outcome.status != "completed":
        word = trace.outcome.status
    last = next((step.summary for step in reversed(trace.steps) if step.kind in ("feedback", "observation")), "")
    detail = trace.outcome.text or last
    return f"{word}: {detail}" if detail else word


def _prediction_error(trace: Trace) -> str | None:
    for step in trace.steps:
        if step.prediction_error:
            return step.prediction_error
        if missed_expectation(step):
            return f"expected {step.expected}; observed {step.actual or step.summary}"
    return None


def _clarifications(said: list[str], goal: str) -> list[str]:
    later = [shortened(text, CLARIFICATION_LIMIT) for text in said if shortened(text, GOAL_LIMIT) != goal]
    return list(dict.fromkeys(later))[:CLARIFICATIONS]


def _texts(items: list[str]) -> Json:
    texts: list[Json] = [*items]
    return texts or None


def _present(attributes: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in attributes.items() if value is not None}
