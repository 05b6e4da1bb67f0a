"""Tokens for keyword search, made once, in Python, for text and for queries alike (decision 9).

A token is a folded run of letters or digits; identifiers are also split at case changes; runs of CJK
characters give overlapping pairs. User text never becomes query syntax: only tokens reach the index,
and every character of a token that is not an ASCII letter or digit is encoded as such.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator

from kip.values import Json

MAX_TOKEN = 255
"""Longest token, in characters, before encoding."""

MAX_INDEXED_CHARACTERS = 20_000
"""How much of one text attribute is indexed."""

NAME_KEYS = ("aliases",)
"""Attributes that name the concept, beside its ``name``."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u1100-\u11ff\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+", re.UNICODE)
_CASE = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+", re.UNICODE)
_WORD = rf"[^\W_{_CJK}]"
# It starts where a run starts and gives nothing back, so that a long word is gone over once.
_COMPOUND = re.compile(rf"(?<!{_WORD}){_WORD}++(?:[_\-./:@#]{_WORD}++)+", re.UNICODE)
_JOINERS = str.maketrans("", "", "_-./:@#")
_IS_CJK = re.compile(rf"[{_CJK}]")


def tokens(text: str) -> Iterator[str]:
    """The tokens of a text, in order, repeats included."""
    plain = unicodedata.normalize("NFKC", text)
    yield from _compounds(plain)
    for match in _RUN.finditer(plain):
        yield from _run_tokens(match.group())


def _compounds(plain: str) -> Iterator[str]:
    """A compound such as OPS-4471 or api/v2 is also a token as a whole, so that its exact form ranks first."""
    for match in _COMPOUND.finditer(plain):
        yield _fold(match.group().translate(_JOINERS))


def _run_tokens(run: str) -> Iterator[str]:
    if _IS_CJK.match(run):
        if len(run) == 1:
            yield run
        for start in range(len(run) - 1):
            yield run[start : start + 2]
        return
    yield _fold(run)
    parts = _CASE.findall(run)
    if len(parts) > 1:
        for part in parts:
            yield _fold(part)


def _fold(word: str) -> str:
    return word.casefold()[:MAX_TOKEN]


def encode(token: str) -> str:
    """A token as ASCII letters and digits, one-to-one: what is not plain becomes ``z<hex>z``; z becomes ``zz``."""
    if token.isascii() and token.isalnum() and "z" not in token:
        return token
    return "".join(_encode_character(character) for character in token)


def _encode_character(character: str) -> str:
    if character == "z":
        return "zz"
    if character.isascii() and character.isalnum():
        return character
    return f"z{ord(character):x}z"


Texts = tuple[list[str], list[str]]
"""Grounding fields: texts that name an element, and its other texts."""


def concept_texts(name: str, attributes: dict[str, Json]) -> Texts:
    """The grounding fields of a concept (5.2.2): its name and aliases; all other top-level attributes that are
    strings or arrays of strings."""
    naming: list[str] = [name]
    other: list[str] = []
    for key, value in attributes.items():
        (naming if key in NAME_KEYS else other).extend(_strings(value))
    return naming, other


def link_texts(predicate: str, attributes: dict[str, Json]) -> Texts:
    """The grounding fields of a link: its predicate's name; its top-level text attributes."""
    return [predicate], [text for value in attributes.values() for text in _strings(value)]


def _strings(value: Json) -> Iterator[str]:
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, str):
            yield item[:MAX_INDEXED_CHARACTERS]


def present(wanted: Collection[str], text: str) -> set[str]:
    """Which of the tokens ``wanted`` are among the tokens of ``text``.

    Most are decided by looking at what stands around them; the text is tokenised only where that leaves a doubt (a
    part of an identifier, a compound).
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    folded = plain.casefold()
    if len(folded) != len(plain):
        # Folding has moved the characters (ß, ligatures): places in one text say nothing about the other.
        return set(wanted).intersection(tokens(text))
    found = set(_compounds(plain)).intersection(wanted)
    for token in wanted:
        standing = _standing(token, folded, plain) if token not in found else _INSIDE
        if standing == _WHOLE:
            found.add(token)
        elif standing == _PART:
            return set(wanted).intersection(tokens(text))
    return found


_WHOLE, _PART, _INSIDE = 2, 1, 0


def _standing(token: str, folded: str, plain: str) -> int:
    """How a token occurs: as a whole run of letters and digits (or a pair inside a CJK run), as what may be a part of
    an identifier, or only in the middle of other words."""
    best = _INSIDE
    at = folded.find(token)
    if at >= 0 and _IS_CJK.match(token):
        return _WHOLE if len(token) == 2 else _PART
    while at >= 0:
        end = at + len(token)
        sides = [_edge(plain, at), _edge(plain, end)]
        best = max(best, min(sides))
        if best == _WHOLE:
            return best
        at = folded.find(token, at + 1)
    return best


def _edge(plain: str, at: int) -> int:
    """Whether a run ends at this place, an identifier may be split here, or neither."""
    if at in (0, len(plain)):
        return _WHOLE
    left, right = plain[at - 1], plain[at]
    if not (left.isalnum() and right.isalnum()) or bool(_IS_CJK.match(left)) != bool(_IS_CJK.match(right)):
        return _WHOLE
    return _PART if _splits(plain, at) else _INSIDE


def _splits(plain: str, at: int) -> bool:
    """Whether an identifier is split before this place; the counterpart of _CASE."""
    left, right = plain[at - 1], plain[at]
    if left.isdecimal() or right.isdecimal():
        return left.isdecimal() != right.isdecimal()
    if not "A" <= right <= "Z":
        return False
    after = plain[at + 1 : at + 2]
    return not "A" <= left <= "Z" or (after.isalpha() and not "A" <= after <= "Z")
