"""Fault classes that users of comparable systems reported: language, search, values, identifiers, storage.

The rows are those of ``../shared/bugs/public_bugs.md``; each test keeps its row's number and covers the class, not
only the row's example.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterator

import pytest

from tests.cases.calls import found, make, prepared, refuse, run
from tests.cases.runner import FACTORIES, Execute


@pytest.fixture(params=FACTORIES)
def store(request: pytest.FixtureRequest) -> Iterator[Execute]:
    with prepared(request.param) as execute:
        yield execute


# --- D01 to D04: search --------------------------------------------------------------------------


def test_d01_a_ticket_number_is_found_first(store: Execute) -> None:
    make(store, "Event", "Ticket OPS-4471 closed")
    make(store, "Event", "Ticket OPS-4472 closed")
    hits = run(store, 'SEARCH CONCEPT "OPS-4471"')
    assert hits[0]["name"] == "Ticket OPS-4471 closed"
    assert 0 <= hits[0]["metadata"]["_score"] <= 1


@pytest.mark.parametrize("wrap", ["{}", " {} ", "a{}b", '"{}"', "({})", "{0}{0}", "name:{}", "closed {}"])
def test_d01_d03_no_term_is_a_query(store: Execute, wrap: str) -> None:
    make(store, "Event", "Ticket OPS-4471 closed")
    words = ("AND", "OR", "NOT", "NEAR(a b, 2)", "tokens : x", "[x TO y]", "x~2", "x^3", "don't", "91.204", "C++", "\0")
    for term in (*string.punctuation, *words):
        hits = run(store, "SEARCH CONCEPT :term", term=wrap.format(term))
        assert all(0 <= hit["metadata"]["_score"] <= 1 for hit in hits)
        run(store, "SEARCH PROPOSITION :term", term=wrap.format(term))
    assert found(store, "OPS-4471") == ["Ticket OPS-4471 closed"]


@pytest.mark.parametrize(
    ("name", "term"), [("inputs/outputs map", "/outputs"), ("kv-beta", "kv-"), ('12" panel', '12" panel')]
)
def test_d03_punctuation_in_a_term_does_not_hide_the_word(store: Execute, name: str, term: str) -> None:
    make(store, "Part", name)
    assert name in found(store, term)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("第3步 重新跑了sync-job7后清理40条失效链接", ["失效链接", "链接", "job7", "sync-job7", "清理40条"]),
        ("東京出張の予定", ["東京出張", "出張", "予定"]),
        ("배포실패원인분석", ["실패원인", "분석"]),
        ("Größe der Straße", ["GRÖSSE", "strasse"]),
        ("Ёлка и ежи", ["ёлка", "ЕЖИ"]),
        ("تقرير الفشل", ["الفشل"]),
    ],
)
def test_d02_text_of_every_script_is_found(store: Execute, text: str, terms: list[str]) -> None:
    make(store, "Insight", "note", description=text)
    make(store, "Event", text)
    for term in terms:
        assert set(found(store, term)) == {"note", text}, term


@pytest.mark.parametrize("blank", ["", " ", "  \t", "\n", "\u3000", "\u200b", "\0", "...", "—"])
def test_d04_a_blank_term_finds_nothing(store: Execute, blank: str) -> None:
    make(store, "Event", "something")
    assert found(store, blank) == []


@pytest.mark.parametrize("blank", ["", "   ", "\t\n", "\u3000"])
def test_d04_a_blank_name_is_nobody(store: Execute, blank: str) -> None:
    assert run(store, "FIND(?e) WHERE { ?e {type: :type, name: :name} }", type="Event", name=blank) == []
    refuse(store, "UPSERT { CONCEPT ?e { {type: :type, name: :name} } }", "KIP_2002", type="Event", name=blank)


# --- D05, D06, D10: text that tries to become syntax ---------------------------------------------

HOSTILE = [
    "Person` SET n.owner = 1 //",
    "Person` DETACH DELETE n //",
    "Person'); DROP TABLE concept; --",
    'Person"} } } DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Person',
    "Person:Admin",
    "Person\0",
    "Person\u202e",
    "Pérson",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_d05_a_type_name_stays_a_name(store: Execute, name: str) -> None:
    refuse(store, "UPSERT { CONCEPT ?x { {type: :name, name: :mallory} } }", "KIP_2001", name=name, mallory="Mallory")
    refuse(store, "FIND(?x) WHERE { ?x {type: :name} }", "KIP_2001", name=name)
    refuse(store, "FIND(?x) WHERE { ?y (?x, :name, ?z) }", "KIP_2001", name=name)
    refuse(store, "SEARCH CONCEPT :name WITH TYPE :name", "KIP_2001", name=name)
    for kind in ("$ConceptType", "$PropositionType"):
        command = "UPSERT { CONCEPT ?t { {type: :kind, name: :name} SET ATTRIBUTES { description: :name } } }"
        refuse(store, command, "KIP_1002", "KIP_2002", kind=kind, name=name)


@pytest.mark.parametrize(
    "key", ["x') OR 1=1 --", 'a"b', "$.a", "a.b", "a[0]", "#", "", " ", "😀", "null", "\\", "a\0b"]
)
def test_d06_a_key_stays_a_key(store: Execute, key: str) -> None:
    make(store, "Person", "Ada")
    before = make(store, "Person", "Bob", kept=1)
    quoted = json.dumps(key)
    command = 'UPDATE ?n SET ATTRIBUTES { %s: 1 } SET METADATA { %s: 2 } WHERE { ?n {type: "Person", name: "Ada"} }'
    assert run(store, command % (quoted, quoted)) == {"updated": 1, "matched": 1}
    [ada] = run(store, 'FIND(?n) WHERE { ?n {type: "Person", name: "Ada"} }')
    assert ada["attributes"] == {key: 1}
    assert ada["metadata"][key] == 2
    for kind in ("ATTRIBUTES", "METADATA"):
        command = f'DELETE {kind} {{ {quoted} }} FROM ?n WHERE {{ ?n {{type: "Person"}} }}'
        assert run(store, command) == {"updated_concepts": 1, "updated_propositions": 0}
    assert run(store, 'FIND(?n.attributes) WHERE { ?n {type: "Person", name: "Ada"} }') == [{}]
    [bob] = run(store, "FIND(?n) WHERE { ?n {id: :id} }", id=before)
    assert bob["attributes"] == {"kept": 1}
    assert bob["metadata"]["_version"] == 1


@pytest.mark.parametrize("path", ["x') OR 1=1 --", "x' OR '1'='1", 'x"', "a-b", "a b", "$x", "*", "x[0]"])
def test_d06_a_path_takes_identifiers_only(store: Execute, path: str) -> None:
    for holder in ("attributes", "metadata"):
        command = f'FIND(?n) WHERE {{ ?n {{type: "Person"}} FILTER(?n.{holder}.{path} == 1) }}'
        refuse(store, command, "KIP_1001", "KIP_1002")


NAMES = [
    *(
        "FIND",
        "null",
        "true",
        "main",
        "WHERE { ?x }",
        "// not a comment",
        "phase 2 (owner: ops) :limit",
        ":limit",
        "?x",
    ),
    *("say \"hi\" \\ 'x'", "line1\nline2", "tab\there", "C:12", "P:1:treats", "$self", "100%", "a_b", "\\u0041"),
]


def test_d10_names_are_exact(store: Execute) -> None:
    for name in NAMES:
        # In the text of the command, where a placeholder could be mistaken, and not as a parameter.
        run(store, f'UPSERT {{ CONCEPT ?e {{ {{type: "Event", name: {json.dumps(name)}}} }} }}', limit=3)
    for name in NAMES:
        command = f'FIND(?e.name) WHERE {{ ?e {{type: "Event", name: {json.dumps(name)}}} }} LIMIT :limit'
        assert run(store, command, limit=3) == [name]
    exported = run(store, 'EXPORT ?e WHERE { ?e {type: "Event"} }')
    assert exported["concepts"] == len(NAMES)
    run(store, 'DELETE CONCEPT ?e DETACH WHERE { ?e {type: "Event"} }')
    run(store, exported["capsule"], limit=3)
    assert sorted(run(store, 'FIND(?e.name) WHERE { ?e {type: "Event"} }')) == sorted(NAMES)


# --- D07 to D09: values --------------------------------------------------------------------------

NESTED = {
    "env": {"tags": ["x", {"k": None}], "on": True},
    "m": [[1, 2], [3]],
    "mixed": [1, 1.0, True, None, "1", [], {}],
    "empty": {},
    "n": 1.0,
    "": {"": ""},
}


def test_d07_nested_values_come_back_as_they_were(store: Execute) -> None:
    command = (
        'UPSERT { CONCEPT ?e { {type: "Experience", name: "e"} SET ATTRIBUTES { a: %s, b: :b } } } WITH METADATA :m'
    )
    run(store, command % json.dumps(NESTED), b=NESTED, m={"deep": NESTED})
    query = 'FIND(?e.attributes.a, ?e.attributes.b, ?e.metadata.deep) WHERE { ?e {type: "Experience", name: "e"} }'
    for [value] in run(store, query):
        # As text, so that 1, 1.0 and true are told apart.
        assert json.dumps(value, sort_keys=True) == json.dumps(NESTED, sort_keys=True)


EXACT = [
    2**53 + 1,
    -(2**53) - 1,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64 + 1,
    10**30 + 7,
    0.1,
    5e-324,
    1.7976931348623157e308,
]


@pytest.mark.parametrize("number", EXACT)
def test_d08_numbers_are_never_rounded(store: Execute, number: float) -> None:
    make(store, "Part", "x", n=number, deep=[{"n": number}])
    run(store, f'UPSERT {{ CONCEPT ?x {{ {{type: "Part", name: "y"}} SET ATTRIBUTES {{ n: {number!r} }} }} }}')
    [numbers, deep] = run(
        store, 'FIND(?x.attributes.n, ?x.attributes.deep) WHERE { ?x {type: "Part"} } ORDER BY ?x.name'
    )
    assert [repr(found) for found in numbers] == [repr(number)] * 2
    assert repr(deep[0]) == repr([{"n": number}])


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_d08_what_is_no_number_is_refused(store: Execute, bad: float) -> None:
    for value in (bad, [bad], {"a": {"b": bad}}):
        command = 'UPSERT { CONCEPT ?x { {type: "Part", name: "x"} SET ATTRIBUTES { n: :p } } }'
        refuse(store, command, "KIP_2003", p=value)
        refuse(
            store, 'UPSERT { CONCEPT ?x { {type: "Part", name: "x"} } } WITH METADATA { n: :p }', "KIP_2003", p=value
        )
    refuse(store, 'SEARCH CONCEPT "x" THRESHOLD :p', "KIP_2003", p=bad)
    refuse(store, 'FIND(?x) WHERE { ?x {type: "Part"} FILTER(?x.attributes.n < :p) }', "KIP_2003", p=bad)


@pytest.mark.parametrize("text", ["1e999", "-1e999", "[1e400]", '{"a": 1e309}'])
def test_d08_an_infinite_literal_is_refused(store: Execute, text: str) -> None:
    refuse(
        store, f'UPSERT {{ CONCEPT ?x {{ {{type: "Part", name: "x"}} SET ATTRIBUTES {{ n: {text} }} }} }}', "KIP_2003"
    )


def test_d08_a_computed_infinity_is_refused(store: Execute) -> None:
    make(store, "Part", "x", n=1e308)
    for expression in ("MUL(?x.attributes.n, 1000)", "ADD(MUL(?x.attributes.n, 1.5), MUL(?x.attributes.n, 1.5))"):
        refuse(store, f'UPDATE ?x SET ATTRIBUTES {{ n: {expression} }} WHERE {{ ?x {{type: "Part"}} }}', "KIP_2003")


@pytest.mark.parametrize("damaged", ["\ud83d", "ok \ud83d", "\udc00\ud800", "a\ud800b"])
def test_d09_half_a_character_is_refused_and_breaks_nothing(store: Execute, damaged: str) -> None:
    command = 'UPSERT { CONCEPT ?x { {type: "Part", name: :name} SET ATTRIBUTES { s: :value } } }'
    refuse(store, command, "KIP_2003", name="x", value=damaged)
    refuse(store, command, "KIP_2003", name=damaged, value="")
    refuse(store, command, "KIP_2003", name="x", value={damaged: 1})
    refuse(store, f"SEARCH CONCEPT {json.dumps(damaged)}", "KIP_2003")
    refuse(store, f'SEARCH CONCEPT "{damaged}"', "KIP_2003", "KIP_1001")
    assert make(store, "Part", "x", s="fine")


def test_d09_characters_of_every_plane_are_kept(store: Execute) -> None:
    texts = ["a\0b", "\0", "\x01\x1f\x7f", "\ufffd\ufffe\uffff", "\U0010ffff", "🧠 Ada 👩\u200d💻", "e\u0301", "\r\n\t"]
    for number, text in enumerate(texts):
        make(store, "Part", f"x{number}", text=text, nested={text: [text]})
    for number, text in enumerate(texts):
        query = "FIND(?x.attributes) WHERE { ?x {type: :type, name: :name} }"
        assert run(store, query, type="Part", name=f"x{number}") == [{"text": text, "nested": {text: [text]}}]
        assert run(store, 'FIND(?x.name) WHERE { ?x {type: "Part"} FILTER(?x.attributes.text == :t) }', t=text)


def test_d09_names_of_every_plane_are_found(store: Execute) -> None:
    make(store, "Person", "🧠 Ada 👩\u200d💻")
    assert run(store, "FIND(?x.name) WHERE { ?x {name: :name} }", name="🧠 Ada 👩\u200d💻") == ["🧠 Ada 👩\u200d💻"]
    assert found(store, "ada") == ["🧠 Ada 👩\u200d💻"]
    # One rule for the two ways to write é: two nodes, each found under its own name; search finds both.
    composed, decomposed = make(store, "Person", "Andr\u00e9"), make(store, "Person", "Andre\u0301")
    assert composed != decomposed
    for name in ("Andr\u00e9", "Andre\u0301"):
        assert run(store, "FIND(?x.name) WHERE { ?x {type: :type, name: :name} }", type="Person", name=name) == [name]
        assert len(found(store, name)) == 2
