"""Paired timing: kip and its baseline take turns, so that whatever else the machine does hits both."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

LEAST_PAIRS = 5
MOST_PAIRS = 3000

Call = Callable[[], Any]


@dataclass(slots=True)
class Timing:
    """Seconds of each call, of kip and of the baseline."""

    kip: list[float] = field(default_factory=list)
    baseline: list[float] = field(default_factory=list)

    def row(self, work: str, n: int, goal: float | None) -> dict[str, Any]:
        """The row of a report."""
        p50, base = percentile(self.kip, 50), percentile(self.baseline, 50)
        # On a busy machine the fastest tenth is what it would be on a quiet one: the rest has waited for a core.
        quiet, quiet_base = percentile(self.kip, 10), percentile(self.baseline, 10)
        return {
            "work": work,
            "n": n,
            "p50_us": round(p50 * 1e6, 1),
            "p95_us": round(percentile(self.kip, 95) * 1e6, 1),
            "baseline_p50_us": round(base * 1e6, 1),
            "baseline_p95_us": round(percentile(self.baseline, 95) * 1e6, 1),
            "ratio": round(p50 / base, 2),
            "p10_us": round(quiet * 1e6, 1),
            "baseline_p10_us": round(quiet_base * 1e6, 1),
            "ratio_p10": round(quiet / quiet_base, 2),
            "goal": goal,
            "pairs": len(self.kip),
        }


def percentile(values: Sequence[float], percent: int) -> float:
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def take_alone(call: Call, times: int) -> list[float]:
    """Seconds of each of some calls."""
    taken: list[float] = []
    for _ in range(times):
        start = perf_counter()
        call()
        taken.append(perf_counter() - start)
    return taken


def take_turns(pairs: Sequence[tuple[Call, Call]], seconds: float) -> Timing:
    """Time kip and baseline calls in turns, over all pairs again and again, for about so many seconds.

    Who goes first alternates, too: the second finds the pages that the first has read.
    """
    timing = Timing()
    gc.collect()
    end = perf_counter() + seconds
    number = 0
    while number < LEAST_PAIRS or (perf_counter() < end and number < MOST_PAIRS):
        kip, baseline = pairs[number % len(pairs)]
        # Every second round over the pairs starts with the other side.
        turns = [(kip, timing.kip), (baseline, timing.baseline)]
        if (number + number // len(pairs)) % 2:
            turns.reverse()
        for call, times in turns:
            times.extend(take_alone(call, 1))
        number += 1
    return timing
