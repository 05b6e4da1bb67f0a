"""Hypothesis strategies for command trees of ``kip.lang.ast``: everything that ``parse`` can produce, nothing else."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kip.lang import ast

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,7}", fullmatch=True)
TEXTS = st.text(max_size=12)
KEYS = st.one_of(NAMES, TEXTS)
NUMBERS = st.one_of(st.integers(), st.integers(-(10**40), 10**40), st.floats(allow_nan=False, allow_infinity=False))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
PARAMETERS = st.builds(ast.Parameter, NAMES)


def _array(items: list[ast.Value]) -> ast.Value:
    """A Literal where nothing inside is a placeholder, as the tree has it."""
    if all(isinstance(item, ast.Literal) for item in items):
        return ast.Literal([item.value for item in items if isinstance(item, ast.Literal)])
    return ast.ArrayValue(tuple(items))


def _object(entries: dict[str, ast.Value]) -> Any:
    if all(isinstance(item, ast.Literal) for item in entries.values()):
        return ast.Literal({key: item.value for key, item in entries.items() if isinstance(item, ast.Literal)})
    return ast.ObjectValue(tuple(entries.items()))


VALUES: st.SearchStrategy[ast.Value] = st.recursive(
    st.one_of(st.builds(ast.Literal, JSON), PARAMETERS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(_array), st.dictionaries(KEYS, inner, max_size=3).map(_object)
    ),
    max_leaves=6,
)
ENTRIES = st.one_of(st.dictionaries(KEYS, VALUES, max_size=3).map(_object), PARAMETERS)
STRINGS = st.one_of(st.builds(ast.Literal, TEXTS), PARAMETERS)
CURSORS = st.one_of(st.builds(ast.Literal, st.text(min_size=1, max_size=12)), PARAMETERS)
LIMITS = st.one_of(st.builds(ast.Literal, st.integers(1, 10**20)), PARAMETERS)

# --- expressions --------------------------------------------------------------------------------

VARIABLES = st.builds(ast.Variable, NAMES)
PATHS = st.one_of(
    st.builds(ast.Path, NAMES, NAMES),
    st.builds(ast.Path, NAMES, st.sampled_from(["attributes", "metadata"]), NAMES),
)
REFERENCES = st.one_of(VARIABLES, PATHS)
AGGREGATES = st.one_of(
    st.builds(ast.Aggregate, st.sampled_from(["SUM", "AVG", "MIN", "MAX"]), REFERENCES),
    st.builds(ast.Aggregate, st.just("COUNT"), REFERENCES, st.booleans()),
)
PROJECTIONS = st.one_of(REFERENCES, AGGREGATES)
OPERANDS = st.one_of(REFERENCES, PARAMETERS, st.builds(ast.Literal, SCALARS))
_LISTS = st.one_of(st.lists(VALUES, max_size=3).map(_array), PARAMETERS)
_TESTS = st.one_of(
    st.builds(ast.Comparison, st.sampled_from(["==", "!=", "<", ">", "<=", ">="]), OPERANDS, OPERANDS),
    st.builds(ast.In, OPERANDS, _LISTS),
    st.builds(ast.NullTest, OPERANDS, st.booleans()),
    st.builds(
        ast.StringTest,
        st.sampled_from(["CONTAINS", "STARTS_WITH", "ENDS_WITH", "REGEX"]),
        OPERANDS,
        st.one_of(REFERENCES, STRINGS),
    ),
)


def _flat(kind: Any, operands: list[Any]) -> Any:
    parts = [part for operand in operands for part in (operand.operands if isinstance(operand, kind) else (operand,))]
    return kind(tuple(parts))


CONDITIONS: st.SearchStrategy[ast.BooleanExpression] = st.recursive(
    _TESTS,
    lambda inner: st.one_of(
        st.builds(ast.Negation, inner),
        st.lists(inner, min_size=2, max_size=3).map(lambda operands: _flat(ast.Conjunction, operands)),
        st.lists(inner, min_size=2, max_size=3).map(lambda operands: _flat(ast.Disjunction, operands)),
    ),
    max_leaves=6,
)

# --- patterns -----------------------------------------------------------------------------------

_IDS = st.builds(ast.ConceptMatcher, id=STRINGS)
_IDENTITIES = st.one_of(_IDS, st.builds(ast.ConceptMatcher, type=STRINGS, name=STRINGS))
CONCEPTS = st.one_of(
    _IDENTITIES, st.builds(ast.ConceptMatcher, type=STRINGS), st.builds(ast.ConceptMatcher, name=STRINGS)
)
_LINK_IDS = st.builds(ast.LinkIdMatcher, STRINGS)


@st.composite
def _hops(draw: st.DrawFn) -> ast.Hops:
    minimum = draw(st.integers(0, 20))
    return ast.Hops(minimum, draw(st.one_of(st.none(), st.integers(minimum, 40))))


_PREDICATES = st.one_of(
    VARIABLES,
    st.builds(ast.PredicateNames, st.tuples(STRINGS), st.one_of(st.none(), _hops())),
    st.builds(ast.PredicateNames, st.lists(STRINGS, min_size=2, max_size=3).map(tuple)),
)
_ONE_NAME = st.builds(ast.PredicateNames, st.tuples(STRINGS))


def _endpoints(concepts: st.SearchStrategy[Any], predicates: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        st.one_of(VARIABLES, concepts, _LINK_IDS),
        lambda inner: st.builds(ast.TripleMatcher, inner, predicates, inner),
        max_leaves=4,
    )


ENDPOINTS = _endpoints(CONCEPTS, _PREDICATES)
EXACT_ENDPOINTS = _endpoints(_IDENTITIES, _ONE_NAME)
LINKS = st.one_of(_LINK_IDS, st.builds(ast.TripleMatcher, ENDPOINTS, _PREDICATES, ENDPOINTS))
EXACT_LINKS = st.one_of(_LINK_IDS, st.builds(ast.TripleMatcher, EXACT_ENDPOINTS, _ONE_NAME, EXACT_ENDPOINTS))
CLAUSES: st.SearchStrategy[ast.Clause] = st.recursive(
    st.one_of(
        st.builds(ast.ConceptClause, NAMES, CONCEPTS),
        st.builds(ast.LinkClause, st.one_of(st.none(), NAMES), LINKS),
        st.builds(ast.FilterClause, CONDITIONS),
    ),
    lambda inner: st.one_of(
        *(
            st.builds(block, st.lists(inner, min_size=1, max_size=2).map(tuple))
            for block in (ast.NotClause, ast.OptionalClause, ast.UnionClause)
        )
    ),
    max_leaves=4,
)
WHERES = st.lists(CLAUSES, min_size=1, max_size=3).map(tuple)


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), strategy)


# --- commands -----------------------------------------------------------------------------------

SORT_KEYS = st.builds(ast.SortKey, PROJECTIONS, st.booleans())
FINDS = st.builds(
    ast.Find,
    st.lists(PROJECTIONS, min_size=1, max_size=3).map(tuple),
    WHERES,
    st.lists(SORT_KEYS, max_size=2).map(tuple),
    optional(LIMITS),
    optional(CURSORS),
)
_GUARDS = optional(st.one_of(st.builds(ast.Literal, st.integers(0, 10**20)), PARAMETERS))
_PROPOSITIONS = st.builds(ast.PropositionEntry, STRINGS, EXACT_ENDPOINTS, optional(ENTRIES))
_CONCEPT_BLOCKS = st.builds(
    ast.ConceptBlock,
    optional(NAMES),
    _IDENTITIES,
    _GUARDS,
    optional(ENTRIES),
    st.lists(_PROPOSITIONS, max_size=2).map(tuple),
    optional(ENTRIES),
)
_PROPOSITION_BLOCKS = st.builds(
    ast.PropositionBlock, optional(NAMES), EXACT_LINKS, _GUARDS, optional(ENTRIES), optional(ENTRIES)
)
_STATEMENTS = st.builds(
    ast.UpsertStatement,
    st.lists(st.one_of(_CONCEPT_BLOCKS, _PROPOSITION_BLOCKS), min_size=1, max_size=3).map(tuple),
    optional(ENTRIES),
)
UPSERTS = st.builds(ast.Upsert, st.lists(_STATEMENTS, min_size=1, max_size=2).map(tuple))


@st.composite
def updates(draw: st.DrawFn) -> ast.Update:
    """An UPDATE whose expressions read its own target, with at least one SET."""
    target = draw(NAMES)
    paths = PATHS.map(lambda path: ast.Path(target, path.field, path.key))
    operands = st.one_of(paths, PARAMETERS, st.builds(ast.Literal, NUMBERS))
    calls = st.recursive(
        st.builds(ast.UpdateCall, st.just("ADD"), st.tuples(operands, operands)),
        lambda inner: st.one_of(
            st.builds(ast.UpdateCall, st.sampled_from(["MUL", "COALESCE"]), st.tuples(inner, operands)),
            st.builds(ast.UpdateCall, st.just("CLAMP"), st.tuples(inner, operands, operands)),
        ),
        max_leaves=3,
    )
    pairs = st.dictionaries(KEYS, st.one_of(VALUES, paths, calls), min_size=1, max_size=3)
    sets = st.one_of(pairs.map(lambda entries: ast.UpdateEntries(tuple(entries.items()))), PARAMETERS)
    attributes = draw(optional(sets))
    metadata = draw(sets if attributes is None else optional(sets))
    return ast.Update(target, draw(WHERES), attributes, metadata, draw(optional(LIMITS)))


_KINDS = st.sampled_from(["concept", "proposition"])
_SHARES = st.one_of(st.integers(0, 1), st.floats(0, 1, allow_nan=False))
SEARCHES = st.builds(
    ast.Search,
    _KINDS,
    STRINGS,
    optional(STRINGS),
    optional(st.one_of(st.builds(ast.Literal, st.sampled_from(["keyword", "semantic", "hybrid"])), PARAMETERS)),
    optional(st.one_of(st.builds(ast.Literal, _SHARES), PARAMETERS)),
    optional(LIMITS),
)
_DELETE_KEYS = st.builds(
    ast.DeleteKeys,
    st.sampled_from(["attributes", "metadata"]),
    st.lists(TEXTS, min_size=1, max_size=3).map(tuple),
    NAMES,
    WHERES,
)
COMMANDS: st.SearchStrategy[ast.Command] = st.one_of(
    FINDS,
    UPSERTS,
    updates(),
    st.builds(ast.Merge, NAMES, NAMES, WHERES),
    _DELETE_KEYS,
    st.builds(ast.DeletePropositions, NAMES, WHERES),
    st.builds(ast.DeleteConcept, NAMES, WHERES),
    st.builds(ast.DescribePrimer),
    st.builds(ast.DescribeDomains),
    st.builds(ast.DescribeTypes, _KINDS, optional(LIMITS), optional(CURSORS)),
    st.builds(ast.DescribeType, _KINDS, STRINGS),
    SEARCHES,
    st.builds(ast.Export, NAMES, WHERES, optional(LIMITS), optional(CURSORS)),
)
