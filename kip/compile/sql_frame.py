"""One SELECT under construction (SQLite): its FROM items, conditions, and where each variable is found."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from kip.compile.statement import Binding, Codec, ParameterTypes
from kip.errors import KipError
from kip.plan import algebra as op

SPACE = "?1"
"""The first parameter of every statement is the space (decision: no query without it)."""

MAX_BINDINGS = 10_000
"""How many different values a statement may bind; SQLite's own limit is 32,766."""

_CONCEPT_ONLY = frozenset({"type", "name"})
_LINK_ONLY = frozenset({"subject", "predicate", "object"})


class Assembly:
    """What all SELECTs of one statement share: common table expressions, bindings, alias numbers."""

    def __init__(self, types: ParameterTypes) -> None:
        self.types = dict(types)
        self.bindings: list[Binding] = []
        self.ctes: list[str] = []
        self._numbers = itertools.count(1)
        self._placeholders: dict[tuple[str, Codec], str] = {}

    def alias(self, prefix: str) -> str:
        """A table alias or CTE name that no other part of the statement uses."""
        return f"{prefix}{next(self._numbers)}"

    def bind(self, source: op.Value, codec: Codec) -> str:
        """The placeholder of a value; the same value and encoding share one."""
        identity = (repr(source), codec)
        if identity not in self._placeholders:
            if len(self.bindings) >= MAX_BINDINGS:
                hint = "Pass many values as one list: IN(?x.name, :names)."
                raise KipError("KIP_4002", f"the command compares with more than {MAX_BINDINGS:,} values", hint=hint)
            self.bindings.append(Binding(source, codec))
            self._placeholders[identity] = f"?{len(self.bindings) + 1}"
        return self._placeholders[identity]

    def with_clause(self) -> str:
        """``WITH ..`` for all common table expressions so far, or nothing."""
        return "WITH RECURSIVE " + ",\n".join(self.ctes) + "\n" if self.ctes else ""


