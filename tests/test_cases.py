"""The language-neutral cases of ``tests/cases`` on every store, and the shape of their files."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kip.errors import CODES
from tests.cases.runner import (
    CASE_KEYS,
    EXPECT_KEYS,
    FACTORIES,
    FOLDER,
    PATTERNS,
    STEP_KEYS,
    Case,
    case_files,
    expectations,
    expected_codes,
    load_cases,
    load_graphs,
    matches,
    run_case,
)
from tests.conformance_factory import sqlite

CASES = load_cases()

NOT_FROM_A_COMMAND = {
    "KIP_4001",  # a time limit or a lock
    "KIP_4002",  # a cap that is set on the store
    "KIP_4003",  # a fault of the store
}
"""Codes that no command on a fresh store provokes; tests of their own cover them."""

GROUPS = {
    *("values", "identifiers", "schema", "find", "filter", "not", "optional", "union", "paths"),
    *("predicate_variables", "higher_order", "aggregates", "order_cursor"),
    *("upsert", "metadata", "expect_version", "update", "delete", "merge", "protected", "append_only"),
    *("describe", "search", "export", "parameters", "batch", "dry_run", "readonly", "errors"),
}

_SOURCE = re.compile(r"(?:(?:[2-6](?:\.\d+){1,3}|decision \d{1,2}|Appendix [124]|D\d\d)(?: / |$))+")


def _marks(case: Case) -> list[pytest.MarkDecorator]:
    # Strict: the day the engine is repaired, the case says so.
    reason = case.body.get("xfail")
    return [pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError)] if reason else []


@pytest.mark.parametrize("store", FACTORIES)
@pytest.mark.parametrize("case", [pytest.param(case, id=case.id, marks=_marks(case)) for case in CASES])
def test_case(case: Case, store: str) -> None:
    run_case(case, FACTORIES[store])


# --- the files themselves -----------------------------------------------------------------------


def test_there_is_one_file_for_each_group() -> None:
    assert {path.stem for path in case_files()} == GROUPS


def test_names_are_unique_within_a_file() -> None:
    ids = [case.id for case in CASES]
    assert len(ids) == len(set(ids)), sorted({name for name in ids if ids.count(name) > 1})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case_has_the_shape_of_a_case(case: Case) -> None:
    body = case.body
    assert set(body) <= CASE_KEYS
    assert {"name", "source", "steps"} <= set(body)
    assert _SOURCE.fullmatch(body["source"]), f"{body['source']!r} names no section or decision"
    assert body.get("xfail", "reason"), "an xfail has a reason"
    for item in body.get("setup", []):
        assert isinstance(item, (str, dict))
        if isinstance(item, str) and item.startswith("@"):
            assert item[1:] in load_graphs()
    for step in body["steps"]:
        assert set(step) <= STEP_KEYS
        assert len({"command", "commands", "request"} & set(step)) == 1
    # A case that expects nothing cannot fail.
    assert any(set(expect) - {"ordered"} for expect in expectations(body))
    for expect in expectations(body):
        _check_expectation_shape(expect)


def _check_expectation_shape(expect: dict[str, Any]) -> None:
    assert set(expect) <= EXPECT_KEYS
    codes = expect.get("error", [])
    assert set(codes if isinstance(codes, list) else [codes]) <= set(CODES)
    if "error" in expect:
        assert set(expect) <= {"error", "says"}, "an error has no result to look at"
    assert "any_of" not in expect or set(expect) == {"any_of"}
    if "rows" in expect:
        assert expect["rows"], "no rows are written as a result of empty columns"
        assert len({len(row) for row in expect["rows"]}) == 1, "all rows are of one width"
    assert "ordered" not in expect or "rows" in expect


def test_patterns_are_known() -> None:
    # A misspelt pattern would be taken for plain data; no key of the cases' own data begins so.
    for path in case_files():
        used = set(re.findall(r'"(\$[a-z]+)":', path.read_text(encoding="utf-8")))
        assert used <= PATTERNS, f"{path.name}: {sorted(used - PATTERNS)}"


def test_every_code_is_provoked() -> None:
    covered = {code for case in CASES if "xfail" not in case.body for code in expected_codes(case.body)}
    assert covered == set(CODES) - NOT_FROM_A_COMMAND


def test_every_decision_about_the_language_has_a_case() -> None:
    cited = {int(number) for case in CASES for number in re.findall(r"decision (\d+)", case.body["source"])}
    assert set(range(1, 13)) <= cited


def test_graphs_are_used() -> None:
    used = {item[1:] for case in CASES for item in case.body.get("setup", []) if str(item).startswith("@")}
    assert used == set(load_graphs())


def test_the_readme_lists_what_expectations_know() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    for word in EXPECT_KEYS | PATTERNS | CASE_KEYS | STEP_KEYS:
        assert f"`{word}`" in text, f"README.md does not explain {word}"


# --- the judge ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "found"),
    [(1, True), (0, False), (1, "1"), (None, False), ([1, 2], [2, 1]), ({"a": 1}, {"a": 1, "b": 2}), ([], {})],
)
def test_judge_tells_apart(wanted: Any, found: Any) -> None:
    assert not matches(wanted, found)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (1, 1.0),
        ({"$set": [1, 2]}, [2, 1]),
        ({"$subset": {"a": {"b": 1}}}, {"a": {"b": 1, "c": 2}, "d": 3}),
        ({"$subset": {"a": {"$absent": True}}}, {"b": 1}),
        ([{"$any": True}, {"$type": "number"}, {"$above": 1}, {"$near": 0.1}], ["x", 2.5, 2, 0.1]),
    ],
)
def test_judge_takes_patterns(wanted: Any, found: Any) -> None:
    assert matches(wanted, found)


def test_a_failure_names_file_case_and_step() -> None:
    step = {"command": 'FIND(?x.name) WHERE { ?x {type: "Person", name: "$self"} }', "expect": {"result": ["other"]}}
    case = Case("file", "name", {"name": "name", "source": "3.3", "steps": [step]})
    with pytest.raises(AssertionError, match=r"(?s)file:name.*3\.3.*1: .*FIND.*other.*\$self"):
        run_case(case, sqlite)


def test_writing_where_nothing_may_be_written_is_noticed() -> None:
    def careless() -> Any:
        store = sqlite()

        def execute(request: dict[str, Any]) -> dict[str, Any]:
            store(dict(request, dry_run=False))
            return store(request)

        execute.close = store.close  # type: ignore[attr-defined]
        return execute

    step = {"command": 'UPSERT { CONCEPT ?x { {type: "Person", name: "Ann"} } }', "dry_run": True}
    case = Case("file", "name", {"name": "name", "source": "6.1", "steps": [step]})
    with pytest.raises(AssertionError, match="the store has changed"):
        run_case(case, careless)


def test_readme_example_is_a_case() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert example is not None
    run_case(Case("README", "example", json.loads(example[1])), sqlite)
