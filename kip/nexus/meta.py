"""DESCRIBE and SEARCH (SPECIFICATION.md 5.1, 5.2): introspection and grounding."""

from __future__ import annotations

import functools
from typing import assert_never, cast

from kip.backends.base import Hit, Link, Reader, TextSearch
from kip.backends.scoring import coverage
from kip.compile.text_query import Texts, link_texts, tokens
from kip.errors import KipError
from kip.lang import ast, parse
from kip.nexus.query import Response, find
from kip.nexus.resolve import Parameters, resolve, resolve_count, resolve_text
from kip.nexus.schema import CONCEPT_TYPE, PROPOSITION_TYPE, Registry
from kip.plan import algebra as op
from kip.plan.bind import bind_find
from kip.values import Json

KEY_CONCEPTS = 10
"""How many concepts of a domain the primer names."""

MODES = ("keyword", "semantic", "hybrid")


@functools.cache
def _query(text: str) -> op.Query:
    command = parse(text)
    assert isinstance(command, ast.Find)
    return bind_find(command)


def _rows(text: str, reader: Reader, parameters: Parameters | None = None) -> list[tuple[Json, ...]]:
    return reader.find(_query(text), parameters or {}).rows


def describe(command: ast.Describe, parameters: Parameters, reader: Reader, registry: Registry) -> Response:
    """The response of a DESCRIBE; raises KIP_2001 for a definition that does not exist."""
    match command:
        case ast.DescribePrimer():
            domains = _domains(reader)
            for domain in domains:
                domain.update(_domain_content(str(domain["name"]), reader))
            return {
                "result": {
                    "identity": _identity(reader),
                    "domain_map": cast(Json, domains),
                    "total_domains": len(domains),
                }
            }
        case ast.DescribeDomains():
            return {"result": cast(Json, _domains(reader))}
        case ast.DescribeTypes():
            return _describe_types(command, parameters, reader, registry)
        case ast.DescribeType():
            name = resolve_text(command.name, parameters, "the name of a type")
            registry.require("type" if command.kind == "concept" else "predicate", name)
            type = CONCEPT_TYPE if command.kind == "concept" else PROPOSITION_TYPE
            return {"result": cast(Json, reader.concepts([(type, name)])[type, name].to_json())}
        case _:
            assert_never(command)


def _identity(reader: Reader) -> dict[str, Json]:
    """What ``$self`` says about itself; empty when the store has no ``$self``."""
    found = reader.concepts([("Person", "$self")]).get(("Person", "$self"))
    if found is None:
        return {}
    return {"type": found.type, "name": found.name, **found.attributes, "search_modes": ["keyword"]}


def _domains(reader: Reader) -> list[dict[str, Json]]:
    rows = _rows('FIND(?d.name, ?d.attributes) WHERE { ?d {type: "Domain"} } ORDER BY ?d.name', reader)
    return [{"name": name, **cast(dict[str, Json], attributes)} for name, attributes in rows]


def _domain_content(name: str, reader: Reader) -> dict[str, Json]:
    members = '(?c, "belongs_to_domain", {type: "Domain", name: :domain})'
    parameters: Parameters = {"domain": name, "limit": KEY_CONCEPTS}
    [(count,)] = _rows(f"FIND(COUNT(?c)) WHERE {{ {members} }}", reader, parameters)
    key = _rows(f"FIND(?c.id, ?c.type, ?c.name) WHERE {{ {members} }} LIMIT :limit", reader, parameters)
    links = _rows(
        "FIND(?p, COUNT(?l)) WHERE { ?l (?c, ?p, ?o) FILTER(IN(?c.id, :ids)) } ORDER BY COUNT(?l) DESC, ?p",
        reader,
        {"ids": [id for id, _, _ in key]},
    )
    return {
        "concepts": count,
        "key_concepts": [{"type": type, "name": name} for _, type, name in key],
        "key_propositions": [predicate for predicate, _ in links if predicate != "belongs_to_domain"],
    }


