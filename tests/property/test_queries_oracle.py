"""The naive evaluator, held against answers worked out by hand from the documents; and the judge, which must notice."""

from __future__ import annotations

from typing import Any

import pytest

from kip.values import Json
from tests.oracle.evaluate import Answer, Graph, RefusedError, evaluate
from tests.oracle.generate import dice
from tests.oracle.generate_queries import query
from tests.oracle.judge import difference, judge, plan
from tests.oracle.store import Store


def concept(key: int, type: str, name: str, **attributes: Json) -> dict[str, Any]:
    return {"id": f"C:{key}", "type": type, "name": name, "attributes": attributes, "metadata": {"_version": 1}}


def link(key: int, subject: str, predicate: str, object: str) -> dict[str, Any]:
    ends = {"subject": subject, "predicate": predicate, "object": object}
    return {"id": f"P:{key}:{predicate}", **ends, "attributes": {}, "metadata": {"_version": 1}}


def small_graph() -> Graph:
    """a -> b -> c -> a by ``knows``; d stands apart; b says that a knows b."""
    concepts = [
        concept(2, "Alpha", "a", n=1, m=True),
        concept(4, "Alpha", "b", n=2, m="1"),
        concept(6, "Beta", "c", n=None, m=1.0),
        concept(8, "Beta", "d", m=[1]),
    ]
    links = [
        link(1, "C:2", "knows", "C:4"),
        link(3, "C:4", "knows", "C:6"),
        link(5, "C:6", "knows", "C:2"),
        link(7, "C:4", "says", "P:1:knows"),
    ]
    registered = {"type": {"Alpha", "Beta"}, "predicate": {"knows", "says"}}
    return Graph({node["id"]: node for node in concepts}, {node["id"]: node for node in links}, registered)


def answer(text: str, **parameters: Json) -> Answer:
    return evaluate(plan(text), parameters, small_graph())


def names(text: str, **parameters: Json) -> list[Any]:
    """The rows, sorted; rows of one column as plain values."""
    rows = answer(text, **parameters).rows
    return sorted((row[0] if len(row) == 1 else row for row in rows), key=repr)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("?x.attributes.n < 2", ["a"]),
        ("!(?x.attributes.n < 2)", ["b", "c", "d"]),  # two-valued: what is not less, null included
        ("?x.attributes.n != 1", ["b", "c", "d"]),
        ("?x.attributes.n == null", []),
        ("IS_NULL(?x.attributes.n)", ["c", "d"]),
        ("?x.attributes.m == 1", ["c"]),  # neither true nor "1"
        ("?x.attributes.m <= true", []),
        ("IN(?x.attributes.m, [true, null, 2])", ["a"]),
        ("IN(?x.attributes.m, :list)", ["a", "c"]),
        ("?x.attributes.m == :array", []),
        ("?x == ?x && ?x.id == 'x'".replace("'", '"'), []),
        ("?x == ?x.id", []),
        ('CONTAINS(?x.attributes.m, "")', ["b"]),  # of text only
        ('REGEX(?x.name, "[a-b]")', ["a", "b"]),
        ('?x.subject == "C:2"', []),
    ],
)
def test_conditions(condition: str, expected: list[str]) -> None:
    text = f'FIND(?x.name) WHERE {{ ?x {{type: "Alpha"}} UNION {{ ?x {{type: "Beta"}} }} FILTER({condition}) }}'
    assert names(text, list=[True, 1], array=[1]) == expected


@pytest.mark.parametrize(
    ("hops", "expected"),
    [
        ("{1}", ["b"]),
        ("{3}", ["a"]),  # a walk may come back to where it began
        ("{0}", ["a"]),
        ("{0,2}", ["a", "b", "c"]),
        ("{4,}", ["a", "b", "c"]),
        ("{2,}", ["a", "b", "c"]),
    ],
)
def test_walks(hops: str, expected: list[str]) -> None:
    assert names(f'FIND(?y.name) WHERE {{ ({{type: "Alpha", name: "a"}}, "knows"{hops}, ?y) }}') == expected


def test_zero_hops_relate_every_element_to_itself() -> None:
    assert len(names('FIND(?x) WHERE { (?x, "says"{0}, ?x) }')) == 8


def test_higher_order_links_and_predicate_variables() -> None:
    assert names('FIND(?s.name, ?o.name) WHERE { (?who, "says", (?s, ?p, ?o)) FILTER(?p == "knows") }') == [("a", "b")]
    assert names("FIND(?p) WHERE { (?a, ?p, ?b) (?b, ?p, ?c) }") == ["knows"]


def test_not_and_optional_see_what_stands_before_them() -> None:
    assert names('FIND(?x.name) WHERE { ?x {type: "Beta"} NOT { (?x, "knows", ?y) } }') == ["d"]
    assert names('FIND(?x.name, ?y.name) WHERE { ?x {type: "Beta"} OPTIONAL { (?x, "knows", ?y) } }') == [
        ("c", "a"),
        ("d", None),
    ]
    # What OPTIONAL left null is matched by no later pattern.
    text = '?x {type: "Beta"} OPTIONAL { (?x, "knows", ?y) } ?y {type: "Alpha"}'
    assert names(f"FIND(?x.name) WHERE {{ {text} }}") == ["c"]
    assert names('FIND(?x.name) WHERE { ?x {type: "Beta"} NOT { ?z {type: "Alpha"} } }') == []


