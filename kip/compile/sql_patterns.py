"""Blocks of operators as SQL (SQLite).

Simple patterns are joined flat into one SELECT, so that SQLite picks the join order and an index serves each
step. Walks, general OPTIONAL and NOT blocks and UNIONs are sealed off as common table expressions, seeded
with the distinct bindings of what they see, so that their cost follows the solutions and not the graph.
"""

from __future__ import annotations

from typing import assert_never

from kip.compile.sql_conditions import condition
from kip.compile.sql_frame import SPACE, Frame
from kip.compile.statement import Codec
from kip.plan import algebra as op
from kip.plan.rewrite import operator_variables


def apply(block: op.Block, frame: Frame) -> Frame:
    """The frame after all operators of a block; kinds of the block's variables are taken over."""
    frame.kinds.update(block.kinds)
    for operator in block.operators:
        frame = _apply_operator(operator, frame)
    return frame


def _apply_operator(operator: op.Operator, frame: Frame) -> Frame:
    match operator:
        case op.ConceptMatch():
            _concept(operator, frame)
        case op.LinkMatch():
            _link(operator, frame)
        case op.LinkLookup():
            alias = frame.table(operator.variable, "link")
            frame.conditions.append(f"{alias}.key = {frame.bind(operator.id, Codec.LINK_KEY)}")
            frame.conditions.append(f"{alias}.predicate = {frame.bind(operator.id, Codec.PREDICATE_OF_ID)}")
        case op.Filter():
            frame.conditions.append(condition(operator.condition, frame))
        case op.Walk():
            return _walk(operator, frame)
        case op.AntiJoin():
            return _anti_join(operator, frame)
        case op.LeftJoin():
            return _left_join(operator, frame)
        case op.Union():
            return _union(operator, frame)
        case _:
            assert_never(operator)
    return frame


def _concept(match: op.ConceptMatch, frame: Frame) -> None:
    alias = frame.table(match.variable, "concept")
    if match.id is not None:
        frame.conditions.append(f"{alias}.key = {frame.bind(match.id, Codec.CONCEPT_KEY)}")
    if match.type is not None:
        frame.conditions.append(f"{alias}.type = {frame.bind(match.type, Codec.VALUE)}")
    if match.name is not None:
        frame.conditions.append(f"{alias}.name = {frame.bind(match.name, Codec.VALUE)}")


def _predicates(alias: str, predicates: tuple[op.Value, ...], frame: Frame) -> str:
    placeholders = [frame.bind(predicate, Codec.VALUE) for predicate in predicates]
    if len(placeholders) == 1:
        return f"{alias}.predicate = {placeholders[0]}"
    return f"{alias}.predicate IN ({', '.join(placeholders)})"


def _link(match: op.LinkMatch, frame: Frame) -> None:
    alias = frame.table(match.variable, "link")
    if match.predicate_variable is None:
        frame.conditions.append(_predicates(alias, match.predicates, frame))
    else:
        frame.equate(match.predicate_variable, f"{alias}.predicate")
    frame.equate(match.subject, f"{alias}.subject")
    frame.equate(match.object, f"{alias}.object")


# --- walks (decision 3) -------------------------------------------------------------------------


def _walk(walk: op.Walk, frame: Frame) -> Frame:
    forward = frame.bound(walk.subject) or not frame.bound(walk.object)
    start, end = (walk.subject, walk.object) if forward else (walk.object, walk.subject)
    state = frame.with_base([start]) if frame.bound(start) else frame
    pairs = _pairs(walk, _seeds(walk, start, state, forward), state, forward)
    alias = state.assembly.alias("w")
    state.join(f"{pairs} AS {alias}")
    state.equate(start, f"{alias}.start")
    state.equate(end, f"{alias}.node")
    return state


def _seeds(walk: op.Walk, start: str, state: Frame, forward: bool) -> str:
    """SELECT of the distinct elements that the walk starts from."""
    if state.bound(start):
        base = state.base()
        return f"SELECT DISTINCT {base.key(start)} AS node{base.body()}"
    if walk.minimum == 0:
        tables = ("concept", "link")
        return " UNION ALL ".join(f"SELECT key AS node FROM {table} WHERE space = {SPACE}" for table in tables)
    side = "subject" if forward else "object"
    test = _predicates("f", walk.predicates, state)
    return f"SELECT DISTINCT f.{side} AS node FROM link AS f WHERE f.space = {SPACE} AND {test}"


