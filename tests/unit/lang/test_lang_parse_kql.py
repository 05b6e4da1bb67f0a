"""KQL texts and their trees."""

from __future__ import annotations

import pytest

from kip.lang import ast, parse
from kip.lang.ast import Literal, Parameter, Path, Variable


def where(text: str) -> tuple[ast.Clause, ...]:
    command = parse(f"FIND(?x) WHERE {{ {text} }}")
    assert isinstance(command, ast.Find)
    return command.where


def condition(text: str) -> ast.BooleanExpression:
    (clause,) = where(f"FILTER({text})")
    assert isinstance(clause, ast.FilterClause)
    return clause.condition


def equal(name: str, value: ast.Json = 1) -> ast.Comparison:
    return ast.Comparison("==", Variable(name), Literal(value))


def names(*predicates: str) -> ast.PredicateNames:
    return ast.PredicateNames(tuple(map(Literal, predicates)))


DRUG = ast.ConceptMatcher(type=Literal("Drug"))
A, B, C = equal("a"), equal("b"), equal("c")


def test_find_with_every_part() -> None:
    text = """
        FIND(?d, ?d.name, ?d.attributes.risk, ?d.metadata, COUNT(?s), COUNT(DISTINCT ?s.name), AVG(?d.attributes.n))
        WHERE { ?d {type: "Drug"} } // a comment
        ORDER BY ?d.name, COUNT(?s) DESC, ?d ASC LIMIT 20 CURSOR "token"
    """
    assert parse(text) == ast.Find(
        projections=(
            Variable("d"),
            Path("d", "name"),
            Path("d", "attributes", "risk"),
            Path("d", "metadata"),
            ast.Aggregate("COUNT", Variable("s")),
            ast.Aggregate("COUNT", Path("s", "name"), distinct=True),
            ast.Aggregate("AVG", Path("d", "attributes", "n")),
        ),
        where=(ast.ConceptClause("d", DRUG),),
        order_by=(
            ast.SortKey(Path("d", "name")),
            ast.SortKey(ast.Aggregate("COUNT", Variable("s")), descending=True),
            ast.SortKey(Variable("d")),
        ),
        limit=Literal(20),
        cursor=Literal("token"),
    )


def test_placeholders_for_the_modifiers() -> None:
    command = parse("FIND(?x) WHERE { ?x {id: :id} } LIMIT :limit CURSOR :cursor")
    assert command == ast.Find(
        (Variable("x"),),
        (ast.ConceptClause("x", ast.ConceptMatcher(id=Parameter("id"))),),
        limit=Parameter("limit"),
        cursor=Parameter("cursor"),
    )


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ('?x {id: "C:1"}', ast.ConceptClause("x", ast.ConceptMatcher(id=Literal("C:1")))),
        ('?x {"name": "A", type: :t}', ast.ConceptClause("x", ast.ConceptMatcher(None, Parameter("t"), Literal("A")))),
        ('?x{name:"A"}', ast.ConceptClause("x", ast.ConceptMatcher(name=Literal("A")))),
        ('(id: "P:1:p")', ast.LinkClause(None, ast.LinkIdMatcher(Literal("P:1:p")))),
        ("?l (id: :l)", ast.LinkClause("l", ast.LinkIdMatcher(Parameter("l")))),
        ('(?s, "p", ?o)', ast.LinkClause(None, ast.TripleMatcher(Variable("s"), names("p"), Variable("o")))),
        ("?l (?s, ?p, ?o)", ast.LinkClause("l", ast.TripleMatcher(Variable("s"), Variable("p"), Variable("o")))),
        (
            '(?s, "p" | :q | "r", {type: "Drug"})',
            ast.LinkClause(
                None,
                ast.TripleMatcher(
                    Variable("s"), ast.PredicateNames((Literal("p"), Parameter("q"), Literal("r"))), DRUG
                ),
            ),
        ),
        (
            '(?u, "said", (?s, "p", (id: "L")))',
            ast.LinkClause(
                None,
                ast.TripleMatcher(
                    Variable("u"),
                    names("said"),
                    ast.TripleMatcher(Variable("s"), names("p"), ast.LinkIdMatcher(Literal("L"))),
                ),
            ),
        ),
        ('NOT { ?x {type: "Drug"} }', ast.NotClause((ast.ConceptClause("x", DRUG),))),
        ('OPTIONAL { ?x {type: "Drug"} }', ast.OptionalClause((ast.ConceptClause("x", DRUG),))),
        (
            'UNION { ?x {type: "Drug"} NOT { ?x {type: "Drug"} } }',
            ast.UnionClause((ast.ConceptClause("x", DRUG), ast.NotClause((ast.ConceptClause("x", DRUG),)))),
        ),
    ],
)
def test_clauses(text: str, clause: ast.Clause) -> None:
    assert where(text) == (clause,)


