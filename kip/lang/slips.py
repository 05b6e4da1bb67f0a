"""Known slips: sound tokens in a wrong place, by the place where they stand.

A place is a name that the parser gives to the spot where it stood; each function returns a hint, or an empty text
when it knows none.
"""

from __future__ import annotations

from collections.abc import Callable

from kip.lang.words import (
    AGGREGATES,
    CLAUSES,
    FOREIGN,
    KEYWORDS,
    STATEMENTS,
    TAILS,
    TESTS,
    UPDATE_FUNCTIONS,
    Found,
    any_word,
    capitals,
    nearest,
)

_FUNCTIONS = f"The functions of FILTER are {', '.join(TESTS)}."
_ONE_STATEMENT = (
    "One command holds one statement (only UPSERT may repeat). Send the next one as its own entry of commands."
)
_TRIPLE = 'A link has three parts: (?subject, "predicate", ?object).'
_UPDATE_ONLY = "Update expressions stand in UPDATE only; UPSERT stores plain JSON values."
_VARIABLES = "Variables begin with a question mark: ?"


def by_place(found: Found, expected: str, place: str) -> str:
    """The hint for a token at a place, or for a word of another language anywhere."""
    if place.startswith("end of "):
        return _after_statement(found, place.removeprefix("end of "))
    if place == "keyword":
        hint = _keyword(found, expected)
    else:
        hint = _PLACES[place](found) if place in _PLACES else ""
    return hint or any_word(found)


def _keyword(found: Found, expected: str) -> str:
    if found.kind == "{":
        return f"{expected} stands before the brace: {expected} {{ .. }}."
    if found.kind != "word":
        return ""
    if expected == "WHERE" and found.value in TAILS:
        return "WHERE { .. } stands before ORDER BY, LIMIT and CURSOR."
    return capitals(found.value) or nearest(found.value, (expected,))


# --- values, keys and variables -----------------------------------------------------------------

_CONSTANTS = {"none": "null", "nil": "null", "null": "null", "undefined": "null", "true": "true", "false": "false"}


def _constant(found: Found) -> str:
    plain = _CONSTANTS.get(found.value[:40].lower())
    if plain is not None:
        return f"Write {plain}."
    if found.value.lower() in ("nan", "infinity", "inf"):
        return "JSON has no such number; use null or a string."
    return f'Strings are quoted: "{found.value[:40]}".'


def _value(found: Found) -> str:
    if found.is_call() and found.value in UPDATE_FUNCTIONS:
        return _UPDATE_ONLY
    if found.kind in ("word", "bad word"):
        return _constant(found)
    if found.kind == "variable":
        return "A stored value is JSON or a placeholder; a variable cannot stand here."
    if found.kind == "(":
        return "A value is JSON; links are written with SET PROPOSITIONS or a PROPOSITION block."
    return ""


def _update_value(found: Found) -> str:
    if found.is_call():
        near = nearest(found.value, UPDATE_FUNCTIONS)
        return f"{near} The functions of UPDATE are {', '.join(UPDATE_FUNCTIONS)}.".strip()
    return _value(found)


def _update_operand(found: Found) -> str:
    if found.kind in ("string", "{", "["):
        return "Update expressions compute with numbers."
    return _update_value(found)


def _after_value(found: Found) -> str:
    if found.kind in ("word", "string"):
        return "Entries are separated by commas; is one missing before this?"
    return ""


def _text(found: Found) -> str:
    if found.kind in ("word", "bad word"):
        return _constant(found)
    if found.kind == "number":
        return f'Strings are quoted: "{found.value[:40]}".'
    if found.kind == "variable":
        return "A variable cannot stand here; give a string or a placeholder."
    return ""


def _key(found: Found) -> str:
    if found.kind == "parameter":
        return "A key cannot be a placeholder; pass the whole object as one parameter."
    return ""


def _colon(found: Found) -> str:
    return "A key is followed by a colon and a value: key: value." if found.kind != "end" else ""


def _entries(found: Found) -> str:
    return "Entries stand in braces: { key: value }." if found.kind in ("(", "[", "word", "string") else ""


