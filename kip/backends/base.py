"""What a store offers to the engine. Semantics live in the plan; a backend stores, finds and applies.

Every call is bound to one space (tenant): there is no way to ask a store for everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from kip.plan import algebra as op
from kip.values import Json


@dataclass(slots=True)
class Concept:
    """A stored concept node (2.2). ``metadata`` holds author metadata and ``_merged_from``; the rest of the
    ``_`` namespace is in fields of its own."""

    id: str
    type: str
    name: str
    attributes: dict[str, Json] = field(default_factory=dict[str, Json])
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])
    version: int = 1
    created_at: str = ""
    updated_at: str = ""

    def to_json(self) -> dict[str, Json]:
        """The node object of a response (2.2)."""
        return {
            "id": self.id,
            "type": self.type,
            "name": self.name,
            "attributes": self.attributes,
            "metadata": _with_maintained(self),
        }


@dataclass(slots=True)
class Link:
    """A stored proposition link (2.3); ``subject`` and ``object`` are ids of concepts or links."""

    id: str
    subject: str
    predicate: str
    object: str
    attributes: dict[str, Json] = field(default_factory=dict[str, Json])
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])
    version: int = 1
    created_at: str = ""
    updated_at: str = ""

    def to_json(self) -> dict[str, Json]:
        """The link object of a response (2.3)."""
        return {
            "id": self.id,
            "subject": self.subject,
            "predicate": self.predicate,
            "object": self.object,
            "attributes": self.attributes,
            "metadata": _with_maintained(self),
        }


Element = Concept | Link
ElementKind = Literal["concept", "link"]


def element_from_json(data: dict[str, Any]) -> Element:
    """The element in the object that :meth:`Concept.to_json` or :meth:`Link.to_json` made."""
    metadata = dict(data["metadata"])
    version, created = metadata.pop("_version"), metadata.pop("_created_at")
    state = (data["attributes"], metadata, version, created, metadata.pop("_updated_at"))
    if "predicate" in data:
        return Link(data["id"], data["subject"], data["predicate"], data["object"], *state)
    return Concept(data["id"], data["type"], data["name"], *state)


def _with_maintained(element: Element) -> dict[str, Json]:
    return {
        **element.metadata,
        "_version": element.version,
        "_created_at": element.created_at,
        "_updated_at": element.updated_at,
    }


@dataclass(frozen=True, slots=True)
class Change:
    """One element's way from ``before`` to ``after``: created when before is None, removed when after is None."""

    before: Element | None
    after: Element | None

    @property
    def element(self) -> Element:
        """The element concerned, in its newest known state."""
        found = self.after if self.after is not None else self.before
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class Authorship:
    """Who writes: kept with every revision (decision 13). ``at`` is ISO 8601 UTC; ``request`` tells the changes of
    one command from those of others."""

    actor: str
    at: str
    request: str
    session: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """One entry of the revision log: what a command did to one element.

    ``before`` is the element's state before (None when it was created), ``version`` the version that the change
    left; a removal counts as one version more.
    """

    element: str
    kind: Literal["create", "update", "remove"]
    version: int
    before: Element | None
    authorship: Authorship


