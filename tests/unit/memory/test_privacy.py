"""What must not be stored: secrets, private reasoning, damaged characters (decision 27, bugs D09)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kip.memory.privacy import (
    RATIONALE_LIMIT,
    REPLACEMENT,
    Tally,
    first_sentence,
    redact,
    redact_value,
    repair,
    without_reasoning,
)

# Made of pieces, so that no scanner takes this file for a leak.
SECRETS = {
    "openai key": ("use {} now", "sk-" + "a1B2" * 8),
    "github token": ("clone with {}", "ghp_" + "0123456789" * 3),
    "aws key id": ("key {} denied", "AKIA" + "ABCDEFGHIJ123456"),
    "bearer": ("Authorization: Bearer {}", "abcDEF123456.xyz"),
    "basic": ("authorization: basic {}", "dXNlcjpwYXNz"),
    "jwt": ("cookie {}", "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl"),
    "assignment": ("export DB_PASSWORD={}", "hunter22"),
    "quoted": ('{{"api_key": "{}"}}', "plainwords"),
    "escaped json": ('{{\\"client_secret\\": \\"{}\\"}}', "plainwords"),
    "camel case": ("accessToken={}", "qwertz"),
    "option": ("mysql --password {} -u root", "letmein"),
    "prose": ("my password is {}", "s3cret!x"),
    "colon": ("token: {}", "9f8e7d6c"),
    "url": ("postgres://app:{}@db.internal/orders", "p4ss"),
    "private key": ("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", "MIIEow"),
    "cut private key": ("-----BEGIN PRIVATE KEY-----\n{}", "MIIEvQ"),
}


@pytest.mark.parametrize(("frame", "secret"), SECRETS.values(), ids=SECRETS)
def test_a_secret_is_replaced_and_counted(frame: str, secret: str) -> None:
    tally = Tally()
    text = redact(frame.format(secret), tally)
    assert secret not in text
    assert REPLACEMENT in text
    assert tally.secrets == 1


@pytest.mark.parametrize(
    "text",
    [
        "The token: expired yesterday",
        "the password is wrong",
        "max_tokens=4096 and total_tokens: 17",
        "task_assignment_of_the_week is a name",
        "see https://example.org/path:8080",
        "forgot my password",
        "no secrets here",
        "the keyboard, the monkey and the tokenizer",
    ],
)
def test_prose_about_secrets_stays(text: str) -> None:
    tally = Tally()
    assert redact(text, tally) == text
    assert tally.secrets == 0


def test_values_under_secret_keys_go_and_their_neighbours_stay() -> None:
    tally = Tally()
    value = {"user": "ada", "password": "x", "auth": {"accessToken": "abc", "token_type": "jwt"}, "tokens": 12}
    assert redact_value(value, tally) == {
        "user": "ada",
        "password": REPLACEMENT,
        "auth": {"accessToken": REPLACEMENT, "token_type": "jwt"},
        "tokens": 12,
    }
    assert tally.secrets == 2


@given(st.text())
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text, Tally())
    again = Tally()
    assert redact(once, again) == once
    assert again.secrets == 0


def test_redaction_is_linear_in_hostile_text() -> None:
    for piece in ("a-", "password=", "sk-", "eyJ", "token: ", "://a:", "-----BEGIN "):
        redact(piece * 100_000, Tally())  # the test's own time limit is the assertion


@pytest.mark.parametrize(
    ("damaged", "whole", "count"),
    [
        ("ok \ud83d", "ok \ufffd", 1),
        ("a\0b", "a\ufffdb", 1),
        ("\udc00x\ud800y", "\ufffdx\ufffdy", 2),
        ("\ud83d\ude00", "😀", 0),
        ("already \ufffd", "already \ufffd", 0),
        ("\ufffd\ud800", "\ufffd\ufffd", 1),
        ("plain", "plain", 0),
    ],
)
def test_damage_becomes_the_replacement_character(damaged: str, whole: str, count: int) -> None:
    tally = Tally()
    assert repair(damaged, tally) == whole
    assert tally.characters == count


@given(st.text(st.characters(codec=None)))
def test_repaired_text_can_always_be_stored(text: str) -> None:
    fixed = repair(text, Tally())
    fixed.encode("utf-8")
    assert "\0" not in fixed
    if "\0" not in text and not any(0xD800 <= ord(character) < 0xE000 for character in text):
        assert fixed == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>they must not know</think>Sure.", "Sure."),
        ("A<Reasoning>x\ny</Reasoning>B", "AB"),
        ("Done. <thinking>cut off in the mid", "Done."),
        ("a < b and b > c", "a < b and b > c"),
    ],
)
def test_private_reasoning_is_cut(text: str, left: str) -> None:
    assert without_reasoning(text) == left


def test_of_a_thought_the_first_sentence_stays() -> None:
    assert first_sentence("Check the target. Then I will scheme.") == "Check the target."
    assert first_sentence("One line\nanother") == "One line"
    assert first_sentence("") == ""
    assert len(first_sentence("word " * 200)) <= RATIONALE_LIMIT
