"""Small talk, lasting statements, verdicts: the word rules of formation."""

from __future__ import annotations

import pytest

from kip.memory.speech import (
    content_words,
    durable_signal,
    is_small_talk,
    topical_words,
    verdict_signal,
    without_function_words,
    words,
)


@pytest.mark.parametrize(
    "text", ["Hi!", "Hello, how are you?", "thanks a lot", "ok", "haha yes", "Nice weather today", "", "...", "👍"]
)
def test_small_talk(text: str) -> None:
    assert is_small_talk(text)
    assert durable_signal(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "I always prefer dark mode.",
        "My deadline is Friday",
        "From now on call me Ada",
        "Ana works at Acme",
        "No, that is wrong",
        "Invoice 40012 was paid",
        "请记住我喜欢深色模式",
        "write to ada@example.org",
    ],
)
def test_lasting_statements(text: str) -> None:
    assert durable_signal(text)


@pytest.mark.parametrize("text", ["What is the capital of France?", "Could you explain recursion to me?"])
def test_a_question_states_nothing(text: str) -> None:
    assert not is_small_talk(text)
    assert durable_signal(text) is None


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("That worked, thank you", True),
        ("problem solved", True),
        ("that's not right", False),
        ("You misunderstood", False),
        ("not what I asked for", False),
        ("Please also book a seat", None),
    ],
)
def test_verdicts(text: str, verdict: bool | None) -> None:
    assert verdict_signal(text) is verdict


def test_words_of_scripts_without_blanks_are_pairs() -> None:
    assert words("重新跑了") == ["重新", "新跑", "跑了"]
    assert words("Don’t PANIC") == ["don't", "panic"]


def test_content_words_drop_function_words_only() -> None:
    assert content_words("I want to cancel the 2 reservations") == ["cancel", "2", "reservations"]
    assert topical_words("Hi, cancel it") == ["cancel"]
    assert topical_words("hello") == ["hello"]


def test_a_search_text_keeps_the_spelling_of_what_it_keeps() -> None:
    assert without_function_words("You want to fix OPS-4471 in the (API).") == "fix OPS-4471 (API)."
    assert without_function_words("to be or not to be") == "to be or not to be"
