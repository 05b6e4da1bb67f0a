"""Seeded random FIND commands, as text: every clause, in every place where the grammar lets it stand."""

from __future__ import annotations

from collections.abc import Callable
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
PATTERNS = ("a", "^a", "b$", "a.b", "[aé]", r"\d+", "(?i)AB?", ".", "^$", "x*", "日|é", r"\x00", "^.$", "(a)(b)?", "C:2|P:")
FUNCTIONS = ("CONTAINS", "STARTS_WITH", "ENDS_WITH", "REGEX")


@dataclass(frozen=True)
class Command:
    """A FIND without LIMIT. ``error`` is the code that it must fail with, by the documents."""

    text: str
    parameters: dict[str, Json]
    error: str | None = None


@dataclass
class Scope:
    """What can be referred to at one place of the text: names of elements, and names of predicates."""

    elements: list[str] = field(default_factory=list)
    predicates: list[str] = field(default_factory=list)

    def copy(self) -> Scope:
        return Scope([*self.elements], [*self.predicates])

    def adopt(self, other: Scope) -> None:
        for mine, theirs in ((self.elements, other.elements), (self.predicates, other.predicates)):
            mine.extend(name for name in theirs if name not in mine)


def query(rng: Random, graph: Graph) -> Command:
    """One command. One in thirty has a fault whose code is known."""
    writer = QueryWriter(rng, graph)
    scope = Scope()
    clauses = writer.block(scope, 0)
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

    def name(self, known: list[str], pool: str, share: float) -> str:
        """A name in scope with the chance ``share``, else one that is new here, and in scope from now on."""
        free = [name for name in pool if name not in known]
        if known and (self.chance(share) or not free):
            return self.rng.choice(known)
        known.append(self.rng.choice(free))
        return known[-1]

    def element(self, scope: Scope, share: float = 0.7) -> str:
        return self.name(scope.elements, "abcdefg", share)

    # --- blocks ---

    def block(self, scope: Scope, depth: int) -> list[str]:
        """The clauses of a block; binds at least one variable."""
        makers: list[tuple[float, Callable[[Scope, int], str]]] = [
            (0.5, lambda scope, _: self.pattern(scope)),
            (0.2, lambda scope, _: self.filter(scope)),
            (0.1, self.negation),
            (0.12, self.optional),
            (0.08, self.union),
        ]
        clauses: list[str] = []
        for number in range(self.rng.choice((1, 2, 2, 3, 3, 4, 5) if depth == 0 else (1, 1, 2, 2, 3))):
            is_first = number == 0 and self.chance(0.85)
            makes = self.pattern if is_first else self._chosen(makers[:2] if depth > 2 else makers)
            clauses.append(makes(scope) if is_first else makes(scope, depth + 1))  # type: ignore[call-arg]
        if not scope.elements:
            clauses.append(self.pattern(scope))
        if self.chance(0.1) and not any(clause.startswith("UNION") for clause in clauses):
            # A FILTER may stand before what it reads; it waits for the end of the block.
            clauses.insert(self.rng.randrange(len(clauses)), self.filter(scope))
        return clauses

    def _chosen(self, makers: list[tuple[float, Callable[[Scope, int], str]]]) -> Callable[[Scope, int], str]:
        return self.rng.choices([make for _, make in makers], [weight for weight, _ in makers])[0]

    def nested(self, word: str, clauses: list[str]) -> str:
        return f"{word} {{ {' '.join(clauses)} }}"

    def negation(self, scope: Scope, depth: int) -> str:
        inner = Scope() if self.chance(0.1) else scope.copy()
        return self.nested("NOT", self.block(inner, depth))

    def optional(self, scope: Scope, depth: int) -> str:
        inner = scope.copy()
        clauses = self.block(inner, depth)
        scope.adopt(inner)
        return self.nested("OPTIONAL", clauses)

    def union(self, scope: Scope, depth: int) -> str:
        inner = Scope()
        clauses = self.block(inner, depth)
        scope.adopt(inner)
        return self.nested("UNION", clauses)

    # --- patterns ---

    def pattern(self, scope: Scope) -> str:
        chosen = self.rng.random()
        if chosen < 0.35:
            return f"?{self.element(scope, 0.4)} {self.concept()}"
        if chosen < 0.4:
            return f"?{self.element(scope, 0.4)} {self.link_id()}"
        if chosen < 0.55:
            return self.walk(scope)
        triple = self.triple(scope, 0)
        return f"?{self.element(scope, 0.15)} {triple}" if self.chance(0.5) else triple

    def concept(self) -> str:
        known = self.rng.choice(list(self.graph.concepts.values()))
        kind = self.rng.random()
        if kind < 0.1:
            return f"{{id: {self.given(self.id())}}}"
        type = known["type"] if self.chance(0.8) else self.rng.choice((*TYPES, "$ConceptType", UNUSED_TYPE))
        name = known["name"] if self.chance(0.8) else self.rng.choice(NAMES)
        if kind < 0.65:
            return f"{{type: {self.given(type)}}}"
        if kind < 0.85:
            return f"{{name: {self.given(name)}}}"
        return f"{{type: {self.given(type)}, name: {self.given(name)}}}"

    def id(self) -> str:
        if self.chance(0.1):
            return self.rng.choice(("C:1", "C:0", "P:3:", "nothing", "", "C:99999999999999999999", "P:5:unused", "C:02"))
        return self.rng.choice(self.nodes)["id"]

    def link_id(self) -> str:
        return f"(id: {self.given(self.id())})"

    def predicate(self) -> str:
        return self.given(self.rng.choice((*PREDICATES, *PREDICATES, UNUSED_PREDICATE)))

    def alternatives(self) -> str:
        names = [self.predicate() for _ in range(self.rng.randint(2, 3))]
        if self.chance(0.2):
            names.append(self.given("not_registered"))
        return " | ".join(names)

    def endpoint(self, scope: Scope, depth: int) -> str:
        chosen = self.rng.random()
        if chosen < 0.1:
            return self.concept()
        if chosen < 0.13:
            return self.link_id()
        if chosen < 0.2 and depth < 2:
            return self.triple(scope, depth + 1)
        return f"?{self.element(scope)}"

    def triple(self, scope: Scope, depth: int) -> str:
        subject = self.endpoint(scope, depth)
        kind = self.rng.random()
        if kind < 0.55:
            predicate = self.predicate()
        elif kind < 0.75:
            predicate = self.alternatives()
        elif kind < 0.8:
            predicate = f"{self.predicate()}{self.rng.choice(('{1}', '{1,1}'))}"
        else:
            predicate = f"?{self.name(scope.predicates, 'pq', 0.5)}"
        return f"({subject}, {predicate}, {self.endpoint(scope, depth)})"

    def walk(self, scope: Scope) -> str:
        least = self.rng.choice((0, 0, 1, 1, 2, 3))
        most = least + self.rng.choice((0, 1, 2, 4))
        hops = self.rng.choice((f"{{{least}}}", f"{{{least},{most}}}", f"{{{least},}}"))
        return f"({self.endpoint(scope, 1)}, {self.predicate()}{hops}, {self.endpoint(scope, 1)})"

    # --- expressions ---

    def path(self, scope: Scope) -> str:
        """A dot path on an element that is in scope."""
        name, kind = self.rng.choice(scope.elements), self.rng.random()
        if kind < 0.35:
            return f"?{name}.{self.rng.choice(FIELDS)}"
        if kind < 0.75:
            return f"?{name}.attributes.{self.rng.choice((*ATTRIBUTES, 'absent', 'touched'))}"
        if kind < 0.93:
            return f"?{name}.metadata.{self.rng.choice((*METADATA, *MAINTAINED))}"
        return f"?{name}.{self.rng.choice(('attributes', 'metadata'))}"

    def variable(self, scope: Scope) -> str:
        if scope.predicates and self.chance(0.4):
            return f"?{self.rng.choice(scope.predicates)}"
        return f"?{self.rng.choice(scope.elements)}"

    def reference(self, scope: Scope) -> str:
        return self.variable(scope) if self.chance(0.2) else self.path(scope)

    def sample(self) -> Json:
        """A value that may well be found in the data."""
        node = self.rng.choice(self.nodes)
        kind = self.rng.random()
        if kind < 0.25:
            return node[self.rng.choice([name for name in FIELDS if name in node])]
        if kind < 0.6 and (found := [*node["attributes"].values(), *node["metadata"].values()]):
            return self.rng.choice(found)
        return primitive(self.rng)

    def literal(self) -> str:
        return self.given(self.sample() if self.chance(0.9) else value(self.rng))

    def operand(self, scope: Scope) -> str:
        return self.reference(scope) if self.chance(0.8) else self.literal()

    # --- conditions ---

    def filter(self, scope: Scope, _: int = 0) -> str:
        if not scope.elements:
            return self.pattern(scope)
        return f"FILTER({self.condition(scope, 0)})"

    def condition(self, scope: Scope, depth: int) -> str:
        kind = self.rng.random()
        if depth < 3 and kind < 0.25:
            sign = self.rng.choice(("&&", "||"))
            parts = [self.condition(scope, depth + 1) for _ in range(self.rng.randint(2, 3))]
            return "(" + f" {sign} ".join(parts) + ")"
        if depth < 3 and kind < 0.35:
            return f"!({self.condition(scope, depth + 1)})"
        if kind < 0.65:
            return self.comparison(scope)
        if kind < 0.75:
            return self.membership(scope)
        if kind < 0.85:
            return f"{self.rng.choice(('IS_NULL', 'IS_NOT_NULL'))}({self.operand(scope)})"
        return self.text_test(scope)

    def comparison(self, scope: Scope) -> str:
        sides = [self.reference(scope), self.operand(scope) if self.chance(0.4) else self.literal()]
        if self.chance(0.2):
            sides.reverse()
        return f"{sides[0]} {self.rng.choice(('==', '==', '!=', '<', '<=', '>', '>='))} {sides[1]}"

    def membership(self, scope: Scope) -> str:
        samples = [self.sample() for _ in range(self.rng.randint(0, 4))]
        if self.chance(0.4):
            self.parameters[f"p{len(self.parameters)}"] = samples
            listed = f":p{len(self.parameters) - 1}"
        else:
            listed = f"[{', '.join(map(self.given, samples))}]"
        return f"IN({self.operand(scope)}, {listed})"

    def text_test(self, scope: Scope) -> str:
        function, subject = self.rng.choice(FUNCTIONS), self.operand(scope)
        if self.chance(0.15):
            return f"{function}({subject}, {self.reference(scope)})"
        if function == "REGEX":
            return f"REGEX({subject}, {self.given(self.rng.choice(PATTERNS))})"
        part = self.rng.choice(STRINGS)
        if self.chance(0.6):
            start = self.rng.randrange(len(part) + 1)
            part = part[start : start + self.rng.randint(0, 2)]
        return f"{function}({subject}, {self.given(part)})"

    # --- FIND and ORDER BY ---

    def columns(self, scope: Scope) -> list[str]:
        return [self.projection(scope) for _ in range(self.rng.choice((1, 1, 2, 2, 3, 4)))]

    def projection(self, scope: Scope) -> str:
        kind = self.rng.random()
        if kind < 0.25:
            return self.variable(scope)
        if kind < 0.75:
            return self.path(scope)
        function = self.rng.choice(("COUNT", "COUNT", "COUNT(DISTINCT", "SUM", "AVG", "MIN", "MAX"))
        operand = self.variable(scope) if function.startswith("COUNT") and self.chance(0.5) else self.path(scope)
        if function in ("SUM", "AVG", "MIN", "MAX") and self.chance(0.6):
            operand = f"?{self.rng.choice(scope.elements)}.attributes.{self.rng.choice('nm')}"
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
            ("UNION { ?y {type: \"Alpha\"} FILTER(?z.name == 1) }", "KIP_3001"),
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
        find_faults = (("?z", "KIP_3001"), ("?z.name", "KIP_3001"), ("COUNT(?z)", "KIP_3001"), ("SUM(?z.nothing)", "KIP_3001"))
        column, code = self.rng.choice((*find_faults, ("", "")))
        if column:
            return self.command([*clauses, 'NOT { ?z {type: "Alpha"} }'], [*columns, column], order, code)
        return self.command(clauses, columns, "\nORDER BY MAX(?" + clauses_variable(columns) + ".attributes.no)", "KIP_3001")


def clauses_variable(columns: list[str]) -> str:
    """A variable that FIND mentions."""
    return columns[0].partition("?")[2][:1]
