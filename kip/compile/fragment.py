"""The only place that quotes or escapes: identifiers on their way into statement text.

User values never come here: they travel as bound parameters. What does come here has passed the
identifier rule of SPECIFICATION.md 2.8.1, and is checked once more.
"""

from __future__ import annotations

import re

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


def fts_any(columns: str, tokens: list[str]) -> str:
    """An FTS5 expression: one of the columns (separated by blanks) holds at least one of the tokens.

    Raises KIP_4003 for a token that is not plain ASCII letters and digits: nothing else may reach the index.
    """
    if not tokens or not all(token.isascii() and token.isalnum() for token in tokens):
        raise KipError("KIP_4003", "a search token is not encoded")
    listed = " ".join(identifier(column) for column in columns.split(" "))
    return f"{{{listed}}} : ({' OR '.join(tokens)})"
