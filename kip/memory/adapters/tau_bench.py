"""tau-bench result records: ``traj`` (OpenAI chat messages) and ``reward``.

Only these two are read. ``info`` holds the benchmark's instruction and expected actions, which no agent sees.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from kip.errors import KipError
from kip.memory.adapters.openai_chat import trace_of
from kip.memory.trace import Outcome, Trace
from kip.values import Json


def accepts(record: Json) -> bool:
    """True for an object with a list ``traj``."""
    return isinstance(record, dict) and isinstance(record.get("traj"), list)


def read(record: Json, where: str) -> Trace:
    """The run of one record; reward 1 is success, 0 failure, anything between leaves success open.

    Raises KIP_2003 when ``reward`` is not a number, and as :func:`openai_chat.trace_of` does.
    """
    fields = cast(dict[str, Json], record)
    reward = fields.get("reward")
    if reward is not None and (isinstance(reward, bool) or not isinstance(reward, (int, float))):
        raise KipError("KIP_2003", f"{where}.reward is not a number", hint="reward is a number from 0 to 1, or absent.")
    trace = trace_of(cast(list[Json], fields["traj"]), where, "traj", Outcome())
    return replace(trace, outcome=_outcome(reward))


def _outcome(reward: float | None) -> Outcome:
    if reward is None:
        return Outcome()
    success = True if reward >= 1 else False if reward <= 0 else None
    return Outcome(success=success, text=f"reward {reward:g}", judged=True)
