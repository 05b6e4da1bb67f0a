"""SEARCH (SPECIFICATION.md 5.2): grounding by words, by meaning, or by both, with absolute scores (decision 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from kip.backends.base import Change, Concept, Hit, Link, Reader, Similar, TextSearch, Vectors
from kip.backends.scoring import coverage
from kip.compile.text_query import Texts, concept_texts, link_texts, tokens
from kip.embedding import Embedder, pack
from kip.errors import KipError
from kip.lang import ast
from kip.nexus.meta import rows_of
from kip.nexus.query import Response
from kip.nexus.resolve import Parameters, resolve, resolve_count, resolve_text
from kip.nexus.schema import Registry
from kip.values import Json

MODES = ("keyword", "semantic", "hybrid")

EMBEDDED_CHARACTERS = 2_000
"""How much of a concept's text takes part in its vector."""


_DIGITS = 6


@dataclass(frozen=True, slots=True)
class _Probe:
    """What is searched for."""

    term: str
    tokens: tuple[str, ...]
    scope: str | None
    limit: int | None


def search(
    command: ast.Search, parameters: Parameters, reader: Reader, registry: Registry, embedder: Embedder | None
) -> Response:
    """The response of a SEARCH: elements with their transient ``_score``, best first.

    Raises KIP_2001 for an unregistered WITH TYPE, KIP_2003 for an unknown mode or a threshold outside 0-1. Links are
    searched by words only.
    """
    term = resolve_text(command.term, parameters, "the search term")
    scope = None if command.type is None else resolve_text(command.type, parameters, "WITH TYPE")
    probe = _Probe(term, tuple(dict.fromkeys(tokens(term))), scope, resolve_count(command.limit, parameters, "LIMIT"))
    threshold = _threshold(command, parameters)
    mode = _mode(command, parameters, embedder)
    if scope is not None:
        registry.require("type" if command.kind == "concept" else "predicate", scope)
    if command.kind == "proposition":
        hits = _propositions(probe, reader, registry)
    elif mode == "keyword" or embedder is None or not term.strip():
        hits = reader.search(TextSearch(probe.tokens, "concept", scope, probe.limit))
    else:
        hits = _by_meaning(probe, mode, reader, embedder)
    # The threshold is held against the score as it is shown, so that a hit passes a threshold of its own score.
    return {"result": [_scored(hit) for hit in hits if round(hit.score, _DIGITS) >= threshold]}


def _threshold(command: ast.Search, parameters: Parameters) -> float:
    if command.threshold is None:
        return 0.0
    found = resolve(command.threshold, parameters)
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 <= found <= 1:
        raise KipError("KIP_2003", "THRESHOLD must be a number from 0 to 1")
    return float(found)


def _mode(command: ast.Search, parameters: Parameters, embedder: Embedder | None) -> str:
    """The mode asked for; hybrid where none is, and keyword without an embedder (5.2.1)."""
    mode = "hybrid" if command.mode is None else resolve(command.mode, parameters)
    if not isinstance(mode, str) or mode not in MODES:
        raise KipError("KIP_2003", f"{mode!r} is not a search mode", hint='Use "keyword", "semantic" or "hybrid".')
    return mode if embedder is not None else "keyword"


def _scored(hit: Hit) -> Json:
    data = hit.element.to_json()
    metadata = cast(dict[str, Json], data["metadata"])
    return cast(Json, {**data, "metadata": {**metadata, "_score": round(hit.score, _DIGITS)}})


# --- meaning ------------------------------------------------------------------------------------


def vectors_of(changes: Sequence[Change], embedder: Embedder | None) -> Vectors | None:
    """Vectors of the concepts whose text is new or has changed."""
    if embedder is None:
        return None
    texts: dict[str, str] = {}
    for change in changes:
        if isinstance(change.after, Concept):
            text = embedded_text(change.after)
            if not isinstance(change.before, Concept) or embedded_text(change.before) != text:
                texts[change.after.id] = text
    packed = [pack(vector) for vector in embedder.embed(list(texts.values()))] if texts else []
    return Vectors(embedder.name, dict(zip(texts, packed, strict=True)))


def embedded_text(concept: Concept) -> str:
    """The text whose meaning stands for a concept: its name and its other text attributes."""
    naming, other = concept_texts(concept.name, concept.attributes)
    return " ".join((*naming, *other))[:EMBEDDED_CHARACTERS]


def _by_meaning(probe: _Probe, mode: str, reader: Reader, embedder: Embedder) -> list[Hit]:
    [vector] = embedder.embed([probe.term])
    similar = Similar(embedder.name, pack(vector), probe.scope, probe.limit)
    nearest = reader.similar(similar)
    if mode == "semantic":
        return [Hit(hit.element, max(0.0, min(1.0, hit.score))) for hit in nearest if hit.score > 0]
    worded = reader.search(TextSearch(probe.tokens, "concept", probe.scope, probe.limit))
    cosines = {hit.element.id: hit.score for hit in nearest}
    cosines |= reader.similarities(similar, [hit.element.id for hit in worded if hit.element.id not in cosines])
    weights = reader.weights("concept", probe.tokens)
    found = {hit.element.id: hit.element for hit in (*worded, *nearest)}
    hits: list[Hit] = []
    for id, element in found.items():
        if isinstance(element, Concept):
            words = coverage(concept_texts(element.name, element.attributes), weights)
            hits.append(Hit(element, fused(words, cosines.get(id, 0.0))))
    hits.sort(key=lambda hit: -hit.score)
    return [hit for hit in hits if hit.score > 0][: probe.limit]


def fused(words: float, cosine: float) -> float:
    """One score of two, 0-1: either alone can carry a hit, and agreement of both lifts it."""
    meaning = max(0.0, min(1.0, cosine))
    return max(words, meaning) * 0.75 + min(words, meaning) * 0.25


# --- propositions -------------------------------------------------------------------------------


def _propositions(probe: _Probe, reader: Reader, registry: Registry) -> list[Hit]:
    """Links whose predicate's name or description, or whose own text, holds one of the tokens.

    A link is scored by all of these together; at most LIMIT links of each matching predicate are looked at.
    """
    weights = reader.weights("concept", probe.tokens)
    worded = reader.search(TextSearch(probe.tokens, "link", probe.scope, probe.limit))
    found = {hit.element.id: hit.element for hit in worded}
    for name, definition in registry.predicates.items():
        if probe.scope in (None, name) and coverage(_predicate_texts(name, definition), weights) > 0:
            page = " LIMIT :limit" if probe.limit is not None else ""
            text = f"FIND(?l.id) WHERE {{ ?l (?s, :predicate, ?o) }}{page}"
            rows = rows_of(text, reader, {"predicate": name, "limit": probe.limit})
            found.update(reader.elements(id for (id,) in rows if isinstance(id, str)))
    hits: list[Hit] = []
    for link in found.values():
        if isinstance(link, Link):
            naming, description = _predicate_texts(link.predicate, registry.predicates.get(link.predicate, {}))
            own = link_texts(link.predicate, link.attributes)[1]
            hits.append(Hit(link, coverage((naming, description + own), weights)))
    hits.sort(key=lambda hit: -hit.score)
    return hits[: probe.limit]


def _predicate_texts(name: str, definition: dict[str, Json]) -> Texts:
    description = definition.get("description")
    return [name], [description] if isinstance(description, str) else []