class Frame:
    """The FROM and WHERE of one SELECT. Implements :class:`kip.compile.sql_terms.Columns`.

    ``parent`` is the enclosing SELECT of a correlated NOT EXISTS: its columns can be used, but no table can be
    added to it from inside.
    """

    def __init__(self, assembly: Assembly, kinds: Mapping[str, op.Kind], parent: Frame | None = None) -> None:
        self.assembly = assembly
        self.kinds = dict(kinds)
        self.parent = parent
        self.conditions: list[str] = []
        self._tables: list[str] = []
        self._keys: dict[str, str] = {}
        self._aliases: dict[tuple[str, str], str] = {}
        self._base: tuple[str, dict[str, str]] | None = None

    # --- reading ---

    def bound(self, variable: str) -> bool:
        return variable in self._keys or (self.parent is not None and self.parent.bound(variable))

    def key(self, variable: str) -> str:
        if variable in self._keys or self.parent is None:
            return self._keys[variable]
        return self.parent.key(variable)

    def kind(self, variable: str) -> op.Kind:
        return self.kinds[variable]

    def variables(self) -> dict[str, str]:
        """Variable -> SQL of its key, those of this SELECT only."""
        return dict(self._keys)

    def parameter_rank(self, name: str) -> int | None:
        return self.assembly.types[name]

    def bind(self, source: op.Value, codec: Codec) -> str:
        return self.assembly.bind(source, codec)

    def column(self, variable: str, name: str) -> str:
        """SQL of a column of the element bound to ``variable``; NULL where the element has none."""
        kind = self.kind(variable)
        if kind == op.Kind.CONCEPT:
            return "NULL" if name in _LINK_ONLY else f"{self._alias(variable, 'concept')}.{name}"
        if kind == op.Kind.LINK:
            return "NULL" if name in _CONCEPT_ONLY else f"{self._alias(variable, 'link')}.{name}"
        if name in _CONCEPT_ONLY:
            return f"{self._alias(variable, 'concept')}.{name}"
        if name in _LINK_ONLY:
            return f"{self._alias(variable, 'link')}.{name}"
        return f"coalesce({self._alias(variable, 'concept')}.{name}, {self._alias(variable, 'link')}.{name})"

    def _known_alias(self, variable: str, table: str) -> str | None:
        alias = self._aliases.get((variable, table))
        if alias is None and self.parent is not None:
            return self.parent._known_alias(variable, table)
        return alias

    def _alias(self, variable: str, table: str) -> str:
        alias = self._known_alias(variable, table)
        if alias is None:
            # LEFT JOIN, because the variable may be null or be bound to the other kind of element.
            alias = self.assembly.alias(table[0])
            self.left_join(f"{table} AS {alias}", f"{alias}.key = {self.key(variable)} AND {alias}.space = {SPACE}")
            self._aliases[variable, table] = alias
        return alias

    # --- building ---

    def set_key(self, variable: str, sql: str) -> None:
        self._keys[variable] = sql

    def table(self, variable: str, table: str) -> str:
        """Join ``table`` as the element of ``variable``, binding it or requiring equality; returns the alias."""
        alias = self.assembly.alias(table[0])
        self.join(f"{table} AS {alias}")
        self.conditions.append(f"{alias}.space = {SPACE}")
        if self.bound(variable):
            self.conditions.append(f"{alias}.key = {self.key(variable)}")
        else:
            self._keys[variable] = f"{alias}.key"
        self._aliases[variable, table] = alias
        return alias

    def equate(self, variable: str, sql: str) -> None:
        """Bind ``variable`` to a column, or require that it equals what it is bound to."""
        if self.bound(variable):
            self.conditions.append(f"{sql} = {self.key(variable)}")
        else:
            self._keys[variable] = sql

    def join(self, item: str) -> None:
        self._tables.append(item if not self._tables else f"JOIN {item}")

    def left_join(self, item: str, on: str) -> None:
        if not self._tables:
            self._tables.append("(SELECT 1)")
        self._tables.append(f"LEFT JOIN {item} ON {on}")

    def with_base(self, variables: Iterable[str]) -> Frame:
        """This frame, if it reads a common table expression that has all of ``variables``; else one that does.

        Blocks that only need what the expression has can be seeded from it and be joined to this very frame. So
        that a chain of them refers to it a linear number of times: SQLite expands each reference anew.
        """
        if self._base is not None and all(name in self._base[1] for name in variables):
            return self
        return self.materialise(self._keys)

    def base(self) -> Frame:
        """Another reader of the common table expression that this frame reads."""
        assert self._base is not None
        source, keys = self._base
        frame = Frame(self.assembly, self.kinds)
        frame.join(source)
        frame._keys.update(keys)
        frame._base = self._base
        return frame

    def join_base(self, other: Frame) -> None:
        """Join the common table expression that ``other`` reads, on the variables that both have."""
        assert other._base is not None
        source, keys = other._base
        self.join(source)
        for name, sql in keys.items():
            self.equate(name, sql)

    def body(self) -> str:
        """``FROM .. WHERE ..``."""
        text = " FROM " + "\n  ".join(self._tables) if self._tables else ""
        if self.conditions:
            text += "\n WHERE " + "\n   AND ".join(self.conditions)
        return text

    def materialise(self, variables: Iterable[str], *, distinct: bool = False, prefix: str = "s") -> Frame:
        """Turn this SELECT into a common table expression; returns a new frame that reads ``variables`` from it."""
        names = [name for name in variables if name in self._keys]
        listed = ", ".join(f"{self._keys[name]} AS v{number}" for number, name in enumerate(names)) or "1 AS v0"
        cte = self.assembly.alias(prefix)
        word = "SELECT DISTINCT" if distinct else "SELECT"
        self.assembly.ctes.append(f"{cte} AS ({word} {listed}{self.body()})")
        return self.reading(cte, names)

    def reading(self, cte: str, names: Iterable[str]) -> Frame:
        """A new frame over a common table expression whose columns v0, v1, .. hold ``names``."""
        frame = Frame(self.assembly, self.kinds)
        alias = self.assembly.alias("t")
        frame.join(f"{cte} AS {alias}")
        for number, name in enumerate(names):
            frame.set_key(name, f"{alias}.v{number}")
        frame._base = f"{cte} AS {alias}", dict(frame._keys)
        return frame
