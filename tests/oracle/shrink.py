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
        case ast.TripleMatcher():
            if not isinstance(node.predicate, ast.Variable) and node.predicate.hops is not None:
                yield replace(node, predicate=replace(node.predicate, hops=None))
    for part in fields(node):
        inner = getattr(node, part.name)
        if isinstance(inner, tuple):
            for number, item in enumerate(inner):
                if len(inner) > 1 or part.name == "order_by":
                    yield replace(node, **{part.name: (*inner[:number], *inner[number + 1 :])})
                if isinstance(item, ast.Node):
                    for simpler in smaller(item):
                        yield replace(node, **{part.name: (*inner[:number], simpler, *inner[number + 1 :])})
        elif isinstance(inner, ast.Node):
            for simpler in smaller(inner):
                yield replace(node, **{part.name: simpler})
