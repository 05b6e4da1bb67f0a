"""Values, variables, projections and matchers (SPECIFICATION.md 2.7, 3.2, 3.3, 3.4.1, 3.4.2)."""

from __future__ import annotations

from typing import cast

from kip.lang import ast
from kip.lang.lexer import Tokens
from kip.lang.words import AGGREGATES
from kip.values import MAX_DEPTH, Json

_CONSTANTS: dict[str, Json] = {"true": True, "false": False, "null": None}
_MATCHER_KEYS = ("id", "type", "name")
_WHOLE_FIELDS = ("attributes", "metadata")


# --- values (2.7) -------------------------------------------------------------------------------


def parse_value(tokens: Tokens) -> ast.Value:
    """A JSON value, in which any part may be a placeholder. Raises KIP_1001, KIP_2003."""
    start = tokens.start
    return _as_node(_read_value(tokens, 1), start, tokens.previous_end)


def parse_entries(tokens: Tokens) -> ast.Entries:
    """``{ key: value, .. }`` or a placeholder for the whole object."""
    if tokens.kind == "parameter":
        return parse_parameter(tokens)
    start = tokens.start
    if tokens.kind != "{":
        raise tokens.unexpected("'{' or a placeholder for the whole object", place="entries")
    # Level 0: each value under a key may itself be as deep as a value can be.
    return cast("ast.Entries", _as_node(_read_object(tokens, 0), start, tokens.previous_end))


def parse_parameter(tokens: Tokens) -> ast.Parameter:
    """The placeholder under the parser's eye."""
    name, start = tokens.value, tokens.start
    tokens.advance()
    return ast.Parameter(name, span=tokens.span(start))


def parse_key(tokens: Tokens) -> str:
    """An object key, quoted or an identifier, and its colon. Raises KIP_1001, KIP_1002."""
    if tokens.kind not in ("word", "string"):
        raise tokens.unexpected("a key", place="key")
    key = tokens.value
    tokens.colon("the key")
    return key


def separate(tokens: Tokens, closing: str, opened: int, *, place: str = "") -> None:
    """Step over the comma between entries; a comma before the closing bracket is allowed in values."""
    if not tokens.take(",") and tokens.kind != closing:
        tokens.close(closing, opened, f"',' or '{closing}'", place=place)


_Read = Json | ast.Parameter | ast.ArrayValue | ast.ObjectValue


def _as_node(found: _Read, start: int, end: int) -> ast.Value:
    if isinstance(found, ast.Node):
        return found
    return ast.Literal(found, span=ast.Span(start, end))


def _read_value(tokens: Tokens, depth: int) -> _Read:
    """Plain Python data where no placeholder is inside, else a node."""
    kind = tokens.kind
    if kind == "string":
        value = tokens.value
        tokens.advance()
        return value
    if kind == "number":
        number = tokens.number()
        tokens.advance()
        return number
    if kind == "{":
        return _read_object(tokens, depth)
    if kind == "[":
        return _read_array(tokens, depth)
    if kind == "parameter":
        return parse_parameter(tokens)
    if kind == "word" and tokens.value in _CONSTANTS:
        constant = _CONSTANTS[tokens.value]
        tokens.advance()
        return constant
    raise tokens.unexpected("a value", place="value")


def _read_array(tokens: Tokens, depth: int) -> _Read:
    if depth > MAX_DEPTH:
        raise tokens.too_deep()
    opened = tokens.start
    tokens.advance()
    items: list[_Read] = []
    bounds: list[tuple[int, int]] = []
    plain = True
    while tokens.kind != "]":
        start = tokens.start
        item = _read_value(tokens, depth + 1)
        items.append(item)
        bounds.append((start, tokens.previous_end))
        plain = plain and not isinstance(item, ast.Node)
        separate(tokens, "]", opened, place="after value")
    tokens.advance()
    if plain:
        return cast("list[Json]", items)
    nodes = (_as_node(item, *bound) for item, bound in zip(items, bounds, strict=True))
    return ast.ArrayValue(tuple(nodes), span=tokens.span(opened))


def _read_object(tokens: Tokens, depth: int) -> _Read:
    if depth > MAX_DEPTH:
        raise tokens.too_deep()
    opened = tokens.start
    tokens.advance()
    entries: dict[str, _Read] = {}
    bounds: list[tuple[int, int]] = []
    plain = True
    while tokens.kind != "}":
        key_start = tokens.start
        key = parse_key(tokens)
        if key in entries:
            raise duplicate_key(tokens, key, key_start)
        start = tokens.start
        item = entries[key] = _read_value(tokens, depth + 1)
        bounds.append((start, tokens.previous_end))
        plain = plain and not isinstance(item, ast.Node)
        separate(tokens, "}", opened, place="after value")
    tokens.advance()
    if plain:
        return cast("dict[str, Json]", entries)
    nodes = ((key, _as_node(item, *bound)) for (key, item), bound in zip(entries.items(), bounds, strict=True))
    return ast.ObjectValue(tuple(nodes), span=tokens.span(opened))


