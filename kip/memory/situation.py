"""The situation that an agent is in, as features that can be compared (document 003, section 17.1).

Text similarity of goals is not enough to say that two runs met the same circumstances. A situation adds
the identifiers that occur (order numbers, user ids, services, status codes), the known state as
``key=value`` pairs, and the tools at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kip.memory.speech import content_words
from kip.memory.trace import Trace
from kip.values import Json

IDENTIFIER_LIMIT = 60
STATE_LIMIT = 40
"""How many identifiers and state pairs of one run are kept."""

_TOKEN = re.compile(r"[\w$@#][\w$@#./:+-]*\w|\w", re.UNICODE)
_HAS_LETTER_AND_DIGIT = re.compile(r"(?=.*\d)(?=.*[^\W\d_])")
_INNER_MARK = re.compile(r"\w[_@/:.#$]\w")
_CAPITALS = re.compile(r"^[A-Z]{3,}$")
_HUMPS = re.compile(r"[a-z][A-Z]")
_NUMBER = re.compile(r"^\d{3,}$")


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known before acting: the words of the goal, and the features beside them."""

    goal: str
    words: frozenset[str]
    identifiers: frozenset[str]
    state: frozenset[str]
    tools: frozenset[str]


def identifiers(text: str) -> list[str]:
    """The tokens of ``text`` that name one particular thing, folded, in order of appearance, without repeats.

    Such are tokens with letters and digits, with inner marks (``user_7``, ``db.internal``), in capitals
    (``JFK``, but not an emphasised ``ONLY``), in camel case, and numbers of three digits or more.
    """
    found = (token for token in _TOKEN.findall(text) if _names_something(token))
    return list(dict.fromkeys(token.casefold() for token in found))


def _names_something(token: str) -> bool:
    return bool(
        _HAS_LETTER_AND_DIGIT.search(token)
        or _INNER_MARK.search(token)
        or (_CAPITALS.match(token) and content_words(token))
        or _HUMPS.search(token)
        or _NUMBER.match(token)
    )


def state_pairs(state: Mapping[str, Json]) -> list[str]:
    """The leaves of ``state`` as folded ``path=value`` texts, in order."""
    pairs = (f"{path}={' '.join(text.split())}".casefold()[:200] for path, text in _leaves(state, ""))
    return list(dict.fromkeys(pairs))[:STATE_LIMIT]


def _leaves(value: Json | Mapping[str, Json], path: str) -> Iterator[tuple[str, str]]:
    """The texts, numbers and booleans inside ``value``, each with the keys that lead to it."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, path)
    elif value is not None:
        yield path, str(value).lower() if isinstance(value, bool) else str(value)


def of_request(goal: str, state: Mapping[str, Json], tools: Sequence[str]) -> Situation:
    """The situation of an agent that is about to act."""
    return Situation(
        goal=goal,
        words=frozenset(content_words(goal)),
        identifiers=frozenset([*identifiers(goal), *_identifiers_in(state)]),
        state=frozenset(state_pairs(state)),
        tools=frozenset(tool.casefold() for tool in tools),
    )


def of_experience(attributes: Mapping[str, Json]) -> Situation:
    """The situation of a stored Experience, from the features that formation wrote."""
    goal = attributes.get("goal")
    text = goal if isinstance(goal, str) else ""
    state = attributes.get("initial_state")
    said = [text, *_strings(attributes.get("clarifications"))]
    return Situation(
        goal=text,
        words=frozenset(word for line in said for word in content_words(line)),
        identifiers=frozenset(_strings(attributes.get("identifiers"))),
        state=frozenset(state_pairs(state) if isinstance(state, dict) else ()),
        tools=frozenset(tool.casefold() for tool in _strings(attributes.get("tools"))),
    )


def identifiers_of(trace: Trace) -> list[str]:
    """What identifies the circumstances of a run: from the goal, what users said, the state and the arguments.

    Tool output is left out: a listing names many things that the run was not about.
    """
    found = [name for text in (trace.goal, *trace.user_texts()) for name in identifiers(text)]
    found.extend(_identifiers_in(trace.initial_state))
    for step in trace.actions():
        found.extend(_identifiers_in(step.arguments))
    return list(dict.fromkeys(found))[:IDENTIFIER_LIMIT]


def tools_of(trace: Trace) -> list[str]:
    """The tools that a run used, in order of first use."""
    return list(dict.fromkeys(step.tool for step in trace.steps if step.tool and step.kind in ("action", "decision")))


def _identifiers_in(value: Json | Mapping[str, Json]) -> list[str]:
    return [name for _, text in _leaves(value, "") for name in identifiers(text)]


def _strings(value: Json) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