def test_union_pads_with_null_and_is_joined_inside_not() -> None:
    text = 'FIND(?x.name, ?y.name) WHERE { ?x {name: "a"} UNION { ?y {name: "b"} } UNION { ?x {name: "a"} } }'
    assert names(text) == [("a", None), (None, "b")]
    text = '?x {type: "Beta"} NOT { (?x, "says", ?z) UNION { (?x, "knows", ?w) } }'
    assert names(f"FIND(?x.name) WHERE {{ {text} }}") == ["d"]


def test_solutions_collapse_on_the_variables_of_find() -> None:
    assert names('FIND(?x.type) WHERE { ?x {type: "Alpha"} (?y, "knows", ?z) }') == ["Alpha", "Alpha"]


def test_aggregates() -> None:
    both = '?x {type: "Alpha"} UNION { ?x {type: "Beta"} }'
    assert names(f"FIND(COUNT(?x), COUNT(?x.attributes.n), SUM(?x.attributes.m)) WHERE {{ {both} }}") == [(4, 2, 1.0)]
    assert names(f"FIND(MIN(?x.attributes.m), MAX(?x.attributes.m)) WHERE {{ {both} }}") == [(1.0, [1])]
    assert names(f"FIND(?x.type, AVG(?x.attributes.n)) WHERE {{ {both} }}") == [("Alpha", 1.5), ("Beta", None)]
    nothing = '?x {name: "nobody"}'
    assert names(f"FIND(COUNT(?x), SUM(?x.attributes.n)) WHERE {{ {nothing} }}") == [(0, None)]
    assert names(f"FIND(?x.type, COUNT(?x)) WHERE {{ {nothing} }}") == []
    assert names(f"FIND(COUNT(DISTINCT ?x.type)) WHERE {{ {both} }}") == [2]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("?x.attributes.m", ["c", "b", "a", "d"]),  # numbers, strings, booleans, arrays
        ("?x.attributes.m DESC", ["d", "a", "b", "c"]),
        ("?x.attributes.n, ?x.name", ["a", "b", "c", "d"]),  # null last ..
        ("?x.attributes.n DESC, ?x.name", ["b", "a", "c", "d"]),  # .. in both directions
    ],
)
def test_order(order: str, expected: list[str]) -> None:
    both = '?x {type: "Alpha"} UNION { ?x {type: "Beta"} }'
    assert [row[0] for row in answer(f"FIND(?x.name) WHERE {{ {both} }} ORDER BY {order}").rows] == expected


def test_a_sort_key_outside_the_solution_takes_its_extreme() -> None:
    text = 'FIND(?x.name) WHERE { ?x {type: "Alpha"} (?y, "knows", ?z) } ORDER BY ?y.name'
    assert answer(text).ties == [[("a",), ("b",)]]


def test_refusals() -> None:
    with pytest.raises(RefusedError, match="KIP_2001"):
        answer('FIND(?x) WHERE { ?x {type: "Nothing"} }')
    with pytest.raises(RefusedError, match="KIP_2003"):
        answer('FIND(?x) WHERE { ?x {name: "nobody"} FILTER(REGEX(?x.name, "(")) }')


# --- the judge ----------------------------------------------------------------------------------


def test_the_judge_tells_order_from_ties() -> None:
    ordered = plan('FIND(?x.name) WHERE { ?x {type: "Alpha"} } ORDER BY ?x.name')
    expected = Answer([[("a",)], [("b",), ("c",)]])
    assert difference(ordered, expected, [("a",), ("c",), ("b",)]) is None
    assert "order" in str(difference(ordered, expected, [("b",), ("a",), ("c",)]))
    assert "other rows" in str(difference(ordered, expected, [("a",), ("b",), ("b",)]))
    assert "2 rows instead of 3" in str(difference(ordered, expected, [("a",), ("b",)]))


def test_the_judge_tells_true_from_one() -> None:
    grouped = plan('FIND(?x.attributes.m, COUNT(?x)) WHERE { ?x {type: "Alpha"} }')
    assert difference(grouped, Answer([[(1, 2)]]), [(1.0, 2)]) is None
    assert difference(grouped, Answer([[(1, 2)]]), [(True, 2)]) is not None
    plain = plan('FIND(?x.attributes.m) WHERE { ?x {type: "Alpha"} }')
    assert difference(plain, Answer([[(1,)]]), [(1.0,)]) is not None


@pytest.mark.parametrize("damage", ["a link less", "another value", "another version"])
def test_a_store_that_differs_is_noticed(damage: str) -> None:
    store = Store(1)
    loader = store.loaders[0]
    if damage == "a link less":
        loader.graph.links.popitem()  # the last one: no other link is about it
    for concept in loader.graph.concepts.values():
        if damage == "another value":
            concept["attributes"]["n"] = 12345
        elif damage == "another version":
            concept["metadata"]["_version"] += 1
    faults = 0
    for number in range(100):
        faults += judge(loader.nexus, loader.graph, query(dice(number), loader.graph), number).fault is not None
    store.close()
    assert faults >= 5
