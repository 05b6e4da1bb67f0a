"""What writes do to a graph, step by step on plain dicts (SPECIFICATION.md 2.10, 2.11, 4; decisions 11 and 12).

It reads commands with kip's parser and finds the elements of a WHERE with the naive evaluator; everything else is
its own. New elements have ids of the model's making until :meth:`Model.rename` gives them the engine's.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from math import inf, isfinite
from typing import Any
from unittest.mock import patch

from kip.lang import ast, parse
from kip.plan import bind
from kip.values import Json, dumps
from tests.oracle.evaluate import Graph, Node, RefusedError, evaluate

DEFINITIONS = {"$ConceptType": "type", "$PropositionType": "predicate"}
PROTECTED = {
    ("$ConceptType", "$ConceptType"),
    ("$ConceptType", "$PropositionType"),
    ("$ConceptType", "Domain"),
    ("$PropositionType", "belongs_to_domain"),
    ("Domain", "CoreSchema"),
}
ACTORS = {("Person", "$self"), ("Person", "$system")}

Choose = Callable[[list[str], int], list[str]]
"""Which of the candidates an UPDATE with LIMIT has taken: that is up to the engine (4.3)."""


class Model:
    """A graph, and how commands change it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def execute(
        self, command: str, parameters: Mapping[str, Json], now: str, choose: Choose, *, dry_run: bool = False
    ) -> dict[str, Json]:
        """The result of a command. Raises RefusedError with the code that it must fail with; then nothing changes."""
        write = Write(self.graph, parameters, now, choose)
        result = write.run(parse(command), dry_run)
        write.check_untouchable(self.graph)
        if not dry_run:
            self.graph = write.finished(self.graph)
        return result

    def rename(self, names: Mapping[str, str]) -> None:
        """Give new elements the ids that the engine gave them."""
        graph = Graph(registered=self.graph.registered)
        for old, mine in ((self.graph.concepts, graph.concepts), (self.graph.links, graph.links)):
            for node in old.values():
                fields = {end: names.get(node[end], node[end]) for end in ("id", "subject", "object") if end in node}
                mine[fields["id"]] = {**node, **fields}
        self.graph = graph


