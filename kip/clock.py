"""Time: where "now" comes from, and the one text form in which kip stores a moment.

Nothing above this module asks the operating system for the time. Code takes a :class:`Clock`, so that a test
decides what time it is and a replayed command gives the same result. Stored moments are UTC in the form of
:func:`iso`, whose width is fixed: comparing two of them as text compares them in time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Protocol

from kip.errors import KipError

_SHAPE = re.compile(r"([0-9W-]+)(?:[Tt ]((?!24)[0-9:.,]+)(?: ?([Zz]|[+-][0-9:]+))?)?")
# Calendar date, optional time, optional zone. `fromisoformat` checks the parts, but on its own it takes any
# character between date and time, and from Python 3.13 on also the hour 24.


class Clock(Protocol):
    """Anything that tells the time."""

    def now(self) -> datetime:
        """The present moment, with the zone UTC."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """The present moment, with the zone UTC."""
        return datetime.now(UTC)


class FixedClock:
    """A clock that stands still until it is told to move; for tests and reproducible runs.

    Args:
        start: the moment it shows, with a zone.

    Raises:
        KipError: KIP_2003 when ``start`` has no zone.
    """

    def __init__(self, start: datetime) -> None:
        self._now = _utc(start)

    def now(self) -> datetime:
        """The moment the clock stands at, with the zone UTC."""
        return self._now

    def advance(self, step: timedelta) -> None:
        """Move the clock by ``step``; a negative step turns it back."""
        self._now += step


def iso(moment: datetime) -> str:
    """The stored form of a moment: ``2026-01-02T03:04:05.123456Z``, always UTC, always 27 characters.

    Raises:
        KipError: KIP_2003 when ``moment`` has no zone.
    """
    return _utc(moment).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def parse_time(text: str) -> tuple[datetime, bool]:
    """Read an ISO 8601 moment.

    Args:
        text: a date, or a date and a time parted by ``T`` or one space, with any number of fraction digits
            (those past microseconds are cut) and ``Z``, an offset or no zone.

    Returns:
        The moment in UTC, and whether the zone was missing; a text without a zone is read as UTC.

    Raises:
        KipError: KIP_2003 when the text is not such a moment.
    """
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise _not_a_time(text)
    date, time, zone = match.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{time or '00:00'}{(zone or 'Z').upper()}")
        return moment.astimezone(UTC), zone is None
    except (ValueError, OverflowError):
        raise _not_a_time(text) from None


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise KipError("KIP_2003", f"the time {moment.isoformat()} has no zone", hint="Give a datetime with a zone.")
    return moment.astimezone(UTC)


def _not_a_time(text: str) -> KipError:
    return KipError(
        "KIP_2003",
        f"{text[:60]!r} is not an ISO 8601 time",
        hint="Write it like 2026-01-02T03:04:05Z.",
    )
