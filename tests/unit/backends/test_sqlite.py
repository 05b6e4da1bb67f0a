"""The SQLite store: durability, isolation of spaces, refusal of foreign files, error mapping."""

from __future__ import annotations

import inspect
import threading
from pathlib import Path

import apsw
import pytest

from kip.backends.sqlite import SqliteBackend
from kip.backends.sqlite_schema import FORMAT, kip_error
from kip.errors import CODES, KipError
from kip.nexus import Nexus

DRIVER_ERRORS = [
    item
    for _, item in inspect.getmembers(apsw, inspect.isclass)
    if issubclass(item, Exception) and item is not Exception
]


@pytest.mark.parametrize("error", DRIVER_ERRORS, ids=lambda item: item.__name__)
def test_every_driver_error_has_a_code_and_leaks_no_text(error: type[Exception]) -> None:
    assert issubclass(error, apsw.Error)
    mapped = kip_error(error("near 'secret': no such column"))
    assert mapped.code in CODES
    assert "secret" not in f"{mapped} {mapped.hint}"


def test_the_driver_has_errors_to_map() -> None:
    assert len(DRIVER_ERRORS) > 30


def _define(nexus: Nexus) -> None:
    nexus.session().execute(
        'UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES { description: "d" } } }'
    )


def _names(nexus: Nexus) -> list[object]:
    return [row[0] for row in nexus.session().rows('FIND(?d.name) WHERE { ?d {type: "Drug"} }')]


def test_acknowledged_writes_are_there_after_reopening(tmp_path: Path) -> None:
    path = str(tmp_path / "kip.db")
    first = Nexus(SqliteBackend(path))
    _define(first)
    first.session().execute('UPSERT { CONCEPT ?d { {type: "Drug", name: "Aspirin"} } }')
    first.close()
    second = Nexus(SqliteBackend(path))
    assert _names(second) == ["Aspirin"]
    second.close()


def test_spaces_do_not_see_each_other(tmp_path: Path) -> None:
    path = str(tmp_path / "kip.db")
    one, two = Nexus(SqliteBackend(path), space="one"), Nexus(SqliteBackend(path), space="two")
    for nexus in (one, two):
        _define(nexus)
    [[id]] = [
        one.session().execute('UPSERT { CONCEPT ?d { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { n: 1 } } }')[
            "upsert_concept_nodes"
        ]
    ]
    assert _names(two) == []
    assert two.session().rows("FIND(?d) WHERE { ?d {id: :id} }", {"id": id}) == []
    assert two.session().execute('SEARCH CONCEPT "Aspirin"') == []
    with pytest.raises(KipError) as caught:
        two.session().execute("UPSERT { CONCEPT ?d { {id: :id} SET ATTRIBUTES { n: 2 } } }", {"id": id})
    assert caught.value.code == "KIP_3002"
    assert two.session().execute("UPDATE ?d SET ATTRIBUTES { n: 2 } WHERE { ?d {id: :id} }", {"id": id}) == {
        "updated": 0,
        "matched": 0,
    }
    assert one.session().rows('FIND(?d.attributes.n) WHERE { ?d {type: "Drug"} }') == [(1,)]
    one.close()
    two.close()


def test_the_same_types_can_differ_between_spaces(tmp_path: Path) -> None:
    path = str(tmp_path / "kip.db")
    one, two = Nexus(SqliteBackend(path), space="one"), Nexus(SqliteBackend(path), space="two")
    _define(one)
    with pytest.raises(KipError) as caught:
        _names(two)
    assert caught.value.code == "KIP_2001"
    one.close()
    two.close()


def test_a_definition_made_by_another_connection_is_seen_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "kip.db")
    one, two = Nexus(SqliteBackend(path)), Nexus(SqliteBackend(path))
    with pytest.raises(KipError):
        _names(two)
    _define(one)
    assert _names(two) == []
    one.close()
    two.close()


def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kip.db"
    SqliteBackend(str(path)).close()
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", FORMAT + 1)
    connection.close()
    with pytest.raises(KipError) as caught:
        SqliteBackend(str(path))
    assert caught.value.code == "KIP_4003"
    assert str(FORMAT + 1) in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to be read as one" * 40, b"SQLite format 3\0garbage"]
)
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(KipError) as caught:
        SqliteBackend(str(path))
    assert caught.value.code == "KIP_4003"
    assert path.read_bytes() == content


@pytest.mark.parametrize("version", [0, FORMAT])
def test_a_foreign_sqlite_database_is_refused(tmp_path: Path, version: int) -> None:
    path = tmp_path / "other.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (x)")
    connection.pragma("user_version", version)
    connection.close()
    content = path.read_bytes()
    with pytest.raises(KipError) as caught:
        SqliteBackend(str(path))
    assert caught.value.code == "KIP_4003"
    assert path.read_bytes() == content


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KipError) as caught:
        SqliteBackend(str(tmp_path))
    assert caught.value.code == "KIP_4003"


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    nexus = Nexus(SqliteBackend(str(tmp_path / "kip.db")))
    nexus.close()
    assert nexus.execute_kip({"command": "DESCRIBE DOMAINS"})["error"]["code"] == "KIP_4003"


def test_a_query_past_the_time_limit_ends_in_4001() -> None:
    nexus = Nexus(SqliteBackend(":memory:", time_limit=0.2))
    nexus.session().execute('UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "N"} } }')
    blocks = " ".join(f'CONCEPT ?n{i} {{ {{type: "N", name: "{i}"}} }}' for i in range(60))
    nexus.session().execute(f"UPSERT {{ {blocks} }}")
    product = " ".join(f'?v{i} {{type: "N"}}' for i in range(6))
    counts = ", ".join(f"COUNT(?v{i})" for i in range(6))
    response = nexus.execute_kip({"command": f"FIND({counts}) WHERE {{ {product} }}"})
    assert response["error"]["code"] == "KIP_4001"
    assert "result" in nexus.execute_kip({"command": 'FIND(COUNT(?v)) WHERE { ?v {type: "N"} }'})
    nexus.close()


