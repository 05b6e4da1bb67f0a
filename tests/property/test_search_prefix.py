"""SEARCH .. LIMIT n is the beginning of the same SEARCH without a limit (5.2.2), on every way to get there."""

from __future__ import annotations

import random

import pytest

from kip.backends import sqlite_search
from kip.backends.sqlite import SqliteBackend
from kip.nexus import Nexus

COMMON = ["release", "service", "production", "deploy", "staging"]
RARE = [f"word{number}" for number in range(40)]


def _fill(nexus: Nexus, chance: random.Random) -> None:
    nexus.session().execute('UPSERT { CONCEPT ?n { {type: "$ConceptType", name: "Note"} } }')
    for number in range(150):
        name = " ".join([f"n{number}", *chance.sample(COMMON, chance.randint(0, 2))])
        words = chance.sample(COMMON, chance.randint(0, 4)) + chance.sample(RARE, chance.randint(0, 3))
        text = " ".join(words * chance.randint(1, 5))
        nexus.session().execute(
            'UPSERT { CONCEPT ?n { {type: "Note", name: :name} SET ATTRIBUTES { description: :text } } }',
            {"name": name, "text": text},
        )


@pytest.mark.parametrize("budget", [0, 30, 120, 2_000])
def test_a_limit_gives_the_beginning(monkeypatch: pytest.MonkeyPatch, budget: int) -> None:
    monkeypatch.setattr(sqlite_search, "BUDGET", budget)
    chance = random.Random(budget)  # noqa: S311 - reproducible
    nexus = Nexus(SqliteBackend(":memory:"))
    _fill(nexus, chance)
    for _ in range(60):
        term = " ".join(chance.sample(COMMON + RARE, chance.randint(1, 6)))
        kind = chance.choice(["", ' WITH TYPE "Note"'])
        whole = nexus.session().execute(f"SEARCH CONCEPT :term{kind}", {"term": term})
        for limit in (1, 3, 10):
            part = nexus.session().execute(f"SEARCH CONCEPT :term{kind} LIMIT :n", {"term": term, "n": limit})
            assert part == whole[:limit], (term, kind, limit)
    nexus.close()
