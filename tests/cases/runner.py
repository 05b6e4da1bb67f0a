"""Runs the language-neutral cases of this folder against a store.

The format is in README.md beside this file. Beside what a case states, every response is held to what all responses
must be: strict JSON, either a result or a well-formed error, no text of the store below; and whatever ends in an
error, is a dry run or comes over the read-only interface leaves the store as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kip.errors import CODES
from tests.conformance_factory import sqlite

FOLDER = Path(__file__).resolve().parent

CASE_KEYS = frozenset({"name", "source", "setup", "steps", "xfail"})
STEP_KEYS = frozenset(
    {"command", "commands", "request", "parameters", "dry_run", "readonly", "store", "save", "expect"}
)
EXPECT_KEYS = frozenset(
    {
        *("result", "rows", "ordered", "subset", "contains", "excludes", "length", "counts"),
        *("mentions", "omits", "scores", "next_cursor", "error", "says", "batch", "any_of"),
    }
)
PATTERNS = frozenset({"$any", "$saved", "$type", "$set", "$subset", "$absent", "$near", "$above"})

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_LEAKS = re.compile(r"(?i)traceback|sqlite|apsw|\bfts5\b|\bselect\b .* \bfrom\b|neo4j|cypher|lucene|json_extract")

Execute = Callable[[dict[str, Any]], dict[str, Any]]
Factory = Callable[[], Execute]

FACTORIES: dict[str, Factory] = {"sqlite": sqlite}
"""Each makes a fresh store that holds the bootstrap capsules; a new store joins by being named here."""


@dataclass(frozen=True)
class Case:
    """One case and where it stands."""

    file: str
    name: str
    body: dict[str, Any] = field(repr=False)

    @property
    def id(self) -> str:
        """``file:name``, as reports show it."""
        return f"{self.file}:{self.name}"


def case_files() -> list[Path]:
    """The case files, in order of their names."""
    return sorted(FOLDER.glob("*.json"))


def load_cases() -> list[Case]:
    """All cases of all files."""
    return [
        Case(path.stem, body["name"], body)
        for path in case_files()
        for body in json.loads(path.read_text(encoding="utf-8"))["cases"]
    ]


def load_graphs() -> dict[str, list[str]]:
    """The graphs that several cases start from, by name: ``"@name"`` in a setup stands for its commands."""
    return json.loads((FOLDER / "shared" / "graphs.json").read_text(encoding="utf-8"))


def expectations(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every expectation of a case, those of batch elements included."""
    for step in case["steps"]:
        expect = step.get("expect", {})
        yield expect
        yield from expect.get("batch", [])
        yield from expect.get("any_of", [])


def expected_codes(case: dict[str, Any]) -> Iterator[str]:
    """The error codes that a case insists on; of alternatives, none is insisted on."""
    for expect in expectations(case):
        if isinstance(expect.get("error"), str):
            yield expect["error"]


# --- running ------------------------------------------------------------------------------------


def run_case(case: Case, factory: Factory) -> None:
    """Run one case on fresh stores; raises AssertionError that names file, case and step."""
    run = _Run(case, factory)
    try:
        run.everything()
    except AssertionError as failure:
        message = f"\ncase    {case.id}\nsource  {case.body['source']}\nstep    {run.where}\n{failure}"
        raise AssertionError(message) from None
    finally:
        run.close()


