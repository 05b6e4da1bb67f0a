"""One FIND becomes one SQL statement (SQLite).

The inner query finds the page: solution keys in the total order, cut by LIMIT. The outer one reads what the
page projects, so that whole elements are fetched for the page and not for what was sorted away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from kip.compile.sql_frame import Assembly, Frame
from kip.compile.sql_patterns import apply
from kip.compile.sql_terms import Term, json_text_term, term
from kip.compile.statement import Binding, Codec, ParameterTypes, Shape, Statement
from kip.plan import algebra as op


@dataclass(frozen=True, slots=True)
class _Order:
    """One sort key of the page, most significant column first; null last in both directions.

    Where all values have one type it is the value's column; else those of the type's rank, of the value, and of
    the exact place of numbers that the value has rounded (null for all others). A column that is never null is
    compared plainly, so that an index finds the cursor's place.
    """

    columns: tuple[str, ...]
    descending: bool
    nullable: bool = True


Position = tuple[int, ...]
"""For each sort key how many of the cursor's values are not null: the statement is specialised by it."""


def compile_query(query: op.Query, types: ParameterTypes, position: Position | None = None) -> Statement:
    """The statement of a query for parameters of the given types.

    ``position`` is given when the page continues after a cursor; the cursor's values are then bound after
    all other parameters, rank before value, nulls left out.
    """
    assembly = Assembly(types)
    frame = apply(query.block, Frame(assembly, dict(query.block.kinds)))
    page = _grouped_page(query, frame) if query.grouped else _solution_page(query, frame)
    return _assemble(query, assembly, page, position)


@dataclass(slots=True)
class _Page:
    """The inner query: its text, where each variable's key is, sort columns, and finished column values."""

    select: str
    keys: dict[str, str]
    orders: list[_Order]
    finished: dict[int, str]  # FIND column -> page column that holds its JSON text


def _solution_page(query: op.Query, frame: Frame) -> _Page:
    columns = {name: f"k{number}" for number, name in enumerate(query.key)}
    listed = [f"{frame.key(name)} AS {column}" for name, column in columns.items()]
    orders: list[_Order] = []
    grouped = False
    for number, sort in enumerate(query.order):
        assert not isinstance(sort.expression, op.Aggregation)
        found = term(sort.expression, frame)
        outside = (
            query.distinct
            and not isinstance(sort.expression, op.Const | op.Param)
            and (sort.expression.variable not in columns)
        )
        if outside:
            grouped = True
            found = json_text_term(f"kip_{'max' if sort.descending else 'min'}({found.json})")
        order = _sort_columns(found, f"s{number}", sort.descending, listed)
        orders.append(replace(order, nullable=not _always_named(sort.expression, query)))
    orders.extend(_Order((column,), False, name not in query.never_null) for name, column in columns.items())
    word = "SELECT DISTINCT" if query.distinct and not grouped else "SELECT"
    select = f"{word} {', '.join(listed)}{frame.body()}"
    if grouped:
        select += "\n GROUP BY " + ", ".join(frame.key(name) for name in columns)
    return _Page(select, columns, orders, {})


def _always_named(expression: op.Column, query: op.Query) -> bool:
    """True for the type or name of a concept that every solution binds."""
    return (
        isinstance(expression, op.Field)
        and expression.name in ("type", "name")
        and expression.variable in query.never_null
        and dict(query.block.kinds)[expression.variable] == op.Kind.CONCEPT
    )


def _sort_columns(found: Term, name: str, descending: bool, listed: list[str]) -> _Order:
    if found.is_element or isinstance(found.rank, int):
        listed.append(f"{found.value} AS {name}v")
        return _Order((f"{name}v",), descending)
    listed.append(f"{found.rank_sql()} AS {name}r")
    listed.append(f"{found.value} AS {name}v")
    listed.append(f"{_exact_place(found)} AS {name}x")
    return _Order((f"{name}r", f"{name}v", f"{name}x"), descending)


def _exact_place(found: Term) -> str:
    return "NULL" if found.exact is None else f"iif({found.is_narrow()}, NULL, kip_place({found.exact}))"


# --- grouping (3.3) -----------------------------------------------------------------------------


