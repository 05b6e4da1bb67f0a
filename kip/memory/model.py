"""Payloads that formation takes and receipts that it returns (document 003 section 15, behaviours 003.12-15).

The JSON schemas in ``schemas/`` are generated from these models. Fields that a payload carries beyond
these are not an error: they are named in the receipt's warnings.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Timestamp = Annotated[
    str | int | float,
    Field(description="ISO 8601, or seconds or milliseconds since 1970; a time without a zone is read as UTC"),
]
Role = Literal["user", "assistant", "system", "developer", "tool", "function"]


class _Payload(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class FunctionCall(_Payload):
    """The function of a tool call; ``arguments`` is JSON text as models send it, or the object itself."""

    name: str
    arguments: JsonValue = None


class ToolCall(_Payload):
    """One call in an assistant message, in the nested or the flat form."""

    id: str | None = None
    type: str | None = None
    function: FunctionCall | None = None
    name: str | None = None
    arguments: JsonValue = None


class ContentPart(_Payload):
    """One part of a message's content; parts other than text leave only a placeholder."""

    type: str = "text"
    text: str | None = None


class ChatMessage(_Payload):
    """One chat message; ``content`` may be null, as in an assistant turn that only calls tools."""

    role: Role
    content: str | list[ContentPart] | None = None
    name: str | None = None
    timestamp: Timestamp | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: FunctionCall | None = None
    tool_call_id: str | None = None


class TraceEntry(_Payload):
    """One entry of ``trace[]``. An entry with a ``role`` and no step kind is a message."""

    kind: Literal["message", "observation", "decision", "action", "feedback"] | None = None
    role: Role | None = None
    content: str | list[ContentPart] | None = None
    name: str | None = None
    summary: str | None = None
    tool: str | None = None
    arguments: JsonValue = None
    result_status: str | None = None
    decision_rationale: str | None = None
    expected_observation: str | None = None
    actual_observation: str | None = None
    prediction_error: str | None = None
    state: dict[str, JsonValue] | None = None
    timestamp: Timestamp | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: FunctionCall | None = None
    tool_call_id: str | None = None


class OutcomeInput(_Payload):
    """How the run ended: ``success``, ``failure``, ``aborted``, ``ongoing``; anything else is kept as text."""

    status: str
    summary: str | None = None


class FormationContext(_Payload):
    """Where a payload comes from and who is in it; hints, never a choice of memory."""

    counterparty: str | None = None
    user: str | None = Field(default=None, description="older name of counterparty")
    agent: str | None = None
    source: str | None = None
    topic: str | None = None


class FormationInput(_Payload):
    """A conversation (``messages``), a structured trace (``goal``, ``trace``, ``outcome``), or both."""

    goal: str | None = None
    messages: list[ChatMessage] = Field(default_factory=list[ChatMessage])
    trace: list[TraceEntry] = Field(default_factory=list[TraceEntry])
    outcome: OutcomeInput | None = None
    initial_state: dict[str, JsonValue] | str | None = None
    run_id: str | None = Field(default=None, description="the source's own name of this run")
    context: FormationContext = FormationContext()
    timestamp: Timestamp | None = None


class Criterion(BaseModel):
    """One of the seven criteria of document 003 section 5, and why it holds or does not."""

    number: int = Field(ge=1, le=7)
    name: str
    holds: bool
    reason: str


class Refusal(BaseModel):
    """Why a record was not taken; the fields of a KIP error (SPECIFICATION.md Appendix 4)."""

    code: str
    message: str
    hint: str


RunStatus = Literal["recorded", "extended", "event", "unchanged", "skipped", "refused"]


class RunReceipt(BaseModel):
    """What became of one record.

    ``recorded``: an Experience with its steps was written; ``extended``: a known run grew; ``event``: an
    Event only; ``unchanged``: this run was there already; ``skipped``: nothing to learn; ``refused``: bad
    input. In the last three cases nothing was written.
    """

    where: str
    status: RunStatus
    reason: str
    name: str | None = Field(default=None, description="name of the Experience or Event in the store")
    steps: int = 0
    persons: list[str] = Field(default_factory=list[str])
    criteria: list[Criterion] = Field(default_factory=list[Criterion])
    redacted: int = Field(default=0, description="secrets replaced before storage")
    repaired: int = Field(default=0, description="damaged characters replaced by U+FFFD")
    warnings: list[str] = Field(default_factory=list[str])
    error: Refusal | None = None


class RecordResult(BaseModel):
    """What became of a whole source.

    ``success``: every record was taken (or needed nothing); ``partial``: some were refused; ``skipped``:
    nothing was worth storing; ``refused``: no record could be taken.
    """

    status: Literal["success", "partial", "skipped", "refused"]
    summary: str
    receipts: list[RunReceipt]
    warnings: list[str] = Field(default_factory=list[str])

    def count(self, *statuses: RunStatus) -> int:
        """How many records ended in one of ``statuses``."""
        return sum(receipt.status in statuses for receipt in self.receipts)

    @staticmethod
    def of(receipts: list[RunReceipt]) -> RecordResult:
        """The result that these receipts amount to."""
        statuses = {receipt.status for receipt in receipts}
        if statuses <= {"refused"}:
            status = "refused"
        elif "refused" in statuses:
            status = "partial"
        else:
            status = "skipped" if statuses <= {"skipped"} else "success"
        warnings = [f"{receipt.where}: {warning}" for receipt in receipts for warning in receipt.warnings]
        return RecordResult(status=status, summary=_summary(receipts), receipts=receipts, warnings=warnings)


_WORDS: dict[RunStatus, str] = {
    "recorded": "recorded as experiences",
    "extended": "extended",
    "event": "kept as events",
    "unchanged": "known already",
    "skipped": "skipped",
    "refused": "refused",
}


def _summary(receipts: list[RunReceipt]) -> str:
    counts = ((words, sum(receipt.status == status for receipt in receipts)) for status, words in _WORDS.items())
    parts = [f"{count} {words}" for words, count in counts if count]
    steps = sum(receipt.steps for receipt in receipts if receipt.status in ("recorded", "extended"))
    return f"{len(receipts)} record{'s' * (len(receipts) != 1)}: {', '.join(parts) or 'none'}; {steps} steps written"