@dataclass(frozen=True, slots=True)
class Page:
    """Result rows of a query, one Python value for each FIND column; ``cursor`` when more rows remain."""

    rows: list[tuple[Json, ...]]
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a store runs a plan: its statement, the values bound, and how it reads (``access``), index by index."""

    statement: str
    parameters: list[Json]
    access: list[str]
    indexes: list[str]


@dataclass(frozen=True, slots=True)
class Hit:
    """One element found by SEARCH, with its absolute score in [0, 1] (decision 9)."""

    element: Element
    score: float


@dataclass(frozen=True, slots=True)
class TextSearch:
    """A keyword search for elements that hold at least one of ``tokens``.

    ``kind`` says whether concepts or links are searched; ``scope`` is the only type, or predicate, to return.
    """

    tokens: tuple[str, ...]
    kind: ElementKind = "concept"
    scope: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Similar:
    """A search for the concepts whose vectors are nearest to ``vector`` (packed), among those of ``model``."""

    model: str
    vector: bytes
    scope: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Vectors:
    """Packed vectors of one model, by the ids of the concepts they belong to."""

    model: str
    by_id: dict[str, bytes]


Triple = tuple[str, str, str]
"""(subject id, predicate, object id)."""


class Reader(Protocol):
    """A consistent view of one space. All methods raise KIP_400x for failures of the store."""

    def find(self, query: op.Query, parameters: Mapping[str, Json]) -> Page:
        """Run a plan; raises KIP_1001 for a cursor that is malformed or belongs to another query."""
        ...

    def explain(self, query: op.Query, parameters: Mapping[str, Json]) -> Explanation:
        """How :meth:`find` would run the plan; nothing is run. Raises as it does."""
        ...

    def schema_version(self) -> int:
        """A number that changes whenever a type or predicate definition of the space changes."""
        ...

    def concepts(self, identities: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Concept]:
        """Concepts by (type, name); those that do not exist are left out."""
        ...

    def elements(self, ids: Iterable[str]) -> dict[str, Element]:
        """Elements by id; those that do not exist are left out."""
        ...

    def links(self, triples: Iterable[Triple]) -> dict[Triple, Link]:
        """Links by (subject, predicate, object); those that do not exist are left out."""
        ...

    def incident(self, ids: Iterable[str]) -> list[Link]:
        """All links that start or end at one of the elements, each once, oldest first."""
        ...

    def search(self, search: TextSearch) -> list[Hit]:
        """Elements that hold at least one of the tokens, best first."""
        ...

    def revisions(self, *, element: str | None = None, request: str | None = None) -> list[Revision]:
        """The revision log of one element, or of one request; newest first."""
        ...

    def similar(self, search: Similar) -> list[Hit]:
        """The concepts nearest in meaning, with their cosine similarity as score (-1 to 1), best first."""
        ...

    def similarities(self, search: Similar, ids: Iterable[str]) -> dict[str, float]:
        """Cosine similarities of some concepts; those without a vector are left out."""
        ...

    def weights(self, kind: ElementKind, tokens: Iterable[str]) -> dict[str, int]:
        """The weight of each token in a score: rarer among the concepts, or links, of the space is heavier."""
        ...


class Writer(Reader, Protocol):
    """A transaction on one space: sees its own changes; all of them are kept, or none."""

    def allocate(self, concepts: int, predicates: Sequence[str]) -> tuple[list[str], list[str]]:
        """Fresh ids, increasing: for so many concepts, and for one link of each predicate."""
        ...

    def apply(self, changes: Sequence[Change], authorship: Authorship, vectors: Vectors | None = None) -> None:
        """Write changes, the search index, vectors and the revision log. Raises KIP_3005 when an element is no longer
        in its ``before`` state, KIP_3003 when a uniqueness constraint would break."""
        ...

    def purge(self, ids: Sequence[str]) -> None:
        """Remove elements from everywhere, revision log and search index included; leave a tombstone, from which
        nothing can be read, for the identity of each concept (decision 14)."""
        ...

    def forgotten(self, identities: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Which of the (type, name) identities have a tombstone."""
        ...

    def discard(self) -> None:
        """Make the transaction end without effect (dry run)."""
        ...


class Backend(Protocol):
    """A store of spaces."""

    def ensure_space(self, space: str) -> bool:
        """Make the space if it is missing; True when it was."""
        ...

    def reading(self, space: str) -> AbstractContextManager[Reader]:
        """A snapshot; never blocks on writers."""
        ...

    def writing(self, space: str) -> AbstractContextManager[Writer]:
        """A transaction: committed and durable when the block ends normally, rolled back on any exception."""
        ...

    def scrub(self) -> None:
        """After a purge: rewrite the store so that nothing of what was deleted can be read from its files."""
        ...

    def close(self) -> None: ...
