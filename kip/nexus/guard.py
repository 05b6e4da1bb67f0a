"""What no command may touch: protected structures, append-only elements, the reserved namespace.

Implements KIP_3004's scope (SPECIFICATION.md 4.2.4, Appendix 4), decisions 11 and 12, and 2.11.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kip.backends.base import Change, Concept, Element, Link
from kip.errors import KipError
from kip.nexus.schema import CONCEPT_TYPE, PROPOSITION_TYPE, Registry

PROTECTED: frozenset[tuple[str, str]] = frozenset(
    {
        (CONCEPT_TYPE, CONCEPT_TYPE),
        (CONCEPT_TYPE, PROPOSITION_TYPE),
        (CONCEPT_TYPE, "Domain"),
        (PROPOSITION_TYPE, "belongs_to_domain"),
        ("Domain", "CoreSchema"),
        ("Domain", "Unsorted"),
        ("Domain", "Archived"),
        ("Domain", "System"),
    }
)
"""Concepts that cannot be changed in any way once they exist."""

ACTORS: frozenset[tuple[str, str]] = frozenset({("Person", "$self"), ("Person", "$system")})
"""Concepts whose identity and core directives cannot be changed; their other attributes evolve."""

DIRECTIVES = "core_directives"
MAX_NAME_BYTES = 512


def is_protected(concept: Concept) -> bool:
    """True for meta-types, foundational definitions and core domains."""
    return (concept.type, concept.name) in PROTECTED


def is_actor(concept: Concept) -> bool:
    """True for ``$self`` and ``$system``."""
    return (concept.type, concept.name) in ACTORS


def check_name(name: str) -> None:
    """A name is not blank and at most 512 bytes of UTF-8 (decision 11); raises KIP_2002."""
    if not name.strip():
        raise KipError("KIP_2002", "a concept's name cannot be blank", hint="Give it a name that tells it apart.")
    if len(name.encode()) > MAX_NAME_BYTES:
        hint = "Keep the long text in an attribute."
        raise KipError("KIP_2002", f"a concept's name is at most {MAX_NAME_BYTES} bytes", hint=hint)


def check_metadata_keys(keys: Iterable[str]) -> None:
    """Metadata keys beginning with ``_`` belong to the engine (2.11.1); raises KIP_2002."""
    for key in keys:
        if key.startswith("_"):
            raise KipError("KIP_2002", f"the metadata key {key!r} is maintained by the engine and cannot be written")


def check_changes(changes: Sequence[Change], registry: Registry, subjects: dict[str, Concept]) -> None:
    """Raise KIP_3004 if a change touches something protected or append-only.

    ``subjects`` has the concepts, by id, that removed links start from.
    """
    for change in changes:
        if change.before is None:
            continue
        _check_append_only(change, registry)
        if isinstance(change.before, Concept):
            _check_concept(change.before, change.after)
        elif change.after is None:
            subject = subjects.get(change.before.subject)
            if subject is not None and is_protected(subject):
                raise _immutable(f"links of {_label(subject)} cannot be deleted")


def _check_concept(before: Concept, after: Element | None) -> None:
    if is_protected(before):
        raise _immutable(f"{_label(before)} is part of the system and cannot be changed")
    if not is_actor(before):
        return
    if after is None:
        raise _immutable(f"{_label(before)} cannot be removed")
    if after.attributes.get(DIRECTIVES) != before.attributes.get(DIRECTIVES):
        raise _immutable(f"the {DIRECTIVES} of {_label(before)} cannot be changed")


def _check_append_only(change: Change, registry: Registry) -> None:
    before = change.before
    if isinstance(before, Concept):
        if registry.append_only("type", before.type):
            raise _immutable(f"{before.type} is append-only: {before.name!r} cannot be changed or removed")
    elif isinstance(before, Link) and registry.append_only("predicate", before.predicate):
        raise _immutable(f"{before.predicate} is append-only: {before.id} cannot be changed or removed")


def _label(concept: Concept) -> str:
    return f"{concept.type} {concept.name!r}"


def _immutable(message: str) -> KipError:
    return KipError("KIP_3004", message)
