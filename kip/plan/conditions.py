"""Binds expressions: dot notation (3.2) and FILTER conditions (3.4.3), in two-valued logic (decision 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never, cast, get_args

from kip.errors import KipError
from kip.lang import ast
from kip.plan import algebra as op
from kip.plan.scope import Scope

_FIELDS: tuple[str, ...] = get_args(op.FieldName)


def bind_scalar(expression: ast.Variable | ast.Path | ast.Literal | ast.Parameter, scope: Scope) -> op.Scalar:
    """The scalar of a variable, path or value.

    Raises KIP_3001 for an unbound variable, KIP_2002 for a field that elements do not have.
    """
    match expression:
        case ast.Literal():
            return op.Const(expression.value)
        case ast.Parameter():
            return op.Param(expression.name)
        case ast.Variable():
            name = _resolve(expression.name, scope)
            return op.PredicateName(name) if scope.kinds[name] == op.Kind.PREDICATE else op.Element(name)
        case ast.Path():
            return _bind_path(expression, scope)
        case _:
            assert_never(expression)


def _resolve(name: str, scope: Scope) -> str:
    known = scope.visible(name)
    if known is None:
        raise KipError("KIP_3001", f"the variable ?{name} is not bound by any clause that is visible here")
    return known


def _bind_path(path: ast.Path, scope: Scope) -> op.Scalar:
    name = _resolve(path.variable, scope)
    if scope.kinds[name] == op.Kind.PREDICATE:
        raise KipError("KIP_2002", f"?{path.variable} is a predicate name, a string without fields")
    if path.field == "attributes" or path.field == "metadata":  # noqa: PLR1714  (narrows the type)
        return op.Whole(name, path.field) if path.key is None else op.Property(name, path.field, path.key)
    if path.field in _FIELDS and path.key is None:
        return op.Field(name, cast(op.FieldName, path.field))
    shown = f"{path.field}.{path.key}" if path.key else path.field
    raise KipError(
        "KIP_2002",
        f"?{path.variable}.{shown}: concepts have id, type, name; links have id, subject, predicate, object",
        hint=f"Write ?{path.variable}.attributes.{path.field} or ?{path.variable}.metadata.{path.field}.",
    )


def bind_condition(condition: ast.BooleanExpression, scope: Scope) -> op.Condition:
    """The condition of a FILTER; comparison operators are reduced to equality, order and negation.

    Raises as :func:`bind_scalar`.
    """
    match condition:
        case ast.Comparison():
            return _comparison(condition, scope)
        case ast.In():
            return op.Member(bind_scalar(condition.operand, scope), _members(condition.values))
        case ast.NullTest():
            test = op.IsNull(bind_scalar(condition.operand, scope))
            return op.Not(test) if condition.negated else test
        case ast.StringTest():
            subject, pattern = bind_scalar(condition.subject, scope), bind_scalar(condition.pattern, scope)
            return op.TextTest(condition.function, subject, pattern)
        case ast.Negation():
            return op.Not(bind_condition(condition.operand, scope))
        case ast.Conjunction():
            return op.And(tuple(bind_condition(item, scope) for item in condition.operands))
        case ast.Disjunction():
            return op.Or(tuple(bind_condition(item, scope) for item in condition.operands))
        case _:
            assert_never(condition)


def _comparison(condition: ast.Comparison, scope: Scope) -> op.Condition:
    left, right = bind_scalar(condition.left, scope), bind_scalar(condition.right, scope)
    match condition.operator:
        case "==":
            return op.Equal(left, right)
        case "!=":
            return op.Not(op.Equal(left, right))
        case "<":
            return op.Less(left, right)
        case "<=":
            return op.Less(left, right, or_equal=True)
        case ">":
            return op.Less(right, left)
        case ">=":
            return op.Less(right, left, or_equal=True)
        case _:
            assert_never(condition.operator)


def _members(values: ast.Value) -> tuple[op.Value, ...] | op.Param:
    match values:
        case ast.Parameter():
            return op.Param(values.name)
        case ast.Literal():
            if isinstance(values.value, list):
                return tuple(op.Const(item) for item in values.value)
        case ast.ArrayValue():
            return tuple(_member(item) for item in values.items)
        case ast.ObjectValue():
            pass
        case _:
            assert_never(values)
    raise KipError("KIP_2003", "IN takes a list of values as its second argument", hint='IN(?x.name, ["a", "b"])')


def _member(value: ast.Value) -> op.Value:
    if isinstance(value, ast.Literal):
        return op.Const(value.value)
    if isinstance(value, ast.Parameter):
        return op.Param(value.name)
    raise KipError("KIP_2003", "the list of IN holds strings, numbers, booleans or null")


def condition_variables(condition: ast.BooleanExpression) -> Iterator[str]:
    """The names of all variables in a condition, repeats included."""
    match condition:
        case ast.Comparison():
            yield from _operand_variables(condition.left, condition.right)
        case ast.In() | ast.NullTest():
            yield from _operand_variables(condition.operand)
        case ast.StringTest():
            yield from _operand_variables(condition.subject, condition.pattern)
        case ast.Negation():
            yield from condition_variables(condition.operand)
        case ast.Conjunction() | ast.Disjunction():
            for item in condition.operands:
                yield from condition_variables(item)
        case _:
            assert_never(condition)


def _operand_variables(*operands: ast.Operand) -> Iterator[str]:
    for operand in operands:
        if isinstance(operand, ast.Variable):
            yield operand.name
        elif isinstance(operand, ast.Path):
            yield operand.variable
