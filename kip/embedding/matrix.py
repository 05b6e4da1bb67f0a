"""Brute-force search among the vectors of one space, held as one matrix of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kip.embedding.protocol import SCALE

_GROWTH = 1.5
_CHUNK = 16_384
"""How many vectors are widened to floats at a time."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored vector: the element's key, its type or predicate, and the packed vector (None: removed)."""

    key: int
    scope: str
    vector: bytes | None


class VectorMatrix:
    """Keys, scopes and vectors of one space and model.

    100,000 vectors of 256 components take about 26 MB. ``sequence`` is how far the store's log of vectors has been
    read: :meth:`apply` takes what came after it.
    """

    def __init__(self, dimension: int) -> None:
        self.sequence = 0
        self._rows = 0
        self._keys = np.zeros(16, dtype=np.int64)
        self._scopes = np.zeros(16, dtype=np.int32)
        self._vectors = np.zeros((16, dimension), dtype=np.int8)
        self._row_of: dict[int, int] = {}
        self._scope_numbers: dict[str, int] = {}

    def apply(self, entries: Iterable[Entry], sequence: int) -> None:
        """Take over entries in the order in which they were written."""
        for entry in entries:
            if entry.vector is None or len(entry.vector) != self._vectors.shape[1]:
                self._drop(entry.key)
            else:
                self._put(entry.key, entry.scope, entry.vector)
        self.sequence = sequence

    def _put(self, key: int, scope: str, vector: bytes) -> None:
        row = self._row_of.get(key)
        if row is None:
            row = self._rows
            if row == len(self._keys):
                self._grow()
            self._rows += 1
            self._row_of[key] = row
            self._keys[row] = key
        self._scopes[row] = self._scope_numbers.setdefault(scope, len(self._scope_numbers))
        self._vectors[row] = np.frombuffer(vector, dtype=np.int8)

    def _grow(self) -> None:
        size = int(len(self._keys) * _GROWTH) + 1
        for name in ("_keys", "_scopes", "_vectors"):
            old: npt.NDArray[np.generic] = getattr(self, name)
            grown = np.zeros((size, *old.shape[1:]), dtype=old.dtype)
            grown[: self._rows] = old[: self._rows]
            setattr(self, name, grown)

    def _drop(self, key: int) -> None:
        """The last row takes the place of the one that goes, so that rows stay together."""
        row = self._row_of.pop(key, None)
        if row is None:
            return
        self._rows -= 1
        last = self._rows
        if row != last:
            self._keys[row], self._scopes[row], self._vectors[row] = (
                self._keys[last],
                self._scopes[last],
                self._vectors[last],
            )
            self._row_of[int(self._keys[row])] = row

    def nearest(self, query: bytes, scope: str | None, limit: int | None) -> list[tuple[int, float]]:
        """Keys and cosine similarities of the nearest vectors, nearest first, then oldest first."""
        rows = np.arange(self._rows)
        if scope is not None:
            number = self._scope_numbers.get(scope, -1)
            rows = rows[self._scopes[: self._rows] == number]
        if not len(rows):
            return []
        scores = self._cosines(query, rows)
        if limit is not None and limit < len(rows):
            kept = np.argpartition(-scores, limit)[:limit]
            rows, scores = rows[kept], scores[kept]
        order = np.lexsort((self._keys[rows], -scores))
        return [(int(self._keys[rows[at]]), float(scores[at])) for at in order]

    def similarities(self, query: bytes, keys: Iterable[int]) -> dict[int, float]:
        """Cosine similarities of some keys; keys without a vector are left out."""
        known = [key for key in keys if key in self._row_of]
        if not known:
            return {}
        scores = self._cosines(query, np.array([self._row_of[key] for key in known]))
        return dict(zip(known, map(float, scores), strict=True))

    def _cosines(self, query: bytes, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        vector = np.frombuffer(query, dtype=np.int8).astype(np.float32)
        scores = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), _CHUNK):
            part = slice(start, start + _CHUNK)
            chosen = self._vectors[part] if len(rows) == self._rows else self._vectors[rows[part]]
            # The full matrix may have spare rows at its end.
            scores[part] = (chosen[: len(scores[part])].astype(np.float32) @ vector) / (SCALE * SCALE)
        return scores
