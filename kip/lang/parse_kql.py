"""KQL: FIND, WHERE and the solution modifiers (SPECIFICATION.md 3.1, 3.4, 3.5)."""

from __future__ import annotations

from kip.lang import ast
from kip.lang.lexer import Tokens
from kip.lang.parse_filter import parse_condition
from kip.lang.parse_terms import (
    parse_concept_matcher,
    parse_link_matcher,
    parse_parameter,
    parse_projection,
    parse_text,
    parse_variable,
)


def parse_find(tokens: Tokens) -> ast.Find:
    """``FIND(..) WHERE {..} ORDER BY .. LIMIT .. CURSOR ..``. Raises KIP_1001, KIP_1002, KIP_2003."""
    start = tokens.start
    tokens.advance()
    opened = tokens.start
    tokens.expect("(", "'(' after FIND", hint="Write FIND(?x, ?y.name) WHERE { .. }.")
    projections = [parse_projection(tokens, "a variable, path or aggregate")]
    while tokens.take(","):
        projections.append(parse_projection(tokens, "a variable, path or aggregate"))
    tokens.close(")", opened, "',' or ')'", place="after projection")
    where = parse_where(tokens)
    order_by = _parse_order_by(tokens)
    limit = parse_limit(tokens)
    cursor = parse_cursor(tokens)
    return ast.Find(tuple(projections), where, order_by, limit, cursor, span=tokens.span(start))


def _parse_order_by(tokens: Tokens) -> tuple[ast.SortKey, ...]:
    if not tokens.take_word("ORDER", "BY"):
        return ()
    keys = [_parse_sort_key(tokens)]
    while tokens.take(","):
        keys.append(_parse_sort_key(tokens))
    return tuple(keys)


def _parse_sort_key(tokens: Tokens) -> ast.SortKey:
    start = tokens.start
    expression = parse_projection(tokens, "a variable, path or aggregate to sort by")
    descending = tokens.take_word("DESC")
    if not descending:
        tokens.take_word("ASC")
    return ast.SortKey(expression, descending, span=tokens.span(start))


def parse_limit(tokens: Tokens) -> ast.Literal | ast.Parameter | None:
    """``LIMIT n`` with n of 1 or more, ``LIMIT :name``, or nothing (3.5). Raises KIP_1001."""
    if not tokens.take_word("LIMIT"):
        return None
    if tokens.kind == "parameter":
        return parse_parameter(tokens)
    return parse_integer(tokens, 1, "LIMIT")


def parse_integer(tokens: Tokens, least: int, after: str) -> ast.Literal:
    """An integer of ``least`` or more. Raises KIP_1001."""
    start = tokens.start
    value = tokens.number() if tokens.kind == "number" else None
    if not isinstance(value, int) or value < least:
        raise tokens.unexpected(f"an integer of {least} or more, or a placeholder, after {after}", place="integer")
    tokens.advance()
    return ast.Literal(value, span=tokens.span(start))


def parse_cursor(tokens: Tokens) -> ast.Literal | ast.Parameter | None:
    """``CURSOR "token"``, ``CURSOR :name``, or nothing (3.5). Raises KIP_1001."""
    if not tokens.take_word("CURSOR"):
        return None
    start = tokens.start
    cursor = parse_text(tokens, "the token")
    if isinstance(cursor, ast.Literal) and cursor.value == "":
        raise tokens.fail(
            "the cursor is empty",
            hint="Leave CURSOR out for the first page; then pass next_cursor as it came.",
            offset=start,
        )
    return cursor


# --- WHERE (3.4) --------------------------------------------------------------------------------


def parse_where(tokens: Tokens) -> tuple[ast.Clause, ...]:
    """``WHERE { clauses }``. Raises KIP_1001, KIP_1002, KIP_2003."""
    tokens.keyword("WHERE", hint="A WHERE { .. } block must follow here.")
    return _parse_block(tokens, "WHERE")


def _parse_block(tokens: Tokens, owner: str) -> tuple[ast.Clause, ...]:
    opened = tokens.start
    tokens.nest()
    tokens.expect("{", f"'{{' after {owner}", place="block", hint=f"The clauses of {owner} stand in braces.")
    clauses: list[ast.Clause] = []
    while tokens.kind != "}":
        if tokens.kind == "end":
            tokens.close("}", opened, f"a clause or '}}' of {owner}")
        clauses.append(_parse_clause(tokens))
    if not clauses:
        raise tokens.fail(
            f"the {owner} block is empty",
            hint='Give at least one clause, for example ?x {type: "Person"}.',
            offset=opened,
        )
    tokens.advance()
    tokens.depth -= 1
    return tuple(clauses)


def _parse_clause(tokens: Tokens) -> ast.Clause:
    start = tokens.start
    if tokens.kind == "variable":
        return _parse_named_clause(tokens)
    if tokens.kind == "(":
        matcher = parse_link_matcher(tokens, exact=False)
        return ast.LinkClause(None, matcher, span=tokens.span(start))
    if tokens.kind == "word":
        if tokens.value == "FILTER":
            return _parse_filter(tokens)
        block = _BLOCKS.get(tokens.value)
        if block is not None:
            owner = tokens.value
            tokens.advance()
            clauses = _parse_block(tokens, owner)
            return block(clauses, span=tokens.span(start))
    raise tokens.unexpected("a clause", place="clause")


_BLOCKS = {"NOT": ast.NotClause, "OPTIONAL": ast.OptionalClause, "UNION": ast.UnionClause}


def _parse_named_clause(tokens: Tokens) -> ast.ConceptClause | ast.LinkClause:
    start = tokens.start
    variable = parse_variable(tokens, "a variable")
    if tokens.kind == "{":
        concept = parse_concept_matcher(tokens, exact=False)
        return ast.ConceptClause(variable, concept, span=tokens.span(start))
    if tokens.kind != "(":
        raise tokens.unexpected(f"'{{' or '(' after ?{variable[:40]}", place="named clause")
    link = parse_link_matcher(tokens, exact=False)
    return ast.LinkClause(variable, link, span=tokens.span(start))


def _parse_filter(tokens: Tokens) -> ast.FilterClause:
    start = tokens.start
    tokens.advance()
    opened = tokens.start
    tokens.expect("(", "'(' after FILTER", place="filter", hint="Write FILTER(condition).")
    condition = parse_condition(tokens)
    tokens.close(")", opened, "'&&', '||' or ')'", place="after condition")
    return ast.FilterClause(condition, span=tokens.span(start))
