"""Attribute indexes that type definitions ask for (``indexes: [["city", "score"]]``).

An index holds type rank and value of each attribute, in the very form that compiled conditions and sort keys
have, so that the planner can filter and order by it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import cast

import apsw

from kip.backends.base import Concept
from kip.compile.sql_terms import property_sql

_ROWS, _TYPE_ROWS = 500_000, 50_000
_VALUE_SPREAD = 50


def ensure_indexes(connection: apsw.Connection, definitions: Iterable[Concept]) -> None:
    """Create the indexes that the definitions ask for and that do not exist yet, within the open transaction."""
    created = False
    for definition in definitions:
        for keys in cast(list[list[str]], definition.attributes.get("indexes") or []):
            created = _ensure(connection, keys) or created
    if created:
        connection.execute("ANALYZE sqlite_schema")


def _ensure(connection: apsw.Connection, keys: list[str]) -> bool:
    # The columns start with space and type, so that one index serves every type that has the attributes.
    name = "concept_by_" + hashlib.blake2b("\0".join(keys).encode(), digest_size=8).hexdigest()
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)).fetchall():
        return False
    columns = ", ".join(part for key in keys for part in property_sql("attributes", key))
    connection.execute(f"CREATE INDEX {name} ON concept (space, type, {columns})")
    connection.execute("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('concept', ?, ?)", (name, _estimate(keys)))
    return True


def _estimate(keys: list[str]) -> str:
    """What the planner assumes: each value is shared by a fiftieth of the rows that are left."""
    rows = _TYPE_ROWS
    numbers = [_ROWS, _ROWS, _TYPE_ROWS]
    for _ in keys:
        numbers.append(rows)  # the rank alone hardly selects
        rows = max(1, rows // _VALUE_SPREAD)
        numbers.append(rows)
    return " ".join(map(str, numbers))