class Write:
    """One command on its way: a copy of the graph, and the elements that get a new version."""

    def __init__(self, graph: Graph, parameters: Mapping[str, Json], now: str, choose: Choose) -> None:
        self.parameters = parameters
        self.now = now
        self.choose = choose
        self.before = graph
        self.concepts: dict[str, Node] = copy.deepcopy(graph.concepts)
        self.links: dict[str, Node] = copy.deepcopy(graph.links)
        self.registered = {kind: set(names) for kind, names in graph.registered.items()}
        self.created: list[str] = []
        self.touched: set[str] = set()

    def run(self, tree: Any, dry_run: bool) -> dict[str, Json]:
        match tree:
            case ast.Upsert():
                return self.upsert(tree, dry_run)
            case ast.Update():
                return self.update(tree)
            case ast.DeleteKeys():
                return self.delete_keys(tree)
            case ast.DeletePropositions():
                return {"deleted_propositions": self.remove(self.targets(tree, self.before.links))}
            case ast.DeleteConcept():
                found = self.targets(tree, self.before.concepts)
                return {"deleted_concepts": len(found), "deleted_propositions": self.remove(found) - len(found)}
            case ast.Merge():
                return self.merge(tree)
        raise AssertionError(tree)

    # --- the graph on the way ---

    def element(self, id: str) -> Node:
        return self.concepts[id] if id in self.concepts else self.links[id]

    def version(self, node: Node | None) -> int:
        if node is None:
            return 0
        return node["metadata"]["_version"] + (node["id"] in self.touched)

    def concept(self, type: Json, name: Json) -> Node | None:
        return next((node for node in self.concepts.values() if (node["type"], node["name"]) == (type, name)), None)

    def link(self, subject: str, predicate: Json, object: str) -> Node | None:
        triple = (subject, predicate, object)
        return next((n for n in self.links.values() if (n["subject"], n["predicate"], n["object"]) == triple), None)

    def create(self, nodes: dict[str, Node], **fields: Json) -> Node:
        id = f"new{len(self.created)}"
        maintained = {"_version": 1, "_created_at": self.now, "_updated_at": self.now}
        nodes[id] = {"id": id, **fields, "attributes": {}, "metadata": maintained}
        self.created.append(id)
        return nodes[id]

    def touch(self, id: str) -> None:
        if id not in self.created:
            self.touched.add(id)

    def finished(self, before: Graph) -> Graph:
        """The graph after the command: one new version for each element that was touched, however often."""
        for id in self.touched:
            if id in self.concepts or id in self.links:
                metadata = self.element(id)["metadata"]
                metadata["_version"] += 1
                metadata["_updated_at"] = self.now
        registered = {"type": {"$ConceptType", "$PropositionType"}, "predicate": set[str]()}
        for node in self.concepts.values():
            if node["type"] in DEFINITIONS:
                registered[DEFINITIONS[node["type"]]].add(node["name"])
        return Graph(self.concepts, self.links, registered)

    # --- values ---

    def given(self, value: Any) -> Any:
        match value:
            case ast.Literal():
                return copy.deepcopy(value.value)
            case ast.Parameter():
                return copy.deepcopy(self.parameters[value.name])
            case ast.ArrayValue():
                return [self.given(item) for item in value.items]
            case ast.ObjectValue():
                return {key: self.given(item) for key, item in value.entries}
        raise AssertionError(value)

    def metadata(self, entries: Any) -> dict[str, Json]:
        found = {} if entries is None else self.given(entries)
        refuse_reserved(found)
        return found

    # --- UPSERT (4.1) ---

    def upsert(self, tree: ast.Upsert, dry_run: bool) -> dict[str, Json]:
        concepts: list[Json] = []
        propositions: list[Json] = []
        for statement in tree.statements:
            handles: dict[str, str] = {}
            default = self.metadata(statement.metadata)
            for block in statement.blocks:
                if isinstance(block, ast.ConceptBlock):
                    concepts.append(self.concept_block(block, handles, default))
                else:
                    propositions.append(self.proposition_block(block, handles, default))
        if dry_run:
            concepts, propositions = [], []
        return {
            "blocks": len(tree.statements),
            "upsert_concept_nodes": concepts,
            "upsert_proposition_links": propositions,
        }

    def concept_block(self, block: ast.ConceptBlock, handles: dict[str, str], default: dict[str, Json]) -> str:
        matcher = block.matcher
        if matcher.id is not None:
            node = self.concepts.get(self.given(matcher.id))
            if node is None:
                raise RefusedError("KIP_3002")
            self.expect(block, node)
        else:
            type, name = self.given(matcher.type), self.given(matcher.name)
            self.require("type", type)
            if not name.strip():
                raise RefusedError("KIP_2002")
            node = self.concept(type, name)
            self.expect(block, node)
            if node is None:
                node = self.create(self.concepts, type=type, name=name)
                if type in DEFINITIONS:
                    self.registered[DEFINITIONS[type]].add(name)
        metadata = {**default, **self.metadata(block.metadata)}
        self.set_keys(node, {} if block.attributes is None else self.given(block.attributes), metadata)
        if block.handle is not None:
            handles[block.handle] = node["id"]
        for entry in block.propositions:
            ends = (node["id"], self.given(entry.predicate), self.endpoint(entry.target, handles))
            own = self.metadata(entry.metadata)
            self.set_keys(self.link_of(*ends), {}, {**metadata, **own})
        return node["id"]

    def proposition_block(self, block: ast.PropositionBlock, handles: dict[str, str], default: dict[str, Json]) -> str:
        metadata = {**default, **self.metadata(block.metadata)}
        if isinstance(block.matcher, ast.LinkIdMatcher):
            node = self.links[self.endpoint(block.matcher, handles)]
            self.expect(block, node)
        else:
            ends = self.ends(block.matcher, handles)
            self.expect(block, self.link(*ends))
            node = self.link_of(*ends)
        self.set_keys(node, {} if block.attributes is None else self.given(block.attributes), metadata)
        if block.handle is not None:
            handles[block.handle] = node["id"]
        return node["id"]

    def expect(self, block: ast.ConceptBlock | ast.PropositionBlock, node: Node | None) -> None:
        if block.expect_version is not None and self.given(block.expect_version) != self.version(node):
            raise RefusedError("KIP_3005")

    def require(self, kind: str, name: Json) -> None:
        if name not in self.registered[kind]:
            raise RefusedError("KIP_2001")

    def set_keys(self, node: Node, attributes: dict[str, Json], metadata: dict[str, Json]) -> None:
        """Shallow merge (2.10); equal values change nothing, and no version (decision 12)."""
        for container, new in (("attributes", attributes), ("metadata", metadata)):
            for key, value in new.items():
                found = node[container]
                if key not in found or dumps(found[key]) != dumps(value):
                    found[key] = copy.deepcopy(value)
                    self.touch(node["id"])

    def link_of(self, subject: str, predicate: str, object: str) -> Node:
        self.require("predicate", predicate)
        if subject == object:
            raise RefusedError("KIP_2002")
        found = self.link(subject, predicate, object)
        return found or self.create(self.links, subject=subject, predicate=predicate, object=object)

    def ends(self, matcher: ast.TripleMatcher, handles: dict[str, str]) -> tuple[str, str, str]:
        assert isinstance(matcher.predicate, ast.PredicateNames)
        predicate = self.given(matcher.predicate.names[0])
        return self.endpoint(matcher.subject, handles), predicate, self.endpoint(matcher.object, handles)

    def endpoint(self, endpoint: Any, handles: dict[str, str]) -> str:
        """The id of something that must exist by now: in the graph, or made by an earlier block."""
        found: Node | None = None
        match endpoint:
            case ast.Variable():
                if endpoint.name not in handles:
                    raise RefusedError("KIP_3001")
                return handles[endpoint.name]
            case ast.LinkIdMatcher():
                found = self.links.get(self.given(endpoint.id))
            case ast.ConceptMatcher(id=ast.Node()):
                found = self.concepts.get(self.given(endpoint.id))
            case ast.ConceptMatcher():
                self.require("type", self.given(endpoint.type))
                found = self.concept(self.given(endpoint.type), self.given(endpoint.name))
            case ast.TripleMatcher():
                ends = self.ends(endpoint, handles)
                self.require("predicate", ends[1])
                found = self.link(*ends)
        if found is None:
            raise RefusedError("KIP_3002")
        return found["id"]

    # --- what a WHERE selects ---

    def selected(self, where: tuple[ast.Clause, ...], target: str) -> list[str]:
        with patch.object(bind, "rewrite", lambda query: query):
            plan = bind.bind_targets(where, (target,))
        rows = evaluate(plan, self.parameters, self.before).rows
        return [id for (id,) in rows if isinstance(id, str)]

    def targets(self, tree: Any, nodes: Mapping[str, Node]) -> list[str]:
        """The selected elements, all of which must be among ``nodes``."""
        found = self.selected(tree.where, tree.target)
        if any(id not in nodes for id in found):
            raise RefusedError("KIP_2002")
        return found

    # --- UPDATE (4.3) ---

    def update(self, tree: ast.Update) -> dict[str, Json]:
        if tree.metadata is not None:
            is_whole = not isinstance(tree.metadata, ast.UpdateEntries)
            refuse_reserved(self.given(tree.metadata) if is_whole else dict(tree.metadata.entries))
        found = self.selected(tree.where, tree.target)
        if tree.limit is not None:
            limit = self.given(tree.limit)
            if len(found) > limit:
                found = self.choose(found, limit)
        updated = 0
        for id in found:
            # All expressions see the element as it was before the command.
            old, node = self.before.element(id), self.element(id)
            new = {name: self.new_values(getattr(tree, name), old) for name in ("attributes", "metadata")}
            for container, values in new.items():
                node[container].update(values)
            if new["attributes"] or new["metadata"]:
                self.touch(id)
                updated += 1
        return {"updated": updated, "matched": len(found)}

    def new_values(self, entries: Any, node: Node) -> dict[str, Json]:
        if entries is None:
            return {}
        if not isinstance(entries, ast.UpdateEntries):
            return self.given(entries)
        found: dict[str, Json] = {}
        for key, value in entries.entries:
            if not isinstance(value, ast.UpdateCall | ast.Path):
                found[key] = self.given(value)
                continue
            number = self.number(value, node)
            if number is not None:
                if isinstance(number, float) and not isfinite(number):
                    raise RefusedError("KIP_2003")
                found[key] = number
        return found

    def number(self, expression: Any, node: Node) -> int | float | None:
        """The value of an update expression; None where it is null or no number."""
        if not isinstance(expression, ast.UpdateCall):
            value = self.operand(expression, node)
            return value if isinstance(value, int | float) and not isinstance(value, bool) else None
        arguments = expression.arguments
        if expression.function == "COALESCE":
            first = arguments[0]
            # A null gives way to the default; text is not null, and no number either.
            is_null = (
                self.number(first, node) is None
                if isinstance(first, ast.UpdateCall)
                else self.operand(first, node) is None
            )
            return self.number(arguments[1] if is_null else first, node)
        numbers = [self.number(argument, node) for argument in arguments]
        if any(number is None for number in numbers):
            return None
        a, b, *rest = numbers
        if expression.function == "CLAMP":
            return max(b, min(a, rest[0]))
        try:
            return a + b if expression.function == "ADD" else a * b
        except OverflowError:  # an integer past the floats met a float
            sign = max(a, b, key=abs) if expression.function == "ADD" else 1 - 2 * ((a < 0) != (b < 0))
            return inf if sign > 0 else -inf

    def operand(self, expression: Any, node: Node) -> Json:
        if not isinstance(expression, ast.Path):
            return self.given(expression)
        return node.get(expression.field) if expression.key is None else node[expression.field].get(expression.key)

    # --- DELETE (4.2) ---

    def delete_keys(self, tree: ast.DeleteKeys) -> dict[str, Json]:
        if tree.kind == "metadata":
            refuse_reserved(tree.keys)
        changed = {True: 0, False: 0}
        for id in self.selected(tree.where, tree.target):
            container = self.element(id)[tree.kind]
            present = [key for key in dict.fromkeys(tree.keys) if key in container]
            for key in present:
                del container[key]
            if present:
                self.touch(id)
                changed[id in self.concepts] += 1
        return {"updated_concepts": changed[True], "updated_propositions": changed[False]}

    def remove(self, ids: Iterable[str]) -> int:
        """Remove elements, and all links about them, and the links about those."""
        doomed = set(ids)
        while more := {id for id, n in self.links.items() if {n["subject"], n["object"]} & doomed} - doomed:
            doomed |= more
        for id in doomed:
            (self.concepts if id in self.concepts else self.links).pop(id)
        return len(doomed)

    # --- MERGE (4.4) ---

    def merge(self, tree: ast.Merge) -> dict[str, Json]:
        source, target = (self.only(tree.where, name) for name in (tree.source, tree.target))
        counts: dict[str, Json] = {"links_repointed": 0, "links_deduplicated": 0, "attributes_filled": 0}
        if source is target:
            return {"merged": True, **counts}
        if source["type"] != target["type"]:
            raise RefusedError("KIP_2002")
        if {(node["type"], node["name"]) for node in (source, target)} & (PROTECTED | ACTORS):
            raise RefusedError("KIP_3004")
        repointed, deduplicated = self.repoint({source["id"]: target["id"]})
        has_aliases = "aliases" in target["attributes"]
        filled = {key: value for key, value in source["attributes"].items() if key not in target["attributes"]}
        aliases = [*target["attributes"].get("aliases", []), *source["attributes"].get("aliases", []), source["name"]]
        target["attributes"].update(copy.deepcopy(filled))
        target["attributes"]["aliases"] = without_repeats(aliases)
        trails = [*(node["metadata"].get("_merged_from", []) for node in (target, source))]
        target["metadata"]["_merged_from"] = without_repeats(
            [*trails[0], *trails[1], f"{source['type']}:{source['name']}"]
        )
        self.touch(target["id"])
        del self.concepts[source["id"]]
        counts["links_repointed"] = len(repointed & self.links.keys())
        counts["links_deduplicated"] = deduplicated
        counts["attributes_filled"] = len(filled) + (not has_aliases and "aliases" not in filled)
        return {"merged": True, **counts}

    def only(self, where: tuple[ast.Clause, ...], name: str) -> Node:
        found = self.selected(where, name)
        if len(found) != 1:
            raise RefusedError("KIP_3003" if found else "KIP_3002")
        if found[0] not in self.concepts:
            raise RefusedError("KIP_2002")
        return self.concepts[found[0]]

    def repoint(self, gone: dict[str, str]) -> tuple[set[str], int]:
        """Move all links off what is gone, the oldest first; what then doubles another link is gone itself."""
        repointed: set[str] = set()
        deduplicated = 0
        while pending := [link for link in self.links.values() if {link["subject"], link["object"]} & gone.keys()]:
            link = min(pending, key=lambda link: key_of(link["id"]))
            subject, object = (gone.get(link[end], link[end]) for end in ("subject", "object"))
            survivor = self.link(subject, link["predicate"], object)
            if subject == object:
                self.remove([link["id"]])
                deduplicated += 1
            elif survivor is None:
                link.update(subject=subject, object=object)
                repointed.add(link["id"])
                self.touch(link["id"])
            else:
                for container in ("attributes", "metadata"):
                    missing = {key: value for key, value in link[container].items() if key not in survivor[container]}
                    if missing:
                        survivor[container].update(copy.deepcopy(missing))
                        self.touch(survivor["id"])
                gone[link["id"]] = survivor["id"]
                del self.links[link["id"]]
                deduplicated += 1
        return repointed, deduplicated

    # --- what no command may touch (KIP_3004) ---

    def check_untouchable(self, before: Graph) -> None:
        changed = [node for nodes in (before.concepts, before.links) for id, node in nodes.items() if self.differs(id)]
        for node in changed:
            kind, name = ("type", node["type"]) if "type" in node else ("predicate", node["predicate"])
            if is_append_only(before, kind, name):
                raise RefusedError("KIP_3004")
            identity = (node.get("type"), node.get("name"))
            now = self.concepts.get(node["id"])
            directives = [found and found["attributes"].get("core_directives") for found in (node, now)]
            if identity in PROTECTED or (identity in ACTORS and directives[0] != directives[1]):
                raise RefusedError("KIP_3004")
            if identity in ACTORS and now is None:
                raise RefusedError("KIP_3004")
            subject = before.concepts.get(node.get("subject", ""))
            is_removed = node["id"] not in self.links and "subject" in node
            if is_removed and subject is not None and (subject["type"], subject["name"]) in PROTECTED:
                raise RefusedError("KIP_3004")
        # A definition stays as long as it has instances.
        gone = [node for id, node in before.concepts.items() if id not in self.concepts]
        kept = {self.concepts[id]["type"] for id in before.concepts if id in self.concepts}
        kept |= {node["predicate"] for id, node in before.links.items() if id in self.links}
        if any(node["type"] in DEFINITIONS and node["name"] in kept for node in gone):
            raise RefusedError("KIP_2002")

    def differs(self, id: str) -> bool:
        return id in self.touched or not (id in self.concepts or id in self.links)


def is_append_only(graph: Graph, kind: str, name: str) -> bool:
    definitions = [n for n in graph.concepts.values() if DEFINITIONS.get(n["type"]) == kind and n["name"] == name]
    return any(node["attributes"].get("append_only") is True for node in definitions)


def refuse_reserved(keys: Iterable[str]) -> None:
    """Keys with an underscore belong to the engine (2.11.1)."""
    if any(key.startswith("_") for key in keys):
        raise RefusedError("KIP_2002")


def key_of(id: str) -> int:
    """Keys rise in the order of creation (decision 8)."""
    return int(id.split(":")[1])


def without_repeats(values: Iterable[Json]) -> list[Json]:
    kept: dict[str, Json] = {}
    for value in values:
        kept.setdefault(dumps(value), value)
    return list(kept.values())
