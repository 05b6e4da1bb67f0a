"""Executes requests: ``execute_kip`` and ``execute_kip_readonly`` (SPECIFICATION.md 6)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, cast

from kip.backends.base import Authorship, Backend, Concept, Reader, Writer
from kip.clock import Clock, SystemClock, iso
from kip.errors import KipError
from kip.lang import ast, parse, position
from kip.lang.parameters import bind_check
from kip.nexus import amend
from kip.nexus.capsule import export, plan_export
from kip.nexus.drafts import Drafts
from kip.nexus.guard import check_changes
from kip.nexus.meta import describe, search
from kip.nexus.query import Response, find
from kip.nexus.resolve import Parameters
from kip.nexus.schema import Registry, SchemaCache, check_definition, check_query
from kip.nexus.session import Session
from kip.nexus.upsert import Upsert
from kip.plan import algebra as op
from kip.plan.bind import bind_find
from kip.resources import BOOTSTRAP, read_text
from kip.values import Json, check

_CACHED_COMMANDS = 512
_LONGEST_CACHED = 16_384

_Amendment = Callable[[Any, Parameters, Writer, Drafts, Registry], dict[str, Json]]
_AMENDMENTS: dict[type[ast.Node], _Amendment] = {
    ast.Update: amend.update,
    ast.Merge: amend.merge,
    ast.DeleteKeys: amend.delete_keys,
    ast.DeletePropositions: amend.delete_propositions,
    ast.DeleteConcept: amend.delete_concept,
}


class Nexus:
    """The engine on one space of a store.

    Args:
        backend: the store.
        space: name of the space (tenant); made, with Genesis and the cognitive profile, when missing.
        clock: source of time.
        actor: who writes, as kept in the revision log.
    """

    def __init__(
        self, backend: Backend, *, space: str = "default", clock: Clock | None = None, actor: str = "$self"
    ) -> None:
        self._backend = backend
        self._space = space
        self._clock = clock or SystemClock()
        self._actor = actor
        self._schema = SchemaCache()
        self._commands: OrderedDict[str, tuple[ast.Command, op.Query | None]] = OrderedDict()
        if backend.ensure_space(space):
            self._bootstrap()

    def _bootstrap(self) -> None:
        for name in BOOTSTRAP:
            response = self.execute_kip({"command": read_text("schemas", name)})
            if "error" in response:
                raise KipError("KIP_4003", f"the capsule {name} cannot be loaded: {response['error']}")

    @property
    def clock(self) -> Clock:
        """The engine's source of time."""
        return self._clock

    def session(self, actor: str | None = None) -> Session:
        """A caller's view: KIP text in, results out, errors raised."""
        return Session(self, actor or self._actor)

    def close(self) -> None:
        """Close the store."""
        self._backend.close()

    # --- requests (6.1) ---

    def execute_kip(self, request: Mapping[str, Any], *, actor: str | None = None) -> dict[str, Any]:
        """Execute one command or a batch, with write access; never raises for a bad request, but answers it."""
        return self._request(request, lambda command: self._execute(command, None, actor or self._actor))

    def execute_kip_readonly(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """As :meth:`execute_kip`, for FIND, DESCRIBE, SEARCH and EXPORT only; a batch sees one snapshot."""
        try:
            with self._backend.reading(self._space) as reader:
                return self._request(request, lambda command: self._execute(command, reader, self._actor))
        except KipError as error:
            return {"error": error.to_dict()}

    def _request(self, request: Mapping[str, Any], execute: Callable[[_Command], Response]) -> dict[str, Any]:
        try:
            commands, is_batch = _commands_of(request)
        except KipError as error:
            return {"error": error.to_dict()}
        responses: list[Json] = []
        for command in commands:
            try:
                response = execute(command)
            except KipError as error:
                response = {"error": cast(Json, error.to_dict())}
            if not is_batch:
                return response
            responses.append(response)
            if "error" in response and self._is_kml(command.text):
                break
        return {"result": responses}

    def _is_kml(self, text: str) -> bool:
        """True for a write that parses: its failure ends a batch, a syntax error does not (6.1)."""
        try:
            return isinstance(self._parsed(text)[0], ast.Kml)
        except KipError:
            return False

    # --- one command ---

    def run(self, text: str, parameters: Parameters, actor: str | None = None) -> Response:
        """The response of one command; raises its KipError."""
        checked = _parameters_of({"parameters": parameters})
        return self._execute(_Command(text, checked, dry_run=False), None, actor or self._actor)

    def rows(self, text: str, parameters: Parameters) -> list[tuple[Json, ...]]:
        """The solutions of a FIND, one tuple each; raises its KipError, KIP_2003 for another command."""
        tree, query = self._parsed(text)
        checked = _parameters_of({"parameters": parameters})
        bind_check(tree, checked)
        if not isinstance(tree, ast.Find) or query is None:
            raise KipError("KIP_2003", "only a FIND has rows")
        with self._backend.reading(self._space) as reader:
            check_query(query, self._schema.of(reader), checked)
            return reader.find(query, checked).rows

    def _parsed(self, text: str) -> tuple[ast.Command, op.Query | None]:
        known = self._commands.get(text)
        if known is not None:
            return known
        command = parse(text)
        query: op.Query | None = None
        if isinstance(command, ast.Find):
            query = bind_find(command)
        elif isinstance(command, ast.Export):
            query = plan_export(command)
        if len(text) <= _LONGEST_CACHED:
            self._commands[text] = command, query
            if len(self._commands) > _CACHED_COMMANDS:
                self._commands.popitem(last=False)
        return command, query

    def _execute(self, command: _Command, reader: Reader | None, actor: str) -> Response:
        try:
            return self._dispatch(command, reader, actor)
        except KipError as error:
            if error.offset is not None:
                raise error.at(*position(command.text, error.offset)) from error
            raise

    def _dispatch(self, command: _Command, reader: Reader | None, actor: str) -> Response:
        tree, query = self._parsed(command.text)
        bind_check(tree, command.parameters)
        if isinstance(tree, ast.Kml):
            if reader is not None:
                raise KipError("KIP_3004", "this interface is read-only", hint="Send the command through execute_kip.")
            return {"result": self._write(tree, command, actor)}
        if reader is not None:
            return self._read(tree, query, command.parameters, reader)
        with self._backend.reading(self._space) as snapshot:
            return self._read(tree, query, command.parameters, snapshot)

    def _read(
        self, tree: ast.Find | ast.Meta, query: op.Query | None, parameters: Parameters, reader: Reader
    ) -> Response:
        registry = self._schema.of(reader)
        if isinstance(tree, ast.Search):
            return search(tree, parameters, reader, registry)
        if isinstance(tree, ast.Describe):
            return describe(tree, parameters, reader, registry)
        assert query is not None
        run = find if isinstance(tree, ast.Find) else export
        return run(query, parameters, reader, registry)

    def _write(self, tree: ast.Kml, command: _Command, actor: str) -> Json:
        now = iso(self._clock.now())
        drafts = Drafts(now)
        with self._backend.writing(self._space) as writer:
            registry = self._schema.of(writer)
            if isinstance(tree, ast.Upsert):
                upsert = Upsert(tree, command.parameters, drafts, registry.copy())
                upsert.run(writer)
                changes, real = drafts.changes(writer)
                result = upsert.report(real, dry_run=command.dry_run)
            else:
                result = _AMENDMENTS[type(tree)](tree, command.parameters, writer, drafts, registry)
                changes, _ = drafts.changes(writer)
            check_changes(changes, registry, _subjects(changes, writer))
            for change in changes:
                if isinstance(change.after, Concept):
                    check_definition(change.after)
            if command.dry_run or not changes:
                writer.discard()
            else:
                writer.apply(changes, Authorship(actor, now))
        return result


def _subjects(changes: list[Any], writer: Writer) -> dict[str, Concept]:
    """Concepts that removed links start from."""
    ids = {change.before.subject for change in changes if change.after is None and hasattr(change.before, "subject")}
    return {id: found for id, found in writer.elements(ids).items() if isinstance(found, Concept)} if ids else {}


class _Command:
    """One command of a request with its parameters."""

    __slots__ = ("dry_run", "parameters", "text")

    def __init__(self, text: str, parameters: Parameters, dry_run: bool) -> None:
        self.text = text
        self.parameters = parameters
        self.dry_run = dry_run


_REQUEST_KEYS = frozenset({"command", "commands", "parameters", "dry_run"})


def _commands_of(request: Mapping[str, Any]) -> tuple[list[_Command], bool]:
    """The commands of a request, and whether it is a batch; raises KIP_1001 or KIP_2003 for a malformed one."""
    if not isinstance(request, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise KipError("KIP_2003", "a request is an object", hint='{"command": "..", "parameters": {..}}')
    unknown = set(request) - _REQUEST_KEYS
    if unknown:
        hint = "Allowed: command, commands, parameters, dry_run."
        raise KipError("KIP_1001", f"a request has no {min(map(str, unknown))!r}", hint=hint)
    if ("command" in request) == ("commands" in request):
        raise KipError("KIP_1001", "a request has exactly one of command and commands", hint="Send one of the two.")
    shared = _parameters_of(request)
    dry_run = request.get("dry_run", False)
    if not isinstance(dry_run, bool):
        raise KipError("KIP_2003", "dry_run is true or false")
    if "command" in request:
        return [_Command(_text_of(request["command"]), shared, dry_run)], False
    listed = request["commands"]
    if not isinstance(listed, list):
        raise KipError("KIP_2003", "commands is a list")
    return [_batch_command(item, shared, dry_run) for item in cast(list[object], listed)], True


def _batch_command(item: object, shared: Parameters, dry_run: bool) -> _Command:
    if isinstance(item, Mapping):
        own = cast(Mapping[str, Any], item)
        return _Command(_text_of(own.get("command")), {**shared, **_parameters_of(own)}, dry_run)
    return _Command(_text_of(item), shared, dry_run)


def _text_of(value: object) -> str:
    if not isinstance(value, str):
        raise KipError("KIP_2003", "a command is a string of KIP text")
    return value


def _parameters_of(holder: Mapping[str, Any]) -> dict[str, Json]:
    found = holder.get("parameters")
    if found is None:
        return {}
    checked = check(found, "parameters")
    if not isinstance(checked, dict):
        raise KipError("KIP_2003", "parameters is an object")
    return checked
