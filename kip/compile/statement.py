"""What a compiler hands to a backend: a statement, its bindings, and how to read its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from kip.errors import KipError
from kip.plan import algebra as op
from kip.values import Json, is_wide, rank

WIDE = 5
"""Stands for the rank of a number that is compared by its exact text (:func:`kip.values.is_wide`)."""

ParameterTypes = tuple[tuple[str, int | None], ...]
"""Name and type rank of every parameter a plan reads: statements are specialised by type, not by value."""


class Codec(Enum):
    """How a value becomes a statement parameter."""

    VALUE = "value"  # a number, string, boolean or null as it is
    CONCEPT_KEY = "concept key"  # "C:12" -> 12; null for anything else
    LINK_KEY = "link key"  # "P:13:treats" -> 13; null for anything else
    ELEMENT_KEY = "element key"  # either of the two
    PREDICATE_OF_ID = "predicate of id"  # "P:13:treats" -> "treats"; null for anything else
    JSON = "json"  # an array as JSON text
    KEYS_JSON = "keys json"  # an array of ids as JSON text of their keys
    LIMIT = "limit"  # one row more than asked, to see whether more remain


@dataclass(frozen=True, slots=True)
class Binding:
    """One statement parameter: where its value comes from and how it is encoded."""

    source: op.Value
    codec: Codec


class Shape(Enum):
    """How consecutive result columns become one value."""

    CONCEPT = "concept"
    LINK = "link"
    ELEMENT = "element"
    JSON = "json"  # JSON text, or NULL
    PLAIN = "plain"  # a string or number as it is


@dataclass(frozen=True, slots=True)
class Statement:
    """A compiled query.

    ``outputs`` are the shapes of the FIND columns, in order. The last result columns tell the row's place in the
    total order; a cursor is made of them. ``sort_widths`` has the number of result columns of each sort column:
    one, or two where the type's rank stands before the value.
    """

    text: str
    bindings: tuple[Binding, ...]
    outputs: tuple[Shape, ...]
    sort_widths: tuple[int, ...]

    @property
    def position_width(self) -> int:
        """How many result columns tell the place."""
        return sum(self.sort_widths)


def parameter_value(source: op.Value, parameters: Mapping[str, Json]) -> Json:
    """The value of a constant or parameter.

    Raises KIP_3001 when the request does not supply the parameter.
    """
    if isinstance(source, op.Const):
        return source.value
    if source.name not in parameters:
        raise KipError(
            "KIP_3001",
            f"the parameter :{source.name} is not supplied",
            hint=f'Add "{source.name}" to the request\'s parameters.',
        )
    return parameters[source.name]


def parameter_types(names: Iterable[str], parameters: Mapping[str, Json]) -> ParameterTypes:
    """The type signature of the named parameters; raises KIP_3001 for a missing one."""
    return tuple((name, type_of(parameter_value(op.Param(name), parameters))) for name in names)


def type_of(value: Json) -> int | None:
    """The rank of a value's type, or WIDE."""
    return WIDE if is_wide(value) else rank(value)
