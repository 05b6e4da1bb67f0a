"""Reads of the engine's benchmark: KIP text, and the same work as hand-written SQL on the same file.

The SQL is what a person would write who knows the tables, the data and the indexes of the file: joins without
checks of what the data cannot hold, values straight from the columns. It takes its values from the same parameters.
Where a look at the query plan suggests another form, the faster one on this file is the baseline.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import workload
from engine_load import SPACE, execute
from timing import Call, percentile, take_alone

from kip.backends.base import Concept
from kip.backends.sqlite_schema import connect
from kip.backends.sqlite_search import SearchIndex
from kip.compile.sql_terms import property_sql
from kip.values import STRING

if TYPE_CHECKING:
    from pathlib import Path

    from kip.nexus.nexus import Nexus

ANCHORS = 24
"""How many sets of parameters a read goes through."""

Parameters = dict[str, Any]
Rows = list[tuple[Any, ...]]


class Store:
    """One loaded file, seen through kip and through a connection with the same settings for the hand-written SQL."""

    def __init__(self, nexus: Nexus, path: Path, n: int) -> None:
        self.nexus = nexus
        self.n = n
        self.connection = connect(str(path), read_only=True, time_limit=600.0)

    def select(self, sql: str, parameters: Parameters) -> Rows:
        return self.connection.execute(sql, parameters).fetchall()

    def indexed(self, word: str) -> str:
        """The term that stands for a word in kip's search index: what a concept of that name is found by."""
        document = SearchIndex(self.connection, SPACE).document(Concept("C:2", "Person", word))
        assert document is not None
        return document[0]

    def close(self) -> None:
        self.connection.close()


def _columns(result: Any, rows: Rows, _: Parameters) -> bool:
    """kip answers by column, a single one bare; SQL by row."""
    if not rows:  # in a small graph nobody may live in a rare city
        return not any(result)
    columns = [list(column) for column in zip(*rows, strict=True)]
    return result == (columns[0] if len(columns) == 1 else columns)


def _scalar(result: Any, rows: Rows, _: Parameters) -> bool:
    return rows == [(result,)]


def _concept(result: Any, rows: Rows, _: Parameters) -> bool:
    [(key, type, name, attributes, metadata, version, created, updated)] = rows
    maintained = {"_version": version, "_created_at": created, "_updated_at": updated}
    return result == [
        {
            "id": f"C:{key}",
            "type": type,
            "name": name,
            "attributes": json.loads(attributes),
            "metadata": {**json.loads(metadata), **maintained},
        }
    ]


def _hits(result: Any, rows: Rows, parameters: Parameters) -> bool:
    """kip ranks otherwise than plain bm25; but there are as many hits, and each holds the word."""
    texts = [json.dumps(hit["attributes"]).replace('"', " ").split() for hit in result]
    return len(result) == len(rows) and all(parameters["word"] in text for text in texts)


def _once(_: Store) -> list[Parameters]:
    return [{}]


def _people(store: Store) -> list[Parameters]:
    return [{"name": workload.person(number)[1]} for number in workload.spread(ANCHORS, store.n)]


def _many_people(store: Store) -> list[Parameters]:
    """More than kip keeps texts of: each text is new when its turn comes."""
    return [{"name": workload.person(number)[1]} for number in workload.spread(1000, store.n)]


