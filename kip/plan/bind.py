"""From syntax tree to plan: scopes, null rules, grouping and solution keys are decided here, once.

Implements SPECIFICATION.md 3.2-3.5 with decisions 2-4. The plan holds parameters unbound, so that the
same command text is bound once.
"""

from __future__ import annotations

from typing import assert_never

from kip.errors import KipError
from kip.lang import ast
from kip.plan import algebra as op
from kip.plan.conditions import bind_condition, bind_scalar, condition_variables
from kip.plan.rewrite import rewrite
from kip.plan.scope import Scope


def bind_find(find: ast.Find) -> op.Query:
    """The plan of a FIND.

    Raises KIP_3001 for a variable that WHERE does not bind, KIP_2002 for a field that no element has,
    KIP_1001 for a construct that the grammar admits but section 3 rules out.
    """
    binder = _Binder()
    block = binder.block(find.where, binder.scope)
    columns = tuple(_column(item, binder.scope) for item in find.projections)
    query = op.Query(
        block=block,
        columns=columns,
        key=_key(columns),
        distinct=True,
        order=tuple(_sort(key, find, columns, binder.scope) for key in find.order_by),
        limit=_value(find.limit),
        cursor=_value(find.cursor),
        schema_uses=tuple(binder.schema_uses),
    )
    return rewrite(query)


def bind_targets(
    where: tuple[ast.Clause, ...],
    targets: tuple[str, ...],
    limit: ast.Literal | ast.Parameter | None = None,
    cursor: ast.Literal | ast.Parameter | None = None,
) -> op.Query:
    """The plan that yields the ids of the distinct elements bound to ``targets`` (UPDATE, MERGE, DELETE, EXPORT).

    Raises as :func:`bind_find`; KIP_3001 when a target is not bound, KIP_2002 when it is a predicate name.
    """
    binder = _Binder()
    block = binder.block(where, binder.scope)
    columns: list[op.Column] = []
    for name in targets:
        scalar = bind_scalar(ast.Variable(name), binder.scope)
        if not isinstance(scalar, op.Element):
            raise KipError("KIP_2002", f"?{name} is a predicate name; the target must be a concept or a link")
        columns.append(op.Field(scalar.variable, "id"))
    query = op.Query(
        block=block,
        columns=tuple(columns),
        key=_key(tuple(columns)),
        distinct=True,
        limit=_value(limit),
        cursor=_value(cursor),
        schema_uses=tuple(binder.schema_uses),
    )
    return rewrite(query)


def _value(value: ast.Literal | ast.Parameter | None) -> op.Value | None:
    if value is None:
        return None
    return op.Const(value.value) if isinstance(value, ast.Literal) else op.Param(value.name)


def _column(item: ast.Projection, scope: Scope) -> op.Column:
    if isinstance(item, ast.Aggregate):
        return op.Aggregation(item.function, bind_scalar(item.argument, scope), item.distinct)
    return bind_scalar(item, scope)


