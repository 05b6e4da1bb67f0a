"""Syntax tree to canonical text (SPECIFICATION.md 2-5): ``parse(format(tree)) == tree``.

One clause, block or entry a line; keys without quotes where they are identifiers; values as JSON on one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import cast

from kip.lang import ast

_is_identifier = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+\Z").match
_INDENT = "  "


def format(command: ast.Command) -> str:
    """The canonical text of a command. Raises TypeError for an object that is not a command."""
    writer = _COMMANDS.get(type(command))
    if writer is None:
        raise TypeError(f"a {type(command).__name__} is not a command")
    return writer(command)


def _indent(lines: Iterable[str]) -> list[str]:
    return [_INDENT + line for line in lines]


def _braces(head: str, lines: Iterable[str]) -> list[str]:
    """``head { lines }``, each line deeper by one step."""
    return [f"{head} {{", *_indent(lines), "}"]


# --- values and expressions ---------------------------------------------------------------------


def format_value(value: ast.UpdateValue) -> str:
    """The text of a value, a placeholder, a path or an update expression, on one line."""
    match value:
        case ast.Literal():
            return json.dumps(value.value, ensure_ascii=False, allow_nan=False)
        case ast.Parameter():
            return f":{value.name}"
        case ast.ArrayValue():
            return f"[{', '.join(map(format_value, value.items))}]"
        case ast.ObjectValue():
            return f"{{{', '.join(f'{_quote(key)}: {format_value(item)}' for key, item in value.entries)}}}"
        case ast.Path():
            return _path(value)
        case ast.UpdateCall():
            return f"{value.function}({', '.join(map(format_value, value.arguments))})"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _path(path: ast.Path) -> str:
    head = f"?{path.variable}.{path.field}"
    return head if path.key is None else f"{head}.{path.key}"


def _operand(operand: ast.Operand) -> str:
    return f"?{operand.name}" if isinstance(operand, ast.Variable) else format_value(operand)


def _projection(projection: ast.Projection) -> str:
    if isinstance(projection, ast.Aggregate):
        distinct = "DISTINCT " if projection.distinct else ""
        return f"{projection.function}({distinct}{_operand(projection.argument)})"
    return _operand(projection)


def format_condition(condition: ast.BooleanExpression) -> str:
    """The text of a FILTER condition, with the parentheses that it needs and no others."""
    match condition:
        case ast.Disjunction():
            return " || ".join(map(format_condition, condition.operands))
        case ast.Conjunction():
            return " && ".join(_enclose(part, ast.Disjunction) for part in condition.operands)
        case ast.Negation():
            return "!" + _enclose(condition.operand, ast.Disjunction, ast.Conjunction, ast.Comparison)
        case ast.Comparison():
            return f"{_operand(condition.left)} {condition.operator} {_operand(condition.right)}"
        case ast.In():
            return f"IN({_operand(condition.operand)}, {format_value(condition.values)})"
        case ast.NullTest():
            return f"{'IS_NOT_NULL' if condition.negated else 'IS_NULL'}({_operand(condition.operand)})"
        case ast.StringTest():
            return f"{condition.function}({_operand(condition.subject)}, {_operand(condition.pattern)})"


def _enclose(condition: ast.BooleanExpression, *looser: type[ast.Node]) -> str:
    text = format_condition(condition)
    return f"({text})" if isinstance(condition, looser) else text


# --- patterns -----------------------------------------------------------------------------------


def _endpoint(endpoint: ast.Endpoint | ast.ConceptMatcher) -> str:
    match endpoint:
        case ast.Variable():
            return f"?{endpoint.name}"
        case ast.ConceptMatcher():
            entries = (("id", endpoint.id), ("type", endpoint.type), ("name", endpoint.name))
            return f"{{{', '.join(f'{key}: {format_value(value)}' for key, value in entries if value is not None)}}}"
        case ast.LinkIdMatcher():
            return f"(id: {format_value(endpoint.id)})"
        case ast.TripleMatcher():
            return f"({_endpoint(endpoint.subject)}, {_predicate(endpoint.predicate)}, {_endpoint(endpoint.object)})"


def _predicate(predicate: ast.PredicateNames | ast.Variable) -> str:
    if isinstance(predicate, ast.Variable):
        return f"?{predicate.name}"
    names = " | ".join(map(format_value, predicate.names))
    hops = predicate.hops
    if hops is None:
        return names
    if hops.maximum == hops.minimum:
        return f"{names}{{{hops.minimum}}}"
    return f"{names}{{{hops.minimum},{'' if hops.maximum is None else hops.maximum}}}"


def _clause(clause: ast.Clause) -> list[str]:
    match clause:
        case ast.ConceptClause():
            return [f"?{clause.variable} {_endpoint(clause.matcher)}"]
        case ast.LinkClause():
            name = "" if clause.variable is None else f"?{clause.variable} "
            return [name + _endpoint(clause.matcher)]
        case ast.FilterClause():
            return [f"FILTER({format_condition(clause.condition)})"]
        case ast.NotClause():
            return _block("NOT", clause.clauses)
        case ast.OptionalClause():
            return _block("OPTIONAL", clause.clauses)
        case ast.UnionClause():
            return _block("UNION", clause.clauses)


def _block(keyword: str, clauses: tuple[ast.Clause, ...]) -> list[str]:
    return _braces(keyword, (line for clause in clauses for line in _clause(clause)))


def _where(clauses: tuple[ast.Clause, ...]) -> list[str]:
    return _block("WHERE", clauses)


def _option(keyword: str, value: ast.Value | None) -> list[str]:
    return [] if value is None else [f"{keyword} {format_value(value)}"]


# --- statements ---------------------------------------------------------------------------------


def _find(command: ast.Find) -> str:
    lines = [f"FIND({', '.join(map(_projection, command.projections))})", *_where(command.where)]
    if command.order_by:
        keys = (_projection(key.expression) + (" DESC" if key.descending else " ASC") for key in command.order_by)
        lines.append(f"ORDER BY {', '.join(keys)}")
    return "\n".join([*lines, *_option("LIMIT", command.limit), *_option("CURSOR", command.cursor)])


def _entries(keyword: str, entries: ast.Entries | ast.UpdateEntries | None) -> list[str]:
    """``keyword { key: value, .. }``, one entry a line."""
    if entries is None:
        return []
    if isinstance(entries, ast.Parameter):
        return [f"{keyword} :{entries.name}"]
    if isinstance(entries, ast.Literal):
        content = cast("dict[str, ast.Json]", entries.value)
        pairs = [(key, json.dumps(value, ensure_ascii=False, allow_nan=False)) for key, value in content.items()]
    else:
        pairs = [(key, format_value(value)) for key, value in entries.entries]
    if not pairs:
        return [f"{keyword} {{}}"]
    lines = [f"{key if _is_identifier(key) else _quote(key)}: {text}," for key, text in pairs]
    lines[-1] = lines[-1][:-1]
    return _braces(keyword, lines)


def _upsert(command: ast.Upsert) -> str:
    lines: list[str] = []
    for statement in command.statements:
        blocks = (line for block in statement.blocks for line in _upsert_block(block))
        lines += _braces("UPSERT", blocks)
        lines += _entries("WITH METADATA", statement.metadata)
    return "\n".join(lines)


def _upsert_block(block: ast.ConceptBlock | ast.PropositionBlock) -> list[str]:
    keyword = "CONCEPT" if isinstance(block, ast.ConceptBlock) else "PROPOSITION"
    head = keyword if block.handle is None else f"{keyword} ?{block.handle}"
    lines = [_endpoint(block.matcher), *_option("EXPECT VERSION", block.expect_version)]
    lines += _entries("SET ATTRIBUTES", block.attributes)
    if isinstance(block, ast.ConceptBlock) and block.propositions:
        lines += _braces("SET PROPOSITIONS", (line for entry in block.propositions for line in _proposition(entry)))
    return [*_braces(head, lines), *_entries("WITH METADATA", block.metadata)]


def _proposition(entry: ast.PropositionEntry) -> list[str]:
    head = f"({format_value(entry.predicate)}, {_endpoint(entry.target)})"
    return [head, *_indent(_entries("WITH METADATA", entry.metadata))]


def _update(command: ast.Update) -> str:
    lines = [f"UPDATE ?{command.target}"]
    lines += _entries("SET ATTRIBUTES", command.attributes)
    lines += _entries("SET METADATA", command.metadata)
    return "\n".join([*lines, *_where(command.where), *_option("LIMIT", command.limit)])


def _merge(command: ast.Merge) -> str:
    return "\n".join([f"MERGE CONCEPT ?{command.source} INTO ?{command.target}", *_where(command.where)])


def _delete_keys(command: ast.DeleteKeys) -> str:
    keys = ", ".join(map(_quote, command.keys))
    head = f"DELETE {command.kind.upper()} {{{keys}}} FROM ?{command.target}"
    return "\n".join([head, *_where(command.where)])


def _delete_propositions(command: ast.DeletePropositions) -> str:
    return "\n".join([f"DELETE PROPOSITIONS ?{command.target}", *_where(command.where)])


def _delete_concept(command: ast.DeleteConcept) -> str:
    return "\n".join([f"DELETE CONCEPT ?{command.target} DETACH", *_where(command.where)])


def _describe_primer(_: ast.DescribePrimer) -> str:
    return "DESCRIBE PRIMER"


def _describe_domains(_: ast.DescribeDomains) -> str:
    return "DESCRIBE DOMAINS"


def _describe_types(command: ast.DescribeTypes) -> str:
    head = [f"DESCRIBE {command.kind.upper()} TYPES"]
    return " ".join([*head, *_option("LIMIT", command.limit), *_option("CURSOR", command.cursor)])


def _describe_type(command: ast.DescribeType) -> str:
    return f"DESCRIBE {command.kind.upper()} TYPE {format_value(command.name)}"


def _search(command: ast.Search) -> str:
    words = [f"SEARCH {command.kind.upper()} {format_value(command.term)}"]
    words += _option("WITH TYPE", command.type) + _option("MODE", command.mode)
    return " ".join([*words, *_option("THRESHOLD", command.threshold), *_option("LIMIT", command.limit)])


def _export(command: ast.Export) -> str:
    lines = [f"EXPORT ?{command.target}", *_where(command.where)]
    return "\n".join([*lines, *_option("LIMIT", command.limit), *_option("CURSOR", command.cursor)])


def _explain(command: ast.Explain) -> str:
    return f"EXPLAIN {format(command.command)}"


_COMMANDS = cast(
    "dict[type[ast.Node], Callable[[ast.Node], str]]",
    {
        ast.Find: _find,
        ast.Upsert: _upsert,
        ast.Update: _update,
        ast.Merge: _merge,
        ast.DeleteKeys: _delete_keys,
        ast.DeletePropositions: _delete_propositions,
        ast.DeleteConcept: _delete_concept,
        ast.DescribePrimer: _describe_primer,
        ast.DescribeDomains: _describe_domains,
        ast.DescribeTypes: _describe_types,
        ast.DescribeType: _describe_type,
        ast.Search: _search,
        ast.Export: _export,
        ast.Explain: _explain,
    },
)