def duplicate_key(tokens: Tokens, key: str, offset: int) -> Exception:
    """The error for a key that an object already has."""
    return tokens.fail(
        f"the key {key[:40]!r} stands twice in one object", hint="Keep one of the two entries.", offset=offset
    )


def parse_text(tokens: Tokens, what: str) -> ast.Literal | ast.Parameter:
    """A string or a placeholder for one. Raises KIP_1001."""
    if tokens.kind == "parameter":
        return parse_parameter(tokens)
    value, start = tokens.value, tokens.start
    tokens.expect("string", f"{what}, a string in double quotes or a placeholder", place="text")
    return ast.Literal(value, span=tokens.span(start))


# --- variables and projections (3.2, 3.3) -------------------------------------------------------


def parse_variable(tokens: Tokens, what: str) -> str:
    """The name of a variable that stands alone, without the question mark. Raises KIP_1001, KIP_1002."""
    name = tokens.value
    if tokens.kind == "variable" and "." in name:
        raise tokens.fail(
            f"expected {what}, found the path ?{name[:60]}",
            hint=f"Name the variable only, ?{name.split('.', 1)[0][:40]}; paths stand in FIND, FILTER and ORDER BY.",
        )
    tokens.expect("variable", what, place="variable")
    return name


def parse_reference(tokens: Tokens) -> ast.Variable | ast.Path:
    """The variable or dot path under the parser's eye. Raises KIP_1001 for a path that is too long."""
    name, start = tokens.value, tokens.start
    if "." not in name:
        tokens.advance()
        return ast.Variable(name, span=tokens.span(start))
    variable, field, *rest = name.split(".", 3)
    if len(rest) > 1 or (rest and field not in _WHOLE_FIELDS):
        raise tokens.fail(
            f"the path ?{name[:60]} goes too deep",
            hint="Paths are ?x.field, ?x.attributes.key and ?x.metadata.key; a nested value is read as a whole.",
        )
    tokens.advance()
    return ast.Path(variable, field, rest[0] if rest else None, span=tokens.span(start))


def parse_projection(tokens: Tokens, what: str) -> ast.Projection:
    """A variable, a dot path or an aggregate. Raises KIP_1001."""
    if tokens.kind == "variable":
        return parse_reference(tokens)
    if tokens.kind == "word" and tokens.value in AGGREGATES:
        return _parse_aggregate(tokens)
    raise tokens.unexpected(what, place="projection")


def _parse_aggregate(tokens: Tokens) -> ast.Aggregate:
    start, function = tokens.start, cast("ast.AggregateName", tokens.value)
    tokens.advance()
    opened = tokens.start
    tokens.expect("(", f"'(' after {function}")
    distinct = False
    if function == "COUNT":
        distinct = tokens.take_word("DISTINCT")
    elif tokens.is_word("DISTINCT"):
        raise tokens.fail(f"DISTINCT does not go with {function}", hint="Only COUNT(DISTINCT ?x) takes DISTINCT.")
    if tokens.kind != "variable":
        raise tokens.unexpected(f"the variable that {function} takes", place="aggregate")
    argument = parse_reference(tokens)
    tokens.close(")", opened, "')'", hint=f"{function} takes one variable or path.")
    return ast.Aggregate(function, argument, distinct, span=tokens.span(start))


# --- matchers (3.4.1, 3.4.2) --------------------------------------------------------------------


def parse_concept_matcher(tokens: Tokens, *, exact: bool) -> ast.ConceptMatcher:
    """``{id: ..}``, ``{type: .., name: ..}``, ``{type: ..}`` or ``{name: ..}``.

    ``exact`` asks for one element, as KML identities do (4.1): the id, or type and name. Raises KIP_1001.
    """
    opened = tokens.start
    tokens.advance()
    found: dict[str, ast.Value] = {}
    while True:
        key, key_start = tokens.value, tokens.start
        if tokens.kind not in ("word", "string") or key not in _MATCHER_KEYS:
            raise tokens.unexpected("id, type or name", place="matcher key")
        if key in found:
            raise duplicate_key(tokens, key, key_start)
        tokens.colon("the key")
        found[key] = parse_text(tokens, f"the {key}")
        if not tokens.take(","):
            break
    tokens.close("}", opened, "',' or '}'", place="after matcher value")
    _check_identity(tokens, found, opened, exact)
    return ast.ConceptMatcher(found.get("id"), found.get("type"), found.get("name"), span=tokens.span(opened))


