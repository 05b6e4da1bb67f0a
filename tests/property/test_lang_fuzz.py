"""Hostile text: whatever comes in, either a tree that formats and reads back, or a KipError with a place and a hint."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kip.errors import KipError
from kip.lang import ast, format, parse
from tests.property.strategies_lang import COMMANDS

WORDS = (
    "FIND UPSERT UPDATE MERGE DELETE DESCRIBE SEARCH EXPORT WHERE FILTER NOT OPTIONAL UNION ORDER BY ASC DESC LIMIT "
    "CURSOR COUNT SUM DISTINCT IN IS_NULL CONTAINS CONCEPT PROPOSITION SET ATTRIBUTES PROPOSITIONS METADATA WITH EXPECT "
    "VERSION FROM DETACH INTO PRIMER DOMAINS TYPES TYPE MODE THRESHOLD ADD CLAMP id type name true false null ?x ?y.name "
    '?y.attributes.a :p 0 1 -1 0.5 1e999 "a" "treats" "\\u00e9" ( ) { } [ ] , : | || && ! == != < > <= >= = \' “ # // \n'
).split(" ")
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
        assert error.code in ("KIP_1001", "KIP_1002", "KIP_2003")
        assert error.line is not None
        assert error.column is not None
        lines = text.split("\n")
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1
        assert error.hint
        assert len(str(error)) + len(error.hint) < 600
    else:
        assert parse(format(command)) == command


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
