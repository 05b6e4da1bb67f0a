"""Whether a trace is worth an Experience, an Event, or nothing (document 003, sections 4 and 5).

Each of the seven criteria is decided by a plain rule and carries its reason. How long a trace is never
matters. Without a single step nothing was undertaken and no criterion can hold, unless the agent answered in
words alone and somebody judged the result: then its not acting is what can be learned from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kip.memory.model import Criterion
from kip.memory.speech import content_words, durable_signal, verdict_signal
from kip.memory.trace import Step, Trace

Product = Literal["experience", "event", "nothing"]


@dataclass(frozen=True, slots=True)
class Worth:
    """What to write for a trace, why, and how each criterion was decided."""

    product: Product
    reason: str
    criteria: tuple[Criterion, ...]


def judge(trace: Trace) -> Worth:
    """Decide what ``trace`` is worth."""
    criteria = tuple(_criteria(trace))
    met = [criterion for criterion in criteria if criterion.holds]
    if met:
        return Worth("experience", "; ".join(f"{c.number}. {c.name}: {c.reason}" for c in met), criteria)
    lasting = next((signal for text in trace.user_texts() if (signal := durable_signal(text))), None)
    if lasting:
        return Worth("event", f"no process to learn from, but someone {lasting}", criteria)
    return Worth("nothing", "nothing to learn: no steps, no outcome, and nothing lasting was said", criteria)


def _criteria(trace: Trace) -> Iterator[Criterion]:
    answered = trace.outcome.judged and any(message.role == "assistant" for message in trace.messages)
    if not trace.steps and not answered:
        for number, name in enumerate(_NAMES, start=1):
            yield Criterion(number=number, name=name, holds=False, reason="nothing was undertaken")
        return
    decided = (
        _multi_step(trace),
        _failure_or_recovery(trace),
        _violated_expectation(trace),
        _changed_strategy(trace),
        _tool_pattern(trace),
        _verdict(trace),
        _likely_reuse(trace),
    )
    for number, (name, reason) in enumerate(zip(_NAMES, decided, strict=True), start=1):
        yield Criterion(number=number, name=name, holds=reason is not None, reason=reason or _LACKING[number - 1])


_NAMES = (
    "goal-directed work in several steps",
    "failure or recovery",
    "violated expectation",
    "strategy changed by feedback",
    "reusable tool pattern",
    "verdict on the result",
    "likely to help again",
)
_LACKING = (
    "fewer than two actions or decisions",
    "nothing failed",
    "no expectation was stated and missed",
    "no change of course after a failure",
    "no sequence of tool calls that led to a known success",
    "nobody judged the result",
    "no action with a known result towards the goal",
)


def _multi_step(trace: Trace) -> str | None:
    thought = (step.kind == "decision" and step.tool is not None for step in trace.steps)  # thinking aloud is no work
    count = sum(step.kind in ("action", "decision") for step in trace.steps) - sum(thought)
    return f"{count} actions and decisions towards the goal" if count >= 2 and content_words(trace.goal) else None


def _failure_or_recovery(trace: Trace) -> str | None:
    failed = next((step for step in trace.steps if step.success is False), None)
    if failed is not None:
        return f"step {trace.steps.index(failed)} failed" + (", the goal was reached" * (trace.outcome.success is True))
    return "the goal was missed" if trace.outcome.success is False else None


def _violated_expectation(trace: Trace) -> str | None:
    for index, step in enumerate(trace.steps):
        if step.prediction_error or missed_expectation(step):
            return f"step {index} turned out otherwise than expected"
    return None


def missed_expectation(step: Step) -> bool:
    """True when a step states an expectation that its observation, or its failure, contradicts."""
    if not step.expected:
        return False
    return step.success is False or bool(step.actual and content_words(step.actual) != content_words(step.expected))


def _changed_strategy(trace: Trace) -> str | None:
    tried: list[Step] = []
    failed_at: int | None = None
    for index, step in enumerate(trace.steps):
        new = step.kind == "decision" or (step.kind == "action" and not any(_same_act(step, one) for one in tried))
        if failed_at is not None and new:
            return f"step {index} takes another course after step {failed_at} failed"
        if step.kind == "action":
            tried.append(step)
        if step.success is False or (step.kind == "feedback" and verdict_signal(step.summary) is False):
            failed_at = index
    return None


def _same_act(left: Step, right: Step) -> bool:
    return left.tool == right.tool and left.arguments == right.arguments and left.summary == right.summary


def _tool_pattern(trace: Trace) -> str | None:
    tools = [step.tool for step in trace.actions() if step.tool]
    if len(tools) < 2 or trace.outcome.success is not True:
        return None
    return f"{len(tools)} tool calls led to success"


def _verdict(trace: Trace) -> str | None:
    if trace.outcome.judged and trace.outcome.success is not None:
        return f"the result was judged: {'success' if trace.outcome.success else 'failure'}"
    for index, step in enumerate(trace.steps):
        if step.kind == "feedback" and (step.success is not None or verdict_signal(step.summary) is not None):
            return f"step {index} is a verdict"
    return None


def _likely_reuse(trace: Trace) -> str | None:
    if trace.outcome.success is None or not content_words(trace.goal):
        return None
    return "an action with a known outcome" if any(trace.actions()) else None
