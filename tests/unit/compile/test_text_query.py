"""Tokens of keyword search (decision 9)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kip.compile.text_query import MAX_TOKEN, concept_texts, encode, link_texts, present, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World", {"hello", "world"}),
        ("getUserDetails", {"getuserdetails", "get", "user", "details"}),
        ("HTTPServer2", {"httpserver2", "http", "server", "2"}),
        ("snake_case", {"snakecase", "snake", "case"}),
        ("OPS-4471", {"ops4471", "ops", "4471"}),
        ("src/app.py", {"srcapppy", "src", "app", "py"}),
        ("失效链接", {"失效", "效链", "链接"}),
        ("重跑sync-job7后", {"重跑", "sync", "job7", "job", "7", "syncjob7", "后"}),
        ("배포실패", {"배포", "포실", "실패"}),
        ("Straße", {"strasse"}),
        ("ﬁle ①", {"file", "1"}),
        ("", set()),
        ('* " AND NEAR( : ^', {"and", "near"}),
        ("🧠", set()),
    ],
)
def test_tokens(text: str, expected: set[str]) -> None:
    assert set(tokens(text)) == expected


def test_long_tokens_are_cut() -> None:
    assert {len(token) for token in tokens("x" * 1000)} == {MAX_TOKEN}


TEXT = st.text(st.characters(codec="utf-8"), max_size=60) | st.text("aAbBÉ01²٣_-./ßéz漢字かな배포 ", max_size=30)


@given(TEXT)
def test_encoded_tokens_are_plain(text: str) -> None:
    for token in tokens(text):
        assert encode(token).isascii()
        assert encode(token).isalnum()


@given(st.lists(st.text("azé漢1", min_size=1, max_size=6), min_size=2, max_size=2, unique=True))
def test_encoding_keeps_tokens_apart(pair: list[str]) -> None:
    assert encode(pair[0]) != encode(pair[1])


@given(TEXT, TEXT)
def test_present_is_what_tokenising_says(text: str, query: str) -> None:
    wanted = {*tokens(query), *(token[:2] for token in tokens(text)), *(token[1:] for token in tokens(text))} - {""}
    assert present(wanted, text) == wanted.intersection(tokens(text))


def test_grounding_fields() -> None:
    attributes = {
        "aliases": ["b", 1, "c"],
        "description": "d",
        "n": 5,
        "tags": ["x", {"no": "y"}],
        "nested": {"k": "z"},
    }
    assert concept_texts("a", attributes) == (["a", "b", "c"], ["d", "x"])
    assert link_texts("treats", {"note": "n", "m": None}) == (["treats"], ["n"])
