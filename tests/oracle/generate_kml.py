"""Seeded random writes, as text: every statement of KML, against a graph that the writer can see."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from kip.values import Json
from tests.oracle.evaluate import Graph, Node
from tests.oracle.generate import NAMES, PREDICATES, TYPES, text
from tests.oracle.generate_queries import QueryWriter, Scope

KEYS = ("n", "s", "m", "count", "touched")
METADATA_KEYS = ("confidence", "source", "m", "expires_at")
LOG_TYPE, LOG_PREDICATE = "Log", "logged"
SYSTEM = (("Person", "$self"), ("Domain", "CoreSchema"), (LOG_TYPE, "entry"), (LOG_TYPE, "other"))

# No value is a float that equals an integer: whether writing 1 over 1.0 changes anything is left open.
VALUES: tuple[Json, ...] = (
    0,
    1,
    2,
    10,
    0.5,
    -1.5,
    "a",
    "é",
    "\U0001d4d0",
    "",
    True,
    False,
    None,
    [],
    [1, "a"],
    {"k": [None]},
    {},
)

SETUP = (
    "UPSERT {"
    ' CONCEPT { {type: "$ConceptType", name: "Log"} SET ATTRIBUTES {append_only: true} }'
    ' CONCEPT { {type: "$PropositionType", name: "logged"} SET ATTRIBUTES {append_only: true} }'
    ' CONCEPT { {type: "$ConceptType", name: "Domain"} }'
    ' CONCEPT { {type: "$ConceptType", name: "Person"} }'
    ' CONCEPT { {type: "$PropositionType", name: "belongs_to_domain"} }'
    ' CONCEPT ?core { {type: "Domain", name: "CoreSchema"} }'
    ' CONCEPT ?self { {type: "Person", name: "$self"} SET ATTRIBUTES {core_directives: ["be kind"], mood: 1} }'
    ' CONCEPT ?entry { {type: "Log", name: "entry"} SET ATTRIBUTES {n: 1} SET PROPOSITIONS { ("logged", ?self) } }'
    ' CONCEPT { {type: "Log", name: "other"} SET PROPOSITIONS { ("knows", ?entry) ("belongs_to_domain", ?core) } }'
    "}"
)


@dataclass(frozen=True)
class Write:
    """A command that writes."""

    text: str
    parameters: dict[str, Json]
    dry_run: bool


def write(rng: Random, graph: Graph) -> Write:
    """One command: mostly one that succeeds and changes little."""
    writer = KmlWriter(rng, graph)
    makers = (
        writer.upsert,
        writer.update,
        writer.delete_keys,
        writer.delete_links,
        writer.delete_concept,
        writer.merge,
    )
    make = rng.choices(makers, (40, 25, 8, 6, 6, 15))[0]
    return Write(make(), writer.parameters, rng.random() < 0.1)


class KmlWriter(QueryWriter):
    """Writes one command; patterns are those of queries."""

    def __init__(self, rng: Random, graph: Graph) -> None:
        super().__init__(rng, graph)
        self.handles: dict[str, str] = {}
        self.new_names = [(type, f"new {number}") for type in TYPES for number in range(3)]

    # --- values ---

    def entries(self, keys: tuple[str, ...], share: float = 0.5) -> str:
        """``{ key: value, .. }``, now and then with placeholders, or one for the whole."""
        chosen = {key: self.rng.choice(VALUES) for key in keys if self.chance(share)}
        if self.chance(0.2):
            return self.as_parameter(chosen)
        shown = (
            f"{key}: {self.as_parameter(value) if self.chance(0.15) else text(value)}" for key, value in chosen.items()
        )
        return f"{{{', '.join(shown)}}}"

    def as_parameter(self, value: Json) -> str:
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return f":{name}"

    def metadata(self, share: float) -> str:
        if not self.chance(share):
            return ""
        keys = (*METADATA_KEYS, "_version") if self.chance(0.02) else METADATA_KEYS
        return f" WITH METADATA {self.entries(keys)}"

    # --- UPSERT ---

    def upsert(self) -> str:
        statements: list[str] = []
        for _ in range(self.rng.choice((1, 1, 1, 2, 3))):
            self.handles = {}
            blocks = [self.a_block() for _ in range(self.rng.choice((1, 1, 2, 3, 4)))]
            statements.append("UPSERT {\n  " + "\n  ".join(blocks) + "\n}" + self.metadata(0.5))
        return "\n".join(statements)

    def a_block(self) -> str:
        return self.concept_block() if self.chance(0.65) else self.proposition_block()

    def handle(self, kind: str) -> str:
        if not self.chance(0.6):
            return ""
        name = f"{kind}{len(self.handles)}"
        self.handles[name] = kind
        return f"?{name} "

    def guard(self, node: Node | None) -> str:
        """EXPECT VERSION, mostly the right one as long as no earlier block changes the element."""
        if not self.chance(0.12):
            return ""
        version = node["metadata"]["_version"] if node else 0
        return f" EXPECT VERSION {self.given(version if self.chance(0.8) else self.rng.randint(0, 3))}"

    def any_concept(self) -> Node:
        concepts = [*self.graph.concepts.values()]
        instances = [node for node in concepts if node["type"] in TYPES]
        return self.rng.choice(instances if instances and self.chance(0.85) else concepts)

    def identity(self, node: Node) -> str:
        if self.chance(0.15):
            return f"{{id: {self.given(node['id'])}}}"
        return f"{{type: {self.given(node['type'])}, name: {self.given(node['name'])}}}"

    def concept_block(self) -> str:
        kind = self.rng.random()
        node: Node | None = None
        if kind < 0.3:
            type, name = self.rng.choice(self.new_names)
            node = next((n for n in self.graph.concepts.values() if (n["type"], n["name"]) == (type, name)), None)
            identity = f"{{type: {text(type)}, name: {text(name)}}}"
        elif kind < 0.34:
            identity = self.rng.choice(
                (
                    '{type: "Nothing", name: "x"}',
                    '{type: "Alpha", name: " "}',
                    '{id: "C:9998"}',
                    '{type: "Log", name: "n"}',
                )
            )
        elif kind < 0.38:
            identity = f'{{type: "$PropositionType", name: "made_{self.rng.randint(1, 3)}"}}'
        else:
            node = self.any_concept()
            identity = self.identity(node)
        parts = [identity + self.guard(node)]
        if self.chance(0.7):
            parts.append(f"SET ATTRIBUTES {self.attributes(node)}")
        if self.chance(0.45):
            parts.append(f"SET PROPOSITIONS {{ {' '.join(self.entry() for _ in range(self.rng.randint(1, 3)))} }}")
        body = " ".join(parts)
        # Last, so that the block does not link to itself.
        return f"CONCEPT {self.handle('c')}{{ {body} }}{self.metadata(0.4)}"

    def attributes(self, node: Node | None) -> str:
        """New values, or those that are there already: writing these changes nothing."""
        if node is not None and node["attributes"] and self.chance(0.3):
            return text(node["attributes"]) if self.chance(0.5) else self.as_parameter(node["attributes"])
        if self.chance(0.15):
            return f"{{aliases: {text([self.any_concept()['name'] for _ in range(self.rng.randint(0, 3))])}}}"
        return self.entries(KEYS, 0.4)

    def entry(self) -> str:
        return f"({self.predicate_to_write()}, {self.target()}){self.metadata(0.3)}"

    def predicate_to_write(self) -> str:
        if self.chance(0.04):
            return text(self.rng.choice(("not_registered", LOG_PREDICATE, "made_1")))
        return self.given(self.rng.choice(PREDICATES))

    def target(self, depth: int = 0) -> str:
        """Something to link to: a handle, a concept, or a link."""
        if self.handles and self.chance(0.35):
            return f"?{self.rng.choice([*self.handles])}"
        kind = self.rng.random()
        if kind < 0.02:
            return "?undefined"
        if kind < 0.04:
            return self.rng.choice(('{type: "Alpha", name: "nobody"}', '(id: "P:9999:knows")', '{id: "C:9998"}'))
        if kind < 0.08:
            type, name = self.rng.choice(self.new_names)
            return f"{{type: {text(type)}, name: {text(name)}}}"
        if kind < 0.25 and self.graph.links:
            link = self.rng.choice([*self.graph.links.values()])
            return self.link_identity(link, depth)
        return self.identity(self.any_concept())

    def link_identity(self, link: Node, depth: int = 0) -> str:
        if self.chance(0.3) or depth > 1:
            return f"(id: {self.given(link['id'])})"
        ends = [
            self.identity(self.graph.concepts[id])
            if id in self.graph.concepts
            else self.link_identity(self.graph.links[id], depth + 1)
            for id in (link["subject"], link["object"])
        ]
        return f"({ends[0]}, {self.given(link['predicate'])}, {ends[1]})"

    def proposition_block(self) -> str:
        link = self.rng.choice([*self.graph.links.values()]) if self.graph.links and self.chance(0.4) else None
        if link is not None:
            matcher = self.link_identity(link)
        else:
            subject, object = self.target(), self.target()
            if subject == object:
                object = self.identity(self.any_concept())
            matcher = f"({subject}, {self.predicate_to_write()}, {object})"
        body = matcher + self.guard(link)
        if self.chance(0.5):
            body += f" SET ATTRIBUTES {self.attributes(link)}"
        return f"PROPOSITION {self.handle('l')}{{ {body} }}{self.metadata(0.4)}"

    # --- WHERE ---

    def where(self, share_of_patterns: float, kinds: dict[str, Node] | None = None) -> tuple[str, str]:
        """A WHERE, and the element that it is about: one that is told by identity, or what a pattern selects.

        ``kinds`` are the elements among which the target should be.
        """
        wanted = kinds or elements(self.graph)
        if not self.chance(share_of_patterns):
            node = self.rng.choice([*wanted.values()])
            if node["id"] in self.graph.concepts:
                return f"WHERE {{ ?t {self.identity(node)} }}", "t"
            return f"WHERE {{ ?t {self.link_identity(node)} }}", "t"
        scope = Scope()
        clauses = self.block(scope, 1)
        fitting = [name for name, id in scope.elements.items() if id in wanted]
        target = self.rng.choice(fitting if fitting and self.chance(0.9) else [*scope.elements])
        return "WHERE {\n  " + "\n  ".join(clauses) + "\n}", target

    # --- UPDATE ---

    def update(self) -> str:
        where, target = self.where(0.7)
        sets = []
        limit = f"\nLIMIT {self.given(self.rng.choice((1, 2, 5, 50)))}" if self.chance(0.2) else ""
        kind = self.rng.random()
        if kind < 0.75 or limit:
            sets.append(f"SET ATTRIBUTES {self.assignments(target, KEYS, sure=bool(limit))}")
        if kind > 0.5:
            keys = (*METADATA_KEYS, "_version") if self.chance(0.02) else METADATA_KEYS
            sets.append(f"SET METADATA {self.assignments(target, keys)}")
        return f"UPDATE ?{target}\n" + "\n".join(sets) + f"\n{where}{limit}"

    def assignments(self, target: str, keys: tuple[str, ...], *, sure: bool = False) -> str:
        """``sure`` sets at least one key on whatever element: then it shows which ones a LIMIT has taken."""
        if self.chance(0.1) and not sure:
            return self.as_parameter({key: self.rng.choice(VALUES) for key in self.rng.sample(keys, 2)})
        chosen = self.rng.sample(keys, self.rng.randint(1, 3))
        shown = [f"{key}: {self.assigned(target)}" for key in chosen]
        if sure:
            shown.append(f"sure: {text(self.rng.choice(VALUES))}")
        return "{" + ", ".join(shown) + "}"

    def assigned(self, target: str) -> str:
        kind = self.rng.random()
        if kind < 0.3:
            return text(self.rng.choice(VALUES))
        if kind < 0.4:
            return self.own_path(target)
        return self.call(target, 0)

    def own_path(self, target: str) -> str:
        if self.chance(0.15):
            return f"?{target}.metadata.{self.rng.choice(('_version', 'confidence'))}"
        return f"?{target}.attributes.{self.rng.choice((*KEYS, 'absent'))}"

    def call(self, target: str, depth: int) -> str:
        function, arity = self.rng.choice((("ADD", 2), ("MUL", 2), ("CLAMP", 3), ("COALESCE", 2), ("COALESCE", 2)))
        return f"{function}({', '.join(self.update_operand(target, depth + 1) for _ in range(arity))})"

    def update_operand(self, target: str, depth: int) -> str:
        kind = self.rng.random()
        if kind < 0.3 and depth < 3:
            return self.call(target, depth)
        if kind < 0.7:
            return self.own_path(target)
        return self.given(self.rng.choice((0, 1, 2, -1, 0.5, 1.5, 100)))

    # --- DELETE and MERGE ---

    def delete_keys(self) -> str:
        kind, keys = self.rng.choice((("ATTRIBUTES", KEYS), ("METADATA", METADATA_KEYS)))
        if kind == "METADATA" and self.chance(0.05):
            keys = ("_updated_at", *keys[:1])
        where, target = self.where(0.6)
        chosen = ", ".join(text(key) for key in self.rng.sample(keys, self.rng.randint(1, len(keys))))
        return f"DELETE {kind} {{{chosen}}} FROM ?{target}\n{where}"

    def delete_links(self) -> str:
        where, target = self.where(0.7, self.graph.links)
        return f"DELETE PROPOSITIONS ?{target}\n{where}"

    def delete_concept(self) -> str:
        if self.chance(0.6):
            return f"DELETE CONCEPT ?t DETACH WHERE {{ ?t {self.identity(self.any_concept())} }}"
        where, target = self.where(1, self.graph.concepts)
        return f"DELETE CONCEPT ?{target} DETACH\n{where}"

    def merge(self) -> str:
        source = self.any_concept()
        same = [node for node in self.graph.concepts.values() if node["type"] == source["type"]]
        target = self.rng.choice(same) if self.chance(0.93) else self.any_concept()
        parts = [f"?s {self.identity(source)}", f"?t {self.identity(target)}"]
        if self.chance(0.06):
            number = self.rng.randrange(2)
            parts[number] = f"?{'st'[number]} {{type: {text(source['type'])}}}"
        if self.chance(0.04):
            parts.append('(?s, "knows", ?t)')
        if self.chance(0.03):
            parts[0] = f"?s {{name: {text(self.rng.choice(NAMES))}}}"
        self.rng.shuffle(parts)
        return f"MERGE CONCEPT ?s INTO ?t WHERE {{ {' '.join(parts)} }}"

    def concept(self, scope: Scope, id: str) -> str:
        """As in queries, but more often one by name: writes should not hit everything."""
        node = self.graph.concepts[id]
        return self.identity(node) if self.chance(0.4) else super().concept(scope, id)


def elements(graph: Graph) -> dict[str, Any]:
    """All elements by id."""
    return {**graph.concepts, **graph.links}
