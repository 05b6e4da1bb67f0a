"""The briefing that recall returns before an action (document 003, section 16).

The JSON schema ``schemas/briefing.schema.json`` is generated from :class:`Briefing`.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from pydantic import BaseModel, Field, JsonValue

from kip.memory.marks import BEGIN, END, unmarked


class Factors(BaseModel):
    """What a rank is made of, each from 0 to 1; a factor is null when the request says nothing to compare."""

    goal: float = Field(description="how far the goals are the same by their words, rare words counting more")
    identifiers: float | None = Field(description="share of the request's identifiers that the run also had")
    state: float | None = Field(description="share of the request's state that the run started from")
    tools: float | None = Field(description="share of the run's tools that are available now")
    strength: float = Field(description="how strongly the memory competes for recall, faded since it was set")


class ExperienceNote(BaseModel):
    """One remembered run."""

    name: str
    goal: str
    success: bool | None
    outcome: str
    started_at: str
    rank: float
    factors: Factors
    shared_identifiers: list[str] = Field(default_factory=list[str])
    path: list[str] = Field(default_factory=list[str], description="what was done, in order, by tool or summary")
    steps: int = 0


class StepNote(BaseModel):
    """One step of a remembered run."""

    index: int
    kind: str
    summary: str
    tool: str | None = None
    result: str | None = Field(default=None, description="what was observed in answer to it")


class PartingNote(BaseModel):
    """One place where a success and a failure part; a side is null when that run has nothing there."""

    manner: Literal["other step", "other details", "only in the success", "only in the failure"]
    shared_steps: int = Field(description="steps that both runs had in common before")
    in_success: StepNote | None
    in_failure: StepNote | None
    more_in_success: int = Field(default=0, description="further steps that only the success has there")
    more_in_failure: int = Field(default=0, description="further steps that only the failure has there")
    success_details: list[str] = Field(default_factory=list[str], description="arguments that only the success had")
    failure_details: list[str] = Field(default_factory=list[str], description="arguments that only the failure had")


class Contrast(BaseModel):
    """A success beside a failure, and where they part. Whether the difference caused the outcome is not claimed."""

    success: str
    failure: str
    same_goal: bool = Field(description="the two runs pursued the same goal, as far as words and identifiers tell")
    first: PartingNote | None = Field(description="the first step at which they part; null when all acts are equal")
    first_change: PartingNote | None = Field(description="the first parting in an act that does more than look")
    differing_acts: int
    summary: str


class KnowledgeNote(BaseModel):
    """A stored Insight, Fact or Preference that bears on the goal."""

    type: str
    name: str
    text: str
    score: float
    confidence: float | None = None


class SkillNote(BaseModel):
    """A skill for this goal. It is an offer, not an instruction: its conditions are to be checked first."""

    name: str
    description: str
    maturity: str
    score: float
    trigger_conditions: list[str]
    preconditions: list[str]
    procedure: list[str]
    failure_signals: list[str]
    success_count: int
    failure_count: int
    utility: float | None = None


class CommitmentNote(BaseModel):
    """Something promised that is still open."""

    name: str
    description: str
    due_at: str | None = None
    overdue: bool = False


class Rest(BaseModel):
    """What matched and is not shown (decision 33)."""

    successes: list[str] = Field(default_factory=list[str])
    failures: list[str] = Field(default_factory=list[str])
    undecided: list[str] = Field(default_factory=list[str])


class Briefing(BaseModel):
    """What memory has to say before an action. The agent that reads it decides."""

    marker: str = Field(default=BEGIN, description="keeps this text from being formed into memory again")
    status: Literal["success", "partial", "not_found"]
    verdict: str
    goal: str
    state: dict[str, JsonValue]
    tools: list[str]
    generated_at: str
    knowledge: list[KnowledgeNote] = Field(default_factory=list[KnowledgeNote])
    skills: list[SkillNote] = Field(default_factory=list[SkillNote])
    successes: list[ExperienceNote] = Field(default_factory=list[ExperienceNote])
    failures: list[ExperienceNote] = Field(default_factory=list[ExperienceNote])
    undecided: list[ExperienceNote] = Field(default_factory=list[ExperienceNote])
    rest: Rest = Rest()
    contrast: Contrast | None = None
    commitments: list[CommitmentNote] = Field(default_factory=list[CommitmentNote])
    warnings: list[str] = Field(default_factory=list[str])
    gaps: list[str] = Field(default_factory=list[str])
    end_marker: str = Field(default=END, description="closes what marker opens; always the last field")

    @property
    def experiences(self) -> list[ExperienceNote]:
        """All runs shown, best rank first."""
        return sorted([*self.successes, *self.failures, *self.undecided], key=lambda note: -note.rank)


def sealed(briefing: Briefing) -> Briefing:
    """``briefing`` without marks inside its texts, so that nothing recalled or asked can end the marked passage."""
    body = briefing.model_dump(exclude={"marker", "end_marker"})
    return Briefing.model_validate(_unmarked(body))


def _unmarked(value: Any) -> Any:
    if isinstance(value, str):
        return unmarked(value)
    if isinstance(value, list):
        return [_unmarked(item) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        return {unmarked(key): _unmarked(item) for key, item in cast(dict[str, Any], value).items()}
    return value
