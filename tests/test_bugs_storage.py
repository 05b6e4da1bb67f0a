"""Fault classes that users of comparable systems reported: storage, cascades, export, paths, limits of the parser.

The rows are those of ``../shared/bugs/public_bugs.md``; each test keeps its row's number.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cases.calls import found, link, make, prepared, run
from tests.cases.runner import FACTORIES, Execute, check_response

PROMPT = 3.0
"""Seconds that a hostile command may take. The rows say one; a slow machine gets some more."""


@pytest.fixture(params=FACTORIES)
def store(request: pytest.FixtureRequest) -> Iterator[Execute]:
    with prepared(request.param) as execute:
        yield execute


@pytest.fixture(params=FACTORIES)
def other(request: pytest.FixtureRequest) -> Iterator[Execute]:
    """A second fresh store, of every kind, for what is exported from the first."""
    with prepared(request.param) as execute:
        yield execute


ALL_LINKS = "FIND(?l) WHERE { ?l (?s, ?p, ?o) }"


def dangling(store: Execute) -> list[str]:
    """Links with an end that no longer exists, by a full scan."""
    types = run(store, "DESCRIBE CONCEPT TYPES")
    concepts = [run(store, "FIND(?n.id) WHERE { ?n {type: :type} }", type=type) for type in types]
    links = run(store, ALL_LINKS)
    known = {*itertools.chain(*concepts), *(item["id"] for item in links)}
    return [item["id"] for item in links if not {item["subject"], item["object"]} <= known]


def timed(store: Execute, command: str, **parameters: Any) -> dict[str, Any]:
    """The response to a command that has to come soon, whatever it says."""
    # Time of this process: what else runs on the machine does not count.
    started = time.process_time()
    response = store({"command": command, "parameters": parameters})
    spent = time.process_time() - started
    check_response(response)
    assert spent < PROMPT, f"took {spent:.1f} s"
    return response


# --- D13: rings ----------------------------------------------------------------------------------


def ring(store: Execute) -> list[str]:
    """Three claims, each superseded by the next one, in metadata and by links about links."""
    person = make(store, "Person", "Ada")
    claims = [link(store, person, "works_at", make(store, "Org", name)) for name in ("A", "B", "C")]
    for claim, successor in zip(claims, [*claims[1:], claims[0]], strict=True):
        command = "UPDATE ?l SET METADATA { superseded: true, superseded_by: :next } WHERE { ?l (id: :id) }"
        assert run(store, command, id=claim, next=successor)["updated"] == 1
        run(store, 'UPSERT { PROPOSITION { ((id: :id), "superseded_by", (id: :next)) } }', id=claim, next=successor)
    return claims


def test_d13_a_ring_can_be_read(store: Execute) -> None:
    claims = ring(store)
    for hops in ("{1,}", "{0,}", "{3}", "{2,9}"):
        command = f'FIND(?x.id) WHERE {{ ?c (id: :id) (?c, "superseded_by"{hops}, ?x) }}'
        assert set(timed(store, command, id=claims[0])["result"]) <= set(claims)
    walk = 'FIND(?x.id) WHERE { ?c (id: :id) (?c, "superseded_by"{1,}, ?x) }'
    assert sorted(timed(store, walk, id=claims[0])["result"]) == sorted(claims)
    chain = """FIND(?a.id) WHERE { ?a (?p, "works_at", ?o) ?b (?p, "works_at", ?q)
               FILTER(?a.metadata.superseded_by == ?b.id) }"""
    assert sorted(timed(store, chain)["result"]) == sorted(claims)


def test_d13_a_ring_can_be_exported_and_deleted(store: Execute, other: Execute) -> None:
    ring(store)
    pattern = '{ ?x {type: "Org"} UNION { ?x {type: "Person", name: "Ada"} } UNION { ?x (?s, "works_at", ?o) } }'
    exported = timed(store, f"EXPORT ?x WHERE {pattern}")["result"]
    assert (exported["concepts"], exported["propositions"]) == (4, 3)
    run(other, exported["capsule"])
    # Each claim takes the two links about it along; none is counted twice.
    response = timed(store, 'DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Person", name: "Ada"} }')
    assert response["result"] == {"deleted_concepts": 1, "deleted_propositions": 6}
    assert dangling(store) == []


def test_d13_a_ring_of_links_can_be_merged_away(store: Execute) -> None:
    ring(store)
    for source, target in (("A", "B"), ("B", "C")):
        command = "MERGE CONCEPT ?s INTO ?t WHERE { ?s {type: :type, name: :s} ?t {type: :type, name: :t} }"
        merged = timed(store, command, type="Org", s=source, t=target)["result"]
        assert merged["links_deduplicated"] >= 1
        assert dangling(store) == []
    [claims, rest] = run(
        store, 'FIND(COUNT(?l), COUNT(?x)) WHERE { ?l (?p, "works_at", ?o) OPTIONAL { ?x (?l, ?q, ?m) } }'
    )
    assert (claims, rest) == (1, 0)
    # Nothing may supersede itself.
    assert run(store, 'FIND(COUNT(?l)) WHERE { ?l (?x, "superseded_by", ?y) }') == 0


# --- D14: look-alikes ----------------------------------------------------------------------------


def test_d14_names_that_look_alike_stay_apart(store: Execute) -> None:
    names = ["QX2103", "QX2105", "QX2106", "tamel", "tamelr", "Tamel", "TAMEL", "tamel ", "ta mel", "tаmel"]
    ids = [make(store, "Part", name, is_called=name) for name in names]
    assert len(set(ids)) == len(names)
    for name in names:
        assert run(store, "FIND(?x.attributes) WHERE { ?x {type: :type, name: :name} }", type="Part", name=name) == [
            {"is_called": name}
        ]


def test_d14_one_name_is_one_node(store: Execute) -> None:
    first = make(store, "Part", "KRVO", a=1)
    run(
        store,
        """UPSERT {
             CONCEPT ?x { {type: "Part", name: "KRVO"} SET ATTRIBUTES { b: 2 } }
             CONCEPT ?y { {type: "Part", name: "KRVO"} SET ATTRIBUTES { c: 3 } }
           }""",
    )
    assert run(store, 'FIND(?x) WHERE { ?x {type: "Part"} }')[0]["id"] == first
    assert run(store, 'FIND(?x.attributes) WHERE { ?x {type: "Part"} }') == [{"a": 1, "b": 2, "c": 3}]


# --- D15: cascades -------------------------------------------------------------------------------


@pytest.mark.slow
def test_d15_a_cascade_has_no_page_limit(store: Execute) -> None:
    spokes, reported, doubted = 1500, 300, 20
    blocks = [
        'CONCEPT ?hub { {type: "Part", name: "hub"} }',
        'CONCEPT ?ann { {type: "Person", name: "Ann"} }',
        'CONCEPT ?bob { {type: "Person", name: "Bob"} }',
    ]
    for number in range(spokes):
        blocks.append(f'CONCEPT ?n{number} {{ {{type: "Part", name: "spoke {number}"}} }}')
        ends = ("?hub", f"?n{number}") if number % 2 else (f"?n{number}", "?hub")
        blocks.append(f'PROPOSITION ?l{number} {{ ({ends[0]}, "links_to", {ends[1]}) }}')
        if number < reported:
            blocks.append(f'PROPOSITION ?s{number} {{ (?ann, "stated", ?l{number}) }}')
        if number < doubted:
            blocks.append(f'PROPOSITION {{ (?bob, "stated", ?s{number}) }}')
    before = len(run(store, ALL_LINKS))
    run(store, "UPSERT {" + "\n".join(blocks) + "}")
    assert len(run(store, ALL_LINKS)) == before + spokes + reported + doubted
    assert found(store, "hub") == ["hub"]
    command = 'DELETE CONCEPT ?h DETACH WHERE { ?h {type: "Part", name: "hub"} }'
    assert run(store, command) == {"deleted_concepts": 1, "deleted_propositions": spokes + reported + doubted}
    assert dangling(store) == []
    assert len(run(store, ALL_LINKS)) == before
    assert found(store, "hub") == []
    assert run(store, 'FIND(COUNT(?x)) WHERE { ?x {type: "Part"} }') == spokes


# --- D20: the index follows ----------------------------------------------------------------------

CHANGES = {
    "upsert": 'UPSERT { CONCEPT ?i { {type: "Insight", name: "i"} SET ATTRIBUTES { description: "beta" } } }',
    "update": 'UPDATE ?i SET ATTRIBUTES { description: "beta" } WHERE { ?i {type: "Insight", name: "i"} }',
    "merge": 'MERGE CONCEPT ?s INTO ?i WHERE { ?s {type: "Insight", name: "beta"} ?i {type: "Insight", name: "i"} }',
    "delete": 'DELETE ATTRIBUTES { "description" } FROM ?i WHERE { ?i {type: "Insight", name: "i"} }',
}


def test_d20_reading_changes_nothing(store: Execute) -> None:
    make(store, "Insight", "i", description="alpha")
    for _ in range(200):
        assert found(store, "alpha") == ["i"]
    assert run(store, 'FIND(?i.metadata._version) WHERE { ?i {type: "Insight"} }') == [1]


@pytest.mark.parametrize("change", CHANGES)
def test_d20_the_index_follows_every_change(store: Execute, change: str) -> None:
    make(store, "Insight", "i", description="alpha")
    if change == "merge":
        make(store, "Insight", "beta", aliases=["delta"])
    run(store, CHANGES[change])
    assert found(store, "alpha") == (["i"] if change == "merge" else [])
    assert found(store, "beta") == ([] if change == "delete" else ["i"])
    if change == "merge":
        assert found(store, "delta") == ["i"]
    # A later node does not inherit the words of one that went.
    run(store, 'DELETE CONCEPT ?i DETACH WHERE { ?i {type: "Insight"} }')
    make(store, "Insight", "later", description="gamma")
    for word in ("alpha", "beta", "delta"):
        assert found(store, word) == []


def test_d20_the_index_follows_in_random_order(store: Execute) -> None:
    words = ["alpha", "beta", "gamma", "delta"]
    for turn in range(40):
        name, word = f"i{turn % 5}", words[turn * 7 % 4]
        if turn % 6 == 5:
            run(store, "DELETE CONCEPT ?i DETACH WHERE { ?i {type: :type, name: :name} }", type="Insight", name=name)
        else:
            make(store, "Insight", name, description=word)
        for asked in words:
            query = "FIND(?i.name) WHERE { ?i {type: :type} FILTER(?i.attributes.description == :word) }"
            assert sorted(found(store, asked)) == sorted(run(store, query, type="Insight", word=asked))


# --- D21: export ---------------------------------------------------------------------------------

EVERYTHING = """EXPORT ?x WHERE {
  ?x {type: "Person"} FILTER(?x.name != "$self" && ?x.name != "$system")
  UNION { ?x {type: "Event"} } UNION { ?x {type: "Insight"} } UNION { ?x {type: "Drug"} } UNION { ?x {type: "Symptom"} }
  UNION { ?x (?a, "mentions" | "treats" | "stated", ?b) }
}"""


def fill(store: Execute) -> None:
    """A bit of everything that an export may leave out."""
    ann = make(store, "Person", "Ann", nothing=None, empty={}, list=[])
    for name in ('say "hi"', "line1\nline2", ":limit", "// x", "東京"):
        event = make(store, "Event", name, text=name)
        link(store, event, "mentions", ann)
    drug = make(store, "Drug", "Aspirin")
    claim = link(store, drug, "treats", make(store, "Symptom", "Headache"))
    said = link(store, ann, "stated", claim)
    link(store, make(store, "Person", "Bob"), "stated", said)
    run(
        store,
        "UPDATE ?l SET METADATA { gone: null, at: :at } SET ATTRIBUTES { w: 1.0 } WHERE { ?l (id: :id) }",
        id=claim,
        at=[1],
    )
    run(store, 'UPDATE ?p SET METADATA { none: null } WHERE { ?p {type: "Person", name: "Ann"} }')
    make(store, "Insight", "alone")


def test_d21_an_export_is_complete(store: Execute, other: Execute) -> None:
    fill(store)
    first = run(store, EVERYTHING)
    assert (first["concepts"], first["propositions"]) == (10, 8)
    run(other, first["capsule"])
    assert run(other, EVERYTHING) == first
    run(other, first["capsule"])
    assert run(other, EVERYTHING) == first
    for query in (
        'FIND(?p, COUNT(?l)) WHERE { ?l (?s, ?p, ?o) FILTER(IN(?p, ["mentions", "treats", "stated"])) } ORDER BY ?p',
        'FIND(?l.attributes) WHERE { ?l (?s, "treats", ?o) }',
        'FIND(?a.name, ?b.name, ?d.name) WHERE { (?a, "stated", (?b, "stated", (?d, "treats", ?s))) }',
        'FIND(?x.attributes) WHERE { ?x {type: "Person", name: "Ann"} }',
    ):
        assert run(other, query) == run(store, query)
    [metadata] = run(other, 'FIND(?x.metadata) WHERE { ?x {type: "Person", name: "Ann"} }')
    assert "none" in metadata
    assert metadata["none"] is None


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_d21_pages_are_complete(store: Execute, other: Execute, size: int) -> None:
    fill(store)
    cursor, pages = None, []
    while True:
        command = f"{EVERYTHING} LIMIT {size}" + (" CURSOR :cursor" if cursor else "")
        response = store({"command": command, "parameters": {"cursor": cursor} if cursor else {}})
        pages.append(response["result"])
        cursor = response.get("next_cursor")
        if cursor is None:
            break
    assert sum(page["concepts"] + page["propositions"] for page in pages) == 18
    assert len(pages) == -(-18 // size)
    for page in pages:
        run(other, page["capsule"])
    assert run(other, EVERYTHING) == run(store, EVERYTHING)


# --- D22: paths ----------------------------------------------------------------------------------


def paths(store: Execute, *arrows: str) -> None:
    """People in rows of arrows, for example ``"AB"`` for A→B."""
    for start, end in arrows:
        link(store, make(store, "Person", start), "follows", make(store, "Person", end))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ('FIND(?o.name) WHERE { ({type: "Person", name: "A"}, "follows"{3}, ?o) }', "D"),
        ('FIND(?o.name) WHERE { (?o, "follows"{1,3}, {type: "Person", name: "C"}) }', "AB"),
        ('FIND(?o.name) WHERE { (?o, "follows"{0,3}, {type: "Person", name: "C"}) }', "ABC"),
        (
            """FIND(?p.name) WHERE { ?p {type: "Person"} FILTER(REGEX(?p.name, "^[A-D]$"))
               NOT { (?p, "follows", ?q) ?z {type: "Symptom"} } }""",
            "ABCD",
        ),
    ],
)
def test_d22_paths_give_what_they_say(store: Execute, query: str, names: str) -> None:
    paths(store, "AB", "BC", "CD", "AD")
    assert sorted(run(store, query)) == list(names)


def test_d22_paths_over_a_ring_end(store: Execute) -> None:
    paths(store, "AB", "BC", "CD", "AD", "DA")
    for hops, names in (("{3}", "BD"), ("{1,3}", "ABCD"), ("{0,3}", "ABCD"), ("{1,}", "ABCD"), ("{7,}", "ABCD")):
        command = f'FIND(?o.name) WHERE {{ ({{type: "Person", name: "A"}}, "follows"{hops}, ?o) }}'
        assert sorted(timed(store, command)["result"]) == list(names), hops


# --- D23: limits of the parser -------------------------------------------------------------------

PERSON = '?x {type: "Person"}'
LONG = {
    "parentheses": f'FIND(?x) WHERE {{ {PERSON} FILTER({"(" * 5000}?x.name == "a"{")" * 5000}) }}',
    "negations": f"FIND(?x) WHERE {{ {PERSON} FILTER({'!' * 5000}IS_NULL(?x.name)) }}",
    "arrays": 'UPSERT { CONCEPT ?x { {type: "Part", name: "a"} SET ATTRIBUTES { a: '
    + "[" * 5000
    + "]" * 5000
    + " } } }",
    "blocks": f"FIND(?x) WHERE {{ {PERSON} {'NOT { ' * 5000}{PERSON}{' }' * 5000} }}",
    "links": "FIND(?x) WHERE { " + '(?x, "follows", ' * 5000 + "?x" + ")" * 5000 + " }",
    "expressions": f"UPDATE ?x SET ATTRIBUTES {{ a: {'ADD(1, ' * 5000}1{')' * 5000} }} WHERE {{ {PERSON} }}",
    "open string": 'FIND(?x) WHERE { ?x {name: "' + "a" * 1_000_000,
    "open brackets": "FIND(" * 100_000,
    "blanks": " " * 1_000_000 + "nonsense",
    "comment": "//" + "x" * 1_000_000,
    "digits": f'UPSERT {{ CONCEPT ?x {{ {{type: "Part", name: "a"}} SET ATTRIBUTES {{ a: {"9" * 100_000} }} }} }}',
    "identifier": f'FIND(?{"x" * 100_000}) WHERE {{ ?y {{type: "Person"}} }}',
}
REFUSALS = {"KIP_1001", "KIP_1002", "KIP_2003", "KIP_3001", "KIP_4002"}


@pytest.mark.parametrize("kind", LONG)
def test_d23_hostile_text_is_refused_soon(store: Execute, kind: str) -> None:
    assert timed(store, LONG[kind])["error"]["code"] in REFUSALS
    assert run(store, 'FIND(?x.name) WHERE { ?x {type: "Person", name: "$self"} }') == ["$self"]


def test_d23_a_long_filter_is_answered_or_refused(store: Execute) -> None:
    terms = " || ".join(f'?x.name == "{number}"' for number in range(50_000))
    response = timed(store, f"FIND(?x) WHERE {{ {PERSON} FILTER({terms}) }}")
    assert response.get("result") == [] or response["error"]["code"] in {"KIP_1001", "KIP_4002"}


def test_d23_ordinary_depth_works(store: Execute) -> None:
    condition = f'{"(" * 64}?x.name == "$self"{")" * 64}'
    assert run(store, f"FIND(?x.name) WHERE {{ {PERSON} FILTER({condition}) }}") == ["$self"]
    value = json.loads("[" * 64 + "]" * 64)
    make(store, "Part", "deep", a=value)
    assert run(store, 'FIND(?x.attributes.a) WHERE { ?x {type: "Part"} }') == [value]


def test_d23_a_value_at_the_limit_comes_back(store: Execute) -> None:
    """What can be stored can be read, exported and imported: no depth is taken on one way and refused on another."""
    depth = 1
    for tried in (100, 120, 127, 128, 129, 130, 200):
        value: Any = 1
        for _ in range(tried):
            value = [value]
        command = "UPSERT { CONCEPT ?x { {type: :type, name: :name} SET ATTRIBUTES { a: :a } } }"
        response = store({"command": command, "parameters": {"type": "Part", "name": "x", "a": value}})
        check_response(response)
        if "error" in response:
            continue
        depth = tried
        assert run(store, 'FIND(?x.attributes.a) WHERE { ?x {type: "Part", name: "x"} }') == [value]
        capsule = run(store, 'EXPORT ?x WHERE { ?x {type: "Part", name: "x"} }')["capsule"]
        run(store, capsule)
    assert depth >= 100


def capsule(prefix: str, count: int, text: str) -> str:
    """A text of ``count`` concepts with an attribute each."""
    blocks = (
        f'CONCEPT ?c{number} {{ {{type: "Part", name: "{prefix}{number}"}} SET ATTRIBUTES {{ text: "{text}" }} }}'
        for number in range(count)
    )
    return "UPSERT {" + "\n".join(blocks) + "}"


def seconds(store: Execute, command: str) -> float:
    started = time.process_time()
    run(store, command)
    return time.process_time() - started


@pytest.mark.slow
def test_d23_a_large_capsule_costs_in_proportion(store: Execute) -> None:
    text = "made of ordinary words " * 85
    large = capsule("l", 2000, text)
    assert len(large) > 3_900_000
    run(store, capsule("warm", 10, text))
    small = max(seconds(store, capsule("s", 250, text)), 0.1)
    # The row allows ten times the time for eight times the input; a loaded machine gets twice that.
    assert seconds(store, large) <= 20 * small
    assert run(store, 'FIND(COUNT(?x)) WHERE { ?x {type: "Part"} }') == 2260


def test_d23_a_long_word_costs_in_proportion(store: Execute) -> None:
    """Keys, hashes and base64 are words of thousands of letters."""
    words = seconds(store, capsule("w", 1, "made of ordinary words " * 520))
    assert seconds(store, capsule("l", 1, "x" * 12_000)) < max(10 * words, 1.0)
