"""Upkeep of the SQLite store: purge leaves no trace in the files, backups, checks and rebuilding."""

from __future__ import annotations

import threading
from pathlib import Path

import apsw
import pytest

from kip.backends.sqlite import SqliteBackend
from kip.errors import KipError
from kip.nexus import Nexus

CANARY = "kanarienvogel"
SCHEMA = (
    'UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "Note"} } '
    'CONCEPT ?a { {type: "$ConceptType", name: "Audit"} SET ATTRIBUTES { append_only: true } } '
    'CONCEPT ?p { {type: "$PropositionType", name: "about"} } }'
)


def _open(path: Path) -> Nexus:
    nexus = Nexus(SqliteBackend(str(path)))
    nexus.session().execute(SCHEMA)
    return nexus


def _note(nexus: Nexus, name: str, text: str = "") -> str:
    command = 'UPSERT { CONCEPT ?n { {type: "Note", name: :name} SET ATTRIBUTES { description: :text } } }'
    return nexus.session().execute(command, {"name": name, "text": text})["upsert_concept_nodes"][0]


def _bytes_of(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(path.parent.iterdir()) if file.is_file())


# --- purge (decision 14) ---


def test_what_is_purged_cannot_be_read_from_the_files(tmp_path: Path) -> None:
    path = tmp_path / "kip.db"
    nexus = _open(path)
    for number in range(50):
        _note(nexus, f"note {number}", f"filler {number} " * 30)
    id = _note(nexus, f"{CANARY} one", f"{CANARY} first text")
    _note(nexus, f"{CANARY} one", f"{CANARY} second text, longer than the first " * 20)
    nexus.session().execute(
        'UPSERT { PROPOSITION ?l { ({type: "Note", name: "note 1"}, "about", {id: :id}) '
        "SET ATTRIBUTES { why: :why } } }",
        {"id": id, "why": CANARY},
    )
    assert CANARY.encode() in _bytes_of(path)
    assert nexus.session().purge([id]) == {"purged": 2}
    assert CANARY.encode() not in _bytes_of(path)
    assert nexus.session().execute(f'SEARCH CONCEPT "{CANARY}"') == []
    assert nexus.session().history(id) == []
    assert nexus.session().execute('FIND(COUNT(?n)) WHERE { ?n {type: "Note"} }') == 50
    nexus.close()
    assert CANARY.encode() not in _bytes_of(path)


def test_what_was_purged_does_not_come_back(tmp_path: Path) -> None:
    nexus = _open(tmp_path / "kip.db")
    nexus.session().purge([_note(nexus, "gone")])
    with pytest.raises(KipError) as caught:
        _note(nexus, "gone")
    assert caught.value.code == "KIP_3004"
    _note(nexus, "another")
    other = Nexus(SqliteBackend(str(tmp_path / "kip.db")), space="other")
    other.session().execute(SCHEMA)
    _note(other, "gone")
    other.close()
    nexus.close()


def test_purge_is_the_one_exception_to_append_only(tmp_path: Path) -> None:
    nexus = _open(tmp_path / "kip.db")
    [id] = nexus.session().execute('UPSERT { CONCEPT ?a { {type: "Audit", name: "x"} } }')["upsert_concept_nodes"]
    assert nexus.session().purge([id]) == {"purged": 1}
    nexus.close()


@pytest.mark.parametrize("identity", [("$ConceptType", "Domain"), ("Domain", "CoreSchema"), ("Person", "$self")])
def test_the_system_cannot_be_purged(tmp_path: Path, identity: tuple[str, str]) -> None:
    nexus = _open(tmp_path / "kip.db")
    query = "FIND(?x.id) WHERE { ?x {type: :type, name: :name} }"
    parameters = {"type": identity[0], "name": identity[1]}
    [(id,)] = nexus.session().rows(query, parameters)
    with pytest.raises(KipError) as caught:
        nexus.session().purge([str(id)])
    assert caught.value.code == "KIP_3004"
    assert nexus.session().rows(query, parameters) == [(id,)]
    nexus.close()


def test_purging_nothing_does_nothing(tmp_path: Path) -> None:
    nexus = _open(tmp_path / "kip.db")
    assert nexus.session().purge(["C:999998", "nonsense"]) == {"purged": 0}
    nexus.close()


