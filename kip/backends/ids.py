"""Public ids and integer keys (decision 8): concepts have even keys, links odd ones.

``C:<key>`` names a concept, ``P:<key>:<predicate>`` a link, so that a bare key tells what it belongs to.
"""

from __future__ import annotations

import re

from kip.values import Json

_CONCEPT = re.compile(r"C:([1-9][0-9]{0,17})", re.ASCII)
_LINK = re.compile(r"P:([1-9][0-9]{0,17}):([A-Za-z_][A-Za-z0-9_]*)", re.ASCII)


def concept_id(key: int) -> str:
    """The id of the concept with an even key."""
    return f"C:{key}"


def link_id(key: int, predicate: str) -> str:
    """The id of the link with an odd key."""
    return f"P:{key}:{predicate}"


def concept_key(id: Json) -> int | None:
    """The key in a concept's id; None for anything else."""
    match = _CONCEPT.fullmatch(id) if isinstance(id, str) else None
    key = int(match[1]) if match else 1
    return key if key % 2 == 0 else None


def link_key(id: Json) -> tuple[int, str] | None:
    """Key and predicate in a link's id; None for anything else."""
    match = _LINK.fullmatch(id) if isinstance(id, str) else None
    return (int(match[1]), match[2]) if match and int(match[1]) % 2 == 1 else None


def element_key(id: Json) -> int | None:
    """The key in any id; None for anything else."""
    link = link_key(id)
    return link[0] if link else concept_key(id)
