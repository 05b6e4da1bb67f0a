"""The public entry: command text to syntax tree (SPECIFICATION.md 2-5)."""

from __future__ import annotations

from kip.errors import KipError
from kip.lang import ast
from kip.lang.lexer import Tokens, refuse_surrogates
from kip.lang.parse_kml import parse_delete, parse_merge, parse_update, parse_upsert
from kip.lang.parse_kql import parse_find
from kip.lang.parse_meta import parse_describe, parse_export, parse_search
from kip.lang.words import STATEMENTS

_PARSERS = {
    "FIND": parse_find,
    "UPSERT": parse_upsert,
    "UPDATE": parse_update,
    "MERGE": parse_merge,
    "DELETE": parse_delete,
    "DESCRIBE": parse_describe,
    "SEARCH": parse_search,
    "EXPORT": parse_export,
}


def parse(text: str) -> ast.Command:
    """The syntax tree of one command text.

    Args:
        text: one statement, or a capsule of several UPSERT statements.

    Raises:
        KipError: KIP_1001 for text outside the grammar, KIP_1002 for an illegal identifier, KIP_2003 for a
            number or string that JSON cannot hold. It carries line, column and a hint.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers pass JSON
        raise KipError(
            "KIP_1001", f"a command is text, not {type(text).__name__}", hint="Pass the command as a string."
        )
    refuse_surrogates(text)
    tokens = Tokens(text)
    try:
        return _parse_command(tokens)
    except RecursionError:
        # The caller's own stack was nearly used up; the nesting limit alone cannot prevent this.
        raise tokens.too_deep() from None


def _parse_command(tokens: Tokens) -> ast.Command:
    start = tokens.start
    if tokens.take_word("EXPLAIN"):
        return ast.Explain(_parse_statement(tokens), span=tokens.span(start))
    return _parse_statement(tokens)


def _parse_statement(tokens: Tokens) -> ast.Find | ast.Kml | ast.Describe | ast.Search | ast.Export:
    statement = _PARSERS.get(tokens.value) if tokens.kind == "word" else None
    if statement is None:
        raise tokens.unexpected(f"a statement ({', '.join(STATEMENTS)})", place="statement")
    first = tokens.value
    command = statement(tokens)
    if tokens.kind != "end":
        raise tokens.unexpected(f"the end of the {first} statement", place=f"end of {first}")
    return command
