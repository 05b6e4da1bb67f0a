"""KML and META texts and their trees."""

from __future__ import annotations

import pytest

from kip.lang import ast, parse
from kip.lang.ast import Literal, Parameter, Path, Variable

ASPIRIN = ast.ConceptMatcher(type=Literal("Drug"), name=Literal("Aspirin"))
CLAUSES = (ast.ConceptClause("x", ast.ConceptMatcher(id=Literal("C:1"))),)
WHERE = 'WHERE { ?x {id: "C:1"} }'


def concept(body: str) -> ast.ConceptBlock:
    command = parse(f'UPSERT {{ CONCEPT ?x {{ {{type: "Drug", name: "Aspirin"}} {body} }} }}')
    assert isinstance(command, ast.Upsert)
    (block,) = command.statements[0].blocks
    assert isinstance(block, ast.ConceptBlock)
    return block


def triple(subject: ast.Endpoint, predicate: str, target: ast.Endpoint) -> ast.TripleMatcher:
    return ast.TripleMatcher(subject, ast.PredicateNames((Literal(predicate),)), target)


def test_upsert_with_every_part() -> None:
    text = """
        UPSERT {
          CONCEPT ?drug {
            {type: "Drug", name: "Aspirin"}
            EXPECT VERSION 3
            SET ATTRIBUTES { risk: 2, "dosage form": {"a": [1, null]}, }
            SET PROPOSITIONS {
              ("treats", ?other) WITH METADATA { confidence: 0.9 }
              (:predicate, {id: "C:2"}),
              ("about", (?a, "p", (id: "L")))
            }
          } WITH METADATA { source: :source }
          PROPOSITION { (?drug, "treats", {id: :o}) EXPECT VERSION :v SET ATTRIBUTES :attributes }
          PROPOSITION ?known { (id: "P:1") } WITH METADATA :metadata
        } WITH METADATA { author: "me" }
        UPSERT { CONCEPT { {id: "C:9"} } }
    """
    drug = ast.ConceptBlock(
        handle="drug",
        matcher=ASPIRIN,
        expect_version=Literal(3),
        attributes=Literal({"risk": 2, "dosage form": {"a": [1, None]}}),
        propositions=(
            ast.PropositionEntry(Literal("treats"), Variable("other"), Literal({"confidence": 0.9})),
            ast.PropositionEntry(Parameter("predicate"), ast.ConceptMatcher(id=Literal("C:2"))),
            ast.PropositionEntry(Literal("about"), triple(Variable("a"), "p", ast.LinkIdMatcher(Literal("L")))),
        ),
        metadata=ast.ObjectValue((("source", Parameter("source")),)),
    )
    link = ast.PropositionBlock(
        handle=None,
        matcher=triple(Variable("drug"), "treats", ast.ConceptMatcher(id=Parameter("o"))),
        expect_version=Parameter("v"),
        attributes=Parameter("attributes"),
    )
    known = ast.PropositionBlock("known", ast.LinkIdMatcher(Literal("P:1")), metadata=Parameter("metadata"))
    assert parse(text) == ast.Upsert(
        (
            ast.UpsertStatement((drug, link, known), Literal({"author": "me"})),
            ast.UpsertStatement((ast.ConceptBlock(None, ast.ConceptMatcher(id=Literal("C:9"))),)),
        )
    )


def test_the_two_set_blocks_may_stand_in_either_order() -> None:
    one = concept('SET ATTRIBUTES { a: 1 } SET PROPOSITIONS { ("p", ?y) }')
    assert one == concept('SET PROPOSITIONS { ("p", ?y) } SET ATTRIBUTES { a: 1 }')
    assert one.attributes == Literal({"a": 1})


def test_an_empty_set_block_of_upsert_sets_nothing() -> None:
    block = concept("SET ATTRIBUTES {} SET PROPOSITIONS {}")
    assert block.attributes == Literal({})
    assert block.propositions == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (":p", Parameter("p")),
        ('":p"', Literal(":p")),
        ("[:p, [1]]", ast.ArrayValue((Parameter("p"), Literal([1])))),
        ("{a: {b: :p}, c: 1}", ast.ObjectValue((("a", ast.ObjectValue((("b", Parameter("p")),))), ("c", Literal(1))))),
    ],
)
def test_placeholders_inside_values(text: str, value: ast.Value) -> None:
    assert concept(f"SET ATTRIBUTES {{ k: {text}, plain: 1 }}").attributes == (
        Literal({"k": ":p", "plain": 1})
        if isinstance(value, Literal)
        else ast.ObjectValue((("k", value), ("plain", Literal(1))))
    )


