"""KML: UPSERT, UPDATE, MERGE and DELETE (SPECIFICATION.md 4)."""

from __future__ import annotations

from typing import Literal, cast

from kip.lang import ast
from kip.lang.lexer import Tokens
from kip.lang.parse_kql import parse_integer, parse_limit, parse_where
from kip.lang.parse_terms import (
    duplicate_key,
    parse_concept_matcher,
    parse_endpoint,
    parse_entries,
    parse_key,
    parse_link_matcher,
    parse_parameter,
    parse_reference,
    parse_text,
    parse_value,
    parse_variable,
    separate,
)

UPDATE_ARITY = {"ADD": 2, "MUL": 2, "CLAMP": 3, "COALESCE": 2}


# --- UPSERT (4.1) -------------------------------------------------------------------------------


def parse_upsert(tokens: Tokens) -> ast.Upsert:
    """One or more ``UPSERT {..}`` statements, a capsule. Raises KIP_1001, KIP_1002, KIP_2003."""
    start = tokens.start
    statements = [_parse_statement(tokens)]
    while tokens.is_word("UPSERT"):
        statements.append(_parse_statement(tokens))
    return ast.Upsert(tuple(statements), span=tokens.span(start))


def _parse_statement(tokens: Tokens) -> ast.UpsertStatement:
    start = tokens.start
    tokens.advance()
    opened = tokens.start
    tokens.expect("{", "'{' after UPSERT", place="upsert", hint="Write UPSERT { CONCEPT ?x { .. } }.")
    blocks: list[ast.ConceptBlock | ast.PropositionBlock] = []
    while tokens.kind != "}" or not blocks:
        if tokens.is_word("CONCEPT"):
            blocks.append(_parse_concept_block(tokens))
        elif tokens.is_word("PROPOSITION"):
            blocks.append(_parse_proposition_block(tokens))
        elif tokens.kind == "end":
            tokens.close("}", opened, "CONCEPT, PROPOSITION or '}' of UPSERT")
        else:
            raise tokens.unexpected("CONCEPT or PROPOSITION", place="upsert")
    tokens.advance()
    return ast.UpsertStatement(tuple(blocks), _parse_metadata(tokens), span=tokens.span(start))


def _parse_metadata(tokens: Tokens) -> ast.Entries | None:
    return parse_entries(tokens) if tokens.take_word("WITH", "METADATA") else None


def _open_block(tokens: Tokens, owner: str) -> tuple[str | None, int]:
    """The keyword, the optional handle and the opening brace of a block."""
    tokens.keyword(owner)
    handle = parse_variable(tokens, "the handle") if tokens.kind == "variable" else None
    opened = tokens.start
    tokens.expect("{", f"a ?handle or '{{' after {owner}", place="variable")
    return handle, opened


def _parse_guard(tokens: Tokens) -> ast.Literal | ast.Parameter | None:
    if not tokens.take_word("EXPECT", "VERSION"):
        return None
    if tokens.kind == "parameter":
        return parse_parameter(tokens)
    return parse_integer(tokens, 0, "EXPECT VERSION")


def _parse_concept_block(tokens: Tokens) -> ast.ConceptBlock:
    start = tokens.start
    handle, opened = _open_block(tokens, "CONCEPT")
    if tokens.kind != "{":
        raise tokens.unexpected("the identity of the concept, {type: .., name: ..} or {id: ..}", place="identity")
    matcher = parse_concept_matcher(tokens, exact=True)
    guard = _parse_guard(tokens)
    attributes: ast.Entries | None = None
    propositions: tuple[ast.PropositionEntry, ...] | None = None
    while tokens.is_word("SET"):
        at = tokens.start
        tokens.advance()
        if tokens.is_word("ATTRIBUTES"):
            _refuse_repetition(tokens, attributes, "ATTRIBUTES", at)
            attributes = _parse_set(tokens)
        elif tokens.is_word("PROPOSITIONS"):
            _refuse_repetition(tokens, propositions, "PROPOSITIONS", at)
            propositions = _parse_propositions(tokens)
        else:
            raise tokens.unexpected("ATTRIBUTES or PROPOSITIONS after SET", place="set in upsert")
    tokens.close("}", opened, "SET or '}'", place="concept block")
    metadata = _parse_metadata(tokens)
    return ast.ConceptBlock(handle, matcher, guard, attributes, propositions or (), metadata, span=tokens.span(start))


def _parse_set(tokens: Tokens) -> ast.Entries:
    tokens.keyword(tokens.value)
    return parse_entries(tokens)


def _refuse_repetition(tokens: Tokens, earlier: object, name: str, offset: int) -> None:
    if earlier is not None:
        raise tokens.fail(f"SET {name} stands twice", hint="Put all entries into one block.", offset=offset)


