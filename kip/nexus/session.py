"""A caller's view of the engine: KIP text in, results out (the only door of ``memory`` and ``review``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kip.clock import Clock
from kip.values import Json

if TYPE_CHECKING:
    from kip.nexus.nexus import Nexus


class Session:
    """Executes KIP text as one actor.

    Args:
        nexus: the engine.
        actor: who writes, as kept in the revision log.
    """

    def __init__(self, nexus: Nexus, actor: str) -> None:
        self._nexus = nexus
        self._actor = actor

    @property
    def clock(self) -> Clock:
        """The engine's source of time."""
        return self._nexus.clock

    def execute(self, command: str, parameters: Mapping[str, Json] | None = None) -> Any:
        """The result of one command; raises the KipError of a failed one."""
        return self._nexus.run(command, parameters or {}, self._actor)["result"]

    def rows(self, command: str, parameters: Mapping[str, Json] | None = None) -> list[tuple[Json, ...]]:
        """The solutions of a FIND as rows, also when it has one expression; raises as :meth:`execute`.

        Aggregates without a group give one row.
        """
        return self._nexus.rows(command, parameters or {})
