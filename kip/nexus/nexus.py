"""Executes requests: ``execute_kip`` and ``execute_kip_readonly`` (SPECIFICATION.md 6)."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from kip.backends.base import Authorship, Backend, Change, Concept, Link, Reader, Revision, Writer
from kip.clock import Clock, SystemClock, iso
from kip.embedding import Embedder
from kip.errors import KipError
from kip.lang import ast, parse, position
from kip.lang.parameters import bind_check
from kip.nexus import amend
from kip.nexus.amend import cascade
from kip.nexus.capsule import export, plan_export
from kip.nexus.drafts import Drafts
from kip.nexus.explain import explain
from kip.nexus.guard import check_changes, is_actor, is_protected
from kip.nexus.meta import describe
from kip.nexus.query import Response, find
from kip.nexus.request import Author, Command, commands_of, parameters_of
from kip.nexus.resolve import Parameters
from kip.nexus.revisions import rollback_element, rollback_request
from kip.nexus.schema import Registry, SchemaCache, check_definition, check_query, check_unused
from kip.nexus.search import search, vectors_of
from kip.nexus.session import Session
from kip.nexus.upsert import Upsert
from kip.plan import algebra as op
from kip.plan.bind import bind_find
from kip.resources import BOOTSTRAP, read_text
from kip.values import Json

_CACHED_COMMANDS = 512
_LONGEST_CACHED = 16_384

_Report = Callable[[dict[str, str]], Json]
"""Makes the response of a write, given the map from provisional to real ids."""

_Decision = Callable[[Writer, Drafts, Registry], _Report]
"""Reads, and leaves what is to change in the working set."""

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
        embedder: makes semantic and hybrid SEARCH possible; without one both are served as keyword search.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        space: str = "default",
        clock: Clock | None = None,
        actor: str = "$self",
        embedder: Embedder | None = None,
    ) -> None:
        self._backend = backend
        self._space = space
        self._clock = clock or SystemClock()
        self._author = Author(actor)
        self._schema = SchemaCache()
        self._embedder = embedder
        self._commands: OrderedDict[str, tuple[ast.Command, op.Query | None]] = OrderedDict()
        backend.ensure_space(space)
        with backend.reading(space) as reader:
            is_new = reader.schema_version() == 0
        if is_new:
            # One command, hence one transaction: a space has all of the bootstrap or nothing. Two processes that open
            # a new space at once both come here; for the second the capsules change nothing.
            self.run("\n".join(read_text("schemas", name) for name in BOOTSTRAP), {})

    @property
    def clock(self) -> Clock:
        """The engine's source of time."""
        return self._clock

    def session(self, actor: str | None = None, *, session: str | None = None, reason: str | None = None) -> Session:
        """A caller's view: KIP text in, results out, errors raised. What it writes is logged under ``actor`` (the
        engine's own when omitted), ``session`` and ``reason``."""
        return Session(self, Author(actor or self._author.actor, session, reason))

    def close(self) -> None:
        """Close the store."""
        self._backend.close()

    # --- requests (6.1) ---

    def execute_kip(self, request: Mapping[str, Any], *, by: Author | None = None) -> dict[str, Any]:
        """Execute one command or a batch, with write access; never raises for a bad request, but answers it."""
        return self._request(request, lambda command: self._execute(command, None, by or self._author))

    def execute_kip_readonly(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """As :meth:`execute_kip`, for FIND, DESCRIBE, SEARCH and EXPORT only; a batch sees one snapshot."""
        try:
            with self._backend.reading(self._space) as reader:
                return self._request(request, lambda command: self._execute(command, reader, self._author))
        except KipError as error:
            return {"error": error.to_dict()}

    def _request(self, request: Mapping[str, Any], execute: Callable[[Command], Response]) -> dict[str, Any]:
        try:
            commands, is_batch = commands_of(request)
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

    def run(self, text: str, parameters: Parameters, by: Author | None = None) -> Response:
        """The response of one command; raises its KipError."""
        checked = parameters_of({"parameters": parameters})
        return self._execute(Command(text, checked), None, by or self._author)

    def rows(self, text: str, parameters: Parameters) -> list[tuple[Json, ...]]:
        """The solutions of a FIND, one tuple each; raises its KipError, KIP_2003 for another command."""
        tree, query = self._parsed(text)
        checked = parameters_of({"parameters": parameters})
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

    def _execute(self, command: Command, reader: Reader | None, by: Author) -> Response:
        try:
            return self._dispatch(command, reader, by)
        except KipError as error:
            if error.offset is not None:
                raise error.at(*position(command.text, error.offset)) from error
            raise

    def _dispatch(self, command: Command, reader: Reader | None, by: Author) -> Response:
        tree, query = self._parsed(command.text)
        bind_check(tree, command.parameters)
        if isinstance(tree, ast.Kml):
            if reader is not None:
                raise KipError("KIP_3004", "this interface is read-only", hint="Send the command through execute_kip.")
            return {"result": self._write(tree, command, by)}
        if reader is not None:
            return self._read(tree, query, command.parameters, reader)
        with self._backend.reading(self._space) as snapshot:
            return self._read(tree, query, command.parameters, snapshot)

    def _read(
        self, tree: ast.Find | ast.Meta, query: op.Query | None, parameters: Parameters, reader: Reader
    ) -> Response:
        registry = self._schema.of(reader)
        if isinstance(tree, ast.Search):
            return search(tree, parameters, reader, registry, self._embedder)
        if isinstance(tree, ast.Describe):
            return describe(tree, parameters, reader, registry, self._embedder is not None)
        if isinstance(tree, ast.Explain):
            return explain(tree, parameters, reader, registry)
        assert query is not None
        run = find if isinstance(tree, ast.Find) else export
        return run(query, parameters, reader, registry)

    def _write(self, tree: ast.Kml, command: Command, by: Author) -> Json:
        def change(writer: Writer, drafts: Drafts, registry: Registry) -> _Report:
            if not isinstance(tree, ast.Upsert):
                result = _AMENDMENTS[type(tree)](tree, command.parameters, writer, drafts, registry)
                return lambda _: result
            upsert = Upsert(tree, command.parameters, drafts, registry.copy())
            upsert.run(writer)
            return lambda real: upsert.report(real, dry_run=command.dry_run)

        return self._transact(change, by, dry_run=command.dry_run)

    def _transact(self, change: _Decision, by: Author, *, dry_run: bool = False) -> Json:
        """Run a change in one transaction: read, decide in memory, guard, apply. A dry run leaves out the last."""
        now = iso(self._clock.now())
        drafts = Drafts(now)
        with self._backend.writing(self._space) as writer:
            registry = self._schema.of(writer)
            report = change(writer, drafts, registry)
            changes, real = drafts.changes(writer)
            check_changes(changes, registry, _subjects(changes, writer))
            check_unused(changes, writer)
            for item in changes:
                if isinstance(item.after, Concept):
                    check_definition(item.after)
            _check_forgotten(changes, writer)
            if dry_run or not changes:
                writer.discard()
            else:
                authorship = Authorship(by.actor, now, secrets.token_hex(8), by.session, by.reason)
                writer.apply(changes, authorship, vectors_of(changes, self._embedder))
        return report(real)

    # --- beside the language (decision 13) ---

    def purge(self, ids: Sequence[str]) -> Json:
        """Forget elements and all links about them, revisions included; they do not come back (decision 14).

        Returns ``{"purged": n}``. Raises KIP_3004 for a protected element, KIP_4001 when a reader kept the files
        from being rewritten.
        """
        now = iso(self._clock.now())
        drafts = Drafts(now)
        with self._backend.writing(self._space) as writer:
            doomed = cascade(writer.elements(ids), writer, drafts)
            for id in doomed:
                element = drafts.get(id)
                if isinstance(element, Concept) and (is_protected(element) or is_actor(element)):
                    raise KipError("KIP_3004", f"{element.type} {element.name!r} cannot be forgotten")
            writer.purge(sorted(doomed))
        if doomed:
            self._backend.scrub()
        return {"purged": len(doomed)}

    def history(self, id: str) -> list[Revision]:
        """The revisions of one element, newest first; empty when it never existed."""
        with self._backend.reading(self._space) as reader:
            return reader.revisions(element=id)

    def rollback(
        self, *, element: str | None = None, version: int | None = None, request: str | None = None, by: Author
    ) -> Json:
        """Give one element its state at ``version``, or undo one request; returns ``{"restored": n}``.

        Raises KIP_2002 unless either element and version or request is given, KIP_3002 for a state or request that
        the log does not hold, KIP_3003, KIP_3004 and KIP_3005 as :mod:`kip.nexus.revisions` says.
        """
        if (request is None) == (element is None) or (element is None) != (version is None):
            raise KipError("KIP_2002", "a rollback takes an element and a version, or a request")

        def change(writer: Writer, drafts: Drafts, _: Registry) -> _Report:
            if element is not None and version is not None:
                result = rollback_element(element, version, writer, drafts)
            else:
                result = rollback_request(request or "", writer, drafts)
            return lambda _: result

        return self._transact(change, by)


def _check_forgotten(changes: list[Change], writer: Writer) -> None:
    """What was purged does not come back by being recorded again; raises KIP_3004."""
    made = [c.after for c in changes if c.before is None and isinstance(c.after, Concept)]
    if made and (gone := writer.forgotten([(concept.type, concept.name) for concept in made])):
        raise KipError(
            "KIP_3004", f"{gone[0][0]} {gone[0][1]!r} was forgotten on request", hint="Record it under another name."
        )


def _subjects(changes: list[Change], writer: Writer) -> dict[str, Concept]:
    """Concepts that removed links start from."""
    ids = {change.before.subject for change in changes if change.after is None and isinstance(change.before, Link)}
    return {id: found for id, found in writer.elements(ids).items() if isinstance(found, Concept)} if ids else {}
