"""Placeholders of a command against the request's parameters (SPECIFICATION.md 6.1).

The places where a command holds placeholders are collected once per tree and kept as long as the tree lives.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import NamedTuple, cast

from kip.errors import KipError
from kip.lang import ast
from kip.lang.parse_meta import SEARCH_MODES


class Expectation(NamedTuple):
    """What a place takes: words for the error, and the test that the bound value must pass."""

    words: str
    accepts: Callable[[object], bool]


class Slot(NamedTuple):
    """One placeholder in one place; ``expectation`` is None where any JSON value fits."""

    name: str
    owner: str
    expectation: Expectation | None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _is_mode(value: object) -> bool:
    return value in SEARCH_MODES


def _instances_of(*types: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, types)


def _integers_from(least: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


_STRING = Expectation("a string", _instances_of(str))
_LIMIT = Expectation("an integer of 1 or more", _integers_from(1))
_VERSION = Expectation("an integer of 0 or more", _integers_from(0))
_SHARE = Expectation("a number from 0 to 1", _is_share)
_NUMBER = Expectation("a number", _is_number)
_MODE = Expectation(f"one of {', '.join(SEARCH_MODES)}", _is_mode)
_LIST = Expectation("an array", _instances_of(list, tuple))
_OBJECT = Expectation("an object", _instances_of(dict))

_EXPECTATIONS: dict[type[ast.Node], dict[str, tuple[str, Expectation]]] = {
    ast.ConceptMatcher: {"id": ("id", _STRING), "type": ("type", _STRING), "name": ("name", _STRING)},
    ast.LinkIdMatcher: {"id": ("id", _STRING)},
    ast.PredicateNames: {"names": ("the predicate", _STRING)},
    ast.PropositionEntry: {"predicate": ("the predicate", _STRING), "metadata": ("WITH METADATA", _OBJECT)},
    ast.In: {"values": ("the list of IN", _LIST)},
    ast.Find: {"limit": ("LIMIT", _LIMIT), "cursor": ("CURSOR", _STRING)},
    ast.ConceptBlock: {
        "expect_version": ("EXPECT VERSION", _VERSION),
        "attributes": ("SET ATTRIBUTES", _OBJECT),
        "metadata": ("WITH METADATA", _OBJECT),
    },
    ast.PropositionBlock: {
        "expect_version": ("EXPECT VERSION", _VERSION),
        "attributes": ("SET ATTRIBUTES", _OBJECT),
        "metadata": ("WITH METADATA", _OBJECT),
    },
    ast.UpsertStatement: {"metadata": ("WITH METADATA", _OBJECT)},
    ast.UpdateCall: {"arguments": ("an update expression", _NUMBER)},
    ast.Update: {
        "attributes": ("SET ATTRIBUTES", _OBJECT),
        "metadata": ("SET METADATA", _OBJECT),
        "limit": ("LIMIT", _LIMIT),
    },
    ast.DescribeTypes: {"limit": ("LIMIT", _LIMIT), "cursor": ("CURSOR", _STRING)},
    ast.DescribeType: {"name": ("the name of the type", _STRING)},
    ast.Search: {
        "term": ("the search term", _STRING),
        "type": ("WITH TYPE", _STRING),
        "mode": ("MODE", _MODE),
        "threshold": ("THRESHOLD", _SHARE),
        "limit": ("LIMIT", _LIMIT),
    },
    ast.Export: {"limit": ("LIMIT", _LIMIT), "cursor": ("CURSOR", _STRING)},
}


def parameters_of(command: ast.Command) -> tuple[str, ...]:
    """The names of the placeholders in a command, each once, in the order of the tree."""
    return tuple(dict.fromkeys(slot.name for slot in slots_of(command)))


def bind_check(command: ast.Command, parameters: Mapping[str, object]) -> None:
    """Check that every placeholder has a value of a type that its place takes.

    Args:
        command: a tree that :func:`kip.lang.parse` made.
        parameters: the values by name; names that the command does not use are ignored.

    Raises:
        KipError: KIP_1001 for a placeholder without a value, KIP_2003 for a value of a wrong type.
    """
    for name, owner, expectation in slots_of(command):
        if name not in parameters:
            raise KipError(
                "KIP_1001",
                f"the parameter :{name} has no value",
                hint=f'Pass it in the request: "parameters": {{"{name}": ..}}.',
            )
        if expectation is not None and not expectation.accepts(parameters[name]):
            raise KipError(
                "KIP_2003",
                f"the parameter :{name} does not fit {owner}, which takes {expectation.words}",
                hint=f'Pass {expectation.words} as "{name}".',
            )


_collected: dict[int, tuple[weakref.ref[ast.Node], tuple[Slot, ...]]] = {}


def slots_of(command: ast.Command) -> tuple[Slot, ...]:
    """All placeholders of a command with their places; walks the tree once and remembers."""
    key = id(command)
    known = _collected.get(key)
    if known is not None and known[0]() is command:
        return known[1]
    slots = _collect(command)

    def forget(_: weakref.ref[ast.Node]) -> None:
        _collected.pop(key, None)

    _collected[key] = (weakref.ref(command, forget), slots)
    return slots


def _collect(command: ast.Command) -> tuple[Slot, ...]:
    slots: list[Slot] = []
    pending: list[tuple[object, str, Expectation | None]] = [(command, "", None)]
    while pending:
        item, owner, expectation = pending.pop()
        if isinstance(item, ast.Parameter):
            slots.append(Slot(item.name, owner, expectation))
        elif isinstance(item, tuple):
            parts = cast("tuple[object, ...]", item)
            pending.extend((part, owner, expectation) for part in reversed(parts))
        elif isinstance(item, ast.Node):
            expected = _EXPECTATIONS.get(type(item), {})
            for name in reversed(_field_names(type(item))):
                owner, expectation = expected.get(name, ("", None))
                pending.append((getattr(item, name), owner, expectation))
    return tuple(slots)


@cache
def _field_names(node: type[ast.Node]) -> tuple[str, ...]:
    """The fields that may hold nodes; a literal's value is plain data and may be large."""
    return tuple(field.name for field in fields(node) if field.name not in ("span", "value"))