class _Run:
    def __init__(self, case: Case, factory: Factory) -> None:
        self._case = case.body
        self._factory = factory
        self._stores: dict[str, Execute] = {}
        self._saved: dict[str, Any] = {}
        self.where = "(before the first)"

    def everything(self) -> None:
        graphs = load_graphs()
        for item in self._case.get("setup", []):
            if isinstance(item, str) and item.startswith("@"):
                commands: list[Any] = graphs[item[1:]]
            else:
                commands = [item]
            for command in commands:
                step = command if isinstance(command, dict) else {"command": command}
                self.where = f"setup: {json.dumps(step, ensure_ascii=False)}"
                self._step({**step, "expect": {}})
        for number, step in enumerate(self._case["steps"], 1):
            self.where = f"{number}: {json.dumps(step, ensure_ascii=False)}"
            self._step(step)

    def close(self) -> None:
        for store in self._stores.values():
            store.close()  # type: ignore[attr-defined]

    def _store(self, name: str) -> Execute:
        if name not in self._stores:
            self._stores[name] = self._factory()
        return self._stores[name]

    def _step(self, step: dict[str, Any]) -> None:
        store = self._store(step.get("store", "A"))
        request = step.get("request") or {
            key: self._fill(step[key]) for key in ("command", "commands", "parameters", "dry_run") if key in step
        }
        expect = self._fill(step.get("expect", {}))
        is_still = "error" in expect or step.get("dry_run", False) or step.get("readonly", False)
        before = dump(store) if is_still else None
        send: Execute = store.execute_readonly if step.get("readonly") else store  # type: ignore[attr-defined]
        try:
            response = send(request)
        except Exception as fault:  # whatever it is: a request is answered, never raised at
            raise AssertionError(f"the request raised {type(fault).__name__}: {fault}") from fault
        try:
            check_response(response)
            check_expectation(response, expect)
        except AssertionError as failure:
            shown = json.dumps(response, ensure_ascii=False, default=repr)
            raise AssertionError(f"{failure}\ngot     {shown[:3000]}") from None
        if before is not None:
            assert dump(store) == before, "the store has changed although nothing may be written here"
        for name, path in step.get("save", {}).items():
            self._saved[name] = at_path(response, path)

    def _fill(self, value: Any) -> Any:
        """The value with every ``{"$saved": name}`` in it replaced."""
        if isinstance(value, dict):
            if set(value) == {"$saved"}:
                return self._saved[value["$saved"]]
            return {key: self._fill(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._fill(item) for item in value]
        return value


def at_path(value: Any, path: str) -> Any:
    """What lies at a dotted path, for example ``result.0.id``."""
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def dump(execute: Execute) -> Any:
    """Everything that a store says it holds: all concepts by type, all links."""
    types = execute({"command": "DESCRIBE CONCEPT TYPES"})["result"]
    concepts = [{"command": "FIND(?n) WHERE { ?n {type: :type} }", "parameters": {"type": name}} for name in types]
    links = "FIND(?l) WHERE { ?l (?s, ?p, ?o) }"
    found = execute({"commands": [*concepts, links]})["result"]
    return [sorted(json.dumps(element, sort_keys=True) for element in part["result"]) for part in found]


# --- judging ------------------------------------------------------------------------------------


def check_response(response: Any) -> None:
    """What holds for every response, and for every element of a batch (6.2)."""
    assert isinstance(response, dict), "a response is an object"
    text = json.dumps(response, ensure_ascii=False, allow_nan=False)
    assert text.encode("utf-8"), "a response is UTF-8"
    assert ("result" in response) != ("error" in response), "a response has either a result or an error"
    unknown = set(response) - {"result", "error", "next_cursor"}
    assert not unknown, f"a response has no {sorted(unknown)}"
    if "next_cursor" in response:
        assert isinstance(response["next_cursor"], str), "next_cursor is a string"
        assert response["next_cursor"], "next_cursor is not empty"
    if "error" in response:
        check_error(response["error"])


def check_error(error: Any) -> None:
    """The error object of Appendix 4; it never shows the store's own words."""
    assert isinstance(error, dict), "an error is an object"
    assert error.get("code") in CODES, f"{error.get('code')!r} is no KIP code"
    for key in ("message", "hint"):
        assert isinstance(error.get(key), str), f"an error has a {key}"
        assert error[key].strip(), f"the {key} of an error is not blank"
    leak = _LEAKS.search(error["message"])
    assert leak is None, f"the message shows the store below: {error['message']}"


def check_expectation(response: dict[str, Any], expect: dict[str, Any]) -> None:
    """Hold a response to what a case says of it; an empty expectation asks for success."""
    if "any_of" in expect:
        _check_any_of(response, expect["any_of"])
        return
    if "error" in expect:
        codes = expect["error"] if isinstance(expect["error"], list) else [expect["error"]]
        assert "error" in response, f"expected {' or '.join(codes)}, got a result"
        assert response["error"]["code"] in codes, f"expected {' or '.join(codes)}"
        for words in expect.get("says", []):
            said = f"{response['error']['message']} {response['error']['hint']}"
            assert words.casefold() in said.casefold(), f"the error should say {words!r}"
        return
    assert "error" not in response, "expected a result, got an error"
    for key, wanted in expect.items():
        check = _CHECKS.get(key)
        if check is not None:
            check(response, wanted, expect)


def _check_any_of(response: dict[str, Any], alternatives: list[dict[str, Any]]) -> None:
    failures: list[str] = []
    for alternative in alternatives:
        try:
            check_expectation(response, alternative)
        except AssertionError as failure:
            failures.append(str(failure))
        else:
            return
    raise AssertionError("no alternative holds: " + "; ".join(failures))


def _check_result(response: dict[str, Any], wanted: Any, _: dict[str, Any]) -> None:
    assert matches(wanted, response["result"]), f"expected the result {wanted!r}"


def _check_rows(response: dict[str, Any], wanted: list[list[Any]], expect: dict[str, Any]) -> None:
    columns = response["result"]
    if len(wanted[0]) == 1:
        columns = [columns]
    assert isinstance(columns, list), "a FIND has columns"
    assert all(isinstance(column, list) for column in columns), "every column is an array"
    assert len(columns) == len(wanted[0]), f"expected {len(wanted[0])} columns, got {len(columns)}"
    assert len({len(column) for column in columns}) == 1, "all columns have the same length"
    rows = [list(row) for row in zip(*columns, strict=True)]
    pattern = wanted if expect.get("ordered") else {"$set": wanted}
    order = "in this order" if expect.get("ordered") else "in any order"
    assert matches(pattern, rows), f"expected the rows {wanted!r} {order},\ngot     {rows!r}"


def _check_subset(response: dict[str, Any], wanted: Any, _: dict[str, Any]) -> None:
    assert includes(wanted, response["result"]), f"expected at least {wanted!r}"


def _check_contains(response: dict[str, Any], wanted: list[Any], _: dict[str, Any]) -> None:
    for item in wanted:
        assert any(includes(item, found) for found in response["result"]), f"expected {item!r} among the result"


def _check_excludes(response: dict[str, Any], wanted: list[Any], _: dict[str, Any]) -> None:
    for item in wanted:
        assert not any(includes(item, found) for found in response["result"]), f"{item!r} must not be in the result"


def _check_length(response: dict[str, Any], wanted: int, _: dict[str, Any]) -> None:
    assert isinstance(response["result"], list), "the result is an array"
    assert len(response["result"]) == wanted, f"expected {wanted} elements, got {len(response['result'])}"


def _check_counts(response: dict[str, Any], wanted: dict[str, int], _: dict[str, Any]) -> None:
    result = response["result"]
    found = {key: len(value) if isinstance(value, list) else value for key, value in result.items()}
    assert matches(wanted, found), f"expected exactly the counts {wanted}, got {found}"


def _check_mentions(response: dict[str, Any], wanted: list[str], _: dict[str, Any]) -> None:
    text = json.dumps(response["result"], ensure_ascii=False)
    for words in wanted:
        assert words in text, f"the result should mention {words!r}"


def _check_omits(response: dict[str, Any], wanted: list[str], _: dict[str, Any]) -> None:
    text = json.dumps(response["result"], ensure_ascii=False)
    for words in wanted:
        assert words not in text, f"the result must not mention {words!r}"


def _check_scores(response: dict[str, Any], _: Any, __: dict[str, Any]) -> None:
    scores = [hit["metadata"]["_score"] for hit in response["result"]]
    for score in scores:
        assert not isinstance(score, bool), "a score is a number"
        assert isinstance(score, (int, float)), "a score is a number"
        assert 0 <= score <= 1, f"the score {score} is outside [0, 1]"
    assert scores == sorted(scores, reverse=True), f"scores must descend: {scores}"


def _check_next_cursor(response: dict[str, Any], wanted: bool, _: dict[str, Any]) -> None:
    assert ("next_cursor" in response) == wanted, f"next_cursor must be {'present' if wanted else 'absent'}"


def _check_batch(response: dict[str, Any], wanted: list[dict[str, Any]], _: dict[str, Any]) -> None:
    assert isinstance(response["result"], list), "the result of a batch is an array"
    assert len(response["result"]) == len(wanted), f"expected {len(wanted)} responses, got {len(response['result'])}"
    for number, (part, expect) in enumerate(zip(response["result"], wanted, strict=True)):
        try:
            check_response(part)
            check_expectation(part, expect)
        except AssertionError as failure:
            raise AssertionError(f"response {number}: {failure}") from None


_CHECKS: dict[str, Callable[[dict[str, Any], Any, dict[str, Any]], None]] = {
    "result": _check_result,
    "rows": _check_rows,
    "subset": _check_subset,
    "contains": _check_contains,
    "excludes": _check_excludes,
    "length": _check_length,
    "counts": _check_counts,
    "mentions": _check_mentions,
    "omits": _check_omits,
    "scores": _check_scores,
    "next_cursor": _check_next_cursor,
    "batch": _check_batch,
}


# --- comparing values ---------------------------------------------------------------------------


def includes(wanted: Any, found: Any) -> bool:
    """Every key that is wanted is there, at every depth; arrays element by element."""
    return matches({"$subset": wanted}, found)


def matches(wanted: Any, found: Any) -> bool:
    """Equal as JSON: by type, so that ``true`` is not ``1``; numbers by exact value. Patterns may stand anywhere."""
    if isinstance(wanted, dict):
        if len(wanted) == 1 and (name := next(iter(wanted))) in PATTERNS:
            return _matches_pattern(name, wanted[name], found)
        return (
            isinstance(found, dict)
            and wanted.keys() == found.keys()
            and all(matches(item, found[key]) for key, item in wanted.items())
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(wanted) == len(found)
            and all(matches(left, right) for left, right in zip(wanted, found, strict=True))
        )
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        return isinstance(found, (int, float)) and not isinstance(found, bool) and wanted == found
    return type(wanted) is type(found) and wanted == found


def _matches_pattern(name: str, argument: Any, found: Any) -> bool:
    match name:
        case "$any":
            return found is not None
        case "$type":
            return isinstance(found, _TYPES[argument]) and (argument == "boolean" or not isinstance(found, bool))
        case "$set":
            return isinstance(found, list) and len(found) == len(argument) and _matches_any_order(argument, found)
        case "$subset":
            return _matches_subset(argument, found)
        case "$near":
            return isinstance(found, (int, float)) and abs(found - argument) < 1e-9
        case "$above":
            return isinstance(found, (int, float)) and found > argument
        case _:
            raise AssertionError(f"the pattern {name} cannot stand here")


def _matches_any_order(wanted: list[Any], found: list[Any]) -> bool:
    rest = list(found)
    for item in wanted:
        for place, candidate in enumerate(rest):
            if matches(item, candidate):
                del rest[place]
                break
        else:
            return False
    return True


def _matches_subset(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, dict) and not (len(wanted) == 1 and next(iter(wanted)) in PATTERNS):
        if not isinstance(found, dict):
            return False
        for key, item in wanted.items():
            if item == {"$absent": True}:
                if key in found:
                    return False
            elif key not in found or not _matches_subset(item, found[key]):
                return False
        return True
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(wanted) == len(found)
            and all(_matches_subset(left, right) for left, right in zip(wanted, found, strict=True))
        )
    return matches(wanted, found)
