"""Generated trees survive text: ``parse(format(tree)) == tree``."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from hypothesis import given

from kip.lang import ast, format, parameters_of, parse
from tests.property.strategies_lang import COMMANDS, VALUES


@given(COMMANDS)
def test_a_tree_is_read_back_equal_from_its_text(command: ast.Command) -> None:
    text = format(command)
    again = parse(text)
    assert again == command
    assert format(again) == text


@given(COMMANDS)
def test_spans_lie_inside_the_text_and_inside_their_parent(command: ast.Command) -> None:
    text = format(command)
    check_spans(parse(text), ast.Span(0, len(text)))


def check_spans(item: Any, outer: ast.Span) -> None:
    if isinstance(item, tuple):
        for part in item:
            check_spans(part, outer)
    if isinstance(item, ast.Node):
        assert outer.start <= item.span.start < item.span.end <= outer.end, item
        for field in fields(item):
            check_spans(getattr(item, field.name), item.span)


@given(VALUES)
def test_placeholders_are_collected_from_any_depth(value: ast.Value) -> None:
    matcher = ast.ConceptMatcher(id=ast.Literal("C:1"))
    block = ast.ConceptBlock(None, matcher, attributes=ast.ObjectValue((("k", value), ("last", ast.Parameter("last")))))
    command = ast.Upsert((ast.UpsertStatement((block,)),))
    assert parameters_of(command) == tuple(dict.fromkeys([*placeholders(value), "last"]))


def placeholders(value: ast.Value) -> list[str]:
    match value:
        case ast.Parameter():
            return [value.name]
        case ast.ArrayValue():
            return [name for item in value.items for name in placeholders(item)]
        case ast.ObjectValue():
            return [name for _, item in value.entries for name in placeholders(item)]
        case ast.Literal():
            return []
