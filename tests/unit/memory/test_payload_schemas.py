"""The JSON schemas in schemas/ are those of the models."""

from __future__ import annotations

import json

import pytest

from kip.memory.schemas import SCHEMAS, schema_text
from kip.resources import read_text


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_file_is_current(name: str) -> None:
    assert read_text("schemas", name) == schema_text(name), "run: python -m kip.memory.schemas schemas"


def test_the_payloads_own_enums_are_in_the_schema() -> None:
    kinds = json.loads(schema_text("formation_input.schema.json"))["$defs"]["TraceEntry"]["properties"]["kind"]
    assert "message" in json.dumps(kinds)
    assert "feedback" in json.dumps(kinds)
