"""The logical algebra: what a KQL query means, independent of any store (SPECIFICATION.md 3, decisions 1-10).

A :class:`Block` is a sequence of operators applied in order to a set of solutions, starting from the one
empty solution. A solution maps variables to elements (concepts or links), to a predicate name, or to null.
A pattern never matches a variable that is null (an OPTIONAL miss, or padding of a UNION).
Variables that the text does not name are called ``#1``, ``#2``, .. so that they cannot clash.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal as OneOf

from kip.values import Json


class Kind(Enum):
    """What a variable is bound to."""

    CONCEPT = "concept"
    LINK = "link"
    ELEMENT = "element"  # a concept or a link; decided by the data
    PREDICATE = "predicate"  # a string: the name of a predicate


# --- scalars ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Const:
    """A value written in the command."""

    value: Json

    def __hash__(self) -> int:
        return hash(repr(self.value))


@dataclass(frozen=True, slots=True)
class Param:
    """A value supplied with the request, bound when the plan runs."""

    name: str


@dataclass(frozen=True, slots=True)
class Element:
    """The element bound to a variable, as a whole; equal only to itself."""

    variable: str


@dataclass(frozen=True, slots=True)
class PredicateName:
    """The string bound to a predicate variable."""

    variable: str


FieldName = OneOf["id", "type", "name", "subject", "predicate", "object"]


@dataclass(frozen=True, slots=True)
class Field:
    """A top-level field; null where the element has no such field."""

    variable: str
    name: FieldName


@dataclass(frozen=True, slots=True)
class Property:
    """``?x.attributes.key`` or ``?x.metadata.key``, engine-maintained ``_`` keys included."""

    variable: str
    container: OneOf["attributes", "metadata"]
    key: str


@dataclass(frozen=True, slots=True)
class Whole:
    """``?x.attributes`` or ``?x.metadata``: the complete object."""

    variable: str
    container: OneOf["attributes", "metadata"]


Value = Const | Param
Scalar = Const | Param | Element | PredicateName | Field | Property | Whole


# --- conditions (two-valued, decision 4) --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Equal:
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class Less:
    """``left < right``, or ``left <= right`` when ``or_equal``."""

    left: Scalar
    right: Scalar
    or_equal: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """``IN(operand, [..])``; ``values`` is a constant list or one list parameter."""

    operand: Scalar
    values: tuple[Value, ...] | Param


@dataclass(frozen=True, slots=True)
class IsNull:
    operand: Scalar


@dataclass(frozen=True, slots=True)
class TextTest:
    function: OneOf["CONTAINS", "STARTS_WITH", "ENDS_WITH", "REGEX"]
    subject: Scalar
    pattern: Scalar


@dataclass(frozen=True, slots=True)
class Not:
    operand: Condition


@dataclass(frozen=True, slots=True)
class And:
    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    operands: tuple[Condition, ...]


Condition = Equal | Less | Member | IsNull | TextTest | Not | And | Or


# --- operators ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConceptMatch:
    """Binds ``variable`` to each concept with the given id, type and name (those that are given)."""

    variable: str
    id: Value | None = None
    type: Value | None = None
    name: Value | None = None


@dataclass(frozen=True, slots=True)
class LinkMatch:
    """Binds ``variable`` to each link from ``subject`` to ``object`` with one of ``predicates``;
    with ``predicate_variable`` any predicate, bound to that variable."""

    variable: str
    subject: str
    object: str
    predicates: tuple[Value, ...] = ()
    predicate_variable: str | None = None


@dataclass(frozen=True, slots=True)
class LinkLookup:
    """Binds ``variable`` to the link with the given id."""

    variable: str
    id: Value


@dataclass(frozen=True, slots=True)
class Walk:
    """Distinct (subject, object) pairs for which a walk of minimum..maximum hops exists (decision 3);
    zero hops relate every element to itself."""

    subject: str
    object: str
    predicates: tuple[Value, ...]
    minimum: int
    maximum: int | None


@dataclass(frozen=True, slots=True)
class Filter:
    condition: Condition


@dataclass(frozen=True, slots=True)
class AntiJoin:
    """NOT: drops each solution for which ``block``, seeded with it, has a solution."""

    block: Block


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL: extends each solution by those of ``block``, or by nulls for ``introduces``."""

    block: Block
    introduces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """Rows of all branches; variables a branch lacks are null.

    ``main`` is what stands before the first UNION: it sees the enclosing solution (inside NOT or OPTIONAL),
    and is None where nothing stands there. ``branches`` see nothing; inside NOT or OPTIONAL their rows
    are then joined with the enclosing solution on the variables they share with it.
    """

    main: Block | None
    branches: tuple[Block, ...]


Operator = ConceptMatch | LinkMatch | LinkLookup | Walk | Filter | AntiJoin | LeftJoin | Union
Pattern = ConceptMatch | LinkMatch | LinkLookup | Walk


@dataclass(frozen=True, slots=True)
class Block:
    """Operators in order. ``kinds`` tells what each variable visible after the block is bound to."""

    operators: tuple[Operator, ...]
    kinds: tuple[tuple[str, Kind], ...]


# --- queries ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Aggregation:
    """An aggregate over the solutions of a group. ``operand`` Element counts bound solutions."""

    function: OneOf["COUNT", "SUM", "AVG", "MIN", "MAX"]
    operand: Scalar
    distinct: bool = False


Column = Scalar | Aggregation


@dataclass(frozen=True, slots=True)
class Sort:
    """One ORDER BY key. ``column`` is the index of the equal FIND column, or None: then the key lies
    outside the solution key or group and takes its least (ascending) or greatest value (decision 2)."""

    column: int | None
    expression: Column
    descending: bool


@dataclass(frozen=True, slots=True)
class SchemaUse:
    """Names that must be registered: at least one of ``names`` (alternatives match nothing if not)."""

    kind: OneOf["type", "predicate"]
    names: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A FIND, bound. ``key`` names the variables that tell solutions apart (decision 2).

    Derived by the rewrite: ``parameters`` are the names of all parameters read, ``patterns`` the regular expressions
    that must be valid before the query runs, ``never_null`` variables that every solution binds. ``fingerprint``
    identifies what is asked, page size and position apart (a cursor is bound to it); ``identity`` the whole query.
    """

    block: Block
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    distinct: bool
    order: tuple[Sort, ...] = ()
    limit: Value | None = None
    cursor: Value | None = None
    schema_uses: tuple[SchemaUse, ...] = ()
    parameters: tuple[str, ...] = field(default=(), compare=False)
    patterns: tuple[Value, ...] = field(default=(), compare=False)
    never_null: frozenset[str] = field(default=frozenset(), compare=False)
    fingerprint: str = field(default="", compare=False)
    identity: str = field(default="", compare=False)

    @property
    def grouped(self) -> bool:
        """True when a column is an aggregate."""
        return any(isinstance(column, Aggregation) for column in self.columns)
