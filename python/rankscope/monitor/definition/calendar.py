"""The calendar of a project: days on which values aren't compared as on others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from rankscope._names import quote
from rankscope.errors import UsageError
from rankscope.monitor.events.fields import can_be_stored
from rankscope.monitor.events.limits import DAY, Limits
from rankscope.monitor.events.times import to_datetime

PeriodBaseline: TypeAlias = Literal["none", "last-year", "same-weekday"]
PERIOD_BASELINES: tuple[PeriodBaseline, ...] = get_args(PeriodBaseline)
MOST_PERIODS = 1000
LONGEST = 366
"""Days of a period."""
WEEKS = 4
"""So many weeks before a period have the days that `same-weekday` compares with."""
FIRST = date(1970, 1, 1)
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
WORD = re.compile("|".join(PERIOD_BASELINES))
NAME_BYTES = Limits().name_bytes

# From when, and until when, in microseconds since 1970 in UTC.
Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Days that differ from others, such as a holiday, a campaign or an outage.

    Args:
        name: The name of the period, in one line.
        first: Its first day in UTC: a `date`, or ISO text such as `2026-12-24`. It is kept as text.
        last: Its last day (default: the first).
        baseline: What its values are compared with: with nothing (`none`), with the period of the
            same name before it (`last-year`), or with the same weekdays of the four weeks before it
            (`same-weekday`).

    Raises:
        UsageError: The name can't be stored, a day is none, or the period is too long.

    Examples:
        >>> christmas = Period(name="Christmas", first="2026-12-24", last="2026-12-26")
        >>> christmas.days, christmas.baseline
        (3, 'none')
    """

    name: str
    first: date | str
    last: date | str | None = None
    baseline: PeriodBaseline = "none"

    def __post_init__(self) -> None:
        name = self.name
        if not (name and can_be_stored(name, NAME_BYTES) and name.isprintable()):
            raise _bad(f"name: expected a line of at most {NAME_BYTES} bytes", name)
        first = _read_day(self.first, "first")
        last = _read_day(self.last, "last") if self.last is not None else first
        if not first <= last < first + timedelta(days=LONGEST):
            expected = f"last: expected a day from {first} on, within {LONGEST} days"
            raise _bad(expected, str(last))
        if self.baseline not in PERIOD_BASELINES:
            raise _bad(f"baseline: expected {', '.join(PERIOD_BASELINES)}", str(self.baseline))
        for field, day in (("first", first), ("last", last)):
            object.__setattr__(self, field, day.isoformat())

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.until - self.since) // DAY

    @property
    def since(self) -> int:
        """When it begins, in microseconds since 1970 in UTC."""
        return _count(self.first)

    @property
    def until(self) -> int:
        """When it ends."""
        return _count(str(self.last)) + DAY

    def to_dict(self) -> dict[str, str]:
        """Return it as JSON holds it, without what has its default."""
        said = {"name": self.name, "first": str(self.first)}
        if self.last != self.first:
            said["last"] = str(self.last)
        return said if self.baseline == "none" else {**said, "baseline": self.baseline}


