"""The outside parse suite (../shared/conformance): every valid text reads back from its canonical text, every invalid
one is refused with its code."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kip.errors import KipError
from kip.lang import bind_check, format, parse
from tests.conftest import shared_path

DECIDED_OTHERWISE = {
    "pi-7903ad6a3d": "integers of any size are exact (decision 18)",
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
        assert error.hint
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


@pytest.mark.parametrize("name", ["SPECIFICATION.md", "KIPSyntax.md", "SelfInstructions.md"])
def test_whole_commands_in_the_reference_documents_parse(name: str) -> None:
    """Fenced blocks that begin with a statement and hold no template dots are commands, alone or several."""
    text = shared_path("reference", "kip-1.0-rc11", name).read_text(encoding="utf-8")
    blocks = [block.split("\n", 1)[1] for block in text.split("```")[1::2] if "\n" in block]
    capsules = [
        block for block in blocks if block.lstrip().startswith("UPSERT {") and ".." not in block and "<" not in block
    ]
    for capsule in capsules:
        command = parse(capsule)
        assert parse(format(command)) == command
    if name == "SPECIFICATION.md":
        assert capsules
