"""The canonical text of trees."""

from __future__ import annotations

import pytest

from kip.lang import ast, format, parse

CANONICAL = [
    "FIND(?x, ?x.name, ?x.metadata.a, COUNT(DISTINCT ?y), SUM(?y.attributes.n))\n"
    "WHERE {\n"
    '  ?x {type: "Drug", name: :n}\n'
    '  ?l (?x, "a" | :b, {id: "C:1"})\n'
    '  (?x, "p"{1,3}, (id: "P:1"))\n'
    '  (?x, "p"{0,}, (?a, ?p, ?b))\n'
    '  (?x, "p"{2}, ?y)\n'
    "  NOT {\n"
    "    OPTIONAL {\n"
    "      ?y {id: :id}\n"
    "    }\n"
    "  }\n"
    "  UNION {\n"
    '    FILTER((?a == 1 || !(?b != "x")) && !IN(?c, [1, :p, {"k": null}]) || !!IS_NULL(?d.name))\n'
    "  }\n"
    '  FILTER(!(?a < 1 && ?b >= 2.5) && CONTAINS(?c, "é\\n") && IS_NOT_NULL(?c))\n'
    "}\n"
    "ORDER BY ?x.name ASC, COUNT(?y) DESC\n"
    "LIMIT 5\n"
    "CURSOR :c",
    "UPSERT {\n"
    "  CONCEPT ?x {\n"
    '    {type: "Drug", name: "A"}\n'
    "    EXPECT VERSION 3\n"
    "    SET ATTRIBUTES {\n"
    '      plain: {"a b": [1, 2.0, true]},\n'
    '      "a-b": :p,\n'
    '      deep: [{"k": :q}]\n'
    "    }\n"
    "    SET PROPOSITIONS {\n"
    '      ("p", ?y)\n'
    '      (:p, (?a, "q", ?b))\n'
    "        WITH METADATA {\n"
    "          confidence: 0.9\n"
    "        }\n"
    "    }\n"
    "  }\n"
    "  WITH METADATA :m\n"
    "  PROPOSITION {\n"
    '    (?x, "p", {id: "C:1"})\n'
    "    SET ATTRIBUTES {}\n"
    "  }\n"
    "}\n"
    "WITH METADATA {\n"
    '  source: "s"\n'
    "}\n"
    "UPSERT {\n"
    "  CONCEPT {\n"
    '    {id: "C:1"}\n'
    "  }\n"
    "}",
    "UPDATE ?x\n"
    "SET ATTRIBUTES {\n"
    "  n: CLAMP(ADD(?x.attributes.n, -1), :low, 1e+22),\n"
    "  m: ?x.metadata.m\n"
    "}\n"
    "SET METADATA :all\n"
    "WHERE {\n"
    '  ?x {id: "a"}\n'
    "}\n"
    "LIMIT :n",
    'MERGE CONCEPT ?a INTO ?b\nWHERE {\n  ?a {name: "a"}\n}',
    'DELETE ATTRIBUTES {"a", "b c"} FROM ?a\nWHERE {\n  ?a {name: "a"}\n}',
    'DELETE METADATA {"a"} FROM ?a\nWHERE {\n  ?a {name: "a"}\n}',
    'DELETE PROPOSITIONS ?a\nWHERE {\n  ?a (id: "a")\n}',
    'DELETE CONCEPT ?a DETACH\nWHERE {\n  ?a {name: "a"}\n}',
    "DESCRIBE PRIMER",
    "DESCRIBE DOMAINS",
    'DESCRIBE CONCEPT TYPES LIMIT 5 CURSOR "x"',
    "DESCRIBE PROPOSITION TYPES",
    'DESCRIBE PROPOSITION TYPE "treats"',
    'SEARCH CONCEPT "a" WITH TYPE :t MODE "hybrid" THRESHOLD 0.5 LIMIT 5',
    "SEARCH PROPOSITION :p",
    'EXPORT ?x\nWHERE {\n  ?x {name: "a"}\n}\nLIMIT 5\nCURSOR "x"',
]


@pytest.mark.parametrize("text", CANONICAL, ids=[text.split("\n", 1)[0] for text in CANONICAL])
def test_canonical_text_comes_back_letter_by_letter(text: str) -> None:
    assert format(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ('find_me: 1, "x": 2', "find_me: 1,\n      x: 2"),
        ("a: [1,2,],", "a: [1, 2]"),
        ('a: "\\u00e9\\u0000\\/"', 'a: "é\\u0000/"'),
        ("a: -0, b: 1E2, c: 100000000000000000000000", "a: 0,\n      b: 100.0,\n      c: 100000000000000000000000"),
    ],
)
def test_values_are_normalised(text: str, canonical: str) -> None:
    formatted = format(parse(f'UPSERT {{ CONCEPT {{ {{id: "a"}} SET ATTRIBUTES {{ {text} }} }} }}'))
    assert f"SET ATTRIBUTES {{\n      {canonical}\n    }}" in formatted


@pytest.mark.parametrize("text", ["(?a == 1)", "((?a == 1 && ?b == 2)) && ?c == 3", "!((IS_NULL(?a)))"])
def test_needless_parentheses_go(text: str) -> None:
    inner = text.replace("(?", "?").replace("((", "").replace("))", ")")
    formatted = format(parse(f"FIND(?a) WHERE {{ FILTER({text}) }}"))
    assert formatted.count("(") < f"FIND(?a) WHERE {{ FILTER({text}) }}".count("("), inner


def test_only_commands_have_a_text() -> None:
    with pytest.raises(TypeError, match="Literal is not a command"):
        format(ast.Literal(1))  # type: ignore[arg-type]  # what a careless caller does
