"""Formation: from a source to Experiences and Events in the store (document 003, sections 5, 6 and 15).

Everything of one run goes into the store in ONE command, which is one transaction: a run is there whole or
not at all. A run that is there already is recognised by its name and changes nothing; the create-only guard
on the Experience keeps that true when two writers record the same run at once. All text of the run travels
in parameters, so nothing in it can become command text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kip.errors import KipError
from kip.memory import adapters, products
from kip.memory.adapters.source import Record, Source, records
from kip.memory.model import RecordResult, Refusal, RunReceipt, RunStatus
from kip.memory.naming import run_name, step_name
from kip.memory.privacy import Tally
from kip.memory.screening import repaired, screened
from kip.memory.trace import Person, Trace, run_key
from kip.memory.worth import Worth, judge
from kip.values import Json

if TYPE_CHECKING:
    from kip.nexus.session import Session


def record(
    session: Session,
    source: Source,
    *,
    adapter: str | None = None,
    context: Mapping[str, Json] | None = None,
) -> RecordResult:
    """Record every run of ``source``; each record ends in one receipt.

    Args:
        source: a Path or path text, JSON text or bytes, or Python values; one record or a list of them.
        adapter: the format's name; found by looking at each record when omitted.
        context: hints that hold for all records where they do not say otherwise
            (``counterparty``, ``agent``, ``source``, ``topic``).

    Raises:
        KipError: KIP_1001, KIP_2003 or KIP_3002 when the source as a whole cannot be read, KIP_2002 for an
            unknown adapter or a source without records. A bad record alone raises nothing: it is refused in
            its receipt and the others are recorded.
    """
    if adapter is not None:
        adapters.named(adapter)
    return RecordResult.of([_receipt(session, item, adapter, context or {}) for item in records(source)])


def _receipt(session: Session, item: Record, adapter: str | None, context: Mapping[str, Json]) -> RunReceipt:
    tally = Tally()
    try:
        if item.error is not None:
            raise item.error
        trace = _normalised(item, adapter, context, tally)
        return _formed(session, trace, tally)
    except KipError as error:
        refusal = Refusal(code=error.code, message=str(error), hint=error.hint)
        return RunReceipt(where=item.where, status="refused", reason=error.message, error=refusal)


def _normalised(item: Record, adapter: str | None, context: Mapping[str, Json], tally: Tally) -> Trace:
    value = repaired(item.value, tally)
    trace = adapters.choose(value, item.where, adapter).read(value, item.where)
    merged = {**context, **trace.context}
    source = merged.get("source")
    counterparty = merged.get("counterparty") or merged.get("user")
    persons = trace.persons
    if not persons and isinstance(counterparty, str):
        persons = (Person(counterparty, "Unknown"),)
    named_source = source if isinstance(source, str) else None
    whole = replace(trace, context=merged, source=named_source, persons=persons)
    return screened(replace(whole, key=run_key(whole)), tally)


def _formed(session: Session, trace: Trace, tally: Tally) -> RunReceipt:
    warnings = [*trace.warnings]
    if tally.recalled:
        warnings.append(f"{tally.recalled} passages that came out of recall were left out")
    base = RunReceipt(
        where=trace.where,
        status="skipped",
        reason="its goal came out of recall",
        redacted=tally.secrets,
        repaired=tally.characters,
        warnings=warnings,
    )
    if not trace.goal:
        return base
    worth = judge(trace)
    base = base.model_copy(update={"criteria": list(worth.criteria), "reason": worth.reason})
    return base if worth.product == "nothing" else _stored(session, trace, worth, base)


def _stored(session: Session, trace: Trace, worth: Worth, base: RunReceipt) -> RunReceipt:
    write = _store_experience if worth.product == "experience" else _store_event
    try:
        status, name, steps = write(session, trace)
    except KipError as error:
        if error.code != "KIP_3005":
            raise
        # Somebody else recorded the same run since we looked; looking again settles it.
        status, name, steps = write(session, trace)
    names = [person.name for person in trace.persons]
    return base.model_copy(update={"status": status, "name": name, "steps": steps, "persons": names})


# --- the one command of a run --------------------------------------------------------------------


@dataclass(slots=True)
class _Command:
    """An UPSERT under construction: its blocks, and the parameters that hold all of the run's text."""

    blocks: list[str] = field(default_factory=list[str])
    parameters: dict[str, Json] = field(default_factory=dict[str, Json])

    def bind(self, name: str, value: Json) -> str:
        """The placeholder for ``value``."""
        self.parameters[name] = value
        return f":{name}"

    def run(self, session: Session) -> None:
        session.execute("UPSERT {\n" + "\n".join(self.blocks) + "\n}", self.parameters)


def _store_experience(session: Session, trace: Trace) -> tuple[RunStatus, str, int]:
    name = run_name("Experience", trace)
    known = session.rows(
        'FIND(?e.attributes.trace_digest, ?e.metadata._version) WHERE { ?e {type: "Experience", name: :name} }',
        {"name": name},
    )
    if not known:
        _write_experience(session, trace, name, stored_steps=0, version=0)
        return "recorded", name, len(trace.steps)
    digest, version = known[0]
    if trace.run_id is None or digest == products.content_digest(trace):
        return "unchanged", name, len(trace.steps)
    stored = _stored_prefix(session, trace, name)
    _write_experience(session, trace, name, stored_steps=stored, version=version)
    return "extended", name, len(trace.steps)


