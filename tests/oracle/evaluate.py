"""What a query means, spelled out over plain dicts: nested loops, one solution at a time, no index, no SQL.

Written from the docstrings of :mod:`kip.plan.algebra`, SPECIFICATION.md 3 and decisions 2-6 and 11; it shares no
code with :mod:`kip.compile` or a backend. Slow on purpose: whatever is clever here could be wrong in the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import cmp_to_key
from typing import Any, TypeVar

import re2

from kip import values
from kip.plan import algebra as op
from kip.values import Json

Solution = dict[str, str | None]
"""Variable -> id of an element, or name of a predicate, or None."""

Row = tuple[Json, ...]
T = TypeVar("T")
Node = dict[str, Any]


@dataclass
class Graph:
    """Elements by id, each as a response shows it (2.2, 2.3); ``registered`` are the names that may be used."""

    concepts: dict[str, Node] = field(default_factory=dict)
    links: dict[str, Node] = field(default_factory=dict)
    registered: dict[str, set[str]] = field(default_factory=lambda: {"type": set(), "predicate": set()})
    walks: dict[Any, list[tuple[str, str]]] = field(default_factory=dict)

    def element(self, id: str) -> Node:
        return self.concepts[id] if id in self.concepts else self.links[id]


class RefusedError(Exception):
    """The query must fail with this code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class TooLargeError(Exception):
    """More work than a naive evaluator should take on."""


@dataclass
class Answer:
    """Rows in order. ``ties`` are runs of rows that ORDER BY does not tell apart: one run without ORDER BY."""

    ties: list[list[Row]]

    @property
    def rows(self) -> list[Row]:
        return [row for tie in self.ties for row in tie]


class Reference:
    """An element as a value: equal only to itself, of no JSON type."""

    def __init__(self, id: str) -> None:
        self.id = id


def evaluate(query: op.Query, parameters: Mapping[str, Json], graph: Graph, *, most: int = 50_000) -> Answer:
    """All rows of a query, LIMIT and CURSOR apart.

    Raises RefusedError with KIP_2001 (names that are not registered) or KIP_2003 (a bad regular expression), and
    TooLargeError when more than ``most`` candidates would have to be looked at.
    """
    run = Evaluation(parameters, graph, most)
    run.check_names(query)
    run.check_patterns(query.block)
    solutions = run.block(query.block, {})
    entries = run.groups(query, solutions) if query.grouped else run.distinct(query, solutions)
    return Answer(_in_order(entries, query.order))


# --- order (decision 2) -------------------------------------------------------------------------

_Entry = tuple[list[Any], Row]
"""The values of the sort keys, and the row."""


def _in_order(entries: list[_Entry], order: tuple[op.Sort, ...]) -> list[list[Row]]:
    # Order by a whole element is up to the implementation (3.5): from such a key on, all rows tie.
    defined = next((n for n, sort in enumerate(order) if isinstance(sort.expression, op.Element)), len(order))

    def compare(left: _Entry, right: _Entry) -> int:
        for sort, one, other in zip(order[:defined], left[0], right[0], strict=False):
            if one is None or other is None:
                found = (one is None) - (other is None)  # null last, whatever the direction
            else:
                found = -values.compare(one, other) if sort.descending else values.compare(one, other)
            if found:
                return found
        return 0

    ties: list[list[Row]] = []
    last: _Entry | None = None
    for entry in sorted(entries, key=cmp_to_key(compare)):
        if last is None or compare(last, entry) != 0:
            ties.append([])
        ties[-1].append(entry[1])
        last = entry
    return ties


def _extreme(found: list[Json], *, greatest: bool) -> Json:
    """The least or greatest value that is not null; null if there is none."""
    best: Json = None
    for value in found:
        if value is None or isinstance(value, Reference):
            continue
        if best is None or (values.compare(value, best) > 0 if greatest else values.compare(value, best) < 0):
            best = value
    return best


