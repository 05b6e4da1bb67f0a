"""Applies changes to the SQLite store: elements, search index and revision log, one statement a kind."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from kip.backends import ids
from kip.backends.base import Authorship, Change, Concept, Element, Link, Vectors
from kip.backends.sqlite_indexes import ensure_indexes
from kip.backends.sqlite_search import SearchIndex
from kip.errors import KipError
from kip.values import dumps

_DEFINITIONS = ("$ConceptType", "$PropositionType")


def write_changes(
    connection: apsw.Connection,
    space: int,
    changes: Sequence[Change],
    authorship: Authorship,
    vectors: Vectors | None = None,
) -> None:
    """Write all changes; raises KIP_3005 when an element is not in its ``before`` state any more."""
    if not changes:
        return
    # Removals come first and creations last, so that no identity is taken twice on the way.
    _delete(connection, [change.before for change in changes if change.after is None and change.before is not None])
    _update(connection, [(c.before, c.after) for c in changes if c.before is not None and c.after is not None])
    _insert(connection, space, [c.after for c in changes if c.before is None and c.after is not None])
    SearchIndex(connection, space).update(changes)
    _write_vectors(connection, space, changes, vectors)
    _log(connection, space, changes, authorship)
    definitions = [
        change.element
        for change in changes
        if isinstance(change.element, Concept) and change.element.type in _DEFINITIONS
    ]
    if definitions:
        ensure_indexes(connection, definitions)
        connection.execute("UPDATE space SET schema_version = schema_version + 1 WHERE number = ?", (space,))


def _key(element: Element) -> int:
    key = ids.element_key(element.id)
    assert key is not None
    return key


def _checked(connection: apsw.Connection, sql: str, rows: list[tuple[Any, ...]]) -> None:
    """Run a guarded statement for every row; each must change exactly one element."""
    if not rows:
        return
    before = connection.total_changes()
    connection.executemany(sql, rows).fetchall()
    if connection.total_changes() - before != len(rows):
        raise KipError("KIP_3005", "an element was changed by someone else in the meantime")


def _delete(connection: apsw.Connection, elements: list[Element]) -> None:
    for table, is_link in (("link", True), ("concept", False)):
        rows = [(_key(element), element.version) for element in elements if isinstance(element, Link) == is_link]
        _checked(connection, f"DELETE FROM {table} WHERE key = ? AND version = ?", rows)


def _body(element: Element) -> tuple[Any, ...]:
    return dumps(element.attributes), dumps(element.metadata), element.version, element.created_at, element.updated_at


def _update(connection: apsw.Connection, pairs: list[tuple[Element, Element]]) -> None:
    common = "attributes = jsonb(?), metadata = jsonb(?), version = ?, created_at = ?, updated_at = ?"
    concepts = [(*_body(after), _key(after), before.version) for before, after in pairs if isinstance(after, Concept)]
    _checked(connection, f"UPDATE concept SET {common} WHERE key = ? AND version = ?", concepts)
    links = [
        (*_body(after), ids.element_key(after.subject), ids.element_key(after.object), _key(after), before.version)
        for before, after in pairs
        if isinstance(after, Link)
    ]
    _checked(connection, f"UPDATE link SET {common}, subject = ?, object = ? WHERE key = ? AND version = ?", links)


def _insert(connection: apsw.Connection, space: int, elements: list[Element]) -> None:
    values = "jsonb(?), jsonb(?), ?, ?, ?"
    concepts = [(_key(e), space, e.type, e.name, *_body(e)) for e in elements if isinstance(e, Concept)]
    if concepts:
        connection.executemany(f"INSERT INTO concept VALUES (?, ?, ?, ?, {values})", concepts).fetchall()
    links = [
        (_key(e), space, ids.element_key(e.subject), e.predicate, ids.element_key(e.object), *_body(e))
        for e in elements
        if isinstance(e, Link)
    ]
    if links:
        connection.executemany(f"INSERT INTO link VALUES (?, ?, ?, ?, ?, {values})", links).fetchall()


def _log(connection: apsw.Connection, space: int, changes: Sequence[Change], by: Authorship) -> None:
    rows = [
        (
            space,
            change.element.id,
            "create" if change.before is None else "remove" if change.after is None else "update",
            change.after.version if change.after is not None else change.element.version + 1,
            dumps(change.before.to_json()) if change.before is not None else None,
            by.actor,
            by.at,
            by.request,
            by.session,
            by.reason,
        )
        for change in changes
    ]
    connection.executemany(
        "INSERT INTO revision (space, element, kind, version, before, actor, at, request, session, reason) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    ).fetchall()


# --- vectors ------------------------------------------------------------------------------------
#
# The table is a log by sequence: a changed vector is a new row in place of the old one, a removed one a row without
# vector, so that every process reads only what came since it last looked.


def _write_vectors(connection: apsw.Connection, space: int, changes: Sequence[Change], vectors: Vectors | None) -> None:
    """Keep vectors in step with changed concepts: new ones are stored, those of removed concepts go, of all models."""
    gone = [change.before for change in changes if change.after is None and change.before is not None]
    _drop_vectors(connection, space, gone)
    if vectors is None:
        return
    rows = [
        (space, vectors.model, ids.concept_key(change.after.id), change.after.type, vectors.by_id[change.after.id])
        for change in changes
        if isinstance(change.after, Concept) and change.after.id in vectors.by_id
    ]
    if rows:
        insert = "INSERT OR REPLACE INTO embedding (space, model, key, scope, vector) VALUES (?, ?, ?, ?, ?)"
        connection.executemany(insert, rows).fetchall()


def _drop_vectors(connection: apsw.Connection, space: int, elements: Iterable[Element]) -> None:
    """Empty the vectors of elements, of all models."""
    rows = [(space, ids.concept_key(element.id)) for element in elements if isinstance(element, Concept)]
    if rows:
        drop = (
            "INSERT OR REPLACE INTO embedding (space, model, key, scope, vector) "
            "SELECT space, model, key, scope, NULL FROM embedding WHERE space = ? AND key = ?"
        )
        connection.executemany(drop, rows).fetchall()


# --- purge (decision 14) ------------------------------------------------------------------------


def purge_elements(connection: apsw.Connection, space: int, elements: list[Element]) -> None:
    """Remove elements, their revisions and search entries; leave tombstones for the identities of concepts."""
    SearchIndex(connection, space).update([Change(element, None) for element in elements])
    _drop_vectors(connection, space, elements)
    _delete(connection, elements)
    names = [(space, element.id) for element in elements]
    connection.executemany("DELETE FROM revision WHERE space = ? AND element = ?", names).fetchall()
    digests = [(space, _tombstone(space, e.type, e.name)) for e in elements if isinstance(e, Concept)]
    connection.executemany("INSERT OR IGNORE INTO tombstone (space, digest) VALUES (?, ?)", digests).fetchall()


def forgotten_identities(
    connection: apsw.Connection, space: int, identities: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Which of the identities have a tombstone."""
    if not connection.execute("SELECT 1 FROM tombstone WHERE space = ? LIMIT 1", (space,)).fetchall():
        return []
    query = "SELECT 1 FROM tombstone WHERE space = ? AND digest = ?"
    return [
        (type, name)
        for type, name in identities
        if connection.execute(query, (space, _tombstone(space, type, name))).fetchall()
    ]


def _tombstone(space: int, type: str, name: str) -> bytes:
    """A digest that tells the identity again when it comes back, and nothing to a reader of the file."""
    return hashlib.blake2b(f"{type}\0{name}".encode(), digest_size=32, salt=space.to_bytes(8)).digest()