@dataclass(frozen=True, slots=True)
class Calendar:
    """The periods of a project: of those with a day in common, the one that begins last counts.

    Args:
        periods: The periods; they are kept in the order of time.

    Raises:
        UsageError: There are too many, or two of one name begin on the same day.

    Examples:
        >>> holidays = Calendar((Period(name="Christmas", first="2026-12-24", last="2026-12-26"),))
        >>> noon = 1_798_200_000_000_000  # 25 December 2026, 12:00
        >>> holidays.find(noon).name, holidays.find(noon + 2 * DAY)
        ('Christmas', None)
    """

    periods: tuple[Period, ...] = ()

    def __post_init__(self) -> None:
        ordered = sorted(self.periods, key=lambda one: (one.since, -one.until, one.name))
        if len(ordered) > MOST_PERIODS:
            raise _bad(f"expected at most {MOST_PERIODS:,} periods", f"{len(ordered):,}")
        for (name, first), count in Counter((one.name, one.first) for one in ordered).items():
            if count > 1:
                raise _bad("expected each period once", f"{name} on {first} twice")
        object.__setattr__(self, "periods", tuple(ordered))

    def find(self, moment: int) -> Period | None:
        """Return the period of a moment, in microseconds since 1970 in UTC; `None` for none."""
        return next(
            (one for one in reversed(self.periods) if one.since <= moment < one.until), None
        )

    def between(self, since: int, until: int) -> tuple[Period, ...]:
        """Return the periods that have a part of a time."""
        return tuple(one for one in self.periods if one.since < until and since < one.until)

    def mark(self, times: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which moments are in a period."""
        is_in = np.zeros(len(times), dtype=np.bool_)
        if self.periods and len(times):
            for one in self.between(int(times.min()), int(times.max()) + 1):
                is_in |= (one.since <= times) & (times < one.until)
        return is_in

    def refer(self, period: Period, known: int) -> tuple[Span, ...]:
        """Return the times that a period is compared with; empty where it is left out.

        Args:
            period: The period.
            known: From when on events are known.
        """
        if period.baseline == "last-year":
            name = period.name.casefold()
            before = [
                one
                for one in self.periods
                if one.name.casefold() == name and known <= one.since and one.until <= period.since
            ]
            return ((before[-1].since, before[-1].until),) if before else ()
        if period.baseline == "same-weekday":
            weekdays = {(period.since // DAY + at) % 7 for at in range(period.days)}
            starts = (period.since - at * DAY for at in range(7 * WEEKS, 0, -1))
            return tuple(
                (start, start + DAY)
                for start in starts
                if start >= known and start // DAY % 7 in weekdays and self.find(start) is None
            )
        return ()

    def explain(self, period: Period, known: int | None) -> str:
        """Say how the days of a period are judged."""
        spans = () if known is None else self.refer(period, known)
        if spans and period.baseline == "last-year":
            return f"compared with the one from {to_datetime(spans[0][0]):%d %b %Y}"
        if spans:
            return "compared with the same weekdays of the four weeks before"
        if period.baseline == "last-year":
            return "left out, because no earlier one is both in the calendar and in the log"
        if period.baseline == "same-weekday":
            return "left out, because the log has no such weekdays in the four weeks before"
        return "left out"

    def to_list(self) -> list[dict[str, str]]:
        """Return the periods as JSON holds them."""
        return [one.to_dict() for one in self.periods]

    @classmethod
    def from_list(cls, given: Iterable[Mapping[str, Any]]) -> Calendar:
        """Read what `to_list` has written.

        Raises:
            UsageError: A period is none; the message names its place.
        """
        return cls(tuple(_read_all(given)))


def write_period(period: Period) -> str:
    """Write a period in a line that `read_period` reads.

    Examples:
        >>> line = write_period(Period(name="New Year", first="2027-01-01", baseline="last-year"))
        >>> line, write_period(read_period(line)) == line
        ('2027-01-01 last-year New Year', True)
    """
    said = period.to_dict()
    return " ".join(said[part] for part in ("first", "last", "baseline", "name") if part in said)


def read_period(line: str) -> Period:
    """Read a period: its first day, maybe its last one and its baseline, and its name."""
    first, *words = line.split()
    parts: dict[str, Any] = {}
    for name, shape in (("last", DATE), ("baseline", WORD)):
        if len(words) > 1 and shape.fullmatch(words[0]):
            parts[name] = words.pop(0)
    return Period(name=" ".join(words), first=first, **parts)


def _read_all(given: Iterable[Mapping[str, Any]]) -> Iterator[Period]:
    for at, each in enumerate(given):
        try:
            yield Period(**each)
        except UsageError as error:
            message = f"calendar.{at}.{error.message}"
            raise UsageError(message, hint=error.hint, code=error.code) from None


def _count(day: date | str) -> int:
    return (date.fromisoformat(str(day)) - FIRST).days * DAY


def _read_day(given: object, where: str) -> date:
    """Read a day; a time of day makes no period."""
    text = str(given)
    try:
        day = date.fromisoformat(text) if DATE.fullmatch(text) else None
    except ValueError:
        day = None
    if day is None or not FIRST <= day < date(9000, 1, 1):
        raise _bad(f"{where}: expected a day such as 2026-12-24", text)
    return day


def _bad(expected: str, found: str) -> UsageError:
    hint = 'write name = "Christmas", first = 2026-12-24 and last = 2026-12-26'
    return UsageError(f"{expected}, found {quote(found)}", hint=hint, code="bad_calendar")
