"""Several processes on one store: every write is applied exactly once, and no lock is ever seen."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kip.backends.sqlite import SqliteBackend
from kip.nexus import Nexus

PROCESSES, WRITES = 8, 200

WORKER = """
import json, sys
from kip.backends.sqlite import SqliteBackend
from kip.nexus import Nexus

path, worker, writes = sys.argv[1], sys.argv[2], int(sys.argv[3])
nexus = Nexus(SqliteBackend(path))
OWN = 'UPSERT { CONCEPT ?n { {type: "Note", name: :name} SET ATTRIBUTES { by: :by } } }'
SHARED = 'UPDATE ?c SET ATTRIBUTES { n: ADD(?c.attributes.n, 1) } WHERE { ?c {type: "Note", name: "counter"} }'
READ = 'FIND(?c.attributes.log, ?c.metadata._version) WHERE { ?c {type: "Note", name: "log"} }'
GUARDED = 'UPSERT { CONCEPT ?c { {type: "Note", name: "log"} EXPECT VERSION :v SET ATTRIBUTES { log: :log } } }'
problems, conflicts = [], 0
for number in range(writes):
    kind = number % 4
    if kind == 0:
        while True:
            [log], [version] = nexus.execute_kip({"command": READ})["result"]
            parameters = {"v": version, "log": [*log, f"{worker}.{number}"]}
            response = nexus.execute_kip({"command": GUARDED, "parameters": parameters})
            if "error" not in response or response["error"]["code"] != "KIP_3005":
                break
            conflicts += 1
    elif kind == 1:
        response = nexus.execute_kip({"command": SHARED})
    else:
        response = nexus.execute_kip({"command": OWN, "parameters": {"name": f"{worker}.{number}", "by": worker}})
    if "error" in response:
        problems.append(response["error"])
print(json.dumps([problems, conflicts]))
"""


@pytest.mark.faults
@pytest.mark.timeout(300)
def test_writes_of_eight_processes_are_all_applied(tmp_path: Path) -> None:
    path = tmp_path / "kip.db"
    nexus = Nexus(SqliteBackend(str(path)))
    nexus.session().execute(
        'UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "Note"} } '
        'CONCEPT ?c { {type: "Note", name: "counter"} SET ATTRIBUTES { n: 0 } } '
        'CONCEPT ?l { {type: "Note", name: "log"} SET ATTRIBUTES { log: [] } } }'
    )
    commands = [[sys.executable, "-c", WORKER, str(path), str(worker), str(WRITES)] for worker in range(PROCESSES)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    reports = [json.loads(child.communicate(timeout=240)[0]) for child in children]
    assert [problems for problems, _ in reports] == [[]] * PROCESSES
    quarter = PROCESSES * WRITES // 4
    [(count, version)] = nexus.session().rows(
        'FIND(?c.attributes.n, ?c.metadata._version) WHERE { ?c {type: "Note", name: "counter"} }'
    )
    assert (count, version) == (quarter, quarter + 1)
    [(log, version)] = nexus.session().rows(
        'FIND(?c.attributes.log, ?c.metadata._version) WHERE { ?c {type: "Note", name: "log"} }'
    )
    assert isinstance(log, list)
    assert (len(set(map(str, log))), len(log), version) == (quarter, quarter, quarter + 1)
    own = nexus.session().execute('FIND(COUNT(?n)) WHERE { ?n {type: "Note"} FILTER(IS_NOT_NULL(?n.attributes.by)) }')
    assert own == 2 * quarter
    nexus.close()
    backend = SqliteBackend(str(path))
    assert backend.check() == []
    backend.close()


OPENER = """
import sys
from kip.backends.sqlite import SqliteBackend
from kip.nexus import Nexus

nexus = Nexus(SqliteBackend(sys.argv[1]))
print(nexus.session().execute('FIND(COUNT(?d)) WHERE { ?d {type: "Domain"} }'))
"""


@pytest.mark.faults
def test_a_new_store_can_be_opened_by_many_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENER, str(tmp_path / "kip.db")]
    children = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(PROCESSES)
    ]
    results = [child.communicate(timeout=60) for child in children]
    assert results == [("4\n", "")] * PROCESSES