def _variable(found: Found) -> str:
    if found.kind == "word" and found.value not in KEYWORDS:
        return f"{_VARIABLES}{found.value[:40]}."
    if found.kind == "{":
        return "Name a variable here and match it in WHERE: ?x .. WHERE { ?x {type: .., name: ..} }."
    if found.kind == "word":
        return f"A variable is missing before {found.value}." if not capitals(found.value) else ""
    return ""


# --- patterns -----------------------------------------------------------------------------------


def _matcher_key(found: Found) -> str:
    if found.kind in ("word", "string"):
        return f"A matcher takes id, type and name; test others with FILTER(?x.attributes.{found.value[:40]} == ..)."
    if found.kind == "}":
        return 'Say what to match: {type: "Drug"}, {name: "Aspirin"} or {id: ".."}.'
    return ""


def _endpoint(found: Found) -> str:
    if found.kind == "word":
        return f"{_VARIABLES}{found.value[:40]}."
    if found.kind == "string":
        return f'{_TRIPLE} A node is a variable or a matcher, for example {{name: "{found.value[:40]}"}}.'
    return ""


def _after_endpoint(found: Found) -> str:
    if found.kind in ("{", "("):
        return "An embedded endpoint takes no variable: match ?x in a clause before, and write ?x alone here."
    return _after_part(found)


def _after_part(found: Found) -> str:
    if found.kind in ("string", "variable", "parameter"):
        return "The parts of a link are separated by commas."
    return _TRIPLE if found.kind in (")", ",") else ""


def _hops(_: Found) -> str:
    return 'Hops are {m,n}, {m,} or {n} with whole numbers: "follows"{1,3}.'


def _after_target(found: Found) -> str:
    if found.kind in ("{", "("):
        return _after_endpoint(found)
    return 'An entry has two parts, ("predicate", target); the subject is the concept of the block.'


def _clause(found: Found) -> str:
    if found.kind == "{":
        return "A concept clause begins with a variable: ?x {..}."
    if found.kind == ",":
        return "Clauses follow one another without commas."
    if found.kind == "!":
        return "Absence is written NOT { .. }."
    if found.kind != "word":
        return ""
    if found.value in TAILS:
        return f"Close the WHERE block with '}}' before {found.value}."
    return (
        any_word(found)
        or nearest(found.value, CLAUSES)
        or (f"{_VARIABLES}{found.value[:40]}." if found.opens_pattern() else "")
    )


def _named_clause(found: Found) -> str:
    if found.kind in ("word", "string", ",", "}", "bad word"):
        return 'A variable stands with what it matches: ?x {type: "Drug"} or ?x (?s, "predicate", ?o).'
    return ""


# --- filters ------------------------------------------------------------------------------------


def _condition(found: Found) -> str:
    if found.kind in ("[", "{"):
        return "FILTER compares simple values; for membership use IN(?x.name, [..])."
    if found.kind == ")":
        return "A condition is a comparison or a function: ?x.attributes.n > 3."
    if found.value == "NOT":
        return "NOT is written ! in FILTER: !(?x.attributes.n > 3)."
    if found.is_call():
        return _function(found)
    return _operand(found)


def _function(found: Found) -> str:
    if found.value.upper() in AGGREGATES:
        return "Aggregates stand in FIND and ORDER BY, not in FILTER."
    foreign = FOREIGN.get(found.value.upper(), "")
    return foreign or f"{nearest(found.value, TESTS)} {_FUNCTIONS}".strip()


def _operand(found: Found) -> str:
    if found.kind in ("[", "{"):
        return "FILTER compares simple values; for membership use IN(?x.name, [..])."
    if found.is_call():
        return _function(found)
    if found.kind != "word":
        return ""
    if found.opens_pattern() and found.value.islower() and found.value not in _CONSTANTS:
        return f'{_VARIABLES}{found.value[:40]}. Strings are quoted: "{found.value[:40]}".'
    return _constant(found)


def _comparison(found: Found) -> str:
    if found.value.upper() in TESTS:
        return f"{found.value.upper()} is a function: {found.value.upper()}(?x.name, ..)."
    if found.kind in (")", "&&", "||", "end", ","):
        return "A condition compares something: ?x.attributes.flag == true."
    return ""


