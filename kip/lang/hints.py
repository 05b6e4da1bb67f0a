"""What was found in place of what was expected, and how to repair it.

Commands are mostly written by language models, which repair what they are told to repair. So each known slip has
a hint of its own: faults of a token (this module) and words of another language or of another place
(:mod:`kip.lang.slips`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from kip.lang import slips
from kip.lang.words import Found, trailing_comma

SHOWN = 40
"""Longest piece of the command that an error repeats."""

_ARITHMETIC = "KIP has no arithmetic operators; UPDATE computes with ADD, MUL, CLAMP and COALESCE."
_QUOTES = 'Strings stand in plain double quotes: "Aspirin".'
_unfinished_path = re.compile(r"\?[A-Za-z_][A-Za-z0-9_]*+(?:\.[A-Za-z_][A-Za-z0-9_]*+)*+\.(?:\.|\Z)").match


class Slip(NamedTuple):
    """What an error says about the token that does not fit; ``hint`` is empty when no slip is known."""

    found: str
    hint: str
    code: str
    offset: int


def explain(found: Found, expected: str, place: str) -> Slip:
    """Describe a token that does not fit where ``expected`` belongs."""
    fault = _FAULTS.get(found.kind)
    if fault is not None:
        return fault(found, place)
    hint = trailing_comma(found) or slips.by_place(found, expected, place)
    return Slip(_describe(found), hint, "KIP_1001", found.start)


def fallback(expected: str) -> str:
    """The hint where no slip is known."""
    return f"Write {expected} here."


def shorten(text: str) -> str:
    """The text, cut to what an error repeats."""
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def _describe(found: Found) -> str:
    match found.kind:
        case "end":
            return "the end of the text"
        case "string":
            return f'the string "{shorten(found.value)}"'
        case "number":
            return f"the number {shorten(found.value)}"
        case "variable":
            return f"?{shorten(found.value)}"
        case "parameter":
            return f":{shorten(found.value)}"
        case _:
            return f"'{shorten(found.value)}'"


# --- faults of a token --------------------------------------------------------------------------


def _bad_variable(found: Found, _: str) -> Slip:
    name = f"'{shorten(found.value)}'"
    if _unfinished_path(found.value):
        hint = "A path has no blanks and no empty parts: ?x.name, ?x.attributes.key, ?x.metadata.key."
        return Slip(f"the unfinished path {name}", hint, "KIP_1001", found.start)
    hint = "A variable is '?' and a letter or '_', then letters, digits or '_': ?side_effect."
    return Slip(f"the illegal variable {name}", hint, "KIP_1002", found.start)


def _bad_parameter(found: Found, _: str) -> Slip:
    hint = "A placeholder is ':' and a letter or '_', then letters, digits or '_': :limit."
    return Slip(f"the illegal placeholder '{shorten(found.value)}'", hint, "KIP_1002", found.start)


def _bad_word(found: Found, place: str) -> Slip:
    word = shorten(found.value)
    if place in ("key", "matcher key"):
        return Slip(
            f"the illegal key '{word}'", f'Quote a key that is no identifier: "{word}".', "KIP_1002", found.start
        )
    if place == "variable":
        hint = "A variable is '?' and a letter or '_', then letters, digits or '_': ?side_effect."
        return Slip(f"the illegal name '{word}'", hint, "KIP_1002", found.start)
    hint = slips.by_place(found, "", place) or f'If this is a string, quote it: "{word}".'
    return Slip(f"'{word}'", hint, "KIP_1001", found.start)


def _bad_number(found: Found, place: str) -> Slip:
    number = shorten(found.value)
    if place == "key":
        hint = f'Quote a key that is no identifier: "{number}".'
        return Slip(f"the illegal key '{number}'", hint, "KIP_1002", found.start)
    if place == "hops":
        hint = 'Hops are {m,n}, {m,} or {n} with whole numbers: "follows"{1,3}.'
        return Slip(f"'{number}'", hint, "KIP_1001", found.start)
    hint = "Numbers are JSON numbers: no leading zero or '+', digits on both sides of the point: 2, -0.5, 1e3."
    return Slip(f"the malformed number '{number}'", hint, "KIP_1001", found.start)


def _bad_string(found: Found, _: str) -> Slip:
    """A string that does not end on its line: the scan stopped at a control character or at the end."""
    body = re.compile(r'[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+').match(found.text, found.start + 1)
    assert body is not None  # it matches the empty text
    stop = body.end()
    character = found.text[stop : stop + 1]
    if character in ("", "\\"):
        return Slip("a string without its closing quote", "Close the string with '\"'.", "KIP_1001", found.start)
    name = {"\n": "a line break", "\r": "a line break", "\t": "a tab"}.get(character, "a control character")
    hint = "Inside a string write \\n, \\t or \\uXXXX; or close the string with '\"' before it."
    return Slip(f"{name} inside a string", hint, "KIP_1001", stop)


def _glued_word(found: Found, place: str) -> Slip:
    word = shorten(found.value)
    after = found.text[found.start + len(found.value)]
    if place in ("key", "matcher key"):
        hint = f"Put a colon after the key: {word}: .."
    elif after == "'":
        hint = _QUOTES
    elif after == '"':
        hint = f"Put a blank after {word}; or is a quote missing before it?"
    else:
        hint = f"Put a blank after {word}."
    return Slip(f"'{word}{after}' without a blank", hint, "KIP_1001", found.start)


def _bad_character(found: Found, place: str) -> Slip:
    character = found.value
    hint = _OPERATORS[character](found, place) if character in _OPERATORS else _CHARACTERS.get(character, "")
    name = f"'{character}'"
    if not character.isascii() or not character.isprintable():
        name, hint = _foreign_character(character)
    return Slip(name, hint or "This character has no place outside a string.", "KIP_1001", found.start)


def _foreign_character(character: str) -> tuple[str, str]:
    official = unicodedata.name(character, "a control character")
    name = f"U+{ord(character):04X} ({official})"
    plain = unicodedata.normalize("NFKC", character)
    if "QUOTATION" in official or "APOSTROPHE" in official or character in "＂＇":
        return name, _QUOTES
    if character == "\ufeff":
        return name, "Remove the byte order mark; the command is plain text."
    if character.isspace() or plain.isspace():
        return name, "Use plain blanks, tabs and line breaks outside strings."
    if plain != character and plain.isascii() and plain.isprintable():
        return name, f"Use the plain character '{plain}'."
    if character == "、":
        return name, "Use the plain character ','."
    return name, "Remove it; outside strings a command is plain ASCII text."


def _equals(found: Found, place: str) -> str:
    if place == "colon":
        return 'Put a colon between key and value: type: "Drug".'
    after = found.following(1)
    if after in (">", "<"):
        return f"The operator is written {after}=."
    if after == "~":
        return 'Use REGEX(?x.name, "pattern").'
    return "Equality is written with two signs: ==."


def _dash(found: Found, place: str) -> str:
    after = found.following(1)
    if place in ("value", "operand") and after.isalpha():
        return "A number is '-' and digits; JSON has no -Infinity."
    if after == "-":
        return "Comments begin with //."
    if after in (">", "["):
        return 'A link is written as a triple: (?a, "predicate", ?b).'
    return _ARITHMETIC


def _slash(found: Found, _: str) -> str:
    return "Comments begin with // and end with the line." if found.following(1) == "*" else _ARITHMETIC


def _star(_: Found, place: str) -> str:
    return "Name a variable: COUNT(?x), FIND(?x)." if place in ("aggregate", "projection") else _ARITHMETIC


def _dot(found: Found, _: str) -> str:
    if found.following(1) == ".":
        return "The dots of an example stand for text of your own; write it out."
    return "A path has no blanks: ?x.name, ?x.attributes.key."


def _dollar(found: Found, place: str) -> str:
    if place == "variable" or found.following(1) == "{":
        return "Variables begin with '?', placeholders with ':': ?x, :limit."
    return 'Names with $ are quoted, "$ConceptType"; placeholders are written :name.'


def _colon(_: Found, place: str) -> str:
    if place == "delete keys":
        return "Only the keys are named, without values."
    if place == "after value":
        return "Inside [..] stand values only; key: value pairs stand in {..}."
    return "A placeholder is a colon and a name without a blank: :name."


_OPERATORS: dict[str, Callable[[Found, str], str]] = {
    "=": _equals,
    "-": _dash,
    "/": _slash,
    "*": _star,
    ".": _dot,
    "$": _dollar,
    ":": _colon,
}

_CHARACTERS = {
    "'": _QUOTES,
    "`": _QUOTES,
    ";": "KIP has no semicolon: leave it out, and send each statement as a command of its own.",
    "#": "Comments begin with //.",
    "&": "AND is written &&.",
    "!": "Inequality is written !=.",
    "<": "Inequality is written !=.",
    "+": _ARITHMETIC,
    "%": _ARITHMETIC,
    "^": _ARITHMETIC,
    "@": "Placeholders are written :name.",
    "\\": "A backslash stands inside strings only.",
    "~": 'Use REGEX(?x.name, "pattern").',
    "\x00": "Remove the NUL character.",
}

_FAULTS: dict[str, Callable[[Found, str], Slip]] = {
    "bad variable": _bad_variable,
    "bad parameter": _bad_parameter,
    "bad word": _bad_word,
    "bad number": _bad_number,
    "bad string": _bad_string,
    "glued word": _glued_word,
    "bad character": _bad_character,
}
