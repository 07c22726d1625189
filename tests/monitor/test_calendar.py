"""Calendars: days of periods, what they are compared with, and files of other programs."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from rankscope.errors import FileError, FormatError, UsageError
from rankscope.monitor.definition.calendar import (
    LONGEST,
    MOST_PERIODS,
    Calendar,
    Period,
    read_period,
    write_period,
)
from rankscope.monitor.definition.calendar_file import MOST_BYTES, MOST_EVENTS, read_ics
from rankscope.monitor.events.limits import DAY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

TODAY = date(2026, 11, 28)


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
    with pytest.raises(UsageError) as refused:
        Period(**({"name": "Fair", "first": "2026-03-01"} | wrong))
    assert refused.value.code == "bad_calendar"
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
    for line in (
        "2026-03-01 Fair",
        "2026-03-01 2026-03-02 last-year New  Year's".replace("  ", " "),
    ):
        assert write_period(read_period(line)) == line
    assert read_period("2026-03-01 2026-03-01 none Fair") == Period(name="Fair", first="2026-03-01")
    assert read_period("2026-03-01 last-year").name == "last-year"
    for line in ("Fair", "2026-03-01", "2026-03-01 2026-02-01 Fair"):
        with pytest.raises(UsageError):
            read_period(line)


EVENT = """BEGIN:VEVENT
UID:1
SUMMARY:Christmas\\, again
DTSTART;VALUE=DATE:20201224
DTEND;VALUE=DATE:20201227
RRULE:FREQ=YEARLY
END:VEVENT
"""
TIMED = """BEGIN:VEVENT
UID:2
SUMMARY:Outage
DTSTART;TZID=Europe/Berlin:20260310T233000
DTEND;TZID=Europe/Berlin:20260311T013000
END:VEVENT
"""


def write(path: Path, *parts: str) -> str:
    """An ICS file."""
    file = path / "days.ics"
    text = "".join(("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n", *parts, "END:VCALENDAR\n"))
    file.write_text(text.replace("\n", "\r\n"))
    return str(file)


def test_a_file_has_a_period_for_each_event_of_four_years(tmp_path: Path) -> None:
    pytest.importorskip("recurring_ical_events")
    found = read_ics(write(tmp_path, EVENT, TIMED), baseline="last-year", today=TODAY)
    christmas = [one for one in found if one.name == "Christmas, again"]
    assert [(one.first, one.last) for one in christmas] == [
        (f"{year}-12-24", f"{year}-12-26") for year in (2024, 2025, 2026, 2027)
    ]
    # 23:30 to 1:30 in Berlin in winter is 22:30 to 0:30 in UTC.
    (outage,) = (one for one in found if one.name == "Outage")
    assert (outage.first, outage.last) == ("2026-03-10", "2026-03-11")
    assert {one.baseline for one in found} == {"last-year"}


def test_events_that_end_at_midnight_have_no_part_of_the_next_day(tmp_path: Path) -> None:
    pytest.importorskip("recurring_ical_events")
    event = TIMED.replace(";TZID=Europe/Berlin", "").replace("20260311T013000", "20260311T000000")
    (found,) = read_ics(write(tmp_path, event), today=TODAY)
    assert (found.first, found.last) == ("2026-03-10", "2026-03-10")


def test_names_of_a_file_are_lines(tmp_path: Path) -> None:
    pytest.importorskip("recurring_ical_events")
    event = EVENT.replace("Christmas\\, again", "\u202e<b>\\nA" + "\u00e4" * 400)
    found = read_ics(write(tmp_path, event), today=TODAY)
    assert all(one.name.startswith("<b>A") and one.name.isprintable() for one in found)


ZONE = """BEGIN:VTIMEZONE
TZID:x
BEGIN:STANDARD
DTSTART:19700101T000000
TZOFFSETFROM:+0100
TZOFFSETTO:+0100
RRULE:FREQ=SECONDLY
END:STANDARD
END:VTIMEZONE
"""


@pytest.mark.parametrize(
    "parts",
    [
        [EVENT.replace("YEARLY", "SECONDLY")],
        [EVENT.replace("YEARLY", "DAILY")],
        [EVENT.replace("YEARLY", "YEARLY;BYHOUR=1,2,3")],
        [EVENT.replace("YEARLY", "WEEKLY;INTERVAL=0")],
        [EVENT.replace("20201224", "2020XX24")],
        [EVENT.replace("20201224", "00010101")],
        [EVENT.replace("DTSTART;VALUE=DATE:20201224\n", "")],
        [EVENT.replace("20201227", "20220101")],
        [
            ZONE,
            EVENT,
        ],
        [EVENT.replace("UID:1", f"UID:{number}") for number in range(201)],
        [TIMED.replace("UID:2", f"UID:{number}") for number in range(MOST_EVENTS + 1)],
        ["BEGIN:VEVENT\n" * 5000],
        ["hello\n"],
    ],
)
def test_hostile_files_are_refused(tmp_path: Path, parts: list[str]) -> None:
    pytest.importorskip("recurring_ical_events")
    with pytest.raises(FormatError) as refused:
        read_ics(write(tmp_path, *parts), today=TODAY)
    assert refused.value.code == "bad_calendar"


def test_files_that_are_none_or_too_large_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("recurring_ical_events")
    with pytest.raises(FileError):
        read_ics(str(tmp_path / "none.ics"))
    for content in (b"", b"\xff\xfe\x00", b"x" * (MOST_BYTES + 1)):
        file = tmp_path / "a.ics"
        file.write_bytes(content)
        with pytest.raises(FormatError):
            read_ics(str(file))
