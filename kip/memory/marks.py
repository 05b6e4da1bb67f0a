"""The mark that recall puts on its output, and how formation recognises it (behaviours, decision 8).

A briefing that an agent reads becomes part of the agent's own transcript. If that transcript is recorded,
the memory would learn from itself. Every briefing therefore stands between two marks, and formation
cuts out whatever stands between them.
"""

from __future__ import annotations

import re

BEGIN = "[kip:recall]"
"""Stands before recalled text; in JSON it is the value of the first field."""

END = "[kip:recall-end]"
"""Stands after recalled text; in JSON it is the value of the last field."""

# A briefing whose end was cut off has no end mark: then everything from the mark on goes.
_RECALLED = re.compile(re.escape(BEGIN) + r".*?(?:" + re.escape(END) + r"|\Z)", re.DOTALL)


def without_recalled(text: str) -> tuple[str, int]:
    """``text`` without the passages that came out of recall, and how many there were."""
    if BEGIN not in text:
        return unmarked(text), 0
    if text.lstrip().startswith(("{", '"', "[{")):
        return "", 1
    kept, passages = _RECALLED.subn(" ", text)
    return unmarked(kept).strip(), passages


def unmarked(text: str) -> str:
    """``text`` without marks of its own, so that recalled text cannot end the passage it stands in."""
    while BEGIN in text or END in text:  # removing one mark can join the halves of another
        text = text.replace(BEGIN, "").replace(END, "")
    return text
