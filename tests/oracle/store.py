"""Puts a generated graph into a store, and says what the store must hold then without asking it."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

from kip.backends.base import Authorship, Change, Concept
from kip.backends.sqlite import SqliteBackend
from kip.clock import FixedClock, iso
from kip.nexus import Nexus
from tests.oracle.evaluate import Graph, Node
from tests.oracle.generate import PREDICATES, TYPES, UNUSED_PREDICATE, UNUSED_TYPE, GraphSpec, dice, graph, text

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def open_space(backend: SqliteBackend, space: str, clock: FixedClock, first: str) -> tuple[Nexus, str]:
    """An engine on a space without Genesis, so that its graph is small and known to the last element.

    A space counts as new while it has no schema: ``first`` is the type whose definition is put in by hand. The
    second result is the definition's id.
    """
    backend.ensure_space(space)
    now = iso(clock.now())
    with backend.writing(space) as writer:
        (id,), _ = writer.allocate(1, [])
        definition = Concept(id, "$ConceptType", first, created_at=now, updated_at=now)
        writer.apply([Change(None, definition)], Authorship("tests", now, request="open"))
    return Nexus(backend, space=space, clock=clock), id


class Store:
    """A store of several spaces with one graph each, whose elements are written in turns."""

    def __init__(self, seed: int, spaces: int = 2) -> None:
        self.backend = SqliteBackend(":memory:")
        self.clock = FixedClock(START)
        rng = dice(seed)
        self.loaders = [Loader(self.backend, f"s{n}", self.clock, graph(rng)) for n in range(spaces)]
        pending = [loader.steps() for loader in self.loaders]
        while pending:
            for steps in list(pending):
                if next(steps, None) is None:
                    pending.remove(steps)

    def close(self) -> None:
        self.backend.close()


class Loader:
    """Writes one graph, a few elements at a time."""

    def __init__(self, backend: SqliteBackend, space: str, clock: FixedClock, spec: GraphSpec) -> None:
        self.clock = clock
        self.spec = spec
        self.graph = Graph()
        self.ids: list[str] = []
        self.nexus, first = open_space(backend, space, clock, TYPES[0])
        self._concept(first, "$ConceptType", TYPES[0], {}, {})

    def load(self) -> None:
        """Write everything."""
        for _ in self.steps():
            pass

    def steps(self) -> Any:
        """Each step is one command. Yields a true value after each."""
        self._define()
        yield True
        for at in range(0, len(self.spec.concepts), 7):
            self._concepts(at, at + 7)
            yield True
        for link in self.spec.links:
            self._link(link)
            yield True
        for number in self.spec.touched:
            self._touch(self.ids[number])
            yield True

    def _run(self, command: str, parameters: dict[str, Any] | None = None) -> Any:
        self.clock.advance(timedelta(milliseconds=1))
        response = self.nexus.execute_kip({"command": command, "parameters": parameters or {}})
        assert "error" not in response, (command, response)
        return response["result"]

    def _maintained(self, metadata: dict[str, Any]) -> dict[str, Any]:
        now = iso(self.clock.now())
        return {**copy.deepcopy(metadata), "_version": 1, "_created_at": now, "_updated_at": now}

    def _concept(self, id: str, type: str, name: str, attributes: dict[str, Any], metadata: dict[str, Any]) -> None:
        self.graph.concepts[id] = {
            "id": id,
            "type": type,
            "name": name,
            "attributes": copy.deepcopy(attributes),
            "metadata": self._maintained(metadata),
        }

    def _define(self) -> None:
        definitions = [("$ConceptType", name) for name in (*TYPES[1:], UNUSED_TYPE)]
        definitions += [("$PropositionType", name) for name in (*PREDICATES, UNUSED_PREDICATE)]
        # Some attributes of some types are indexed: the same queries must give the same rows by another way.
        indexes = {"Beta": {"indexes": [["n"], ["s", "m"]]}, "Gamma": {"indexes": [["m"], ["b", "n"]]}}
        blocks = "".join(
            f"CONCEPT {{ {{type: {text(kind)}, name: {text(name)}}} SET ATTRIBUTES {text(indexes.get(name, {}))} }} "
            for kind, name in definitions
        )
        ids = self._run(f"UPSERT {{ {blocks} }}")["upsert_concept_nodes"]
        for id, (kind, name) in zip(ids, definitions, strict=True):
            self._concept(id, kind, name, indexes.get(name, {}), {})
        self.graph.registered["type"] = {"$ConceptType", "$PropositionType", *TYPES, UNUSED_TYPE}
        self.graph.registered["predicate"] = {*PREDICATES, UNUSED_PREDICATE}

    def _concepts(self, start: int, end: int) -> None:
        chosen = self.spec.concepts[start:end]
        blocks = "".join(
            f"CONCEPT {{ {{type: {text(concept.type)}, name: {text(concept.name)}}}"
            f" SET ATTRIBUTES {text(concept.attributes)} }} WITH METADATA :m{number}\n"
            for number, concept in enumerate(chosen)
        )
        parameters = {f"m{number}": concept.metadata for number, concept in enumerate(chosen)}
        ids = self._run(f"UPSERT {{ {blocks} }}", parameters)["upsert_concept_nodes"]
        for id, concept in zip(ids, chosen, strict=True):
            self._concept(id, concept.type, concept.name, concept.attributes, concept.metadata)
        self.ids.extend(ids)

    def _end(self, id: str) -> str:
        return f"{{id: {text(id)}}}" if id in self.graph.concepts else f"(id: {text(id)})"

    def _link(self, link: Any) -> None:
        subject, target = self.ids[link.subject], self.ids[link.object]
        matcher = f"({self._end(subject)}, {text(link.predicate)}, {self._end(target)})"
        command = f"UPSERT {{ PROPOSITION {{ {matcher} SET ATTRIBUTES :a }} WITH METADATA {text(link.metadata)} }}"
        (id,) = self._run(command, {"a": link.attributes})["upsert_proposition_links"]
        self.graph.links[id] = {
            "id": id,
            "subject": subject,
            "predicate": link.predicate,
            "object": target,
            "attributes": copy.deepcopy(link.attributes),
            "metadata": self._maintained(link.metadata),
        }
        self.ids.append(id)

    def _touch(self, id: str) -> None:
        block = "CONCEPT" if id in self.graph.concepts else "PROPOSITION"
        self._run(f"UPSERT {{ {block} {{ {self._end(id)} SET ATTRIBUTES {{touched: true}} }} }}")
        node: Node = self.graph.element(id)
        node["attributes"]["touched"] = True
        node["metadata"]["_version"] += 1
        node["metadata"]["_updated_at"] = iso(self.clock.now())
