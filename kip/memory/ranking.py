"""How well a remembered run fits the situation at hand (document 003, section 17).

The rank is a weighted mean of named factors, so that it can be shown and argued with. A factor that the
request gives nothing to compare for does not count at all, instead of counting as zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from kip.memory.briefing import Factors
from kip.memory.retention import effective_strength
from kip.memory.situation import Situation, of_experience
from kip.memory.speech import content_words, topical_words
from kip.values import Json

WEIGHTS: Mapping[str, float] = {"goal": 0.5, "identifiers": 0.25, "state": 0.15, "tools": 0.1, "strength": 0.1}
"""What each factor counts. Goal and circumstances decide; tools and strength break ties."""

SAME_GOAL = 0.35
"""From this affinity on two runs are taken to have pursued the same goal."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A remembered run as SEARCH returned it, with its situation and its rank."""

    name: str
    attributes: Mapping[str, Json]
    situation: Situation
    factors: Factors
    rank: float

    @property
    def success(self) -> bool | None:
        """Whether its goal was reached; None when nobody said."""
        value = self.attributes.get("success")
        return value if isinstance(value, bool) else None


def candidate(
    name: str,
    attributes: Mapping[str, Json],
    metadata: Mapping[str, Json],
    score: float,
    asked: Situation,
    now: datetime,
) -> Candidate:
    """A run ranked for ``asked``; ``score`` is its search score for the goal."""
    situation = of_experience(attributes)
    factors = Factors(
        goal=round(_goal_likeness(score, asked, situation), 4),
        identifiers=_share(asked.identifiers, situation.identifiers),
        state=_state_likeness(asked.state, situation.state),
        tools=_share(situation.tools, asked.tools) if asked.tools else None,
        strength=round(effective_strength(metadata, now), 4),
    )
    return Candidate(name, attributes, situation, factors, _mean(factors))


def _goal_likeness(score: float, asked: Situation, situation: Situation) -> float:
    """How far two goals are the same, from both sides.

    ``score`` says how much of what is asked the run covers. A long, detailed request is covered by no run,
    so what it covers of the run's own, often shorter, goal counts too; both have to be there for it to help.
    """
    own = set(topical_words(situation.goal))
    covered = len(own & asked.words) / len(own) if own else 0.0
    return max(score, math.sqrt(score * covered))


def _share(wanted: frozenset[str], present: frozenset[str]) -> float | None:
    return round(len(wanted & present) / len(wanted), 4) if wanted else None


def _state_likeness(wanted: frozenset[str], present: frozenset[str]) -> float | None:
    """How far each wanted ``key=value`` holds in the other state, on average.

    Equal values count fully; texts under the same key count by their shared words, because two reports of
    one symptom are seldom worded alike.
    """
    if not wanted:
        return None
    return round(sum(_best_match(pair, present) for pair in wanted) / len(wanted), 4)


def _best_match(pair: str, present: frozenset[str]) -> float:
    if pair in present:
        return 1.0
    key, _, value = pair.partition("=")
    words = set(content_words(value))
    others = (set(content_words(other.partition("=")[2])) for other in present if other.startswith(f"{key}="))
    return max((len(words & other) / len(words | other) for other in others if words and other), default=0.0)


def _mean(factors: Factors) -> float:
    counted = [(WEIGHTS[name], value) for name, value in factors.model_dump().items() if value is not None]
    return sum(weight * value for weight, value in counted) / sum(weight for weight, _ in counted)


def affinity(left: Situation, right: Situation) -> float:
    """How far two runs were about the same thing, 0 to 1: by the words of their goals and by identifiers."""
    parts = [_overlap(left.words, right.words), _overlap(left.identifiers, right.identifiers)]
    known = [part for part in parts if part is not None]
    return sum(known) / len(known) if known else 0.0


def _overlap(left: frozenset[str], right: frozenset[str]) -> float | None:
    """Shared features against the smaller set, because one of two runs often says less."""
    return len(left & right) / min(len(left), len(right)) if left and right else None
