"""Writes of the engine's benchmark: through KIP, and the same by hand-written SQL.

As a script (``engine_load.py kip|hand PATH N``) it loads the graph into the store at PATH and prints seconds and
memory as JSON: a process of its own, so that its memory is that of the load.

The hand-written side works on a second file with kip's own tables, indexes and settings. It does what kip's write
does: create or merge by (type, name), find the targets of links, keep the search index and the revision log, commit
once a command with a full sync. What it leaves out is what a program that knows its own data can leave out: the
language, the checks of names, schema and protected elements, and kip's tokens (FTS5 makes its own).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from workload import METADATA, SCHEMA, Block, batches, capsule, graph

if TYPE_CHECKING:
    from kip.nexus.nexus import Nexus

SPACE = 1
"""The number of the first space of a file."""

_NOW = "2026-08-01T00:00:00.000000Z"
_CONCEPT = (
    "INSERT INTO concept (space, type, name, attributes, metadata, version, created_at, updated_at) "
    f"VALUES ({SPACE}, ?1, ?2, jsonb(?3), jsonb(?4), 1, ?5, ?5) ON CONFLICT (space, type, name) DO UPDATE SET "
    "attributes = jsonb_patch(attributes, excluded.attributes), metadata = jsonb_patch(metadata, excluded.metadata), "
    "version = version + 1, updated_at = excluded.updated_at RETURNING key"
)
_LINK = (
    "INSERT INTO link (space, subject, predicate, object, attributes, metadata, version, created_at, updated_at) "
    f"SELECT {SPACE}, ?1, ?2, key, jsonb('{{}}'), jsonb(?5), 1, ?6, ?6 FROM concept "
    f"WHERE space = {SPACE} AND type = ?3 AND name = ?4 ON CONFLICT (subject, predicate, object, space) DO UPDATE SET "
    "metadata = jsonb_patch(metadata, excluded.metadata), version = version + 1, updated_at = excluded.updated_at "
    "RETURNING key"
)
_TEXT = "INSERT OR REPLACE INTO search (rowid, named, tokens, scope) VALUES (?, ?, ?, ?)"
_REVISION = (
    "INSERT INTO revision (space, element, kind, version, actor, at, request) "
    f"VALUES ({SPACE}, ?, 'create', 1, '$self', ?, ?)"
)


def open_kip(path: Path) -> Nexus:
    """kip's engine on a file; the definitions of the graph are written when the file is new."""
    from kip.backends.sqlite import SqliteBackend  # noqa: PLC0415 - the hand-written side goes without the engine
    from kip.nexus.nexus import Nexus  # noqa: PLC0415

    nexus = Nexus(SqliteBackend(str(path)))
    execute(nexus, SCHEMA)
    return nexus


def execute(nexus: Nexus, command: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
    """The response of one command; a failed one ends the benchmark."""
    response = nexus.execute_kip({"command": command, "parameters": parameters or {}})
    if "error" in response:
        raise RuntimeError(f"{response['error']} for {command[:200]}")
    return response


class Hand:
    """Hand-written SQL on a file with kip's tables."""

    def __init__(self, path: Path) -> None:
        from kip.backends.sqlite_schema import connect  # noqa: PLC0415 - the very settings of kip's own connection

        self.connection = connect(str(path), time_limit=600.0)

    def upsert(self, blocks: Sequence[Block]) -> None:
        """Write the blocks in one transaction."""
        run = self.connection.executemany
        metadata = json.dumps(METADATA)
        self.connection.execute("BEGIN IMMEDIATE")
        rows = [(block.type, block.name, json.dumps(block.attributes), metadata, _NOW) for block in blocks]
        keys = [key for (key,) in run(_CONCEPT, rows)]
        links = [
            (key, predicate, *target, metadata, _NOW)
            for key, block in zip(keys, blocks, strict=True)
            for predicate, target in block.links
        ]
        made = [f"P:{key}:{link[1]}" for link, (key,) in zip(links, run(_LINK, links), strict=True)]
        texts = [(key, block.name, _text(block), block.type) for key, block in zip(keys, blocks, strict=True)]
        run(_TEXT, texts).fetchall()
        elements = [f"C:{key}" for key in keys] + made
        run(_REVISION, [(element, _NOW, f"{keys[0]:x}") for element in elements]).fetchall()
        self.connection.execute("COMMIT")

    def close(self) -> None:
        self.connection.close()


def _text(block: Block) -> str:
    return " ".join(value for value in block.attributes.values() if isinstance(value, str))


def load_kip(path: Path, n: int) -> None:
    """Load the graph through capsules. Only the commands are timed, not the making of their text."""
    nexus = open_kip(path)
    seconds = 0.0
    for batch in batches(graph(n)):
        command = capsule(batch)
        start = perf_counter()
        execute(nexus, command)
        seconds += perf_counter() - start
    _report(seconds)
    nexus.close()


def load_hand(path: Path, n: int) -> None:
    """Load the graph by hand-written SQL into a file that has the tables."""
    hand = Hand(path)
    seconds = 0.0
    for batch in batches(graph(n)):
        start = perf_counter()
        hand.upsert(batch)
        seconds += perf_counter() - start
    _report(seconds)
    hand.close()


def _report(seconds: float) -> None:
    # The store is still open here: its caches belong to what the load takes.
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    memory = {name: round(int(fields[key].split()[0]) / 1024, 1) for name, key in _MEMORY.items()}
    sys.stdout.write(json.dumps({"seconds": seconds, **memory}) + "\n")


_MEMORY = {"rss_mb": "VmRSS", "peak_mb": "VmHWM"}


if __name__ == "__main__":
    {"kip": load_kip, "hand": load_hand}[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