def _grouped_page(query: op.Query, frame: Frame) -> _Page:
    outside = {
        number: term(sort.expression, frame)
        for number, sort in enumerate(query.order)
        if sort.column is None and not isinstance(sort.expression, op.Aggregation)
    }
    least = {n: f"kip_{'max' if query.order[n].descending else 'min'}({found.json})" for n, found in outside.items()}
    if query.distinct:
        frame = _solutions(query, frame, least)
        least = {n: f"kip_{'max' if query.order[n].descending else 'min'}(o{n})" for n in least}
    listed: list[str] = []
    group_by: list[str] = []
    page = _Page("", {}, [], {})
    by_column: dict[int, _Order] = {}
    for number, column in enumerate(query.columns):
        if isinstance(column, op.Aggregation):
            by_column[number] = _aggregate(column, f"a{number}", frame, listed, page, number)
        else:
            by_column[number] = _group(column, f"g{number}", frame, listed, group_by, page, number)
    for number, sort in enumerate(query.order):
        if sort.column is None:
            page.orders.append(_sort_columns(json_text_term(least[number]), f"s{number}", sort.descending, listed))
        else:
            order = by_column[sort.column]
            page.orders.append(_Order(order.columns, sort.descending))
    page.orders.extend(by_column[n] for n, column in enumerate(query.columns) if not isinstance(column, op.Aggregation))
    page.select = f"SELECT {', '.join(listed)}{frame.body()}"
    if group_by:
        page.select += "\n GROUP BY " + ", ".join(group_by)
    return page


def _solutions(query: op.Query, frame: Frame, least: dict[int, str]) -> Frame:
    """A frame over the deduplicated solutions; sort keys outside the solution key come along as o0, o1, .."""
    listed = [f"{frame.key(name)} AS v{number}" for number, name in enumerate(query.key)]
    listed.extend(f"{text} AS o{number}" for number, text in least.items())
    word, tail = "SELECT DISTINCT", ""
    if least:
        word, tail = "SELECT", "\n GROUP BY " + ", ".join(frame.key(name) for name in query.key)
    cte = frame.assembly.alias("sol")
    frame.assembly.ctes.append(f"{cte} AS ({word} {', '.join(listed)}{frame.body()}{tail})")
    return frame.reading(cte, query.key)


def _group(
    scalar: op.Scalar, name: str, frame: Frame, listed: list[str], group_by: list[str], page: _Page, number: int
) -> _Order:
    found = term(scalar, frame)
    if isinstance(scalar, op.Element | op.PredicateName):
        listed.append(f"{found.value} AS {name}")
        group_by.append(found.value)
        page.keys[scalar.variable] = name
        return _Order((name,), False)
    listed.append(f"min({found.json}) AS {name}")
    page.finished[number] = name
    group_by.append(found.value)
    if not isinstance(found.rank, int):
        group_by.extend((found.rank_sql(), _exact_place(found)))
    return _sort_columns(found, name, False, listed)


def _aggregate(
    aggregation: op.Aggregation, name: str, frame: Frame, listed: list[str], page: _Page, number: int
) -> _Order:
    found = term(aggregation.operand, frame)
    page.finished[number] = name
    if aggregation.function == "COUNT":
        counted = _distinct_value(found) if aggregation.distinct else found.value
        listed.append(f"count({'DISTINCT ' if aggregation.distinct else ''}{counted}) AS {name}")
        return _Order((name,), False)
    text = f"kip_{aggregation.function.lower()}({found.json})"
    listed.append(f"{text} AS {name}")
    return _sort_columns(json_text_term(text), name, False, listed)


def _distinct_value(found: Term) -> str:
    """A value that is equal exactly for equal scalars: the type is kept apart by a prefix."""
    if found.is_element or isinstance(found.rank, int):
        return found.value
    number = f"coalesce({_exact_place(found)}, {found.value})"
    return f"CASE {found.rank_sql()} WHEN 1 THEN {number} ELSE {found.rank_sql()} || ':' || {found.value} END"


# --- assembly -----------------------------------------------------------------------------------


