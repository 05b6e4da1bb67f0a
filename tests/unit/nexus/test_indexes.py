"""Attribute indexes: `indexes` on a type definition makes the store filter and order by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kip.backends.sqlite import SqliteBackend
from kip.backends.sqlite_rows import bind
from kip.backends.sqlite_schema import connect
from kip.compile.sql import compile_query
from kip.errors import KipError
from kip.lang import ast, parse
from kip.nexus import Nexus
from kip.plan.bind import bind_find

QUERY = (
    'FIND(?p.name) WHERE { ?p {type: "Part"} FILTER(?p.attributes.city == "Graz") } '
    "ORDER BY ?p.attributes.score DESC LIMIT 2"
)


def _explain(path: Path, text: str) -> str:
    command = parse(text)
    assert isinstance(command, ast.Find)
    statement = compile_query(bind_find(command), (), None)
    connection = connect(str(path), read_only=True, time_limit=5)
    values = [1, *(bind(binding, {}) for binding in statement.bindings)]
    lines = connection.execute(f"EXPLAIN QUERY PLAN {statement.text}", values).fetchall()
    connection.close()
    return "\n".join(str(line[3]) for line in lines)


def _store(path: Path, indexes: str) -> Nexus:
    nexus = Nexus(SqliteBackend(str(path)))
    attributes = f'SET ATTRIBUTES {{ description: "d"{indexes} }}'
    nexus.session().execute(f'UPSERT {{ CONCEPT ?t {{ {{type: "$ConceptType", name: "Part"}} {attributes} }} }}')
    for name, city, score in (("a", "Graz", 1), ("b", "Graz", 3), ("c", "Linz", 9), ("d", "Graz", 2), ("e", 5, None)):
        nexus.session().execute(
            'UPSERT { CONCEPT ?p { {type: "Part", name: :name} SET ATTRIBUTES { city: :city, score: :score } } }',
            {"name": name, "city": city, "score": score},
        )
    return nexus


def test_an_index_serves_filter_and_order(tmp_path: Path) -> None:
    path = tmp_path / "kip.db"
    nexus = _store(path, ', indexes: [["city", "score"]]')
    assert nexus.session().rows(QUERY) == [("b",), ("d",)]
    plan = _explain(path, QUERY)
    assert "concept_by_" in plan
    assert "<expr>=? AND <expr>=?" in plan
    nexus.close()


def test_without_an_index_the_answer_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "kip.db"
    nexus = _store(path, "")
    assert nexus.session().rows(QUERY) == [("b",), ("d",)]
    assert "<expr>" not in _explain(path, QUERY)
    nexus.close()


def test_an_index_can_be_asked_for_later(tmp_path: Path) -> None:
    path = tmp_path / "kip.db"
    nexus = _store(path, "")
    nexus.session().execute(
        'UPDATE ?t SET ATTRIBUTES { indexes: [["city"]] } WHERE { ?t {type: "$ConceptType", name: "Part"} }'
    )
    assert "<expr>" in _explain(path, QUERY)
    assert nexus.session().rows(QUERY) == [("b",), ("d",)]
    nexus.close()


@pytest.mark.parametrize(
    "indexes",
    ['"city"', '["city"]', "[[]]", "[[1]]", '[["x\') OR 1=1 --"]]', '[["a", "b", "c", "d", "e"]]', "{}", "true"],
)
def test_malformed_indexes_are_refused(tmp_path: Path, indexes: str) -> None:
    nexus = _store(tmp_path / "kip.db", "")
    command = (
        f'UPSERT {{ CONCEPT ?t {{ {{type: "$ConceptType", name: "Part"}} SET ATTRIBUTES {{ indexes: {indexes} }} }} }}'
    )
    with pytest.raises(KipError) as caught:
        nexus.session().execute(command)
    assert caught.value.code == "KIP_2003"
    rows = nexus.session().rows('FIND(?t.attributes.indexes) WHERE { ?t {type: "$ConceptType", name: "Part"} }')
    assert rows == [(None,)]
    nexus.close()
