"""Fresh stores for outside conformance suites: each call makes one that holds only the bootstrap capsules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kip.backends.sqlite import SqliteBackend
from kip.nexus import Nexus

Execute = Callable[[dict[str, Any]], dict[str, Any]]


def sqlite() -> Execute:
    """``execute(request) -> response`` on a fresh SQLite store; has ``execute_readonly`` and ``close``."""
    nexus = Nexus(SqliteBackend(":memory:"))

    def execute(request: dict[str, Any]) -> dict[str, Any]:
        return nexus.execute_kip(request)

    execute.execute_readonly = nexus.execute_kip_readonly  # type: ignore[attr-defined]
    execute.close = nexus.close  # type: ignore[attr-defined]
    return execute