def _assemble(query: op.Query, assembly: Assembly, page: _Page, position: Position | None) -> Statement:
    limit = "" if query.limit is None else f"\nLIMIT {assembly.bind(query.limit, Codec.LIMIT)}"
    ordered = bool(query.order) or query.limit is not None
    order_by = _order_by(page.orders) if ordered and page.orders else ""
    after = f"\nWHERE {_after(page.orders, position, len(assembly.bindings) + 2)}" if position is not None else ""
    inner_order = order_by if limit else ""
    assembly.ctes.append(f"page AS (SELECT * FROM ({page.select}) AS page{after}{inner_order}{limit})")
    outer = Frame(assembly, dict(query.block.kinds))
    outer.join("page")
    for name, column in page.keys.items():
        outer.set_key(name, f"page.{column}")
    listed: list[str] = []
    shapes = [_project(column, number, outer, page, listed) for number, column in enumerate(query.columns)]
    place = [order.columns for order in page.orders] if query.limit is not None else []
    listed.extend(f"page.{column}" for columns in place for column in columns)
    text = f"{assembly.with_clause()}SELECT {', '.join(listed)}{outer.body()}{order_by}"
    return Statement(text, _referred(text, assembly.bindings), tuple(shapes), tuple(map(len, place)))


def _referred(text: str, bindings: list[Binding]) -> tuple[Binding, ...]:
    """Bindings up to the last one that the text refers to: a condition that is false beforehand binds in vain, and
    SQLite counts parameters by the highest number in the text. (Of a cursor's values all are referred to.)"""
    highest = max(int(number) for number in _PLACEHOLDER.findall(text))
    return tuple(bindings[: highest - 1])


_PLACEHOLDER = re.compile(r"\?(\d+)")


def _project(column: op.Column, number: int, outer: Frame, page: _Page, listed: list[str]) -> Shape:
    if number in page.finished:
        listed.append(f"page.{page.finished[number]}")
        is_count = isinstance(column, op.Aggregation) and column.function == "COUNT"
        return Shape.PLAIN if is_count else Shape.JSON
    assert not isinstance(column, op.Aggregation)
    if isinstance(column, op.PredicateName):
        listed.append(outer.key(column.variable))
        return Shape.PLAIN
    if isinstance(column, op.Element):
        return _project_element(column.variable, outer, listed)
    listed.append(term(column, outer).json)
    return Shape.JSON


_HEAD = ("attributes", "metadata", "version", "created_at", "updated_at")


def _project_element(variable: str, outer: Frame, listed: list[str]) -> Shape:
    kind = outer.kind(variable)
    listed.append(outer.key(variable))
    for name in _HEAD:
        column = outer.column(variable, name)
        listed.append(f"json({column})" if name in ("attributes", "metadata") else column)
    if kind != op.Kind.LINK:
        listed.extend(outer.column(variable, name) for name in ("type", "name"))
    if kind != op.Kind.CONCEPT:
        listed.append(outer.column(variable, "predicate"))
        for name in ("subject", "object"):
            listed.append(term(op.Field(variable, name), outer).value)
    return {op.Kind.CONCEPT: Shape.CONCEPT, op.Kind.LINK: Shape.LINK}.get(kind, Shape.ELEMENT)


def _order_by(orders: list[_Order]) -> str:
    parts: list[str] = []
    for order in orders:
        # In descending order SQLite puts NULL last by itself.
        ascending = "ASC NULLS LAST" if order.nullable else "ASC"
        parts.append(f"page.{order.columns[0]} {'DESC' if order.descending else ascending}")
        parts.extend(f"page.{column} {'DESC' if order.descending else 'ASC'}" for column in order.columns[1:])
    return "\nORDER BY " + ", ".join(parts)


def _after(orders: list[_Order], position: Position, first: int) -> str:
    """The condition of lying after the cursor in the total order; its values are bound from ``?first`` on."""
    branches: list[str] = []
    equal: list[str] = []
    number = first
    for order, known in zip(orders, position, strict=True):
        sign = "<" if order.descending else ">"
        for place, column in enumerate(order.columns):
            if place >= known:
                equal.append(f"{column} IS NULL")
                continue
            later = f"{column} {sign} ?{number}"
            if place == 0 and order.nullable:
                later = f"({later} OR {column} IS NULL)"
            branches.append("(" + " AND ".join([*equal, later]) + ")")
            equal.append(f"{column} = ?{number}")
            number += 1
    return " OR ".join(branches) or "0"
