"""META: DESCRIBE, SEARCH and EXPORT (SPECIFICATION.md 5)."""

from __future__ import annotations

from kip.lang import ast
from kip.lang.lexer import Tokens
from kip.lang.parse_kql import parse_cursor, parse_limit, parse_where
from kip.lang.parse_terms import parse_parameter, parse_text, parse_variable

SEARCH_MODES = ("keyword", "semantic", "hybrid")
_KINDS: dict[str, ast.ElementKind] = {"CONCEPT": "concept", "PROPOSITION": "proposition"}


def parse_describe(tokens: Tokens) -> ast.Describe:
    """One of the six DESCRIBE forms (5.1). Raises KIP_1001."""
    start = tokens.start
    tokens.advance()
    if tokens.take_word("PRIMER"):
        return ast.DescribePrimer(span=tokens.span(start))
    if tokens.take_word("DOMAINS"):
        return ast.DescribeDomains(span=tokens.span(start))
    kind = _parse_kind(tokens, "PRIMER, DOMAINS, CONCEPT or PROPOSITION", "describe")
    if tokens.take_word("TYPES"):
        limit = parse_limit(tokens)
        return ast.DescribeTypes(kind, limit, parse_cursor(tokens), span=tokens.span(start))
    if not tokens.is_word("TYPE"):
        raise tokens.unexpected("TYPE or TYPES", place="describe")
    tokens.keyword("TYPE")
    name = parse_text(tokens, "the name of the type")
    return ast.DescribeType(kind, name, span=tokens.span(start))


def _parse_kind(tokens: Tokens, expected: str, place: str) -> ast.ElementKind:
    kind = _KINDS.get(tokens.value) if tokens.kind == "word" else None
    if kind is None:
        raise tokens.unexpected(expected, place=place)
    tokens.keyword(tokens.value)
    return kind


def parse_search(tokens: Tokens) -> ast.Search:
    """``SEARCH CONCEPT|PROPOSITION "term" [WITH TYPE ..] [MODE ..] [THRESHOLD ..] [LIMIT ..]`` (5.2).

    Raises KIP_1001.
    """
    start = tokens.start
    tokens.advance()
    kind = _parse_kind(tokens, "CONCEPT or PROPOSITION", "search")
    term = parse_text(tokens, "the term to search for")
    type_name = parse_text(tokens, "the name of the type") if tokens.take_word("WITH", "TYPE") else None
    mode = _parse_mode(tokens) if tokens.take_word("MODE") else None
    threshold = _parse_threshold(tokens) if tokens.take_word("THRESHOLD") else None
    limit = parse_limit(tokens)
    return ast.Search(kind, term, type_name, mode, threshold, limit, span=tokens.span(start))


def _parse_mode(tokens: Tokens) -> ast.Literal | ast.Parameter:
    start = tokens.start
    mode = parse_text(tokens, "the mode")
    if isinstance(mode, ast.Literal) and mode.value not in SEARCH_MODES:
        raise tokens.fail(
            "there is no such search mode", hint='MODE is "keyword", "semantic" or "hybrid".', offset=start
        )
    return mode


def _parse_threshold(tokens: Tokens) -> ast.Literal | ast.Parameter:
    if tokens.kind == "parameter":
        return parse_parameter(tokens)
    start = tokens.start
    value = tokens.number() if tokens.kind == "number" else -1
    if not 0 <= value <= 1:
        raise tokens.unexpected("a number from 0 to 1, or a placeholder, after THRESHOLD", place="number")
    tokens.advance()
    return ast.Literal(value, span=tokens.span(start))


def parse_export(tokens: Tokens) -> ast.Export:
    """``EXPORT ?target WHERE {..} [LIMIT ..] [CURSOR ..]`` (5.3). Raises KIP_1001, KIP_1002, KIP_2003."""
    start = tokens.start
    tokens.keyword("EXPORT")
    target = parse_variable(tokens, "the variable to export")
    where = parse_where(tokens)
    limit = parse_limit(tokens)
    return ast.Export(target, where, limit, parse_cursor(tokens), span=tokens.span(start))
