"""UPSERT (SPECIFICATION.md 4.1, 2.10, 2.11.2): create or update by identity, atomic and idempotent.

The command's references are read in a number of round trips that does not depend on their count; then its
blocks run strictly in order against the working set.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TypeVar, assert_never

from kip.backends.base import Concept, Element, Link, Triple, Writer
from kip.errors import KipError
from kip.lang import ast
from kip.nexus.drafts import Drafts
from kip.nexus.guard import check_metadata_keys, check_name
from kip.nexus.resolve import Parameters, resolve, resolve_object, resolve_text
from kip.nexus.schema import CONCEPT_TYPE, PROPOSITION_TYPE, Registry, check_definition_name
from kip.values import Json

Block = ast.ConceptBlock | ast.PropositionBlock
_E = TypeVar("_E", Concept, Link)


class Upsert:
    """One UPSERT command on its way.

    Args:
        drafts: the working set; holds the outcome after :meth:`run`.
        registry: a copy of the schema that this command may extend.
    """

    def __init__(self, command: ast.Upsert, parameters: Parameters, drafts: Drafts, registry: Registry) -> None:
        self._command = command
        self._parameters = parameters
        self._drafts = drafts
        self._registry = registry
        self.concepts: list[str] = []
        self.propositions: list[str] = []

    def run(self, writer: Writer) -> None:
        """Execute all statements in order; raises the KIP error of the first block that fails."""
        _Prefetch(self._command, self._parameters, self._drafts).read(writer)
        for statement in self._command.statements:
            # A handle lives as long as its UPSERT statement.
            handles: dict[str, str] = {}
            default = self._metadata(statement.metadata)
            for block in statement.blocks:
                try:
                    self._block(block, handles, default)
                except KipError as error:
                    error.offset = block.span.start
                    raise

    def report(self, real: dict[str, str], *, dry_run: bool) -> dict[str, Json]:
        """The response (6.2.2); ``real`` maps provisional ids. A dry run lists no ids."""
        concepts, propositions = ([], []) if dry_run else (self.concepts, self.propositions)
        return {
            "blocks": len(self._command.statements),
            "upsert_concept_nodes": [real.get(id, id) for id in concepts],
            "upsert_proposition_links": [real.get(id, id) for id in propositions],
        }

    def _block(self, block: Block, handles: dict[str, str], default: dict[str, Json]) -> None:
        if isinstance(block, ast.ConceptBlock):
            id = self._concept_block(block, handles, default)
            self.concepts.append(id)
        else:
            id = self._proposition_block(block, handles, default)
            self.propositions.append(id)
        if block.handle is not None:
            handles[block.handle] = id

    def _metadata(self, entries: ast.Entries | None) -> dict[str, Json]:
        found = resolve_object(entries, self._parameters, "WITH METADATA")
        check_metadata_keys(found)
        return found

    # --- CONCEPT ---

    def _concept_block(self, block: ast.ConceptBlock, handles: dict[str, str], default: dict[str, Json]) -> str:
        concept, is_new = self._match_concept(block.matcher)
        self._expect(block.expect_version, None if is_new else concept)
        metadata = {**default, **self._metadata(block.metadata)}
        attributes = resolve_object(block.attributes, self._parameters, "SET ATTRIBUTES")
        self._drafts.merge(concept.id, attributes, metadata)
        written = self._drafts.get(concept.id)
        if isinstance(written, Concept):
            self._registry.define(written)
        if block.handle is not None:
            handles[block.handle] = concept.id
        for entry in block.propositions:
            predicate = resolve_text(entry.predicate, self._parameters, "a predicate")
            triple = (concept.id, predicate, self._endpoint(entry.target, handles))
            self._write_link(triple, {}, {**metadata, **self._metadata(entry.metadata)})
        return concept.id

    def _match_concept(self, matcher: ast.ConceptMatcher) -> tuple[Concept, bool]:
        if matcher.id is not None:
            return self._existing(resolve_text(matcher.id, self._parameters, "an id"), Concept), False
        type, name = self._identity(matcher)
        self._registry.require("type", type)
        found = self._drafts.concept(type, name)
        if found is not None:
            return found, False
        check_name(name)
        if type in (CONCEPT_TYPE, PROPOSITION_TYPE):
            check_definition_name(type, name)
        return self._drafts.create_concept(type, name), True

    def _identity(self, matcher: ast.ConceptMatcher) -> tuple[str, str]:
        if matcher.type is None or matcher.name is None:
            raise KipError(
                "KIP_2002", "a concept is identified by type and name, or by id", hint='{type: "Drug", name: "Aspirin"}'
            )
        type = resolve_text(matcher.type, self._parameters, "a type")
        return type, resolve_text(matcher.name, self._parameters, "a name")

    def _existing(self, id: str, kind: type[_E]) -> _E:
        found = self._drafts.get(id)
        if not isinstance(found, kind):
            raise _not_found(f"the {'concept' if kind is Concept else 'proposition'} {id!r}")
        return found

    # --- PROPOSITION ---

    def _proposition_block(self, block: ast.PropositionBlock, handles: dict[str, str], default: dict[str, Json]) -> str:
        metadata = {**default, **self._metadata(block.metadata)}
        attributes = resolve_object(block.attributes, self._parameters, "SET ATTRIBUTES")
        if isinstance(block.matcher, ast.LinkIdMatcher):
            id = self._endpoint(block.matcher, handles)
            self._expect(block.expect_version, self._drafts.get(id))
            self._drafts.merge(id, attributes, metadata)
            return id
        triple = self._triple(block.matcher, handles)
        self._expect(block.expect_version, self._drafts.link(triple))
        return self._write_link(triple, attributes, metadata)

    def _write_link(self, triple: Triple, attributes: dict[str, Json], metadata: dict[str, Json]) -> str:
        self._registry.require("predicate", triple[1])
        if triple[0] == triple[2]:
            raise KipError("KIP_2002", f"a {triple[1]} proposition cannot link an element to itself")
        link = self._drafts.link(triple) or self._drafts.create_link(triple)
        self._drafts.merge(link.id, attributes, metadata)
        return link.id

    def _triple(self, matcher: ast.TripleMatcher, handles: dict[str, str]) -> Triple:
        subject = self._endpoint(matcher.subject, handles)
        return subject, _predicate(matcher, self._parameters), self._endpoint(matcher.object, handles)

    def _endpoint(self, endpoint: ast.Endpoint, handles: dict[str, str]) -> str:
        """The id of an endpoint, which must exist; raises KIP_3001 for an undefined handle, else KIP_3002."""
        match endpoint:
            case ast.Variable():
                if endpoint.name not in handles:
                    raise KipError("KIP_3001", f"the handle ?{endpoint.name} is not defined by an earlier block")
                return handles[endpoint.name]
            case ast.LinkIdMatcher():
                return self._existing(resolve_text(endpoint.id, self._parameters, "an id"), Link).id
            case ast.ConceptMatcher():
                if endpoint.id is not None:
                    return self._existing(resolve_text(endpoint.id, self._parameters, "an id"), Concept).id
                type, name = self._identity(endpoint)
                self._registry.require("type", type)
                concept = self._drafts.concept(type, name)
                if concept is None:
                    raise _not_found(f"{type} {name!r}")
                return concept.id
            case ast.TripleMatcher():
                triple = self._triple(endpoint, handles)
                self._registry.require("predicate", triple[1])
                link = self._drafts.link(triple)
                if link is None:
                    raise _not_found(f"the {triple[1]} proposition that is referred to")
                return link.id
            case _:
                assert_never(endpoint)

    def _expect(self, expected: ast.Literal | ast.Parameter | None, found: Element | None) -> None:
        if expected is None:
            return
        version = resolve(expected, self._parameters)
        current = found.version if found is not None else 0
        if version != current:
            state = f"has version {current}" if found is not None else "does not exist"
            raise KipError("KIP_3005", f"EXPECT VERSION {version}, but the element {state}; nothing was written")


def _predicate(matcher: ast.TripleMatcher, parameters: Parameters) -> str:
    names = matcher.predicate
    if isinstance(names, ast.Variable) or len(names.names) != 1 or names.hops is not None:
        raise KipError("KIP_2002", "a proposition that is written has exactly one literal predicate")
    return resolve_text(names.names[0], parameters, "a predicate")


def _not_found(what: str) -> KipError:
    return KipError("KIP_3002", f"{what} does not exist")


class _Prefetch:
    """Reads all that a command refers to: concepts and ids in one round, then links by depth of nesting."""

    def __init__(self, command: ast.Upsert, parameters: Parameters, drafts: Drafts) -> None:
        self._statements = command.statements
        self._parameters = parameters
        self._drafts = drafts

    def read(self, writer: Writer) -> None:
        identities: set[tuple[str, str]] = set()
        ids: set[str] = set()
        for matcher in self._matchers():
            if matcher.id is not None:
                ids.add(resolve_text(matcher.id, self._parameters, "an id"))
            elif matcher.type is not None and matcher.name is not None:
                type = resolve_text(matcher.type, self._parameters, "a type")
                identities.add((type, resolve_text(matcher.name, self._parameters, "a name")))
        self._drafts.load(writer.concepts(sorted(identities)).values())
        if ids:
            self._drafts.load(writer.elements(sorted(ids)).values())
        asked: set[Triple] = set()
        while wanted := set(self._triples()) - asked:
            self._drafts.load(writer.links(sorted(wanted)).values())
            asked |= wanted

    def _matchers(self) -> Iterator[ast.ConceptMatcher | ast.LinkIdMatcher]:
        for statement in self._statements:
            for block in statement.blocks:
                yield from _endpoint_matchers(block.matcher)
                for entry in block.propositions if isinstance(block, ast.ConceptBlock) else ():
                    yield from _endpoint_matchers(entry.target)

    def _triples(self) -> Iterator[Triple]:
        """Triples between elements that are known to exist; nested ones as soon as their ends are known."""
        for statement in self._statements:
            handles: dict[str, str] = {}
            for block in statement.blocks:
                if isinstance(block, ast.PropositionBlock):
                    own = yield from self._known(block.matcher, handles)
                    subject = None
                else:
                    own = subject = yield from self._known(block.matcher, handles)
                if block.handle is not None and own is not None:
                    handles[block.handle] = own
                for entry in block.propositions if isinstance(block, ast.ConceptBlock) else ():
                    target = yield from self._known(entry.target, handles)
                    if subject is not None and target is not None:
                        yield subject, resolve_text(entry.predicate, self._parameters, "a predicate"), target

    def _known(self, endpoint: ast.Endpoint, handles: dict[str, str]) -> Generator[Triple, None, str | None]:
        """Yields the triples to look for; returns the endpoint's id, or None while it is not known."""
        match endpoint:
            case ast.Variable():
                return handles.get(endpoint.name)
            case ast.LinkIdMatcher():
                return resolve_text(endpoint.id, self._parameters, "an id")
            case ast.ConceptMatcher():
                if endpoint.id is not None:
                    return resolve_text(endpoint.id, self._parameters, "an id")
                if endpoint.type is None or endpoint.name is None:
                    return None
                type = resolve_text(endpoint.type, self._parameters, "a type")
                concept = self._drafts.concept(type, resolve_text(endpoint.name, self._parameters, "a name"))
                return concept.id if concept else None
            case ast.TripleMatcher():
                subject = yield from self._known(endpoint.subject, handles)
                target = yield from self._known(endpoint.object, handles)
                if subject is None or target is None:
                    return None
                triple = (subject, _predicate(endpoint, self._parameters), target)
                yield triple
                link = self._drafts.link(triple)
                return link.id if link else None


def _endpoint_matchers(endpoint: ast.Endpoint) -> Iterator[ast.ConceptMatcher | ast.LinkIdMatcher]:
    match endpoint:
        case ast.ConceptMatcher() | ast.LinkIdMatcher():
            yield endpoint
        case ast.TripleMatcher():
            yield from _endpoint_matchers(endpoint.subject)
            yield from _endpoint_matchers(endpoint.object)
        case ast.Variable():
            pass