def _describe_types(command: ast.DescribeTypes, parameters: Parameters, reader: Reader, registry: Registry) -> Response:
    type = CONCEPT_TYPE if command.kind == "concept" else PROPOSITION_TYPE
    name = ast.Path("t", "name")
    listing = ast.Find(
        (name,),
        (ast.ConceptClause("t", ast.ConceptMatcher(type=ast.Literal(type))),),
        (ast.SortKey(name),),
        command.limit,
        command.cursor,
    )
    return find(bind_find(listing), parameters, reader, registry)


# --- SEARCH -------------------------------------------------------------------------------------


def search(command: ast.Search, parameters: Parameters, reader: Reader, registry: Registry) -> Response:
    """The response of a SEARCH: elements with their transient ``_score``, best first.

    Raises KIP_2001 for an unregistered WITH TYPE, KIP_2003 for an unknown mode or a threshold outside 0-1.
    """
    term = resolve_text(command.term, parameters, "the search term")
    limit = resolve_count(command.limit, parameters, "LIMIT")
    threshold = _threshold(command, parameters)
    _check_mode(command, parameters)
    type = None if command.type is None else resolve_text(command.type, parameters, "WITH TYPE")
    wanted = tuple(tokens(term))
    if command.kind == "concept":
        if type is not None:
            registry.require("type", type)
        hits = reader.search(TextSearch(wanted, "concept", type, limit))
    else:
        if type is not None:
            registry.require("predicate", type)
        hits = _search_propositions(wanted, type, limit, reader, registry)
    return {"result": [_scored(hit) for hit in hits if hit.score >= threshold]}


def _threshold(command: ast.Search, parameters: Parameters) -> float:
    if command.threshold is None:
        return 0.0
    found = resolve(command.threshold, parameters)
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 <= found <= 1:
        raise KipError("KIP_2003", "THRESHOLD must be a number from 0 to 1")
    return float(found)


def _check_mode(command: ast.Search, parameters: Parameters) -> None:
    """Without a semantic index every mode is served as keyword search (5.2.1)."""
    mode = "keyword" if command.mode is None else resolve(command.mode, parameters)
    if mode not in MODES:
        raise KipError("KIP_2003", f"{mode!r} is not a search mode", hint='Use "keyword", "semantic" or "hybrid".')


def _search_propositions(
    wanted: tuple[str, ...], predicate: str | None, limit: int | None, reader: Reader, registry: Registry
) -> list[Hit]:
    """Links whose predicate's name or description, or whose own text, holds one of the tokens.

    A link is scored by all of these together; at most ``limit`` links of each matching predicate are looked at.
    """
    weights = reader.weights(dict.fromkeys(wanted))
    found = {hit.element.id: hit.element for hit in reader.search(TextSearch(wanted, "link", predicate, limit))}
    for name, definition in registry.predicates.items():
        if (predicate is None or name == predicate) and coverage(_predicate_texts(name, definition), weights) > 0:
            page = " LIMIT :limit" if limit is not None else ""
            text = f"FIND(?l.id) WHERE {{ ?l (?s, :predicate, ?o) }}{page}"
            rows = _rows(text, reader, {"predicate": name, "limit": limit})
            found.update(reader.elements(id for (id,) in rows if isinstance(id, str)))
    hits: list[Hit] = []
    for link in found.values():
        if isinstance(link, Link):
            naming, description = _predicate_texts(link.predicate, registry.predicates.get(link.predicate, {}))
            own = link_texts(link.predicate, link.attributes)[1]
            hits.append(Hit(link, coverage((naming, description + own), weights)))
    hits.sort(key=lambda hit: -hit.score)
    return hits[:limit]


def _predicate_texts(name: str, definition: dict[str, Json]) -> Texts:
    description = definition.get("description")
    return [name], [description] if isinstance(description, str) else []


def _scored(hit: Hit) -> Json:
    data = hit.element.to_json()
    metadata = cast(dict[str, Json], data["metadata"])
    return cast(Json, {**data, "metadata": {**metadata, "_score": round(hit.score, 6)}})
