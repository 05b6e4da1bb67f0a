"""Seeded random graphs and values: small, but with everything in them that stores tend to get wrong.

``random.Random`` and not Hypothesis: a query takes microseconds to make, and a seed tells all that is needed to
make it again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

from kip.values import Json

TYPES = ("Alpha", "Beta", "Gamma")
PREDICATES = ("knows", "part_of", "causes", "says")
UNUSED_TYPE, UNUSED_PREDICATE = "Unused", "unused"
NAMES = (
    "a",
    "A",
    "ab",
    "b c",
    "é",
    "e\u0301",
    "日本",
    "\U0001d4d0",
    "\uffee",
    "C:2",
    "knows",
    "Alpha",
    "1",
    "$x",
    "it's",
    'q"q',
)

STRINGS = (
    *NAMES,
    "",
    " ",
    "a.b",
    "aab",
    "tab\tnew\nline",
    "nul\x00nul",
    "\U0001f600",
    "\U0001f600z",
    "\uffff",
    "true",
    "null",
    "[1]",
)
INTEGERS = (0, 1, -1, 2, 3, 7, 10, 2**31, 2**53, -(2**53), 2**53 - 1, 2**53 + 1, 2**62, -(2**63), 2**63, 2**63 + 1)
WIDE = (2**64, -(2**70), 2**70, 2**70 + 1, 10**30, -(10**400))
FLOATS = (0.0, -0.0, 1.0, 0.5, -1.5, 2.0, 0.1, 1e-9, 1e16, 2.5e30, -(2.0**53), 9007199254740992.0, 2.0**70, 1e308)
SMALL = (0, 1, 1.0, 2, 2.0, 3)
ARRAYS: tuple[Json, ...] = ([], [1], [1.0], ["a"], ["a", None, {"k": [True]}], [[1, 2], []])
OBJECTS: tuple[Json, ...] = ({}, {"k": 1}, {"k": "v", "a": [1]}, {"é": None, "": 0})

ATTRIBUTES = ("n", "s", "m", "b", "tags", "o")
METADATA = ("confidence", "source", "m")


def dice(seed: object) -> Random:
    """Random numbers that are the same for the same seed."""
    return Random(str(seed))  # noqa: S311


def value(rng: Random) -> Json:
    """Any JSON value."""
    kinds = (INTEGERS, WIDE, FLOATS, STRINGS, STRINGS, (True, False), (None,), ARRAYS, OBJECTS)
    return rng.choice(rng.choice(kinds))


def primitive(rng: Random) -> Json:
    """A number, string, boolean or null; the small ones more often, so that values meet."""
    if rng.random() < 0.6:
        return rng.choice((0, 1, 2, 3, 1.0, 0.5, "1", "true", "a", "ab", "é", True, False, None))
    return rng.choice(rng.choice((INTEGERS, WIDE, FLOATS, STRINGS, (True, False), (None,))))


def properties(rng: Random, keys: tuple[str, ...]) -> dict[str, Json]:
    """Attributes or metadata: some keys of one type, some of any, each absent now and then."""
    makers = {
        "n": lambda: rng.choice(rng.choice((INTEGERS, WIDE, FLOATS, SMALL, SMALL))),
        "s": lambda: rng.choice(STRINGS),
        "b": lambda: rng.random() < 0.5,
        "tags": lambda: rng.choice(ARRAYS),
        "o": lambda: rng.choice(OBJECTS),
        "confidence": lambda: rng.choice((0, 0.5, 0.9, 1, None)),
        "source": lambda: rng.choice(("web", "user", "é", None)),
        "m": lambda: value(rng) if rng.random() < 0.5 else primitive(rng),
    }
    return {key: makers[key]() for key in keys if rng.random() < 0.6}


@dataclass
class ConceptSpec:
    type: str
    name: str
    attributes: dict[str, Json]
    metadata: dict[str, Json]


@dataclass
class LinkSpec:
    """``subject`` and ``object`` are numbers of elements: concepts first, then links in order."""

    subject: int
    predicate: str
    object: int
    attributes: dict[str, Json]
    metadata: dict[str, Json]


@dataclass
class GraphSpec:
    """A graph that is still to be stored. ``touched`` are the elements that get a second version."""

    concepts: list[ConceptSpec] = field(default_factory=list)
    links: list[LinkSpec] = field(default_factory=list)
    touched: list[int] = field(default_factory=list)


def graph(rng: Random, concepts: tuple[int, int] = (10, 30), links: tuple[int, int] = (20, 60)) -> GraphSpec:
    """A graph with cycles, several predicates between two elements, and links about links about links."""
    spec = GraphSpec()
    identities = [(type, name) for type in TYPES for name in NAMES]
    rng.shuffle(identities)
    for type, name in identities[: rng.randint(*concepts)]:
        spec.concepts.append(ConceptSpec(type, name, properties(rng, ATTRIBUTES), properties(rng, METADATA)))
    count = len(spec.concepts)
    # Few concepts take part in most links, so that paths and cycles are long enough to go wrong.
    hubs = rng.sample(range(count), min(count, rng.randint(4, 8)))
    triples: set[tuple[int, str, int]] = set()
    depth = [0] * count
    for _ in range(rng.randint(*links)):
        ends: list[int] = []
        for _ in range(2):
            higher = [n for n in range(count, len(depth)) if depth[n] < 2]
            if higher and rng.random() < 0.15:
                ends.append(rng.choice(higher))
            else:
                ends.append(rng.choice(hubs) if rng.random() < 0.7 else rng.randrange(count))
        triple = (ends[0], rng.choice(PREDICATES), ends[1])
        if ends[0] == ends[1] or triple in triples:
            continue
        triples.add(triple)
        depth.append(1 + max((depth[end] for end in ends if end >= count), default=0))
        spec.links.append(LinkSpec(*triple, properties(rng, ATTRIBUTES), properties(rng, METADATA)))
    spec.touched = rng.sample(range(len(depth)), len(depth) // 4)
    return spec


def text(value: Any) -> str:
    """A value as it is written in a command."""
    return json.dumps(value, ensure_ascii=False)
