"""The keyword index of the SQLite store (decision 9): FTS5 over tokens made in Python.

Every indexed token carries the number of its space, so that neither hits nor statistics cross spaces.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from kip.backends import ids
from kip.backends.base import Change, Concept, Hit, TextSearch
from kip.backends.sqlite_rows import CONCEPT_COLUMNS, concept_of
from kip.compile.fragment import fts_any
from kip.compile.text_query import encode, indexed_texts, token_set, tokens

_OTHER_WEIGHT = 0.8
"""What a token counts that is found in the text but not in the name or an alias."""

_CANDIDATES = 3
"""How many times LIMIT candidates are ranked by coverage, after the index has cut by bm25."""


class SearchIndex:
    """The index as seen by one space."""

    def __init__(self, connection: apsw.Connection, space: int) -> None:
        self._connection = connection
        self._space = space

    def update(self, changes: Sequence[Change]) -> None:
        """Keep the index in step with changed concepts."""
        gone: list[tuple[int]] = []
        come: list[tuple[int, str, str]] = []
        for change in changes:
            before, after = change.before, change.after
            if not isinstance(change.element, Concept):
                continue
            old = self._document(before) if isinstance(before, Concept) else None
            new = self._document(after) if isinstance(after, Concept) else None
            if old == new:
                continue
            key = ids.element_key(change.element.id)
            assert key is not None
            if old is not None:
                gone.append((key,))
            if new is not None:
                come.append((key, *new))
        if gone:
            self._connection.executemany("DELETE FROM search WHERE rowid = ?", gone).fetchall()
        if come:
            self._connection.executemany("INSERT INTO search (rowid, tokens, scope) VALUES (?, ?, ?)", come).fetchall()

    def _term(self, token: str) -> str:
        return f"{self._space}x{encode(token)}"

    def _document(self, concept: Concept) -> tuple[str, str]:
        naming, other = indexed_texts(concept.name, concept.attributes)
        words = [self._term(token) for text in (*naming, *other) for token in tokens(text)]
        return " ".join(words), f"{self._all()} {self._type(concept.type)}"

    def _all(self) -> str:
        return f"{self._space}y"

    def _type(self, type: str) -> str:
        # FTS5 folds ASCII case, so a type's capitals are spelled out.
        return f"{self._space}t" + "".join(f"{ord(character):x}" for character in type)

    def find(self, search: TextSearch) -> list[Hit]:
        """Concepts that hold at least one token, by coverage of the query, then by age.

        The score is absolute: the share of the query's weight (inverse document frequency) that the concept
        covers, tokens outside of name and aliases counting less.
        """
        wanted = list(dict.fromkeys(search.tokens))
        if not wanted:
            return []
        scope = [self._all() if search.type is None else self._type(search.type)]
        expression = f"{fts_any('scope', scope)} AND {fts_any('tokens', [self._term(token) for token in wanted])}"
        cut = "" if search.limit is None else "LIMIT ?3"
        candidates = [] if search.limit is None else [max(_CANDIDATES * search.limit, 50)]
        rows = self._connection.execute(
            f"SELECT {CONCEPT_COLUMNS} FROM search JOIN concept AS c ON c.key = search.rowid "
            f"WHERE search MATCH ?2 AND c.space = ?1 ORDER BY bm25(search, 1.0, 0.0) {cut}",
            [self._space, expression, *candidates],
        ).fetchall()
        weights = self._weights(wanted)
        hits = [Hit(concept, _coverage(concept, weights)) for concept in map(concept_of, rows)]
        hits.sort(key=lambda hit: (-hit.score, ids.concept_key(hit.element.id)))
        return hits if search.limit is None else hits[: search.limit]

    def _weights(self, wanted: Iterable[str]) -> dict[str, float]:
        total = self._frequency(self._all())
        return {
            token: math.log(1 + (total - count + 0.5) / (count + 0.5))
            for token in wanted
            for count in (self._frequency(self._term(token)),)
        }

    def _frequency(self, term: str) -> int:
        found: Any = self._connection.execute("SELECT doc FROM search_terms WHERE term = ?", (term,)).fetchall()
        return found[0][0] if found else 0


def _coverage(concept: Concept, weights: dict[str, float]) -> float:
    naming, other = indexed_texts(concept.name, concept.attributes)
    named = token_set(naming)
    text = token_set(other)
    covered = sum(
        weight * (1.0 if token in named else _OTHER_WEIGHT)
        for token, weight in weights.items()
        if token in named or token in text
    )
    whole = sum(weights.values())
    return min(1.0, covered / whole) if whole else 0.0