def test_update_with_every_part() -> None:
    text = f"""
        UPDATE ?x
        SET METADATA {{ seen: :now }}
        SET ATTRIBUTES {{
          n: ADD(COALESCE(?x.attributes.n, 0), -1),
          m: CLAMP(MUL(?x.metadata.m, :factor), 0.0, 1),
          copy: ?x.attributes.n,
          tags: ["a", :tag],
          plain: {{}},
        }}
        {WHERE} LIMIT :most
    """
    count = ast.UpdateCall("COALESCE", (Path("x", "attributes", "n"), Literal(0)))
    product = ast.UpdateCall("MUL", (Path("x", "metadata", "m"), Parameter("factor")))
    assert parse(text) == ast.Update(
        target="x",
        where=CLAUSES,
        attributes=ast.UpdateEntries(
            (
                ("n", ast.UpdateCall("ADD", (count, Literal(-1)))),
                ("m", ast.UpdateCall("CLAMP", (product, Literal(0.0), Literal(1)))),
                ("copy", Path("x", "attributes", "n")),
                ("tags", ast.ArrayValue((Literal("a"), Parameter("tag")))),
                ("plain", Literal({})),
            )
        ),
        metadata=ast.UpdateEntries((("seen", Parameter("now")),)),
        limit=Parameter("most"),
    )


@pytest.mark.parametrize(
    ("text", "command"),
    [
        (f"UPDATE ?x SET ATTRIBUTES :all {WHERE}", ast.Update("x", CLAUSES, Parameter("all"))),
        (f"MERGE CONCEPT ?x INTO ?y {WHERE}", ast.Merge("x", "y", CLAUSES)),
        (f'DELETE ATTRIBUTES {{"a", "b c"}} FROM ?x {WHERE}', ast.DeleteKeys("attributes", ("a", "b c"), "x", CLAUSES)),
        (f'DELETE METADATA {{"a"}} FROM ?x {WHERE}', ast.DeleteKeys("metadata", ("a",), "x", CLAUSES)),
        (f"DELETE PROPOSITIONS ?x {WHERE}", ast.DeletePropositions("x", CLAUSES)),
        (f"DELETE CONCEPT ?x DETACH {WHERE}", ast.DeleteConcept("x", CLAUSES)),
        ("DESCRIBE PRIMER", ast.DescribePrimer()),
        ("DESCRIBE DOMAINS", ast.DescribeDomains()),
        ("DESCRIBE CONCEPT TYPES", ast.DescribeTypes("concept")),
        (
            'DESCRIBE PROPOSITION TYPES LIMIT 5 CURSOR "t"',
            ast.DescribeTypes("proposition", Literal(5), Literal("t")),
        ),
        ("DESCRIBE CONCEPT TYPES CURSOR :c", ast.DescribeTypes("concept", None, Parameter("c"))),
        ('DESCRIBE CONCEPT TYPE "Drug"', ast.DescribeType("concept", Literal("Drug"))),
        ("DESCRIBE PROPOSITION TYPE :name", ast.DescribeType("proposition", Parameter("name"))),
        ('SEARCH CONCEPT ""', ast.Search("concept", Literal(""))),
        (
            'SEARCH PROPOSITION "a" WITH TYPE "treats" MODE "hybrid" THRESHOLD 0.5 LIMIT 5',
            ast.Search("proposition", Literal("a"), Literal("treats"), Literal("hybrid"), Literal(0.5), Literal(5)),
        ),
        (
            "SEARCH CONCEPT :a WITH TYPE :b MODE :c THRESHOLD :d LIMIT :e",
            ast.Search("concept", *map(Parameter, "abcde")),
        ),
        (
            'SEARCH CONCEPT "x" THRESHOLD 1 LIMIT 1',
            ast.Search("concept", Literal("x"), None, None, Literal(1), Literal(1)),
        ),
        (f"EXPORT ?x {WHERE}", ast.Export("x", CLAUSES)),
        (f'EXPORT ?x {WHERE} LIMIT 5 CURSOR "t"', ast.Export("x", CLAUSES, Literal(5), Literal("t"))),
    ],
)
def test_the_other_statements(text: str, command: ast.Command) -> None:
    assert parse(text) == command
