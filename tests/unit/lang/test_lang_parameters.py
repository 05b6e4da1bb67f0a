"""Placeholders against the parameters of a request."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from kip.errors import KipError
from kip.lang import bind_check, parameters, parameters_of, parse

WHERE = 'WHERE { ?x {id: "C:1"} }'
STRINGS: list[Any] = ["", "a"]
NO_STRINGS: list[Any] = [1, None, True, ["a"], {}]
POSITIVE: list[Any] = [1, 10**30]
NOT_POSITIVE: list[Any] = [0, -1, 1.0, "5", True, None, [1]]
OBJECTS: list[Any] = [{}, {"a": [1]}]
NO_OBJECTS: list[Any] = [[], "a", None, 1]

PLACES: list[tuple[str, list[Any], list[Any]]] = [
    ("FIND(?x) WHERE { ?x {id: :p} }", STRINGS, NO_STRINGS),
    ("FIND(?x) WHERE { ?x {type: :p} }", STRINGS, NO_STRINGS),
    ("FIND(?x) WHERE { ?x {name: :p} }", STRINGS, NO_STRINGS),
    ('FIND(?x) WHERE { NOT { (?x, "a", (id: :p)) } }', STRINGS, NO_STRINGS),
    ("FIND(?x) WHERE { (?x, :p, ?y) }", STRINGS, NO_STRINGS),
    ('FIND(?x) WHERE { (?x, "a" | :p, ?y) }', STRINGS, NO_STRINGS),
    ("FIND(?x) WHERE { (?x, :p{1,2}, ?y) }", STRINGS, NO_STRINGS),
    ("FIND(?x) WHERE { FILTER(IN(?x.name, :p)) }", [[], ["a", 1], ("a",)], ["a", {}, None, 1]),
    ("FIND(?x) WHERE { FILTER(IN(?x.name, [:p])) }", ["a", 1, None, []], []),
    ("FIND(?x) WHERE { FILTER(?x.name == :p) }", ["a", 1, None, True, [], {}], []),
    (f"FIND(?x) {WHERE} LIMIT :p", POSITIVE, NOT_POSITIVE),
    (f"FIND(?x) {WHERE} CURSOR :p", STRINGS, NO_STRINGS),
    ('UPSERT { CONCEPT { {id: "a"} EXPECT VERSION :p } }', [0, 3], [-1, 1.5, "1", True, None]),
    ('UPSERT { PROPOSITION { (id: "a") EXPECT VERSION :p } }', [0, 3], [-1, 1.5, "1", True, None]),
    ('UPSERT { CONCEPT { {id: "a"} SET ATTRIBUTES :p } }', OBJECTS, NO_OBJECTS),
    ('UPSERT { CONCEPT { {id: "a"} SET ATTRIBUTES { k: :p } } }', ["a", 1, None, [], {}], []),
    ('UPSERT { PROPOSITION { (id: "a") SET ATTRIBUTES :p } }', OBJECTS, NO_OBJECTS),
    ('UPSERT { CONCEPT { {id: "a"} } WITH METADATA :p }', OBJECTS, NO_OBJECTS),
    ('UPSERT { CONCEPT { {id: "a"} } } WITH METADATA :p', OBJECTS, NO_OBJECTS),
    ('UPSERT { PROPOSITION { (id: "a") } WITH METADATA :p }', OBJECTS, NO_OBJECTS),
    ('UPSERT { CONCEPT { {id: "a"} SET PROPOSITIONS { (:p, ?y) } } }', STRINGS, NO_STRINGS),
    ('UPSERT { CONCEPT { {id: "a"} SET PROPOSITIONS { ("a", ?y) WITH METADATA :p } } }', OBJECTS, NO_OBJECTS),
    (f"UPDATE ?x SET ATTRIBUTES :p {WHERE}", OBJECTS, NO_OBJECTS),
    (f"UPDATE ?x SET METADATA :p {WHERE}", OBJECTS, NO_OBJECTS),
    (f"UPDATE ?x SET METADATA {{ a: :p }} {WHERE}", [1, "a", None], []),
    (f"UPDATE ?x SET METADATA {{ a: ADD(1, MUL(2, :p)) }} {WHERE}", [1, -2.5], ["1", True, None]),
    (f"UPDATE ?x SET METADATA {{ a: 1 }} {WHERE} LIMIT :p", POSITIVE, NOT_POSITIVE),
    ("DESCRIBE CONCEPT TYPES LIMIT :p", POSITIVE, NOT_POSITIVE),
    ("DESCRIBE CONCEPT TYPES CURSOR :p", STRINGS, NO_STRINGS),
    ("DESCRIBE CONCEPT TYPE :p", STRINGS, NO_STRINGS),
    ("SEARCH CONCEPT :p", STRINGS, NO_STRINGS),
    ('SEARCH CONCEPT "a" WITH TYPE :p', STRINGS, NO_STRINGS),
    ('SEARCH CONCEPT "a" MODE :p', ["keyword", "semantic", "hybrid"], ["fuzzy", "", 1, None, ["hybrid"]]),
    ('SEARCH CONCEPT "a" THRESHOLD :p', [0, 1, 0.5], [-0.1, 1.5, float("nan"), "0.5", True, None]),
    ('SEARCH CONCEPT "a" LIMIT :p', POSITIVE, NOT_POSITIVE),
    (f"EXPORT ?x {WHERE} LIMIT :p", POSITIVE, NOT_POSITIVE),
    (f"EXPORT ?x {WHERE} CURSOR :p", STRINGS, NO_STRINGS),
]


@pytest.mark.parametrize(("text", "accepted", "refused"), PLACES, ids=[text for text, _, _ in PLACES])
def test_each_place_takes_its_type_and_no_other(text: str, accepted: list[Any], refused: list[Any]) -> None:
    command = parse(text)
    for value in accepted:
        bind_check(command, {"p": value, "unused": 1})
    for value in refused:
        with pytest.raises(KipError) as raised:
            bind_check(command, {"p": value})
        assert raised.value.code == "KIP_2003", value
        assert ":p" in raised.value.message


@pytest.mark.parametrize("text", [text for text, _, _ in PLACES])
def test_a_placeholder_without_a_value_is_named(text: str) -> None:
    with pytest.raises(KipError) as raised:
        bind_check(parse(text), {"P": "a", "q": 1})
    assert raised.value.code == "KIP_1001"
    assert ":p" in raised.value.message


def test_one_name_in_two_places_must_fit_both() -> None:
    command = parse("FIND(?x) WHERE { FILTER(?x.n > :p) } LIMIT :p")
    bind_check(command, {"p": 5})
    with pytest.raises(KipError):
        bind_check(command, {"p": "five"})


def test_the_names_come_once_each_in_the_order_of_the_text() -> None:
    command = parse(
        "FIND(?x) WHERE { ?x {type: :t, name: :n} NOT { (?x, :p, {name: :n}) FILTER(IN(?x.a, [1, {k: [:deep]}])) } } "
        "LIMIT :l CURSOR :c // :comment"
    )
    assert parameters_of(command) == ("t", "n", "p", "deep", "l", "c")


def test_text_in_quotes_is_no_placeholder() -> None:
    command = parse('FIND(?x) WHERE { ?x {name: "Hello :name"} }')
    assert parameters_of(command) == ()
    bind_check(command, {"name": "Bob"})


def test_a_tree_is_walked_once_and_forgotten_with_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    walks: list[object] = []
    walk = parameters._collect
    monkeypatch.setattr(parameters, "_collect", lambda command: walks.append(1) or walk(command))
    gc.collect()
    before = len(parameters._collected)
    command = parse("FIND(?x) WHERE { ?x {name: :p} }")
    for _ in range(3):
        bind_check(command, {"p": "a"})
        parameters_of(command)
    assert len(walks) == 1
    assert len(parameters._collected) == before + 1
    del command
    gc.collect()
    assert len(parameters._collected) == before
