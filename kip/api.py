"""Composition root: opens a store and puts the memory on top of it. The only place that picks a store."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kip.backends.base import Backend
from kip.clock import Clock
from kip.errors import KipError
from kip.memory import formation, recall
from kip.nexus.nexus import Nexus
from kip.values import Json

if TYPE_CHECKING:
    from kip.memory.adapters.source import Source
    from kip.memory.briefing import Briefing
    from kip.memory.model import RecordResult

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+)://(.*)$", re.DOTALL)
_SPACE = re.compile(r"^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?$")


class Brain:
    """A memory: the engine, and what is learned and recalled through it.

    Use it as a context manager, or call :meth:`close`.
    """

    def __init__(self, nexus: Nexus) -> None:
        self._nexus = nexus
        self._session = nexus.session()

    @property
    def nexus(self) -> Nexus:
        """The engine underneath, for KIP text of one's own."""
        return self._nexus

    def record(
        self, source: Source, *, adapter: str | None = None, context: Mapping[str, Json] | None = None
    ) -> RecordResult:
        """Form memory from runs (document 003, section 15); see :func:`kip.memory.formation.record`."""
        return formation.record(self._session, source, adapter=adapter, context=context)

    def brief(
        self,
        goal: str,
        *,
        state: Mapping[str, Json] | str | None = None,
        tools: Sequence[str] = (),
        counterparty: str | None = None,
    ) -> Briefing:
        """What to know before acting (document 003, section 16); see :func:`kip.memory.recall.brief`."""
        return recall.brief(self._session, goal, state=state, tools=tools, counterparty=counterparty)

    def close(self) -> None:
        """Close the store."""
        self._nexus.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open(
    url: str | Path = "kip.db", space: str = "default", *, clock: Clock | None = None, create: bool = True
) -> Brain:
    """Open a memory.

    Args:
        url: a file path, ``sqlite:///path``, or ``:memory:``.
        space: which of the store's separate memories; letters, digits, ``_``, ``-`` and ``.``.
        clock: source of time; the machine's when omitted.
        create: whether a missing store or space is made.

    Raises:
        KipError: KIP_2002 for a URL scheme or space name that does not exist in kip, KIP_3002 when the store or
            space is missing and ``create`` is false, KIP_4003 when the file is no kip store.
    """
    if not _SPACE.match(space):
        raise KipError(
            "KIP_2002",
            f"{space!r} does not name one space",
            hint="A space is named by letters, digits, '_', '-' and '.'; a call takes exactly one.",
        )
    backend = _backend(url, create=create)
    try:
        if not create:
            with backend.reading(space):
                pass
        return Brain(Nexus(backend, space=space, clock=clock))
    except BaseException:
        backend.close()
        raise


def _backend(url: str | Path, *, create: bool) -> Backend:
    path = _sqlite_path(url)
    if not create and path != ":memory:" and not Path(path).exists():
        raise KipError(
            "KIP_3002",
            f"there is no store at {path}",
            hint="Record something first (kip record FILE), or name the store with --store or KIP_STORE.",
        )
    from kip.backends.sqlite import SqliteBackend  # noqa: PLC0415 - a store's driver is loaded when it is used

    return SqliteBackend(path)


def _sqlite_path(url: str | Path) -> str:
    text = str(url)
    if not text.strip():
        raise KipError("KIP_2002", "the store has no name", hint="Give a path such as kip.db, or :memory:.")
    match = _SCHEME.match(text)
    if match is None:
        return text
    scheme, rest = match.groups()
    if scheme.casefold() != "sqlite":
        raise KipError(
            "KIP_2002",
            f"kip has no store for {scheme}:// addresses",
            hint="Give a file path, sqlite:///path, or :memory:.",
        )
    # As in other tools three slashes lead to a relative path and four to an absolute one.
    return rest.removeprefix("/") or ":memory:"
