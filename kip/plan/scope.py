"""Variables in scope while a WHERE clause is bound (SPECIFICATION.md 3.4.7)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from kip.errors import KipError
from kip.plan.algebra import Kind


class Scope:
    """Names visible at one place of the text, and what they are bound to.

    Variables that are internal to a NOT get a fresh plan name, so that the same name can be used again
    outside of it. ``fresh`` is shared by all scopes of one query.
    """

    def __init__(self, fresh: Iterator[int] | None = None) -> None:
        self.fresh = fresh if fresh is not None else itertools.count(1)
        self.kinds: dict[str, Kind] = {}
        self._names: dict[str, str] = {}
        self._reserved: dict[str, str] = {}
        self._private = False

    def inner(self, *, private: bool) -> Scope:
        """The scope inside a NOT (``private``) or an OPTIONAL: it sees everything bound so far."""
        scope = Scope(self.fresh)
        scope.kinds, scope._names = dict(self.kinds), dict(self._names)
        scope._reserved, scope._private = self._reserved, private or self._private
        return scope

    def independent(self) -> Scope:
        """The scope inside a UNION: it sees nothing, but a name that is bound outside keeps its plan name,
        so that the rows can be merged on it."""
        scope = Scope(self.fresh)
        scope._reserved, scope._private = {**self._reserved, **self._names}, self._private
        return scope

    def anonymous(self, kind: Kind) -> str:
        """A new variable that the text does not name."""
        name = f"#{next(self.fresh)}"
        self.kinds[name] = kind
        return name

    def bind(self, name: str, kind: Kind) -> str:
        """The plan's name of ``?name``, bound here or before, narrowed to ``kind``.

        Raises KIP_2002 when one variable would have to be a predicate name and an element.
        """
        known = self._names.get(name)
        if known is None:
            known = self._reserved.get(name) or (f"{name}#{next(self.fresh)}" if self._private else name)
            self._names[name] = known
            self.kinds[known] = kind
            return known
        self.kinds[known] = _meet(name, self.kinds[known], kind)
        return known

    def visible(self, name: str) -> str | None:
        """The plan's name of ``?name`` if it is bound, else None."""
        return self._names.get(name)

    def adopt(self, other: Scope) -> None:
        """Take over all names of ``other``: OPTIONAL and UNION leak theirs. A name that both bind may be either."""
        for name, known in other._names.items():
            self._names.setdefault(name, known)
        for known, kind in other.kinds.items():
            mine = self.kinds.get(known)
            self.kinds[known] = kind if mine is None else _join(known, mine, kind)


def _meet(name: str, left: Kind, right: Kind) -> Kind:
    """Both hold at once."""
    _refuse_mixture(name, left, right)
    if right in (left, Kind.ELEMENT):
        return left
    # CONCEPT and LINK at once cannot be satisfied; either answer leaves the pattern without solutions.
    return right


def _join(name: str, left: Kind, right: Kind) -> Kind:
    """Either may hold."""
    _refuse_mixture(name, left, right)
    return left if left == right else Kind.ELEMENT


def _refuse_mixture(name: str, left: Kind, right: Kind) -> None:
    if (left == Kind.PREDICATE) != (right == Kind.PREDICATE):
        raise KipError(
            "KIP_2002",
            f"?{name.partition('#')[0]} is used both as a predicate name and as a concept or link",
            hint="Give the predicate variable a name of its own.",
        )
