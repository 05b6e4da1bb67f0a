"""The only place that quotes or escapes: identifiers on their way into statement text.

User values never come here: they travel as bound parameters. What does come here has passed the
identifier rule of SPECIFICATION.md 2.8.1, and is checked once more.
"""

from __future__ import annotations

import re
from typing import Literal

from kip.errors import KipError

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def identifier(name: str) -> str:
    """``name`` itself if it is a KIP identifier; raises KIP_1002 otherwise."""
    if _IDENTIFIER.fullmatch(name) is None:
        raise KipError("KIP_1002", f"{name!r} is not an identifier")
    return name


def json_path(key: str) -> str:
    """The SQL literal of the JSON path to a top-level key."""
    return f"'$.\"{identifier(key)}\"'"


def fts_terms(columns: str, terms: list[str], joined: Literal["AND", "OR"]) -> str:
    """An FTS5 expression: the columns (separated by blanks) hold all, or at least one, of the terms.

    Raises KIP_4003 for a term that is not plain ASCII letters and digits: nothing else may reach the index.
    """
    if not terms or not all(term.isascii() and term.isalnum() for term in terms):
        raise KipError("KIP_4003", "a search token is not encoded")
    listed = " ".join(identifier(column) for column in columns.split(" "))
    return f"{{{listed}}} : ({f' {joined} '.join(terms)})"
