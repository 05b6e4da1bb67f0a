"""Whether a tool's own output says that the call failed.

Tools report failure in many forms. Only clear ones count; a text that merely talks about errors does not.
Without a clear sign nothing is claimed: a call that did not complain has not thereby succeeded.
"""

from __future__ import annotations

import json
import re

from kip.values import Json

_FAILED = re.compile(
    r"""(?ix) \A\s*(?:
        (?:\w+\.)*\w*(?:error|exception)\b\s*[:(\[-]     # Error: .., ValueError: .., java.lang.FooException: ..
      | error\b(?!\s*(?:log|handl|message|code|rate|page)) # Error executing ..
      | traceback\ \(most\ recent\ call\ last\)
      | fatal\b | panic: | failed\b | failure\b | permission\ denied | command\ not\ found
      | http(?:/[\d.]+)?\ [45]\d\d\b
    )"""
)
_EXIT_CODE = re.compile(
    r"(?i)\b(?:exit(?:ed)?(?:\s+with)?(?:\s+(?:code|status))?|return\s?code)\s*[:=]?\s*(-?\d{1,3})\b"
)
_FLAGS = ("success", "ok", "succeeded")
_STATUS_KEYS = ("status", "result_status", "state", "outcome")
_GOOD = frozenset({"success", "succeeded", "ok", "completed", "passed"})
_BAD = frozenset({"error", "failure", "failed", "fatal", "denied", "rejected", "exception"})
_LOOK_AT = 4_000


def failed_or_succeeded(text: str) -> bool | None:
    """False when the output ``text`` says that the call failed, True when it says it succeeded, else None."""
    if text.lstrip().startswith("{"):
        verdict = _from_object(text)
        if verdict is not None:
            return verdict
    if _FAILED.match(text[:_LOOK_AT]) or "\nTraceback (most recent call last)" in text[:_LOOK_AT]:
        return False
    codes = _EXIT_CODE.findall(text[:200] + "\n" + text[-200:])
    return codes[-1] == "0" if codes else None


def _from_object(text: str) -> bool | None:
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    for key in _FLAGS:
        if isinstance(flag := value.get(key), bool):
            return flag
    if value.get("error") or value.get("is_error") is True or value.get("isError") is True:
        return False
    for key in _STATUS_KEYS:
        if isinstance(word := value.get(key), str) and word.casefold() in _GOOD | _BAD:
            return word.casefold() in _GOOD
    return None
