"""Where two runs part: alignment of their steps by what they do (document 003, section 10).

Runs are aligned as sequences are: a pair of like steps scores by their likeness, a step that only one
run has costs a little. The first place where the aligned runs differ is where they part; the first place
where an act that changes something differs is reported beside it, because runs often look around in
another order before they do anything different.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    """One place where two runs differ: what each did there, which may be nothing on one side.

    ``shared`` counts the steps that both have in common before.
    """

    manner: Manner
    left: tuple[StepT, ...]
    right: tuple[StepT, ...]
    shared: int


def partings(left: Sequence[StepT], right: Sequence[StepT]) -> Iterator[Parting[StepT]]:
    """The places where ``left`` (a success) and ``right`` (a failure) differ, first one first.

    Neighbouring steps that only one side has make one place: there this run did one thing, that run another.
    """
    shared = 0
    only_left: list[StepT] = []
    only_right: list[StepT] = []
    for one, other in aligned(left[:LONGEST], right[:LONGEST]):
        if one is None or other is None:
            if one is not None:
                only_left.append(one)
            if other is not None:
                only_right.append(other)
            continue
        if only_left or only_right:
            yield _parting(only_left, only_right, shared)
            only_left, only_right = [], []
        if likeness(one.signature, other.signature) < SAME:
            yield Parting("other details", (one,), (other,), shared)
        shared += 1
    if only_left or only_right:
        yield _parting(only_left, only_right, shared)


def _parting(left: list[StepT], right: list[StepT], shared: int) -> Parting[StepT]:
    if left and right:
        return Parting("other step", tuple(left), tuple(right), shared)
    return Parting("only in the success" if left else "only in the failure", tuple(left), tuple(right), shared)


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
