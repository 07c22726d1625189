"""Times and durations: as people and programs write them, as `datetime`, and as microseconds.

The store and what is below the Python API count microseconds since 1970 in UTC. The public API
takes and returns `datetime` and `timedelta`; the functions here turn one into the other.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from rankscope._names import quote
from rankscope.errors import FormatError, UsageError
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.rejection import RefusedError, show

Time: TypeAlias = datetime | str
"""A `datetime` with a time zone, or ISO text such as `2026-11-21T18:00:00Z`."""
Duration: TypeAlias = timedelta | str
"""A `timedelta`, or text such as `90s`, `30m`, `24h`, `7d` or `2w`."""


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
RFC_3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII
)
FAR_YEAR = re.compile(r"'[+-]?\d{5,}-", re.ASCII)
OTHER_UNIT = "the time seems to be in another unit, such as microseconds read as milliseconds"
LONGEST = 64
FAR = 10**15
YEARS = range(-30_610_224_000_000_000, 221_845_392_000_000_000)
"""The microseconds of the years 1000 to 8999: of four digits, with room around them for spans."""


def read_clock() -> int:
    """Return the current time in microseconds since 1970 in UTC."""
    return time.time_ns() // 1000


def to_datetime(moment: int) -> datetime:
    """Return microseconds since 1970 as a `datetime` in UTC.

    Examples:
        >>> to_datetime(1_500_000).isoformat()
        '1970-01-01T00:00:01.500000+00:00'
    """
    return EPOCH + timedelta(microseconds=moment)


def to_micros(moment: Time) -> int:
    """Return a time that `read_moment` has accepted in microseconds since 1970."""
    return (read_moment(moment, "time") - EPOCH) // MICROSECOND


def read_moment(value: object, where: str) -> datetime:
    """Read a time that somebody gave to the Python API.

    Examples:
        >>> read_moment("2026-11-21T19:00:00+01:00", "since").isoformat()
        '2026-11-21T18:00:00+00:00'
        >>> read_moment(datetime(2026, 11, 21), "at")
        Traceback (most recent call last):
          ...
        rankscope.errors.UsageError: at: expected a time with its zone, found '2026-11-21 00:00:00'
        <BLANKLINE>
        Hint: add a time zone, such as tzinfo=timezone.utc, or write 2026-11-21T18:00:00Z
    """
    hint = "pass a datetime with a time zone, or text such as 2026-11-21T18:00:00Z"
    if not isinstance(value, datetime | str):
        message = f"{where}: expected a datetime or ISO text, found {show(value)}"
        raise UsageError(message, hint=hint, code="time_format")
    if type(value) is datetime and value.tzinfo is UTC and 1000 <= value.year < 9000:
        return value
    try:
        moment, _ = read_time(value, where)
    except FormatError as error:
        if error.code == "time_zone":
            hint = "add a time zone, such as tzinfo=timezone.utc, or write 2026-11-21T18:00:00Z"
        raise UsageError(error.message, hint=hint, code=error.code) from None
    return to_datetime(moment)


def set_times(made: object, *names: str) -> None:
    """Keep the times that a record was made with as `datetime` objects in UTC."""
    for name in names:
        value = getattr(made, name)
        if value is not None:
            object.__setattr__(made, name, read_moment(value, name))


def to_datetimes(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return named values of which those that are times of the store are `datetime` objects."""
    return {
        name: to_datetime(value) if name in {"since", "until"} else value
        for name, value in values.items()
    }


def read_span(since: Time | None, until: Time | None) -> tuple[int | None, int | None]:
    """Read both ends of a span of the Python API, in microseconds since 1970."""
    return (
        None if since is None else to_micros(read_moment(since, "since")),
        None if until is None else to_micros(read_moment(until, "until")),
    )


def read_time(value: object, where: str) -> tuple[int, bool]:
    """Read a time.

    Examples:
        >>> read_time("1970-01-01T01:00:00.000001+01:00", "time"), read_time(1500, "time")
        ((1, False), (1500000, False))
    """
    micros, is_leap = None, False
    if isinstance(value, str):
        micros, is_leap = _read_text(value, where)
    elif isinstance(value, datetime):
        if value.tzinfo is None:
            raise RefusedError(where, "a time with its zone", show(value), code="time_zone")
        micros = (value - EPOCH) // MICROSECOND
    # NaN and infinity are not below anything.
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < FAR:
        micros = round(value * 1000)
    if micros is None or micros not in YEARS:
        found = show(value)
        hint = OTHER_UNIT if FAR_YEAR.match(found) else None
        raise RefusedError(where, "a time", found, code="time_format", hint=hint)
    return micros, is_leap


def _read_text(text: str, where: str) -> tuple[int | None, bool]:
    match = RFC_3339.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        return None, False
    day, minutes, seconds, fraction, zone = match.groups()
    if zone is None:
        raise RefusedError(where, "a time with its zone", show(text), code="time_zone")
    is_leap = seconds == "60"
    plain = f"{day}T{minutes}:{'59' if is_leap else seconds}{(fraction or '')[:7]}{zone.upper()}"
    try:
        return (datetime.fromisoformat(plain) - EPOCH) // MICROSECOND, is_leap
    except (ValueError, OverflowError):
        return None, False


