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


def fts_all(terms: list[str]) -> str:
    """An FTS5 expression: all of the terms are held.

    Raises KIP_4003 for a term that is not plain ASCII letters and digits: nothing else may reach the index.
    """
    if not terms or not all(term.isascii() and term.isalnum() for term in terms):
        raise KipError("KIP_4003", "a search token is not encoded")
    # In quotes, because a bare word such as AND would be an operator.
    return " AND ".join(f'"{term}"' for term in terms)
