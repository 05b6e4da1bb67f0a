"""Recall end to end: what a briefing says about a real store (document 003, sections 16 and 17)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kip.api import Brain
from kip.clock import FixedClock
from kip.errors import KipError
from kip.memory.contrast import LONGEST, recalled_steps
from kip.memory.marks import BEGIN, END
from kip.memory.recall import SHOWN_FAILURES, SHOWN_SUCCESSES
from tests.unit.memory.runs import NOW, census, fresh_brain, run, step

GOAL = "Deploy the shop to production"
LOOK = step("action", "Read the database address", tool="kubectl", arguments={"command": "kubectl get configmap shop"})
APPLY = step("action", "Roll it out", tool="kubectl", arguments={"command": "kubectl apply -f shop.yaml"})
MIGRATE = step("action", "Migrate", tool="alembic", arguments={"command": "alembic upgrade head"})
MISSING = step("observation", "A column is missing", result_status="failure")


@pytest.fixture
def brain() -> Brain:
    return fresh_brain()


def write(brain: Brain, command: str, **parameters: Any) -> None:
    brain.nexus.session().execute(command, parameters)


def test_success_and_failure_come_back_with_the_step_at_which_they_part(brain: Brain) -> None:
    brain.record([run(GOAL, LOOK, APPLY), run(GOAL, APPLY, MISSING, MIGRATE, status="failure")])
    before = census(brain)
    briefing = brain.brief(GOAL)
    assert briefing.status == "success"
    assert [note.success for note in briefing.successes] == [True]
    assert [note.success for note in briefing.failures] == [False]
    assert briefing.verdict == "2 similar runs; 1 succeeded, 1 failed."
    contrast = briefing.contrast
    assert contrast is not None
    assert contrast.same_goal
    assert contrast.first is not None
    assert contrast.first.in_success is not None
    assert (contrast.first.in_success.index, contrast.first.in_success.tool) == (0, "kubectl")
    assert contrast.first.shared_steps == 0
    assert contrast.first_change is not None
    assert contrast.first_change.in_failure is not None
    assert contrast.first_change.in_failure.tool == "alembic"
    assert census(brain) == before


def test_free_text_does_not_hide_that_two_acts_are_the_same(brain: Brain) -> None:
    reworded = {**APPLY, "summary": "Now we shall bring the new version up"}
    brain.record([run(GOAL, APPLY, LOOK), run(GOAL, reworded, MIGRATE, status="failure")])
    contrast = brain.brief(GOAL).contrast
    assert contrast is not None
    assert contrast.first is not None
    assert contrast.first.shared_steps == 1
    assert contrast.first.in_failure is not None
    assert contrast.first.in_failure.tool == "alembic"


def test_memory_that_has_nothing_says_so(brain: Brain) -> None:
    brain.record([run(GOAL), run(GOAL, status="failure")])
    for goal in ("bake a chocolate cake", "完全不同的事情", "?!"):
        briefing = brain.brief(goal)
        assert briefing.status == "not_found"
        assert briefing.experiences == []
        assert briefing.contrast is None
        assert "no run" in briefing.verdict
        assert briefing.gaps


@pytest.mark.parametrize(("status", "gap"), [("success", "what can go wrong"), ("failure", "No successful run")])
def test_one_sided_memory_is_partial_and_says_what_is_missing(brain: Brain, status: str, gap: str) -> None:
    brain.record(run(GOAL, status=status))
    briefing = brain.brief(GOAL)
    assert briefing.status == "partial"
    assert any(gap in text for text in briefing.gaps)


def test_a_weak_match_is_called_weak(brain: Brain) -> None:
    brain.record([run("Deploy the invoice mailer to production"), run("Repair the printer on floor three")])
    briefing = brain.brief("Deploy the satellite tracker with new antenna firmware to production")
    assert briefing.status != "success"
    assert not briefing.experiences or any("Weak match" in text for text in briefing.warnings)


def test_a_counterexample_is_found_among_many_successes(brain: Brain) -> None:
    many = [run(GOAL, step("action", f"variant {i}"), step("action", "check")) for i in range(60)]
    brain.record([*many[:30], run(GOAL, MIGRATE, MISSING, status="failure"), *many[30:]])
    briefing = brain.brief(GOAL)
    assert len(briefing.successes) == SHOWN_SUCCESSES
    assert len(briefing.failures) == 1
    assert len(briefing.rest.successes) >= 10
    assert briefing.verdict.startswith("at least ")
    assert briefing.contrast is not None


def test_a_briefing_is_budgeted_and_names_the_rest(brain: Brain) -> None:
    failures = [run(GOAL, step("action", f"variant {i}"), step("action", "x"), status="failure") for i in range(6)]
    brain.record([run(GOAL), *failures])
    briefing = brain.brief(GOAL)
    assert len(briefing.failures) == SHOWN_FAILURES
    assert len(briefing.rest.failures) == 6 - SHOWN_FAILURES
    shown = {note.name for note in briefing.failures}
    assert shown.isdisjoint(briefing.rest.failures)


def test_circumstances_outweigh_wording(brain: Brain) -> None:
    same = run(
        "Please sort out the trouble with booking XEHM4B",
        step("action", "look", tool="get_booking", arguments={"id": "XEHM4B"}),
        step("action", "cancel", tool="cancel", arguments={"id": "XEHM4B"}),
    )
    wordy = run(
        "Cancel the booking for me today",
        step("action", "look", tool="get_booking", arguments={"id": "QQ11"}),
        step("action", "cancel", tool="cancel", arguments={"id": "QQ11"}),
    )
    brain.record([wordy, same])
    best = brain.brief("Cancel the booking XEHM4B", tools=["get_booking", "cancel"]).experiences[0]
    assert best.goal.startswith("Please sort out")
    assert best.shared_identifiers == ["xehm4b"]
    assert best.factors.identifiers == 1.0


def test_the_current_state_tells_like_runs_apart(brain: Brain) -> None:
    states = ({"env": "staging", "db": "main"}, {"env": "production", "db": "old"})
    brain.record([run("Deploy the shop", initial_state=state) for state in states])
    for state in states:
        briefing = brain.brief("Deploy the shop", state=state)
        assert [note.factors.state for note in briefing.successes] == [1.0, 0.0]
        assert not any("No current state" in text for text in briefing.gaps)
    assert any("No current state" in text for text in brain.brief("Deploy the shop").gaps)


def test_older_memories_fade_and_recall_does_not_refresh_them() -> None:
    clock = FixedClock(NOW)
    brain = fresh_brain(clock)
    brain.record(run("Deploy the shop", step("action", "old way"), step("action", "x")))
    clock.advance(timedelta(days=60))
    brain.record(run("Deploy the shop", step("action", "new way"), step("action", "x")))
    for _ in range(2):
        notes = brain.brief("Deploy the shop").successes
        assert [note.factors.strength for note in notes] == [0.8, 0.05]
        assert notes[0].path[0] == "new way"


def test_a_run_with_unknown_outcome_is_neither_success_nor_failure(brain: Brain) -> None:
    undecided = run(GOAL)
    del undecided["outcome"]
    brain.record(undecided)
    briefing = brain.brief(GOAL)
    assert (briefing.successes, briefing.failures) == ([], [])
    assert [note.success for note in briefing.undecided] == [None]
    assert "no known outcome" in briefing.verdict


def test_tools_that_are_not_at_hand_are_warned_of(brain: Brain) -> None:
    brain.record([run(GOAL, LOOK, APPLY), run(GOAL, MIGRATE, MISSING, status="failure")])
    assert not any("not at hand" in text for text in brain.brief(GOAL, tools=["kubectl"]).warnings)
    assert any("not at hand: kubectl" in text for text in brain.brief(GOAL, tools=["alembic"]).warnings)


def test_a_failure_that_repeats_is_warned_of_once(brain: Brain) -> None:
    runs = [run(GOAL, APPLY, MISSING, step("action", f"try {i}"), status="failure") for i in range(2)]
    brain.record([*runs, run(GOAL, APPLY, MISSING, MIGRATE)])
    warnings = [text for text in brain.brief(GOAL).warnings if "missing" in text]
    assert warnings == ["Failed in 3 of 3 runs shown: 'A column is missing'"]


def test_knowledge_skills_and_commitments_that_bear_on_the_goal(brain: Brain) -> None:
    write(
        brain,
        """UPSERT {
          CONCEPT ?i { {type: "Insight", name: "check the target"} SET ATTRIBUTES {
            insight_class: "lesson_learned", description: "Before the shop is deployed to production, check its target",
            correction: "Read the database address first" } }
          CONCEPT ?p { {type: "Preference", name: "morning"} SET ATTRIBUTES {
            description: "Ada wants the shop deployed to production before noon" } }
          CONCEPT ?f { {type: "Fact", name: "shop production host"} SET ATTRIBUTES {
            predicate: "host", value: "h1", asserted_at: "2026-01-01T00:00:00Z" } }
          CONCEPT ?old { {type: "Fact", name: "shop production host before"} SET ATTRIBUTES {
            predicate: "host", value: "h0", asserted_at: "2025-01-01T00:00:00Z",
            superseded_by: "shop production host" } }
          CONCEPT ?s { {type: "Skill", name: "deploy the shop"} SET ATTRIBUTES {
            skill_class: "procedure", description: "How to deploy the shop to production", goal: "deploy the shop",
            trigger_conditions: ["a release of the shop"], procedure: ["look", "apply"], expected_outcome: "healthy",
            maturity: "validated", success_count: 4, failure_count: 1 } }
          CONCEPT ?d { {type: "Skill", name: "deploy the shop by hand"} SET ATTRIBUTES {
            skill_class: "procedure", description: "Deploy the shop to production by hand", goal: "deploy the shop",
            trigger_conditions: [], procedure: ["copy files"], expected_outcome: "up", maturity: "deprecated" } }
          CONCEPT ?c { {type: "Commitment", name: "tell Ada"} SET ATTRIBUTES {
            commitment_class: "promise", description: "Tell Ada when the shop is deployed to production",
            due_at: "2026-04-01", status: "pending" } }
          CONCEPT ?k { {type: "Commitment", name: "told Bo"} SET ATTRIBUTES {
            commitment_class: "promise", description: "Tell Bo when the shop is deployed to production",
            status: "fulfilled" } }
        }""",
    )
    briefing = brain.brief(GOAL)
    texts = [note.text for note in briefing.knowledge]
    assert any("Do instead: Read the database address first" in text for text in texts)
    assert any("before noon" in text for text in texts)
    assert 'shop production host: host = "h1"' in texts
    assert not any("h0" in text for text in texts)
    assert [(note.name, note.success_count) for note in briefing.skills] == [("deploy the shop", 4)]
    assert [(note.name, note.overdue) for note in briefing.commitments] == [("tell Ada", True)]
    assert any("Overdue" in text for text in briefing.warnings)
    assert briefing.status == "partial"


def test_what_is_private_is_shown_only_about_its_subject(brain: Brain) -> None:
    write(
        brain,
        """UPSERT {
          CONCEPT ?x { {type: "Preference", name: "quiet"} SET ATTRIBUTES {
            description: "Deploy the shop to production silently" } } WITH METADATA { access_level: "private" }
          CONCEPT ?a { {type: "Person", name: "Ada"} SET ATTRIBUTES {person_class: "Human"}
            SET PROPOSITIONS { ("prefers", ?x) } }
        }""",
    )
    assert "silently" not in brain.brief(GOAL).model_dump_json()
    assert "silently" not in brain.brief(GOAL, counterparty="Bo").model_dump_json()
    assert "silently" in brain.brief(GOAL, counterparty="Ada").model_dump_json()


def test_a_private_fact_is_shown_about_its_subject(brain: Brain) -> None:
    write(
        brain,
        """UPSERT {
          CONCEPT ?a { {type: "Person", name: "Ada"} SET ATTRIBUTES {person_class: "Human"} }
          CONCEPT ?f { {type: "Fact", name: "the shop production password hint of Ada"} SET ATTRIBUTES {
            predicate: "hint", value: "her cat", asserted_at: "2026-01-01T00:00:00Z" }
            SET PROPOSITIONS { ("fact_about", ?a) } } WITH METADATA { access_level: "private" }
        }""",
    )
    assert "her cat" not in brain.brief(GOAL).model_dump_json()
    assert "her cat" in brain.brief(GOAL, counterparty="Ada").model_dump_json()


def test_what_is_owed_to_the_counterparty_comes_up_whatever_the_goal(brain: Brain) -> None:
    write(
        brain,
        """UPSERT {
          CONCEPT ?a { {type: "Person", name: "Ada"} SET ATTRIBUTES {person_class: "Human"} }
          CONCEPT ?c { {type: "Commitment", name: "refund"} SET ATTRIBUTES {
            commitment_class: "promise", description: "Refund order 7", status: "pending" }
            SET PROPOSITIONS { ("owed_to", ?a) } }
        }""",
    )
    assert brain.brief("Say hello").commitments == []
    assert [note.description for note in brain.brief("Say hello", counterparty="Ada").commitments] == ["Refund order 7"]


def test_a_briefing_is_sealed_against_marks_in_goal_and_store(brain: Brain) -> None:
    write(
        brain,
        'UPSERT { CONCEPT ?i { {type: "Insight", name: "i"} SET ATTRIBUTES :a } }',
        a={"insight_class": "lesson_learned", "description": f"Deploy the shop {END} to production"},
    )
    text = brain.brief(f"{GOAL} {END}").model_dump_json()
    assert (text.count(BEGIN), text.count(END)) == (1, 1)
    assert text.index(BEGIN) < 30
    assert text.endswith(f'"{END}"}}')


@pytest.mark.parametrize("goal", ["", "   ", "\n\t"])
def test_a_blank_goal_is_refused(brain: Brain, goal: str) -> None:
    with pytest.raises(KipError) as caught:
        brain.brief(goal)
    assert caught.value.code == "KIP_2002"


def test_a_state_that_is_no_json_is_refused(brain: Brain) -> None:
    with pytest.raises(KipError) as caught:
        brain.brief(GOAL, state={"x": float("nan")})
    assert caught.value.code == "KIP_2003"


@pytest.fixture(scope="module")
def shared_brain() -> Brain:
    brain = fresh_brain()
    brain.record([run(GOAL, LOOK, APPLY), run(GOAL, MIGRATE, MISSING, status="failure")])
    return brain


@settings(max_examples=60)
@given(
    st.text(st.characters(codec=None)).filter(str.strip), st.dictionaries(st.text(st.characters(codec=None)), st.text())
)
def test_any_request_gets_an_answer(shared_brain: Brain, goal: str, state: dict[str, Any]) -> None:
    briefing = shared_brain.brief(goal, state=state, tools=[goal], counterparty=goal)
    assert briefing.status in ("success", "partial", "not_found")
    briefing.model_dump_json().encode("utf-8")


def test_the_cost_of_a_briefing_does_not_grow_with_the_store(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    session = type(brain.nexus.session())
    original_execute, original_rows = session.execute, session.rows

    def execute(self: Any, command: str, parameters: Any = None) -> Any:
        asked.append(command)
        return original_execute(self, command, parameters)

    def find(self: Any, command: str, parameters: Any = None) -> Any:
        asked.append(command)
        return original_rows(self, command, parameters)

    monkeypatch.setattr(session, "execute", execute)
    monkeypatch.setattr(session, "rows", find)
    brain.record([run(GOAL, LOOK, APPLY), run(GOAL, MIGRATE, MISSING, status="failure")])
    asked.clear()
    brain.brief(GOAL)
    small = len(asked)
    brain.record([run(f"Deploy the shop {i} to production", LOOK, APPLY) for i in range(80)])
    asked.clear()
    brain.brief(GOAL)
    assert len(asked) <= small + 2
    assert all("LIMIT" in command or "IN(?" in command for command in asked)


def test_of_an_endless_run_the_beginning_is_read(brain: Brain) -> None:
    steps = [step("action", f"act {number}", tool="sh") for number in range(LONGEST + 30)]
    name = brain.record(run(GOAL, *steps)).receipts[0].name
    assert name is not None
    read = recalled_steps(brain.nexus.session(), [name])[name]
    assert [one.index for one in read] == [*range(LONGEST)]
    assert brain.brief(GOAL).successes[0].steps == LONGEST + 30


def test_a_counterexample_comes_up_however_much_better_the_successes_fit(brain: Brain) -> None:
    state = {"env": "prod", "db": "main"}
    here = step("action", "look", tool="look", arguments={"id": "XEHM4B"})
    there = step("action", "hope", tool="hope", arguments={"id": "QQ11"})
    elsewhere = run("Deploy the mailer", there, there, status="failure", initial_state={"env": "test"})
    brain.record([run("Deploy the shop for XEHM4B", here, here, initial_state=state), elsewhere])
    briefing = brain.brief("Deploy the shop for XEHM4B", state=state, tools=["look"])
    assert briefing.successes[0].rank > 2 * briefing.failures[0].rank
    assert briefing.contrast is not None
    assert not briefing.contrast.same_goal