def _parse_proposition_block(tokens: Tokens) -> ast.PropositionBlock:
    start = tokens.start
    handle, opened = _open_block(tokens, "PROPOSITION")
    if tokens.kind != "(":
        raise tokens.unexpected('the identity of the link, (?s, "predicate", ?o) or (id: ..)', place="identity")
    matcher = parse_link_matcher(tokens, exact=True)
    guard = _parse_guard(tokens)
    attributes: ast.Entries | None = None
    if tokens.is_word("SET"):
        tokens.advance()
        if not tokens.is_word("ATTRIBUTES"):
            raise tokens.unexpected("ATTRIBUTES after SET", place="set in upsert")
        attributes = _parse_set(tokens)
    tokens.close("}", opened, "SET ATTRIBUTES or '}'", place="proposition block")
    metadata = _parse_metadata(tokens)
    return ast.PropositionBlock(handle, matcher, guard, attributes, metadata, span=tokens.span(start))


def _parse_propositions(tokens: Tokens) -> tuple[ast.PropositionEntry, ...]:
    tokens.advance()
    opened = tokens.start
    tokens.expect("{", "'{' after SET PROPOSITIONS")
    entries: list[ast.PropositionEntry] = []
    while tokens.kind == "(":
        entries.append(_parse_proposition(tokens))
        tokens.take(",")
    tokens.close("}", opened, "an entry (\"predicate\", target) or '}'", place="propositions")
    return tuple(entries)


def _parse_proposition(tokens: Tokens) -> ast.PropositionEntry:
    start = tokens.start
    tokens.advance()
    predicate = parse_text(tokens, "the predicate")
    tokens.expect(",", "',' after the predicate", place="after target")
    target = parse_endpoint(tokens, "the target", exact=True)
    tokens.close(")", start, "')' after the target", place="after target")
    return ast.PropositionEntry(predicate, target, _parse_metadata(tokens), span=tokens.span(start))


# --- UPDATE (4.3) -------------------------------------------------------------------------------


def parse_update(tokens: Tokens) -> ast.Update:
    """``UPDATE ?target SET .. WHERE {..} [LIMIT ..]``. Raises KIP_1001, KIP_1002, KIP_2003."""
    start = tokens.start
    tokens.keyword("UPDATE")
    target = parse_variable(tokens, "the variable to update")
    sets: dict[str, ast.UpdateEntries | ast.Parameter] = {}
    while tokens.is_word("SET"):
        at = tokens.start
        tokens.advance()
        block = tokens.value
        if tokens.kind != "word" or block not in ("ATTRIBUTES", "METADATA"):
            raise tokens.unexpected("ATTRIBUTES or METADATA after SET", place="set in update")
        _refuse_repetition(tokens, sets.get(block), block, at)
        tokens.keyword(block)
        sets[block] = _parse_update_set(tokens, target)
    if not sets:
        raise tokens.unexpected("SET ATTRIBUTES or SET METADATA", place="update")
    if not tokens.is_word("WHERE"):
        raise tokens.unexpected("SET or WHERE", place="update")
    where = parse_where(tokens)
    return ast.Update(
        target, where, sets.get("ATTRIBUTES"), sets.get("METADATA"), parse_limit(tokens), span=tokens.span(start)
    )


def _parse_update_set(tokens: Tokens, target: str) -> ast.UpdateEntries | ast.Parameter:
    if tokens.kind == "parameter":
        return parse_parameter(tokens)
    opened = tokens.start
    tokens.expect("{", "'{' or a placeholder for the whole object", place="entries")
    entries: dict[str, ast.UpdateValue] = {}
    while tokens.kind != "}":
        key_start = tokens.start
        key = parse_key(tokens)
        if key in entries:
            raise duplicate_key(tokens, key, key_start)
        entries[key] = _parse_update_value(tokens, target)
        separate(tokens, "}", opened, place="after update value")
    if not entries:
        raise tokens.fail("the SET block is empty", hint="Set at least one key.", offset=opened)
    tokens.advance()
    return ast.UpdateEntries(tuple(entries.items()), span=tokens.span(opened))


def _parse_update_value(tokens: Tokens, target: str) -> ast.UpdateValue:
    if tokens.kind == "word" and tokens.value in UPDATE_ARITY:
        return _parse_update_call(tokens, target)
    if tokens.kind == "variable":
        return _parse_own_path(tokens, target)
    if tokens.kind == "word" and tokens.value not in ("true", "false", "null"):
        raise tokens.unexpected("a value or an update expression", place="update value")
    return parse_value(tokens)


