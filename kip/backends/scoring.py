"""Absolute scores of keyword search (decision 9): lexical coverage of the query, in [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Mapping

from kip.compile.text_query import Texts, present

_OTHER_WEIGHT = 0.8
"""What a token counts that is found in the text of an element, but not in what names it."""


def weight(documents: int, total: int) -> float:
    """Inverse document frequency: the weight of a token that so many of all documents hold."""
    return math.log(1 + (total - documents + 0.5) / (documents + 0.5)) if documents < total + 0.5 else 0.01


def coverage(texts: Texts, weights: Mapping[str, float]) -> float:
    """The share of the query's weight that an element covers, 0-1."""
    whole = sum(weights.values())
    if not whole:
        return 0.0
    # A line break joins no tokens, so all texts can be looked through as one.
    naming, other = ("\n".join(group) for group in texts)
    named = present(weights, naming)
    rest = [token for token in weights if token not in named]
    found = present(rest, other) if rest else set[str]()
    covered = sum(weights[token] for token in named) + _OTHER_WEIGHT * sum(weights[token] for token in found)
    return min(1.0, covered / whole)
