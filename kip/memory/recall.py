"""Action recall: what past state should change the next decision (document 003, sections 16 and 17).

Reading only, and by the index: a fixed number of SEARCH commands with a LIMIT, then FIND on the few names
they gave. Nothing here grows with the number of runs in the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, cast

from kip.clock import iso
from kip.errors import KipError
from kip.memory import contrast as contrasts
from kip.memory.briefing import Briefing, Contrast, ExperienceNote, Factors, Rest, sealed
from kip.memory.contrast import RecalledStep
from kip.memory.knowledge import Found, commitments, knowledge, search, skills
from kip.memory.privacy import Tally, repair
from kip.memory.products import FAILURE_CLASS, SUCCESS_CLASS
from kip.memory.ranking import SAME_GOAL, Candidate, affinity, candidate
from kip.memory.screening import repaired, shortened
from kip.memory.situation import Situation, of_request
from kip.memory.speech import without_function_words
from kip.values import Json, check

if TYPE_CHECKING:
    from kip.nexus.session import Session

SHOWN_SUCCESSES = 3
SHOWN_FAILURES = 2
SHOWN_UNDECIDED = 1
"""How many runs of each kind a briefing shows; the rest is counted and named (decision 33)."""

REQUEST_LIMIT = 1_000
"""How many characters of a goal, and of the circumstances, are searched for."""

SEARCH_LIMIT = 20
"""How many runs one search asks for."""

MINIMUM_GOAL = 0.25
MINIMUM_IDENTIFIERS = 0.5
MINIMUM_GOAL_BESIDE_IDENTIFIERS = 0.1
"""A run counts as similar from this share of the goal on; a smaller one will do beside shared identifiers."""

MINIMUM_OF_BEST = 0.45
"""A run whose rank is below this share of the best one's is not shown beside it, unless it is the best of its
outcome."""

WARNED_FAILURES = 3
"""How many repeated failures a briefing warns of."""

WEAK_GOAL = 0.4
"""Below this share of the goal even the best run is called a weak match."""


def brief(
    session: Session,
    goal: str,
    *,
    state: Mapping[str, Json] | str | None = None,
    tools: Sequence[str] = (),
    counterparty: str | None = None,
) -> Briefing:
    """What memory has to say before acting towards ``goal``. Writes nothing.

    Args:
        goal: what is to be achieved, in words.
        state: what holds now: an object, or a description.
        tools: names of the tools at hand.
        counterparty: the person the action concerns; opens what is private to them.

    Raises:
        KipError: KIP_2002 when ``goal`` is blank, KIP_2003 when ``state`` holds what is no JSON value.
    """
    known, at_hand, who = _state(state), [_clean(tool) for tool in tools], _clean(counterparty or "") or None
    asked = of_request(_goal(goal), known, at_hand)
    now = session.clock.now()
    query = without_function_words(asked.goal)
    found, cut = _similar(session, asked, query, now)
    successes, failures, undecided = ([one for one in found if one.success is wanted] for wanted in (True, False, None))
    shown = [*successes[:SHOWN_SUCCESSES], *failures[:SHOWN_FAILURES], *undecided[:SHOWN_UNDECIDED]]
    steps = contrasts.recalled_steps(session, [one.name for one in shown])
    briefing = Briefing(
        status="success",
        verdict=_verdict(successes, failures, undecided, cut=cut),
        goal=asked.goal,
        state=known,
        tools=at_hand,
        generated_at=iso(now),
        knowledge=knowledge(session, query, who),
        skills=skills(session, query),
        successes=[_note(one, asked, steps[one.name]) for one in successes[:SHOWN_SUCCESSES]],
        failures=[_note(one, asked, steps[one.name]) for one in failures[:SHOWN_FAILURES]],
        undecided=[_note(one, asked, steps[one.name]) for one in undecided[:SHOWN_UNDECIDED]],
        rest=_rest(successes, failures, undecided),
        contrast=_contrast(successes[:SHOWN_SUCCESSES], failures[:SHOWN_FAILURES], steps),
        commitments=commitments(session, query, who, now),
    )
    briefing.warnings.extend(_warnings(briefing, steps))
    briefing.gaps.extend(_gaps(briefing))
    briefing.status = _status(briefing)
    return sealed(briefing)


def _goal(goal: str) -> str:
    text = shortened(_clean(goal), REQUEST_LIMIT)
    if not text:
        raise KipError("KIP_2002", "there is no goal to brief on", hint="Say in a few words what is to be achieved.")
    return text


def _clean(text: str) -> str:
    return repair(text, Tally())


def _state(state: Mapping[str, Json] | str | None) -> dict[str, Json]:
    if isinstance(state, str):
        return {"description": _clean(state)}
    if state is None:
        return {}
    return cast(dict[str, Json], check(repaired(dict(state), Tally()), "state"))


# --- finding -------------------------------------------------------------------------------------


def _similar(session: Session, asked: Situation, query: str, now: datetime) -> tuple[list[Candidate], bool]:
    """The runs that resemble ``asked``, best rank first, and whether there may be more of them."""
    by_goal = search(session, query, "Experience", SEARCH_LIMIT)
    scores = {item.name: item.score for item in by_goal}
    # What the plain search cut off scores at most as much as the last one it gave.
    cut = len(by_goal) == SEARCH_LIMIT
    beyond = by_goal[-1].score if cut else 0.0
    items = {item.name: item for item in [*_other_hits(session, asked, query, by_goal), *by_goal]}
    ranked = (
        candidate(name, item.attributes, item.metadata, scores.get(name, min(beyond, item.score)), asked, now)
        for name, item in items.items()
    )
    similar = sorted((one for one in ranked if _resembles(one)), key=lambda one: (-one.rank, one.name))
    return [*_beside_the_best(similar)], cut


def _beside_the_best(similar: Sequence[Candidate]) -> Iterator[Candidate]:
    """Runs that rank near the best one, and the best of each outcome however it ranks: no side is left unheard."""
    heard: set[bool | None] = set()
    for one in similar:
        if one.rank >= MINIMUM_OF_BEST * similar[0].rank or one.success not in heard:
            heard.add(one.success)
            yield one


def _other_hits(session: Session, asked: Situation, query: str, by_goal: Sequence[Found]) -> Iterator[Found]:
    """Runs that the goal alone did not bring up: of an outcome that is scarce, and of the same circumstances."""
    for outcome, wanted in ((SUCCESS_CLASS, SHOWN_SUCCESSES), (FAILURE_CLASS, SHOWN_FAILURES)):
        had = sum(item.text("outcome_class") == outcome for item in by_goal)
        if had < wanted and len(by_goal) == SEARCH_LIMIT:
            yield from search(session, f"{query} {outcome}", "Experience", SEARCH_LIMIT)
    circumstances = shortened(" ".join(sorted(asked.identifiers | asked.state)), REQUEST_LIMIT)
    if circumstances:
        yield from search(session, circumstances, "Experience", SEARCH_LIMIT)


def _resembles(one: Candidate) -> bool:
    shared = one.factors.identifiers
    if shared is not None and shared >= MINIMUM_IDENTIFIERS:
        return one.factors.goal >= MINIMUM_GOAL_BESIDE_IDENTIFIERS
    return one.factors.goal >= MINIMUM_GOAL


# --- saying --------------------------------------------------------------------------------------


def _note(one: Candidate, asked: Situation, steps: Sequence[RecalledStep]) -> ExperienceNote:
    return ExperienceNote(
        name=one.name,
        goal=one.situation.goal,
        success=one.success,
        outcome=_text(one, "outcome"),
        started_at=_text(one, "started_at"),
        rank=round(one.rank, 4),
        factors=one.factors,
        shared_identifiers=sorted(one.situation.identifiers & asked.identifiers),
        path=contrasts.path_of(steps),
        steps=_step_count(one, steps),
    )


def _step_count(one: Candidate, read: Sequence[RecalledStep]) -> int:
    count = one.attributes.get("step_count")
    return count if isinstance(count, int) else len(read)


def _text(one: Candidate, key: str) -> str:
    value = one.attributes.get(key)
    return value if isinstance(value, str) else ""


def _contrast(
    successes: Sequence[Candidate], failures: Sequence[Candidate], steps: Mapping[str, list[RecalledStep]]
) -> Contrast | None:
    """The pair of shown runs that were most about the same thing; ranks decide between equals."""
    pairs = [(one, other) for one in successes for other in failures]
    if not pairs:
        return None
    close = {id(pair): affinity(pair[0].situation, pair[1].situation) for pair in pairs}
    best = max(pairs, key=lambda pair: (min(close[id(pair)], SAME_GOAL), pair[0].rank + pair[1].rank))
    success, failure = ((one.name, steps[one.name]) for one in best)
    return contrasts.contrast(success, failure, same_goal=close[id(best)] >= SAME_GOAL)


def _rest(*groups: Sequence[Candidate]) -> Rest:
    shown = (SHOWN_SUCCESSES, SHOWN_FAILURES, SHOWN_UNDECIDED)
    successes, failures, undecided = (
        [one.name for one in group[limit:]] for group, limit in zip(groups, shown, strict=True)
    )
    return Rest(successes=successes, failures=failures, undecided=undecided)


def _verdict(
    successes: Sequence[Candidate], failures: Sequence[Candidate], undecided: Sequence[Candidate], *, cut: bool
) -> str:
    total = len(successes) + len(failures) + len(undecided)
    if not total:
        return "Memory holds no run that resembles this one."
    weak = all(_is_weak(one.factors) for one in [*successes, *failures, *undecided])
    runs = f"{'at least ' * cut}{total} {'loosely similar' if weak else 'similar'} run{'s' * (total != 1)}"
    if not failures and not successes:
        return f"{runs}, with no known outcome."
    if not failures:
        return f"{runs}; {len(successes)} succeeded, no failure is known."
    if not successes:
        return f"{runs}; {len(failures)} failed, no success is known."
    return f"{runs}; {len(successes)} succeeded, {len(failures)} failed."


def _is_weak(factors: Factors) -> bool:
    return factors.goal < WEAK_GOAL and (factors.identifiers or 0.0) < MINIMUM_IDENTIFIERS


def _status(briefing: Briefing) -> Literal["success", "partial", "not_found"]:
    helpful = briefing.experiences or briefing.skills or briefing.knowledge
    if not helpful and not briefing.commitments:
        return "not_found"
    weak = all(_is_weak(note.factors) for note in briefing.experiences)
    return "success" if briefing.successes and briefing.failures and not weak else "partial"


def _gaps(briefing: Briefing) -> list[str]:
    gaps: list[str] = []
    if not briefing.experiences:
        gaps.append("No similar run is recorded: there is no experience to go by.")
    elif not briefing.successes:
        gaps.append("No successful run for this goal is recorded.")
    elif not briefing.failures:
        gaps.append("No failed run for this goal is recorded: what can go wrong is unknown.")
    if briefing.experiences and not briefing.state:
        gaps.append("No current state was given, so the conditions of earlier runs could not be compared with it.")
    return gaps


def _warnings(briefing: Briefing, steps: Mapping[str, list[RecalledStep]]) -> list[str]:
    warnings = [*_repeated_failures(steps)]
    if briefing.experiences and all(_is_weak(note.factors) for note in briefing.experiences):
        best = max(note.factors.goal for note in briefing.experiences)
        warnings.append(f"Weak match: the goal of the most similar run fits this one only to {best:.0%}.")
    if briefing.tools and briefing.successes:
        at_hand = {tool.casefold() for tool in briefing.tools}
        used = dict.fromkeys(step.tool for step in steps[briefing.successes[0].name] if step.tool and step.is_act)
        missing = [tool for tool in used if tool.casefold() not in at_hand]
        if missing:
            warnings.append(f"The best success used tools that are not at hand: {', '.join(missing)}.")
    doubtful = (note.name for note in briefing.skills if note.maturity == "needs_review")
    warnings.extend(f"{name} is under review: its evidence conflicts." for name in doubtful)
    warnings.extend(f"Overdue: {note.description}" for note in briefing.commitments if note.overdue)
    return warnings


def _repeated_failures(steps: Mapping[str, list[RecalledStep]]) -> Iterator[str]:
    """Steps that failed in more than one of the shown runs, by tool or by wording."""
    failed: dict[str, tuple[str, set[str]]] = {}
    for name, run in steps.items():
        for step in run:
            if step.success is False:
                key = step.tool or shortened(step.summary, 60).casefold()
                failed.setdefault(key, (step.summary, set()))[1].add(name)
    repeated = [entry for entry in failed.items() if len(entry[1][1]) > 1]
    for key, (summary, runs) in sorted(repeated, key=lambda entry: -len(entry[1][1]))[:WARNED_FAILURES]:
        example = "" if summary.casefold().startswith(key) else f"{key}, for example "
        yield f"Failed in {len(runs)} of {len(steps)} runs shown: {example}{shortened(summary, 120)!r}"
