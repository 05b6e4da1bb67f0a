from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kip.clock import Clock, FixedClock, SystemClock, iso, parse_time
from kip.errors import KipError

NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "stored", "zone_was_missing"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000Z", False),
        ("2026-01-02t03:04:05z", "2026-01-02T03:04:05.000000Z", False),
        ("2026-01-02 03:04:05+02:00", "2026-01-02T01:04:05.000000Z", False),
        ("2026-01-02 03:04:05 +0200", "2026-01-02T01:04:05.000000Z", False),
        ("2026-01-02T03:04:05-05", "2026-01-02T08:04:05.000000Z", False),
        ("2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.100000Z", False),
        ("2026-01-02T03:04:05,25Z", "2026-01-02T03:04:05.250000Z", False),
        ("2026-01-02T03:04:05.123456Z", "2026-01-02T03:04:05.123456Z", False),
        ("2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123456Z", False),
        ("2026-01-02T03:04Z", "2026-01-02T03:04:00.000000Z", False),
        ("20260102T030405Z", "2026-01-02T03:04:05.000000Z", False),
        ("2026-W01-5T00:00:00Z", "2026-01-02T00:00:00.000000Z", False),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05.000000Z", True),
        ("2026-01-02 03:04:05.5", "2026-01-02T03:04:05.500000Z", True),
        ("2026-01-02", "2026-01-02T00:00:00.000000Z", True),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z", False),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z", False),
    ],
)
def test_times_that_are_read(text: str, stored: str, zone_was_missing: bool) -> None:
    moment, missing = parse_time(text)
    assert iso(moment) == stored
    assert moment.tzinfo is UTC
    assert missing is zone_was_missing


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026",
        "2026-01",
        "2026-13-01",
        "2026-02-30T00:00:00Z",
        "2026-01-02T24:00:00Z",
        "2026-01-02T03:04:60Z",
        "2026-01-02T03:04:05+25:00",
        "2026-01-02T03:04:05+",
        "2026-01-02T03:04:05ZZ",
        "2026-01-02_03:04:05Z",
        "2026-01-02  03:04:05Z",
        "2026-01-02Z",
        " 2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05Z\n",
        "２０２６-01-02T03:04:05Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "1767323045",
    ],
)
def test_texts_that_are_not_a_time(text: str) -> None:
    with pytest.raises(KipError) as caught:
        parse_time(text)
    assert caught.value.code == "KIP_2003"


def test_a_long_text_is_cut_in_the_message() -> None:
    with pytest.raises(KipError) as caught:
        parse_time("x" * 10_000)
    assert len(caught.value.message) < 120


@given(st.text(alphabet="0123456789-:.,TWZ +", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(KipError):
        moment, _ = parse_time(text)
        assert parse_time(iso(moment)) == (moment, False)


zones = st.timedeltas(min_value=timedelta(hours=-23), max_value=timedelta(hours=23)).map(timezone)
moments = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=zones)  # noqa: DTZ001


@given(moments)
def test_the_stored_form_keeps_the_moment(moment: datetime) -> None:
    text = iso(moment)
    assert len(text) == 27
    assert parse_time(text) == (moment, False)


@given(moments, moments)
def test_stored_times_compare_as_text(one: datetime, other: datetime) -> None:
    assert (iso(one) < iso(other)) == (one < other)


def test_a_time_without_a_zone_is_not_stored() -> None:
    with pytest.raises(KipError) as caught:
        iso(datetime(2026, 1, 2))  # noqa: DTZ001
    assert caught.value.code == "KIP_2003"


def test_the_system_clock_tells_the_time_in_utc() -> None:
    clock: Clock = SystemClock()
    before = datetime.now(UTC)
    now = clock.now()
    assert before <= now <= datetime.now(UTC)
    assert now.tzinfo is UTC


def test_a_fixed_clock_stands_still_until_moved() -> None:
    clock = FixedClock(NOON.astimezone(timezone(timedelta(hours=9))))
    reading: Clock = clock
    assert reading.now() == reading.now() == NOON
    assert reading.now().tzinfo is UTC
    clock.advance(timedelta(days=1))
    assert reading.now() == NOON + timedelta(days=1)
    clock.advance(timedelta(days=-1))
    assert reading.now() == NOON


def test_a_fixed_clock_needs_a_zone() -> None:
    with pytest.raises(KipError) as caught:
        FixedClock(datetime(2026, 1, 2))  # noqa: DTZ001
    assert caught.value.code == "KIP_2003"
