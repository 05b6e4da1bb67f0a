"""The keyword index of the SQLite store (decision 9): FTS5 over tokens made in Python.

Every indexed token carries the number of its space, so that neither hits nor statistics cross spaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from kip.backends import ids
from kip.backends.base import Change, Concept, Element, Hit, TextSearch
from kip.backends.scoring import coverage, weight
from kip.backends.sqlite_rows import CONCEPT_COLUMNS, LINK_COLUMNS, concept_of, link_of
from kip.compile.fragment import fts_any
from kip.compile.text_query import Texts, concept_texts, encode, link_texts, tokens
from kip.values import dumps

_CANDIDATES = 3
"""How many times LIMIT candidates are ranked by coverage, after the index has cut by bm25."""

_LEAST_CANDIDATES = 30


def texts_of(element: Element) -> Texts:
    """The grounding fields of an element."""
    if isinstance(element, Concept):
        return concept_texts(element.name, element.attributes)
    return link_texts(element.predicate, element.attributes)


class SearchIndex:
    """The index as seen by one space."""

    def __init__(self, connection: apsw.Connection, space: int) -> None:
        self._connection = connection
        self._space = space

    def update(self, changes: Sequence[Change]) -> None:
        """Keep the index in step with changed elements."""
        gone: list[tuple[int | None]] = []
        come: list[tuple[int | None, str, str, str]] = []
        for change in changes:
            old = self.document(change.before) if change.before is not None else None
            new = self.document(change.after) if change.after is not None else None
            if old == new:
                continue
            key = ids.element_key(change.element.id)
            if old is not None:
                gone.append((key,))
            if new is not None:
                come.append((key, *new))
        if gone:
            self._connection.executemany("DELETE FROM search WHERE rowid = ?", gone).fetchall()
        if come:
            insert = "INSERT INTO search (rowid, named, tokens, scope) VALUES (?, ?, ?, ?)"
            self._connection.executemany(insert, come).fetchall()

    def document(self, element: Element) -> tuple[str, str, str] | None:
        """Named tokens, other tokens and scope; None for a link without text of its own, which is found by its
        predicate."""
        naming, other = texts_of(element)
        if isinstance(element, Concept):
            scope = f"{self._all('concept')} {self._scope('concept', element.type)}"
        elif other:
            scope = f"{self._all('link')} {self._scope('link', element.predicate)}"
        else:
            return None
        return self._terms(naming), self._terms(other), scope

    def _terms(self, texts: Iterable[str]) -> str:
        return " ".join(self._term(token) for text in texts for token in tokens(text))

    def _term(self, token: str) -> str:
        return f"{self._space}x{encode(token)}"

    def _all(self, kind: str) -> str:
        return f"{self._space}{kind[0]}"

    def _scope(self, kind: str, name: str) -> str:
        # FTS5 folds ASCII case, so the capitals of a type are spelled out.
        return self._all(kind) + "s" + "".join(f"{ord(character):x}" for character in name)

    def find(self, search: TextSearch) -> list[Hit]:
        """Elements that hold at least one token, by coverage of the query, then by age."""
        wanted = list(dict.fromkeys(search.tokens))
        if not wanted:
            return []
        scope = self._all(search.kind) if search.scope is None else self._scope(search.kind, search.scope)
        terms = [self._term(token) for token in wanted]
        expression = f"{fts_any('scope', [scope])} AND {fts_any('named tokens', terms)}"
        table, columns = ("concept", CONCEPT_COLUMNS) if search.kind == "concept" else ("link", LINK_COLUMNS)
        alias = table[0]
        cut, candidates = "", list[int]()
        if search.limit is not None:
            cut, candidates = "LIMIT ?3", [max(_CANDIDATES * search.limit, _LEAST_CANDIDATES)]
        rows: list[Any] = self._connection.execute(
            "WITH hit AS MATERIALIZED (SELECT rowid AS key, bm25(search, 4.0, 1.0, 0.0) AS distance FROM search "
            f"WHERE search MATCH ?2 ORDER BY distance {cut}) "
            f"SELECT {columns} FROM hit JOIN {table} AS {alias} ON {alias}.key = hit.key WHERE {alias}.space = ?1",
            [self._space, expression, *candidates],
        ).fetchall()
        if not rows:
            return []
        weights = self.weights(wanted)
        elements = [concept_of(row) if search.kind == "concept" else link_of(row) for row in rows]
        hits = [Hit(element, coverage(texts_of(element), weights)) for element in elements]
        hits.sort(key=lambda hit: (-hit.score, ids.element_key(hit.element.id)))
        return hits if search.limit is None else hits[: search.limit]

    def weights(self, wanted: Iterable[str]) -> dict[str, float]:
        """The weight of each token: rarer in the space is heavier."""
        terms = {token: self._term(token) for token in wanted}
        found: Any = self._connection.execute(
            "SELECT t.term, t.doc FROM json_each(?) AS wanted CROSS JOIN search_terms AS t ON t.term = wanted.value",
            (dumps([self._all("concept"), *terms.values()]),),
        ).fetchall()
        documents = dict(found)
        total = documents.get(self._all("concept"), 0)
        return {token: weight(documents.get(term.lower(), 0), total) for token, term in terms.items()}
