"""Hostile text: whatever comes in, either a tree that formats and reads back, or a KipError with a place and a hint."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kip.errors import KipError
from kip.lang import ast, format, parse
from kip.lang.words import AGGREGATES, KEYWORDS, TESTS, UPDATE_FUNCTIONS
from tests.property.strategies_lang import COMMANDS

WORDS = (
    *(*sorted(KEYWORDS), *AGGREGATES, *TESTS, *UPDATE_FUNCTIONS, "id", "type", "name", "true", "null", "word"),
    *("?x", "?y.name", "?y.attributes.a", ":p", "0", "1", "-1", "0.5", "1e999", '"a"', '"treats"', '"\\u00e9"'),
    *("(", ")", "{", "}", "[", "]", ",", ":", "|", "||", "&&", "!", "==", "!=", "<", ">", "<=", ">="),
    *("=", "'", "“", "#", "//", "\n", "SELECT", "AND", "None", "a-b", "?1", ";"),
)
TEXTS = st.one_of(
    st.text(),
    st.text(alphabet=st.sampled_from("(){}[],:|&!=<>?.\"'\\/ \n\tFIND0123456789e+-_$\x00\ufeff\u00a0\ud800é")),
    st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=40).map("".join),
)


def check(text: str) -> None:
    try:
        command = parse(text)
    except KipError as error:
        check_error(error, text)
    else:
        assert parse(format(command)) == command


def check_error(error: KipError, text: str) -> None:
    assert error.code in ("KIP_1001", "KIP_1002", "KIP_2003")
    lines = text.split("\n")
    assert error.line in range(1, len(lines) + 1)
    assert error.column in range(1, len(lines[error.line - 1]) + 2)
    assert error.hint
    assert len(str(error)) + len(error.hint) < 600


@pytest.mark.fuzz
@settings(max_examples=1000)
@given(TEXTS)
def test_any_text(text: str) -> None:
    check(text)


@pytest.mark.fuzz
@settings(max_examples=500)
@given(COMMANDS, st.data())
def test_a_command_with_one_piece_cut_out_or_put_in(command: ast.Command, data: st.DataObject) -> None:
    text = format(command)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 5)))
    piece = data.draw(st.one_of(st.just(""), st.sampled_from(WORDS), st.text(max_size=3)))
    check(text[:start] + piece + text[end:])
