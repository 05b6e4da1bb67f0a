"""A success beside a failure of the same goal, and the first step at which they part (document 003, section 10).

Acts are compared first: actions, and decisions that were stated as steps. Only where all acts are equal do
observations and feedback tell the runs apart. That two runs differ at a step does not say that the step
caused the outcome, and nothing here claims so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from kip.memory.align import Manner, Parting, partings
from kip.memory.briefing import Contrast, PartingNote, StepNote
from kip.memory.screening import shortened
from kip.memory.signature import Signature, of_step
from kip.values import Json

if TYPE_CHECKING:
    from kip.nexus.session import Session

LONGEST = 400
"""How many steps of one run are read for a briefing."""

PATH_LIMIT = 12
"""How many acts a run's path names before it is cut."""

_PATH_TEXT = 60
_STEP_TEXT = 200
_SENTENCE_TEXT = 110
_DETAILS = 6


@dataclass(frozen=True, slots=True)
class RecalledStep:
    """A stored step with its signature, and what was observed next."""

    index: int
    kind: str
    summary: str
    tool: str | None
    success: bool | None
    signature: Signature
    result: str | None = None

    @property
    def is_act(self) -> bool:
        """True for what the actor chose: actions, and decisions other than thinking aloud with a tool."""
        return self.kind == "action" or (self.kind == "decision" and self.tool is None)


def recalled_steps(session: Session, names: Sequence[str]) -> dict[str, list[RecalledStep]]:
    """The first :data:`LONGEST` steps of each of the named Experiences, in order."""
    if not names:
        return {}
    rows = session.rows(
        'FIND(?e.name, ?s.attributes) WHERE { ?e {type: "Experience"} FILTER(IN(?e.name, :names)) '
        '(?e, "has_step", ?s) FILTER(?s.attributes.index < :longest) }',
        {"names": [*names], "longest": LONGEST},
    )
    found: dict[str, list[Mapping[str, Json]]] = {name: [] for name in names}
    for name, attributes in rows:
        if isinstance(name, str) and isinstance(attributes, dict):
            found[name].append(attributes)
    return {name: _in_order(steps) for name, steps in found.items()}


def _in_order(stored: list[Mapping[str, Json]]) -> list[RecalledStep]:
    ordered = sorted(stored, key=_index)
    return [_recalled(attributes, ordered[place + 1 :]) for place, attributes in enumerate(ordered)]


def _index(attributes: Mapping[str, Json]) -> int:
    index = attributes.get("index")
    return index if isinstance(index, int) else 0


def _recalled(attributes: Mapping[str, Json], later: Sequence[Mapping[str, Json]]) -> RecalledStep:
    kind, summary, tool = (_text(attributes.get(key)) for key in ("kind", "summary", "tool"))
    success = attributes.get("success")
    return RecalledStep(
        index=_index(attributes),
        kind=kind,
        summary=summary,
        tool=tool or None,
        success=success if isinstance(success, bool) else None,
        signature=of_step(kind, tool or None, attributes.get("arguments"), summary),
        result=_observed_next(tool, later) if kind == "action" else None,
    )


def _observed_next(tool: str, later: Sequence[Mapping[str, Json]]) -> str | None:
    """The next observation of the same tool; of any tool when the next step is one."""
    for distance, attributes in enumerate(later):
        if attributes.get("kind") == "observation" and (distance == 0 or _text(attributes.get("tool")) == tool):
            return shortened(_text(attributes.get("summary")), _STEP_TEXT)
        if attributes.get("kind") == "action" and _text(attributes.get("tool")) == tool:
            return None
    return None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def path_of(steps: Sequence[RecalledStep]) -> list[str]:
    """What was done, in order: tools by name and operation, other acts in a few words, repeats counted."""
    acts = [_act_name(step) for step in steps if step.is_act]
    runs = [(name, len(list(group))) for name, group in groupby(acts)]
    path = [name if count == 1 else f"{name} ×{count}" for name, count in runs]
    return [*path[:PATH_LIMIT], f"… {len(path) - PATH_LIMIT} more"] if len(path) > PATH_LIMIT else path


def _act_name(step: RecalledStep) -> str:
    operation = step.signature.operation
    if not step.tool:
        return shortened(step.summary, _PATH_TEXT)
    if not operation or operation.startswith(step.tool.casefold()):
        return operation or step.tool
    return shortened(f"{step.tool} {operation}", _PATH_TEXT)


def contrast(
    success: tuple[str, Sequence[RecalledStep]], failure: tuple[str, Sequence[RecalledStep]], *, same_goal: bool
) -> Contrast:
    """Compare two runs, each given by its name and steps."""
    found = list(partings([s for s in success[1] if s.is_act], [s for s in failure[1] if s.is_act]))
    compared = found or list(partings(success[1], failure[1]))
    first = _note(compared[0]) if compared else None
    change = next(filter(None, map(_change_in, found)), None)
    return Contrast(
        success=success[0],
        failure=failure[0],
        same_goal=same_goal,
        first=first,
        first_change=_note(change) if change else None,
        differing_acts=len(found),
        summary=_sentence(first),
    )


def _change_in(parting: Parting[RecalledStep]) -> Parting[RecalledStep] | None:
    """The part of a parting that does more than look, None if there is none."""
    left, right = (
        tuple(step for step in side if not step.signature.looks_only) for side in (parting.left, parting.right)
    )
    if not left and not right:
        return None
    manner: Manner = parting.manner if left and right else "only in the success" if left else "only in the failure"
    return Parting(manner, left, right, parting.shared)


def _note(parting: Parting[RecalledStep]) -> PartingNote:
    left, right = parting.left, parting.right
    details = parting.manner == "other details"
    return PartingNote(
        manner=parting.manner,
        shared_steps=parting.shared,
        in_success=_step_note(left[0]) if left else None,
        in_failure=_step_note(right[0]) if right else None,
        more_in_success=max(0, len(left) - 1),
        more_in_failure=max(0, len(right) - 1),
        success_details=_only(left[0].signature, right[0].signature) if details else [],
        failure_details=_only(right[0].signature, left[0].signature) if details else [],
    )


def _only(one: Signature, other: Signature) -> list[str]:
    """Arguments of ``one`` that ``other`` lacks."""
    return sorted(shortened(value, _PATH_TEXT) for value in one.values - other.values)[:_DETAILS]


def _step_note(step: RecalledStep) -> StepNote:
    summary = shortened(step.summary, _STEP_TEXT)
    return StepNote(index=step.index, kind=step.kind, summary=summary, tool=step.tool, result=step.result)


def _sentence(parting: PartingNote | None) -> str:
    if parting is None:
        return "Every recorded step is equal; what made the difference was not recorded."
    common = parting.shared_steps
    start = f"After {common} step{'s' * (common != 1)} in common" if common else "From the first step on"
    done, instead = (_quoted(side) for side in (parting.in_success, parting.in_failure))
    if parting.manner == "other details" and (parting.success_details or parting.failure_details):
        return f"{start}, both do {done}, but with other details: {_details(parting)}."
    if parting.in_failure is None:
        return f"{start}, the success has {done}; the failure has nothing like it."
    if parting.in_success is None:
        return f"{start}, the failure has {instead}; the success has nothing like it."
    return f"{start}, the success has {done} where the failure has {instead}."


def _details(parting: PartingNote) -> str:
    sides = (("success", parting.success_details), ("failure", parting.failure_details))
    return "; ".join(f"{', '.join(values)} ({side})" for side, values in sides if values)


def _quoted(step: StepNote | None) -> str:
    return f"step {step.index} {shortened(step.summary, _SENTENCE_TEXT)!r}" if step else ""
