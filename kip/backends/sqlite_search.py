"""The keyword index of the SQLite store (decision 9): FTS5 over tokens made in Python.

Every indexed token carries the number of its space, so that neither hits nor statistics cross spaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import apsw

from kip.backends import ids
from kip.backends.base import Change, Concept, Element, Hit, TextSearch
from kip.backends.scoring import coverage, weight
from kip.backends.sqlite_rows import CONCEPT_COLUMNS, LINK_COLUMNS, concept_of, link_of
from kip.compile.fragment import fts_terms
from kip.compile.text_query import Texts, concept_texts, encode, link_texts, tokens
from kip.values import dumps

_CANDIDATES = 3
"""How many times LIMIT candidates are scored, after the index has chosen them."""

_LEAST_CANDIDATES = 30

BUDGET = 2_000
"""How many documents a search with LIMIT ranks. Tokens that more documents hold choose no candidates where rarer
ones do; where all are common, the newest documents that hold them are taken."""


COSTLY = 1_000
"""From how many documents on the count of a token is remembered: the index counts by going through them all."""

_DRIFT = 1.1


class Frequencies:
    """Counts of common tokens that this process has asked for; good until the number of documents has moved by a
    tenth. Rare tokens are counted anew each time."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int]] = {}

    def get(self, term: str, total: int) -> int | None:
        """The remembered count of a term, unless there are too many more or fewer documents now."""
        count, then = self._counts.get(term, (0, 0))
        return count if count and then / _DRIFT <= total <= then * _DRIFT else None

    def put(self, term: str, count: int, total: int) -> None:
        """Remember the count of a common term."""
        if count >= COSTLY:
            self._counts[term] = count, total


def texts_of(element: Element) -> Texts:
    """The grounding fields of an element."""
    if isinstance(element, Concept):
        return concept_texts(element.name, element.attributes)
    return link_texts(element.predicate, element.attributes)


