"""EXPORT (SPECIFICATION.md 5.3): a matched set as an idempotent UPSERT script."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kip.backends.base import Concept, Element, Link, Reader
from kip.lang import ast, format
from kip.nexus.query import Response
from kip.nexus.resolve import Parameters
from kip.nexus.schema import Registry, check_query
from kip.plan import algebra as op
from kip.plan.bind import bind_targets
from kip.plan.rewrite import rewrite
from kip.values import Json


def plan_export(command: ast.Export) -> op.Query:
    """The plan of an EXPORT: concepts first, definitions before their instances, links last.

    Pages in this order can be imported one after the other: what a link refers to has come before it.
    """
    query = bind_targets(command.where, (command.target,), command.limit, command.cursor)
    target = query.columns[0]
    assert isinstance(target, op.Field)
    return replace(query, order=(op.Sort(None, op.Field(target.variable, "type"), False),))


def export(query: op.Query, parameters: Parameters, reader: Reader, registry: Registry) -> Response:
    """The response of an EXPORT; ``capsule`` is empty when nothing matched."""
    check_query(query, registry, parameters)
    page = reader.find(query, parameters)
    ids = [id for (id,) in page.rows if isinstance(id, str)]
    found = reader.elements(ids)
    elements = [found[id] for id in ids]
    concepts = [element for element in elements if isinstance(element, Concept)]
    links = [element for element in elements if isinstance(element, Link)]
    ahead = _ahead(query, links, found, parameters, reader) if page.cursor is not None else []
    found.update((link.id, link) for link in ahead)
    ordered = _in_order_of_reference([*ahead, *links])
    blocks = _Blocks(concepts, ordered, _outside(ordered, found, reader)).build()
    response: Response = {
        "result": {
            "capsule": format(ast.Upsert((ast.UpsertStatement(blocks),))) if blocks else "",
            "concepts": len(concepts),
            "propositions": len(links),
        }
    }
    if page.cursor is not None:
        response["next_cursor"] = page.cursor
    return response


def _ahead(
    query: op.Query, links: list[Link], found: dict[str, Element], parameters: Parameters, reader: Reader
) -> list[Link]:
    """Links of later pages that links of this page are about: a MERGE may have pointed an old link at a newer one.

    They are written here too, so that this page can be imported before the page they belong to.
    """
    ahead: dict[str, Link] = {}
    wanted = {end for link in links for end in (link.subject, link.object)} - set(found)
    while wanted := {end for end in wanted if end.startswith("P:")} - set(ahead):
        ends: list[Json] = [*sorted(wanted)]
        target = query.columns[0]
        assert isinstance(target, op.Field)
        only = op.Filter(op.Member(target, tuple(op.Const(end) for end in ends)))
        block = replace(query.block, operators=(*query.block.operators, only))
        within = rewrite(replace(query, block=block, limit=None, cursor=None))
        ids = [id for (id,) in reader.find(within, parameters).rows if isinstance(id, str)]
        read = [link for link in reader.elements(ids).values() if isinstance(link, Link)]
        ahead.update((link.id, link) for link in read)
        wanted = {end for link in read for end in (link.subject, link.object)} - set(found)
    return list(ahead.values())


def _in_order_of_reference(links: list[Link]) -> list[Link]:
    """Links after the links they refer to (a MERGE may have pointed an old link at a newer one)."""
    by_id = {link.id: link for link in links}
    ordered: dict[str, Link] = {}

    def visit(link: Link) -> None:
        for end in (link.subject, link.object):
            if end in by_id and end not in ordered:
                visit(by_id[end])
        ordered[link.id] = link

    for link in links:
        if link.id not in ordered:
            visit(link)
    return list(ordered.values())


def _outside(links: Iterable[Link], inside: dict[str, Element], reader: Reader) -> dict[str, Element]:
    """Endpoints outside the export, and the endpoints of those that are links, as deep as they nest."""
    found: dict[str, Element] = {}
    wanted = {end for link in links for end in (link.subject, link.object)} - set(inside)
    while wanted:
        read = reader.elements(wanted)
        found.update(read)
        ends = {end for link in read.values() if isinstance(link, Link) for end in (link.subject, link.object)}
        wanted = ends - set(found) - set(inside)
    return found


class _Blocks:
    """Builds the blocks of one capsule."""

    def __init__(self, concepts: list[Concept], links: list[Link], outside: dict[str, Element]) -> None:
        self._concepts = concepts
        self._links = links
        self._handles = {element.id: f"e{number}" for number, element in enumerate([*concepts, *links], 1)}
        self._known: dict[str, Element] = {**outside, **{element.id: element for element in [*concepts, *links]}}

    def build(self) -> tuple[ast.ConceptBlock | ast.PropositionBlock, ...]:
        """Concept blocks, then proposition blocks."""
        return (*map(self._concept, self._concepts), *map(self._link, self._links))

    def _concept(self, concept: Concept) -> ast.ConceptBlock:
        return ast.ConceptBlock(
            self._handles[concept.id],
            _identity(concept),
            attributes=_entries(concept.attributes),
            metadata=_entries(_author_metadata(concept)),
        )

    def _link(self, link: Link) -> ast.PropositionBlock:
        return ast.PropositionBlock(
            self._handles[link.id],
            ast.TripleMatcher(self._end(link.subject), _predicate(link), self._end(link.object)),
            attributes=_entries(link.attributes),
            metadata=_entries(_author_metadata(link)),
        )

    def _end(self, id: str) -> ast.Endpoint:
        if id in self._handles:
            return ast.Variable(self._handles[id])
        element = self._known[id]
        if isinstance(element, Concept):
            return _identity(element)
        return ast.TripleMatcher(self._end(element.subject), _predicate(element), self._end(element.object))


def _identity(concept: Concept) -> ast.ConceptMatcher:
    return ast.ConceptMatcher(type=ast.Literal(concept.type), name=ast.Literal(concept.name))


def _predicate(link: Link) -> ast.PredicateNames:
    return ast.PredicateNames((ast.Literal(link.predicate),))


def _author_metadata(element: Element) -> dict[str, Json]:
    return {key: value for key, value in element.metadata.items() if not key.startswith("_")}


def _entries(values: dict[str, Json]) -> ast.Entries | None:
    return ast.Literal(values) if values else None
