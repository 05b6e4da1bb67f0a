"""What an embedder is, and the form in which its vectors are stored."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Protocol

SCALE = 127
"""Components of a unit vector are stored as signed bytes, this many steps to one."""


class Embedder(Protocol):
    """Turns texts into vectors of one model.

    ``name`` tells the model and its version: vectors of different names are never compared. ``dimension`` is the
    number of components.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text, of any length but not all zero for text that has words."""
        ...


def pack(vector: Sequence[float]) -> bytes:
    """A vector, brought to unit length, as signed bytes (decision 16); all zeros stay zeros."""
    length = math.sqrt(math.fsum(component * component for component in vector))
    if not length or not math.isfinite(length):
        return bytes(len(vector))
    return array("b", (round(SCALE * component / length) for component in vector)).tobytes()
