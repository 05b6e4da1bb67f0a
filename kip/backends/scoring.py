"""Absolute scores of keyword search (decision 9): lexical coverage of the query, in [0, 1].

Weights are whole numbers, so that a sum does not depend on its order and equal scores are equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from kip.compile.text_query import Texts, present

NAMED, OTHER = 5, 4
"""What a token counts, in parts of its weight: found in what names an element, or elsewhere in its text."""

_STEPS = 100_000


def weight(documents: int, total: int) -> int:
    """Inverse document frequency: the weight of a token that so many of all documents hold; at least 1."""
    if documents >= total:
        return 1
    return max(1, round(_STEPS * math.log(1 + (total - documents + 0.5) / (documents + 0.5))))


def share(covered: int, weights: Mapping[str, int]) -> float:
    """What part of the query's weight ``covered`` is, 0-1."""
    whole = NAMED * sum(weights.values())
    return covered / whole if whole else 0.0


def coverage(texts: Texts, weights: Mapping[str, int]) -> float:
    """The share of the query's weight that an element covers, 0-1."""
    # A line break joins no tokens, so all texts can be looked through as one.
    naming, other = ("\n".join(group) for group in texts)
    named = present(weights, naming)
    rest = [token for token in weights if token not in named]
    found = present(rest, other) if rest else set[str]()
    return share(sum(NAMED * weights[t] for t in named) + sum(OTHER * weights[t] for t in found), weights)
