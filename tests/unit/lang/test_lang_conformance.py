"""The outside parse suite (../shared/conformance): every valid text reads back from its canonical text, every invalid
one is refused with its code."""

from __future__ import annotations

import json
from typing import Any

from kip.errors import KipError
from kip.lang import bind_check, format, parse
from tests.conftest import shared_path

DECIDED_OTHERWISE = {
    "pi-7903ad6a3d": "integers of any size are exact",
    "pi-placeholder-in-string": "text in quotes is text; the suite's README takes this reading as well",
}
"""Cases of level `reference`, which only the reference implementation refuses."""


def entries(name: str) -> list[dict[str, Any]]:
    lines = shared_path("conformance", "parse", name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def code_of(entry: dict[str, Any]) -> str | None:
    try:
        bind_check(parse(entry["kip"]), entry.get("parameters", {}))
    except KipError as error:
        return error.code
    return None


def test_every_valid_text_parses_and_reads_back_from_its_canonical_text() -> None:
    cases = entries("valid.jsonl")
    assert len(cases) > 900
    for case in cases:
        command = parse(case["kip"])
        bind_check(command, case.get("parameters", {}))
        text = format(command)
        assert parse(text) == command, case["id"]
        assert format(parse(text)) == text, case["id"]


def test_every_invalid_text_is_refused_with_its_code() -> None:
    cases = entries("invalid.jsonl")
    assert len(cases) > 200
    wrong: dict[str, str | None] = {}
    for case in cases:
        expected = case["expect"]["error"]
        code = code_of(case)
        if code not in (expected if isinstance(expected, list) else [expected]):
            assert case["level"] == "reference" or case["id"] not in DECIDED_OTHERWISE
            wrong[case["id"]] = code
    assert wrong == dict.fromkeys(DECIDED_OTHERWISE)
