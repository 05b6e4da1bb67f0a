"""Where two runs part: alignment of their steps by what they do (document 003, section 10).

Runs are aligned as sequences are: a pair of like steps scores by their likeness, a step that only one
run has costs a little. The first place where the aligned runs differ is where they part; the first place
where an act that changes something differs is reported beside it, because runs often look around in
another order before they do anything different.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Literal, Protocol, TypeVar

from kip.memory.signature import Signature, likeness

LIKE = 0.45
"""From this likeness on two steps are taken as the same act."""

SAME = 0.999
"""From this likeness on two steps are the same in their values too."""

LONGEST = 250
"""How many acts of a run are aligned; the cost grows with the product of both lengths."""

_GAP = -0.3

Manner = Literal["other step", "other details", "only in the success", "only in the failure"]


class HasSignature(Protocol):
    """Anything that can be aligned."""

    @property
    def signature(self) -> Signature: ...


StepT = TypeVar("StepT", bound=HasSignature)


@dataclass(frozen=True, slots=True)
class Parting(Generic[StepT]):
    """One place where two runs differ; a side is None when that run has nothing there."""

    manner: Manner
    left: StepT | None
    right: StepT | None
    shared: int


def partings(left: Sequence[StepT], right: Sequence[StepT]) -> Iterator[Parting[StepT]]:
    """The places where ``left`` (a success) and ``right`` (a failure) differ, first one first.

    ``shared`` counts the acts that both runs have in common before that place.
    """
    shared = 0
    pending: tuple[StepT | None, StepT | None] = (None, None)
    for one, other in aligned(list(islice(left, LONGEST)), list(islice(right, LONGEST))):
        if one is not None and other is not None:
            if pending != (None, None):
                yield _parting(*pending, shared)
                pending = (None, None)
            if likeness(one.signature, other.signature) < SAME:
                yield Parting("other details", one, other, shared)
            shared += 1
        else:
            # Neighbouring steps that each only one side has are one parting: this one did A, that one did B.
            pending = (pending[0] or one, pending[1] or other)
    if pending != (None, None):
        yield _parting(*pending, shared)


def _parting(left: StepT | None, right: StepT | None, shared: int) -> Parting[StepT]:
    manner: Manner = (
        "other step"
        if left is not None and right is not None
        else "only in the success"
        if left is not None
        else "only in the failure"
    )
    return Parting(manner, left, right, shared)


def changes_something(parting: Parting[StepT]) -> bool:
    """True when either side of a parting does more than look."""
    return any(side is not None and not side.signature.looks_only for side in (parting.left, parting.right))


def aligned(left: Sequence[StepT], right: Sequence[StepT]) -> list[tuple[StepT | None, StepT | None]]:
    """Both sequences side by side, in order, None where one of them has no counterpart."""
    alike = [[likeness(one.signature, other.signature) for other in right] for one in left]
    best = _best_scores(alike, len(left), len(right))
    pairs: list[tuple[StepT | None, StepT | None]] = []
    i, j = 0, 0
    while i < len(left) and j < len(right):
        if alike[i][j] >= LIKE and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            pairs.append((left[i], right[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == _GAP + best[i + 1][j]:
            pairs.append((left[i], None))
            i += 1
        else:
            pairs.append((None, right[j]))
            j += 1
    pairs.extend((step, None) for step in left[i:])
    pairs.extend((None, step) for step in right[j:])
    return pairs


def _best_scores(alike: list[list[float]], rows: int, columns: int) -> list[list[float]]:
    """``best[i][j]`` is the score of the best alignment of the ends from ``i`` and from ``j`` on."""
    best = [[_GAP * (rows - i + columns - j) for j in range(columns + 1)] for i in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            best[i][j] = _GAP + max(best[i + 1][j], best[i][j + 1])
            if alike[i][j] >= LIKE:
                best[i][j] = max(best[i][j], alike[i][j] + best[i + 1][j + 1])
    return best
