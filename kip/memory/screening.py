"""What happens to a trace before anything looks at it: repaired, cleaned of secrets and recall, cut to size.

Text that came from a tool or a user stays data throughout: nothing here or later interprets it.
"""

from __future__ import annotations

from dataclasses import replace

from kip.errors import KipError
from kip.memory.marks import without_recalled
from kip.memory.privacy import Tally, redact, redact_value, repair
from kip.memory.trace import Message, Outcome, Person, Step, Trace
from kip.values import Json, dumps

GOAL_LIMIT = 500
SUMMARY_LIMIT = 240
DETAIL_LIMIT = 600
MESSAGE_LIMIT = 2_000
NAME_LIMIT = 120
ARGUMENT_TEXT_LIMIT = 1_000
ARGUMENT_ITEMS = 50
ARGUMENT_DEPTH = 12
"""Sizes of what is kept, in characters, items and levels."""


def repaired(value: Json, tally: Tally, depth: int = 0) -> Json:
    """``value`` with damaged characters replaced, in keys as in texts. Raises KIP_2003 past 200 levels."""
    if isinstance(value, str):
        return repair(value, tally)
    if depth > 200:
        raise KipError("KIP_2003", "the record is nested deeper than 200 levels")
    if isinstance(value, (list, tuple)):
        return [repaired(item, tally, depth + 1) for item in value]
    if isinstance(value, dict):
        return {repair(str(key), tally): repaired(item, tally, depth + 1) for key, item in value.items()}
    return value


def screened(trace: Trace, tally: Tally) -> Trace:
    """``trace`` as it may be stored; what was replaced is counted in ``tally``."""
    return replace(
        trace,
        goal=shortened(_clean(trace.goal, tally), GOAL_LIMIT),
        steps=tuple(_screened_step(step, tally) for step in trace.steps),
        messages=tuple(_screened_message(message, tally) for message in trace.messages),
        persons=tuple(_screened_person(person, tally) for person in trace.persons if person.name.strip()),
        source=_optional(trace.source, tally),
        outcome=_screened_outcome(trace.outcome, tally),
        initial_state=_object(trace.initial_state, tally),
        context=_object(trace.context, tally),
    )


def _screened_step(step: Step, tally: Tally) -> Step:
    arguments = bounded(redact_value(step.arguments, tally))
    summary = shortened(_clean(step.summary, tally), SUMMARY_LIMIT)
    if not summary:
        summary = shortened(call_text(step.tool, arguments), SUMMARY_LIMIT) if step.tool else "(recalled text left out)"
    return replace(
        step,
        summary=summary,
        tool=shortened(step.tool, NAME_LIMIT) if step.tool else None,
        arguments=arguments,
        rationale=_optional(step.rationale, tally),
        expected=_optional(step.expected, tally),
        actual=_optional(step.actual, tally),
        prediction_error=_optional(step.prediction_error, tally),
        state=_object(step.state, tally),
    )


def _screened_message(message: Message, tally: Tally) -> Message:
    return replace(message, text=shortened(_clean(message.text, tally), MESSAGE_LIMIT))


def _screened_person(person: Person, tally: Tally) -> Person:
    return replace(person, name=shortened(redact(person.name, tally), NAME_LIMIT))


def _screened_outcome(outcome: Outcome, tally: Tally) -> Outcome:
    return replace(outcome, text=shortened(_clean(outcome.text, tally), DETAIL_LIMIT))


def _object(value: dict[str, Json], tally: Tally) -> dict[str, Json]:
    kept = bounded(redact_value(dict(value), tally))
    return kept if isinstance(kept, dict) else {}


def _optional(text: str | None, tally: Tally) -> str | None:
    return shortened(_clean(text, tally), DETAIL_LIMIT) or None if text else None


def _clean(text: str, tally: Tally) -> str:
    own, recalled = without_recalled(text)
    tally.recalled += recalled
    return redact(own, tally)


def shortened(text: str, limit: int) -> str:
    """``text`` on one line, at most ``limit`` characters: the beginning and the end of a longer one.

    Both ends are kept because an output says what it is at its beginning and what went wrong at its end.
    """
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    head = limit * 2 // 3
    return f"{line[:head].rstrip()} … {line[head + 3 - limit :].lstrip()}"


def bounded(value: Json, depth: int = 0) -> Json:
    """``value`` with long texts, long lists and deep nesting cut; short values come back unchanged."""
    if isinstance(value, str):
        return value if len(value) <= ARGUMENT_TEXT_LIMIT else _cut(value)
    if isinstance(value, (list, dict)) and depth >= ARGUMENT_DEPTH:
        return "…"
    if isinstance(value, list):
        kept = [bounded(item, depth + 1) for item in value[:ARGUMENT_ITEMS]]
        return [*kept, f"… {len(value) - ARGUMENT_ITEMS} more"] if len(value) > ARGUMENT_ITEMS else kept
    if isinstance(value, dict):
        kept = {key[:NAME_LIMIT]: bounded(item, depth + 1) for key, item in list(value.items())[:ARGUMENT_ITEMS]}
        return {**kept, "…": f"{len(value) - ARGUMENT_ITEMS} more"} if len(value) > ARGUMENT_ITEMS else kept
    return value


def _cut(text: str) -> str:
    half = (ARGUMENT_TEXT_LIMIT - 3) // 2
    return f"{text[:half]} … {text[-half:]}"


def call_text(tool: str, arguments: Json) -> str:
    """A tool call as people read it: ``search(city="Oslo", limit=3)``."""
    if isinstance(arguments, dict):
        inside = ", ".join(f"{key}={_plain(value)}" for key, value in arguments.items())
    else:
        inside = "" if arguments is None else _plain(arguments)
    return f"{tool}({inside})"


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else dumps(value)