def _after_condition(found: Found) -> str:
    if found.kind == "|":
        return "OR is written ||."
    if found.kind == ",":
        return "Conditions are joined by && or ||."
    if found.kind in ("==", "!=", "<", ">", "<=", ">="):
        return "A comparison has two sides; join two comparisons by &&."
    if found.value == "NOT":
        return "NOT is written ! in FILTER: !(?x.attributes.n > 3)."
    return ""


def _negated(_: Found) -> str:
    return "Put what is negated into parentheses: !(?x.attributes.n > 3)."


def _list(_: Found) -> str:
    return "IN takes a list in brackets, [1, 2], or a placeholder for one."


# --- statements ---------------------------------------------------------------------------------


def _statement(found: Found) -> str:
    if found.kind == "end":
        return "The command is empty; for a first look send DESCRIBE PRIMER."
    return any_word(found) or (nearest(found.value, STATEMENTS) if found.kind == "word" else "")


_ORDERS = {
    "FIND": "FIND, WHERE, ORDER BY, LIMIT, CURSOR",
    "UPSERT": "UPSERT { .. }, WITH METADATA { .. }",
    "UPDATE": "UPDATE, SET ATTRIBUTES or SET METADATA, WHERE, LIMIT; there is no CURSOR",
    "MERGE": "MERGE CONCEPT, INTO, WHERE; there is no LIMIT",
    "DELETE": "DELETE, WHERE; there is no LIMIT",
    "DESCRIBE": "DESCRIBE CONCEPT TYPES or PROPOSITION TYPES, LIMIT, CURSOR; the other forms take neither",
    "SEARCH": "SEARCH, WITH TYPE, MODE, THRESHOLD, LIMIT",
    "EXPORT": "EXPORT, WHERE, LIMIT, CURSOR",
}
_PARTS = (*TAILS, "WITH", "TYPE", "MODE", "THRESHOLD", "SET", "FILTER")


def _after_statement(found: Found, statement: str) -> str:
    if found.kind == "word":
        if found.value in STATEMENTS:
            return _ONE_STATEMENT
        if found.value in _PARTS:
            return f"The parts of {statement} come in this order, each once: {_ORDERS[statement]}."
        return any_word(found) or nearest(found.value, (*_PARTS, "ASC", "DESC"))
    if found.kind in ("}", ")", "]"):
        return "There is one closing bracket too many, here or before."
    return ""


def _projection(found: Found) -> str:
    if found.is_call():
        if found.value.upper() in AGGREGATES:
            return f"Aggregates are written in capitals: {found.value.upper()}."
        return f"{nearest(found.value, AGGREGATES)} The aggregates are {', '.join(AGGREGATES)}.".strip()
    if found.kind == "word" and found.value not in KEYWORDS:
        return f"{_VARIABLES}{found.value[:40]}."
    if found.kind == ")":
        return "Name at least one variable, path or aggregate: FIND(?x)."
    return ""


def _aggregate(found: Found) -> str:
    if found.kind == "word" and found.value not in KEYWORDS:
        return f"{_VARIABLES}{found.value[:40]}."
    return "An aggregate takes one variable or path: COUNT(?x), COUNT(DISTINCT ?x), SUM(?x.attributes.n)."


def _after_projection(found: Found) -> str:
    return "Separate the expressions by commas." if found.kind == "variable" else ""


def _integer(found: Found) -> str:
    if found.kind == "string":
        return "Write the number without quotes."
    return "Write a whole number, or a placeholder such as :n."


def _share(found: Found) -> str:
    quotes = " without quotes" if found.kind == "string" else ""
    return f"Write a number from 0 to 1{quotes}, such as 0.75."


def _upsert(found: Found) -> str:
    if found.kind == "}":
        return "Give at least one block: CONCEPT ?x { {type: .., name: ..} }."
    if found.kind == ",":
        return "Blocks follow one another without commas."
    if found.value in ("CONCEPT", "PROPOSITION"):
        return "The blocks of UPSERT stand in braces: UPSERT { CONCEPT ?x { .. } }."
    if found.value == "SET":
        return "SET stands inside a CONCEPT or PROPOSITION block, after the identity."
    return nearest(found.value, ("CONCEPT", "PROPOSITION")) if found.kind == "word" else ""


