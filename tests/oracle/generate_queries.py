"""Seeded random FIND commands, as text: every clause, in every place where the grammar lets it stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from kip.values import Json
from tests.oracle.evaluate import Graph
from tests.oracle.generate import (
    ATTRIBUTES,
    METADATA,
    NAMES,
    PREDICATES,
    STRINGS,
    TYPES,
    UNUSED_PREDICATE,
    UNUSED_TYPE,
    primitive,
    text,
    value,
)

FIELDS = ("id", "type", "name", "subject", "predicate", "object")
MAINTAINED = ("_version", "_created_at", "_updated_at", "_merged_from")
PATTERNS = (
    "a",
    "^a",
    "b$",
    "a.b",
    "[aé]",
    r"\d+",
    "(?i)AB?",
    ".",
    "^$",
    "x*",
    "日|é",
    r"\x00",
    "^.$",
    "(a)(b)?",
    "C:2|P:",
)
FUNCTIONS = ("CONTAINS", "STARTS_WITH", "ENDS_WITH", "REGEX")


@dataclass(frozen=True)
class Command:
    """A FIND without LIMIT. ``error`` is the code that it must fail with, by the documents."""

    text: str
    parameters: dict[str, Json]
    error: str | None = None


@dataclass
class Scope:
    """What can be referred to at one place of the text, and one solution that is meant to be found.

    The solution is what keeps random queries from being empty: patterns and filters are made to fit it, most of
    the time. ``noise`` is the chance that a part is made without looking at it.
    """

    elements: dict[str, str] = field(default_factory=dict)
    predicates: dict[str, str] = field(default_factory=dict)
    noise: float = 0.05

    def inner(self, noise: float) -> Scope:
        return Scope({**self.elements}, {**self.predicates}, noise)

    def adopt(self, other: Scope) -> None:
        self.elements = {**other.elements, **self.elements}
        self.predicates = {**other.predicates, **self.predicates}


def query(rng: Random, graph: Graph) -> Command:
    """One command. One in thirty has a fault whose code is known."""
    writer = QueryWriter(rng, graph)
    scope = Scope()
    clauses = writer.alternative(scope) if rng.random() < 0.04 else writer.block(scope, 0)
    columns, order = writer.columns(scope), ""
    if rng.random() < 0.6:
        order = "\nORDER BY " + ", ".join(writer.sort_key(scope, columns) for _ in range(rng.randint(1, 3)))
    if rng.random() < 1 / 30:
        return writer.faulty(clauses, columns, order)
    return writer.command(clauses, columns, order)


class QueryWriter:
    """Writes parts of one command and collects its parameters."""

    def __init__(self, rng: Random, graph: Graph) -> None:
        self.rng = rng
        self.graph = graph
        self.parameters: dict[str, Json] = {}
        self.nodes = [*graph.concepts.values(), *graph.links.values()]

    def command(self, clauses: list[str], columns: list[str], order: str, error: str | None = None) -> Command:
        body = "\n".join("  " + clause for clause in clauses)
        return Command(f"FIND({', '.join(columns)})\nWHERE {{\n{body}\n}}{order}", self.parameters, error)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def given(self, found: Any, share: float = 0.2) -> str:
        """A value as literal text, or as a parameter; arrays and objects can only be parameters."""
        if isinstance(found, list | dict) or self.chance(share):
            name = f"p{len(self.parameters)}"
            self.parameters[name] = found
            return f":{name}"
        return text(found)

    # --- variables ---

    def name(self, known: dict[str, str], pool: str, wanted: str, scope: Scope) -> str:
        """A variable that is bound to ``wanted``: one in scope, or a new one that is in scope from now on."""
        fitting = [*known] if self.chance(scope.noise) else [name for name, bound in known.items() if bound == wanted]
        free = [name for name in pool if name not in known]
        if fitting and (self.chance(0.8) or not free):
            return self.rng.choice(fitting)
        if not free:
            return self.rng.choice([*known])
        chosen = self.rng.choice(free)
        known[chosen] = wanted
        return chosen

    def element(self, scope: Scope, wanted: str) -> str:
        return f"?{self.name(scope.elements, 'abcdefg', wanted, scope)}"

    # --- blocks ---

    def block(self, scope: Scope, depth: int) -> list[str]:
        """The clauses of a block; binds at least one variable."""
        clauses: list[str] = []
        for number in range(self.rng.choice((1, 2, 2, 3, 3, 4, 5) if depth == 0 else (1, 1, 2, 2, 3))):
            kind = self.rng.random()
            if (number == 0 and self.chance(0.85)) or kind < 0.48:
                clauses.append(self.pattern(scope))
            elif kind < 0.66 or depth > 2:
                clauses.append(self.filter(scope))
            elif kind < 0.78:
                clauses.append(self.negation(scope, depth + 1))
            elif kind < 0.91:
                clauses.append(self.optional(scope, depth + 1))
            else:
                clauses.append(self.union(scope, depth + 1))
        while not scope.elements:
            clauses.append(self.pattern(scope))
        if self.chance(0.1) and not any(clause.startswith("UNION") for clause in clauses):
            # A FILTER may stand before what it reads; it waits for the end of the block.
            clauses.insert(self.rng.randrange(len(clauses)), self.filter(scope))
        return clauses

    def nested(self, word: str, clauses: list[str]) -> str:
        return f"{word} {{ {' '.join(clauses)} }}"

    def negation(self, scope: Scope, depth: int) -> str:
        # What fits the solution in mind would take it away again.
        inner = Scope(noise=0.5) if self.chance(0.1) else scope.inner(self.rng.choice((0.1, 0.5)))
        return self.nested("NOT", self.block(inner, depth))

    def optional(self, scope: Scope, depth: int) -> str:
        inner = scope.inner(self.rng.choice((0.02, 0.3)))
        clauses = self.block(inner, depth)
        scope.adopt(inner)
        return self.nested("OPTIONAL", clauses)

    def union(self, scope: Scope, depth: int) -> str:
        inner = Scope(noise=scope.noise)
        if self.chance(0.5):
            # The same names, bound anew: the common way to write an OR.
            inner.elements = {name: self.rng.choice(self.nodes)["id"] for name in scope.elements if self.chance(0.7)}
        wanted = {**inner.elements}
        inner.elements = {}
        clauses = [self.bound(inner, name, id) for name, id in wanted.items()]
        clauses.extend(self.block(inner, depth))
        scope.adopt(inner)
        return self.nested("UNION", clauses)

    # --- patterns ---

    def alternative(self, scope: Scope) -> list[str]:
        """The same variable twice, and no other: its rows may well meet."""
        id = self.rng.choice([*self.graph.concepts])
        other = self.rng.choice([*self.graph.concepts, id])
        return [self.bound(scope, "a", id), self.nested("UNION", [self.bound(scope, "a", other)])]

    def bound(self, scope: Scope, name: str, id: str) -> str:
        """A clause that binds a certain variable."""
        scope.elements[name] = id
        if id in self.graph.concepts:
            return f"?{name} {self.concept(scope, id)}"
        return f"?{name} {self.triple(scope, id, 0)}"

    def pattern(self, scope: Scope) -> str:
        known = self.rng.choice([*scope.elements.values()]) if scope.elements and self.chance(0.8) else None
        chosen = self.rng.random()
        if chosen < 0.3:
            ids = [id for id in (known,) if id in self.graph.concepts] or [*self.graph.concepts]
            id = self.rng.choice(ids) if self.chance(0.7) else self.rng.choice([*self.graph.concepts])
            return f"{self.element(scope, id)} {self.concept(scope, id)}"
        if chosen < 0.33:
            id = self.rng.choice([*self.graph.links])
            return f"{self.element(scope, id)} {self.link_id(scope, id)}"
        if chosen < 0.5:
            return self.walk(scope, known or self.rng.choice(self.nodes)["id"])
        around = [id for id, link in self.graph.links.items() if known in (id, link["subject"], link["object"])]
        id = self.rng.choice(around or [*self.graph.links])
        triple = self.triple(scope, id, 0)
        return f"{self.element(scope, id)} {triple}" if self.chance(0.5) else triple

    def concept(self, scope: Scope, id: str) -> str:
        if self.chance(scope.noise):
            id = self.rng.choice([*self.graph.concepts])
        kind, concept = self.rng.random(), self.graph.concepts[id]
        if kind < 0.07:
            return f"{{id: {self.given(self.id(scope, id))}}}"
        type, name = concept["type"], concept["name"]
        if self.chance(scope.noise):
            type, name = self.rng.choice((*TYPES, "$ConceptType", UNUSED_TYPE)), self.rng.choice(NAMES)
        if kind < 0.7:
            return f"{{type: {self.given(type)}}}"
        if kind < 0.88:
            return f"{{name: {self.given(name)}}}"
        return f"{{type: {self.given(type)}, name: {self.given(name)}}}"

    def id(self, scope: Scope, wanted: str) -> str:
        if self.chance(scope.noise):
            return self.rng.choice(self.nodes)["id"]
        return self.near_id(wanted) if self.chance(0.15) else wanted

    def near_id(self, id: str) -> str:
        """An id that is none, or another one: the key of an element counts only together with the rest."""
        key = id.split(":")[1]
        other = f"P:{key}:{self.rng.choice(PREDICATES)}"
        return self.rng.choice((other, other, f"C:{key}", f"P:{key}:", f"C:0{key}", f"{id} ", key, "C:" + "9" * 20))

    def link_id(self, scope: Scope, wanted: str) -> str:
        return f"(id: {self.given(self.id(scope, wanted))})"

    def predicate(self, scope: Scope, wanted: str) -> str:
        if self.chance(scope.noise):
            wanted = self.rng.choice((*PREDICATES, UNUSED_PREDICATE))
        return self.given(wanted)

    def alternatives(self, scope: Scope, wanted: str) -> str:
        names = [self.given(self.rng.choice(PREDICATES)) for _ in range(self.rng.randint(1, 2))]
        if self.chance(0.2):
            names.append(self.given("not_registered"))
        names.insert(self.rng.randint(0, len(names)), self.predicate(scope, wanted))
        return " | ".join(names)

    def endpoint(self, scope: Scope, wanted: str, depth: int) -> str:
        is_link, chosen = wanted in self.graph.links, self.rng.random()
        if chosen < 0.12 and not is_link:
            return self.concept(scope, wanted)
        if chosen < 0.12:
            return self.link_id(scope, wanted)
        if chosen < 0.4 and is_link and depth < 3:
            return self.triple(scope, wanted, depth + 1)
        return self.element(scope, wanted)

    def triple(self, scope: Scope, id: str, depth: int) -> str:
        link = self.graph.links[id]
        subject, kind = self.endpoint(scope, link["subject"], depth), self.rng.random()
        if kind < 0.5:
            predicate = self.predicate(scope, link["predicate"])
        elif kind < 0.7:
            predicate = self.alternatives(scope, link["predicate"])
        elif kind < 0.75:
            predicate = self.predicate(scope, link["predicate"]) + self.rng.choice(("{1}", "{1,1}"))
        else:
            predicate = f"?{self.name(scope.predicates, 'pq', link['predicate'], scope)}"
        return f"({subject}, {predicate}, {self.endpoint(scope, link['object'], depth)})"

    def walk(self, scope: Scope, start: str) -> str:
        """A path that a walk at random from ``start`` has gone, one way or the other."""
        near, far = self.rng.choice((("subject", "object"), ("object", "subject")))
        steps = [link for link in self.graph.links.values() if link[near] == start]
        predicate = self.rng.choice(steps)["predicate"] if steps else self.rng.choice(PREDICATES)
        end, gone = start, 0
        for _ in range(self.rng.choice((0, 1, 2, 2, 3, 4, 6))):
            ahead = [link for link in self.graph.links.values() if link[near] == end and link["predicate"] == predicate]
            if not ahead:
                break
            end, gone = self.rng.choice(ahead)[far], gone + 1
        least = max(0, gone - self.rng.choice((0, 0, 1, 2)))
        most = gone + self.rng.choice((0, 1, 3))
        hops = self.rng.choice((f"{{{gone}}}", f"{{{least},{most}}}", f"{{{least},}}"))
        ends = [self.endpoint(scope, id, 2) for id in (start, end)]
        if near == "object":
            ends.reverse()
        return f"({ends[0]}, {self.predicate(scope, predicate)}{hops}, {ends[1]})"

    # --- expressions ---

    def path(self, scope: Scope, name: str | None = None) -> str:
        """A dot path on an element that is in scope."""
        name, kind = name or self.rng.choice([*scope.elements]), self.rng.random()
        if kind < 0.35:
            return f"?{name}.{self.rng.choice(FIELDS)}"
        if kind < 0.75:
            return f"?{name}.attributes.{self.rng.choice((*ATTRIBUTES, 'absent', 'touched'))}"
        if kind < 0.93:
            return f"?{name}.metadata.{self.rng.choice((*METADATA, *MAINTAINED))}"
        return f"?{name}.{self.rng.choice(('attributes', 'metadata'))}"

    def variable(self, scope: Scope) -> str:
        if scope.predicates and self.chance(0.4):
            return f"?{self.rng.choice([*scope.predicates])}"
        return f"?{self.rng.choice([*scope.elements])}"

    def reference(self, scope: Scope) -> str:
        return self.variable(scope) if self.chance(0.2) else self.path(scope)

    def found(self, scope: Scope, reference: str) -> Json:
        """What a reference gives in the solution that is in mind."""
        name, _, rest = reference.removeprefix("?").partition(".")
        if name in scope.predicates:
            return scope.predicates[name]
        node = self.graph.element(scope.elements[name])
        container, _, key = rest.partition(".")
        return node[container].get(key) if key else node.get(container)

    def literal(self, scope: Scope, reference: str) -> Json:
        """Something to compare a reference with: mostly what it gives, or what it gives elsewhere."""
        kind = self.rng.random()
        name = reference.removeprefix("?")
        if name in scope.elements and kind < 0.4:
            return scope.elements[name]  # an element is not its id
        if kind < 0.5:
            return self.found(scope, reference)
        if kind < 0.6:
            return self.lookalike(self.found(scope, reference))
        node = self.rng.choice(self.nodes)
        if kind < 0.7:
            return node[self.rng.choice([name for name in FIELDS if name in node])]
        if kind < 0.85 and (stored := [*node["attributes"].values(), *node["metadata"].values()]):
            return self.rng.choice(stored)
        return primitive(self.rng) if kind < 0.97 else value(self.rng)

    def lookalike(self, found: Json) -> Json:
        """A value that some store might take for the one that was found."""
        if isinstance(found, bool):
            return self.rng.choice((int(found), text(found)))
        if isinstance(found, int | float):
            same = int(found) if isinstance(found, float) or abs(found) > 2**1000 else float(found)
            return self.rng.choice((same, same, int(found) + 1, str(found), bool(found)))
        if isinstance(found, str) and found[:2] in ("C:", "P:"):
            return self.near_id(found)
        if isinstance(found, str):
            changed = self.rng.choice((found + " ", found.upper(), found[:-1], ""))
            return {"true": True, "null": None, "1": 1}.get(found, changed)
        return text(found)

    def operand(self, scope: Scope) -> str:
        return self.reference(scope) if self.chance(0.95) else self.given(primitive(self.rng))

    # --- conditions ---

    def filter(self, scope: Scope) -> str:
        if not scope.elements:
            return self.pattern(scope)
        return f"FILTER({self.condition(scope, 0)})"

    def condition(self, scope: Scope, depth: int) -> str:
        kind = self.rng.random()
        if depth < 3 and kind < 0.25:
            sign = self.rng.choice(("&&", "||", "||"))
            parts = [self.condition(scope, depth + 1) for _ in range(self.rng.randint(2, 3))]
            return "(" + f" {sign} ".join(parts) + ")"
        if depth < 3 and kind < 0.35:
            return f"!({self.condition(scope, depth + 1)})"
        if kind < 0.65:
            return self.comparison(scope)
        if kind < 0.75:
            return self.membership(scope)
        if kind < 0.85:
            return self.null_test(scope)
        return self.text_test(scope)

    def null_test(self, scope: Scope) -> str:
        operand = self.operand(scope)
        functions = ("IS_NULL", "IS_NOT_NULL")
        if operand.startswith("?") and not self.chance(0.2):
            return f"{functions[self.found(scope, operand) is not None]}({operand})"
        return f"{self.rng.choice(functions)}({operand})"

    def comparison(self, scope: Scope) -> str:
        if self.chance(0.1):
            name, field = self.rng.choice([*scope.elements]), self.rng.choice(("id", "subject", "object"))
            found = self.found(scope, f"?{name}.{field}")
            id = found if isinstance(found, str) else scope.elements[name]
            return f"?{name}.{field} {self.rng.choice(('==', '!='))} {self.given(self.near_id(id))}"
        left = self.reference(scope)
        other = self.reference(scope) if self.chance(0.3) else self.given(self.literal(scope, left))
        sides = [left, other]
        if self.chance(0.2):
            sides.reverse()
        return f"{sides[0]} {self.rng.choice(('==', '==', '!=', '<', '<=', '>', '>='))} {sides[1]}"

    def membership(self, scope: Scope) -> str:
        operand = self.reference(scope)
        samples = [self.literal(scope, operand) for _ in range(self.rng.randint(0, 4))]
        if self.chance(0.4):
            self.parameters[f"p{len(self.parameters)}"] = samples
            listed = f":p{len(self.parameters) - 1}"
        else:
            listed = f"[{', '.join(map(self.given, samples))}]"
        return f"IN({operand}, {listed})"

    def text_test(self, scope: Scope) -> str:
        function, subject = self.rng.choice(FUNCTIONS), self.operand(scope)
        if self.chance(0.15):
            return f"{function}({subject}, {self.reference(scope)})"
        if function == "REGEX":
            return f"REGEX({subject}, {self.given(self.rng.choice(PATTERNS))})"
        part = self.found(scope, subject) if subject.startswith("?") and self.chance(0.7) else None
        part = part if isinstance(part, str) else self.rng.choice(STRINGS)
        if self.chance(0.6):
            start = self.rng.randrange(len(part) + 1)
            part = part[start : start + self.rng.randint(0, 2)]
        part = self.rng.choice((part, part, part, part.swapcase(), "_", "%"))
        return f"{function}({subject}, {self.given(part)})"

    # --- FIND and ORDER BY ---

    def columns(self, scope: Scope) -> list[str]:
        if self.chance(0.25):
            # All of each solution: nothing that is wrong in it stays hidden.
            return [f"?{name}" for name in (*scope.elements, *scope.predicates)]
        share = self.rng.choice((0, 0, 0.3, 0.5))
        return [self.projection(scope, share) for _ in range(self.rng.choice((1, 1, 2, 2, 3, 4)))]

    def projection(self, scope: Scope, aggregates: float) -> str:
        if not self.chance(aggregates):
            return self.variable(scope) if self.chance(0.35) else self.path(scope)
        function = self.rng.choice(("COUNT", "COUNT", "COUNT(DISTINCT", "SUM", "AVG", "MIN", "MAX"))
        operand = self.variable(scope) if function.startswith("COUNT") and self.chance(0.5) else self.path(scope)
        if self.chance(0.6) and "?" in operand and "." in operand:
            operand = f"?{self.rng.choice([*scope.elements])}.attributes.{self.rng.choice('nm')}"
        return f"{function} {operand})" if function.endswith("DISTINCT") else f"{function}({operand})"

    def sort_key(self, scope: Scope, columns: list[str]) -> str:
        kind = self.rng.random()
        if kind < 0.5:
            found = self.rng.choice(columns)
        else:
            found = self.path(scope) if kind < 0.95 else self.variable(scope)
        return found + self.rng.choice(("", " ASC", " DESC", " DESC"))

    # --- faults ---

    def faulty(self, clauses: list[str], columns: list[str], order: str) -> Command:
        """The command with one fault put in."""
        clause_faults = (
            ('?z {type: "Nothing"}', "KIP_2001"),
            ('?z {type: "alpha"}', "KIP_2001"),
            ('(?y, "nothing", ?z)', "KIP_2001"),
            ('(?y, "nothing" | "nor_this", ?z)', "KIP_2001"),
            ('NOT { (?y, "Knows", ?z) }', "KIP_2001"),
            ("FILTER(?z.name == 1)", "KIP_3001"),
            ("NOT { FILTER(?z.name == 1) }", "KIP_3001"),
            ('UNION { ?y {type: "Alpha"} FILTER(?z.name == 1) }', "KIP_3001"),
            ('?z {type: "Alpha"} FILTER(?z.nothing == 1)', "KIP_2002"),
            ('?z {type: "Alpha"} FILTER(?z.attributes.n.k == 1)', "KIP_1001"),
            ('?z {type: "Alpha"} FILTER(REGEX(?z.name, "("))', "KIP_2003"),
            ('?z {type: "Unused"} FILTER(REGEX(?z.name, "(?=a)"))', "KIP_2003"),
            ('?z {type: "Alpha"} FILTER(REGEX(?z.attributes.n, :bad))', "KIP_2003"),
            ('?z {type: "Alpha"} FILTER(IN(?z.name, :number))', "KIP_2003"),
            ('?z {type: "Alpha"} FILTER(?z.name == :missing)', "KIP_1001"),
            ("?z {name: :number}", "KIP_2003"),
            ('?z (?y, "knows"{1,2}, ?x)', "KIP_1001"),
            ('(?z, "says", (?y, "knows"{2,3}, ?x))', "KIP_1001"),
            ("(?y, ?z, ?x) (?z, ?w, ?x)", "KIP_2002"),
            ('(?y, ?z, ?x) FILTER(?z.name == "a")', "KIP_2002"),
            ('(?y, "knows"{3,2}, ?z)', "KIP_1001"),
        )
        self.parameters.update(bad="[", number=7)
        if self.chance(0.7):
            clause, code = self.rng.choice(clause_faults)
            return self.command([*clauses, clause], columns, order, code)
        find_faults = (
            ("?z", "KIP_3001"),
            ("?z.name", "KIP_3001"),
            ("COUNT(?z)", "KIP_3001"),
            ("SUM(?z.nothing)", "KIP_3001"),
        )
        column, code = self.rng.choice((*find_faults, ("", "")))
        if column:
            return self.command([*clauses, 'NOT { ?z {type: "Alpha"} }'], [*columns, column], order, code)
        return self.command(
            clauses, columns, "\nORDER BY MAX(?" + clauses_variable(columns) + ".attributes.no)", "KIP_3001"
        )


def clauses_variable(columns: list[str]) -> str:
    """A variable that FIND mentions."""
    return columns[0].partition("?")[2][:1]
