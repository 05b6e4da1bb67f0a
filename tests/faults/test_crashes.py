"""Killed processes: nothing acknowledged is lost, nothing is half-applied."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kip.backends.sqlite import SqliteBackend
from kip.nexus import Nexus

KILLS = int(os.environ.get("KIP_KILLS", "100" if os.environ.get("CI") else "25"))

WRITER = """
import sys
from kip.backends.sqlite import SqliteBackend
from kip.nexus import Nexus

session = Nexus(SqliteBackend(sys.argv[1])).session()
number = int(sys.argv[2])
PAIR = '''UPSERT {
  CONCEPT ?a { {type: "Note", name: :a} SET ATTRIBUTES { n: :n } }
  CONCEPT ?b { {type: "Note", name: :b} SET ATTRIBUTES { n: :n } SET PROPOSITIONS { ("about", ?a) } }
}'''
COUNT = 'UPDATE ?c SET ATTRIBUTES { n: ADD(?c.attributes.n, 1) } WHERE { ?c {type: "Note", name: "counter"} }'
while True:
    session.execute(PAIR, {"a": f"a{number}", "b": f"b{number}", "n": number})
    session.execute(COUNT)
    print(number, flush=True)
    number += 1
"""


def _prepare(path: Path) -> None:
    nexus = Nexus(SqliteBackend(str(path)))
    nexus.session().execute(
        'UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "Note"} } '
        'CONCEPT ?p { {type: "$PropositionType", name: "about"} } '
        'CONCEPT ?c { {type: "Note", name: "counter"} SET ATTRIBUTES { n: 0 } } }'
    )
    nexus.close()


def _kill_at_random(path: Path, first: int, chance: random.Random) -> list[int]:
    """Run the writer and kill it at a random moment; returns the numbers that it acknowledged."""
    command = [sys.executable, "-c", WRITER, str(path), str(first)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    head = child.stdout.readline()  # it is past its start
    time.sleep(chance.uniform(0, 0.03))
    os.kill(child.pid, signal.SIGKILL)
    rest, errors = child.communicate(timeout=30)
    assert not errors, errors
    return [int(line) for line in (head + rest).splitlines() if line.isdigit()]


def _state(path: Path) -> tuple[set[int], set[int], int, int]:
    nexus = Nexus(SqliteBackend(str(path)))
    names = {str(row[0]) for row in nexus.session().rows('FIND(?n.name) WHERE { ?n {type: "Note"} }')} - {"counter"}
    links = nexus.session().execute('FIND(COUNT(?l)) WHERE { ?l (?b, "about", ?a) }')
    [(count,)] = nexus.session().rows('FIND(?c.attributes.n) WHERE { ?c {type: "Note", name: "counter"} }')
    nexus.close()
    a, b = ({int(name[1:]) for name in names if name[0] == letter} for letter in "ab")
    assert isinstance(count, int)
    return a, b, links, count


@pytest.mark.faults
@pytest.mark.timeout(600)
def test_killed_writers_lose_nothing_acknowledged_and_leave_nothing_half_done(tmp_path: Path) -> None:
    path = tmp_path / "kip.db"
    _prepare(path)
    chance = random.Random(20260817)  # noqa: S311 - reproducible moments
    acknowledged: set[int] = set()
    first = 0
    for _ in range(KILLS):
        acknowledged.update(_kill_at_random(path, first, chance))
        a, b, links, count = _state(path)
        assert a == b, "an UPSERT was half applied"
        assert links == len(a), "an UPSERT was half applied"
        assert a >= acknowledged, "an acknowledged UPSERT was lost"
        assert len(acknowledged) <= count <= len(a), "an acknowledged UPDATE was lost, or one was applied twice"
        first = max(a) + 1
    assert len(acknowledged) > KILLS
    backend = SqliteBackend(str(path))
    assert backend.check() == []
    backend.close()