def format_time(moment: int | datetime) -> str:
    """Write a `datetime`, or microseconds since 1970, as RFC 3339 in UTC.

    Examples:
        >>> format_time(1_500_000)
        '1970-01-01T00:00:01.500000Z'
    """
    moment = moment.astimezone(UTC) if isinstance(moment, datetime) else to_datetime(moment)
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"


LONGEST_DURATION = 365_250 * DAY
"""A thousand years, so that a time that far from now still has a year of four digits."""

UNITS = {"s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}
DURATION = re.compile(r"([0-9]{1,7})([smhdw])", re.ASCII)
WRITTEN = (("d", DAY, 2), ("h", HOUR, 1), ("m", MINUTE, 1))
"""Units, their length, and from how many of them on they are written: people say 24 hours."""


def read_duration(text: str) -> int:
    """Read a duration such as `24h` as microseconds.

    Examples:
        >>> read_duration("24h") == read_duration("1d")
        True
    """
    match = DURATION.fullmatch(text)
    if match is None:
        raise UsageError(
            f"expected a duration such as 90s, 30m, 24h, 7d or 2w, found {quote(text)}",
            hint="write a whole number and the first letter of its unit",
            code="usage",
        )
    duration = int(match[1]) * UNITS[match[2]]
    if duration > LONGEST_DURATION:
        raise UsageError(
            f"expected a duration of at most 1,000 years, found {quote(text)}",
            hint=f"write {LONGEST_DURATION // DAY}d or less",
            code="usage",
        )
    return duration


def read_length(value: Duration, where: str) -> timedelta:
    """Read a duration that somebody gave to the Python API: a `timedelta`, or text such as `24h`.

    Examples:
        >>> read_length("36h", "grace")
        datetime.timedelta(days=1, seconds=43200)
    """
    if isinstance(value, str):
        return timedelta(microseconds=read_duration(value))
    if not isinstance(value, timedelta):
        raise UsageError(
            f"{where}: expected a timedelta, or text such as 24h, found {show(value)}",
            hint="write a whole number and the first letter of its unit",
            code="usage",
        )
    return value


def count_micros(value: Duration) -> int:
    """Return a duration that `read_length` has accepted in microseconds."""
    return read_length(value, "duration") // MICROSECOND


def write_duration(duration: int | Duration) -> str:
    """Write a duration in the largest unit that divides it.

    Examples:
        >>> [write_duration(hours * HOUR) for hours in (1, 24, 36, 48, 168)]
        ['1h', '24h', '36h', '2d', '7d']
        >>> write_duration(0), write_duration(90 * SECOND), write_duration(SECOND // 2)
        ('0s', '90s', '0.5s')
    """
    if not isinstance(duration, int):
        duration = count_micros(duration)
    for name, unit, fewest in WRITTEN:
        if duration >= fewest * unit and duration % unit == 0:
            return f"{duration // unit}{name}"
    return f"{duration // SECOND if duration % SECOND == 0 else duration / SECOND}s"


def describe_time(moment: int | datetime) -> str:
    """Return a time for people: to the minute, in UTC; midnight as a date alone.

    Examples:
        >>> describe_time(0), describe_time(5_400_000_000), describe_time(1_500_000)
        ('1 Jan 1970', '1 Jan 1970, 01:30 UTC', '1 Jan 1970, 00:00:01 UTC')
    """
    at = to_datetime(moment) if isinstance(moment, int) else moment.astimezone(UTC)
    day = f"{at.day} {at:%b %Y}"
    if not (at - EPOCH) % timedelta(days=1):
        return day
    return f"{day}, {at:%H:%M:%S} UTC" if at.second else f"{day}, {at:%H:%M} UTC"


def describe_duration(duration: int | Duration) -> str:
    """Return a duration as people say it.

    Examples:
        >>> [describe_duration(minutes * MINUTE) for minutes in (60, 90, 1440, 3840)]
        ['1 h', '1 h 30 min', '1 day', '2 days 16 h']
        >>> describe_duration(45 * SECOND), describe_duration(SECOND // 2), describe_duration(0)
        ('45 s', '0.5 s', '0 s')
    """
    length = duration if isinstance(duration, int) else count_micros(duration)
    days, rest = divmod(length, DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    units = ((days, "day" if days == 1 else "days"), (hours, "h"), (minutes, "min"))
    parts = [f"{count:,} {unit}" for count, unit in units if count]
    return " ".join([*parts, *([f"{rest / SECOND:g} s"] if rest or not parts else [])])


def describe_length(duration: int | timedelta) -> str:
    """Return how long something has lasted, in its two largest units.

    Examples:
        >>> [describe_length(minutes * MINUTE) for minutes in (0, 5, 90, 3125, 20_000)]
        ['less than a minute', '5 min', '1 h 30 min', '2 days 4 h', '13 days']
    """
    length = duration if isinstance(duration, int) else duration // MICROSECOND
    if length < MINUTE:
        return "less than a minute"
    unit = DAY if length >= 7 * DAY else HOUR if length >= DAY else MINUTE
    return describe_duration(length - length % unit)