def _preferences(store: Store) -> list[Parameters]:
    # The common half: in a small graph a rare one is preferred by nobody.
    numbers = workload.spread(ANCHORS, max(ANCHORS, workload.preferences(store.n) // 2))
    names = [workload.preference(number % workload.preferences(store.n))[1] for number in numbers]
    return [{"name": name, "age": 30 + number % 10} for number, name in enumerate(names)]


def _cities(_: Store) -> list[Parameters]:
    return [{"city": workload.city(rank), "age": 30 + rank % 10} for rank in range(ANCHORS)]


def _categories(_: Store) -> list[Parameters]:
    return [{"category": category} for category in workload.CATEGORIES]


def _words(first: int, step: int) -> Callable[[Store], list[Parameters]]:
    def parameters(store: Store) -> list[Parameters]:
        words = [workload.word(first + step * number) for number in range(ANCHORS)]
        listed = [{"word": word, "match": store.indexed(word)} for word in words]
        # A rare word may not occur at all in a small graph.
        return [item for item in listed if store.select("SELECT 1 FROM search WHERE search MATCH :match", item)]

    return parameters


def _cursors(store: Store) -> list[Parameters]:
    """Pages all over the type, from the second one on: the cursor, and the key that it stands for."""
    listed: list[Parameters] = []
    for size in workload.spread(ANCHORS, store.n - 40):
        page = execute(store.nexus, f"{_PAGE} LIMIT :size", {"size": size + 20})
        last = f"SELECT key FROM concept WHERE space = {SPACE} AND type = 'Person' ORDER BY key LIMIT 1 OFFSET :size"
        [(key,)] = store.select(last, {"size": size + 19})
        listed.append({"cursor": page["next_cursor"], "after": key})
    return listed


@dataclass(frozen=True, slots=True)
class Read:
    """One read. ``literal`` writes the parameters into the text, so that each text is a new one to kip; ``or_sql`` is
    another way to write the baseline."""

    work: str
    goal: float | None
    kip: str
    sql: str
    parameters: Callable[[Store], list[Parameters]]
    same: Callable[[Any, Rows, Parameters], bool] = _columns
    literal: bool = False
    or_sql: str | None = None

    def pairs(self, store: Store) -> list[tuple[Call, Call]]:
        """The calls to time, one pair for each set of parameters; each has run once, with equal answers."""
        pairs: list[tuple[Call, Call]] = []
        listed = self.parameters(store)
        sql = self._fastest(store, listed[0])
        for parameters in listed:
            request = {"command": self.kip, "parameters": parameters}
            if self.literal:
                text = self.kip
                for name, value in parameters.items():
                    text = text.replace(f":{name} ", f"{json.dumps(value)} ")
                request = {"command": text}
            self._check(store, request, sql, parameters)
            pairs.append((_kip_call(store, request), _sql_call(store, sql, parameters)))
        return pairs

    def _fastest(self, store: Store, parameters: Parameters) -> str:
        if self.or_sql is None:
            return self.sql
        first, other = (
            percentile(take_alone(_sql_call(store, sql, parameters), 5), 50) for sql in (self.sql, self.or_sql)
        )
        return self.sql if first <= other else self.or_sql

    def _check(self, store: Store, request: dict[str, Any], sql: str, parameters: Parameters) -> None:
        response = store.nexus.execute_kip(request)
        rows = store.select(sql, parameters)
        if "error" in response or not self.same(response["result"], rows, parameters):
            raise RuntimeError(f"{self.work}: for {parameters} kip answers {response}, the SQL {rows}")


def _kip_call(store: Store, request: dict[str, Any]) -> Call:
    return lambda: store.nexus.execute_kip(request)


def _sql_call(store: Store, sql: str, parameters: Parameters) -> Call:
    return lambda: store.select(sql, parameters)


_PAGE = 'FIND(?p.name) WHERE { ?p {type: "Person"} }'
_POINT = 'FIND(?p) WHERE { ?p {type: "Person", name: :name } }'
_POINT_SQL = (
    "SELECT key, type, name, json(attributes), json(metadata), version, created_at, updated_at "
    f"FROM concept WHERE space = {SPACE} AND type = 'Person' AND name = :name"
)
# An index on attributes serves conditions and orders in its own form: type rank and value.
_CITY_RANK, _CITY = property_sql("p.attributes", "city")
_SCORE_RANK, _SCORE = property_sql("p.attributes", "score")
_IN_CITY = f"p.space = {SPACE} AND p.type = 'Person' AND {_CITY_RANK} = {STRING} AND {_CITY} = :city"
_BY_SCORE = f"{_SCORE_RANK} DESC, {_SCORE} DESC"

POINT = Read("one concept by type and name", 10, _POINT, _POINT_SQL, _people, _concept)
ANCHORED = Read(
    "one hop from an anchor, FILTER, ORDER BY, LIMIT 20",
    3,
    'FIND(?p.name, ?p.attributes.score) WHERE { (?p, "prefers", {type: "Preference", name: :name}) '
    "FILTER(?p.attributes.age >= :age) } ORDER BY ?p.attributes.score DESC, ?p.name ASC LIMIT 20",
    "SELECT p.name, json_extract(p.attributes, '$.score') AS score FROM concept AS x "
    f"JOIN link AS l ON l.object = x.key AND l.predicate = 'prefers' AND l.space = {SPACE} "
    f"JOIN concept AS p ON p.key = l.subject WHERE x.space = {SPACE} AND x.type = 'Preference' AND x.name = :name "
    "AND json_extract(p.attributes, '$.age') >= :age ORDER BY score DESC, p.name LIMIT 20",
    _preferences,
)
PAGE = Read(
    "a page of 20 by cursor",
    3,
    f"{_PAGE} LIMIT 20 CURSOR :cursor",
    f"SELECT name FROM concept WHERE space = {SPACE} AND type = 'Person' AND key > :after ORDER BY key LIMIT 20",
    _cursors,
)
_HITS = (
    "SELECT c.key, c.type, c.name, json(c.attributes), json(c.metadata), c.version, c.created_at, c.updated_at "
    "FROM (SELECT rowid AS key, rank FROM search WHERE search MATCH :match ORDER BY rank LIMIT 10) AS hit "
    "JOIN concept AS c ON c.key = hit.key ORDER BY hit.rank"
)

_PAIRS = (
    "SELECT DISTINCT e.name, x.name FROM concept AS e "
    f"JOIN link AS i ON i.subject = e.key AND i.predicate = 'involves' AND i.space = {SPACE} "
    f"JOIN link AS l ON l.subject = i.object AND l.predicate = 'prefers' AND l.space = {SPACE} "
    f"JOIN concept AS x ON x.key = l.object WHERE e.space = {SPACE} AND e.type = 'Event' "
    "AND json_extract(x.attributes, '$.category') = :category"
)
_TOTALS = (
    "SELECT x.name, count(*) AS total FROM link AS l {} JOIN concept AS x ON x.key = l.object "
    f"WHERE l.space = {SPACE} AND l.predicate = 'prefers' GROUP BY l.object ORDER BY total DESC, x.name LIMIT 10"
)

READS: tuple[Read, ...] = (
    POINT,
    Read("the same, every text new to kip", None, _POINT, _POINT_SQL, _many_people, _concept, literal=True),
    ANCHORED,
    Read(
        "the same over a whole type, indexed",
        3,
        'FIND(?p.name, ?x.name) WHERE { ?p {type: "Person"} (?p, "prefers", ?x) '
        "FILTER(?p.attributes.city == :city) } ORDER BY ?p.attributes.score DESC, ?x.name ASC LIMIT 20",
        "SELECT p.name, x.name FROM concept AS p "
        f"JOIN link AS l ON l.subject = p.key AND l.predicate = 'prefers' AND l.space = {SPACE} "
        f"JOIN concept AS x ON x.key = l.object WHERE {_IN_CITY} ORDER BY {_BY_SCORE}, x.name, p.key LIMIT 20",
        _cities,
    ),
    Read(
        "filter and order a type by attributes, indexed",
        3,
        'FIND(?p.name, ?p.attributes.score) WHERE { ?p {type: "Person"} '
        "FILTER(?p.attributes.city == :city && ?p.attributes.age > :age) } "
        "ORDER BY ?p.attributes.score DESC, ?p.name ASC LIMIT 20",
        f"SELECT p.name, {_SCORE} FROM concept AS p WHERE {_IN_CITY} "
        f"AND json_extract(p.attributes, '$.age') > :age ORDER BY {_BY_SCORE}, p.name LIMIT 20",
        _cities,
    ),
    Read(
        "two hops from an anchor",
        10,
        'FIND(?f.name, ?x.name) WHERE { ({type: "Person", name: :name}, "knows", ?f) (?f, "prefers", ?x) } '
        "ORDER BY ?f.name ASC, ?x.name ASC LIMIT 20",
        "SELECT f.name, x.name FROM concept AS p "
        f"JOIN link AS k ON k.subject = p.key AND k.predicate = 'knows' AND k.space = {SPACE} "
        f"JOIN link AS l ON l.subject = k.object AND l.predicate = 'prefers' AND l.space = {SPACE} "
        "JOIN concept AS f ON f.key = k.object JOIN concept AS x ON x.key = l.object "
        f"WHERE p.space = {SPACE} AND p.type = 'Person' AND p.name = :name ORDER BY f.name, x.name LIMIT 20",
        _people,
    ),
    Read(
        "two hops, co-occurrence",
        3,
        'FIND(?o.name, ?x.name) WHERE { ({type: "Person", name: :name}, "prefers", ?x) (?o, "prefers", ?x) } '
        "ORDER BY ?o.name ASC, ?x.name ASC LIMIT 20",
        "SELECT o.name, x.name FROM concept AS p "
        f"JOIN link AS a ON a.subject = p.key AND a.predicate = 'prefers' AND a.space = {SPACE} "
        f"JOIN link AS b ON b.object = a.object AND b.predicate = 'prefers' AND b.space = {SPACE} "
        "JOIN concept AS o ON o.key = b.subject JOIN concept AS x ON x.key = a.object "
        f"WHERE p.space = {SPACE} AND p.type = 'Person' AND p.name = :name ORDER BY o.name, x.name LIMIT 20",
        _people,
    ),
    Read(
        "two hops over the whole graph",
        1.5,
        'FIND(?e.name, ?x.name) WHERE { ?e {type: "Event"} (?e, "involves", ?p) (?p, "prefers", ?x) '
        "FILTER(?x.attributes.category == :category) } ORDER BY ?e.name ASC, ?x.name ASC LIMIT 20",
        f"{_PAIRS} ORDER BY e.name, x.name LIMIT 20",
        _categories,
        # The plain form makes SQLite group all pairs; an order that is not the selected columns keeps it from that,
        # and it stops after the first events by name.
        or_sql=f"{_PAIRS} ORDER BY e.name, x.name, e.type LIMIT 20",
    ),
    Read(
        "COUNT of a type",
        1.5,
        'FIND(COUNT(?p)) WHERE { ?p {type: "Person"} }',
        f"SELECT count(*) FROM concept WHERE space = {SPACE} AND type = 'Person'",
        _once,
        _scalar,
    ),
    Read(
        "COUNT grouped over a predicate",
        1.5,
        'FIND(?x.name, COUNT(?p)) WHERE { (?p, "prefers", ?x) } ORDER BY COUNT(?p) DESC LIMIT 10',
        _TOTALS.format(""),
        _once,
        # Left to itself SQLite may sort all links of the predicate; in the order of this index they come grouped.
        or_sql=_TOTALS.format("INDEXED BY link_by_object"),
    ),
    Read(
        "COUNT grouped over a type, first ten groups",
        None,
        'FIND(?e.name, COUNT(?p)) WHERE { ?e {type: "Event"} (?e, "involves", ?p) } ORDER BY ?e.name ASC LIMIT 10',
        "SELECT e.name, count(*) FROM concept AS e "
        f"JOIN link AS l ON l.subject = e.key AND l.predicate = 'involves' AND l.space = {SPACE} "
        f"WHERE e.space = {SPACE} AND e.type = 'Event' GROUP BY e.name ORDER BY e.name LIMIT 10",
        _once,
    ),
    Read("SEARCH, common word, LIMIT 10", 1.2, "SEARCH CONCEPT :word LIMIT 10", _HITS, _words(0, 1), _hits),
    Read("SEARCH, rare word, LIMIT 10", 2, "SEARCH CONCEPT :word LIMIT 10", _HITS, _words(1300, 29), _hits),
    PAGE,
)
