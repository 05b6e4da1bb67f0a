"""The JSON value model of KIP (SPECIFICATION.md 2.7, decisions 2 and 4): checks, canonical text, order.

A KIP value is a plain Python value: ``None``, ``bool``, ``int`` of any size, finite ``float``, ``str``
without lone surrogates, ``list`` and ``dict`` with string keys.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import cmp_to_key
from typing import cast

from kip.errors import KipError

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

MAX_DEPTH = 128
"""Deepest nesting of arrays and objects in a value."""

MAX_INTEGER_DIGITS = 4000
"""Longest integer, in decimal digits; Python refuses to convert longer ones in linear time."""

NUMBER, STRING, BOOLEAN, COMPLEX = 1, 2, 3, 4
"""Ranks of the JSON types in the order across types (decision 2); null has none and sorts last."""


def check(value: object, where: str = "value") -> Json:
    """Return ``value`` if it is a KIP value, else raise KIP_2003 that names ``where``.

    Tuples are taken as arrays. Raises KIP_2003 for NaN, infinities, lone surrogates, non-string
    keys, other Python types and nesting past :data:`MAX_DEPTH`.
    """
    return _check(value, where, 0)


def _check(value: object, where: str, depth: int) -> Json:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return _check_text(value, where)
    if isinstance(value, int):
        return _check_integer(value, where)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise KipError(
                "KIP_2003", f"{where} is {value}, which JSON cannot hold", hint="Use a finite number or null."
            )
        return value
    if depth >= MAX_DEPTH:
        raise KipError("KIP_2003", f"{where} is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, (list, tuple)):
        return [_check(item, where, depth + 1) for item in cast(Iterable[object], value)]
    if isinstance(value, dict):
        entries = cast(dict[object, object], value).items()
        return {_check_key(key, where): _check(item, where, depth + 1) for key, item in entries}
    raise KipError("KIP_2003", f"{where} is a Python {type(value).__name__}, not a JSON value")


def _check_key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise KipError("KIP_2003", f"an object in {where} has the key {key!r}; keys are strings")
    return _check_text(key, where)


def _check_text(text: str, where: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise KipError(
            "KIP_2003",
            f"{where} holds half of a surrogate pair, which is not a character",
            hint="Replace damaged characters, for example with U+FFFD.",
        ) from None
    return text


def _check_integer(value: int, where: str) -> int:
    if value.bit_length() > MAX_INTEGER_DIGITS * 3:
        raise KipError("KIP_2003", f"{where} is an integer of more than about {MAX_INTEGER_DIGITS} digits")
    return value


def dumps(value: Json) -> str:
    """Canonical JSON text: keys sorted by code point, no blanks, characters unescaped where JSON lets them."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


_decode = json.JSONDecoder().raw_decode


def loads(text: str) -> Json:
    """The value of a JSON text that :func:`dumps` or a store wrote: without blanks around it."""
    return _decode(text)[0]


def rank(value: Json) -> int | None:
    """The type's place in the order across types; None for null."""
    if value is None:
        return None
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, (int, float)):
        return NUMBER
    if isinstance(value, str):
        return STRING
    return COMPLEX


def is_wide(value: Json) -> bool:
    """True for a number outside the 64-bit integers: a store may only hold it rounded beside its exact text."""
    return isinstance(value, (int, float)) and not -(2**63) <= value < 2**63


def equal(left: Json, right: Json) -> bool:
    """KIP ``==`` (decision 4): same JSON type and same value; null equals nothing, arrays and objects neither."""
    left_rank = rank(left)
    return left_rank is not None and left_rank == rank(right) and left_rank != COMPLEX and left == right


def less(left: Json, right: Json) -> bool:
    """KIP ``<``: numbers with numbers and strings with strings (by code point); anything else is false."""
    if rank(left) == NUMBER and rank(right) == NUMBER:
        return left < right  # type: ignore[operator]
    if isinstance(left, str) and isinstance(right, str):
        return left < right
    return False


def compare(left: Json, right: Json) -> int:
    """Negative, zero or positive: the total order of decision 2, null greater than everything."""
    left_rank, right_rank = rank(left), rank(right)
    if left_rank != right_rank:
        return (left_rank or 9) - (right_rank or 9)
    if left_rank is None:
        return 0
    if left_rank == COMPLEX:
        left, right = dumps(left), dumps(right)
    return (left > right) - (left < right)  # type: ignore[operator]


sort_key = cmp_to_key(compare)
"""A ``key=`` function that sorts values in the order of decision 2, ascending, null last."""
