"""Times as traces write them (bugs D11): text with or without a zone, or seconds or milliseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime

from kip.clock import iso, parse_time
from kip.errors import KipError

_MILLISECONDS_FROM = 100_000_000_000
"""A number past this (the year 5138 in seconds) counts milliseconds."""


def stored_time(value: str | int | float) -> tuple[str, bool]:
    """The stored form (:func:`kip.clock.iso`) of a source's time, and whether it named no zone.

    A time without a zone is read as UTC. Raises KIP_2003 for what is no time.
    """
    if isinstance(value, str):
        moment, naive = parse_time(value.strip())
        return iso(moment), naive
    try:
        return iso(datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)), False
    except (OverflowError, OSError, ValueError):
        raise KipError("KIP_2003", f"{value!r} lies outside the calendar") from None


def days_since(text: str, now: datetime) -> float:
    """Days from a stored time to ``now``: 0 when it lies ahead, or is not a time at all."""
    try:
        moment, _ = parse_time(text)
    except KipError:
        return 0.0
    return max(0.0, (now - moment).total_seconds() / 86_400)
