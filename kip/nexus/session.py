"""A caller's view of the engine: KIP text in, results out (the only door of ``memory`` and ``review``).

Beside the language it offers the store facilities that KIP has no syntax for (decision 13).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kip.backends.base import Revision
from kip.clock import Clock
from kip.nexus.request import Author
from kip.values import Json

if TYPE_CHECKING:
    from kip.nexus.nexus import Nexus


class Session:
    """Executes KIP text as one author.

    Args:
        nexus: the engine.
        author: who writes, as kept in the revision log.
    """

    def __init__(self, nexus: Nexus, author: Author) -> None:
        self._nexus = nexus
        self._author = author

    @property
    def clock(self) -> Clock:
        """The engine's source of time."""
        return self._nexus.clock

    def execute(self, command: str, parameters: Mapping[str, Json] | None = None) -> Any:
        """The result of one command; raises the KipError of a failed one."""
        return self._nexus.run(command, parameters or {}, self._author)["result"]

    def rows(self, command: str, parameters: Mapping[str, Json] | None = None) -> list[tuple[Json, ...]]:
        """The solutions of a FIND as rows, also when it has one expression; raises as :meth:`execute`.

        Aggregates without a group give one row.
        """
        return self._nexus.rows(command, parameters or {})

    def history(self, id: str) -> list[Revision]:
        """The revisions of one element, newest first."""
        return self._nexus.history(id)

    def purge(self, ids: Sequence[str]) -> Any:
        """Forget elements and all links about them for good; raises as :meth:`Nexus.purge`."""
        return self._nexus.purge(ids)

    def rollback(self, *, element: str | None = None, version: int | None = None, request: str | None = None) -> Any:
        """Give one element its state at ``version``, or undo one request; raises as :meth:`Nexus.rollback`."""
        return self._nexus.rollback(element=element, version=version, request=request, by=self._author)
