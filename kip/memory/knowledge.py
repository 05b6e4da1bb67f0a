"""What recall finds beside runs: lessons, facts, preferences, skills and open commitments (section 16).

Superseded assertions are left out. What is marked private is shown only when it concerns ``$self`` or the
person whom the briefing is about (behaviours 003.25); otherwise nothing hints at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, cast

from kip.clock import parse_time
from kip.errors import KipError
from kip.memory.briefing import CommitmentNote, KnowledgeNote, SkillNote
from kip.values import Json, dumps

if TYPE_CHECKING:
    from kip.nexus.session import Session

SHOWN = 5
"""How many items of each kind are shown at most."""

MINIMUM_SCORE = 0.3
"""Search score from which an item is taken to bear on the goal."""

_LIVE_MATURITY = frozenset({"candidate", "validated", "needs_review"})
_WITHDRAWN = frozenset({"SUSPENDED", "RETIRED"})


@dataclass(frozen=True, slots=True)
class Found:
    """A concept as SEARCH returned it."""

    id: str
    type: str
    name: str
    attributes: Mapping[str, Json]
    metadata: Mapping[str, Json]

    @property
    def score(self) -> float:
        """How well it fits the text, 0 to 1."""
        value = self.metadata.get("_score")
        return float(value) if isinstance(value, (int, float)) else 0.0

    def text(self, key: str) -> str:
        """The attribute ``key`` if it is a text, else nothing."""
        value = self.attributes.get(key)
        return value if isinstance(value, str) else ""

    def texts(self, key: str) -> list[str]:
        """The attribute ``key`` as a list of texts."""
        value = self.attributes.get(key)
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

    def number(self, key: str) -> float | None:
        """The attribute ``key`` if it is a number."""
        value = self.attributes.get(key)
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def search(session: Session, text: str, kind: str, limit: int) -> list[Found]:
    """The best ``limit`` concepts of type ``kind`` for ``text``."""
    found = session.execute(
        'SEARCH CONCEPT :text WITH TYPE :kind MODE "keyword" LIMIT :limit', {"text": text, "kind": kind, "limit": limit}
    )
    return [_found(node) for node in cast(list[dict[str, Json]], found)]


def _found(node: dict[str, Json]) -> Found:
    return Found(
        id=str(node["id"]),
        type=str(node["type"]),
        name=str(node["name"]),
        attributes=cast(dict[str, Json], node["attributes"]),
        metadata=cast(dict[str, Json], node["metadata"]),
    )


def knowledge(session: Session, goal: str, counterparty: str | None) -> list[KnowledgeNote]:
    """Insights, Facts and Preferences that bear on ``goal``, best first."""
    items = [
        item
        for kind in ("Insight", "Fact", "Preference")
        for item in search(session, goal, kind, SHOWN)
        if item.score >= MINIMUM_SCORE and not _superseded(item)
    ]
    hidden = _hidden(session, [item for item in items if item.metadata.get("access_level") == "private"], counterparty)
    notes = [_knowledge_note(item) for item in items if item.id not in hidden]
    return sorted(notes, key=lambda note: -note.score)[:SHOWN]


def _superseded(item: Found) -> bool:
    return item.metadata.get("superseded") is True or bool(item.attributes.get("superseded_by"))


def _hidden(session: Session, private: Sequence[Found], counterparty: str | None) -> set[str]:
    if not private:
        return set()
    ids: list[Json] = [item.id for item in private]
    owners: list[Json] = ["$self", *([counterparty] if counterparty else [])]
    rows = session.rows(
        'FIND(?x.id) WHERE { ?p {type: "Person"} FILTER(IN(?p.name, :owners)) '
        '(?p, "prefers" | "learned", ?x) FILTER(IN(?x.id, :ids)) '
        'UNION { ?p {type: "Person"} FILTER(IN(?p.name, :owners)) (?x, "fact_about", ?p) FILTER(IN(?x.id, :ids)) } }',
        {"ids": ids, "owners": owners},
    )
    return {item.id for item in private} - {str(row[0]) for row in rows}


def _knowledge_note(item: Found) -> KnowledgeNote:
    confidence = item.metadata.get("confidence")
    return KnowledgeNote(
        type=item.type,
        name=item.name,
        text=_knowledge_text(item),
        score=item.score,
        confidence=confidence if isinstance(confidence, (int, float)) else None,
    )


def _knowledge_text(item: Found) -> str:
    if item.type == "Fact":
        return f"{item.name}: {item.text('predicate')} = {dumps(item.attributes.get('value'))}"
    parts = [item.text("description")]
    if correction := item.text("correction"):
        parts.append(f"Do instead: {correction}")
    return " ".join(part for part in parts if part) or item.name


def skills(session: Session, goal: str) -> list[SkillNote]:
    """Skills for ``goal`` that may still guide an action: neither deprecated nor withdrawn."""
    return [_skill_note(item) for item in search(session, goal, "Skill", 2 * SHOWN) if _may_guide(item)][:SHOWN]


def _may_guide(item: Found) -> bool:
    maturity = item.text("maturity") or "candidate"
    live = maturity in _LIVE_MATURITY and item.text("lifecycle_state") not in _WITHDRAWN
    return live and item.score >= MINIMUM_SCORE and not _superseded(item)


def _skill_note(item: Found) -> SkillNote:
    return SkillNote(
        name=item.name,
        description=item.text("description"),
        maturity=item.text("maturity") or "candidate",
        score=item.score,
        trigger_conditions=item.texts("trigger_conditions"),
        preconditions=item.texts("preconditions"),
        procedure=item.texts("procedure"),
        failure_signals=item.texts("failure_signals"),
        success_count=int(item.number("success_count") or 0),
        failure_count=int(item.number("failure_count") or 0),
        utility=item.number("utility"),
    )


def commitments(session: Session, goal: str, counterparty: str | None, now: datetime) -> list[CommitmentNote]:
    """Pending commitments that bear on ``goal`` or are owed to ``counterparty``; overdue ones first.

    A private one comes up for the person it is owed to only.
    """
    pending = {item.name: item.attributes for item in _commitments_for(session, goal)}
    if counterparty:
        rows = session.rows(
            'FIND(?c.name, ?c.attributes) WHERE { (?c, "owed_to", {type: "Person", name: :who}) '
            'FILTER(?c.attributes.status == "pending") } ORDER BY ?c.attributes.due_at LIMIT :limit',
            {"who": counterparty, "limit": SHOWN},
        )
        pending.update((str(name), cast(dict[str, Json], attributes)) for name, attributes in rows)
    notes = [_commitment_note(name, attributes, now) for name, attributes in pending.items()]
    return sorted(notes, key=lambda note: (not note.overdue, note.due_at or "9999", note.name))[:SHOWN]


def _commitments_for(session: Session, goal: str) -> Iterator[Found]:
    for item in search(session, goal, "Commitment", 2 * SHOWN):
        open_to_all = item.metadata.get("access_level") != "private"
        if item.score >= MINIMUM_SCORE and (item.text("status") or "pending") == "pending" and open_to_all:
            yield item


def _commitment_note(name: str, attributes: Mapping[str, Json], now: datetime) -> CommitmentNote:
    due = attributes.get("due_at")
    description = attributes.get("description")
    return CommitmentNote(
        name=name,
        description=description if isinstance(description, str) else name,
        due_at=due if isinstance(due, str) else None,
        overdue=isinstance(due, str) and _is_past(due, now),
    )


def _is_past(due: str, now: datetime) -> bool:
    try:
        return parse_time(due)[0] < now
    except KipError:
        return False