# --- backup ---


def test_a_backup_made_while_writing_is_a_consistent_store(tmp_path: Path) -> None:
    nexus = _open(tmp_path / "kip.db")
    done = threading.Event()

    def write() -> None:
        number = 0
        while not done.is_set():
            pair = 'UPSERT { CONCEPT ?a { {type: "Note", name: :a} } CONCEPT ?b { {type: "Note", name: :b} } }'
            nexus.session().execute(pair, {"a": f"a{number}", "b": f"b{number}"})
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    backend = SqliteBackend(str(tmp_path / "kip.db"))
    for number in range(5):
        backend.back_up(str(tmp_path / f"copy{number}.db"))
    done.set()
    writer.join()
    backend.close()
    nexus.close()
    for number in range(5):
        copy = SqliteBackend(str(tmp_path / f"copy{number}.db"))
        assert copy.check() == []
        restored = Nexus(copy)
        names = {str(row[0]) for row in restored.session().rows('FIND(?n.name) WHERE { ?n {type: "Note"} }')}
        assert {name[1:] for name in names if name[0] == "a"} == {name[1:] for name in names if name[0] == "b"}
        restored.close()


def test_a_backup_overwrites_nothing(tmp_path: Path) -> None:
    nexus = _open(tmp_path / "kip.db")
    target = tmp_path / "precious"
    target.write_text("mine")
    backend = SqliteBackend(str(tmp_path / "kip.db"))
    with pytest.raises(KipError) as caught:
        backend.back_up(str(target))
    assert caught.value.code == "KIP_4003"
    assert target.read_text() == "mine"
    backend.close()
    nexus.close()


# --- doctor ---


def _damage(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()


def test_a_sound_store_has_no_findings(tmp_path: Path) -> None:
    path = tmp_path / "kip.db"
    nexus = _open(path)
    id = _note(nexus, "Straße 東京出張", "text with CamelCase and ops-4471")
    nexus.session().execute(
        'UPSERT { PROPOSITION ?l { ({id: :id}, "about", {type: "Person", name: "$self"}) '
        'SET ATTRIBUTES { why: "so" } } }',
        {"id": id},
    )
    _note(nexus, "changed", "before")
    _note(nexus, "changed", "after")
    nexus.session().execute('DELETE CONCEPT ?n DETACH WHERE { ?n {type: "Note", name: "changed"} }')
    nexus.close()
    backend = SqliteBackend(str(path))
    assert backend.check() == []
    backend.close()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM search WHERE rowid = (SELECT key FROM concept WHERE name = 'findable')",
        "UPDATE search SET terms = '1c 1cxother' WHERE rowid = (SELECT key FROM concept WHERE name = 'findable')",
        "INSERT INTO search (rowid, terms) VALUES (999998, '1c 1cxghost')",
    ],
)
def test_search_entries_out_of_step_are_found_and_mended(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "kip.db"
    nexus = _open(path)
    _note(nexus, "findable", "words")
    nexus.close()
    _damage(path, damage)
    backend = SqliteBackend(str(path))
    assert {(finding.check, finding.repairable) for finding in backend.check()} == {("search", True)}
    backend.rebuild()
    assert backend.check() == []
    backend.close()
    nexus = Nexus(SqliteBackend(str(path)))
    assert [hit["name"] for hit in nexus.session().execute('SEARCH CONCEPT "findable"')] == ["findable"]
    assert nexus.session().execute('SEARCH CONCEPT "ghost"') == []
    nexus.close()


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    path = tmp_path / "kip.db"
    nexus = _open(path)
    nexus.session().execute(
        'UPSERT { CONCEPT ?a { {type: "Note", name: "a"} } CONCEPT ?b { {type: "Note", name: "b"} '
        'SET PROPOSITIONS { ("about", ?a) } } }'
    )
    nexus.close()
    _damage(path, "DELETE FROM search WHERE rowid = (SELECT key FROM concept WHERE name = 'a')")
    _damage(path, "DELETE FROM concept WHERE name = 'a'")
    backend = SqliteBackend(str(path))
    [finding] = [finding for finding in backend.check() if finding.check != "search"]
    assert (finding.check, finding.repairable) == ("links", False)
    backend.close()
