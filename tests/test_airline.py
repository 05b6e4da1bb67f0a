"""Forty real runs of an airline agent: recorded whole, and briefed on with success and failure of the same task.

Only messages and reward of a record reach the memory. The task number and the instruction of the user simulator
serve as the question and as the yardstick.
"""

from __future__ import annotations

import json
import math
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kip.api import Brain
from kip.memory.briefing import Briefing
from kip.memory.knowledge import search
from kip.memory.model import RecordResult
from kip.memory.privacy import first_sentence
from kip.values import dumps
from tests.conftest import shared_path
from tests.unit.memory.runs import census, fresh_brain, rows

TOP = 5
Capsys = pytest.CaptureFixture[str]


def tell(capsys: Capsys, text: str) -> None:
    """A measured figure, shown in every run of the tests."""
    with capsys.disabled():
        sys.stdout.write(f"\n  {text}\n")


class Airline:
    """The runs, a store that holds them, and what belongs to which task."""

    def __init__(self) -> None:
        path = shared_path("data", "tau_airline", "gpt-4o-airline.dev.json")
        self.runs: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        self.brain: Brain = fresh_brain()
        started = time.perf_counter()
        self.result: RecordResult = self.brain.record(path)
        self.seconds = time.perf_counter() - started
        self.tasks: dict[str | None, tuple[int, bool]] = {
            receipt.name: (run["task_id"], run["reward"] == 1.0)
            for receipt, run in zip(self.result.receipts, self.runs, strict=True)
        }
        self.questions: dict[int, str] = {run["task_id"]: run["info"]["task"]["instruction"] for run in self.runs}

    def both_kinds(self, answer: Callable[[str], Sequence[str]]) -> int:
        """For how many tasks the first five names hold a success and a failure of that very task."""
        hits = 0
        for task, question in self.questions.items():
            found = {self.tasks[name] for name in [*answer(question)][:TOP]}
            hits += {(task, True), (task, False)} <= found
        return hits


@pytest.fixture(scope="module")
def airline() -> Airline:
    return Airline()


def test_every_run_is_recorded_and_replayed_without_change(airline: Airline, capsys: Capsys) -> None:
    assert airline.result.count("recorded") == len(airline.runs) == 40
    assert len(airline.tasks) == 40
    before = census(airline.brain)
    assert airline.brain.record(airline.runs).count("unchanged") == 40
    assert census(airline.brain) == before
    tell(capsys, f"40 runs recorded in {airline.seconds:.2f} s, {40 / airline.seconds:.0f} a second")


def test_outcomes_are_the_rewards(airline: Airline) -> None:
    stored = rows(airline.brain, 'FIND(?e.name, ?e.attributes.success) WHERE { ?e {type: "Experience"} }')
    assert dict(stored) == {name: success for name, (_, success) in airline.tasks.items()}


def test_every_tool_call_is_found_again_with_its_arguments(airline: Airline, capsys: Capsys) -> None:
    made: Counter[tuple[str, str]] = Counter()
    for run in airline.runs:
        for message in run["traj"]:
            for call in message.get("tool_calls") or ():
                arguments = json.loads(call["function"]["arguments"])
                if call["function"]["name"] == "think":  # of private thinking one sentence stays
                    arguments = {"thought": first_sentence(arguments["thought"])}
                made[call["function"]["name"], dumps(arguments)] += 1
    stored = rows(
        airline.brain,
        'FIND(?s.id, ?s.attributes.tool, ?s.attributes.arguments) WHERE { ?s {type: "ExperienceStep"} '
        'FILTER(IN(?s.attributes.kind, ["action", "decision"])) }',
    )
    assert Counter((tool, dumps(arguments)) for _, tool, arguments in stored) == made
    tell(capsys, f"{made.total()} tool calls found again")


def test_nothing_but_messages_and_reward_was_used(airline: Airline) -> None:
    bare = [{"traj": run["traj"], "reward": run["reward"]} for run in airline.runs]
    brain = fresh_brain()
    assert [receipt.name for receipt in brain.record(bare).receipts] == [*airline.tasks]


def test_a_briefing_shows_success_and_failure_of_the_same_task(airline: Airline, capsys: Capsys) -> None:
    seconds: list[float] = []
    briefings: list[Briefing] = []

    def brief(question: str) -> list[str]:
        started = time.perf_counter()
        briefings.append(airline.brain.brief(question))
        seconds.append(time.perf_counter() - started)
        return [note.name for note in briefings[-1].experiences]

    session = airline.brain.nexus.session()
    rates = {
        "briefing": airline.both_kinds(brief),
        "SEARCH alone": airline.both_kinds(lambda text: [hit.name for hit in search(session, text, "Experience", TOP)]),
        "BM25 over the raw messages": airline.both_kinds(_bm25(airline)),
    }
    unnamed = {
        "briefing": airline.both_kinds(
            lambda text: [n.name for n in airline.brain.brief(_anonymous(text)).experiences]
        ),
        "BM25 over the raw messages": airline.both_kinds(lambda text: _bm25(airline)(_anonymous(text))),
    }
    tell(capsys, f"tasks of 10 with a success and a failure of their own among the first {TOP}: {rates}")
    tell(capsys, f"the same for questions without identifiers: {unnamed}")
    tell(capsys, f"median of a briefing {1000 * statistics.median(seconds):.0f} ms")
    assert rates["briefing"] == 10
    assert rates["briefing"] >= max(rates.values())
    assert unnamed["briefing"] == 10


def test_each_briefing_shows_where_runs_of_the_task_part(airline: Airline) -> None:
    for task, question in airline.questions.items():
        contrast = airline.brain.brief(question).contrast
        assert contrast is not None
        assert airline.tasks[contrast.success] == (task, True)
        assert airline.tasks[contrast.failure] == (task, False)
        assert contrast.same_goal
        assert contrast.first is not None
        assert contrast.first.in_success or contrast.first.in_failure


def test_a_refusal_that_should_have_been_one_is_seen_in_the_contrast(airline: Airline) -> None:
    """Task 47: policy forbids the cancellation; only the failing runs cancelled."""
    contrast = airline.brain.brief(airline.questions[47]).contrast
    assert contrast is not None
    assert contrast.first_change is not None
    assert contrast.first_change.in_failure is not None
    assert contrast.first_change.in_failure.tool == "cancel_reservation"
    assert contrast.first_change.in_success is None


# --- baselines ---


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _anonymous(text: str) -> str:
    """The question without user ids, reservation numbers and other tokens with digits or underscores."""
    return " ".join(word for word in text.split() if not re.search(r"[\d_]", word))


def _bm25(airline: Airline) -> Callable[[str], list[str]]:
    documents = {
        str(name): Counter(_words(json.dumps([m for m in run["traj"] if m["role"] != "system"])))
        for name, run in zip(airline.tasks, airline.runs, strict=True)
    }
    lengths = {name: words.total() for name, words in documents.items()}
    average = statistics.mean(lengths.values())
    holding = Counter(word for words in documents.values() for word in words)

    def score(name: str, question: str) -> float:
        total = 0.0
        for word in set(_words(question)):
            times = documents[name][word]
            rarity = math.log(1 + (len(documents) - holding[word] + 0.5) / (holding[word] + 0.5))
            total += rarity * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * lengths[name] / average))
        return total

    return lambda question: sorted(documents, key=lambda name: -score(name, question))
