"""EXPLAIN: how a command would be carried out (an extension of kip; read-only)."""

from __future__ import annotations

from typing import assert_never, cast

from kip.backends.base import Reader
from kip.lang import ast
from kip.nexus.capsule import plan_export
from kip.nexus.query import Response
from kip.nexus.resolve import Parameters
from kip.nexus.schema import Registry, check_query
from kip.plan import algebra as op
from kip.plan.bind import bind_find, bind_targets
from kip.plan.show import show
from kip.values import Json


def explain(command: ast.Explain, parameters: Parameters, reader: Reader, registry: Registry) -> Response:
    """The response of an EXPLAIN: for each query of the command its plan, its statement in the store's own language,
    the values bound, how the store reads and which indexes it uses; and what is done apart from queries.

    Raises as the command itself does for its queries.
    """
    queries, steps = _parts(command.command)
    explained: list[Json] = []
    for query in queries:
        check_query(query, registry, parameters)
        found = reader.explain(query, parameters)
        explained.append(
            {
                "plan": cast(Json, show(query)),
                "statement": found.statement,
                "parameters": found.parameters,
                "access": cast(Json, found.access),
                "indexes": cast(Json, found.indexes),
            }
        )
    return {"result": {"command": type(command.command).__name__, "queries": explained, "steps": cast(Json, steps)}}


def _parts(command: ast.Find | ast.Kml | ast.Describe | ast.Search | ast.Export) -> tuple[list[op.Query], list[str]]:
    """The queries of a command, and what else it does."""
    match command:
        case ast.Find():
            return [bind_find(command)], []
        case ast.Export():
            return [plan_export(command)], ["write the elements found as a capsule"]
        case ast.Update():
            return [bind_targets(command.where, (command.target,), command.limit)], ["set keys of the elements found"]
        case ast.DeleteKeys():
            return [bind_targets(command.where, (command.target,))], ["remove keys of the elements found"]
        case ast.DeletePropositions() | ast.DeleteConcept():
            return [bind_targets(command.where, (command.target,))], ["remove them and all links about them"]
        case ast.Merge():
            queries = [
                bind_targets(command.where, (name,), ast.Literal(2)) for name in (command.target, command.source)
            ]
            return queries, ["move the links of the source", "fill the target", "remove the source"]
        case ast.Upsert():
            return [], _upsert_steps(command)
        case ast.Search():
            return [], [f"look up the {command.kind} index by words, and by meaning where an embedder is set"]
        case ast.DescribePrimer() | ast.DescribeDomains() | ast.DescribeTypes() | ast.DescribeType():
            return [], ["read the schema and the domains"]
        case _:
            assert_never(command)


def _upsert_steps(command: ast.Upsert) -> list[str]:
    blocks = [block for statement in command.statements for block in statement.blocks]
    concepts = sum(isinstance(block, ast.ConceptBlock) for block in blocks)
    links = len(blocks) - concepts + sum(len(b.propositions) for b in blocks if isinstance(b, ast.ConceptBlock))
    return [
        "read all concepts, ids and propositions that are referred to, in a constant number of round trips",
        f"match or create {concepts} concepts and {links} propositions in order",
        "apply what has changed in one transaction",
    ]
