"""FILTER conditions (SPECIFICATION.md 3.4.3)."""

from __future__ import annotations

from typing import cast

from kip.lang import ast
from kip.lang.lexer import Tokens
from kip.lang.parse_terms import parse_parameter, parse_reference, parse_value

COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
STRING_FUNCTIONS = ("CONTAINS", "STARTS_WITH", "ENDS_WITH", "REGEX")


def parse_condition(tokens: Tokens) -> ast.BooleanExpression:
    """A boolean expression; ``&&`` binds tighter than ``||``. Raises KIP_1001."""
    start = tokens.start
    operands = [_parse_conjunction(tokens)]
    while tokens.take("||"):
        operands.append(_parse_conjunction(tokens))
    if len(operands) == 1:
        return operands[0]
    flat = [part for operand in operands for part in _parts(operand, ast.Disjunction)]
    return ast.Disjunction(tuple(flat), span=tokens.span(start))


def _parts(
    operand: ast.BooleanExpression, kind: type[ast.Conjunction] | type[ast.Disjunction]
) -> tuple[ast.BooleanExpression, ...]:
    """The operands of a nested expression of the same kind: parentheses there change nothing."""
    return operand.operands if isinstance(operand, kind) else (operand,)


def _parse_conjunction(tokens: Tokens) -> ast.BooleanExpression:
    start = tokens.start
    operands = [_parse_term(tokens)]
    while tokens.take("&&"):
        operands.append(_parse_term(tokens))
    if len(operands) == 1:
        return operands[0]
    flat = [part for operand in operands for part in _parts(operand, ast.Conjunction)]
    return ast.Conjunction(tuple(flat), span=tokens.span(start))


def _parse_term(tokens: Tokens) -> ast.BooleanExpression:
    negations: list[int] = []
    while tokens.kind == "!":
        tokens.nest()
        negations.append(tokens.start)
        tokens.advance()
    levels = len(negations)
    if tokens.kind == "(":
        if not negations:  # "!(" is one level, not two
            tokens.nest()
            levels = 1
        term = _parse_group(tokens)
    elif tokens.kind == "word" and tokens.value in _TESTS:
        term = _TESTS[tokens.value](tokens)
    elif negations:
        raise tokens.unexpected("'(' or a function after '!'", place="negated")
    else:
        term = _parse_comparison(tokens)
    for start in reversed(negations):
        term = ast.Negation(term, span=tokens.span(start))
    tokens.depth -= levels
    return term


def _parse_group(tokens: Tokens) -> ast.BooleanExpression:
    opened = tokens.start
    tokens.advance()
    term = parse_condition(tokens)
    tokens.close(")", opened, "'&&', '||' or ')'", place="after condition")
    return term


def _parse_comparison(tokens: Tokens) -> ast.Comparison:
    start = tokens.start
    left = _parse_operand(tokens, "a condition", "condition")
    operator = tokens.kind
    if operator not in COMPARISONS:
        raise tokens.unexpected("a comparison operator", place="comparison")
    tokens.advance()
    right = _parse_operand(tokens, f"a value or variable after '{operator}'", "operand")
    return ast.Comparison(operator, left, right, span=tokens.span(start))


def _parse_operand(tokens: Tokens, what: str, place: str) -> ast.Operand:
    kind = tokens.kind
    if kind == "variable":
        return parse_reference(tokens)
    if kind == "parameter":
        return parse_parameter(tokens)
    if kind in ("string", "number") or (kind == "word" and tokens.value in ("true", "false", "null")):
        return cast("ast.Literal", parse_value(tokens))
    raise tokens.unexpected(what, place=place)


def _parse_in(tokens: Tokens) -> ast.In:
    start, opened = _open_call(tokens)
    operand = _parse_argument(tokens, "IN")
    _next_argument(tokens, "IN", 2)
    if tokens.kind not in ("[", "parameter"):
        raise tokens.unexpected("the list of IN, [..] or a placeholder", place="list")
    values = parse_value(tokens)
    _close_call(tokens, "IN", opened, 2)
    return ast.In(operand, values, span=tokens.span(start))


def _parse_null_test(tokens: Tokens) -> ast.NullTest:
    function = tokens.value
    start, opened = _open_call(tokens)
    operand = _parse_argument(tokens, function)
    _close_call(tokens, function, opened, 1)
    return ast.NullTest(operand, negated=function == "IS_NOT_NULL", span=tokens.span(start))


def _parse_string_test(tokens: Tokens) -> ast.StringTest:
    function = cast("ast.StringFunction", tokens.value)
    start, opened = _open_call(tokens)
    subject = _parse_argument(tokens, function)
    _next_argument(tokens, function, 2)
    at = tokens.start
    pattern = _parse_argument(tokens, function)
    if isinstance(pattern, ast.Literal) and not isinstance(pattern.value, str):
        raise tokens.fail(f"{function} looks for a string", hint='Quote what to look for: "..".', offset=at)
    _close_call(tokens, function, opened, 2)
    return ast.StringTest(function, subject, pattern, span=tokens.span(start))


def _open_call(tokens: Tokens) -> tuple[int, int]:
    start, function = tokens.start, tokens.value
    tokens.advance()
    opened = tokens.start
    tokens.expect("(", f"'(' after {function}")
    return start, opened


def _parse_argument(tokens: Tokens, function: str) -> ast.Operand:
    return _parse_operand(tokens, f"an argument of {function}", "operand")


def _next_argument(tokens: Tokens, function: str, count: int) -> None:
    tokens.expect(",", f"',' in {function}(..)", place="argument", hint=f"{function} takes {count} arguments.")


def _close_call(tokens: Tokens, function: str, opened: int, count: int) -> None:
    arguments = "one argument" if count == 1 else f"{count} arguments"
    tokens.close(")", opened, f"')' after {function}(..", place="argument", hint=f"{function} takes {arguments}.")


_TESTS = {
    "IN": _parse_in,
    "IS_NULL": _parse_null_test,
    "IS_NOT_NULL": _parse_null_test,
    **dict.fromkeys(STRING_FUNCTIONS, _parse_string_test),
}
