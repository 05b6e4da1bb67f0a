"""The words of KIP, and the words of other languages that slip in.

:class:`Found` is the token that does not fit; :mod:`kip.lang.slips` judges it by its place.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple

STATEMENTS = ("FIND", "UPSERT", "UPDATE", "MERGE", "DELETE", "DESCRIBE", "SEARCH", "EXPORT", "EXPLAIN")
AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX")
TESTS = ("IN", "IS_NULL", "IS_NOT_NULL", "CONTAINS", "STARTS_WITH", "ENDS_WITH", "REGEX")
UPDATE_FUNCTIONS = ("ADD", "MUL", "CLAMP", "COALESCE")
CLAUSES = ("FILTER", "NOT", "OPTIONAL", "UNION")
TAILS = ("WHERE", "ORDER", "LIMIT", "CURSOR")
_OTHERS = (
    *("BY", "ASC", "DESC", "DISTINCT", "CONCEPT", "PROPOSITION", "SET", "ATTRIBUTES", "PROPOSITIONS", "METADATA"),
    *("WITH", "EXPECT", "VERSION", "FROM", "DETACH", "INTO", "PRIMER", "DOMAINS", "TYPES", "TYPE", "MODE", "THRESHOLD"),
)
KEYWORDS = frozenset((*STATEMENTS, *CLAUSES, *TAILS, *_OTHERS))

_GUARD = "EXPECT VERSION stands in UPSERT blocks only, right after the identity; elsewhere FILTER in WHERE."


class Found(NamedTuple):
    """The token that does not fit, in its text."""

    kind: str
    value: str
    text: str
    start: int

    def following(self, distance: int) -> str:
        """The character that many places after the token's first one; empty at the end."""
        return self.text[self.start + distance : self.start + distance + 1]

    def is_call(self) -> bool:
        """Whether a word has an opening parenthesis behind it."""
        return self.kind == "word" and self._next_character() == "("

    def opens_pattern(self) -> bool:
        """Whether a word has a matcher or a comma behind it, as a variable would."""
        return self.kind == "word" and self._next_character() in ("{", "(", ",", ")", ".")

    def _next_character(self) -> str:
        place = self.start + len(self.value)
        while self.text[place : place + 1] in (" ", "\t", "\r", "\n"):
            place += 1
        return self.text[place : place + 1]


def trailing_comma(found: Found) -> str:
    """The hint for a comma with nothing behind it."""
    if found.kind not in (")", "]", "}", "end") and not (found.kind == "word" and found.value in KEYWORDS):
        return ""
    place = found.start - 1
    while place > 0 and found.text[place] in " \t\r\n":
        place -= 1
    return "Remove the comma before it, or add what is missing." if found.text[place : place + 1] == "," else ""


def nearest(word: str, candidates: Iterable[str]) -> str:
    """The question whether a similar word was meant."""
    matches = difflib.get_close_matches(word[:40].upper(), tuple(candidates), n=1)
    return f"Did you mean {matches[0]}?" if matches and matches[0] != word else ""


def capitals(word: str) -> str:
    """The hint for a keyword in small letters."""
    upper = word[:40].upper()
    return f"Keywords are written in capitals: {upper}." if upper in KEYWORDS and upper != word else ""


FOREIGN = {
    "SELECT": "KIP reads with FIND(?x, ?y.name) WHERE { .. }.",
    "MATCH": 'KIP reads with FIND(?x) WHERE { ?x {type: "Drug"} (?x, "treats", ?y) }.',
    "RETURN": "What is returned stands first: FIND(?x, ?y.name) WHERE { .. }.",
    "INSERT": "KIP writes with UPSERT { CONCEPT ?x { {type: .., name: ..} SET ATTRIBUTES { .. } } }.",
    "CREATE": "KIP writes with UPSERT { CONCEPT ?x { {type: .., name: ..} SET ATTRIBUTES { .. } } }.",
    "REMOVE": "KIP deletes with DELETE ATTRIBUTES, METADATA, PROPOSITIONS or CONCEPT.",
    "DROP": "KIP deletes with DELETE ATTRIBUTES, METADATA, PROPOSITIONS or CONCEPT.",
    "OFFSET": "There is no OFFSET: page with LIMIT and CURSOR, whose token is next_cursor of the last page.",
    "SKIP": "There is no SKIP: page with LIMIT and CURSOR, whose token is next_cursor of the last page.",
    "GROUP": "Grouping is implicit: FIND(?x.name, COUNT(?y)) groups by ?x.name.",
    "HAVING": "There is no HAVING; read the groups and select from them.",
    "AS": "There are no aliases; columns come in the order of FIND.",
    "AND": "AND is written && in FILTER; clauses of WHERE all hold anyway.",
    "OR": "OR is written || in FILTER; for patterns use UNION { .. }.",
    "JOIN": "Patterns join by the variables that they share.",
    "DISTINCT": "Solutions are distinct already; DISTINCT stands in COUNT(DISTINCT ?x) only.",
    "LIKE": 'Use CONTAINS(?x.name, "part"), STARTS_WITH, ENDS_WITH or REGEX.',
    "BETWEEN": "Write two comparisons: ?x.attributes.n >= 1 && ?x.attributes.n <= 9.",
    "IS": "Null is tested with IS_NULL(?x.attributes.n) and IS_NOT_NULL(..).",
    "EXISTS": "A pattern in WHERE asks for existence; NOT { .. } asks for absence.",
    "ASCENDING": "Ascending order is written ASC.",
    "DESCENDING": "Descending order is written DESC.",
    "NODE": "A node is written as a CONCEPT block.",
    "EDGE": "A link is written as a PROPOSITION block, or in SET PROPOSITIONS.",
    "LINK": "A link is written as a PROPOSITION block, or in SET PROPOSITIONS.",
    "EXPECT": _GUARD,
}


def any_word(found: Found) -> str:
    """The hint for a word that slips in from another language, or a keyword in small letters, anywhere."""
    if found.kind not in ("word", "bad word"):
        return ""
    return FOREIGN.get(found.value[:40].upper(), "") or capitals(found.value)
