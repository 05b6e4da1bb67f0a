"""Holds a sequence of writes against the model: answers, counters and the graph that is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from kip.clock import iso
from kip.values import dumps
from tests.oracle.evaluate import Node, RefusedError, TooLargeError
from tests.oracle.generate_kml import SETUP, Write, elements, write
from tests.oracle.model import Model
from tests.oracle.store import Loader

MOST_REMOVED = 8


class DisagreementError(Exception):
    """The engine did something else than the model."""


@dataclass
class Sequence:
    """A store with a graph, the model of it, and what was written so far."""

    loader: Loader
    model: Model
    log: list[Write] = field(default_factory=list)

    @classmethod
    def start(cls, loader: Loader) -> Sequence:
        sequence = cls(loader, Model(loader.graph))
        sequence.apply(Write(SETUP, {}, dry_run=False))
        return sequence

    def step(self, rng: Random) -> None:
        """One more random write. Those that would take away much of the graph are left out, mostly."""
        while self.model.graph.links:
            command = write(rng, self.model.graph)
            try:
                preview = Model(self.model.graph).execute(command.text, command.parameters, "", lambda ids, n: ids[:n])
            except RefusedError:
                break
            except TooLargeError:
                continue
            removed = [preview.get(f"deleted_{kind}", 0) for kind in ("concepts", "propositions")]
            if sum(removed) <= MOST_REMOVED or rng.random() < 0.05:
                break
        else:
            return  # nothing is left to write about
        self.apply(command)

    def apply(self, command: Write) -> None:
        """Run a command on both; raises DisagreementError."""
        self.log.append(command)
        self.loader.clock.advance(timedelta(seconds=1))
        request = {"command": command.text, "parameters": command.parameters, "dry_run": command.dry_run}
        try:
            response = self.loader.nexus.execute_kip(request)
        except Exception as error:  # noqa: BLE001
            response = {"error": {"code": "raised", "message": repr(error)}}
        stored = self.stored()
        try:
            expected = self.model.execute(
                command.text,
                command.parameters,
                iso(self.loader.clock.now()),
                self.chosen(stored),
                dry_run=command.dry_run,
            )
        except RefusedError as error:
            if response.get("error", {}).get("code") != error.code:
                raise DisagreementError(f"the code must be {error.code}, the response is {response}") from None
        else:
            if "error" in response:
                raise DisagreementError(f"the result must be {expected}, the response is {response}")
            names = self.new_ids(stored)
            self.model.rename(names)
            self.compare_results(expected, response["result"], names)
        self.compare_graphs(elements(self.model.graph), stored)

    def stored(self) -> dict[str, Node]:
        """All elements that the engine has now."""
        found = self.find("?x {type: :type}", {"type": "$ConceptType"})
        for type in ["$PropositionType", *(node["name"] for node in found)]:
            found.extend(self.find("?x {type: :type}", {"type": type}))
        found.extend(self.find("?x (?s, ?p, ?o)", {}))
        return {node["id"]: node for node in found}

    def find(self, clause: str, parameters: dict[str, Any]) -> list[Node]:
        response = self.loader.nexus.execute_kip(
            {"command": f"FIND(?x) WHERE {{ {clause} }}", "parameters": parameters}
        )
        if "error" in response and response["error"]["code"] == "KIP_2001":
            return []
        return response["result"]

    def chosen(self, stored: Mapping[str, Node]) -> Any:
        """What an UPDATE with LIMIT took is told by the versions."""
        versions = {id: node["metadata"]["_version"] for id, node in elements(self.model.graph).items()}

        def choose(candidates: list[str], limit: int) -> list[str]:
            taken = [id for id in candidates if id in stored and stored[id]["metadata"]["_version"] != versions[id]]
            return taken if len(taken) == limit else candidates[:limit]

        return choose

    # --- comparison ---

    def new_ids(self, stored: Mapping[str, Node]) -> dict[str, str]:
        """The engine's ids of the elements that the model has made: the same identity, not known before."""
        names: dict[str, str] = {}
        concepts = {(n["type"], n["name"]): id for id, n in stored.items() if "type" in n}
        links = {(n["subject"], n["predicate"], n["object"]): id for id, n in stored.items() if "subject" in n}
        for id, node in self.model.graph.concepts.items():
            if id.startswith("new"):
                names[id] = concepts.get((node["type"], node["name"]), id)
        for id, node in self.model.graph.links.items():  # a link comes after the links that it is about
            if id.startswith("new"):
                ends = (names.get(node[end], node[end]) for end in ("subject", "object"))
                subject, object = ends
                names[id] = links.get((subject, node["predicate"], object), id)
        return names

    def compare_results(self, expected: dict[str, Any], actual: Any, names: Mapping[str, str]) -> None:
        renamed = {
            key: [names.get(id, id) for id in value] if isinstance(value, list) else value
            for key, value in expected.items()
        }
        if renamed != actual:
            raise DisagreementError(f"the result must be {renamed}, it is {actual}")

    def compare_graphs(self, expected: dict[str, Node], actual: dict[str, Node]) -> None:
        differences = [
            f"{id}: must be {shown(expected.get(id))}\n{' ' * len(id)}      it is {shown(actual.get(id))}"
            for id in sorted({*expected, *actual})
            if shown(expected.get(id)) != shown(actual.get(id))
        ]
        if differences:
            raise DisagreementError("the graph differs\n" + "\n".join(differences))


def shown(node: Node | None) -> str:
    return "nothing" if node is None else dumps(node)