@pytest.mark.parametrize(
    ("text", "hops"),
    [
        ("{1,3}", ast.Hops(1, 3)),
        ("{0,}", ast.Hops(0, None)),
        ("{2}", ast.Hops(2, 2)),
        ("{ 1 , 99999999999999999999 }", ast.Hops(1, 99999999999999999999)),
    ],
)
def test_hops(text: str, hops: ast.Hops) -> None:
    (clause,) = where(f'(?s, "p"{text}, ?o)')
    predicate = ast.PredicateNames((Literal("p"),), hops)
    assert clause == ast.LinkClause(None, ast.TripleMatcher(Variable("s"), predicate, Variable("o")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?a == 1", A),
        ("1 < 2", ast.Comparison("<", Literal(1), Literal(2))),
        ("?x.name != :n", ast.Comparison("!=", Path("x", "name"), Parameter("n"))),
        ('"a">=null', ast.Comparison(">=", Literal("a"), Literal(None))),
        ("?a == true", equal("a", True)),
        ("?a == 1 || ?b == 1 && ?c == 1", ast.Disjunction((A, ast.Conjunction((B, C))))),
        ("(?a == 1 || ?b == 1) && ?c == 1", ast.Conjunction((ast.Disjunction((A, B)), C))),
        ("?a == 1 && (?b == 1 && ?c == 1)", ast.Conjunction((A, B, C))),
        ("((?a == 1 || ?b == 1)) || ?c == 1", ast.Disjunction((A, B, C))),
        ("!(?a == 1)", ast.Negation(A)),
        ("!!(?a == 1) && ?b == 1", ast.Conjunction((ast.Negation(ast.Negation(A)), B))),
        ("!IS_NULL(?a)", ast.Negation(ast.NullTest(Variable("a"), negated=False))),
        ("IS_NOT_NULL(?a.name)", ast.NullTest(Path("a", "name"), negated=True)),
        ('IN(?a, [1, "b", null])', ast.In(Variable("a"), Literal([1, "b", None]))),
        ("IN(?a, [])", ast.In(Variable("a"), Literal([]))),
        ("IN(?a, :list)", ast.In(Variable("a"), Parameter("list"))),
        ("IN(?a, [1, :p])", ast.In(Variable("a"), ast.ArrayValue((Literal(1), Parameter("p"))))),
        ('CONTAINS(?a, "x")', ast.StringTest("CONTAINS", Variable("a"), Literal("x"))),
        ("STARTS_WITH(?a, :p)", ast.StringTest("STARTS_WITH", Variable("a"), Parameter("p"))),
        ("ENDS_WITH(?a.name, ?b)", ast.StringTest("ENDS_WITH", Path("a", "name"), Variable("b"))),
        ('REGEX("ab", "^a")', ast.StringTest("REGEX", Literal("ab"), Literal("^a"))),
    ],
)
def test_conditions(text: str, expected: ast.BooleanExpression) -> None:
    assert condition(text) == expected


def test_spans_are_the_source_of_each_node() -> None:
    text = 'FIND( ?x.name )\nWHERE { ?x {name: :who}  NOT { (?x, "p"{1,2}, ?y) } } LIMIT 3 // end'
    command = parse(text)
    assert isinstance(command, ast.Find)
    named, excluded = command.where
    assert isinstance(named, ast.ConceptClause)
    assert isinstance(excluded, ast.NotClause)
    (link,) = excluded.clauses
    assert isinstance(link, ast.LinkClause)
    assert isinstance(link.matcher, ast.TripleMatcher)
    nodes = (command, command.projections[0], named.matcher.name, link, link.matcher.predicate, command.limit)
    assert [text[node.span.start : node.span.end] for node in nodes if node is not None] == [
        text.removesuffix(" // end"),
        "?x.name",
        ":who",
        '(?x, "p"{1,2}, ?y)',
        '"p"{1,2}',
        "3",
    ]


def test_blanks_and_comments_may_stand_between_any_two_tokens() -> None:
    loose = 'FIND ( ?x ) //(\nWHERE\r\n{\t?x { type : "Drug" , name : :n }//}\n FILTER ( ! ( ?a == 1 ) ) } LIMIT//\r5'
    tight = 'FIND(?x)WHERE{?x{type:"Drug",name::n}FILTER(!(?a==1))}LIMIT 5'
    assert parse(loose) == parse(tight)
