"""Adapters: each turns one foreign format into the normalised :class:`kip.memory.trace.Trace`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kip.errors import KipError
from kip.memory.adapters import openai_chat, payload, tau_bench
from kip.memory.trace import Trace
from kip.values import Json


@dataclass(frozen=True, slots=True)
class Adapter:
    """One format: whether a record is in it, and how to read it."""

    name: str
    accepts: Callable[[Json], bool]
    read: Callable[[Json, str], Trace]


ADAPTERS: tuple[Adapter, ...] = (
    Adapter("tau-bench", tau_bench.accepts, tau_bench.read),
    Adapter("openai-chat", openai_chat.accepts, openai_chat.read),
    Adapter("payload", payload.accepts, payload.read),
)
"""In the order in which they are tried; the first that accepts a record reads it."""


def named(name: str) -> Adapter:
    """The adapter called ``name``; KIP_2002 when there is none."""
    for adapter in ADAPTERS:
        if adapter.name == name:
            return adapter
    known = ", ".join(adapter.name for adapter in ADAPTERS)
    raise KipError("KIP_2002", f"there is no adapter {name!r}", hint=f"Adapters: {known}.")


def choose(record: Json, where: str, name: str | None) -> Adapter:
    """The adapter for ``record``: the named one, or the first that accepts it; KIP_2003 when none does."""
    candidates = (named(name),) if name is not None else ADAPTERS
    for adapter in candidates:
        if adapter.accepts(record):
            return adapter
    shape = f"keys {', '.join(sorted(record)[:8])}" if isinstance(record, dict) else f"a JSON {_kind(record)}"
    wanted = "any known format" if name is None else f"the format {name!r}"
    raise KipError(
        "KIP_2003",
        f"{where} is not in {wanted}: it has {shape}",
        hint="Give messages[], or goal and trace[] (schemas/formation_input.schema.json), or name the adapter.",
    )


def _kind(value: Json) -> str:
    if isinstance(value, list):
        return "array" if value else "array without items"
    return "null" if value is None else type(value).__name__
