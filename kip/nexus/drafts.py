"""The working set of one write: elements as they were read, and as they will be.

Everything is decided here in memory, once for all stores; the store then applies the changes in one go.
New elements carry provisional ids until :meth:`Drafts.changes` allocates real ones.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from kip.backends.base import Change, Concept, Element, Link, Triple, Writer
from kip.values import Json, dumps

_E = TypeVar("_E", Concept, Link)


class Drafts:
    """Elements touched by one command."""

    def __init__(self, now: str) -> None:
        self._now = now
        self._before: dict[str, Element] = {}
        self._current: dict[str, Element] = {}
        self._concepts: dict[tuple[str, str], str] = {}
        self._links: dict[Triple, str] = {}
        self._created: list[str] = []
        self._restored: list[str] = []

    def load(self, elements: Iterable[Element]) -> None:
        """Take elements read from the store into the working set; those that are there already stay as they are."""
        for element in elements:
            if element.id not in self._before:
                self._before[element.id] = element
                self._put(element)

    def _put(self, element: Element) -> None:
        self._current[element.id] = element
        if isinstance(element, Concept):
            self._concepts[element.type, element.name] = element.id
        else:
            self._links[element.subject, element.predicate, element.object] = element.id

    def get(self, id: str) -> Element | None:
        """The element with an id, as the command has left it so far."""
        return self._current.get(id)

    def concept(self, type: str, name: str) -> Concept | None:
        """The concept of an identity, if it is in the working set."""
        found = self._current.get(self._concepts.get((type, name), ""))
        return found if isinstance(found, Concept) else None

    def link(self, triple: Triple) -> Link | None:
        """The link of a triple, if it is in the working set."""
        found = self._current.get(self._links.get(triple, ""))
        return found if isinstance(found, Link) else None

    def create_concept(self, type: str, name: str) -> Concept:
        """A new concept without attributes."""
        return self._create(Concept(self._provisional(), type, name, created_at=self._now, updated_at=self._now))

    def create_link(self, triple: Triple) -> Link:
        """A new link without attributes."""
        subject, predicate, target = triple
        return self._create(
            Link(self._provisional(), subject, predicate, target, created_at=self._now, updated_at=self._now)
        )

    def _provisional(self) -> str:
        return f"new:{len(self._created)}"

    def _create(self, element: _E) -> _E:
        self._created.append(element.id)
        self._put(element)
        return element

    def merge(self, id: str, attributes: dict[str, Json], metadata: dict[str, Json]) -> None:
        """Shallow merge (2.10). Equal values change nothing, and then no version either (decision 12)."""
        element = self._current[id]
        changed = _differences(attributes, element.attributes), _differences(metadata, element.metadata)
        if changed[0] or changed[1]:
            self.revise(id, {**element.attributes, **changed[0]}, {**element.metadata, **changed[1]})

    def revise(self, id: str, attributes: dict[str, Json], metadata: dict[str, Json], **fields: str) -> None:
        """Set the element's state; its version rises once for the whole command."""
        element = self._current[id]
        before = self._before.get(id)
        version = before.version + 1 if before is not None else 1
        if isinstance(element, Link):
            self._links.pop((element.subject, element.predicate, element.object), None)
        self._put(
            replace(element, attributes=attributes, metadata=metadata, version=version, updated_at=self._now, **fields)
        )

    def remove(self, id: str) -> None:
        """Remove an element that was loaded."""
        element = self._current.pop(id)
        if isinstance(element, Concept):
            self._concepts.pop((element.type, element.name), None)
        elif self._links.get((element.subject, element.predicate, element.object)) == id:
            del self._links[element.subject, element.predicate, element.object]

    def restore(self, element: Element, version: int) -> None:
        """Bring back an element that was removed, under its old id and with the given version."""
        self._restored.append(element.id)
        self._put(replace(element, version=version, updated_at=self._now))

    def changes(self, writer: Writer) -> tuple[list[Change], dict[str, str]]:
        """All changes, with real ids for what is new; and the map from provisional to real ids."""
        real = self._allocate(writer)
        changes = [
            Change(before, self._current.get(id))
            for id, before in self._before.items()
            if self._current.get(id) is not before
        ]
        changes.extend(Change(None, self._current[id]) for id in self._restored)
        for id in self._created:
            element = replace(self._current[id], id=real[id])
            if isinstance(element, Link):
                element.subject = real.get(element.subject, element.subject)
                element.object = real.get(element.object, element.object)
            changes.append(Change(None, element))
        return changes, real

    def _allocate(self, writer: Writer) -> dict[str, str]:
        if not self._created:
            return {}
        concepts = [id for id in self._created if isinstance(self._current[id], Concept)]
        links = [(id, found.predicate) for id in self._created if isinstance(found := self._current[id], Link)]
        concept_ids, link_ids = writer.allocate(len(concepts), [predicate for _, predicate in links])
        return dict(zip([*concepts, *(id for id, _ in links)], [*concept_ids, *link_ids], strict=True))


def _differences(wanted: dict[str, Json], found: dict[str, Json]) -> dict[str, Json]:
    return {
        key: copy.deepcopy(value) for key, value in wanted.items() if key not in found or not _same(value, found[key])
    }


def _same(left: Json, right: Json) -> bool:
    """Equal as JSON: ``true`` is not ``1`` and ``1`` is not ``1.0``."""
    return left is right or (type(left) is type(right) and dumps(left) == dumps(right))
