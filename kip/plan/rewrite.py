"""Rewrites of a bound plan: an ordered tuple of pure functions (RULES), each keeping the plan's meaning."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import cast

from kip.plan import algebra as op


def rewrite(query: op.Query) -> op.Query:
    """The query after all rules."""
    for rule in RULES:
        query = rule(query)
    return query


def scalar_variables(scalar: op.Scalar) -> tuple[str, ...]:
    """The variable a scalar reads, if any."""
    return () if isinstance(scalar, op.Const | op.Param) else (scalar.variable,)


def condition_variables(condition: op.Condition) -> Iterator[str]:
    """Plan names of all variables that a condition reads."""
    match condition:
        case op.Equal() | op.Less():
            yield from scalar_variables(condition.left)
            yield from scalar_variables(condition.right)
        case op.Member() | op.IsNull():
            yield from scalar_variables(condition.operand)
        case op.TextTest():
            yield from scalar_variables(condition.subject)
            yield from scalar_variables(condition.pattern)
        case op.Not():
            yield from condition_variables(condition.operand)
        case op.And() | op.Or():
            for item in condition.operands:
                yield from condition_variables(item)


def operator_variables(operator: op.Operator) -> Iterator[str]:
    """Plan names of all variables that an operator reads or binds, those inside its blocks included."""
    match operator:
        case op.ConceptMatch() | op.LinkLookup():
            yield operator.variable
        case op.LinkMatch():
            yield from (operator.variable, operator.subject, operator.object)
            if operator.predicate_variable is not None:
                yield operator.predicate_variable
        case op.Walk():
            yield from (operator.subject, operator.object)
        case op.Filter():
            yield from condition_variables(operator.condition)
        case op.AntiJoin() | op.LeftJoin():
            for inner in operator.block.operators:
                yield from operator_variables(inner)
        case op.Union():
            for block in (operator.main, *operator.branches):
                for inner in block.operators if block else ():
                    yield from operator_variables(inner)


# --- rules --------------------------------------------------------------------------------------


def _on_blocks(change: Callable[[op.Block], op.Block]) -> Callable[[op.Query], op.Query]:
    """Apply a block rule to every block, innermost first."""

    def visit(block: op.Block) -> op.Block:
        operators: list[op.Operator] = []
        for operator in block.operators:
            if isinstance(operator, op.AntiJoin | op.LeftJoin):
                operators.append(replace(operator, block=visit(operator.block)))
            elif isinstance(operator, op.Union):
                main = visit(operator.main) if operator.main else None
                operators.append(op.Union(main, tuple(visit(branch) for branch in operator.branches)))
            else:
                operators.append(operator)
        return change(replace(block, operators=tuple(operators)))

    return lambda query: replace(query, block=visit(query.block))


def walks_last(block: op.Block) -> op.Block:
    """Joins commute: within a run of patterns and filters, walks start after what can anchor them."""
    operators: list[op.Operator] = []
    run: list[op.Operator] = []
    for operator in block.operators:
        if isinstance(operator, op.AntiJoin | op.LeftJoin | op.Union):
            operators.extend(_order_run(run))
            run = []
            operators.append(operator)
        else:
            run.append(operator)
    operators.extend(_order_run(run))
    return replace(block, operators=tuple(operators))


def _order_run(run: list[op.Operator]) -> list[op.Operator]:
    walks = [item for item in run if isinstance(item, op.Walk)]
    if not walks:
        return run
    patterns = [item for item in run if not isinstance(item, op.Walk | op.Filter)]
    filters = [item for item in run if isinstance(item, op.Filter)]
    anchored = {name for item in patterns for name in operator_variables(item)}
    open_ends = {name for walk in walks for name in (walk.subject, walk.object)} - anchored
    early = [item for item in filters if not open_ends.intersection(operator_variables(item))]
    late = [item for item in filters if item not in early]
    return [*patterns, *early, *_chain(walks, anchored), *late]


def _chain(walks: list[op.Walk], anchored: set[str]) -> list[op.Walk]:
    """Walks in an order in which each is anchored by what came before, where that is possible."""
    ordered: list[op.Walk] = []
    rest = list(walks)
    known = set(anchored)
    while rest:
        chosen = next((walk for walk in rest if {walk.subject, walk.object} & known), rest[0])
        rest.remove(chosen)
        ordered.append(chosen)
        known.update((chosen.subject, chosen.object))
    return ordered


_Rule = tuple[frozenset[str], frozenset[str]]


def needs_distinct(query: op.Query) -> op.Query:
    """Solutions need no deduplication where the solution key determines every variable of the block."""
    found = list(_determinations(query.block))
    rules = [rule for rule in found if rule is not None]
    if len(rules) < len(found):
        return query
    determined = _closure(set(query.key), rules)
    bound = {name for name, _ in query.block.kinds}
    return replace(query, distinct=not bound <= determined)


def _determinations(block: op.Block) -> Iterator[_Rule | None]:
    """Functional dependencies (left side determines right side); None where rows may repeat anyway."""
    for operator in block.operators:
        match operator:
            case op.ConceptMatch():
                if operator.id is not None or (operator.type is not None and operator.name is not None):
                    yield frozenset(), frozenset({operator.variable})
            case op.LinkLookup():
                yield frozenset(), frozenset({operator.variable})
            case op.LinkMatch():
                yield from _link_determinations(operator)
            case op.LeftJoin():
                yield from _optional_determinations(operator)
            case op.Union():
                yield None
            case op.Walk() | op.Filter() | op.AntiJoin():
                pass


def _optional_determinations(optional: op.LeftJoin) -> Iterator[_Rule | None]:
    """What an OPTIONAL introduces may be null, and then says nothing about what stands outside. It is determined by
    the outer variables where these leave the block one match at most; and a part of it by another part, since they
    are null together."""
    introduced = frozenset(optional.introduces)
    inner = list(_determinations(optional.block))
    seen = frozenset(name for item in optional.block.operators for name in operator_variables(item)) - introduced
    rules = [rule for rule in inner if rule is not None]
    if len(rules) == len(inner) and introduced <= _closure(set(seen), rules):
        yield seen, introduced
    for left, right in rules:
        if left and left <= introduced:
            yield left, right & introduced


def _closure(determined: set[str], rules: list[_Rule]) -> set[str]:
    """Everything that some variables determine by the rules."""
    grown = True
    while grown:
        grown = False
        for left, right in rules:
            if left <= determined and not right <= determined:
                determined |= right
                grown = True
    return determined


def _link_determinations(link: op.LinkMatch) -> Iterator[_Rule]:
    ends = {link.subject, link.object}
    if link.predicate_variable is not None:
        yield frozenset({link.variable}), frozenset(ends | {link.predicate_variable})
        yield frozenset(ends | {link.predicate_variable}), frozenset({link.variable})
        return
    yield frozenset({link.variable}), frozenset(ends)
    if len(link.predicates) == 1:
        yield frozenset(ends), frozenset({link.variable})


def inputs(query: op.Query) -> op.Query:
    """Collect the names of all parameters and the regular expressions, in order of appearance."""
    names: dict[str, None] = {}
    patterns: dict[op.Value, None] = {}
    pending: list[object] = [query]
    while pending:
        item = pending.pop()
        if isinstance(item, op.Param):
            names[item.name] = None
        elif isinstance(item, tuple):
            pending.extend(reversed(cast(tuple[object, ...], item)))
        else:
            pending.extend(getattr(item, name) for name in _field_names(type(item)))
        if isinstance(item, op.TextTest) and item.function == "REGEX" and isinstance(item.pattern, op.Const | op.Param):
            patterns[item.pattern] = None
    return replace(query, parameters=tuple(names), patterns=tuple(patterns))


def never_null(query: op.Query) -> op.Query:
    """Variables of patterns that stand in the top block itself are bound in every solution."""
    patterns = (op.ConceptMatch, op.LinkMatch, op.LinkLookup, op.Walk)
    bound = (name for item in query.block.operators if isinstance(item, patterns) for name in operator_variables(item))
    return replace(query, never_null=frozenset(bound))


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """The fields of a plan node, last first; none for plain values."""
    return tuple(field.name for field in reversed(fields(kind))) if is_dataclass(kind) else ()


def identify(query: op.Query) -> op.Query:
    """Short hashes of what the query asks: without, and with, page size and position."""
    asked = repr((query.block, query.columns, query.order))
    whole = repr((asked, query.limit, query.cursor))
    return replace(query, fingerprint=_digest(asked), identity=_digest(whole))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()


RULES: tuple[Callable[[op.Query], op.Query], ...] = (
    _on_blocks(walks_last),
    needs_distinct,
    inputs,
    never_null,
    identify,
)
