"""Generated queries: the engine on SQLite gives what the naive evaluator gives.

``KIP_FUZZ`` is how many (1,500 unless given; ``pytest -m fuzz`` takes 20,000), ``KIP_FUZZ_FROM`` the first one:
``KIP_FUZZ=1 KIP_FUZZ_FROM=1234`` runs query 1234 again.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle.amount import numbers
from tests.oracle.generate import dice
from tests.oracle.generate_queries import Command, query
from tests.oracle.judge import Verdict, disagrees, judge
from tests.oracle.shrink import shrink
from tests.oracle.store import Loader, Store

QUERIES_PER_STORE, PARTS, MOST_SHOWN = 100, 4, 5


@pytest.mark.fuzz
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
def test_generated_queries(part: int, request: pytest.FixtureRequest) -> None:
    wanted = numbers(request.config, usual=1500, full=20_000)
    seen: Counter[str] = Counter()
    reports: list[str] = []
    for start in range(wanted.start - wanted.start % QUERIES_PER_STORE, wanted.stop, QUERIES_PER_STORE):
        if start // QUERIES_PER_STORE % PARTS != part:
            continue
        store = Store(start)
        for number in range(max(start, wanted.start), min(start + QUERIES_PER_STORE, wanted.stop)):
            loader = store.loaders[number % len(store.loaders)]
            command = query(dice(f"query {number}"), loader.graph)
            verdict = judge(loader.nexus, loader.graph, command, number)
            seen.update(("all", verdict.kind))
            seen["empty"] += verdict.kind == "pages" and not verdict.expected
            if verdict.fault is not None:
                reports.append(report(number, loader, command, verdict))
        store.close()
        if len(reports) >= MOST_SHOWN:
            break
    assert not reports, "\n\n".join(reports[:MOST_SHOWN])
    if len(wanted) >= 1000:
        # Queries that find nothing say little, and those that are too large nothing.
        assert seen["too large"] < 0.1 * seen["all"]
        assert seen["empty"] < 0.5 * seen["all"]


def report(number: int, loader: Loader, command: Command, verdict: Verdict) -> str:
    """What is needed to look into a disagreement: the number, the smallest command found, and both answers."""
    smallest = command
    if command.error is None:
        text = shrink(
            command.text,
            lambda text: disagrees(loader.nexus, loader.graph, Command(text, command.parameters), number),
        )
        smallest = Command(text, command.parameters)
    verdict = judge(loader.nexus, loader.graph, smallest, number)
    return (
        f"query {number}: {verdict.fault}\n{smallest.text}\nparameters: {command.parameters}\n"
        f"expected: {str(verdict.expected)[:2000]}\nactual: {str(verdict.actual)[:2000]}\n"
        f"before shrinking:\n{command.text}"
    )
