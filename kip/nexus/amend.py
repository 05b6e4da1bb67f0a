"""UPDATE, DELETE and MERGE (SPECIFICATION.md 4.2-4.4): changes to elements that a pattern selects.

Each function leaves its changes in the working set and returns the response's counters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import assert_never, cast

from kip.backends.base import Concept, Element, Link, Reader, Writer
from kip.errors import KipError
from kip.lang import ast
from kip.nexus.drafts import Drafts
from kip.nexus.guard import check_metadata_keys, is_actor, is_protected
from kip.nexus.query import find_targets
from kip.nexus.resolve import Parameters, resolve, resolve_object
from kip.nexus.schema import Registry
from kip.plan.bind import bind_targets
from kip.values import Json, check

Counts = dict[str, Json]

# --- UPDATE (4.3) -------------------------------------------------------------------------------


def update(command: ast.Update, parameters: Parameters, writer: Writer, drafts: Drafts, registry: Registry) -> Counts:
    """Bulk mutation; every element on which a key was set counts, and gets a new version (decision 12)."""
    query = bind_targets(command.where, (command.target,), command.limit)
    found = _load(find_targets(query, parameters, writer, registry), writer, drafts)
    attributes = _entries(command.attributes, parameters)
    metadata = _entries(command.metadata, parameters)
    check_metadata_keys(key for key, _ in metadata)
    for entries in (attributes, metadata):
        for _, value in entries:
            _check_paths(value, command.target)
    updated = 0
    for element in found:
        new = _evaluate(attributes, element, parameters), _evaluate(metadata, element, parameters)
        if new[0] or new[1]:
            drafts.revise(element.id, {**element.attributes, **new[0]}, {**element.metadata, **new[1]})
            updated += 1
    return {"updated": updated, "matched": len(found)}


Entry = tuple[str, ast.UpdateValue]


def _entries(entries: ast.UpdateEntries | ast.Parameter | None, parameters: Parameters) -> list[Entry]:
    if isinstance(entries, ast.UpdateEntries):
        return list(entries.entries)
    return [(key, ast.Literal(value)) for key, value in resolve_object(entries, parameters, "SET").items()]


def _check_paths(value: ast.UpdateValue, target: str) -> None:
    """An expression reads its own element only (4.3); raises KIP_3001."""
    if isinstance(value, ast.UpdateCall):
        for argument in value.arguments:
            _check_paths(argument, target)
    elif isinstance(value, ast.Path) and value.variable != target:
        raise KipError(
            "KIP_3001",
            f"an update expression of ?{target} cannot read ?{value.variable}",
            hint=f"Use paths on ?{target} only; read other values first and pass them as parameters.",
        )


def _evaluate(entries: list[Entry], element: Element, parameters: Parameters) -> dict[str, Json]:
    values: dict[str, Json] = {}
    for key, value in entries:
        if isinstance(value, ast.UpdateCall | ast.Path):
            number = _number(value, element, parameters)
            if number is not None:
                values[key] = check(number, f"the new value of {key!r}")
        else:
            values[key] = resolve(value, parameters)
    return values


Number = int | float


def _number(expression: ast.UpdateExpression, element: Element, parameters: Parameters) -> Number | None:
    """The value of an update expression; None where it yields null and the key is skipped."""
    match expression:
        case ast.Path():
            return _as_number(_read(expression, element))
        case ast.Literal() | ast.Parameter():
            return _as_number(resolve(expression, parameters))
        case ast.UpdateCall(function="COALESCE"):
            first, default = expression.arguments
            is_absent = isinstance(first, ast.Path) and _read(first, element) is None
            number = None if is_absent else _number(first, element, parameters)
            if number is None and (is_absent or isinstance(first, ast.UpdateCall)):
                return _number(default, element, parameters)
            return number
        case ast.UpdateCall():
            numbers = [_number(argument, element, parameters) for argument in expression.arguments]
            if any(number is None for number in numbers):
                return None
            return _calculate(expression.function, cast(list[Number], numbers))
        case _:
            assert_never(expression)


def _as_number(value: Json) -> Number | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _calculate(function: str, numbers: list[Number]) -> Number:
    try:
        if function == "ADD":
            return numbers[0] + numbers[1]
        if function == "MUL":
            return numbers[0] * numbers[1]
        value, low, high = numbers
        return max(low, min(value, high))
    except OverflowError:
        return math.inf  # refused where the value is checked


def _read(path: ast.Path, element: Element) -> Json:
    """The value of a path on the element itself."""
    data = element.to_json()
    found = data.get(path.field)
    if path.key is None:
        return found
    return found.get(path.key) if isinstance(found, dict) else None


# --- DELETE (4.2) -------------------------------------------------------------------------------


def delete_keys(
    command: ast.DeleteKeys, parameters: Parameters, writer: Writer, drafts: Drafts, registry: Registry
) -> Counts:
    """DELETE ATTRIBUTES / DELETE METADATA; counts the elements that lost a key."""
    if command.kind == "metadata":
        check_metadata_keys(command.keys)
    query = bind_targets(command.where, (command.target,))
    counts = {Concept: 0, Link: 0}
    for element in _load(find_targets(query, parameters, writer, registry), writer, drafts):
        attributes, metadata = dict(element.attributes), dict(element.metadata)
        container = attributes if command.kind == "attributes" else metadata
        if not any(key in container for key in command.keys):
            continue
        for key in command.keys:
            container.pop(key, None)
        drafts.revise(element.id, attributes, metadata)
        counts[type(element)] += 1
    return {"updated_concepts": counts[Concept], "updated_propositions": counts[Link]}


def delete_propositions(
    command: ast.DeletePropositions, parameters: Parameters, writer: Writer, drafts: Drafts, registry: Registry
) -> Counts:
    """Removes the links, and transitively the links about them: no reference is left dangling."""
    query = bind_targets(command.where, (command.target,))
    found = _load(find_targets(query, parameters, writer, registry), writer, drafts)
    if any(isinstance(element, Concept) for element in found):
        hint = "Use DELETE CONCEPT .. DETACH for concepts."
        raise KipError("KIP_2002", f"?{command.target} is bound to a concept", hint=hint)
    return {"deleted_propositions": _remove([element.id for element in found], writer, drafts)}


def delete_concept(
    command: ast.DeleteConcept, parameters: Parameters, writer: Writer, drafts: Drafts, registry: Registry
) -> Counts:
    """Removes concepts, their links, and transitively the links about those (4.2.4)."""
    query = bind_targets(command.where, (command.target,))
    found = _load(find_targets(query, parameters, writer, registry), writer, drafts)
    if any(isinstance(element, Link) for element in found):
        hint = "Use DELETE PROPOSITIONS for links."
        raise KipError("KIP_2002", f"?{command.target} is bound to a proposition", hint=hint)
    removed = _remove([element.id for element in found], writer, drafts)
    return {"deleted_concepts": len(found), "deleted_propositions": removed - len(found)}


def _remove(ids: Iterable[str], writer: Writer, drafts: Drafts) -> int:
    """Remove elements and all links that would dangle; returns how many elements went."""
    doomed = cascade(writer.elements(ids), writer, drafts)
    for id in sorted(doomed):
        drafts.remove(id)
    return len(doomed)


def cascade(elements: Mapping[str, Element], reader: Reader, drafts: Drafts) -> set[str]:
    """The ids of some elements and of all links that would dangle without them; loads them into the working set."""
    drafts.load(elements.values())
    doomed = set(elements)
    frontier = set(doomed)
    while frontier:
        incident = reader.incident(frontier)
        drafts.load(incident)
        frontier = {link.id for link in incident} - doomed
        doomed |= frontier
    return doomed


def _load(ids: list[str], reader: Reader, drafts: Drafts) -> list[Element]:
    """The elements of some ids, in that order, taken into the working set."""
    found = reader.elements(ids)
    drafts.load(found.values())
    return [found[id] for id in ids]


# --- MERGE (4.4) --------------------------------------------------------------------------------


def merge(command: ast.Merge, parameters: Parameters, writer: Writer, drafts: Drafts, registry: Registry) -> Counts:
    """Consolidates the source concept into the target; raises KIP_3002, KIP_3003, KIP_2002, KIP_3004 as 4.4 says."""
    try:
        target = _only(command.target, command.where, parameters, writer, drafts, registry)
        source = _only(command.source, command.where, parameters, writer, drafts, registry)
    except KipError as error:
        raise _already_merged(error, command, parameters, writer) from None
    if source.id == target.id:
        return {"merged": True, "links_repointed": 0, "links_deduplicated": 0, "attributes_filled": 0}
    if source.type != target.type:
        raise KipError("KIP_2002", f"a {source.type} cannot be merged into a {target.type}")
    for concept in (source, target):
        if is_protected(concept) or is_actor(concept):
            raise KipError("KIP_3004", f"{concept.type} {concept.name!r} is part of the system and cannot be merged")
    moves = _Repointing(writer, drafts)
    moves.move(source.id, target.id)
    filled = _fill_target(source, target, drafts)
    drafts.remove(source.id)
    return {
        "merged": True,
        "links_repointed": len(moves.repointed - moves.dropped),
        "links_deduplicated": len(moves.dropped),
        "attributes_filled": filled,
    }


def _only(
    name: str, where: tuple[ast.Clause, ...], parameters: Parameters, writer: Writer, drafts: Drafts, registry: Registry
) -> Concept:
    query = bind_targets(where, (name,), ast.Literal(2))
    found = _load(find_targets(query, parameters, writer, registry), writer, drafts)
    if not found:
        raise KipError("KIP_3002", f"?{name} matches nothing")
    if len(found) > 1:
        raise KipError("KIP_3003", f"?{name} matches more than one node")
    concept = found[0]
    if not isinstance(concept, Concept):
        raise KipError("KIP_2002", f"?{name} is a proposition; MERGE works on concepts")
    return concept


def _already_merged(error: KipError, command: ast.Merge, parameters: Parameters, reader: Reader) -> KipError:
    """The hint of 4.4 for a replay: the source is gone because it was merged into this target.

    Without the source the pattern has no solution at all, so the target is looked up by its own clause.
    """
    source, target = (_named(name, command.where, parameters) for name in (command.source, command.target))
    if error.code != "KIP_3002" or source is None or target is None:
        return error
    found = reader.concepts([source, target])
    trail = found[target].metadata.get("_merged_from") if target in found and source not in found else None
    if isinstance(trail, list) and f"{source[0]}:{source[1]}" in trail:
        hint = f"{source[0]} {source[1]!r} was already merged into {target[1]!r}; nothing is left to do."
        return KipError(error.code, error.message, hint=hint)
    return error


def _named(variable: str, where: tuple[ast.Clause, ...], parameters: Parameters) -> tuple[str, str] | None:
    """The (type, name) that a concept clause gives a variable."""
    for clause in where:
        if isinstance(clause, ast.ConceptClause) and clause.variable == variable:
            type, name = clause.matcher.type, clause.matcher.name
            if type is not None and name is not None:
                return str(resolve(type, parameters)), str(resolve(name, parameters))
    return None


def _fill_target(source: Concept, target: Concept, drafts: Drafts) -> int:
    """Attributes that the target lacks, the union of aliases, and the provenance trail."""
    missing = {key: value for key, value in source.attributes.items() if key not in target.attributes}
    aliases = [*_aliases(target), *_aliases(source), source.name]
    attributes: dict[str, Json] = {**target.attributes, **missing}
    if isinstance(target.attributes.get("aliases"), list | str | None):
        attributes["aliases"] = [*_unique(alias for alias in aliases if alias != target.name)]
    trail = [*_trail(target), *_trail(source), f"{source.type}:{source.name}"]
    metadata: dict[str, Json] = {**target.metadata, "_merged_from": [*_unique(trail)]}
    drafts.revise(target.id, attributes, metadata)
    # The target got aliases even where the source had none to give (decision 12).
    return len(missing) + ("aliases" not in target.attributes and "aliases" not in missing)


def _aliases(concept: Concept) -> list[Json]:
    found = concept.attributes.get("aliases")
    return found if isinstance(found, list) else [found] if isinstance(found, str) else []


def _trail(concept: Concept) -> list[Json]:
    found = concept.metadata.get("_merged_from")
    return found if isinstance(found, list) else []


def _unique(values: Iterable[Json]) -> list[Json]:
    kept: list[Json] = []
    for value in values:
        if value not in kept:
            kept.append(value)
    return kept


class _Repointing:
    """Moves all links of one element to another; a link that would double another is folded into it."""

    def __init__(self, writer: Writer, drafts: Drafts) -> None:
        self._writer = writer
        self._drafts = drafts
        self.repointed: set[str] = set()
        self.dropped: set[str] = set()

    def move(self, source: str, target: str) -> None:
        incident = self._writer.incident([source])
        self._drafts.load(incident)
        moved = [(link.id, *_moved_ends(link, source, target)) for link in incident]
        predicates = {link.id: link.predicate for link in incident}
        self._drafts.load(self._writer.links([(s, predicates[id], o) for id, s, o in moved]).values())
        for id, _, _ in moved:
            link = self._drafts.get(id)
            if isinstance(link, Link):
                self._move_link(link, *_moved_ends(link, source, target))

    def _move_link(self, link: Link, subject: str, object: str) -> None:
        survivor = self._drafts.link((subject, link.predicate, object))
        if subject == object:
            self._drop(link.id)
        elif survivor is not None and survivor.id != link.id:
            self._fold(link, survivor)
        else:
            self._drafts.revise(link.id, link.attributes, link.metadata, subject=subject, object=object)
            self.repointed.add(link.id)

    def _fold(self, link: Link, survivor: Link) -> None:
        attributes = {**link.attributes, **survivor.attributes}
        metadata = {**link.metadata, **survivor.metadata}
        if attributes != survivor.attributes or metadata != survivor.metadata:
            self._drafts.revise(survivor.id, attributes, metadata)
        self.move(link.id, survivor.id)
        self._drafts.remove(link.id)
        self.dropped.add(link.id)

    def _drop(self, id: str) -> None:
        """A link that would become one from an element to itself goes, with the links about it (decision 11)."""
        _remove([id], self._writer, self._drafts)
        self.dropped.add(id)


def _moved_ends(link: Link, source: str, target: str) -> tuple[str, str]:
    return (
        target if link.subject == source else link.subject,
        target if link.object == source else link.object,
    )
