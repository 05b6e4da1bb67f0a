"""Small queries that the engine once answered wrongly, found by the generator; each stands for a class of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kip.backends.sqlite import SqliteBackend
from kip.clock import FixedClock
from kip.values import Json
from tests.oracle.generate import PREDICATES, ConceptSpec, GraphSpec
from tests.oracle.generate_queries import Command
from tests.oracle.judge import judge
from tests.oracle.store import START, Loader, Store

MANY = " ".join(f'OPTIONAL {{ (?a, "knows", ?b{n}) ?b{n} {{type: "Beta"}} }}' for n in range(12))
EVERYTHING = '(?c, "causes"{0}, ?c)'
HUGE = 10**400

CASES: dict[str, tuple[str, dict[str, Json]]] = {
    "a comparison that cannot hold leaves a value unused": (
        'FIND(?a) WHERE { ?a {type: "Alpha"} FILTER(?a == 1) }',
        {},
    ),
    "the same of a list": ('FIND(?a) WHERE { ?a {type: "Alpha"} FILTER(IN(?a.attributes, ["a"])) }', {}),
    "the same of a null parameter": (
        'FIND(?x.name) WHERE { ?x {type: "Alpha"} OPTIONAL { (?x, "knows", ?y) FILTER(CONTAINS(:p, "a")) } }',
        {"p": None},
    ),
    "a suffix that is a boolean": (
        'FIND(?d) WHERE { ?d {type: "Alpha"} FILTER(!ENDS_WITH(?d.name, ?d.attributes.touched)) }',
        {},
    ),
    "a pattern on a number": ('FIND(?d) WHERE { (?a, "causes", ?d) FILTER(!REGEX(?d.attributes.n, "x*")) }', {}),
    "order by metadata": (f"FIND(?c) WHERE {{ {EVERYTHING} }} ORDER BY ?c.metadata", {}),
    "groups by metadata": (f"FIND(?c.metadata, COUNT(?c)) WHERE {{ {EVERYTHING} }}", {}),
    "different metadata": (f"FIND(COUNT(DISTINCT ?c.metadata)) WHERE {{ {EVERYTHING} }}", {}),
    "a null of OPTIONAL determines nothing": (
        'FIND(?b) WHERE { ?g {type: "Gamma"} OPTIONAL { ?b ((?f, "knows", ?g), ?q, ?f) } }',
        {},
    ),
    "a link as its own subject": ('FIND(?c) WHERE { (?a, "part_of", ?b) OPTIONAL { ?c (?c, "part_of", ?b) } }', {}),
    "a link as its own object": (
        'FIND(?f) WHERE { ?c {type: "Alpha"} OPTIONAL { ?f (?c, "knows" | "says", ?f) } }',
        {},
    ),
    "many OPTIONAL": (f'FIND(?a.name) WHERE {{ ?a {{type: "Alpha"}} {MANY} }}', {}),
    "a number past the floats": ('FIND(?a) WHERE { ?a {type: "Alpha"} FILTER(?a.attributes.n < :p) }', {"p": HUGE}),
    "a negative one": ('FIND(?a) WHERE { ?a {type: "Alpha"} FILTER(?a.name >= :p) }', {"p": -HUGE}),
}
BAD_PATTERNS: dict[str, tuple[str, dict[str, Json]]] = {
    "without rows": ('FIND(?x) WHERE { ?x {type: "Unused"} FILTER(REGEX(?x.name, "(")) }', {}),
    "on what is no text": ('FIND(?x) WHERE { ?x {type: "Alpha"} FILTER(REGEX(?x.attributes.n, :p)) }', {"p": "["}),
    "inside NOT": ('FIND(?x) WHERE { ?x {name: "nobody"} NOT { FILTER(REGEX(?x.name, "(?=a)")) } }', {}),
}


@pytest.fixture(scope="module")
def loader() -> Iterator[Loader]:
    store = Store(2200)
    yield store.loaders[0]
    store.close()


@pytest.mark.parametrize("case", CASES)
def test_rows(case: str, loader: Loader) -> None:
    text, parameters = CASES[case]
    for seed in range(4):  # several page sizes
        verdict = judge(loader.nexus, loader.graph, Command(text, parameters), seed)
        assert verdict.fault is None, verdict
        assert verdict.kind == "pages"


@pytest.mark.parametrize("case", BAD_PATTERNS)
def test_a_bad_pattern_is_refused_whatever_the_data(case: str, loader: Loader) -> None:
    text, parameters = BAD_PATTERNS[case]
    verdict = judge(loader.nexus, loader.graph, Command(text, parameters, "KIP_2003"), 1)
    assert verdict.fault is None, verdict


@pytest.mark.parametrize("condition", ["!IN(?a.attributes.n, [1])", "!(?a.attributes.n == ?a.attributes.n)"])
def test_the_least_integer_of_64_bits(condition: str) -> None:
    concepts = [ConceptSpec("Alpha", "a", {"n": -(2**63)}, {}), ConceptSpec("Alpha", "b", {"n": 1}, {})]
    loader = Loader(SqliteBackend(":memory:"), "s", FixedClock(START), GraphSpec(concepts))
    loader.load()
    command = Command(f'FIND(?a.name) WHERE {{ ?a {{type: "Alpha"}} FILTER({condition}) }}', {})
    verdict = judge(loader.nexus, loader.graph, command, 1)
    loader.nexus.close()
    assert verdict.fault is None, verdict


def test_an_id_counts_as_a_whole(loader: Loader) -> None:
    """The key in an id names an element alone; with another letter or predicate the id is none."""
    graph = loader.graph
    about = next(link for link in graph.links.values() if link["subject"] in graph.links)
    key, predicate = about["subject"].split(":")[1:]
    other = next(name for name in PREDICATES if name != predicate)
    for id in (about["subject"], f"P:{key}:{other}", f"C:{key}", f"P:{key}:", f"P:0{key}:{predicate}", "P:1", ""):
        for clause in (
            "?x (id: :id)",
            "?x {id: :id}",
            "?x (?s, ?p, ?o) FILTER(?x.id == :id)",
            "?x (?s, ?p, ?o) FILTER(?x.subject == :id)",
            "?x (?s, ?p, ?o) FILTER(?x.subject != :id)",
            "?x (?s, ?p, ?o) FILTER(IN(?s.id, [:id]))",
            "(?x, ?p, ?o) FILTER(?x.id == :id)",
            "(?x, ?p, ?o) FILTER(IN(?x.id, :ids))",
        ):
            command = Command(f"FIND(?x) WHERE {{ {clause} }}", {"id": id, "ids": [id, 1]})
            verdict = judge(loader.nexus, graph, command, 1)
            assert verdict.fault is None, (clause, id, verdict)
