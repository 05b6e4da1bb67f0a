"""What a step does, apart from how it is worded: the unit by which runs are aligned.

A signature is the tool, the operation inside it where the tool is a general one (a shell command, SQL, an
HTTP request), and the shape of the arguments: which keys they have. The values are kept beside it, so that
two calls of one shape can still be told apart. A step without a tool is known by its content words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kip.memory.situation import state_pairs
from kip.memory.speech import content_words
from kip.values import Json

_COMMAND_KEYS = ("command", "cmd", "script", "code", "shell", "bash")
_SQL_KEYS = ("sql", "query", "statement")
_URL_KEYS = ("url", "uri", "endpoint", "path")
_WRAPPERS = frozenset({"sudo", "env", "time", "nohup", "exec", "then", "bash", "sh", "-c", "-lc"})
_BARE_WORD = re.compile(r"^[A-Za-z][\w-]*$")
_SQL = re.compile(
    r"(?is)^\s*(select|insert\s+into|update|delete\s+from|create\s+\w+|alter\s+\w+|drop\s+\w+|with|show|describe|explain)\b"
    r"(?:.*?\b(?:from|join)\s+)?\s*[\"'`]?([\w.]*)"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_VARIABLE_PART = re.compile(r"\d|^[0-9a-f-]{8,}$")

# A verb at the head of a tool's or command's name that only looks: such a call changes nothing outside.
_LOOKING = re.compile(
    r"(?i)^(?:get|read|list|ls|cat|head|tail|grep|find|search|show|describe|view|fetch|query|select|check|inspect|look|"
    r"lookup|calculate|think|explain|status|verify|test|with|retrieve|count|diff|logs?|pwd)(?:[_\W]|$)"
)


@dataclass(frozen=True, slots=True)
class Signature:
    """What one step does. ``words`` counts only where there is no tool."""

    kind: str
    tool: str
    operation: str
    shape: tuple[str, ...]
    values: frozenset[str]
    words: frozenset[str]

    @property
    def looks_only(self) -> bool:
        """True when the name of the operation says that it inspects and changes nothing.

        In a command the verb comes first (``cat``) or after the program (``kubectl get``).
        """
        names = self.operation.split()[:2] or [_HUMP.sub("_", self.tool)]
        return any(_LOOKING.match(name) for name in names)


def of_step(kind: str, tool: str | None, arguments: Json, summary: str) -> Signature:
    """The signature of a stored or traced step. What was observed is known by its words, whatever tool said it."""
    if kind in ("observation", "feedback"):
        tool = arguments = None
    fields = arguments if isinstance(arguments, dict) else {}
    operation = _operation(fields or {"command": arguments}) if tool else ""
    return Signature(
        kind=kind,
        tool=tool or "",
        operation=operation,
        shape=tuple(sorted(fields)),
        values=frozenset(state_pairs(fields) if fields else [str(arguments)] if arguments is not None else ()),
        words=frozenset(_stem(word) for word in content_words(summary)),
    )


def _operation(fields: dict[str, Json]) -> str:
    if command := _first_text(fields, _COMMAND_KEYS):
        return _sql(command) or _command(command)
    if (query := _first_text(fields, _SQL_KEYS)) and (operation := _sql(query)):
        return operation
    url = _first_text(fields, _URL_KEYS)
    return _request(url, _first_text(fields, ("method",))) if url else ""


def _first_text(fields: dict[str, Json], keys: tuple[str, ...]) -> str:
    return next((value for key in keys if isinstance(value := fields.get(key), str) and value.strip()), "")


def _command(text: str) -> str:
    """The program and its subcommand: ``kubectl apply`` of ``sudo kubectl -n web apply -f x.yaml``."""
    words = [word for word in text.strip().splitlines()[0].split() if word not in _WRAPPERS]
    while words and "=" in words[0]:
        words.pop(0)
    if not words:
        return ""
    program = words[0].rsplit("/", 1)[-1]
    plain = (word for word, before in zip(words[1:], words, strict=False) if not _is_option_value(word, before))
    follows = next(plain, "")
    return f"{program} {follows if _BARE_WORD.match(follows) else ''}".strip().casefold()


def _is_option_value(word: str, before: str) -> bool:
    """True for an option, and for what follows a short option, which is usually its value."""
    return word.startswith("-") or (before.startswith("-") and not before.startswith("--"))


def _sql(text: str) -> str:
    match = _SQL.match(text)
    return " ".join(f"{match.group(1)} {match.group(2)}".casefold().split()) if match else ""


def _request(url: str, method: str) -> str:
    """Method and path, parts with digits or hexadecimal ids replaced: ``get /orders/*``."""
    path = re.sub(r"^\w+://[^/]+", "", url).partition("?")[0]
    parts = ["*" if _VARIABLE_PART.search(part) else part for part in path.split("/")]
    return f"{method} {'/'.join(parts)}".strip().casefold()


def _stem(word: str) -> str:
    """A crude common form of English inflections, so that ``migrated`` meets ``migration``."""
    for ending in ("ations", "ation", "ing", "ions", "ion", "ies", "ed", "es", "s", "e", "y"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3:
            return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "ls" else stem
    return word


def likeness(left: Signature, right: Signature) -> float:
    """How far two steps do the same, from 0 (different acts) to 1 (same act, same values)."""
    if left.kind != right.kind or bool(left.tool) != bool(right.tool):
        return 0.0
    if not left.tool:
        shared, together = len(left.words & right.words), len(left.words | right.words)
        return shared / together if together else 1.0
    if left.tool.casefold() != right.tool.casefold() or left.operation != right.operation:
        return 0.0
    if left.shape != right.shape:
        return 0.5
    shared, together = len(left.values & right.values), len(left.values | right.values)
    return 0.6 + 0.4 * (shared / together if together else 1.0)
