"""Reads result rows of SQLite as KIP values, and binds KIP values to statements."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, assert_never, cast

from kip.backends import ids
from kip.backends.base import Authorship, Concept, Link, Revision, element_from_json
from kip.compile.statement import Binding, Codec, Shape, Statement, parameter_value
from kip.errors import KipError
from kip.values import Json, dumps, loads

Row = tuple[Any, ...]
_INT64 = 2**63


def bind(binding: Binding, parameters: Mapping[str, Json]) -> Any:
    """The SQLite value of one statement parameter."""
    value = parameter_value(binding.source, parameters)
    match binding.codec:
        case Codec.VALUE:
            return _storable(value)
        case Codec.CONCEPT_KEY:
            return ids.concept_key(value)
        case Codec.LINK_KEY:
            found = ids.link_key(value)
            return found[0] if found else None
        case Codec.ELEMENT_KEY:
            return ids.element_key(value)
        case Codec.PREDICATE_OF_ID:
            found = ids.link_key(value)
            return found[1] if found else None
        case Codec.JSON:
            return dumps(value)
        case Codec.KEYS_JSON:
            listed = value if isinstance(value, list) else []
            return dumps([key for key in map(ids.element_key, listed) if key is not None])
        case Codec.LIMIT:
            assert isinstance(value, int)
            return min(value, _INT64 - 2) + 1
        case _:
            assert_never(binding.codec)


def _storable(value: Json) -> Any:
    # SQLite reads JSON integers past 64 bits as floats, so that is what they are compared with.
    if isinstance(value, int) and not isinstance(value, bool) and not -_INT64 <= value < _INT64:
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return value


_WIDTH = {Shape.CONCEPT: 8, Shape.LINK: 9, Shape.ELEMENT: 11, Shape.JSON: 1, Shape.PLAIN: 1}


def decode(row: Row, statement: Statement) -> tuple[Json, ...]:
    """The FIND columns of one result row."""
    values: list[Json] = []
    at = 0
    for shape in statement.outputs:
        width = _WIDTH[shape]
        values.append(_decode_one(shape, row[at : at + width]))
        at += width
    return tuple(values)


def _decode_one(shape: Shape, cells: Row) -> Json:
    if cells[0] is None:
        return None
    match shape:
        case Shape.PLAIN:
            return cells[0]
        case Shape.JSON:
            return loads(cells[0])
        case Shape.CONCEPT:
            return _concept(cells[:6], cells[6:8]).to_json()
        case Shape.LINK:
            return _link(cells[:6], cells[6:9]).to_json()
        case Shape.ELEMENT:
            found = _link(cells[:6], cells[8:11]) if cells[0] & 1 else _concept(cells[:6], cells[6:8])
            return found.to_json()
        case _:
            assert_never(shape)


def _concept(head: Row, own: Row) -> Concept:
    key, attributes, metadata, version, created, updated = head
    own_attributes, own_metadata = loads_object(attributes), loads_object(metadata)
    return Concept(ids.concept_id(key), own[0], own[1], own_attributes, own_metadata, version, created, updated)


def _link(head: Row, own: Row) -> Link:
    key, attributes, metadata, version, created, updated = head
    predicate, subject, target = own
    return Link(
        ids.link_id(key, predicate), subject, predicate, target,
        loads_object(attributes), loads_object(metadata), version, created, updated,
    )  # fmt: skip


def loads_object(text: str) -> dict[str, Any]:
    """The object in a JSON text."""
    found = loads(text)
    assert isinstance(found, dict)
    return found


CONCEPT_COLUMNS = "c.key, json(c.attributes), json(c.metadata), c.version, c.created_at, c.updated_at, c.type, c.name"
LINK_COLUMNS = (
    "l.key, json(l.attributes), json(l.metadata), l.version, l.created_at, l.updated_at, l.predicate, "
    "CASE WHEN l.subject & 1 THEN (SELECT 'P:' || e.key || ':' || e.predicate FROM link AS e WHERE e.key = l.subject) "
    "ELSE 'C:' || l.subject END, "
    "CASE WHEN l.object & 1 THEN (SELECT 'P:' || e.key || ':' || e.predicate FROM link AS e WHERE e.key = l.object) "
    "ELSE 'C:' || l.object END"
)


def concept_of(row: Row) -> Concept:
    """The concept in a row of CONCEPT_COLUMNS."""
    return _concept(row[:6], row[6:8])


def link_of(row: Row) -> Link:
    """The link in a row of LINK_COLUMNS."""
    return _link(row[:6], row[6:9])


def revision_of(row: Row) -> Revision:
    """The revision in a row of the log."""
    element, kind, version, before, *by = row
    return Revision(
        element, kind, version, element_from_json(loads_object(before)) if before is not None else None, Authorship(*by)
    )


# --- cursors ------------------------------------------------------------------------------------


def make_cursor(fingerprint: str, position: Sequence[Any]) -> str:
    """An opaque token: which query, and the last row's place in its order."""
    text = json.dumps([fingerprint, *position])  # rounded numbers in it may be infinite
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(token: Json, fingerprint: str) -> list[Any]:
    """The place in a cursor; raises KIP_1001 when it is malformed or belongs to another query."""
    malformed = KipError(
        "KIP_1001",
        "the cursor is not one that this query returned",
        hint="Pass next_cursor of the previous page unchanged.",
    )
    if not isinstance(token, str) or not token.isascii():
        raise malformed
    try:
        text = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True).decode()
        found: Any = json.loads(text)
    except (binascii.Error, UnicodeDecodeError, ValueError, RecursionError):
        raise malformed from None
    if not isinstance(found, list) or not found or found[0] != fingerprint:
        raise malformed
    place = cast(list[Any], found)[1:]
    if not all(item is None or isinstance(item, (int, float, str)) for item in place):
        raise malformed
    return place
