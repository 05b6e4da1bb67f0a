"""DESCRIBE (SPECIFICATION.md 5.1): introspection."""

from __future__ import annotations

import functools
from typing import assert_never, cast

from kip.backends.base import Reader
from kip.lang import ast, parse
from kip.nexus.query import Response, find
from kip.nexus.resolve import Parameters, resolve_text
from kip.nexus.schema import CONCEPT_TYPE, PROPOSITION_TYPE, Registry
from kip.plan import algebra as op
from kip.plan.bind import bind_find
from kip.values import Json

KEY_CONCEPTS = 10
"""How many concepts of a domain the primer names."""


@functools.cache
def _query(text: str) -> op.Query:
    command = parse(text)
    assert isinstance(command, ast.Find)
    return bind_find(command)


def rows_of(text: str, reader: Reader, parameters: Parameters | None = None) -> list[tuple[Json, ...]]:
    """The solutions of a FIND that the engine itself asks."""
    return reader.find(_query(text), parameters or {}).rows


def describe(
    command: ast.Describe, parameters: Parameters, reader: Reader, registry: Registry, semantic: bool
) -> Response:
    """The response of a DESCRIBE; raises KIP_2001 for a definition that does not exist.

    ``semantic`` says whether meaning can be searched, which the primer tells (5.2.1).
    """
    match command:
        case ast.DescribePrimer():
            domains = _domains(reader)
            for domain in domains:
                domain.update(_domain_content(str(domain["name"]), reader))
            return {
                "result": {
                    "identity": _identity(reader, semantic),
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


def _identity(reader: Reader, semantic: bool) -> dict[str, Json]:
    """What ``$self`` says about itself; empty when the store has no ``$self``."""
    found = reader.concepts([("Person", "$self")]).get(("Person", "$self"))
    if found is None:
        return {}
    modes: list[Json] = ["keyword", "semantic", "hybrid"] if semantic else ["keyword"]
    return {**found.attributes, "type": found.type, "name": found.name, "search_modes": modes}


def _domains(reader: Reader) -> list[dict[str, Json]]:
    rows = rows_of('FIND(?d.name, ?d.attributes) WHERE { ?d {type: "Domain"} } ORDER BY ?d.name', reader)
    return [{**cast(dict[str, Json], attributes), "name": name} for name, attributes in rows]


def _domain_content(name: str, reader: Reader) -> dict[str, Json]:
    members = '(?c, "belongs_to_domain", {type: "Domain", name: :domain})'
    parameters: Parameters = {"domain": name, "limit": KEY_CONCEPTS}
    [(count,)] = rows_of(f"FIND(COUNT(?c)) WHERE {{ {members} }}", reader, parameters)
    key = rows_of(f"FIND(?c.id, ?c.type, ?c.name) WHERE {{ {members} }} LIMIT :limit", reader, parameters)
    links = rows_of(
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