def _check_identity(tokens: Tokens, found: dict[str, ast.Value], opened: int, exact: bool) -> None:
    if "id" in found and len(found) > 1:
        raise tokens.fail(
            "a concept is matched by its id or by type and name, not by both",
            hint="Keep {id: ..}, or {type: .., name: ..}.",
            offset=opened,
        )
    if exact and "id" not in found and len(found) < 2:
        raise tokens.fail(
            "this identity does not name one concept",
            hint='Give both, {type: "Drug", name: "Aspirin"}, or {id: ".."}.',
            offset=opened,
        )


def parse_link_matcher(tokens: Tokens, *, exact: bool) -> ast.LinkMatcher:
    """``(id: ..)`` or ``(subject, predicate, object)``.

    ``exact`` asks for one element, as KML identities do (4.1): one literal predicate without hops. Raises KIP_1001.
    """
    opened = tokens.start
    tokens.nest()
    tokens.expect("(", "'('", place="link")
    if tokens.is_word("id"):
        tokens.colon("id")
        link_id = parse_text(tokens, "the id")
        tokens.close(")", opened, "')'")
        tokens.depth -= 1
        return ast.LinkIdMatcher(link_id, span=tokens.span(opened))
    subject = parse_endpoint(tokens, "the subject", exact=exact)
    tokens.expect(",", "',' after the subject", place="after endpoint")
    predicate = _parse_predicate(tokens, exact=exact)
    tokens.expect(",", "',' after the predicate", place="after predicate")
    target = parse_endpoint(tokens, "the object", exact=exact)
    tokens.close(")", opened, "')' after the object", place="after endpoint")
    tokens.depth -= 1
    return ast.TripleMatcher(subject, predicate, target, span=tokens.span(opened))


def parse_endpoint(tokens: Tokens, what: str, *, exact: bool) -> ast.Endpoint:
    """A variable, a concept matcher or a nested link matcher, none of them with a variable before it."""
    if tokens.kind == "variable":
        start = tokens.start
        name = parse_variable(tokens, what)
        return ast.Variable(name, span=tokens.span(start))
    if tokens.kind == "{":
        return parse_concept_matcher(tokens, exact=exact)
    if tokens.kind == "(":
        return parse_link_matcher(tokens, exact=exact)
    raise tokens.unexpected(f"{what}: ?variable, {{..}} or (..)", place="endpoint")


def _parse_predicate(tokens: Tokens, *, exact: bool) -> ast.PredicateNames | ast.Variable:
    start = tokens.start
    if tokens.kind == "variable":
        return _parse_predicate_variable(tokens, exact=exact)
    names: list[ast.Value] = [parse_text(tokens, "the predicate")]
    if exact and tokens.kind in ("{", "|"):
        raise tokens.fail("a link that is written has one predicate", hint="Hops and alternatives are for WHERE.")
    hops = _parse_hops(tokens) if tokens.kind == "{" else None
    while hops is None and tokens.take("|"):
        names.append(parse_text(tokens, "the predicate"))
    if tokens.kind in ("{", "|"):
        raise tokens.fail(
            "a predicate has hops or alternatives, not both",
            hint='Write ("a" | "b") links with UNION, or hops on one predicate.',
        )
    return ast.PredicateNames(tuple(names), hops, span=tokens.span(start))


def _parse_predicate_variable(tokens: Tokens, *, exact: bool) -> ast.Variable:
    start = tokens.start
    if exact:
        raise tokens.fail(
            "the predicate of a link that is written cannot be a variable",
            hint='Name the predicate: "treats" or a placeholder.',
        )
    name = parse_variable(tokens, "the predicate")
    if tokens.kind in ("{", "|"):
        raise tokens.fail(
            "a predicate variable takes no hops and no alternatives",
            hint="Hops and alternatives are for literal predicates; FILTER(IN(?p, [..])) narrows a variable.",
        )
    return ast.Variable(name, span=tokens.span(start))


def _parse_hops(tokens: Tokens) -> ast.Hops:
    opened = tokens.start
    tokens.advance()
    minimum = _parse_hop_count(tokens)
    maximum: int | None = minimum
    if tokens.take(","):
        maximum = None if tokens.kind == "}" else _parse_hop_count(tokens)
    tokens.close("}", opened, "'}' after the hops", place="hops")
    if maximum is not None and maximum < minimum:
        raise tokens.fail(
            f"the hop range {{{minimum},{maximum}}} is empty",
            hint="The first number is the least, the second the most.",
            offset=opened,
        )
    return ast.Hops(minimum, maximum, span=tokens.span(opened))


def _parse_hop_count(tokens: Tokens) -> int:
    count = tokens.number() if tokens.kind == "number" else None
    if not isinstance(count, int) or tokens.value.startswith("-"):
        raise tokens.unexpected("a number of hops, 0 or more", place="hops")
    tokens.advance()
    return count
