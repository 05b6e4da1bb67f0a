"""Typed syntax tree of KIP command text (SPECIFICATION.md sections 2-5).

Every node carries the span of source text it came from. Spans do not take part in equality, so that
``parse(format(tree)) == tree``. A tree is never changed after it is built: it is cached and shared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from kip.values import Json


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of character offsets in the command text."""

    start: int
    end: int


NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Node:
    """Base of all nodes. What is derived from a tree can be kept by a weak reference to it."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


# --- values (2.7) -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A JSON value without placeholders inside; ``value`` is the plain Python value.

    Equality is by JSON type as well as by value: ``true`` is not ``1``, and ``1`` is not ``1.0``.
    """

    value: Json

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """A placeholder ``:name``; bound late, from the request's parameters."""

    name: str


@dataclass(frozen=True, slots=True)
class ArrayValue(Node):
    """An array that holds a placeholder somewhere inside (else it is a Literal)."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class ObjectValue(Node):
    """An object that holds a placeholder somewhere inside (else it is a Literal)."""

    entries: tuple[tuple[str, Value], ...]


Value = Literal | Parameter | ArrayValue | ObjectValue


# --- expressions (3.2, 3.3, 3.4.3) --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """``?name``; ``name`` is without the question mark."""

    name: str


@dataclass(frozen=True, slots=True)
class Path(Node):
    """Dot notation (3.2): ``?variable.field`` or ``?variable.attributes.key`` / ``.metadata.key``.

    ``field`` is the first part after the variable; ``key`` the second, or None.
    """

    variable: str
    field: str
    key: str | None = None


AggregateName = OneOf["COUNT", "SUM", "AVG", "MIN", "MAX"]


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """``COUNT(?x)``, ``COUNT(DISTINCT ?x.name)``, ``SUM(...)`` and so on (3.3)."""

    function: AggregateName
    argument: Variable | Path
    distinct: bool = False


Projection = Variable | Path | Aggregate
Operand = Variable | Path | Literal | Parameter
ComparisonOperator = OneOf["==", "!=", "<", ">", "<=", ">="]
StringFunction = OneOf["CONTAINS", "STARTS_WITH", "ENDS_WITH", "REGEX"]


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    operator: ComparisonOperator
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class In(Node):
    """``IN(?expr, [..])`` or ``IN(?expr, :list)`` (decision 1 admits a list parameter)."""

    operand: Operand
    values: Value


@dataclass(frozen=True, slots=True)
class NullTest(Node):
    """``IS_NULL(?expr)``, or ``IS_NOT_NULL(?expr)`` when ``negated``."""

    operand: Operand
    negated: bool


@dataclass(frozen=True, slots=True)
class StringTest(Node):
    function: StringFunction
    subject: Operand
    pattern: Operand


@dataclass(frozen=True, slots=True)
class Negation(Node):
    operand: BooleanExpression


@dataclass(frozen=True, slots=True)
class Conjunction(Node):
    """``a && b && c``; two or more operands, flattened."""

    operands: tuple[BooleanExpression, ...]


@dataclass(frozen=True, slots=True)
class Disjunction(Node):
    """``a || b || c``; two or more operands, flattened."""

    operands: tuple[BooleanExpression, ...]


BooleanExpression = Comparison | In | NullTest | StringTest | Negation | Conjunction | Disjunction


# --- patterns (3.4) -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConceptMatcher(Node):
    """``{id: ..}``, ``{type: .., name: ..}``, ``{type: ..}`` or ``{name: ..}``."""

    id: Value | None = None
    type: Value | None = None
    name: Value | None = None


@dataclass(frozen=True, slots=True)
class Hops(Node):
    """``{minimum,maximum}`` after a predicate; ``maximum`` None means no upper bound."""

    minimum: int
    maximum: int | None


@dataclass(frozen=True, slots=True)
class PredicateNames(Node):
    """One or more literal predicates (``"a" | "b"``), possibly with a hop range."""

    names: tuple[Value, ...]
    hops: Hops | None = None


@dataclass(frozen=True, slots=True)
class LinkIdMatcher(Node):
    """``(id: "P:12:treats")``."""

    id: Value


@dataclass(frozen=True, slots=True)
class TripleMatcher(Node):
    """``(subject, predicate, object)``; a Variable as predicate is a predicate variable."""

    subject: Endpoint
    predicate: PredicateNames | Variable
    object: Endpoint


LinkMatcher = LinkIdMatcher | TripleMatcher
Endpoint = Variable | ConceptMatcher | LinkIdMatcher | TripleMatcher


@dataclass(frozen=True, slots=True)
class ConceptClause(Node):
    """``?variable {..}``."""

    variable: str
    matcher: ConceptMatcher


@dataclass(frozen=True, slots=True)
class LinkClause(Node):
    """``?variable (..)``; the variable is optional."""

    variable: str | None
    matcher: LinkMatcher


@dataclass(frozen=True, slots=True)
class FilterClause(Node):
    condition: BooleanExpression


@dataclass(frozen=True, slots=True)
class NotClause(Node):
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class OptionalClause(Node):
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class UnionClause(Node):
    clauses: tuple[Clause, ...]


Clause = ConceptClause | LinkClause | FilterClause | NotClause | OptionalClause | UnionClause


# --- KQL (3.1, 3.5) -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SortKey(Node):
    expression: Projection
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Find(Node):
    projections: tuple[Projection, ...]
    where: tuple[Clause, ...]
    order_by: tuple[SortKey, ...] = ()
    limit: Literal | Parameter | None = None
    cursor: Literal | Parameter | None = None


# --- KML (4) ------------------------------------------------------------------------------------

Entries = ObjectValue | Literal | Parameter
"""The ``{ key: value, .. }`` of SET or WITH METADATA: a Literal holds a dict; a Parameter stands for
the whole object."""


@dataclass(frozen=True, slots=True)
class PropositionEntry(Node):
    """One line of SET PROPOSITIONS: ``("predicate", target) WITH METADATA {..}``."""

    predicate: Value
    target: Endpoint
    metadata: Entries | None = None


@dataclass(frozen=True, slots=True)
class ConceptBlock(Node):
    handle: str | None
    matcher: ConceptMatcher
    expect_version: Literal | Parameter | None = None
    attributes: Entries | None = None
    propositions: tuple[PropositionEntry, ...] = ()
    metadata: Entries | None = None


@dataclass(frozen=True, slots=True)
class PropositionBlock(Node):
    handle: str | None
    matcher: LinkMatcher
    expect_version: Literal | Parameter | None = None
    attributes: Entries | None = None
    metadata: Entries | None = None


@dataclass(frozen=True, slots=True)
class UpsertStatement(Node):
    """One ``UPSERT { .. } WITH METADATA { .. }``."""

    blocks: tuple[ConceptBlock | PropositionBlock, ...]
    metadata: Entries | None = None


@dataclass(frozen=True, slots=True)
class Upsert(Node):
    """A whole command: one or more UPSERT statements (a capsule), one transaction (decision 1)."""

    statements: tuple[UpsertStatement, ...]


UpdateFunction = OneOf["ADD", "MUL", "CLAMP", "COALESCE"]


@dataclass(frozen=True, slots=True)
class UpdateCall(Node):
    """``ADD(..)``, ``MUL(..)``, ``CLAMP(..)`` or ``COALESCE(..)`` (4.3)."""

    function: UpdateFunction
    arguments: tuple[UpdateExpression, ...]


UpdateExpression = UpdateCall | Path | Literal | Parameter
UpdateValue = UpdateCall | Path | Value


@dataclass(frozen=True, slots=True)
class UpdateEntries(Node):
    """``{ key: value or expression, .. }`` of an UPDATE."""

    entries: tuple[tuple[str, UpdateValue], ...]


@dataclass(frozen=True, slots=True)
class Update(Node):
    target: str
    where: tuple[Clause, ...]
    attributes: UpdateEntries | Parameter | None = None
    metadata: UpdateEntries | Parameter | None = None
    limit: Literal | Parameter | None = None


@dataclass(frozen=True, slots=True)
class Merge(Node):
    source: str
    target: str
    where: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class DeleteKeys(Node):
    """DELETE ATTRIBUTES or DELETE METADATA."""

    kind: OneOf["attributes", "metadata"]
    keys: tuple[str, ...]
    target: str
    where: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class DeletePropositions(Node):
    target: str
    where: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class DeleteConcept(Node):
    target: str
    where: tuple[Clause, ...]


# --- META (5) -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DescribePrimer(Node):
    pass


@dataclass(frozen=True, slots=True)
class DescribeDomains(Node):
    pass


ElementKind = OneOf["concept", "proposition"]


@dataclass(frozen=True, slots=True)
class DescribeTypes(Node):
    """DESCRIBE CONCEPT TYPES / DESCRIBE PROPOSITION TYPES."""

    kind: ElementKind
    limit: Literal | Parameter | None = None
    cursor: Literal | Parameter | None = None


@dataclass(frozen=True, slots=True)
class DescribeType(Node):
    """DESCRIBE CONCEPT TYPE "X" / DESCRIBE PROPOSITION TYPE "x"."""

    kind: ElementKind
    name: Literal | Parameter


@dataclass(frozen=True, slots=True)
class Search(Node):
    kind: ElementKind
    term: Literal | Parameter
    type: Literal | Parameter | None = None
    mode: Literal | Parameter | None = None
    threshold: Literal | Parameter | None = None
    limit: Literal | Parameter | None = None


@dataclass(frozen=True, slots=True)
class Export(Node):
    target: str
    where: tuple[Clause, ...]
    limit: Literal | Parameter | None = None
    cursor: Literal | Parameter | None = None


@dataclass(frozen=True, slots=True)
class Explain(Node):
    """``EXPLAIN <command>``: how the command would be carried out. An extension of kip; read-only."""

    command: Find | Kml | Describe | Search | Export


Describe = DescribePrimer | DescribeDomains | DescribeTypes | DescribeType
Meta = Describe | Search | Export | Explain
Delete = DeleteKeys | DeletePropositions | DeleteConcept
Kml = Upsert | Update | Merge | Delete
Command = Find | Kml | Meta
