"""Hostile size and depth: accepted or refused in linear time, and never anything but a KipError."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable

import pytest

from kip.errors import KipError
from kip.lang import format, parse

PREFIX = 'UPSERT { CONCEPT ?x { {id: "a"} SET ATTRIBUTES { a: '
Make = Callable[[int], str]

NESTED: dict[str, Make] = {
    "arrays": lambda n: PREFIX + "[" * n + "]" * n + " } } }",
    "objects": lambda n: PREFIX + "{a: " * n + "1" + "}" * n + " } } }",
    "blocks": lambda n: "FIND(?x) WHERE { " + "NOT { " * n + '?x {id: "a"}' + " }" * n + " }",
    "parentheses": lambda n: "FIND(?x) WHERE { FILTER(" + "(" * n + "?x.a == 1" + ")" * n + ") }",
    "negations": lambda n: "FIND(?x) WHERE { FILTER(" + "!" * n + "IS_NULL(?x.a)) }",
    "negated parentheses": lambda n: "FIND(?x) WHERE { FILTER(" + "!(" * n + "?x.a == 1" + ")" * n + ") }",
    "subjects": lambda n: "FIND(?x) WHERE { " + "(" * n + "?a" + ', "p", ?b)' * n + " }",
    "objects of links": lambda n: "FIND(?x) WHERE { " + '(?a, "p", ' * n + "?b" + ")" * n + " }",
    "written links": lambda n: "UPSERT { PROPOSITION { " + '(?a, "p", ' * n + "?b" + ")" * n + " } }",
    "update calls": lambda n: (
        "UPDATE ?x SET METADATA { a: " + "ADD(1, " * n + "1" + ")" * n + ' } WHERE { ?x {id: "a"} }'
    ),
}


@pytest.mark.parametrize("make", NESTED.values(), ids=NESTED.keys())
def test_depth_that_is_accepted(make: Make) -> None:
    for depth in (1, 64, 100):
        command = parse(make(depth))
        assert parse(format(command)) == command


@pytest.mark.parametrize("make", NESTED.values(), ids=NESTED.keys())
@pytest.mark.parametrize("depth", [200, 5_000, 1_000_000])
def test_depth_that_is_refused(make: Make, depth: int) -> None:
    text = make(depth)
    start = time.perf_counter()
    with pytest.raises(KipError, match="nested deeper than 128 levels") as raised:
        parse(text)
    assert raised.value.code == "KIP_1001"
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    ("name", "deepest"), [("blocks", 127), ("parentheses", 127), ("negations", 127), ("objects of links", 127)]
)
def test_the_limit_is_128_levels_the_where_block_included(name: str, deepest: int) -> None:
    parse(NESTED[name](deepest))
    with pytest.raises(KipError, match="deeper than 128"):
        parse(NESTED[name](deepest + 1))


@pytest.mark.parametrize(
    "text",
    [
        "FIND(?x) WHERE { " + '(?a, "p", (?b, "p", ?c)) ' * 200 + "}",
        "FIND(?x) WHERE { " + '(id: "a") ' * 200 + "}",
        "FIND(?x) WHERE { " + 'NOT { ?x {id: "a"} } ' * 200 + "}",
        "FIND(?x) WHERE { FILTER(" + "(?a == 1 || !!(?b == 1)) && !IS_NULL(?c) && " * 200 + "?d == 1) }",
        "UPDATE ?x SET METADATA { "
        + ", ".join(f"k{i}: ADD(1, MUL(1, 1))" for i in range(200))
        + " } WHERE { ?x (id: :a) }",
    ],
)
def test_what_stands_side_by_side_is_not_nested(text: str) -> None:
    parse(text)


def test_a_value_may_be_as_deep_under_a_key_as_a_parameter_may() -> None:
    parse(PREFIX + "[" * 128 + "]" * 128 + " } } }")
    with pytest.raises(KipError, match="deeper than 128"):
        parse(PREFIX + "[" * 129 + "]" * 129 + " } } }")


def test_a_caller_deep_in_the_stack_gets_a_kip_error() -> None:
    def descend(depth: int) -> None:
        if depth:
            descend(depth - 1)
        else:
            parse(NESTED["parentheses"](120))

    frames = 0
    frame = sys._getframe()
    while frame.f_back is not None:
        frames, frame = frames + 1, frame.f_back
    with pytest.raises(KipError, match="nested deeper") as raised:
        descend(sys.getrecursionlimit() - frames - 60)
    assert raised.value.code == "KIP_1001"


CLAUSE = 'FIND(?x) WHERE { ?x {name: "'
GROWING: dict[str, Make] = {
    "quotes": lambda n: '"' * n,
    "quotes in a value": lambda n: CLAUSE + '"' * n,
    "backslashes": lambda n: CLAUSE + "\\" * n,
    "an open string": lambda n: CLAUSE + "a" * n,
    "escapes": lambda n: CLAUSE + "\\u00e9" * n + '"} }',
    "half pairs": lambda n: CLAUSE + "\\ud83d" * n + '"} }',
    "slashes": lambda n: "/" * n,
    "comment lines": lambda n: "//\n" * n,
    "one long comment": lambda n: "FIND(?x) //" + "x" * n,
    "blanks": lambda n: "FIND(?x," + " " * n + ")",
    "blanks then a bad one": lambda n: " " * n + "\u00a0",
    "line breaks": lambda n: "\n" * n + "?",
    "braces": lambda n: "{" * n,
    "open blocks": lambda n: "FIND(?x) WHERE " + "{" * n,
    "exclamation marks": lambda n: "FIND(?x) WHERE { FILTER(" + "!" * n,
    "open links": lambda n: "FIND(?x) WHERE { " + "(?a," * n,
    "equal signs": lambda n: "FIND(?x) WHERE { FILTER(?a " + "=" * n,
    "digits": lambda n: "FIND(?x) WHERE { FILTER(?a == " + "1" * n + ") }",
    "decimals": lambda n: "FIND(?x) WHERE { FILTER(?a == 0." + "1" * n + ") }",
    "an exponent": lambda n: "FIND(?x) WHERE { FILTER(?a == 1e" + "1" * n + ") }",
    "a bad number": lambda n: "FIND(?x) WHERE { FILTER(?a == 1." + ".1" * n + ") }",
    "a long word": lambda n: "A" * n,
    "a long bad word": lambda n: "FIND(" + "a-" * n,
    "a long variable": lambda n: "FIND(?" + "x" * n,
    "a long path": lambda n: "FIND(?" + "a." * n,
    "question marks": lambda n: "FIND(" + "?" * n,
    "colons": lambda n: "FIND(?x) WHERE { ?x {name" + ":" * n,
    "commas": lambda n: "FIND(?x" + "," * n,
    "many projections": lambda n: "FIND(" + "?x," * n + '?x) WHERE { ?x {id: "a"} }',
    "many clauses": lambda n: "FIND(?x) WHERE { " + '?x {id: "\\n"} ' * n + "}",
    "many conditions": lambda n: "FIND(?x) WHERE { FILTER(" + "?x.a == 1 || " * n + "?x.a == 1) }",
    "many keys": lambda n: PREFIX + "{" + ",".join(f"k{i}: [:p, {{}}]" for i in range(n)) + "} } } }",
    "many statements": lambda n: 'UPSERT { CONCEPT { {id: "a"} } } // c\n' * n,
}
SMALL = 15_000


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING.keys())
def test_time_grows_no_faster_than_the_text(make: Make) -> None:
    """Eight times the text in at most twenty times the time: a square law needs sixty-four times."""
    small, large = make(SMALL), make(8 * SMALL)
    best = min(seconds(small) for _ in range(3))
    assert min(seconds(large) for _ in range(3)) < 20 * max(best, 0.002)


def seconds(text: str) -> float:
    start = time.perf_counter()
    with contextlib.suppress(KipError):
        parse(text)
    return time.perf_counter() - start