def _key(columns: tuple[op.Column, ...]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for column in columns:
        scalar = column.operand if isinstance(column, op.Aggregation) else column
        if not isinstance(scalar, op.Const | op.Param):
            names[scalar.variable] = None
    return tuple(names)


def _sort(key: ast.SortKey, find: ast.Find, columns: tuple[op.Column, ...], scope: Scope) -> op.Sort:
    if key.expression in find.projections:
        index = find.projections.index(key.expression)
        return op.Sort(index, columns[index], key.descending)
    if isinstance(key.expression, ast.Aggregate):
        raise KipError(
            "KIP_3001",
            f"ORDER BY uses {key.expression.function}(..), which FIND does not return",
            hint="Put the same aggregate expression into FIND.",
        )
    return op.Sort(None, bind_scalar(key.expression, scope), key.descending)


class _Binder:
    """Walks one WHERE clause; collects the schema names that must be registered."""

    def __init__(self) -> None:
        self.scope = Scope()
        self.schema_uses: list[op.SchemaUse] = []

    def block(self, clauses: tuple[ast.Clause, ...], scope: Scope) -> op.Block:
        operators: list[op.Operator] = []
        waiting: list[ast.FilterClause] = []
        for clause in clauses:
            if isinstance(clause, ast.UnionClause):
                self._flush(waiting, operators, scope)
                self._union(clause, operators, scope)
            elif isinstance(clause, ast.FilterClause):
                # A FILTER may stand before the clause that binds its variables; then it waits for the segment's end.
                if all(scope.visible(name) for name in condition_variables(clause.condition)):
                    operators.append(op.Filter(bind_condition(clause.condition, scope)))
                else:
                    waiting.append(clause)
            else:
                self._clause(clause, operators, scope)
        self._flush(waiting, operators, scope)
        return _block(operators, scope)

    def _flush(self, waiting: list[ast.FilterClause], operators: list[op.Operator], scope: Scope) -> None:
        operators.extend(op.Filter(bind_condition(clause.condition, scope)) for clause in waiting)
        waiting.clear()

    def _clause(
        self,
        clause: ast.ConceptClause | ast.LinkClause | ast.NotClause | ast.OptionalClause,
        operators: list[op.Operator],
        scope: Scope,
    ) -> None:
        match clause:
            case ast.ConceptClause():
                self._concept(clause.matcher, scope.bind(clause.variable, op.Kind.CONCEPT), operators)
            case ast.LinkClause():
                self._link(clause.matcher, clause.variable, operators, scope)
            case ast.NotClause():
                operators.append(op.AntiJoin(self.block(clause.clauses, scope.inner(private=True))))
            case ast.OptionalClause():
                inner = scope.inner(private=False)
                block = self.block(clause.clauses, inner)
                introduces = tuple(name for name in inner.kinds if name not in scope.kinds)
                operators.append(op.LeftJoin(block, introduces))
                scope.adopt(inner)
            case _:
                assert_never(clause)

    def _union(self, clause: ast.UnionClause, operators: list[op.Operator], scope: Scope) -> None:
        branch_scope = scope.independent()
        branch = self.block(clause.clauses, branch_scope)
        first = operators[0] if len(operators) == 1 else None
        if isinstance(first, op.Union):
            union = op.Union(first.main, (*first.branches, branch))
        else:
            union = op.Union(_block(operators, scope) if operators else None, (branch,))
        operators[:] = [union]
        scope.adopt(branch_scope)

    def _concept(self, matcher: ast.ConceptMatcher, variable: str, operators: list[op.Operator]) -> None:
        if matcher.type is not None:
            self.schema_uses.append(op.SchemaUse("type", (_required(matcher.type),)))
        operators.append(
            op.ConceptMatch(
                variable,
                None if matcher.id is None else _required(matcher.id),
                None if matcher.type is None else _required(matcher.type),
                None if matcher.name is None else _required(matcher.name),
            )
        )

    def _link(
        self, matcher: ast.LinkMatcher, name: str | None, operators: list[op.Operator], scope: Scope
    ) -> str | None:
        """Adds the operators of a link matcher; returns the plan's name of the link variable, None for a walk."""
        if isinstance(matcher, ast.LinkIdMatcher):
            variable = scope.bind(name, op.Kind.LINK) if name else scope.anonymous(op.Kind.LINK)
            operators.append(op.LinkLookup(variable, _required(matcher.id)))
            return variable
        subject = self._endpoint(matcher.subject, operators, scope)
        predicate = matcher.predicate
        if isinstance(predicate, ast.Variable):
            predicate_variable = scope.bind(predicate.name, op.Kind.PREDICATE)
            target = self._endpoint(matcher.object, operators, scope)
            variable = scope.bind(name, op.Kind.LINK) if name else scope.anonymous(op.Kind.LINK)
            operators.append(op.LinkMatch(variable, subject, target, predicate_variable=predicate_variable))
            return variable
        target = self._endpoint(matcher.object, operators, scope)
        predicates = tuple(_required(item) for item in predicate.names)
        self.schema_uses.append(op.SchemaUse("predicate", predicates))
        hops = predicate.hops
        if hops is None or (hops.minimum, hops.maximum) == (1, 1):
            variable = scope.bind(name, op.Kind.LINK) if name else scope.anonymous(op.Kind.LINK)
            operators.append(op.LinkMatch(variable, subject, target, predicates))
            return variable
        if name is not None:
            raise _path_variable(f"?{name}")
        operators.append(op.Walk(subject, target, predicates, hops.minimum, hops.maximum))
        return None

    def _endpoint(self, endpoint: ast.Endpoint, operators: list[op.Operator], scope: Scope) -> str:
        match endpoint:
            case ast.Variable():
                return scope.bind(endpoint.name, op.Kind.ELEMENT)
            case ast.ConceptMatcher():
                variable = scope.anonymous(op.Kind.CONCEPT)
                self._concept(endpoint, variable, operators)
                return variable
            case ast.LinkIdMatcher() | ast.TripleMatcher():
                nested = self._link(endpoint, None, operators, scope)
                if nested is None:
                    raise _path_variable("an endpoint")
                return nested
            case _:
                assert_never(endpoint)


def _path_variable(what: str) -> KipError:
    return KipError(
        "KIP_1001",
        f"a path of several hops is not one link, so it cannot be bound to {what}",
        hint="Drop the link variable, or match single hops.",
    )


def _required(value: ast.Value) -> op.Value:
    if isinstance(value, ast.Literal):
        return op.Const(value.value)
    if isinstance(value, ast.Parameter):
        return op.Param(value.name)
    raise KipError("KIP_2003", "ids, types, names and predicates are strings")


def _block(operators: list[op.Operator], scope: Scope) -> op.Block:
    return op.Block(tuple(operators), tuple(scope.kinds.items()))