def identity(value: Any) -> Any:
    """Equal for the same value (decision 2): numbers by amount, arrays and objects by their canonical JSON."""
    if isinstance(value, Reference):
        return ("element", value.id)
    kind = values.rank(value)
    return (kind, values.dumps(value) if kind == values.COMPLEX else value)


class Evaluation:
    """One run of one query."""

    def __init__(self, parameters: Mapping[str, Json], graph: Graph, most: int) -> None:
        self.parameters = parameters
        self.graph = graph
        self.left = most
        self.independent: dict[int, list[Solution]] = {}

    # --- what is refused ---

    def check_names(self, query: op.Query) -> None:
        for use in query.schema_uses:
            if not any(self.const(name) in self.graph.registered[use.kind] for name in use.names):
                raise RefusedError("KIP_2001")

    def check_patterns(self, part: object) -> None:
        """A REGEX pattern that the command gives must be valid, whether or not a row is tested against it."""
        if isinstance(part, op.TextTest) and part.function == "REGEX" and isinstance(part.pattern, op.Const | op.Param):
            pattern = self.const(part.pattern)
            if isinstance(pattern, str):
                _compiled(pattern)
        if isinstance(part, tuple):
            for item in part:
                self.check_patterns(item)
        elif is_dataclass(part):
            for item in fields(part):
                self.check_patterns(getattr(part, item.name))

    def const(self, value: op.Const | op.Param) -> Json:
        return value.value if isinstance(value, op.Const) else self.parameters[value.name]

    # --- operators ---

    def look_at(self, candidates: Collection[T]) -> Collection[T]:
        """The candidates, each of which is a step of work."""
        self.left -= len(candidates) + 1
        if self.left < 0:
            raise TooLargeError
        return candidates

    def block(self, block: op.Block, seed: Solution) -> list[Solution]:
        solutions = [seed]
        for operator in block.operators:
            found: list[Solution] = []
            for solution in solutions:
                found.extend(self.apply(operator, solution))
            solutions = found
        return solutions

    def apply(self, operator: op.Operator, solution: Solution) -> Iterator[Solution]:
        match operator:
            case op.ConceptMatch():
                yield from self.concepts(operator, solution)
            case op.LinkMatch():
                yield from self.links(operator, solution)
            case op.LinkLookup():
                found = [id for id in self.look_at(self.graph.links) if id == self.const(operator.id)]
                yield from (new for id in found for new in unified(solution, (operator.variable, id)))
            case op.Walk():
                for start, end in self.look_at(self.pairs(operator)):
                    yield from unified(solution, (operator.subject, start), (operator.object, end))
            case op.Filter():
                yield from [solution] if self.holds(operator.condition, solution) else []
            case op.AntiJoin():
                yield from [] if self.block(operator.block, solution) else [solution]
            case op.LeftJoin():
                nothing = {name: None for name in operator.introduces if name not in solution}
                yield from self.block(operator.block, solution) or [{**solution, **nothing}]
            case op.Union():
                yield from self.union(operator, solution)

    def concepts(self, match: op.ConceptMatch, solution: Solution) -> Iterator[Solution]:
        id, type, name = (None if item is None else self.const(item) for item in (match.id, match.type, match.name))
        for concept in self.look_at(self.graph.concepts.values()):
            is_match = (
                (match.id is None or concept["id"] == id)
                and (match.type is None or concept["type"] == type)
                and (match.name is None or concept["name"] == name)
            )
            if is_match:
                yield from unified(solution, (match.variable, concept["id"]))

    def links(self, match: op.LinkMatch, solution: Solution) -> Iterator[Solution]:
        names = [self.const(name) for name in match.predicates]
        for link in self.look_at(self.graph.links.values()):
            bound = [(match.subject, link["subject"]), (match.object, link["object"]), (match.variable, link["id"])]
            if match.predicate_variable is not None:
                yield from unified(solution, (match.predicate_variable, link["predicate"]), *bound)
            elif link["predicate"] in names:
                yield from unified(solution, *bound)

    def pairs(self, walk: op.Walk) -> list[tuple[str, str]]:
        """Decision 3: all (start, end) between which a walk of minimum..maximum hops exists."""
        names = tuple(str(self.const(name)) for name in walk.predicates)
        known = (names, walk.minimum, walk.maximum)
        if known not in self.graph.walks:
            self.graph.walks[known] = list(self.walked(names, walk.minimum, walk.maximum))
        return self.graph.walks[known]

    def walked(self, names: tuple[str, ...], minimum: int, maximum: int | None) -> Iterator[tuple[str, str]]:
        steps = [(link["subject"], link["object"]) for link in self.graph.links.values() if link["predicate"] in names]
        elements = [*self.graph.concepts, *self.graph.links]
        # A longer walk to the same end goes round a circle: without it, it has no more hops than there are elements.
        bound = minimum + len(elements) if maximum is None else maximum
        for start in elements:
            ends: set[str] = set()
            here = {start}
            for hops in range(bound + 1):
                if hops >= minimum:
                    ends |= here
                here = {target for source, target in steps if source in here}
                if not here:
                    break
            for end in ends:
                yield start, end

    def union(self, union: op.Union, seed: Solution) -> Iterator[Solution]:
        rows = [] if union.main is None else self.block(union.main, seed)
        for branch in union.branches:
            if id(branch) not in self.independent:
                self.independent[id(branch)] = self.block(branch, {})
            for row in self.look_at(self.independent[id(branch)]):
                shared = [name for name in row if name in seed]
                if all(row[name] is not None and row[name] == seed[name] for name in shared):
                    rows.append({**seed, **row})
        parts = [*union.branches] if union.main is None else [union.main, *union.branches]
        padding = {name: None for part in parts for name, _ in part.kinds}
        for row in rows:
            yield {**padding, **row}

    # --- values and conditions (decision 4) ---

    def value(self, scalar: op.Scalar, solution: Solution) -> Any:
        if isinstance(scalar, op.Const | op.Param):
            return self.const(scalar)
        bound = solution[scalar.variable]
        if bound is None or isinstance(scalar, op.PredicateName):
            return bound
        if isinstance(scalar, op.Element):
            return Reference(bound)
        node = self.graph.element(bound)
        if isinstance(scalar, op.Field):
            return node.get(scalar.name)
        return node[scalar.container] if isinstance(scalar, op.Whole) else node[scalar.container].get(scalar.key)

    def holds(self, condition: op.Condition, solution: Solution) -> bool:
        match condition:
            case op.Not():
                return not self.holds(condition.operand, solution)
            case op.And():
                return all(self.holds(part, solution) for part in condition.operands)
            case op.Or():
                return any(self.holds(part, solution) for part in condition.operands)
            case op.IsNull():
                return self.value(condition.operand, solution) is None
            case op.Equal():
                return _equal(self.value(condition.left, solution), self.value(condition.right, solution))
            case op.Less():
                left, right = self.value(condition.left, solution), self.value(condition.right, solution)
                return _less(left, right) or (condition.or_equal and _ordered(left, right) and _equal(left, right))
            case op.Member():
                listed = condition.values
                members = self.const(listed) if isinstance(listed, op.Param) else [self.const(item) for item in listed]
                operand = self.value(condition.operand, solution)
                return isinstance(members, list) and any(_equal(operand, member) for member in members)
            case op.TextTest():
                subject, pattern = self.value(condition.subject, solution), self.value(condition.pattern, solution)
                return (
                    isinstance(subject, str)
                    and isinstance(pattern, str)
                    and _tests[condition.function](subject, pattern)
                )

    # --- solutions to rows ---

    def distinct(self, query: op.Query, solutions: list[Solution]) -> list[_Entry]:
        """One row for each solution key; a sort key outside it takes its extreme value (decision 2)."""
        entries: list[_Entry] = []
        for same in _by(solutions, lambda solution: tuple(solution[name] for name in query.key)):
            row = tuple(self.shown(self.value(column, same[0])) for column in query.columns)
            entries.append(([self.sort_value(sort, row, same) for sort in query.order], row))
        return entries

    def groups(self, query: op.Query, solutions: list[Solution]) -> list[_Entry]:
        """One row for each combination of values of the columns that are not aggregates (3.3)."""
        plain = [column for column in query.columns if not isinstance(column, op.Aggregation)]
        groups = _by(solutions, lambda solution: tuple(identity(self.value(scalar, solution)) for scalar in plain))
        if not plain:
            groups = [solutions]
        entries: list[_Entry] = []
        for group in groups:
            collapsed = [same[0] for same in _by(group, lambda solution: tuple(solution[name] for name in query.key))]
            row = tuple(
                self.aggregate(column, collapsed)
                if isinstance(column, op.Aggregation)
                else self.shown(self.value(column, group[0]))
                for column in query.columns
            )
            entries.append(([self.sort_value(sort, row, group) for sort in query.order], row))
        return entries

    def sort_value(self, sort: op.Sort, row: Row, solutions: list[Solution]) -> Any:
        if isinstance(sort.expression, op.Aggregation):
            assert sort.column is not None
            return row[sort.column]
        found = [self.value(sort.expression, solution) for solution in solutions]
        return _extreme(found, greatest=sort.descending)

    def shown(self, value: Any) -> Json:
        return self.graph.element(value.id) if isinstance(value, Reference) else value

    def aggregate(self, aggregation: op.Aggregation, solutions: list[Solution]) -> Json:
        found = [self.value(aggregation.operand, solution) for solution in solutions]
        if aggregation.function == "COUNT":
            present = [identity(value) for value in found if value is not None]
            return len(set(present)) if aggregation.distinct else len(present)
        if aggregation.function in ("MIN", "MAX"):
            return _extreme(found, greatest=aggregation.function == "MAX")
        numbers = [value for value in found if values.rank(value) == values.NUMBER]
        if not numbers:
            return None
        exact = sum(map(Fraction, numbers), Fraction())
        if aggregation.function == "AVG":
            exact /= len(numbers)
        is_whole = aggregation.function == "SUM" and all(isinstance(number, int) for number in numbers)
        try:
            return sum(numbers) if is_whole else float(exact)
        except OverflowError:
            raise RefusedError("KIP_2003") from None  # no JSON number holds it


