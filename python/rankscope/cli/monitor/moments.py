"""Spans and points of time, as people write them on a command line."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError

from rankscope.errors import FormatError, UsageError
from rankscope.monitor.events import times as durations
from rankscope.monitor.events.times import read_clock, read_time
from rankscope.names import quote

DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def read_duration(text: str) -> int:
    """Read how long something is, in microseconds.

    Raises:
        ArgumentTypeError: It says no such thing.

    Examples:
        >>> read_duration("24h") == read_duration("1d")
        True
    """
    try:
        return durations.read_duration(text)
    except UsageError as error:
        raise ArgumentTypeError(error.message) from None


def read_moment(text: str) -> int:
    """Read a point of time, in microseconds since 1970 in UTC: a date, a time, or how long ago.

    Raises:
        ArgumentTypeError: It is none.

    Examples:
        >>> read_moment("1970-01-02") == read_moment("1970-01-02T01:00:00+01:00")
        True
    """
    if durations.DURATION.fullmatch(text):
        return read_clock() - read_duration(text)
    try:
        moment, _ = read_time(f"{text}T00:00:00Z" if DATE.fullmatch(text) else text, "")
    except FormatError as error:
        raise ArgumentTypeError(
            f"expected a time such as 2026-11-21, 2026-11-21T18:00:00Z or 7d for seven days ago, "
            f"found {quote(text)}"
        ) from error
    return moment
