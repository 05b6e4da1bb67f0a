"""A briefing as plain text and as Markdown, marked at both ends and harmless to whoever shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kip.memory.briefing import (
    Briefing,
    CommitmentNote,
    Contrast,
    ExperienceNote,
    Factors,
    KnowledgeNote,
    PartingNote,
    Rest,
    SkillNote,
    StepNote,
    sealed,
)
from kip.memory.marks import BEGIN, END, without_recalled
from kip.memory.render import as_markdown, as_text, page

FACTORS = Factors(goal=0.5, identifiers=None, state=None, tools=1.0, strength=0.8)


def note(name: str, success: bool | None, goal: str = "cancel a flight") -> ExperienceNote:
    return ExperienceNote(
        name=name,
        goal=goal,
        success=success,
        outcome="success: ok" if success else "failure: no",
        started_at="",
        rank=0.61,
        factors=FACTORS,
        path=["get_order", "refund"],
        steps=3,
    )


def briefing(goal: str = "cancel a flight", **parts: object) -> Briefing:
    base = Briefing(
        status="success", verdict="2 similar runs.", goal=goal, state={}, tools=[], generated_at="2026-05-01T00:00:00Z"
    )
    return base.model_copy(update=parts)


FULL = briefing(
    successes=[note("S", True)],
    failures=[note("F", False)],
    undecided=[note("U", None)],
    rest=Rest(failures=["F2", "F3", "F4", "F5"]),
    contrast=Contrast(
        success="S",
        failure="F",
        same_goal=False,
        first=PartingNote(
            manner="other details",
            shared_steps=1,
            in_success=StepNote(index=2, kind="action", summary="pay(method=card)", result="paid"),
            in_failure=StepNote(index=3, kind="action", summary="pay(method=cash)"),
            more_in_failure=2,
            success_details=["method=card"],
        ),
        first_change=None,
        differing_acts=1,
        summary="After 1 step in common",
    ),
    knowledge=[KnowledgeNote(type="Insight", name="i", text="Ask first.", score=0.5)],
    skills=[
        SkillNote(
            name="refund safely",
            description="how to refund",
            maturity="validated",
            score=0.7,
            trigger_conditions=["a refund is asked for"],
            preconditions=["order is paid"],
            procedure=["look", "refund"],
            failure_signals=["no such order"],
            success_count=4,
            failure_count=1,
        )
    ],
    commitments=[CommitmentNote(name="c", description="call Ada", due_at="2026-04-01", overdue=True)],
    warnings=["careful"],
    gaps=["no state"],
)


@pytest.mark.parametrize("write", [as_text, as_markdown])
def test_everything_a_briefing_holds_is_on_the_page(write: object) -> None:
    assert callable(write)
    text = str(write(page(FULL))).replace("\\", "")
    for part in (
        *("cancel a flight", "2 similar runs.", "S", "F", "U", "and 4 more", "goals differ somewhat"),
        *("pay(method=card)", "then: paid", "(and 2 more)", "with method=card", "Ask first.", "refund safely"),
        *("validated; 4 successes, 1 failures", "needs order is paid", "1. look", "stop if no such order"),
        *("call Ada, due 2026-04-01 (overdue)", "careful", "no state", "get_order → refund", "goal 0.50, tools 1.00"),
    ):
        assert part in text
    assert "identifiers" not in text  # a factor that was not compared is not shown


def test_sections_without_content_are_left_out() -> None:
    assert as_text(page(briefing())).splitlines() == [
        BEGIN,
        "Before you act: cancel a flight",
        "2 similar runs.",
        END,
    ]


@given(st.text(st.characters(codec="utf-8")))
def test_a_page_is_never_formed_into_memory_again(text: str) -> None:
    hostile = [text, f"{END} {text}", f"{BEGIN}{text}", f"[kip:rec{BEGIN}all-end]{text}"]
    shown = sealed(briefing(f"goal {text}", failures=[note("F", False, text)], gaps=hostile))
    for written in (as_text(page(shown)), as_markdown(page(shown)), shown.model_dump_json()):
        assert without_recalled(written) == ("", 1)
        assert "similar" not in without_recalled(f"note {written} tail")[0]
        assert without_recalled(f"note {written} tail")[0].endswith("tail")


def test_recalled_text_can_neither_steer_a_terminal_nor_become_markup() -> None:
    hostile = "\x1b[2J\x07 <script> [link](x) # head"
    lines = page(briefing(gaps=[hostile]))
    assert not any(ord(character) < 32 for line in lines for character in line.text)
    assert "\\<script\\>" in as_markdown(lines)
    assert "\\[link\\]" in as_markdown(lines)


def test_experiences_come_best_first() -> None:
    weak = note("W", True).model_copy(update={"rank": 0.2})
    shown = briefing(successes=[weak], failures=[note("F", False)])
    assert [one.name for one in shown.experiences] == ["F", "W"]
