"""The embedded store: one SQLite file, many readers, one writer at a time."""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import apsw

from kip.backends.base import (
    Authorship,
    Change,
    Concept,
    Element,
    ElementKind,
    Explanation,
    Hit,
    Link,
    Page,
    Revision,
    Similar,
    TextSearch,
    Triple,
    Vectors,
)
from kip.backends.ids import concept_id, concept_key, element_key, link_id, link_key
from kip.backends.sqlite_rows import (
    CONCEPT_COLUMNS,
    LINK_COLUMNS,
    Row,
    bind,
    concept_of,
    decode,
    link_of,
    make_cursor,
    read_cursor,
    revision_of,
)
from kip.backends.sqlite_schema import connect, mapped_errors, prepare
from kip.backends.sqlite_search import Frequencies, SearchIndex
from kip.backends.sqlite_upkeep import Finding, back_up, findings, rebuild, scrub
from kip.backends.sqlite_write import forgotten_identities, purge_elements, write_changes
from kip.compile.sql import compile_query
from kip.compile.statement import ParameterTypes, Statement, parameter_types, parameter_value
from kip.errors import KipError
from kip.plan import algebra as op
from kip.values import Json, dumps

if TYPE_CHECKING:
    from kip.backends.sqlite_vectors import VectorCache

_CACHED_STATEMENTS = 512
_PROGRESS_STEPS = 20_000

_USED_INDEX = re.compile(r"USING (?:COVERING )?INDEX (\w+)")

STEPS_PER_ROW = 100
"""How many steps of SQLite's virtual machine count as one row that a query goes through."""


