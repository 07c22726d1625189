"""Spans and points of time, as people write them on a command line."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError

from rankscope.errors import FormatError
from rankscope.monitor.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.times import read_clock, read_time

UNITS = {"s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}
DURATION = re.compile(r"([0-9]{1,7})([smhdw])", re.ASCII)
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def read_duration(text: str) -> int:
    """Read how long something is, in microseconds.

    Raises:
        ArgumentTypeError: It says no such thing.

    Examples:
        >>> read_duration("24h") == read_duration("1d")
        True
    """
    match = DURATION.fullmatch(text)
    if match is None:
        raise ArgumentTypeError(f"expected a time such as 90s, 30m, 24h, 7d or 2w, found {text!r}")
    return int(match[1]) * UNITS[match[2]]


def read_moment(text: str) -> int:
    """Read a point of time, in microseconds since 1970 in UTC: a date, a time, or how long ago.

    Raises:
        ArgumentTypeError: It is none.

    Examples:
        >>> read_moment("1970-01-02") == read_moment("1970-01-02T01:00:00+01:00")
        True
    """
    if DURATION.fullmatch(text):
        return read_clock() - read_duration(text)
    try:
        moment, _ = read_time(f"{text}T00:00:00Z" if DATE.fullmatch(text) else text, "")
    except FormatError as error:
        raise ArgumentTypeError(
            f"expected a time such as 2026-11-21, 2026-11-21T18:00:00Z or 7d for seven days ago, "
            f"found {text!r}"
        ) from error
    return moment