def test_readers_see_the_state_before_an_open_write(tmp_path: Path) -> None:
    path = str(tmp_path / "kip.db")
    nexus = Nexus(SqliteBackend(path))
    _define(nexus)
    backend = SqliteBackend(path)
    with backend.writing("default"):
        # Another connection holds the write lock; reading neither waits nor fails.
        assert _names(nexus) == []
    backend.close()
    nexus.close()


def test_writers_of_several_threads_all_succeed(tmp_path: Path) -> None:
    path = str(tmp_path / "kip.db")
    nexus = Nexus(SqliteBackend(path))
    _define(nexus)
    nexus.session().execute('UPSERT { CONCEPT ?d { {type: "Drug", name: "Shared"} SET ATTRIBUTES { n: 0 } } }')
    failures: list[object] = []

    def work(number: int) -> None:
        own = Nexus(SqliteBackend(path))
        for step in range(10):
            create = 'UPSERT { CONCEPT ?d { {type: "Drug", name: :name} } }'
            shared = '?d {type: "Drug", name: "Shared"}'
            count = f"UPDATE ?d SET ATTRIBUTES {{ n: ADD(?d.attributes.n, 1) }} WHERE {{ {shared} }}"
            commands = [{"command": create, "parameters": {"name": f"{number}-{step}"}}, count]
            response = own.execute_kip({"commands": commands})
            failures.extend(item for item in response["result"] if "error" in item)
        own.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(_names(nexus)) == 41
    rows = nexus.session().rows(
        'FIND(?d.attributes.n, ?d.metadata._version) WHERE { ?d {type: "Drug", name: "Shared"} }'
    )
    assert rows == [(40, 41)]
    nexus.close()


def test_a_failing_block_leaves_nothing_behind() -> None:
    nexus = Nexus(SqliteBackend(":memory:"))
    _define(nexus)
    response = nexus.execute_kip(
        {
            "command": 'UPSERT {\n  CONCEPT ?a { {type: "Drug", name: "A"} }\n'
            '  CONCEPT ?b { {type: "Durg", name: "B"} }\n}'
        }
    )
    assert response["error"]["code"] == "KIP_2001"
    assert (response["error"]["line"], response["error"]["column"]) == (3, 3)
    assert "'Drug'" in response["error"]["hint"]
    assert _names(nexus) == []
    nexus.close()


def test_replaying_an_upsert_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "kip.db"
    nexus = Nexus(SqliteBackend(str(path)))
    _define(nexus)
    block = 'CONCEPT ?d { {type: "Drug", name: "A"} SET ATTRIBUTES { a: [1, {"b": null}] } }'
    command = f'UPSERT {{ {block} }} WITH METADATA {{ source: "s" }}'
    nexus.session().execute(command)
    [before] = nexus.session().rows('FIND(?d) WHERE { ?d {type: "Drug"} }')
    watcher = apsw.Connection(str(path))
    [[count]] = watcher.execute("SELECT count(*) FROM revision").fetchall()
    nexus.session().execute(command)
    assert nexus.session().rows('FIND(?d) WHERE { ?d {type: "Drug"} }') == [before]
    assert watcher.execute("SELECT count(*) FROM revision").fetchall() == [(count,)]
    watcher.close()
    nexus.close()


def _wide(nexus: Nexus) -> str:
    nexus.session().execute('UPSERT { CONCEPT ?t { {type: "$ConceptType", name: "N"} } }')
    blocks = " ".join(f'CONCEPT ?n{i} {{ {{type: "N", name: "{i}"}} }}' for i in range(60))
    nexus.session().execute(f"UPSERT {{ {blocks} }}")
    return '?a {type: "N"} ?b {type: "N"} ?c {type: "N"}'


def test_a_query_with_too_many_rows_ends_in_4002() -> None:
    nexus = Nexus(SqliteBackend(":memory:", row_limit=1_000))
    pattern = _wide(nexus)
    response = nexus.execute_kip({"command": f"FIND(?a.name, ?b.name, ?c.name) WHERE {{ {pattern} }}"})
    assert response["error"]["code"] == "KIP_4002"
    assert "1,000" in response["error"]["message"]
    assert "result" in nexus.execute_kip(
        {"command": f"FIND(?a.name, ?b.name, ?c.name) WHERE {{ {pattern} }} LIMIT 900"}
    )
    nexus.close()


def test_a_query_that_goes_through_too_many_rows_ends_in_4002_though_it_returns_one() -> None:
    nexus = Nexus(SqliteBackend(":memory:", row_limit=5_000))
    pattern = _wide(nexus)
    counts = "COUNT(?a), COUNT(?b), COUNT(?c), COUNT(?d)"
    response = nexus.execute_kip({"command": f'FIND({counts}) WHERE {{ {pattern} ?d {{type: "N"}} }}'})
    assert response["error"]["code"] == "KIP_4002"
    ordered = "FILTER(?b.name < ?c.name && ?c.name < ?d.name)"
    bulk = f'UPDATE ?a SET ATTRIBUTES {{ x: 1 }} WHERE {{ {pattern} ?d {{type: "N"}} {ordered} }}'
    response = nexus.execute_kip({"command": bulk})
    assert response["error"]["code"] == "KIP_4002"
    assert nexus.session().execute('FIND(COUNT(?a.attributes.x)) WHERE { ?a {type: "N"} }') == 0
    nexus.close()
