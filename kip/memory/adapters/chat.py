"""Chat messages as a run: turns become messages, tool calls become actions, tool results observations.

Shared by every format that carries chat messages. A tool result is paired with its call by id; where a
result names no known call it stays a step of its own, with a warning. What a user says after the agent has
acted is observable feedback; what was said before is context (document 003, section 15).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from kip.errors import KipError
from kip.memory.adapters.results import failed_or_succeeded
from kip.memory.model import ChatMessage, ContentPart, FunctionCall, ToolCall
from kip.memory.privacy import first_sentence, without_reasoning
from kip.memory.speech import is_small_talk
from kip.memory.timestamps import stored_time
from kip.memory.trace import Message, Person, Step
from kip.values import Json

_PRIVATE_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})
_THOUGHT_TOOLS = frozenset({"think", "thought", "thinking", "sequentialthinking", "sequential_thinking"})
_SPEAKER_CLASS = {"user": "Human", "assistant": "AI"}


class Transcript:
    """The messages, steps and times of one run, collected in the order of the source."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.steps: list[Step] = []
        self.times: list[str] = []
        self.warnings: list[str] = []
        self._speakers: dict[str, Person] = {}
        self._calls: dict[str, int] = {}
        self._thoughts: set[int] = set()
        self._acted = False

    def add_step(self, step: Step) -> int:
        """Append ``step``; its position."""
        self._acted = self._acted or step.kind == "action"
        self.steps.append(step)
        return len(self.steps) - 1

    def add_message(self, role: str, text: str, name: str | None) -> None:
        """Append something said, if anything was."""
        if name and role in _SPEAKER_CLASS:
            self._speakers.setdefault(name, Person(name, _SPEAKER_CLASS[role]))
        if text:
            self.messages.append(Message(role, text, name))

    def add_chat(self, message: ChatMessage, ref: str) -> None:
        """Append what one chat message amounts to. ``ref`` says where it stands in the source."""
        text = content_text(message.content)
        moment = self.time(message.timestamp, f"{ref}.timestamp")
        match message.role:
            case "user":
                self.add_message("user", text, message.name)
                if self._acted and text and not is_small_talk(text):
                    self.add_step(Step("feedback", text, ref, timestamp=moment))
            case "assistant":
                self.add_message("assistant", text, message.name)
                self._add_calls(message, text, moment, ref)
            case "tool" | "function":
                self._add_result(message, text, moment, ref)
            case "system" | "developer":
                pass  # instructions to the agent are neither its experience nor its memory

    def _add_calls(self, message: ChatMessage, text: str, moment: str | None, ref: str) -> None:
        rationale = first_sentence(text) or None
        for position, (call_id, function) in enumerate(_calls(message)):
            arguments = _parsed(function.arguments)
            call_ref = f"{ref}.tool_calls[{position}]" if message.tool_calls else f"{ref}.function_call"
            thought = _thought(function.name, arguments)
            if thought is not None:
                kept = first_sentence(thought)
                step = Step("decision", kept, call_ref, function.name, {"thought": kept}, None, moment, kept)
            else:
                step = Step("action", "", call_ref, function.name, arguments, None, moment, rationale)
                rationale = None
            index = self.add_step(step)
            if thought is not None:
                self._thoughts.add(index)
            if call_id is not None:
                self._calls[call_id] = index

    def _add_result(self, message: ChatMessage, text: str, moment: str | None, ref: str) -> None:
        call = self._called(message)
        if call is None:
            self.warnings.append(f"{ref} is a tool result that answers no known call")
        elif call in self._thoughts and not text:
            return
        tool = self.steps[call].tool if call is not None else message.name
        verdict = failed_or_succeeded(text)
        summary = text or "(no output)"
        self.add_step(Step("observation", summary, ref, tool, success=verdict, timestamp=moment, answers=call))

    def _called(self, message: ChatMessage) -> int | None:
        if message.tool_call_id is not None:
            return self._calls.get(message.tool_call_id)
        # The older function interface has no ids: a result belongs to the last call of that function.
        matching = (i for i in reversed(range(len(self.steps))) if self.steps[i].tool == message.name)
        return next((i for i in matching if self.steps[i].kind != "observation"), None) if message.name else None

    def time(self, value: str | int | float | None, ref: str) -> str | None:
        """The stored form of a source's time; an unreadable one is left out with a warning."""
        if value is None:
            return None
        try:
            text, naive = stored_time(value)
        except KipError:
            self.warnings.append(f"{ref} is not a time: {value!r:.60}")
            return None
        if naive:
            self.warnings.append(f"{ref} has no zone and was read as UTC")
        self.times.append(text)
        return text

    def persons(self) -> tuple[Person, ...]:
        """Who spoke under a name."""
        return tuple(self._speakers.values())

    def opening_request(self) -> str:
        """The first thing a user said beyond small talk, or the first thing at all."""
        said = [message.text for message in self.messages if message.role == "user"]
        return next((text for text in said if not is_small_talk(text)), said[0] if said else "")


def content_text(content: str | list[ContentPart] | None) -> str:
    """The text of a message's content. Images and the like leave ``[type]``, private reasoning leaves nothing."""
    if content is None:
        return ""
    if isinstance(content, str):
        return without_reasoning(content).strip()
    parts = (part for part in content if part.type not in _PRIVATE_PARTS)
    return without_reasoning("\n".join(part.text if part.text is not None else f"[{part.type}]" for part in parts))


def _calls(message: ChatMessage) -> Iterator[tuple[str | None, FunctionCall]]:
    for call in message.tool_calls or ():
        yield call.id, _function(call)
    if message.function_call is not None:
        yield None, message.function_call


def _function(call: ToolCall) -> FunctionCall:
    return call.function or FunctionCall(name=call.name or "unnamed", arguments=call.arguments)


def _parsed(arguments: Json) -> Json:
    """Arguments as an object where they are one; text that is not JSON stays text."""
    if not isinstance(arguments, str):
        return arguments
    try:
        value: Json = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return value if isinstance(value, dict) else arguments


def _thought(tool: str, arguments: Json) -> str | None:
    """The text of a call that only thinks aloud, None for a real action."""
    if not isinstance(arguments, dict):
        return None
    thought = arguments.get("thought")
    if isinstance(thought, str) and (tool.casefold() in _THOUGHT_TOOLS or set(arguments) == {"thought"}):
        return thought
    return None
