"""Upkeep of a SQLite store: backup, checks and rebuilding of derived state, scrubbing after a purge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from kip.backends.base import Concept
from kip.backends.sqlite_indexes import ensure_indexes
from kip.backends.sqlite_rows import CONCEPT_COLUMNS, LINK_COLUMNS, concept_of, link_of
from kip.backends.sqlite_search import SearchIndex
from kip.errors import KipError


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a store. ``repairable`` when the state concerned is derived and can be rebuilt."""

    check: str
    problem: str
    repairable: bool


def back_up(connection: apsw.Connection, path: str) -> None:
    """Write a consistent copy to a new file while others read and write.

    Raises KIP_4003 when the file exists already.
    """
    if Path(path).exists():
        raise KipError("KIP_4003", f"{path} exists already", hint="Give the backup a new name.")
    connection.execute("VACUUM INTO ?", (path,))


def scrub(connection: apsw.Connection) -> None:
    """Rewrite the file so that nothing of what was deleted can be read from it any more."""
    connection.execute("INSERT INTO search (search) VALUES ('optimize')")
    connection.execute("VACUUM")
    blocked: Any = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    if blocked and blocked[0][0]:
        raise KipError(
            "KIP_4001",
            "the deleted content is gone from the store, but a reader still holds its journal open",
            hint="Close other readers and run the command again.",
        )


# --- checks -------------------------------------------------------------------------------------


def findings(connection: apsw.Connection) -> Iterator[Finding]:
    """All problems of a store, cheapest check first."""
    for (line,) in connection.execute("PRAGMA integrity_check(20)").fetchall():
        if line != "ok":
            yield Finding("file", str(line), repairable=False)
    yield from _dangling(connection)
    yield from _index_differences(connection)


def _dangling(connection: apsw.Connection) -> Iterator[Finding]:
    for side in ("subject", "object"):
        there = [
            f"EXISTS (SELECT 1 FROM {table} AS e WHERE e.key = l.{side} AND e.space = l.space)"
            for table in ("concept", "link")
        ]
        rows = connection.execute(f"SELECT l.key, l.predicate FROM link AS l WHERE NOT ({' OR '.join(there)})")
        for key, predicate in rows:
            yield Finding("links", f"the {side} of P:{key}:{predicate} does not exist", repairable=False)


def _index_differences(connection: apsw.Connection) -> Iterator[Finding]:
    """Elements whose search entry is missing, stale or left over, found by comparing digests of all entries."""
    stored = _stored_digests(connection)
    for key, document in _documents(connection):
        if stored.pop(key, 0) != _digest(document.lower().split()):
            yield Finding("search", f"the search entry of element {key} is not current", repairable=True)
    for key in stored:
        yield Finding("search", f"the search entry of element {key} is left over", repairable=True)
    counted: Any = connection.execute("SELECT sum(concept_documents + link_documents) FROM space").fetchall()
    held: Any = connection.execute("SELECT count(*) FROM search").fetchall()
    if counted != held:
        yield Finding("search", "the number of search entries is not current", repairable=True)


def _documents(connection: apsw.Connection) -> Iterator[tuple[int, str]]:
    """What the index should hold, element by element."""
    for (space,) in connection.execute("SELECT number FROM space").fetchall():
        index = SearchIndex(connection, _integer(space))
        for columns, table, read in (
            (CONCEPT_COLUMNS, "concept AS c", concept_of),
            (LINK_COLUMNS, "link AS l", link_of),
        ):
            for row in connection.execute(f"SELECT {columns} FROM {table} WHERE space = ?", (space,)):
                document = index.document(read(row))
                if document is not None:
                    yield _integer(row[0]), document


def _digest(terms: Iterable[str]) -> int:
    """The sum of the hashes of all terms, which does not depend on their order."""
    return sum(map(_term_hash, terms)) & _MASK


_MASK = 0xFFFF_FFFF_FFFF_FFFF


def _term_hash(term: str) -> int:
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest())


def _stored_digests(connection: apsw.Connection) -> dict[int, int]:
    digests: dict[int, int] = {}
    connection.execute("CREATE VIRTUAL TABLE temp.search_instances USING fts5vocab (main, search, 'instance')")
    try:
        for term, key in connection.execute("SELECT term, doc FROM search_instances"):
            digests[_integer(key)] = (digests.get(_integer(key), 0) + _term_hash(str(term))) & _MASK
    finally:
        connection.execute("DROP TABLE temp.search_instances")
    return digests


def _integer(value: Any) -> int:
    assert isinstance(value, int)
    return value


def rebuild(connection: apsw.Connection) -> None:
    """Make all derived state anew: the search index and the attribute indexes. One transaction."""
    with connection:
        connection.execute("INSERT INTO search (search) VALUES ('delete-all')")
        connection.executemany("INSERT INTO search (rowid, terms) VALUES (?, ?)", _documents(connection)).fetchall()
        for kind in ("concept", "link"):
            held = f"'\"' || number || '{kind[0]}\"'"
            count = f"SELECT count(*) FROM search WHERE search MATCH {held}"
            connection.execute(f"UPDATE space SET {kind}_documents = ({count})")
        rows = connection.execute(f"SELECT {CONCEPT_COLUMNS} FROM concept AS c WHERE c.type = '$ConceptType'")
        definitions: list[Concept] = [concept_of(row) for row in rows]
        ensure_indexes(connection, definitions)
