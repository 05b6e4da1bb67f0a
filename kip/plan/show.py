"""A bound plan as readable text, one operator a line: what EXPLAIN shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from kip.plan import algebra as op
from kip.values import dumps


def show(query: op.Query) -> list[str]:
    """The lines of a plan: operators in order of evaluation, then what is made of the solutions."""
    lines = list(_block(query.block, ""))
    key = ", ".join(f"?{name}" for name in query.key)
    lines.append(f"{'distinct ' if query.distinct else ''}solutions by {key}")
    if query.grouped:
        groups = [_column(column) for column in query.columns if not isinstance(column, op.Aggregation)]
        lines.append(f"group by {', '.join(groups)}" if groups else "one group")
    lines.extend(_modifiers(query))
    lines.append(f"return {', '.join(map(_column, query.columns))}")
    return lines


def _modifiers(query: op.Query) -> Iterator[str]:
    if query.order:
        keys = [
            f"{_column(sort.expression)} {'descending' if sort.descending else 'ascending'}" for sort in query.order
        ]
        yield f"order by {', '.join(keys)}"
    if query.cursor is not None:
        yield f"after the cursor {_scalar(query.cursor)}"
    if query.limit is not None:
        yield f"at most {_scalar(query.limit)}"


def _block(block: op.Block, indent: str) -> Iterator[str]:
    for operator in block.operators:
        yield from _operator(operator, indent)


def _operator(operator: op.Operator, indent: str) -> Iterator[str]:
    inner = indent + "  "
    match operator:
        case op.ConceptMatch():
            parts = (("id", operator.id), ("type", operator.type), ("name", operator.name))
            given = ", ".join(f"{key} {_scalar(value)}" for key, value in parts if value is not None)
            yield f"{indent}concept ?{operator.variable} with {given}"
        case op.LinkMatch():
            predicate = (
                f"?{operator.predicate_variable}" if operator.predicate_variable else _names(operator.predicates)
            )
            yield f"{indent}link ?{operator.variable} from ?{operator.subject} by {predicate} to ?{operator.object}"
        case op.LinkLookup():
            yield f"{indent}link ?{operator.variable} with id {_scalar(operator.id)}"
        case op.Walk():
            most = "any number of" if operator.maximum is None else operator.maximum
            hops = f"{operator.minimum} to {most} hops"
            names = _names(operator.predicates)
            yield f"{indent}walk from ?{operator.subject} by {names}, {hops}, to ?{operator.object}"
        case op.Filter():
            yield f"{indent}filter {_condition(operator.condition)}"
        case op.AntiJoin():
            yield f"{indent}without"
            yield from _block(operator.block, inner)
        case op.LeftJoin():
            yield f"{indent}optionally"
            yield from _block(operator.block, inner)
        case op.Union():
            for number, block in enumerate((*((operator.main,) if operator.main else ()), *operator.branches)):
                yield f"{indent}{'either' if number == 0 else 'or'}"
                yield from _block(block, inner)
        case _:
            assert_never(operator)


def _names(values: tuple[op.Value, ...]) -> str:
    return " or ".join(map(_scalar, values))


def _column(column: op.Column) -> str:
    if isinstance(column, op.Aggregation):
        return f"{column.function}({'distinct ' if column.distinct else ''}{_scalar(column.operand)})"
    return _scalar(column)


def _scalar(scalar: op.Scalar) -> str:
    match scalar:
        case op.Const():
            return dumps(scalar.value)
        case op.Param():
            return f":{scalar.name}"
        case op.Element() | op.PredicateName():
            return f"?{scalar.variable}"
        case op.Field():
            return f"?{scalar.variable}.{scalar.name}"
        case op.Property():
            return f"?{scalar.variable}.{scalar.container}.{scalar.key}"
        case op.Whole():
            return f"?{scalar.variable}.{scalar.container}"
        case _:
            assert_never(scalar)


def _condition(condition: op.Condition) -> str:
    match condition:
        case op.Equal():
            return f"{_scalar(condition.left)} == {_scalar(condition.right)}"
        case op.Less():
            return f"{_scalar(condition.left)} {'<=' if condition.or_equal else '<'} {_scalar(condition.right)}"
        case op.Member():
            values = condition.values
            listed = _scalar(values) if isinstance(values, op.Param) else f"[{', '.join(map(_scalar, values))}]"
            return f"{_scalar(condition.operand)} in {listed}"
        case op.IsNull():
            return f"{_scalar(condition.operand)} is null"
        case op.TextTest():
            name = condition.function.lower().replace("_", " ")
            return f"{_scalar(condition.subject)} {name} {_scalar(condition.pattern)}"
        case op.Not():
            return f"not ({_condition(condition.operand)})"
        case op.And():
            return "(" + " and ".join(map(_condition, condition.operands)) + ")"
        case op.Or():
            return "(" + " or ".join(map(_condition, condition.operands)) + ")"
        case _:
            assert_never(condition)
