"""A synthetic graph for the engine's benchmark: streamed, deterministic, the same for kip and for the hand-written SQL.

N Person concepts with eight attributes, max(20, N/20) Preference and N/10 Event; each Person prefers two Preferences
and knows an earlier Person, each Event involves three Persons. Cities, preferences and words are skewed: the rank of
a choice is spread evenly on a logarithmic scale.

Nothing is kept while it is generated, so that a process that loads the graph shows the memory of its store.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

SEED = 48_611
BATCH = 100
"""Blocks of one UPSERT command."""

CITIES, DEPARTMENTS, WORDS = 50, 20, 2000
CATEGORIES = ("tea", "trails", "radio", "chess", "bread", "maps", "clay", "film")
_PERSON_CLASSES = ("Human", "Human", "Human", "AI", "Organization")
_EVENT_CLASSES = ("Conversation", "Meeting", "Review", "Workshop")
_CONSONANTS, _VOWELS = "bdfghklmnprstvz", "aeiou"

METADATA = {"source": "benchmark", "author": "$self", "confidence": 0.9}

SCHEMA = (
    'UPSERT { CONCEPT ?person { {type: "$ConceptType", name: "Person"}'
    ' SET ATTRIBUTES { indexes: [["city", "score"]] } }'
    ' CONCEPT ?knows { {type: "$PropositionType", name: "knows"}'
    ' SET ATTRIBUTES { description: "Who has met whom.", subject_types: ["Person"], object_types: ["Person"] } } }'
)
"""What the graph needs beside the definitions that every new store has: an index on two attributes, a predicate."""

Identity = tuple[str, str]
"""(type, name) of a concept."""


@dataclass(frozen=True, slots=True)
class Block:
    """One concept with its attributes and its links, as (predicate, target)."""

    type: str
    name: str
    attributes: dict[str, str | int | float]
    links: tuple[tuple[str, Identity], ...] = ()


def preferences(n: int) -> int:
    """How many Preferences a graph of ``n`` Persons has."""
    return max(20, n // 20)


def events(n: int) -> int:
    """How many Events a graph of ``n`` Persons has."""
    return n // 10


def person(number: int) -> Identity:
    return "Person", f"person-{number:06d}"


def preference(number: int) -> Identity:
    return "Preference", f"preference-{number:05d}"


def event(number: int) -> Identity:
    return "Event", f"event-{number:06d}"


def city(rank: int) -> str:
    """The name of a city; rank 0 is the most common."""
    return f"town{rank:02d}"


def word(rank: int) -> str:
    """A word of the vocabulary; rank 0 is the most common."""
    syllables = len(_CONSONANTS) * len(_VOWELS)
    parts: list[str] = []
    for _ in range(3):
        rank, syllable = divmod(rank, syllables)
        parts.append(_CONSONANTS[syllable % len(_CONSONANTS)] + _VOWELS[syllable // len(_CONSONANTS)])
    return "".join(parts) + "x"


class _Source:
    """Random choices in a fixed order."""

    def __init__(self, seed: int) -> None:
        self._next = random.Random(seed).random  # noqa: S311 - repeatable data, nothing secret

    def below(self, bound: int) -> int:
        return int(self._next() * bound)

    def skewed(self, bound: int) -> int:
        """A rank below ``bound``, low ranks far more often."""
        return min(bound, int(math.exp(self._next() * math.log(bound + 1)))) - 1

    def text(self, length: int) -> str:
        return " ".join(word(self.skewed(WORDS)) for _ in range(length))

    def several(self, count: int, bound: int) -> list[int]:
        """``count`` different numbers below ``bound``."""
        found: dict[int, None] = {}
        while len(found) < count:
            found[self.below(bound)] = None
        return list(found)

    def person(self, identity: Identity, n: int, known: int | None) -> Block:
        """A Person of a graph of ``n``; it knows the Person ``known``."""
        attributes = {
            "person_class": _PERSON_CLASSES[self.below(len(_PERSON_CLASSES))],
            "handle": f"@{identity[1]}",
            "status": "active",
            "age": 18 + self.below(72),
            "city": city(self.skewed(CITIES)),
            "dept": f"unit{self.below(DEPARTMENTS):02d}",
            "score": round(self._next() * 1000, 3),
            "persona": self.text(12),
        }
        liked = dict.fromkeys((self.skewed(preferences(n)), *self.several(2, preferences(n))))
        links = [("prefers", preference(number)) for number in islice(liked, 2)]
        if known is not None:
            links.append(("knows", person(known)))
        return Block(*identity, attributes, tuple(links))

    def preference(self, number: int) -> Block:
        category = CATEGORIES[self.below(len(CATEGORIES))]
        attributes = {"description": self.text(6), "category": category, "evidence_count": 1 + self.below(9)}
        return Block(*preference(number), attributes)

    def event(self, number: int, n: int) -> Block:
        start = f"2026-{1 + self.below(12):02d}-{1 + self.below(28):02d}T{self.below(24):02d}:00:00Z"
        attributes = {
            "event_class": _EVENT_CLASSES[self.below(len(_EVENT_CLASSES))],
            "start_time": start,
            "content_summary": self.text(15),
        }
        return Block(*event(number), attributes, tuple(("involves", person(who)) for who in self.several(3, n)))


def graph(n: int) -> Iterator[Block]:
    """All blocks of a graph, those that are referred to before those that refer to them."""
    source = _Source(SEED)
    for number in range(preferences(n)):
        yield source.preference(number)
    for number in range(n):
        yield source.person(person(number), n, source.below(number) if number else None)
    for number in range(events(n)):
        yield source.event(number, n)


def newcomers(n: int, prefix: str) -> Iterator[Block]:
    """Persons that the graph does not have, with three links each; without end."""
    source = _Source(SEED + 1)
    number = 0
    while True:
        yield source.person(("Person", f"{prefix}-{number:06d}"), n, source.below(n))
        number += 1


def batches(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Blocks by the command; a command has one type, as a capsule that a person writes would."""
    batch: list[Block] = []
    for block in blocks:
        if len(batch) == BATCH or (batch and batch[-1].type != block.type):
            yield batch
            batch = []
        batch.append(block)
    if batch:
        yield batch


def capsule(blocks: list[Block]) -> str:
    """The blocks as one UPSERT; what an earlier block of it defines is referred to by handle."""
    handles: dict[Identity, str] = {}
    lines = ["UPSERT {"]
    for number, block in enumerate(blocks):
        handle = f"?b{number}"
        lines.append(f"  CONCEPT {handle} {{")
        lines.append(f"    {_matcher((block.type, block.name))}")
        lines.append(f"    SET ATTRIBUTES {_object(block.attributes)}")
        if block.links:
            links = " ".join(f'("{name}", {handles.get(to) or _matcher(to)})' for name, to in block.links)
            lines.append(f"    SET PROPOSITIONS {{ {links} }}")
        lines.append("  }")
        handles[block.type, block.name] = handle
    lines.append(f"}} WITH METADATA {_object(METADATA)}")
    return "\n".join(lines)


def _matcher(identity: Identity) -> str:
    return f"{{type: {json.dumps(identity[0])}, name: {json.dumps(identity[1])}}}"


def _object(values: dict[str, str | int | float]) -> str:
    return "{ " + ", ".join(f"{key}: {json.dumps(value)}" for key, value in values.items()) + " }"


def spread(count: int, bound: int) -> list[int]:
    """``count`` numbers below ``bound``, spread over all of it."""
    return [(2 * step + 1) * bound // (2 * count) for step in range(count)]
