"""The request object of ``execute_kip`` (SPECIFICATION.md 6.1): one command or a batch, with parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from kip.errors import KipError
from kip.nexus.resolve import Parameters
from kip.values import Json, check


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes, in which session and why: kept with every revision."""

    actor: str
    session: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a request with its parameters."""

    text: str
    parameters: Parameters
    dry_run: bool = False


_REQUEST_KEYS = frozenset({"command", "commands", "parameters", "dry_run"})


def commands_of(request: Mapping[str, Any]) -> tuple[list[Command], bool]:
    """The commands of a request, and whether it is a batch; raises KIP_1001 or KIP_2003 for a malformed one."""
    if not isinstance(request, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise KipError("KIP_2003", "a request is an object", hint='{"command": "..", "parameters": {..}}')
    unknown = set(request) - _REQUEST_KEYS
    if unknown:
        hint = "Allowed: command, commands, parameters, dry_run."
        raise KipError("KIP_1001", f"a request has no {min(map(str, unknown))!r}", hint=hint)
    if ("command" in request) == ("commands" in request):
        raise KipError("KIP_1001", "a request has exactly one of command and commands", hint="Send one of the two.")
    shared = parameters_of(request)
    dry_run = request.get("dry_run", False)
    if not isinstance(dry_run, bool):
        raise KipError("KIP_2003", "dry_run is true or false")
    if "command" in request:
        return [Command(_text_of(request["command"]), shared, dry_run)], False
    listed = request["commands"]
    if not isinstance(listed, list):
        raise KipError("KIP_2003", "commands is a list")
    return [_batch_command(item, shared, dry_run) for item in cast(list[object], listed)], True


def _batch_command(item: object, shared: Parameters, dry_run: bool) -> Command:
    if isinstance(item, Mapping):
        own = cast(Mapping[str, Any], item)
        return Command(_text_of(own.get("command")), {**shared, **parameters_of(own)}, dry_run)
    return Command(_text_of(item), shared, dry_run)


def _text_of(value: object) -> str:
    if not isinstance(value, str):
        raise KipError("KIP_2003", "a command is a string of KIP text")
    return value


def parameters_of(holder: Mapping[str, Any]) -> dict[str, Json]:
    """The checked ``parameters`` of a request or of one of its commands; raises KIP_2003."""
    found = holder.get("parameters")
    if found is None:
        return {}
    checked = check(found, "parameters")
    if not isinstance(checked, dict):
        raise KipError("KIP_2003", "parameters is an object")
    return checked
