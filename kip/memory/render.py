"""A briefing as a page: lines with a role, from which plain text, Markdown and a terminal page are made.

All three carry the marks of :mod:`kip.memory.marks` at both ends; a briefing from recall has none inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kip.memory.briefing import Briefing, CommitmentNote, Contrast, ExperienceNote, PartingNote, SkillNote, StepNote
from kip.memory.marks import BEGIN, END
from kip.memory.screening import shortened

Role = Literal["mark", "title", "verdict", "section", "good", "bad", "warn", "item", "detail"]

_GOAL = 160
_STEP = 110


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page; ``role`` says what it is, not how it looks."""

    role: Role
    text: str


def page(briefing: Briefing) -> list[Line]:
    """The lines of ``briefing``, most useful first; sections without content are left out."""
    lines = [
        Line("title", f"Before you act: {shortened(briefing.goal, _GOAL)}"),
        Line("verdict", briefing.verdict),
        *_listed("Warnings", "warn", briefing.warnings),
        *_contrast(briefing.contrast),
        *_experiences("What worked", "good", briefing.successes, briefing.rest.successes),
        *_experiences("What failed", "bad", briefing.failures, briefing.rest.failures),
        *_experiences("Tried, outcome unknown", "item", briefing.undecided, briefing.rest.undecided),
        *_skills(briefing.skills),
        *_listed("Known", "item", [f"{note.text}  ({note.type})" for note in briefing.knowledge]),
        *_listed("Open commitments", "item", [_commitment(note) for note in briefing.commitments]),
        *_listed("Not known", "item", briefing.gaps),
    ]
    return [Line("mark", BEGIN), *(Line(line.role, _harmless(line.text)) for line in lines), Line("mark", END)]


def _harmless(text: str) -> str:
    """Text without control characters that a terminal would obey."""
    return "".join(character for character in text if character.isprintable())


def _listed(title: str, role: Role, texts: Sequence[str]) -> Iterator[Line]:
    if texts:
        yield Line("section", title)
        yield from (Line(role, text) for text in texts)


def _commitment(note: CommitmentNote) -> str:
    due = f", due {note.due_at}" if note.due_at else ""
    return f"{note.description}{due}{' (overdue)' if note.overdue else ''}"


def _experiences(title: str, role: Role, notes: Sequence[ExperienceNote], rest: Sequence[str]) -> Iterator[Line]:
    if not notes:
        return
    yield Line("section", title)
    for note in notes:
        yield Line(role, shortened(note.goal, _GOAL))
        yield Line("detail", f"{note.outcome}")
        if note.path:
            yield Line("detail", " → ".join(note.path))
        yield Line("detail", f"{note.name}  fit {note.rank:.2f} ({_factors(note)})")
    if rest:
        yield Line("detail", f"and {len(rest)} more: {', '.join(rest[:3])}{', …' if len(rest) > 3 else ''}")


def _factors(note: ExperienceNote) -> str:
    factors = note.factors.model_dump()
    return ", ".join(f"{name} {value:.2f}" for name, value in factors.items() if value is not None)


def _contrast(contrast: Contrast | None) -> Iterator[Line]:
    if contrast is None:
        return
    yield Line("section", "Where success and failure part" + ("" if contrast.same_goal else " (goals differ somewhat)"))
    yield Line("item", contrast.summary)
    yield from _sides(contrast.first)
    change = contrast.first_change
    if change is not None and change != contrast.first:
        yield Line("item", "The first difference in an act that changes something:")
        yield from _sides(change)
    yield Line("detail", f"success {contrast.success}; failure {contrast.failure}")


def _sides(parting: PartingNote | None) -> Iterator[Line]:
    if parting is None:
        return
    yield from _side("good", parting.in_success, parting.more_in_success, parting.success_details)
    yield from _side("bad", parting.in_failure, parting.more_in_failure, parting.failure_details)


def _side(role: Role, step: StepNote | None, more: int, details: Sequence[str]) -> Iterator[Line]:
    if step is None:
        yield Line(role, "nothing there")
        return
    further = f"  (and {more} more)" if more else ""
    yield Line(role, f"step {step.index}: {shortened(step.summary, _STEP)}{further}")
    if details:
        yield Line("detail", f"with {', '.join(details)}")
    if step.result:
        yield Line("detail", f"then: {shortened(step.result, _STEP)}")


def _skills(notes: Sequence[SkillNote]) -> Iterator[Line]:
    if not notes:
        return
    yield Line("section", "Skills that may apply (check their conditions)")
    for note in notes:
        counts = f"{note.success_count} successes, {note.failure_count} failures"
        yield Line("item", f"{note.name}: {note.description}  [{note.maturity}; {counts}]")
        for label, texts in (("when", note.trigger_conditions), ("needs", note.preconditions)):
            if texts:
                yield Line("detail", f"{label} {'; '.join(texts)}")
        yield from (Line("detail", f"{number}. {text}") for number, text in enumerate(note.procedure, start=1))
        if note.failure_signals:
            yield Line("detail", f"stop if {'; '.join(note.failure_signals)}")


_PLAIN: dict[Role, str] = {"good": "  + ", "bad": "  - ", "warn": "  ! ", "item": "  * ", "detail": "      "}
_MARKDOWN: dict[Role, str] = {
    "title": "# ",
    "section": "\n## ",
    "good": "- ✔ ",
    "bad": "- ✘ ",
    "warn": "- ⚠ ",
    "item": "- ",
    "detail": "  - ",
}


def as_text(lines: Sequence[Line]) -> str:
    """The page as plain text."""
    return "\n".join(_plain(line) for line in lines)


def _plain(line: Line) -> str:
    return f"\n{line.text}" if line.role == "section" else _PLAIN.get(line.role, "") + line.text


def as_markdown(lines: Sequence[Line]) -> str:
    """The page as Markdown. Recalled text is escaped, so that it cannot become markup of its own."""
    return "\n".join(_marked_up(line) for line in lines)


def _marked_up(line: Line) -> str:
    return line.text if line.role == "mark" else _MARKDOWN.get(line.role, "") + _escaped(line.text)


def _escaped(text: str) -> str:
    return "".join(f"\\{character}" if character in "\\`*_[]<>#|" else character for character in text)
