"""The keyword index of the SQLite store (decision 9): FTS5 over tokens made in Python.

Every indexed token carries the number of its space, so that neither hits nor statistics cross spaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from kip.backends import ids
from kip.backends.base import Change, Concept, Element, Hit, TextSearch
from kip.backends.scoring import NAMED, OTHER, coverage, share, weight
from kip.backends.sqlite_rows import CONCEPT_COLUMNS, LINK_COLUMNS, concept_of, link_of
from kip.compile.fragment import fts_all
from kip.compile.text_query import Texts, concept_texts, encode, link_texts, tokens
from kip.values import dumps

BUDGET = 2_000
"""How many index entries a search with LIMIT adds up at first, rarest tokens first. Only where what is left out could
still change the answer all are added up."""

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
        come: list[tuple[int | None, str]] = []
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
                come.append((key, new))
        if gone:
            self._connection.executemany("DELETE FROM search WHERE rowid = ?", gone).fetchall()
        if come:
            self._connection.executemany("INSERT INTO search (rowid, terms) VALUES (?, ?)", come).fetchall()
        for kind, number in growth.items():
            if number:
                grow = f"UPDATE space SET {kind}_documents = {kind}_documents + ? WHERE number = ?"
                self._connection.execute(grow, (number, self._space))

    def document(self, element: Element) -> str | None:
        """The terms of an element, each once: its tokens, those that name it once more as such, and its scope.

        None for a link without text of its own, which is found by its predicate.
        """
        naming, other = texts_of(element)
        kind, name = ("concept", element.type) if isinstance(element, Concept) else ("link", element.predicate)
        if kind == "link" and not other:
            return None
        named = {token for text in naming for token in tokens(text)}
        every = named.union(token for text in other for token in tokens(text))
        terms = [self._all(kind), self._scope(kind, name)]
        terms += [self._term(kind, token) for token in every]
        terms += [self._name_term(kind, token) for token in named]
        return " ".join(sorted(terms))

    def _term(self, kind: str, token: str) -> str:
        return f"{self._all(kind)}x{encode(token)}"

    def _name_term(self, kind: str, token: str) -> str:
        return f"{self._all(kind)}n{encode(token)}"

    def _all(self, kind: str) -> str:
        """Held by every document of the kind; the prefix of all its terms."""
        return f"{self._space}{kind[0]}"

    def _scope(self, kind: str, name: str) -> str:
        # FTS5 folds ASCII case, so the capitals of a type are spelled out.
        return self._all(kind) + "s" + "".join(f"{ord(character):x}" for character in name)

    def find(self, search: TextSearch) -> list[Hit]:
        """Elements that hold at least one token, by coverage of the query, then oldest first."""
        counts = self._documents(search.kind, search.tokens)
        weights = self._weights(search.kind, counts)
        held = sorted((token for token in counts if counts[token]), key=lambda token: (counts[token], token))
        if not held:
            return []
        rare = self._rare(held, counts)
        if search.limit is not None and len(rare) < len(held):
            hits = self._best_of_rare(search, rare, held, weights)
            if hits is not None:
                return hits
        sums = self._sums(search, held, weights, search.limit)
        elements = self._read(search.kind, [key for key, _ in sums])
        return [Hit(elements[key], share(covered, weights)) for key, covered in sums if key in elements]

    def _rare(self, held: list[str], counts: dict[str, int]) -> list[str]:
        """The rarest tokens that stay within the budget together."""
        total, rare = 0, list[str]()
        for token in held:
            total += counts[token]
            if total > BUDGET:
                break
            rare.append(token)
        return rare

    def _best_of_rare(
        self, search: TextSearch, rare: list[str], held: list[str], weights: dict[str, int]
    ) -> list[Hit] | None:
        """The best hits among documents with a rare token; None where another document could be among the best."""
        assert search.limit is not None
        if not rare:
            return None
        looked_at = 2 * search.limit + 10
        sums = self._sums(search, rare, weights, looked_at)
        elements = self._read(search.kind, [key for key, _ in sums])
        hits = [Hit(element, coverage(texts_of(element), weights)) for element in elements.values()]
        hits.sort(key=lambda hit: (-hit.score, ids.element_key(hit.element.id)))
        hits = hits[: search.limit]
        # What was not looked at covers at most as much of the rare tokens as the last one that was, and all the rest.
        common = NAMED * sum(weights[token] for token in held[len(rare) :])
        most = common + (sums[-1][1] if len(sums) == looked_at else 0)
        return hits if len(hits) == search.limit and hits[-1].score > share(most, weights) else None

    def _sums(
        self, search: TextSearch, wanted: list[str], weights: dict[str, int], limit: int | None
    ) -> list[tuple[int, int]]:
        """Keys of documents and how much of the query they cover by the wanted tokens, best first, then oldest."""
        scope = "" if search.scope is None else self._scope(search.kind, search.scope)
        parts: list[tuple[str, int]] = []
        for token in wanted:
            parts.append((fts_all([self._term(search.kind, token), *filter(None, [scope])]), OTHER * weights[token]))
            named = fts_all([self._name_term(search.kind, token), *filter(None, [scope])])
            parts.append((named, (NAMED - OTHER) * weights[token]))
        select = "SELECT rowid AS key, ?{} AS part FROM search WHERE search MATCH ?{}"
        lists = " UNION ALL ".join(select.format(2 * n + 3, 2 * n + 2) for n in range(len(parts)))
        found: Any = self._connection.execute(
            f"SELECT key, sum(part) AS covered FROM ({lists}) GROUP BY key ORDER BY covered DESC, key LIMIT ?1",
            [-1 if limit is None else min(limit, 2**31), *(value for part in parts for value in part)],
        ).fetchall()
        return found

    def _read(self, kind: str, keys: list[int]) -> dict[int, Element]:
        table, columns = ("concept", CONCEPT_COLUMNS) if kind == "concept" else ("link", LINK_COLUMNS)
        rows: Any = self._connection.execute(
            f"SELECT {columns} FROM json_each(?2) AS wanted CROSS JOIN {table} AS {table[0]} "
            f"ON {table[0]}.key = wanted.value WHERE {table[0]}.space = ?1",
            (self._space, dumps(list(keys))),
        ).fetchall()
        return {row[0]: concept_of(row) if kind == "concept" else link_of(row) for row in rows}

    def weights(self, kind: str, wanted: Iterable[str]) -> dict[str, int]:
        """The weight of each token: rarer among the documents of the space is heavier."""
        return self._weights(kind, self._documents(kind, wanted))

    def _weights(self, kind: str, counts: dict[str, int]) -> dict[str, int]:
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
