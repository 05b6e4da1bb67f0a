"""How strongly a memory competes for recall (document 003 section 12.2, decision 22).

Strength is stored with the time it was set and fades when it is read, so that reading writes nothing:
strength times 0.95 for each day since, never below 0.05. Confidence does not fade with time.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from kip.memory.timestamps import days_since
from kip.values import Json

INITIAL_STRENGTH = 0.8
MISSING_STRENGTH = 0.7
DAILY_FADING = 0.95
STRENGTH_FLOOR = 0.05


def effective_strength(metadata: Mapping[str, Json], now: datetime) -> float:
    """The strength, 0.05 to 1, that an element with ``metadata`` has at ``now``."""
    stored = metadata.get("memory_strength")
    strength = float(stored) if isinstance(stored, (int, float)) else MISSING_STRENGTH
    for key in ("strength_set_at", "observed_at", "created_at"):
        if isinstance(since := metadata.get(key), str):
            strength *= DAILY_FADING ** days_since(since, now)
            break
    return min(1.0, max(STRENGTH_FLOOR, strength))
