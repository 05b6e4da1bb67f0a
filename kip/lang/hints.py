from __future__ import annotations
from typing import NamedTuple


class Slip(NamedTuple):
    found: str
    hint: str
    code: str
    offset: int


def explain(kind: str, value: str, text: str, start: int, place: str) -> Slip:
    return Slip(repr(value[:40]), "", "KIP_1001", start)


def fallback(expected: str) -> str:
    return f"Put {expected} here."
