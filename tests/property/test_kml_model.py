"""Generated writes: answers, counters and the graph that is left are those of an independent model.

``KIP_FUZZ`` is how many sequences of writes (60 unless given; ``pytest -m fuzz`` takes 2,000), ``KIP_FUZZ_FROM``
the first one.
"""

from __future__ import annotations

from random import Random

import pytest

from kip.backends.sqlite import SqliteBackend
from kip.clock import FixedClock
from tests.oracle.amount import numbers
from tests.oracle.generate import dice, graph
from tests.oracle.generate_kml import Write
from tests.oracle.judge_kml import DisagreementError, Sequence
from tests.oracle.store import START, Loader

PARTS, WRITES, MOST_SHOWN = 4, 10, 3


def start(number: int) -> tuple[Sequence, Random]:
    rng = dice(f"writes {number}")
    loader = Loader(SqliteBackend(":memory:"), "s", FixedClock(START), graph(rng, (6, 12), (12, 35)))
    loader.load()
    return Sequence.start(loader), rng


@pytest.mark.fuzz
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
def test_generated_writes(part: int, request: pytest.FixtureRequest) -> None:
    reports: list[str] = []
    for number in numbers(request.config, usual=60, full=2000):
        if number % PARTS != part:
            continue
        sequence, rng = start(number)
        try:
            for _ in range(WRITES):
                sequence.step(rng)
        except DisagreementError as error:
            reports.append(report(number, sequence.log, error))
        finally:
            sequence.loader.nexus.close()
        if len(reports) == MOST_SHOWN:
            break
    assert not reports, "\n\n".join(reports)


def report(number: int, log: list[Write], error: DisagreementError) -> str:
    """The fewest writes that still end in a disagreement: earlier ones are left out where that keeps it."""
    writes = log[1:]
    for write in log[1:-1]:
        fewer = [item for item in writes if item is not write]
        found = replay(number, fewer)
        if found is not None:
            writes, error = fewer, found
    shown = "\n".join(f"{'dry run: ' if write.dry_run else ''}{write.text}\n  {write.parameters}" for write in writes)
    return f"sequence {number}: {error}\nafter these writes, on the graph of this number:\n{shown}"


def replay(number: int, writes: list[Write]) -> DisagreementError | None:
    sequence, _ = start(number)
    try:
        for write in writes:
            sequence.apply(write)
    except DisagreementError as error:
        return error
    finally:
        sequence.loader.nexus.close()
    return None
