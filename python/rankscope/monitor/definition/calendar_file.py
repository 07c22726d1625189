"""Reads the periods of a calendar from an ICS file, as calendar programs write it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from rankscope.errors import FileError, FormatError, UsageError, hint_extra
from rankscope.monitor.definition.calendar import FIRST, MOST_PERIODS, NAME_BYTES, Period
from rankscope.monitor.events.times import read_clock, to_datetime
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

    from rankscope.monitor.definition.calendar import PeriodBaseline

MOST_BYTES = 1 << 20
MOST_EVENTS = 2000
MOST_RECURRING = 200
RECURS = frozenset({"WEEKLY", "MONTHLY", "YEARLY"})
TIMES_OF_DAY = frozenset({"BYHOUR", "BYMINUTE", "BYSECOND"})
YEARS_BEFORE, YEARS_AFTER = 2, 1
BAD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What the libraries raise for files that are wrong in ways that they don't expect."""


def read_ics(
    path: str, *, baseline: PeriodBaseline = "none", today: date | None = None
) -> tuple[Period, ...]:
    """Return the events of an ICS file as periods: of two years ago up to the end of next year.

    Raises:
        FormatError: It is no such file, or too large, or the libraries aren't installed.
        FileError: It can't be read.
    """
    try:
        import icalendar  # noqa: PLC0415 - only files of calendars need it
        import recurring_ical_events  # noqa: PLC0415 - likewise
    except ModuleNotFoundError as error:
        raise FormatError(
            f"reading calendars needs {error.name}, which is not installed",
            hint=hint_extra("calendar"),
            code="missing_extra",
            file=path,
        ) from None
    text = _read(path)
    today = today or to_datetime(read_clock()).date()
    since = date(today.year - YEARS_BEFORE, 1, 1)
    until = date(today.year + YEARS_AFTER, 12, 31)
    try:
        calendar = icalendar.Calendar.from_ical(text)
        events = calendar.walk("VEVENT")
        _check(path, [*calendar.walk()], events)
        found = recurring_ical_events.of(calendar).between(since, until + timedelta(days=1))
        periods = {
            (one.name, one.first): one
            for one in _convert(path, found, baseline)
            if str(since) <= str(one.last) and str(one.first) <= str(until)
        }
    except BAD as error:
        _refuse(path, f"it is no calendar that can be read: {quote(str(error)[:120])}")
    if len(periods) > MOST_PERIODS:
        _refuse(path, f"expected at most {MOST_PERIODS:,} periods, found {len(periods):,}")
    return tuple(periods.values())


def _read(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise FileError(
            f"cannot read the calendar: {error.strerror}",
            hint="check the path; it is relative to the file that names it",
            code="calendar_read",
            file=path,
        ) from None
    if len(text) > MOST_BYTES:
        size = Path(path).stat().st_size
        _refuse(path, f"expected at most {MOST_BYTES:,} bytes, found {size:,}")
    return text


def _check(path: str, parts: list[Any], events: list[Any]) -> None:
    """Refuse what takes too long to expand, before anything is expanded."""
    if len(events) > MOST_EVENTS:
        _refuse(path, f"expected at most {MOST_EVENTS:,} events, found {len(events):,}")
    recurring = 0
    for part in parts:
        name = quote(str(part.get("SUMMARY", ""))[:80])
        if part.name == "VEVENT" and part.errors:
            field, problem = part.errors[0]
            _refuse(path, f"the event {name} has a wrong {field}: {str(problem)[:80]}")
        rules = part.get("RRULE", [])
        for rule in rules if isinstance(rules, list) else [rules]:
            recurring += 1
            often = str(rule.get("FREQ", [""])[0]).upper()
            is_odd = (
                TIMES_OF_DAY & {key.upper() for key in rule} or rule.get("INTERVAL", [1])[0] < 1
            )
            if often not in RECURS or is_odd:
                _refuse(path, f"the event {name} recurs {often.lower()}: expected weekly or rarer")
        start = part.get("DTSTART")
        if part.name == "VEVENT" and (start is None or start.dt.year < FIRST.year):
            _refuse(path, f"the event {name} has no start from {FIRST.year} on")
    if recurring > MOST_RECURRING:
        _refuse(path, f"expected at most {MOST_RECURRING} recurring events, found {recurring}")


def _convert(path: str, events: list[Any], baseline: PeriodBaseline) -> Iterator[Period]:
    for event in events:
        said = "".join(each for each in str(event.get("SUMMARY", "")) if each.isprintable())
        name = " ".join(said.encode()[:NAME_BYTES].decode(errors="ignore").split()) or "unnamed"
        first, last = _find_day(event.start), _find_day(event.end)
        # The end of an event isn't part of it, whether it is a day or a moment.
        if last > first and not _has_time(event.end):
            last -= timedelta(days=1)
        try:
            yield Period(name=name, first=first, last=last, baseline=baseline)
        except UsageError as error:
            _refuse(path, f"the event {quote(name)}: {error.message}")


def _find_day(moment: date | datetime) -> date:
    if not isinstance(moment, datetime):
        return moment
    # A time without a zone is one of the place where it is read: there is none here but UTC.
    return moment.astimezone(UTC).date() if moment.tzinfo else moment.date()


def _has_time(moment: date | datetime) -> bool:
    """Whether a moment lies within a day."""
    if not isinstance(moment, datetime):
        return False
    local = moment.astimezone(UTC) if moment.tzinfo else moment
    return local.time() != local.min.time()


def _refuse(path: str, problem: str) -> NoReturn:
    raise FormatError(
        problem,
        hint="export the events that matter as an .ics file, or write periods into the "
        "configuration: name, first and last",
        code="bad_calendar",
        file=path,
    )
