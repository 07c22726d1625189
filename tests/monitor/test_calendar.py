"""Calendars: days of periods, and what they are compared with."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from rankscope.errors import UsageError
from rankscope.monitor.definition.calendar import (
    LONGEST,
    MOST_PERIODS,
    Calendar,
    Period,
    read_period,
    write_period,
)
from rankscope.monitor.events.limits import DAY

from tests.refusals import refuses


def at(text: str) -> int:
    """A moment, in microseconds."""
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def test_a_period_has_whole_days_in_utc() -> None:
    calendar = Calendar((Period(name="Fair", first="2026-03-01", last="2026-03-02"),))
    begin, end = at("2026-03-01T00:00"), at("2026-03-03T00:00")
    found = [calendar.find(moment) for moment in (begin - 1, begin, end - 1, end)]
    assert [one is not None for one in found] == [False, True, True, False]
    times = np.array([begin - 1, begin, end - 1, end])
    assert calendar.mark(times).tolist() == [False, True, True, False]
    assert calendar.mark(np.empty(0, dtype=np.int64)).tolist() == []


def test_of_periods_with_a_day_in_common_the_one_that_begins_last_counts() -> None:
    long = Period(name="Winter", first="2026-12-01", last="2026-12-31", baseline="last-year")
    short = Period(name="Christmas", first="2026-12-24", last="2026-12-26")
    for periods in ((long, short), (short, long)):
        calendar = Calendar(periods)
        assert calendar.periods == (long, short)
        assert calendar.find(at("2026-12-25T12:00")) == short
        assert calendar.find(at("2026-12-27T00:00")) == long


def test_last_year_is_the_period_of_the_name_before_that_the_log_has() -> None:
    days = [f"{year}-11-27" for year in (2024, 2025, 2026)]
    periods = tuple(Period(name="Sale", first=day, baseline="last-year") for day in days)
    other = Period(name="Fair", first="2026-01-01", baseline="last-year")
    calendar = Calendar((*periods, other))
    last = at("2025-11-27T00:00")
    assert calendar.refer(periods[2], known=0) == ((last, last + DAY),)
    assert calendar.refer(periods[2], known=last) == ((last, last + DAY),)
    assert calendar.refer(periods[2], known=last + 1) == ()
    assert calendar.refer(periods[0], known=0) == calendar.refer(other, known=0) == ()
    assert calendar.explain(periods[2], 0) == "compared with the one from 27 Nov 2025"
    assert calendar.explain(periods[2], last + 1).startswith("left out, because no earlier one")
    assert calendar.explain(periods[2], None).startswith("left out, because")


def test_same_weekdays_are_those_of_four_weeks_without_other_periods() -> None:
    campaign = Period(name="Sale", first="2026-03-04", last="2026-03-05", baseline="same-weekday")
    holiday = Period(name="Holiday", first="2026-02-18")
    calendar = Calendar((campaign, holiday))
    starts = [start for start, _ in calendar.refer(campaign, known=0)]
    days = [datetime.fromtimestamp(start / 1e6, UTC).date() for start in starts]
    expected = [
        date(2026, 2, 4) + timedelta(days=7 * week + more) for week in range(4) for more in (0, 1)
    ]
    assert days == [day for day in expected if day != date(2026, 2, 18)]
    assert [start for start, _ in calendar.refer(campaign, known=starts[2])] == starts[2:]
    assert calendar.refer(campaign, known=campaign.since) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "a\nb"},
        {"name": "\ud800"},
        {"name": "n" * 1000},
        {"first": "2026-02-30"},
        {"first": "20260301"},
        {"first": "2026-03-01T00:00:00Z"},
        {"first": "1969-12-31"},
        {"first": "9999-12-31"},
        {"last": "2026-02-28"},
        {"last": str(date(2026, 3, 1) + timedelta(days=LONGEST))},
        {"baseline": "next-year"},
    ],
)
def test_what_is_no_period_is_refused(wrong: dict[str, str]) -> None:
    with refuses(UsageError, "bad_calendar") as refused:
        Period(**({"name": "Fair", "first": "2026-03-01"} | wrong))
    assert refused.value.message.startswith(f"{next(iter(wrong))}: ")


def test_a_calendar_has_each_period_once_and_a_limit() -> None:
    one = Period(name="Fair", first="2026-03-01")
    with pytest.raises(UsageError, match="once"):
        Calendar((one, Period(name="Fair", first="2026-03-01", last="2026-03-02")))
    many = [Period(name=str(number), first="2026-03-01") for number in range(MOST_PERIODS + 1)]
    assert len(Calendar(tuple(many[1:])).periods) == MOST_PERIODS
    with pytest.raises(UsageError, match="1,000"):
        Calendar(tuple(many))


def test_a_period_is_written_in_a_line() -> None:
    for line in ("2026-03-01 Fair", "2026-03-01 2026-03-02 last-year New Year's"):
        assert write_period(read_period(line)) == line
    assert read_period("2026-03-01 2026-03-01 none Fair") == Period(name="Fair", first="2026-03-01")
    assert read_period("2026-03-01 last-year").name == "last-year"
    for line in ("Fair", "2026-03-01", "2026-03-01 2026-02-01 Fair"):
        with pytest.raises(UsageError):
            read_period(line)