def _stored_prefix(session: Session, trace: Trace, name: str) -> int:
    """How many steps are stored; raises KIP_3003 unless they are the first ones of ``trace`` (decision 23)."""
    stored = session.rows(
        "FIND(?s.attributes.index, ?s.attributes.kind, ?s.attributes.summary) "
        'WHERE { (?e, "has_step", ?s) ?e {type: "Experience", name: :name} } ORDER BY ?s.attributes.index',
        {"name": name},
    )
    ours = [(index, step.kind, step.summary) for index, step in enumerate(trace.steps)]
    if stored != ours[: len(stored)]:
        raise KipError(
            "KIP_3003",
            f"{trace.where}: run {trace.run_id!r} is stored already, with other steps",
            hint="A run may grow but not change. Give a changed run its own run_id.",
        )
    return len(stored)


def _write_experience(session: Session, trace: Trace, name: str, *, stored_steps: int, version: Json) -> None:
    now = session.clock.now()
    command = _Command()
    episodic = products.episodic(trace, now)
    lifecycle = command.bind("episodic", episodic)
    links = _add_surroundings(session, command, trace, products.provenance(trace, now, products.CONFIDENCE))
    for index in range(stored_steps, len(trace.steps)):
        _add_step(command, trace, name, index, stored_steps)
        links.append(f'("has_step", ?s{index})')
    attributes = products.experience_attributes(trace, now)
    if version:
        # What was said about the run when it was first recorded stays: its beginning and its strength.
        attributes.pop("started_at")
        lifecycle = command.bind("growth", {key: episodic[key] for key in ("source", "author", "observed_at")})
    command.blocks.append(
        f'CONCEPT ?experience {{ {{type: "Experience", name: {command.bind("name", name)}}}'
        f" EXPECT VERSION {command.bind('version', version)}"
        f" SET ATTRIBUTES {command.bind('experience', attributes)}"
        f" SET PROPOSITIONS {{ {' '.join(links)} }} }} WITH METADATA {lifecycle}"
    )
    command.run(session)


def _add_step(command: _Command, trace: Trace, experience: str, index: int, stored_steps: int) -> None:
    step = trace.steps[index]
    cause = ""
    if step.answers is not None:
        # The trace itself says which call this answers (decision 28).
        target = f"?s{step.answers}"
        if step.answers < stored_steps:
            known = command.bind(f"s{step.answers}_name", step_name(experience, step.answers))
            target = f'{{type: "ExperienceStep", name: {known}}}'
        cause = f' SET PROPOSITIONS {{ ("caused_by", {target}) }}'
    name = command.bind(f"s{index}_name", step_name(experience, index))
    attributes = command.bind(f"s{index}", products.step_attributes(step, index))
    command.blocks.append(
        f'CONCEPT ?s{index} {{ {{type: "ExperienceStep", name: {name}}} SET ATTRIBUTES {attributes}{cause} }}'
        " WITH METADATA :episodic"
    )


def _store_event(session: Session, trace: Trace) -> tuple[RunStatus, str, int]:
    name = run_name("Conversation", trace)
    if session.rows('FIND(?e.id) WHERE { ?e {type: "Event", name: :name} }', {"name": name}):
        return "unchanged", name, 0
    now = session.clock.now()
    command = _Command()
    metadata = command.bind("metadata", products.event_metadata(trace, now))
    links = _add_surroundings(session, command, trace, products.provenance(trace, now, products.EVENT_CONFIDENCE))
    command.blocks.append(
        f'CONCEPT ?event {{ {{type: "Event", name: {command.bind("name", name)}}} EXPECT VERSION 0'
        f" SET ATTRIBUTES {command.bind('event', products.event_attributes(trace, now))}"
        f" SET PROPOSITIONS {{ {' '.join(links)} }} }} WITH METADATA {metadata}"
    )
    command.run(session)
    return "event", name, 0


def _add_surroundings(session: Session, command: _Command, trace: Trace, metadata: dict[str, Json]) -> list[str]:
    """Blocks for persons and a topic domain that are not there yet; the links to all of them."""
    command.bind("provenance", metadata)
    links: list[str] = []
    known = _known(session, "Person", [person.name for person in trace.persons])
    for number, person in enumerate(trace.persons):
        attributes: dict[str, Json] = {"person_class": person.person_class}
        links.append(f'("involves", {_neighbour(command, f"p{number}", "Person", person.name, attributes, known)})')
    topic = trace.context.get("topic")
    if isinstance(topic, str) and topic.strip():
        known = _known(session, "Domain", [topic])
        attributes = {"description": f"What was recorded under the topic {topic!r}."}
        links.append(f'("belongs_to_domain", {_neighbour(command, "domain", "Domain", topic, attributes, known)})')
    else:
        links.append('("belongs_to_domain", {type: "Domain", name: "Unsorted"})')
    return links


def _known(session: Session, kind: str, names: list[str]) -> set[str]:
    if not names:
        return set()
    rows = session.rows(
        "FIND(?x.name) WHERE { ?x {type: :kind} FILTER(IN(?x.name, :names)) }", {"kind": kind, "names": [*names]}
    )
    return {str(row[0]) for row in rows}


def _neighbour(
    command: _Command, handle: str, kind: str, name: str, attributes: dict[str, Json], known: set[str]
) -> str:
    """A reference to a concept; one that is not there yet gets a block of its own first."""
    identity = f'{{type: "{kind}", name: {command.bind(f"{handle}_name", name)}}}'
    if name in known:
        return identity
    placeholder = command.bind(handle, attributes)
    command.blocks.append(f"CONCEPT ?{handle} {{ {identity} SET ATTRIBUTES {placeholder} }} WITH METADATA :provenance")
    return f"?{handle}"
