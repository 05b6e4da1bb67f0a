"""The revision log: rollback of one element or of one request (decision 13).

A rollback is a write like any other: it is checked by the guard, and is itself a revision.
"""

from __future__ import annotations

from kip.backends.base import Concept, Element, Link, Reader, Revision, Writer
from kip.errors import KipError
from kip.nexus.drafts import Drafts
from kip.values import Json

Counts = dict[str, Json]


def rollback_element(id: str, version: int, writer: Writer, drafts: Drafts) -> Counts:
    """Give an element the state that it had at ``version``; brings it back if it was removed.

    Raises KIP_3002 when the log does not hold that state, KIP_3003 when its identity is taken by another element.
    """
    current = writer.elements([id]).get(id)
    if current is not None and current.version == version:
        return {"restored": 0}
    revisions = writer.revisions(element=id)
    for revision in revisions:
        if revision.before is not None and revision.before.version == version:
            _become(revision.before, current, revisions[0].version, writer, drafts)
            return {"restored": 1}
    raise KipError(
        "KIP_3002", f"the log has no version {version} of {id!r}", hint="Look at the history of the element."
    )


def rollback_request(request: str, writer: Writer, drafts: Drafts) -> Counts:
    """Undo all changes of one command.

    Raises KIP_3002 for an unknown request, KIP_3005 when one of its elements has been changed since.
    """
    revisions = writer.revisions(request=request)
    if not revisions:
        raise KipError("KIP_3002", f"the log has no request {request!r}")
    current = writer.elements(revision.element for revision in revisions)
    for revision in revisions:
        _check_untouched(revision, current.get(revision.element))
    made = {revision.element for revision in revisions if revision.kind == "create"}
    if any(link.id not in made for link in writer.incident(made)):
        raise KipError("KIP_3005", f"what request {request!r} made has been linked to since")
    drafts.load(current.values())
    for revision in revisions:
        if revision.kind == "create":
            drafts.remove(revision.element)
    for revision, wanted in _in_order_of_reference(revisions):
        _become(wanted, current.get(revision.element), revision.version, writer, drafts)
    return {"restored": len(revisions)}


def _in_order_of_reference(revisions: list[Revision]) -> list[tuple[Revision, Element]]:
    """The earlier states of a request's elements, each link after the links that it refers to."""
    wanted = {revision.element: (revision, revision.before) for revision in revisions if revision.before is not None}
    ordered: dict[str, tuple[Revision, Element]] = {}

    def visit(id: str) -> None:
        _, element = wanted[id]
        for end in (element.subject, element.object) if isinstance(element, Link) else ():
            if end in wanted and end not in ordered:
                visit(end)
        ordered[id] = wanted[id]

    for id in wanted:
        if id not in ordered:
            visit(id)
    return list(ordered.values())


def _check_untouched(revision: Revision, current: Element | None) -> None:
    found = current.version if current is not None else None
    if found != (None if revision.kind == "remove" else revision.version):
        raise KipError("KIP_3005", f"{revision.element!r} has been changed since that request")


def _become(wanted: Element, current: Element | None, newest: int, reader: Reader, drafts: Drafts) -> None:
    """``newest`` is the last version in the log: the restored state counts on from it."""
    if current is None:
        _check_can_return(wanted, reader, drafts)
        drafts.restore(wanted, newest + 1)
        return
    drafts.load([current])
    ends = {"subject": wanted.subject, "object": wanted.object} if isinstance(wanted, Link) else {}
    drafts.revise(current.id, wanted.attributes, wanted.metadata, **ends)


def _check_can_return(wanted: Element, reader: Reader, drafts: Drafts) -> None:
    """A removed element can come back when nobody has taken its identity, and its ends are there."""
    taken: object
    if isinstance(wanted, Concept):
        taken = reader.concepts([(wanted.type, wanted.name)])
    else:
        taken = reader.links([(wanted.subject, wanted.predicate, wanted.object)])
        ends = {wanted.subject, wanted.object}
        if missing := {end for end in ends if drafts.get(end) is None} - set(reader.elements(ends)):
            raise KipError("KIP_3002", f"{min(missing)!r}, which {wanted.id!r} links, does not exist any more")
    if taken:
        raise KipError("KIP_3003", f"the identity of {wanted.id!r} belongs to a newer element now")
