"""Vectors of the SQLite store, searched in matrices that are refreshed across processes."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

import apsw

from kip.backends.base import Similar
from kip.embedding.matrix import Entry, VectorMatrix


class VectorCache:
    """The matrices of all spaces and models that this process has searched."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._matrices: dict[tuple[int, str], VectorMatrix] = {}

    def nearest(self, connection: apsw.Connection, space: int, search: Similar) -> list[tuple[int, float]]:
        """Keys and cosines of the nearest concepts."""
        with self._lock:
            matrix = self._current(connection, space, search)
            return matrix.nearest(search.vector, search.scope, search.limit)

    def similarities(
        self, connection: apsw.Connection, space: int, search: Similar, keys: Iterable[int]
    ) -> Mapping[int, float]:
        """Cosines of some concepts; those without a vector are left out."""
        with self._lock:
            return self._current(connection, space, search).similarities(search.vector, keys)

    def _current(self, connection: apsw.Connection, space: int, search: Similar) -> VectorMatrix:
        matrix = self._matrices.get((space, search.model))
        if matrix is None:
            matrix = self._matrices[space, search.model] = VectorMatrix(len(search.vector))
        rows: Any = connection.execute(
            "SELECT sequence, key, scope, vector FROM embedding WHERE space = ? AND model = ? AND sequence > ? "
            "ORDER BY sequence",
            (space, search.model, matrix.sequence),
        ).fetchall()
        if rows:
            matrix.apply((Entry(*row[1:]) for row in rows), rows[-1][0])
        return matrix
