"""Conditions as SQL (SQLite), in two-valued logic (decision 4).

A condition may come out as NULL where it is false; that is the same in WHERE, AND and OR, and
:class:`kip.plan.algebra.Not` closes the gap. This keeps plain comparisons in the form that an index serves.
"""

from __future__ import annotations

from typing import assert_never

from kip.compile.sql_terms import Columns, Term, term
from kip.compile.statement import Codec
from kip.plan import algebra as op
from kip.values import BOOLEAN, COMPLEX, NUMBER, STRING

FALSE = "0"


def condition(item: op.Condition, columns: Columns) -> str:
    """The SQL of a condition: true, or not true."""
    match item:
        case op.Equal():
            return _equal(item, columns)
        case op.Less():
            return _less(item, columns)
        case op.Member():
            return _member(item, columns)
        case op.IsNull():
            return f"{term(item.operand, columns).value} IS NULL"
        case op.TextTest():
            return _text_test(item, columns)
        case op.Not():
            return f"NOT coalesce({condition(item.operand, columns)}, 0)"
        case op.And():
            return _joined([condition(part, columns) for part in item.operands], "AND")
        case op.Or():
            return _joined([condition(part, columns) for part in item.operands], "OR")
        case _:
            assert_never(item)


_WIDEST = 100


def _joined(parts: list[str], word: str) -> str:
    """The parts joined; many of them as a tree, because SQLite limits how deep an expression nests."""
    if len(parts) <= _WIDEST:
        return f"({f' {word} '.join(parts)})"
    middle = len(parts) // 2
    return f"({_joined(parts[:middle], word)} {word} {_joined(parts[middle:], word)})"


def _equal(item: op.Equal, columns: Columns) -> str:
    for one, other in ((item.left, item.right), (item.right, item.left)):
        if _is_id(one) and isinstance(other, op.Const | op.Param):
            return _id_equals(one, other, columns)
    left, right = term(item.left, columns), term(item.right, columns)
    if left.key is not None and right.key is not None and left.is_element == right.is_element:
        return f"{left.key} = {right.key}"
    if left.is_element or right.is_element:
        return FALSE
    test = f"{left.value} = {right.value}"
    if left.exact is not None and right.exact is not None:
        test = f"{test} AND ({left.is_narrow()} OR kip_place({left.exact}) = kip_place({right.exact}))"
    return _typed(left, right, test, (NUMBER, STRING, BOOLEAN))


def _less(item: op.Less, columns: Columns) -> str:
    left, right = term(item.left, columns), term(item.right, columns)
    if left.is_element or right.is_element:
        return FALSE
    sign = "<=" if item.or_equal else "<"
    test = f"{left.value} {sign} {right.value}"
    if left.exact is not None and right.exact is not None:
        exactly = f"kip_place({left.exact}) {sign} kip_place({right.exact})"
        test = f"iif({left.value} = {right.value} AND NOT {left.is_narrow()}, {exactly}, {test})"
    return _typed(left, right, test, (NUMBER, STRING))


def _typed(left: Term, right: Term, test: str, allowed: tuple[int, ...]) -> str:
    """``test``, guarded so that it holds only between two values of one allowed type."""
    if left.rank is None or right.rank is None:
        return FALSE
    fixed = [item.rank for item in (left, right) if isinstance(item.rank, int)]
    if any(number not in allowed for number in fixed) or len(set(fixed)) > 1:
        return FALSE
    if len(fixed) == 2:
        return f"({test})"
    if len(fixed) == 1:
        open_rank = left.rank if isinstance(left.rank, str) else right.rank
        return f"({open_rank} = {fixed[0]} AND {test})"
    kinds = ", ".join(map(str, allowed))
    return f"({left.rank} = {right.rank} AND {left.rank} IN ({kinds}) AND {test})"


def _is_id(scalar: op.Scalar) -> bool:
    return isinstance(scalar, op.Field) and scalar.name in ("id", "subject", "object")


def _id_equals(scalar: op.Scalar, value: op.Value, columns: Columns) -> str:
    """Ids are compared by key: a key is indexed, an id is not."""
    found = term(scalar, columns)
    if found.key is None:
        return FALSE
    if isinstance(scalar, op.Field) and scalar.name == "id" and columns.kind(scalar.variable) == op.Kind.CONCEPT:
        return f"{found.key} = {columns.bind(value, Codec.CONCEPT_KEY)}"
    key = columns.bind(value, Codec.ELEMENT_KEY)
    predicate = columns.bind(value, Codec.PREDICATE_OF_ID)
    named = f"(SELECT e.predicate FROM link AS e WHERE e.key = {key})"
    return f"({found.key} = {key} AND {named} IS {predicate})"


def _member(item: op.Member, columns: Columns) -> str:
    values = item.values
    if not isinstance(values, op.Param):
        if not all(isinstance(value, op.Const) for value in values):
            return _joined([_equal(op.Equal(item.operand, value), columns) for value in values], "OR")
        values = op.Const([value.value for value in values if isinstance(value, op.Const)])
    found = term(item.operand, columns)
    if _is_id(item.operand) and found.key is not None:
        listed = columns.bind(values, Codec.JSON)
        keys = columns.bind(values, Codec.KEYS_JSON)
        return (
            f"({found.key} IN (SELECT value FROM json_each({keys}))"
            f" AND {found.value} IN (SELECT value FROM json_each({listed})))"
        )
    if found.rank is None:
        return FALSE
    listed = columns.bind(values, Codec.JSON)
    tests = [_member_of_type(found, number, listed) for number in (STRING, NUMBER, BOOLEAN)]
    return "(" + " OR ".join(test for test in tests if test != FALSE) + ")" if any(t != FALSE for t in tests) else FALSE


_JSON_TYPES = {STRING: "'text'", NUMBER: "'integer', 'real'", BOOLEAN: "'true', 'false'"}


def _member_of_type(found: Term, number: int, listed: str) -> str:
    if isinstance(found.rank, int) and found.rank != number:
        return FALSE
    test = f"{found.value} IN (SELECT value FROM json_each({listed}) WHERE type IN ({_JSON_TYPES[number]}))"
    if number == NUMBER and found.exact is not None:
        test = f"({test} AND ({found.is_narrow()} OR kip_listed({found.exact}, {listed})))"
    return test if isinstance(found.rank, int) else f"({found.rank} = {number} AND {test})"


def _text_test(item: op.TextTest, columns: Columns) -> str:
    subject, pattern = term(item.subject, columns), term(item.pattern, columns)
    guards: list[str] = []
    for part in (subject, pattern):
        if part.rank is None or part.rank == COMPLEX or (isinstance(part.rank, int) and part.rank != STRING):
            return FALSE
        if isinstance(part.rank, str):
            guards.append(f"{part.rank} = {STRING}")
    guards.append(_text_function(item.function, subject.value, pattern.value))
    return "(" + " AND ".join(guards) + ")"


def _text_function(function: str, subject: str, pattern: str) -> str:
    if function == "CONTAINS":
        return f"instr({subject}, {pattern}) > 0"
    if function == "STARTS_WITH":
        return f"instr({subject}, {pattern}) = 1"
    return f"{'kip_ends_with' if function == 'ENDS_WITH' else 'kip_regex'}({subject}, {pattern})"
