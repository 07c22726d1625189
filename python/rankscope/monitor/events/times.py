"""Times and durations, as people and programs write them, and as microseconds."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

from rankscope.errors import UsageError
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.rejection import RefusedError, show
from rankscope.names import quote

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
RFC_3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII
)
LONGEST = 64
FAR = 10**15
YEARS = range(-30_610_224_000_000_000, 221_845_392_000_000_000)
"""The microseconds of the years 1000 to 8999: of four digits, with room around them for spans."""


def read_clock() -> int:
    """Return the current time in microseconds since 1970 in UTC."""
    return time.time_ns() // 1000


def read_time(value: object, where: str) -> tuple[int, bool]:
    """Read a time.

    Args:
        value: Text such as `2026-11-21T18:00:00.5Z`, or milliseconds since 1970.
        where: The field.

    Returns:
        Microseconds since 1970 in UTC, and whether it was a leap second: those are read as the
        second before.

    Raises:
        RefusedError: It is no such time, or has no zone.

    Examples:
        >>> read_time("1970-01-01T01:00:00.000001+01:00", "time"), read_time(1500, "time")
        ((1, False), (1500000, False))
    """
    found, is_leap = None, False
    if isinstance(value, str):
        found, is_leap = _read_text(value, where)
    elif isinstance(value, datetime):
        if value.tzinfo is None:
            raise _no_zone(where, str(value))
        found = (value - EPOCH) // MICROSECOND
    # NaN and infinity are not below anything.
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < FAR:
        found = round(value * 1000)
    if found is None or found not in YEARS:
        raise _no_time(where, value)
    return found, is_leap


def _read_text(text: str, where: str) -> tuple[int | None, bool]:
    match = RFC_3339.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        return None, False
    day, minutes, seconds, fraction, zone = match.groups()
    if zone is None:
        raise _no_zone(where, text)
    is_leap = seconds == "60"
    plain = f"{day}T{minutes}:{'59' if is_leap else seconds}{(fraction or '')[:7]}{zone.upper()}"
    try:
        return (datetime.fromisoformat(plain) - EPOCH) // MICROSECOND, is_leap
    except (ValueError, OverflowError):
        return None, False


def format_time(moment: int) -> str:
    """Write microseconds since 1970 as an RFC 3339 timestamp.

    Examples:
        >>> format_time(1_500_000)
        '1970-01-01T00:00:01.500000Z'
    """
    return f"{EPOCH + timedelta(microseconds=moment):%Y-%m-%dT%H:%M:%S.%f}Z"


def _no_time(where: str, value: object) -> RefusedError:
    return RefusedError(
        where,
        "a time",
        show(value),
        code="time_format",
        hint="write it as 2026-11-21T18:00:00Z, or as milliseconds since 1970",
    )


def _no_zone(where: str, text: str) -> RefusedError:
    return RefusedError(
        where,
        "a time with its zone",
        show(text),
        code="time_zone",
        hint="append Z for UTC, or an offset such as +01:00",
    )


LONGEST_DURATION = 365_250 * DAY
"""A thousand years, so that a time that far from now still has a year of four digits."""

UNITS = {"s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}
DURATION = re.compile(r"([0-9]{1,7})([smhdw])", re.ASCII)
WRITTEN = (("d", DAY, 2), ("h", HOUR, 1), ("m", MINUTE, 1))
"""Units, their length, and from how many of them on they are written: people say 24 hours."""


def read_duration(text: str) -> int:
    """Read a duration as microseconds.

    Raises:
        UsageError: It is not a duration, or one of more than a thousand years.

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


def write_duration(duration: int) -> str:
    """Write a duration in the largest unit that divides it.

    Args:
        duration: In microseconds.

    Examples:
        >>> [write_duration(hours * HOUR) for hours in (1, 24, 36, 48, 168)]
        ['1h', '24h', '36h', '2d', '7d']
        >>> write_duration(0), write_duration(90 * SECOND), write_duration(SECOND // 2)
        ('0s', '90s', '0.5s')
    """
    for name, unit, fewest in WRITTEN:
        if duration >= fewest * unit and duration % unit == 0:
            return f"{duration // unit}{name}"
    return f"{duration // SECOND if duration % SECOND == 0 else duration / SECOND}s"


def describe_time(moment: int) -> str:
    """Return a time for people: to the minute, in UTC; midnight as a date alone.

    Examples:
        >>> describe_time(0), describe_time(5_400_000_000), describe_time(1_500_000)
        ('1 Jan 1970', '1 Jan 1970, 01:30 UTC', '1 Jan 1970, 00:00:01 UTC')
    """
    at = EPOCH + timedelta(microseconds=moment)
    day = f"{at.day} {at:%b %Y}"
    if moment % DAY == 0:
        return day
    return f"{day}, {at:%H:%M:%S} UTC" if at.second else f"{day}, {at:%H:%M} UTC"


def describe_duration(duration: int) -> str:
    """Return a duration as people say it.

    Args:
        duration: In microseconds.

    Examples:
        >>> [describe_duration(minutes * MINUTE) for minutes in (60, 90, 1440, 3840)]
        ['1 h', '1 h 30 min', '1 day', '2 days 16 h']
        >>> describe_duration(45 * SECOND), describe_duration(SECOND // 2), describe_duration(0)
        ('45 s', '0.5 s', '0 s')
    """
    days, rest = divmod(duration, DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    units = ((days, "day" if days == 1 else "days"), (hours, "h"), (minutes, "min"))
    parts = [f"{count:,} {unit}" for count, unit in units if count]
    return " ".join([*parts, *([f"{rest / SECOND:g} s"] if rest or not parts else [])])