class SqliteBackend:
    """A store in the file ``path``, or in memory for ``":memory:"``.

    Args:
        path: the file; made when missing.
        time_limit: seconds that one command may run, or wait for a lock, before it ends in KIP_4001.
        row_limit: rows that one query may return or go through before it ends in KIP_4002. What it goes through is
            measured by the work done, at about :data:`STEPS_PER_ROW` machine steps a row.

    Raises KIP_4003 when the file is no kip store, was written by a newer version, or cannot be opened.
    """

    def __init__(self, path: str, *, time_limit: float = 30.0, row_limit: int = 2_000_000) -> None:
        self._path = path
        self.row_limit = row_limit
        self.frequencies = Frequencies()
        self._time_limit = time_limit
        self._lock = threading.RLock()
        self._local = threading.local()
        self._readers: list[apsw.Connection] = []
        self._statements: OrderedDict[tuple[Any, ...], Statement] = OrderedDict()
        self._closed = False
        self._vectors: VectorCache | None = None
        with mapped_errors():
            self._writer = connect(path, time_limit=time_limit)
            prepare(self._writer, time_limit)

    def ensure_space(self, space: str) -> bool:
        """Make the space if it is missing; True when it was."""
        with self._lock, mapped_errors():
            self._writer.execute("INSERT INTO space (name) VALUES (?) ON CONFLICT DO NOTHING", (space,))
            return self._writer.changes() == 1

    @contextmanager
    def reading(self, space: str) -> Generator[SqliteReader]:
        """A snapshot of one space. Raises KIP_3002 for a space that does not exist, KIP_400x for failures."""
        if self._path == ":memory:":
            # One connection holds the whole store, so readers take turns with the writer.
            with self._lock, mapped_errors(), self._bounded(self._writer):
                yield SqliteReader(self, self._writer, space)
            return
        connection = self._reader()
        with mapped_errors(), self._bounded(connection):
            connection.execute("BEGIN")
            try:
                yield SqliteReader(self, connection, space)
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def writing(self, space: str) -> Generator[SqliteWriter]:
        """A transaction on one space: durable when the block ends normally, undone on any exception."""
        with self._lock, mapped_errors():
            self._check_open()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                with self._bounded(self._writer):
                    writer = SqliteWriter(self, self._writer, space)
                    yield writer
                self._writer.execute("ROLLBACK" if writer.discarded else "COMMIT")
            finally:
                if not self._writer.get_autocommit():
                    self._writer.execute("ROLLBACK")

    def scrub(self) -> None:
        """Rewrite the file so that nothing of what was deleted can be read from it; raises KIP_4001 when a reader
        is in the way."""
        with self._lock, mapped_errors():
            self._check_open()
            scrub(self._writer)

    def back_up(self, path: str) -> None:
        """Write a consistent copy of the whole store to a new file, while others read and write."""
        with mapped_errors():
            self._check_open()
            connection = connect(self._path, time_limit=self._time_limit) if self._path != ":memory:" else self._writer
            try:
                back_up(connection, path)
            finally:
                if connection is not self._writer:
                    connection.close()

    def check(self) -> list[Finding]:
        """All problems of the store: damage, links that lead nowhere, search entries that are not current."""
        with self._lock, mapped_errors():
            self._check_open()
            return list(findings(self._writer))

    def rebuild(self) -> None:
        """Make all derived state (search index, attribute indexes) anew."""
        with self._lock, mapped_errors():
            self._check_open()
            rebuild(self._writer)

    def close(self) -> None:
        """Close all connections; further use raises KIP_4003."""
        with self._lock:
            self._closed = True
            for connection in (*self._readers, self._writer):
                connection.close()

    @property
    def vectors(self) -> VectorCache:
        """The vector matrices of this process; made at the first semantic search."""
        if self._vectors is None:
            from kip.backends.sqlite_vectors import VectorCache  # noqa: PLC0415 - numpy is needed from here on

            self._vectors = VectorCache()
        return self._vectors

    def statement(self, query: op.Query, types: ParameterTypes, position: tuple[int, ...] | None) -> Statement:
        """The compiled query, from the cache where it is there."""
        identity = (query.identity, types, position)
        found = self._statements.get(identity)
        if found is None:
            found = compile_query(query, types, position)
            self._statements[identity] = found
            if len(self._statements) > _CACHED_STATEMENTS:
                self._statements.popitem(last=False)
        return found

    def _reader(self) -> apsw.Connection:
        self._check_open()
        connection = getattr(self._local, "connection", None)
        if connection is None:
            with self._lock, mapped_errors():
                connection = connect(self._path, read_only=True, time_limit=self._time_limit)
                self._readers.append(connection)
            self._local.connection = connection
        return connection

    def _check_open(self) -> None:
        if self._closed:
            raise KipError("KIP_4003", "the store is closed", hint="Open it again.")

    @contextmanager
    def _bounded(self, connection: apsw.Connection) -> Generator[None]:
        """Stops what runs inside when it passes the time limit or the row limit, and when the user interrupts."""
        end = time.monotonic() + self._time_limit
        budget = max(1, self.row_limit * STEPS_PER_ROW // _PROGRESS_STEPS)

        def stop() -> bool:
            nonlocal budget
            budget -= 1
            if budget < 0:
                raise exhausted(self.row_limit)
            return time.monotonic() > end

        connection.set_progress_handler(stop, _PROGRESS_STEPS)
        try:
            yield
        finally:
            connection.set_progress_handler(None)


class SqliteReader:
    """Implements :class:`kip.backends.base.Reader`."""

    def __init__(self, backend: SqliteBackend, connection: apsw.Connection, space: str) -> None:
        self._backend = backend
        self._connection = connection
        found = self._rows("SELECT number, schema_version FROM space WHERE name = ?", (space,))
        if not found:
            raise KipError("KIP_3002", f"the space {space!r} does not exist", hint="Open it once for writing.")
        self._space, self._schema_version = found[0]

    def _rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[Row]:
        return self._connection.execute(sql, bindings).fetchall()

    def find(self, query: op.Query, parameters: Mapping[str, Json]) -> Page:
        statement, bindings = self._bound(query, parameters)
        found = self._connection.execute(statement.text, bindings)
        rows = list(itertools.islice(found, self._backend.row_limit + 1))
        if len(rows) > self._backend.row_limit:
            raise exhausted(self._backend.row_limit)
        cursor = None
        if query.limit is not None:
            limit = parameter_value(query.limit, parameters)
            assert isinstance(limit, int)
            if len(rows) > limit:
                rows = rows[:limit]
                cursor = make_cursor(query.fingerprint, rows[-1][len(rows[-1]) - statement.position_width :])
        return Page([decode(row, statement) for row in rows], cursor)

    def explain(self, query: op.Query, parameters: Mapping[str, Json]) -> Explanation:
        statement, bindings = self._bound(query, parameters)
        access = [str(row[3]) for row in self._rows(f"EXPLAIN QUERY PLAN {statement.text}", bindings)]
        indexes = {match[1] for line in access if (match := _USED_INDEX.search(line))}
        return Explanation(statement.text, bindings, access, sorted(indexes))

    def _bound(self, query: op.Query, parameters: Mapping[str, Json]) -> tuple[Statement, list[Any]]:
        """The statement of a query, specialised by parameter types and cursor, and the values to bind."""
        types = parameter_types(query.parameters, parameters)
        statement = self._backend.statement(query, types, None)
        bindings = [self._space, *(bind(binding, parameters) for binding in statement.bindings)]
        if query.cursor is None:
            return statement, bindings
        place = read_cursor(parameter_value(query.cursor, parameters), query.fingerprint)
        if len(place) != statement.position_width:
            raise KipError("KIP_1001", "the cursor does not fit this query", hint="Use CURSOR together with LIMIT.")
        statement = self._backend.statement(query, types, tuple(_known(place, statement.sort_widths)))
        return statement, [*bindings, *(value for value in place if value is not None)]

    def schema_version(self) -> int:
        return self._schema_version

    def concepts(self, identities: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Concept]:
        listed = dumps([list(identity) for identity in identities])
        rows = self._rows(
            f"SELECT {CONCEPT_COLUMNS} FROM json_each(?2) AS wanted CROSS JOIN concept AS c "
            "ON c.space = ?1 AND c.type = wanted.value ->> 0 AND c.name = wanted.value ->> 1",
            (self._space, listed),
        )
        return {(concept.type, concept.name): concept for concept in map(concept_of, rows)}

    def elements(self, ids: Iterable[str]) -> dict[str, Element]:
        wanted = set(ids)
        concepts = self._by_key("concept", CONCEPT_COLUMNS, [k for k in map(concept_key, wanted) if k is not None])
        links = self._by_key("link", LINK_COLUMNS, [k[0] for k in map(link_key, wanted) if k is not None])
        found: list[Element] = [*map(concept_of, concepts), *map(link_of, links)]
        return {element.id: element for element in found if element.id in wanted}

    def _by_key(self, table: str, columns: str, keys: list[int]) -> list[Row]:
        if not keys:
            return []
        alias = table[0]
        return self._rows(
            f"SELECT {columns} FROM json_each(?2) AS wanted CROSS JOIN {table} AS {alias} "
            f"ON {alias}.key = wanted.value WHERE {alias}.space = ?1",
            (self._space, dumps(list(keys))),
        )

    def links(self, triples: Iterable[Triple]) -> dict[Triple, Link]:
        wanted: list[Json] = [[element_key(subject), name, element_key(target)] for subject, name, target in triples]
        rows = self._rows(
            f"SELECT {LINK_COLUMNS} FROM json_each(?2) AS wanted CROSS JOIN link AS l ON l.space = ?1 "
            "AND l.subject = wanted.value ->> 0 AND l.predicate = wanted.value ->> 1 AND l.object = wanted.value ->> 2",
            (self._space, dumps(wanted)),
        )
        return {(link.subject, link.predicate, link.object): link for link in map(link_of, rows)}

    def incident(self, ids: Iterable[str]) -> list[Link]:
        keys = dumps([key for key in map(element_key, ids) if key is not None])
        rows = self._rows(
            f"SELECT {LINK_COLUMNS} FROM link AS l WHERE l.space = ?1 AND l.key IN ("
            "SELECT s.key FROM json_each(?2) AS wanted CROSS JOIN link AS s ON s.subject = wanted.value UNION "
            "SELECT o.key FROM json_each(?2) AS wanted CROSS JOIN link AS o ON o.object = wanted.value) ORDER BY l.key",
            (self._space, keys),
        )
        return [link_of(row) for row in rows]

    def search(self, search: TextSearch) -> list[Hit]:
        return SearchIndex(self._connection, self._space, self._backend.frequencies).find(search)

    def revisions(self, *, element: str | None = None, request: str | None = None) -> list[Revision]:
        column, value = ("element", element) if element is not None else ("request", request)
        rows = self._rows(
            "SELECT element, kind, version, before, actor, at, request, session, reason FROM revision "
            f"WHERE space = ? AND {column} = ? ORDER BY sequence DESC",
            (self._space, value),
        )
        return [revision_of(row) for row in rows]

    def similar(self, search: Similar) -> list[Hit]:
        nearest = self._backend.vectors.nearest(self._connection, self._space, search)
        concepts = {
            row[0]: concept_of(row) for row in self._by_key("concept", CONCEPT_COLUMNS, [k for k, _ in nearest])
        }
        return [Hit(concepts[key], score) for key, score in nearest if key in concepts]

    def similarities(self, search: Similar, ids: Iterable[str]) -> dict[str, float]:
        keys = [key for key in map(concept_key, ids) if key is not None]
        found = self._backend.vectors.similarities(self._connection, self._space, search, keys)
        return {concept_id(key): score for key, score in found.items()}

    def weights(self, kind: ElementKind, tokens: Iterable[str]) -> dict[str, int]:
        return SearchIndex(self._connection, self._space, self._backend.frequencies).weights(kind, tokens)


def exhausted(row_limit: int) -> KipError:
    """KIP_4002: the query is too wide."""
    return KipError(
        "KIP_4002",
        f"the query goes through more than about {row_limit:,} rows",
        hint="Start it from a known node or type, add conditions, or page with LIMIT and CURSOR; "
        "split bulk writes by type, predicate or domain.",
    )


def _known(place: list[Any], widths: tuple[int, ...]) -> Iterator[int]:
    """How many of each sort key's cells in a cursor are not null; these come first."""
    at = 0
    for width in widths:
        yield sum(cell is not None for cell in place[at : at + width])
        at += width


class SqliteWriter(SqliteReader):
    """Implements :class:`kip.backends.base.Writer`."""

    def __init__(self, backend: SqliteBackend, connection: apsw.Connection, space: str) -> None:
        super().__init__(backend, connection, space)
        self.discarded = False

    def allocate(self, concepts: int, predicates: Sequence[str]) -> tuple[list[str], list[str]]:
        total = concepts + len(predicates)
        end = self._rows("UPDATE store SET value = value + ? WHERE key = 'next_key' RETURNING value", (total,))[0][0]
        first = end - total
        concept_ids = [concept_id(2 * (first + number)) for number in range(concepts)]
        start = first + concepts
        return concept_ids, [link_id(2 * (start + n) + 1, predicate) for n, predicate in enumerate(predicates)]

    def apply(self, changes: Sequence[Change], authorship: Authorship, vectors: Vectors | None = None) -> None:
        write_changes(self._connection, self._space, changes, authorship, vectors)

    def purge(self, ids: Sequence[str]) -> None:
        purge_elements(self._connection, self._space, list(self.elements(ids).values()))

    def forgotten(self, identities: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        return forgotten_identities(self._connection, self._space, identities)

    def discard(self) -> None:
        """Make the transaction end without effect (dry run)."""
        self.discarded = True
