"""Failures of the store in the middle of a write: a clean KIP_400x, and the store as it was before."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from kip.backends.sqlite import SqliteBackend
from kip.nexus import Nexus

WORKLOAD = [
    'UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "Note"} SET ATTRIBUTES { indexes: [["n"]] } } '
    'CONCEPT ?p { {type: "$PropositionType", name: "about"} } }',
    'UPSERT { CONCEPT ?a { {type: "Note", name: "a"} SET ATTRIBUTES { n: 1, description: "first words" } } '
    'CONCEPT ?b { {type: "Note", name: "b"} SET PROPOSITIONS { ("about", ?a) } } '
    'CONCEPT ?c { {type: "Note", name: "c"} SET PROPOSITIONS { ("about", ?a) ("about", ?b) } } }',
    'UPSERT { CONCEPT ?a { {type: "Note", name: "a"} SET ATTRIBUTES { description: "other words" } } }',
    'UPDATE ?n SET ATTRIBUTES { n: 5 } SET METADATA { seen: true } WHERE { ?n {type: "Note"} }',
    'MERGE CONCEPT ?s INTO ?t WHERE { ?s {type: "Note", name: "b"} ?t {type: "Note", name: "c"} }',
    'DELETE ATTRIBUTES { "n" } FROM ?n WHERE { ?n {type: "Note"} }',
    'DELETE PROPOSITIONS ?l WHERE { ?l (?x, "about", ?y) }',
    'DELETE CONCEPT ?n DETACH WHERE { ?n {type: "Note", name: "a"} }',
]


def _dump(connection: apsw.Connection) -> list[Any]:
    """Everything that is stored, in a comparable form."""
    tables = ("space", "concept", "link", "revision", "embedding", "tombstone", "search_terms", "sqlite_schema")
    return [connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables]


def _failing_at(number: int, make: Callable[[], Exception]) -> Callable[..., bool]:
    count = 0

    def trace(_cursor: Any, sql: str, _bindings: Any) -> bool:
        nonlocal count
        if sql.lstrip().upper().startswith("ROLLBACK"):
            return True
        count += 1
        if count == number:
            raise make()
        return True

    return trace


@pytest.mark.faults
@pytest.mark.parametrize("make", [lambda: apsw.IOError("x"), lambda: apsw.FullError("x")], ids=["io", "full"])
def test_a_failure_at_any_statement_leaves_the_store_as_it_was(tmp_path: Path, make: Callable[[], Exception]) -> None:
    backend = SqliteBackend(str(tmp_path / "kip.db"))
    nexus = Nexus(backend)
    connection = backend._writer
    failures = 0
    for command in WORKLOAD:
        before = _dump(connection)
        number = 0
        while True:
            number += 1
            connection.exec_trace = _failing_at(number, make)
            response = nexus.execute_kip({"command": command})
            connection.exec_trace = None
            if "error" not in response:
                break
            failures += 1
            assert response["error"]["code"] in ("KIP_4002", "KIP_4003")
            assert _dump(connection) == before, f"statement {number} of {command}"
    assert failures > 60
    assert nexus.execute_kip({"command": 'FIND(?n.name) WHERE { ?n {type: "Note"} }'}) == {"result": ["c"]}
    assert backend.check() == []
    nexus.close()


@pytest.mark.faults
def test_a_full_store_refuses_writes_cleanly_and_goes_on_reading(tmp_path: Path) -> None:
    backend = SqliteBackend(str(tmp_path / "kip.db"))
    nexus = Nexus(backend)
    assert "error" not in nexus.execute_kip({"command": WORKLOAD[0]})
    pages = backend._writer.pragma("page_count")
    backend._writer.pragma("max_page_count", int(str(pages)) + 8)
    written = 0
    while True:
        command = {
            "command": 'UPSERT { CONCEPT ?n { {type: "Note", name: :name} SET ATTRIBUTES { description: :text } } }'
        }
        response = nexus.execute_kip({**command, "parameters": {"name": f"n{written}", "text": "words " * 200}})
        if "error" in response:
            break
        written += 1
    assert written > 0
    assert response["error"]["code"] == "KIP_4002"
    assert nexus.execute_kip({"command": 'FIND(COUNT(?n)) WHERE { ?n {type: "Note"} }'}) == {"result": written}
    backend._writer.pragma("max_page_count", 1_000_000)
    assert "error" not in nexus.execute_kip({"command": 'UPSERT { CONCEPT ?n { {type: "Note", name: "again"} } }'})
    assert backend.check() == []
    nexus.close()


LIMITED = """
import json, resource, signal, sys
from kip.backends.sqlite import SqliteBackend
from kip.nexus import Nexus

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
nexus = Nexus(SqliteBackend(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
written = 0
command = 'UPSERT { CONCEPT ?n { {type: "Note", name: :name} SET ATTRIBUTES { description: :text } } }'
while True:
    response = nexus.execute_kip({"command": command, "parameters": {"name": f"n{written}", "text": "words " * 2000}})
    if "error" in response:
        break
    written += 1
again = nexus.execute_kip({"command": 'FIND(COUNT(?n)) WHERE { ?n {type: "Note"} }'})
print(json.dumps([written, response["error"], again]))
"""


@pytest.mark.faults
def test_writes_that_the_system_refuses_end_in_a_clean_error(tmp_path: Path) -> None:
    path = tmp_path / "kip.db"
    nexus = Nexus(SqliteBackend(str(path)))
    nexus.execute_kip({"command": WORKLOAD[0]})
    nexus.close()
    limit = path.stat().st_size + 400_000
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(limit)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    written, error, again = json.loads(done.stdout)
    assert written > 0
    assert error["code"] in ("KIP_4002", "KIP_4003")
    assert "sqlite" not in json.dumps(error).lower()
    assert again == {"result": written}
    backend = SqliteBackend(str(path))
    assert backend.check() == []
    found = Nexus(backend)
    assert found.execute_kip({"command": 'FIND(COUNT(?n)) WHERE { ?n {type: "Note"} }'}) == {"result": written}
    found.close()
