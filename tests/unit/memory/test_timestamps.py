"""Times of every shape become UTC text that sorts as time (bugs D11)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kip.clock import iso
from kip.errors import KipError
from kip.memory.retention import STRENGTH_FLOOR, effective_strength
from kip.memory.timestamps import days_since, stored_time


def test_mixed_offsets_sort_in_time() -> None:
    given_times = ["2026-01-15T23:00:00+05:30", "2026-01-15T17:45:00", "2026-01-15T17:45:00.5Z", "2026-01-15 18:00:00"]
    stored = [stored_time(text) for text in given_times]
    texts = [text for text, _ in stored]
    assert [text[11:21] for text in texts] == ["17:30:00.0", "17:45:00.0", "17:45:00.5", "18:00:00.0"]
    assert texts == sorted(texts)
    assert [naive for _, naive in stored] == [False, True, False, True]


@pytest.mark.parametrize("number", [1768499100, 1768499100.0, 1768499100000])
def test_seconds_and_milliseconds_since_1970(number: float) -> None:
    assert stored_time(number) == ("2026-01-15T17:45:00.000000Z", False)


@pytest.mark.parametrize("value", ["yesterday", "", "2026-13-01", 1e300, float("nan"), -1e18])
def test_what_is_no_time_is_refused(value: str | float) -> None:
    with pytest.raises(KipError) as caught:
        stored_time(value)
    assert caught.value.code == "KIP_2003"


@given(st.datetimes(timezones=st.timezones()))
def test_every_moment_keeps_its_instant(moment: datetime) -> None:
    try:
        text, naive = stored_time(moment.isoformat())
    except KipError:
        return  # an offset with seconds, or a moment outside the calendar in UTC
    assert text == iso(moment)
    assert not naive


def test_strength_fades_by_the_day_down_to_a_floor() -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)

    def strength(days: float) -> float:
        return effective_strength({"memory_strength": 0.8, "strength_set_at": iso(now - timedelta(days=days))}, now)

    assert strength(0) == pytest.approx(0.8)
    assert strength(1) == pytest.approx(0.76)
    assert strength(10) == pytest.approx(0.8 * 0.95**10)
    assert strength(1000) == STRENGTH_FLOOR
    assert strength(-3) == pytest.approx(0.8)  # a clock that runs behind does not raise it


@pytest.mark.parametrize("metadata", [{}, {"memory_strength": None}, {"created_at": "soon"}, {"memory_strength": "x"}])
def test_strength_that_nobody_set(metadata: dict[str, None]) -> None:
    assert effective_strength(metadata, datetime(2026, 5, 1, tzinfo=UTC)) == pytest.approx(0.7)


def test_days_since_what_is_no_time() -> None:
    assert days_since("once", datetime(2026, 5, 1, tzinfo=UTC)) == 0.0