def _parse_own_path(tokens: Tokens, target: str) -> ast.Path:
    """A path on the element that is updated: no other variable may be read (4.3)."""
    at = tokens.start
    path = parse_reference(tokens)
    if isinstance(path, ast.Path) and path.variable == target:
        return path
    raise tokens.fail(
        "an update expression reads the updated element only",
        hint=f"Use a path on it, for example ?{target[:40]}.attributes.count.",
        offset=at,
    )


def _parse_update_call(tokens: Tokens, target: str) -> ast.UpdateCall:
    start, function = tokens.start, cast("ast.UpdateFunction", tokens.value)
    arity = UPDATE_ARITY[function]
    usage = f"{function} takes {arity} arguments."
    tokens.nest()
    tokens.advance()
    opened = tokens.start
    tokens.expect("(", f"'(' after {function}", hint=usage)
    arguments = [_parse_update_operand(tokens, target)]
    while len(arguments) < arity:
        tokens.expect(",", f"',' in {function}(..)", place="after update value", hint=usage)
        arguments.append(_parse_update_operand(tokens, target))
    tokens.close(")", opened, f"')' after {function}(..", place="after update value", hint=usage)
    tokens.depth -= 1
    return ast.UpdateCall(function, tuple(arguments), span=tokens.span(start))


def _parse_update_operand(tokens: Tokens, target: str) -> ast.UpdateExpression:
    kind = tokens.kind
    if kind == "word" and tokens.value in UPDATE_ARITY:
        return _parse_update_call(tokens, target)
    if kind == "variable":
        return _parse_own_path(tokens, target)
    if kind == "parameter":
        return parse_parameter(tokens)
    if kind == "number":
        return cast("ast.Literal", parse_value(tokens))
    raise tokens.unexpected("a number, a path, a placeholder or a function", place="update operand")


# --- MERGE (4.4) and DELETE (4.2) ---------------------------------------------------------------


def parse_merge(tokens: Tokens) -> ast.Merge:
    """``MERGE CONCEPT ?source INTO ?target WHERE {..}``. Raises KIP_1001, KIP_1002, KIP_2003."""
    start = tokens.start
    tokens.keyword("MERGE", "CONCEPT", hint="Only concepts are merged: MERGE CONCEPT ?a INTO ?b WHERE { .. }.")
    source = parse_variable(tokens, "the variable to merge")
    tokens.keyword("INTO", hint="Write MERGE CONCEPT ?duplicate INTO ?kept WHERE { .. }.")
    target = parse_variable(tokens, "the variable that stays")
    return ast.Merge(source, target, parse_where(tokens), span=tokens.span(start))


def parse_delete(tokens: Tokens) -> ast.Delete:
    """One of the four DELETE forms. Raises KIP_1001, KIP_1002, KIP_2003."""
    start = tokens.start
    tokens.advance()
    if tokens.take_word("ATTRIBUTES"):
        return _parse_delete_keys(tokens, "attributes", start)
    if tokens.take_word("METADATA"):
        return _parse_delete_keys(tokens, "metadata", start)
    if tokens.take_word("PROPOSITIONS"):
        target = parse_variable(tokens, "the variable of the links to delete")
        return ast.DeletePropositions(target, parse_where(tokens), span=tokens.span(start))
    if tokens.take_word("CONCEPT"):
        target = parse_variable(tokens, "the variable of the concept to delete")
        tokens.keyword("DETACH", hint=f"DETACH is mandatory: DELETE CONCEPT ?{target[:40]} DETACH WHERE {{ .. }}.")
        return ast.DeleteConcept(target, parse_where(tokens), span=tokens.span(start))
    raise tokens.unexpected("ATTRIBUTES, METADATA, PROPOSITIONS or CONCEPT after DELETE", place="delete")


def _parse_delete_keys(tokens: Tokens, kind: Literal["attributes", "metadata"], start: int) -> ast.DeleteKeys:
    opened = tokens.start
    tokens.expect("{", "'{' before the keys", place="delete keys", hint='Write the keys in braces: {"a", "b"}.')
    keys = [_parse_delete_key(tokens)]
    while tokens.take(","):
        keys.append(_parse_delete_key(tokens))
    tokens.close("}", opened, "',' or '}'", place="delete keys")
    tokens.keyword("FROM", hint="Name the elements: FROM ?x WHERE { .. }.")
    target = parse_variable(tokens, "the variable to delete from")
    return ast.DeleteKeys(kind, tuple(keys), target, parse_where(tokens), span=tokens.span(start))


def _parse_delete_key(tokens: Tokens) -> str:
    key = tokens.value
    tokens.expect("string", "a key in double quotes", place="delete keys")
    return key