LONG_WALK = 32
"""From how many hops on a bound may be longer than any simple path; then it is compared with the links there are."""


def _pairs(walk: op.Walk, seeds: str, state: Frame, forward: bool) -> str:
    """Name of a CTE (start, node) of the pairs that walks of minimum..maximum hops connect.

    Hops are counted up to the maximum. Where there is none, or there are no more links than it allows hops past the
    minimum, only reachability matters past the minimum, and cycles end at a fixed point.
    """
    assembly = state.assembly
    near, far = ("subject", "object") if forward else ("object", "subject")
    step = f"JOIN link AS h ON h.{near} = w.node AND h.space = {SPACE} AND {_predicates('h', walk.predicates, state)}"
    counted, reached, result = assembly.alias("walk"), assembly.alias("reached"), assembly.alias("pairs")
    least = f"{walk.minimum:d}"
    is_open, bound = "1", least
    if walk.maximum is not None:
        links = (
            f"(SELECT count(*) FROM link AS n WHERE n.space = {SPACE} AND {_predicates('n', walk.predicates, state)})"
        )
        is_open = "0" if walk.maximum <= LONG_WALK else f"({links} < {walk.maximum - walk.minimum:d})"
        bound = f"{walk.maximum:d}" if is_open == "0" else f"iif({is_open}, {least}, {walk.maximum:d})"
    assembly.ctes.append(
        f"{counted}(start, node, depth) AS (SELECT node, node, 0 FROM ({seeds}) UNION "
        f"SELECT w.start, h.{far}, w.depth + 1 FROM {counted} AS w {step} WHERE w.depth < {bound})"
    )
    if is_open == "0":
        assembly.ctes.append(f"{result} AS (SELECT DISTINCT start, node FROM {counted} WHERE depth >= {least})")
        return result
    assembly.ctes.append(
        f"{reached}(start, node) AS (SELECT start, node FROM {counted} WHERE depth = {least} AND {is_open} UNION "
        f"SELECT w.start, h.{far} FROM {reached} AS w {step})"
    )
    assembly.ctes.append(
        f"{result}(start, node) AS (SELECT start, node FROM {counted} WHERE depth >= {least} UNION "
        f"SELECT start, node FROM {reached})"
    )
    return result


# --- NOT and OPTIONAL ---------------------------------------------------------------------------


def _is_flat(block: op.Block) -> bool:
    """True when the block can be joined into the SELECT it stands in."""
    return all(
        isinstance(item, op.ConceptMatch | op.LinkMatch | op.LinkLookup | op.Filter)
        or (isinstance(item, op.AntiJoin) and _is_flat(item.block))
        for item in block.operators
    )


def _anti_join(operator: op.AntiJoin, frame: Frame) -> Frame:
    block = operator.block
    if _is_flat(block):
        inner = Frame(frame.assembly, {**frame.kinds, **dict(block.kinds)}, frame)
        for item in block.operators:
            inner = _apply_operator(item, inner)
        frame.conditions.append(f"NOT EXISTS (SELECT 1{inner.body()})")
        return frame
    seen = _seen(block, frame)
    state = frame.with_base(seen)
    found, _ = _sealed(block, state, seen, ())
    on = _correlation(block, "r", seen, state)
    state.conditions.append(f"NOT EXISTS (SELECT 1 FROM {found} AS r WHERE {on})")
    return state


def _left_join(operator: op.LeftJoin, frame: Frame) -> Frame:
    block = operator.block
    single = block.operators[0] if len(block.operators) == 1 else None
    if isinstance(single, op.LinkMatch) and _joins_directly(single, frame):
        _optional_link(single, frame)
        frame.kinds.update((name, kind) for name, kind in block.kinds if name in operator.introduces)
        return frame
    seen = _seen(block, frame)
    state = frame.with_base(seen)
    found, names = _sealed(block, state, seen, operator.introduces)
    alias = state.assembly.alias("o")
    state.left_join(f"{found} AS {alias}", _correlation(block, alias, seen, state))
    for number, name in enumerate(names):
        if name not in seen:
            state.set_key(name, f"{alias}.v{number}")
    state.kinds.update((name, kind) for name, kind in block.kinds if name in operator.introduces)
    return state