def _identity(found: Found) -> str:
    if found.value in ("SET", "EXPECT"):
        return "The identity comes first in the block; then EXPECT VERSION, then SET."
    return ""


def _set_in_upsert(found: Found) -> str:
    if found.value == "METADATA":
        return "UPSERT writes metadata as WITH METADATA { .. } after the closing brace of the block."
    if found.value == "PROPOSITIONS":
        return "SET PROPOSITIONS stands in CONCEPT blocks only."
    return nearest(found.value, ("ATTRIBUTES", "PROPOSITIONS")) if found.kind == "word" else ""


def _block(found: Found) -> str:
    if found.value == "EXPECT":
        return "EXPECT VERSION stands right after the identity, before SET."
    if found.value == "WITH":
        return "WITH METADATA stands after the closing brace of the block."
    if found.kind == ",":
        return "The parts of a block follow one another without commas."
    return nearest(found.value, ("SET",)) if found.kind == "word" else ""


def _propositions(found: Found) -> str:
    if found.kind in ("string", "variable", "word"):
        return 'Put each entry into parentheses: ("predicate", target).'
    return ""


def _set_in_update(found: Found) -> str:
    if found.value == "PROPOSITIONS":
        return "UPDATE changes attributes and metadata; links are written by UPSERT."
    return nearest(found.value, ("ATTRIBUTES", "METADATA")) if found.kind == "word" else ""


def _update(found: Found) -> str:
    if found.value == "WITH":
        return "UPDATE writes metadata as SET METADATA { .. }, before WHERE."
    if found.value == "WHERE":
        return "SET ATTRIBUTES { .. } or SET METADATA { .. } stands before WHERE."
    return "Write UPDATE ?x SET ATTRIBUTES { .. } WHERE { .. }." if found.kind == "end" else ""


def _describe(found: Found) -> str:
    forms = 'PRIMER, DOMAINS, CONCEPT TYPES, CONCEPT TYPE "X", PROPOSITION TYPES, PROPOSITION TYPE "x"'
    near = nearest(found.value, ("PRIMER", "DOMAINS", "TYPES", "TYPE")) if found.kind == "word" else ""
    return capitals(found.value) or f"{near} DESCRIBE takes {forms}.".strip()


def _search(found: Found) -> str:
    return capitals(found.value) or 'Say what to search: SEARCH CONCEPT "term" or SEARCH PROPOSITION "term".'


def _delete(found: Found) -> str:
    if found.kind == "word":
        return capitals(found.value) or nearest(found.value, ("ATTRIBUTES", "METADATA", "PROPOSITIONS", "CONCEPT"))
    return "Say what to delete: DELETE CONCEPT ?x DETACH WHERE { .. }, or ATTRIBUTES, METADATA, PROPOSITIONS."


def _delete_keys(found: Found) -> str:
    if found.kind == "word":
        return f'Quote the keys: "{found.value[:40]}".' if found.value not in KEYWORDS else ""
    if found.kind == "string":
        return "Separate the keys by commas."
    return ""


_PLACES: dict[str, Callable[[Found], str]] = {
    "after condition": _after_condition,
    "after endpoint": _after_endpoint,
    "after matcher value": _after_value,
    "after predicate": _after_part,
    "after projection": _after_projection,
    "after target": _after_target,
    "after update value": _after_value,
    "after value": _after_value,
    "aggregate": _aggregate,
    "clause": _clause,
    "colon": _colon,
    "comparison": _comparison,
    "concept block": _block,
    "condition": _condition,
    "delete": _delete,
    "delete keys": _delete_keys,
    "describe": _describe,
    "endpoint": _endpoint,
    "entries": _entries,
    "hops": _hops,
    "identity": _identity,
    "integer": _integer,
    "key": _key,
    "list": _list,
    "matcher key": _matcher_key,
    "named clause": _named_clause,
    "negated": _negated,
    "number": _share,
    "operand": _operand,
    "projection": _projection,
    "proposition block": _block,
    "propositions": _propositions,
    "search": _search,
    "set in update": _set_in_update,
    "set in upsert": _set_in_upsert,
    "statement": _statement,
    "text": _text,
    "update": _update,
    "update operand": _update_operand,
    "update value": _update_value,
    "upsert": _upsert,
    "value": _value,
    "variable": _variable,
}
