"""Makes a command that fails smaller, as long as it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from kip.lang import ast, format, parse

MOST_ATTEMPTS = 600


def shrink(text: str, still_fails: Callable[[str], bool]) -> str:
    """The smallest command that is found by dropping one part after the other; ``text`` if none can go."""
    attempts = 0
    current = parse(text)
    again = True
    while again:
        again = False
        for candidate in smaller(current):
            attempts += 1
            if attempts > MOST_ATTEMPTS:
                return format(current)
            if still_fails(format(candidate)):
                current, again = candidate, True
                break
    return format(current) if attempts else text


def smaller(node: Any) -> Iterator[Any]:
    """The tree with one part less, for every part that can go or be replaced by something simpler."""
    yield from simpler(node)
    for part in fields(node):
        inner = getattr(node, part.name)
        if isinstance(inner, ast.Node):
            yield from (replace(node, **{part.name: less}) for less in smaller(inner))
        elif isinstance(inner, tuple):
            yield from (replace(node, **{part.name: less}) for less in shorter(inner, part.name == "order_by"))


def shorter(items: tuple[Any, ...], may_be_empty: bool) -> Iterator[tuple[Any, ...]]:
    """The items without one of them, or with one of them smaller."""
    for number, item in enumerate(items):
        before, after = items[:number], items[number + 1 :]
        if before or after or may_be_empty:
            yield (*before, *after)
        if isinstance(item, ast.Node):
            yield from ((*before, less, *after) for less in smaller(item))


def simpler(node: Any) -> Iterator[Any]:
    """Something simpler in the place of a node."""
    match node:
        case ast.Conjunction() | ast.Disjunction():
            yield from node.operands
        case ast.Negation():
            yield node.operand
        case ast.LinkClause(variable=str()):
            yield replace(node, variable=None)
        case ast.ConceptMatcher(type=ast.Node(), name=ast.Node()):
            yield replace(node, type=None)
            yield replace(node, name=None)
        case ast.PredicateNames(hops=ast.Hops()):
            yield replace(node, hops=None)
