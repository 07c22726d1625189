"""Reads times and durations of the command line, and writes times."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError

from rankscope.errors import FormatError, UsageError
from rankscope.monitor.events import times as durations
from rankscope.monitor.events.times import format_time, read_clock, read_time, to_datetime
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

TIME_HELP = "a date, a time such as 2026-11-21T18:00:00Z, or an age such as 7d"
"""The forms of a TIME, for the help of options."""
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def read_duration(text: str) -> int:
    """Return a duration such as `24h` in microseconds.

    Examples:
        >>> read_duration("24h") == read_duration("1d")
        True
    """
    try:
        return durations.read_duration(text)
    except UsageError as error:
        raise ArgumentTypeError(error.message) from None


def read_moment(text: str) -> datetime:
    """Return a date, a time or an age such as `7d` as a time in UTC.

    Examples:
        >>> read_moment("1970-01-02") == read_moment("1970-01-02T01:00:00+01:00")
        True
    """
    if durations.DURATION.fullmatch(text):
        return to_datetime(read_clock() - read_duration(text))
    try:
        moment, _ = read_time(f"{text}T00:00:00Z" if DATE.fullmatch(text) else text, "")
    except FormatError as error:
        raise ArgumentTypeError(
            "expected a date such as 2026-11-21, a time such as 2026-11-21T18:00:00Z, or an age "
            f"such as 7d, found {quote(text)}"
        ) from error
    return to_datetime(moment)


def write_moment(moment: int | datetime) -> str:
    """Return a time for people, to the second.

    Examples:
        >>> write_moment(1_500_000), write_moment(2_000_000)
        ('1970-01-01T00:00:01Z', '1970-01-01T00:00:02Z')
    """
    return f"{format_time(moment).partition('.')[0]}Z"
