"""Scalars as SQL (SQLite): a value, its type rank, and its JSON text.

The rank is what makes comparisons type-strict and gives the order across types (decisions 2 and 4).
SQLite's own ``json_extract`` loses the difference between ``true`` and ``1``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kip.compile.fragment import json_path
from kip.compile.statement import WIDE, Codec, type_of
from kip.plan import algebra as op
from kip.values import BOOLEAN, COMPLEX, NUMBER, STRING


@dataclass(frozen=True, slots=True)
class Term:
    """One scalar. ``value`` is NULL exactly when the scalar is null.

    ``rank`` is the type's rank when it is known beforehand, SQL text when the data decide, None for null.
    ``key`` is SQL for the element key when the scalar is an element or an element's id. ``exact`` is SQL of the JSON
    text where the value may be a number that SQLite only has rounded.
    """

    value: str
    rank: int | str | None
    json: str
    key: str | None = None
    is_element: bool = False
    exact: str | None = None

    def is_narrow(self) -> str:
        """SQL that holds unless the value is a number past the 64-bit integers."""
        return f"(typeof({self.value}) <> 'real' OR {self.value} BETWEEN -9e18 AND 9e18)"

    def rank_sql(self) -> str:
        """SQL of the rank; NULL when the value is null."""
        if isinstance(self.rank, int):
            return f"CASE WHEN {self.value} IS NOT NULL THEN {self.rank} END"
        return self.rank if self.rank is not None else "NULL"


NULL_TERM = Term("NULL", None, "NULL")


class Columns(Protocol):
    """What a SELECT under construction offers to an expression."""

    def key(self, variable: str) -> str: ...

    def kind(self, variable: str) -> op.Kind: ...

    def column(self, variable: str, name: str) -> str: ...

    def bind(self, source: op.Value, codec: Codec) -> str: ...

    def parameter_rank(self, name: str) -> int | None: ...


def term(scalar: op.Scalar, columns: Columns) -> Term:
    """The SQL of a scalar, given where its variable is found."""
    match scalar:
        case op.Const():
            return _value_term(scalar, type_of(scalar.value), columns)
        case op.Param():
            return _value_term(scalar, columns.parameter_rank(scalar.name), columns)
        case op.Element():
            key = columns.key(scalar.variable)
            return Term(key, None, "NULL", key, is_element=True)
        case op.PredicateName():
            return _text(columns.key(scalar.variable))
        case op.Field():
            return _field(scalar, columns)
        case op.Property():
            return _property(scalar, columns)
        case op.Whole():
            text = _whole_json(scalar, columns)
            # Attributes are stored as canonical JSON; metadata are put together on reading.
            return Term(text if scalar.container == "attributes" else f"kip_canonical({text})", COMPLEX, text)


def _value_term(source: op.Value, value_rank: int | None, columns: Columns) -> Term:
    if value_rank is None:
        return NULL_TERM
    if value_rank == WIDE:
        text = columns.bind(source, Codec.JSON)
        return Term(columns.bind(source, Codec.VALUE), NUMBER, text, exact=text)
    placeholder = columns.bind(source, Codec.VALUE if value_rank != COMPLEX else Codec.JSON)
    return Term(placeholder, value_rank, f"json_quote({placeholder})")


def _text(column: str) -> Term:
    return Term(column, STRING, f"json_quote({column})")


def _number(column: str) -> Term:
    return Term(column, NUMBER, f"json_quote({column})")


def _field(field: op.Field, columns: Columns) -> Term:
    kind = columns.kind(field.variable)
    if field.name in ("type", "name"):
        return NULL_TERM if kind == op.Kind.LINK else _text(columns.column(field.variable, field.name))
    if field.name == "id":
        return _id(field.variable, kind, columns)
    if kind == op.Kind.CONCEPT:
        return NULL_TERM
    if field.name == "predicate":
        return _text(columns.column(field.variable, "predicate"))
    end = columns.column(field.variable, field.name)
    text = (
        f"CASE WHEN {end} & 1 THEN (SELECT 'P:' || e.key || ':' || e.predicate FROM link AS e WHERE e.key = {end})"
        f" ELSE 'C:' || {end} END"
    )
    return Term(text, STRING, f"json_quote({text})", key=end)


def _id(variable: str, kind: op.Kind, columns: Columns) -> Term:
    key = columns.key(variable)
    if kind == op.Kind.CONCEPT:
        text = f"'C:' || {key}"
    else:
        link = f"'P:' || {key} || ':' || {columns.column(variable, 'predicate')}"
        text = link if kind == op.Kind.LINK else f"CASE WHEN {key} & 1 THEN {link} ELSE 'C:' || {key} END"
    return Term(f"({text})", STRING, f"json_quote({text})", key=key)


_MAINTAINED = {"_version": "version", "_created_at": "created_at", "_updated_at": "updated_at"}
"""Metadata that the engine keeps in columns of its own (2.11.1)."""


def _property(item: op.Property, columns: Columns) -> Term:
    if item.container == "metadata" and item.key in _MAINTAINED:
        column = columns.column(item.variable, _MAINTAINED[item.key])
        return _number(column) if item.key == "_version" else _text(column)
    column = columns.column(item.variable, item.container)
    rank_text, value = property_sql(column, item.key)
    text = f"({column} -> {json_path(item.key)})"
    return Term(value, rank_text, text, exact=text)


def property_sql(column: str, key: str) -> tuple[str, str]:
    """Rank and value of a top-level key of a JSON column; indexes are made of these very expressions."""
    path = json_path(key)
    return _json_rank(f"json_type({column}, {path})"), f"json_extract({column}, {path})"


def _json_rank(json_type: str) -> str:
    return (
        f"CASE {json_type} WHEN 'integer' THEN {NUMBER} WHEN 'real' THEN {NUMBER} WHEN 'text' THEN {STRING}"
        f" WHEN 'true' THEN {BOOLEAN} WHEN 'false' THEN {BOOLEAN} WHEN 'array' THEN {COMPLEX}"
        f" WHEN 'object' THEN {COMPLEX} END"
    )


def _whole_json(whole: op.Whole, columns: Columns) -> str:
    column = columns.column(whole.variable, whole.container)
    if whole.container == "attributes":
        return f"json({column})"
    maintained = ("version", "created_at", "updated_at")
    version, created, updated = (columns.column(whole.variable, name) for name in maintained)
    return (
        f"CASE WHEN {column} IS NOT NULL THEN json(json_insert({column}, '$._version', {version},"
        f" '$._created_at', {created}, '$._updated_at', {updated})) END"
    )


def json_text_term(text: str) -> Term:
    """The term of an aggregate that comes as JSON text."""
    return Term(f"json_extract({text}, '$')", _json_rank(f"json_type({text})"), text, exact=text)
