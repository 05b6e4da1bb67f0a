"""The schema registry of one space: which types and predicates are defined (SPECIFICATION.md 2.9)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kip.backends.base import Change, Concept, Reader
from kip.compile.pattern import compiled_pattern
from kip.compile.statement import parameter_value
from kip.errors import KipError
from kip.lang import ast
from kip.plan import algebra as op
from kip.plan.bind import bind_find
from kip.values import Json

CONCEPT_TYPE = "$ConceptType"
PROPOSITION_TYPE = "$PropositionType"

_TYPE_NAME = re.compile(r"[A-Z][A-Za-z0-9]*", re.ASCII)
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_PREDICATE_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)

SchemaKind = Literal["type", "predicate"]


@dataclass(slots=True)
class Registry:
    """Definitions by name. A writer works on a copy that grows as its command defines names."""

    types: dict[str, dict[str, Json]]
    predicates: dict[str, dict[str, Json]]

    def copy(self) -> Registry:
        """An independent copy."""
        return Registry(dict(self.types), dict(self.predicates))

    def define(self, concept: Concept) -> None:
        """Take note of a definition node; other concepts are ignored."""
        if concept.type == CONCEPT_TYPE:
            self.types[concept.name] = concept.attributes
        elif concept.type == PROPOSITION_TYPE:
            self.predicates[concept.name] = concept.attributes

    def require(self, kind: SchemaKind, name: Json) -> str:
        """``name`` if it is registered; raises KIP_2001, naming the nearest registered name."""
        if isinstance(name, str) and name in self._names(kind):
            return name
        raise self._unknown(kind, name)

    def require_any(self, kind: SchemaKind, names: Iterable[Json]) -> None:
        """At least one of the alternatives must be registered (decision 11); raises KIP_2001."""
        listed = list(names)
        if not any(isinstance(name, str) and name in self._names(kind) for name in listed):
            raise self._unknown(kind, listed[0])

    def append_only(self, kind: SchemaKind, name: str) -> bool:
        """True when the definition carries ``append_only: true`` (decision 12)."""
        return self._names(kind).get(name, {}).get("append_only") is True

    def _names(self, kind: SchemaKind) -> dict[str, dict[str, Json]]:
        return self.types if kind == "type" else self.predicates

    def _unknown(self, kind: SchemaKind, name: Json) -> KipError:
        label, listing = ("concept type", "CONCEPT") if kind == "type" else ("predicate", "PROPOSITION")
        by_folded = {known.casefold(): known for known in self._names(kind)}
        close = difflib.get_close_matches(str(name).casefold(), list(by_folded), 1, 0.7)
        guess = f"Did you mean {by_folded[close[0]]!r}? " if close else ""
        return KipError(
            "KIP_2001",
            f"the {label} {name!r} is not registered",
            hint=f"{guess}List the registered names with DESCRIBE {listing} TYPES, or define it first.",
        )


def check_definition_name(type: str, name: str) -> None:
    """Names of types and predicates have one form each (decision 11).

    Raises KIP_2002 for a title of several words, which only needs joining, and KIP_1002 for anything else.
    """
    if name in (CONCEPT_TYPE, PROPOSITION_TYPE):
        return
    is_type = type == CONCEPT_TYPE
    form, style = (_TYPE_NAME, "UpperCamelCase") if is_type else (_PREDICATE_NAME, "snake_case")
    if form.fullmatch(name):
        return
    words = name.split(" ")
    joined = "".join(word[:1].upper() + word[1:] for word in words) if is_type else "_".join(words).lower()
    if len(words) > 1 and form.fullmatch(joined):
        raise KipError(
            "KIP_2002", f"{name!r} is written as {joined!r}: such names are {style}", hint=f"Use {joined!r}."
        )
    label, example = ("concept type", "Drug, MedicalDevice") if is_type else ("predicate", "treats, has_side_effect")
    raise KipError("KIP_1002", f"{name!r} cannot name a {label}", hint=f"Use {style}: {example}.")


MAX_INDEXES, MAX_INDEX_KEYS = 8, 4


def check_definition(concept: Concept) -> None:
    """The parts of a definition that the engine acts on; raises KIP_2003.

    ``indexes`` on a concept type is a list of lists of attribute names: each asks the store for an index by which
    instances are filtered and ordered. ``append_only`` is a boolean (decision 12).
    """
    if concept.type not in (CONCEPT_TYPE, PROPOSITION_TYPE):
        return
    if not isinstance(concept.attributes.get("append_only", False), bool):
        raise KipError("KIP_2003", f"append_only of {concept.name} must be true or false")
    indexes = concept.attributes.get("indexes")
    if concept.type == CONCEPT_TYPE and indexes is not None and not _are_indexes(indexes):
        hint = f'At most {MAX_INDEXES} lists of 1 to {MAX_INDEX_KEYS} attribute names: [["city", "score"], ["age"]].'
        raise KipError("KIP_2003", f"indexes of {concept.name} must be a list of lists of attribute names", hint=hint)


def _are_indexes(value: Json) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MAX_INDEXES
        and all(isinstance(keys, list) and 1 <= len(keys) <= MAX_INDEX_KEYS and _are_keys(keys) for keys in value)
    )


def _are_keys(keys: list[Json]) -> bool:
    return all(isinstance(key, str) and _KEY.fullmatch(key) for key in keys)


def _definitions(type: str) -> op.Query:
    where = (ast.ConceptClause("d", ast.ConceptMatcher(type=ast.Literal(type))),)
    fields = (ast.Path("d", "name"), ast.Path("d", "attributes"))
    return bind_find(ast.Find(fields, where))


_TYPES, _PREDICATES = _definitions(CONCEPT_TYPE), _definitions(PROPOSITION_TYPE)


def _instances(is_type: bool) -> op.Query:
    name = ast.Parameter("name")
    where: tuple[ast.Clause, ...] = (ast.ConceptClause("x", ast.ConceptMatcher(type=name)),)
    if not is_type:
        triple = ast.TripleMatcher(ast.Variable("s"), ast.PredicateNames((name,)), ast.Variable("o"))
        where = (ast.LinkClause("x", triple),)
    return bind_find(ast.Find((ast.Path("x", "id"),), where, limit=ast.Parameter("limit")))


_INSTANCES = {CONCEPT_TYPE: _instances(True), PROPOSITION_TYPE: _instances(False)}


def check_unused(changes: Sequence[Change], reader: Reader) -> None:
    """A definition stays as long as it has instances (2.9.1: define before use); raises KIP_2002."""
    removed = {change.before.id for change in changes if change.before is not None and change.after is None}
    for change in changes:
        definition = change.before
        if change.after is None and isinstance(definition, Concept) and definition.type in _INSTANCES:
            parameters: dict[str, Json] = {"name": definition.name, "limit": len(removed) + 1}
            rows = reader.find(_INSTANCES[definition.type], parameters).rows
            if any(id not in removed for (id,) in rows):
                hint = "Delete what uses it first, or leave it."
                raise KipError("KIP_2002", f"{definition.name!r} is still in use", hint=hint)


def read_registry(reader: Reader) -> Registry:
    """All definitions of a space. The two meta-types are known even before Genesis is loaded."""
    types: dict[str, dict[str, Json]] = {CONCEPT_TYPE: {}, PROPOSITION_TYPE: {}}
    predicates: dict[str, dict[str, Json]] = {}
    for query, target in ((_TYPES, types), (_PREDICATES, predicates)):
        for name, attributes in reader.find(query, {}).rows:
            if isinstance(name, str) and isinstance(attributes, dict):
                target[name] = attributes
    return Registry(types, predicates)


class SchemaCache:
    """The registry of each space, read again when its schema version has moved."""

    def __init__(self) -> None:
        self._known: tuple[int, Registry] | None = None

    def of(self, reader: Reader) -> Registry:
        """The current registry of the reader's space; shared, not to be changed."""
        version = reader.schema_version()
        known = self._known
        if known is None or known[0] != version:
            known = (version, read_registry(reader))
            self._known = known
        return known[1]


def check_query(query: op.Query, registry: Registry, parameters: Mapping[str, Json]) -> None:
    """Raise KIP_2001 when a query names a type or predicate that is not registered, KIP_2003 when it holds a regular
    expression that REGEX does not take, whether or not any solution comes to it."""
    for use in query.schema_uses:
        registry.require_any(use.kind, [parameter_value(item, parameters) for item in use.names])
    for pattern in query.patterns:
        text = parameter_value(pattern, parameters)
        if isinstance(text, str):
            compiled_pattern(text)