class SearchIndex:
    """The index as seen by one space."""

    def __init__(self, connection: apsw.Connection, space: int, frequencies: Frequencies | None = None) -> None:
        self._connection = connection
        self._space = space
        self._frequencies = frequencies or Frequencies()

    def update(self, changes: Sequence[Change]) -> None:
        """Keep the index in step with changed elements."""
        gone: list[tuple[int | None]] = []
        come: list[tuple[int | None, str, str, str]] = []
        growth = {"concept": 0, "link": 0}
        for change in changes:
            old = self.document(change.before) if change.before is not None else None
            new = self.document(change.after) if change.after is not None else None
            if old == new:
                continue
            key = ids.element_key(change.element.id)
            kind = "concept" if isinstance(change.element, Concept) else "link"
            growth[kind] += (new is not None) - (old is not None)
            if old is not None:
                gone.append((key,))
            if new is not None:
                come.append((key, *new))
        if gone:
            self._connection.executemany("DELETE FROM search WHERE rowid = ?", gone).fetchall()
        if come:
            insert = "INSERT INTO search (rowid, named, tokens, scope) VALUES (?, ?, ?, ?)"
            self._connection.executemany(insert, come).fetchall()
        for kind, number in growth.items():
            if number:
                grow = f"UPDATE space SET {kind}_documents = {kind}_documents + ? WHERE number = ?"
                self._connection.execute(grow, (number, self._space))

    def document(self, element: Element) -> tuple[str, str, str] | None:
        """Named tokens, other tokens and scope; None for a link without text of its own, which is found by its
        predicate."""
        naming, other = texts_of(element)
        kind, name = ("concept", element.type) if isinstance(element, Concept) else ("link", element.predicate)
        if kind == "link" and not other:
            return None
        return self._terms(kind, naming), self._terms(kind, other), f"{self._all(kind)} {self._scope(kind, name)}"

    def _terms(self, kind: str, texts: Iterable[str]) -> str:
        return " ".join(self._term(kind, token) for text in texts for token in tokens(text))

    def _term(self, kind: str, token: str) -> str:
        return f"{self._all(kind)}x{encode(token)}"

    def _all(self, kind: str) -> str:
        """Held by every document of the kind; the prefix of all its terms."""
        return f"{self._space}{kind[0]}"

    def _scope(self, kind: str, name: str) -> str:
        # FTS5 folds ASCII case, so the capitals of a type are spelled out.
        return self._all(kind) + "s" + "".join(f"{ord(character):x}" for character in name)

    def find(self, search: TextSearch) -> list[Hit]:
        """Elements that hold at least one token, by coverage of the query, then by age."""
        counts = self._documents(search.kind, search.tokens)
        held = sorted((token for token in counts if counts[token]), key=lambda token: (counts[token], token))
        if not held:
            return []
        keys = self._keys(search, held, counts)
        weights = self._weights(search.kind, counts)
        hits = [Hit(element, coverage(texts_of(element), weights)) for element in self._read(search.kind, keys)]
        hits.sort(key=lambda hit: (-hit.score, ids.element_key(hit.element.id)))
        return hits if search.limit is None else hits[: search.limit]

    def _keys(self, search: TextSearch, held: list[str], counts: dict[str, int]) -> list[int]:
        """Keys of all documents with one of the tokens; with LIMIT those of the most promising ones."""
        if search.limit is None:
            return self._match(search, held, "OR", "rowid", None)
        wanted = max(_CANDIDATES * search.limit, _LEAST_CANDIDATES)
        rare: list[str] = []
        for token in held:
            if sum(counts[known] for known in rare) + counts[token] > BUDGET:
                break
            rare.append(token)
        if rare:
            return self._match(search, rare, "OR", "bm25(search, 4.0, 1.0, 0.0)", wanted)
        chosen = self._match(search, held, "OR", "rowid DESC", wanted, columns="named")
        chosen += self._match(search, held, "AND", "rowid DESC", wanted)
        if len(set(chosen)) < wanted:
            chosen += self._match(search, held, "OR", "rowid DESC", wanted)
        return list(dict.fromkeys(chosen))

    def _match(
        self,
        search: TextSearch,
        held: list[str],
        joined: Literal["AND", "OR"],
        order: str,
        limit: int | None,
        columns: str = "named tokens",
    ) -> list[int]:
        terms = [self._term(search.kind, token) for token in held]
        expression = fts_terms(columns, terms, joined)
        if search.scope is not None:
            expression = f"{fts_terms('scope', [self._scope(search.kind, search.scope)], 'OR')} AND {expression}"
        found: Any = self._connection.execute(
            f"SELECT rowid FROM search WHERE search MATCH ?1 ORDER BY {order} LIMIT ?2",
            (expression, -1 if limit is None else min(limit, 2**31)),
        ).fetchall()
        return [key for (key,) in found]

    def _read(self, kind: str, keys: list[int]) -> list[Element]:
        table, columns = ("concept", CONCEPT_COLUMNS) if kind == "concept" else ("link", LINK_COLUMNS)
        rows: Any = self._connection.execute(
            f"SELECT {columns} FROM json_each(?2) AS wanted CROSS JOIN {table} AS {table[0]} "
            f"ON {table[0]}.key = wanted.value WHERE {table[0]}.space = ?1",
            (self._space, dumps(list(keys))),
        ).fetchall()
        return [concept_of(row) if kind == "concept" else link_of(row) for row in rows]

    def weights(self, kind: str, wanted: Iterable[str]) -> dict[str, float]:
        """The weight of each token: rarer among the documents of the space is heavier."""
        return self._weights(kind, self._documents(kind, wanted))

    def _weights(self, kind: str, counts: dict[str, int]) -> dict[str, float]:
        total = self._total(kind)
        return {token: weight(count, total) for token, count in counts.items()}

    def _total(self, kind: str) -> int:
        row: Any = self._connection.execute(
            f"SELECT {kind}_documents FROM space WHERE number = ?", (self._space,)
        ).fetchall()
        return row[0][0]

    def _documents(self, kind: str, wanted: Iterable[str]) -> dict[str, int]:
        """How many documents hold each token."""
        total = self._total(kind)
        terms = {token: self._term(kind, token) for token in wanted}
        known = {term: self._frequencies.get(term, total) for term in terms.values()}
        found: Any = self._connection.execute(
            "SELECT t.term, t.doc FROM json_each(?) AS wanted CROSS JOIN search_terms AS t ON t.term = wanted.value",
            (dumps([term for term, count in known.items() if count is None]),),
        ).fetchall()
        for term, count in found:
            known[term] = count
            self._frequencies.put(term, count, total)
        return {token: known[term] or 0 for token, term in terms.items()}
