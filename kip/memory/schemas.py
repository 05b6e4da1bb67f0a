"""JSON schemas of what goes into formation and what comes out of it, generated from the models.

``python -m kip.memory.schemas FOLDER`` writes them; a test holds the files in ``schemas/`` to the models.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from kip.memory.briefing import Briefing
from kip.memory.model import FormationInput, RecordResult

SCHEMAS: dict[str, tuple[type[BaseModel], Literal["validation", "serialization"]]] = {
    "formation_input.schema.json": (FormationInput, "validation"),
    "record_result.schema.json": (RecordResult, "serialization"),
    "briefing.schema.json": (Briefing, "serialization"),
}
"""File name, model, and whether the schema is of what is taken or of what is given."""


def schema_text(name: str) -> str:
    """The text of one schema file."""
    model, mode = SCHEMAS[name]
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema(mode=mode)}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    """Write all schema files into ``folder``."""
    for name in SCHEMAS:
        (folder / name).write_text(schema_text(name), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