def _correlation(block: op.Block, alias: str, seen: list[str], state: Frame) -> str:
    """The condition that relates a sealed block's rows to the enclosing solution.

    A pattern never matches null, so variables of patterns are compared by ``=``, which an index serves.
    """
    patterns = (op.ConceptMatch, op.LinkMatch, op.LinkLookup, op.Walk)
    matched = {name for item in block.operators if isinstance(item, patterns) for name in operator_variables(item)}
    tests = [
        f"{alias}.v{number} {'=' if name in matched else 'IS'} {state.key(name)}" for number, name in enumerate(seen)
    ]
    return " AND ".join(tests) or "1"


def _joins_directly(link: op.LinkMatch, frame: Frame) -> bool:
    ends = [frame.bound(link.subject), frame.bound(link.object)]
    three = {link.variable, link.subject, link.object}
    return any(ends) and not frame.bound(link.variable) and len(three) == 3


def _optional_link(link: op.LinkMatch, frame: Frame) -> None:
    alias = frame.assembly.alias("l")
    tests = [f"{alias}.space = {SPACE}"]
    binds: list[tuple[str, str]] = [(link.variable, f"{alias}.key")]
    if link.predicate_variable is None:
        tests.append(_predicates(alias, link.predicates, frame))
    pairs = [(link.subject, f"{alias}.subject"), (link.object, f"{alias}.object")]
    if link.predicate_variable is not None:
        pairs.append((link.predicate_variable, f"{alias}.predicate"))
    for name, column in pairs:
        if frame.bound(name):
            tests.append(f"{column} = {frame.key(name)}")
        else:
            binds.append((name, column))
    frame.left_join(f"link AS {alias}", " AND ".join(tests))
    for name, column in binds:
        frame.set_key(name, column)


def _seen(block: op.Block, state: Frame) -> list[str]:
    """Variables of the enclosing solution that the block uses."""
    used = {name for item in block.operators for name in operator_variables(item)}
    return [name for name in state.variables() if name in used]


def _sealed(block: op.Block, state: Frame, seen: list[str], introduces: tuple[str, ...]) -> tuple[str, list[str]]:
    """Evaluate a block for all distinct bindings of ``seen`` at once.

    Returns a CTE and the variables that its columns v0, v1, .. hold: ``seen``, then what it introduces.
    """
    if seen:
        inner = state.base().materialise(seen, distinct=True, prefix="d")
    else:
        inner = Frame(state.assembly, state.kinds)
    inner = apply(block, inner)
    names = [*seen, *(name for name in introduces if inner.bound(name))]
    listed = ", ".join(f"{inner.key(name)} AS v{number}" for number, name in enumerate(names)) or "1 AS v0"
    found = state.assembly.alias("r")
    state.assembly.ctes.append(f"{found} AS (SELECT DISTINCT {listed}{inner.body()})")
    return found, names


# --- UNION --------------------------------------------------------------------------------------


def _union(operator: op.Union, frame: Frame) -> Frame:
    """Rows of the main part (which sees the seed) and of each branch (which does not, and is joined with it)."""
    seed = frame if frame.variables() else None
    parts: list[Frame] = []
    kinds: dict[str, op.Kind] = dict(frame.kinds)
    if operator.main is not None:
        start = seed.base() if seed else Frame(frame.assembly, frame.kinds)
        parts.append(apply(operator.main, start))
    for branch in operator.branches:
        part = apply(branch, Frame(frame.assembly, dict(branch.kinds)))
        if seed:
            part.join_base(seed)
        parts.append(part)
    names = list(dict.fromkeys(name for part in parts for name in part.variables()))
    for part in parts:
        for name in names:
            if name in part.kinds:
                mine = part.kinds[name]
                kinds[name] = mine if kinds.get(name, mine) == mine else op.Kind.ELEMENT
    selects = [
        "SELECT "
        + ", ".join(
            f"{part.key(name) if part.bound(name) else 'NULL'} AS v{number}" for number, name in enumerate(names)
        )
        + part.body()
        for part in parts
    ]
    merged = frame.assembly.alias("u")
    frame.assembly.ctes.append(f"{merged} AS ({' UNION ALL '.join(selects)})")
    return Frame(frame.assembly, kinds).reading(merged, names)