def unified(solution: Solution, *bound: tuple[str, str]) -> Iterator[Solution]:
    """The solution with more variables bound, if that is no contradiction. Null is never matched."""
    new: Solution = {}
    for name, value in bound:
        if name in solution:
            if solution[name] != value:
                return
        elif new.setdefault(name, value) != value:
            return
    yield {**solution, **new}


def _by(solutions: list[Solution], key: Any) -> list[list[Solution]]:
    found: dict[Any, list[Solution]] = {}
    for solution in solutions:
        found.setdefault(key(solution), []).append(solution)
    return list(found.values())


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, Reference) or isinstance(right, Reference):
        return isinstance(left, Reference) and isinstance(right, Reference) and left.id == right.id
    return values.equal(left, right)


def _ordered(left: Any, right: Any) -> bool:
    return values.rank(left) == values.rank(right) and values.rank(left) in (values.NUMBER, values.STRING)


def _less(left: Any, right: Any) -> bool:
    return _ordered(left, right) and values.less(left, right)


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error:
        raise RefusedError("KIP_2003") from None


_tests: dict[str, Any] = {
    "CONTAINS": lambda subject, part: part in subject,
    "STARTS_WITH": lambda subject, part: subject.startswith(part),
    "ENDS_WITH": lambda subject, part: subject.endswith(part),
    "REGEX": lambda subject, pattern: _compiled(pattern).search(subject) is not None,
}
