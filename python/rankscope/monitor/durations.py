"""How long something is, as people write it: `90s`, `30m`, `24h`, `7d` or `2w`."""

from __future__ import annotations

import re

from rankscope.errors import UsageError
from rankscope.monitor.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.names import quote

LONGEST = 365_250 * DAY
"""A thousand years, so that a time that far from now still has a year of four digits."""

UNITS = {"s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}
DURATION = re.compile(r"([0-9]{1,7})([smhdw])", re.ASCII)
WRITTEN = (("d", DAY, 2), ("h", HOUR, 1), ("m", MINUTE, 1))
"""Units, their length, and from how many of them on they are written: people say 24 hours."""


def read_duration(text: str) -> int:
    """Read how long something is, in microseconds.

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
    if duration > LONGEST:
        raise UsageError(
            f"expected a duration of at most 1,000 years, found {quote(text)}",
            hint=f"write {LONGEST // DAY}d or less",
            code="usage",
        )
    return duration


def write_duration(duration: int) -> str:
    """Write how long something is, in the largest unit of which it is a whole number.

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
