"""Times as forms have them: without a zone they are of UTC, as all that pages show."""

from __future__ import annotations

import re

from rankscope.monitor.limits import MINUTE
from rankscope.monitor.times import format_time, read_time

LOCAL = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?", re.ASCII)
"""What browsers make of a field for a date and a time."""


def read_moment(text: str) -> int | None:
    """Read a time of a form; `None` where the field is empty.

    Raises:
        RefusedError: It is no time.

    Examples:
        >>> read_moment("1970-01-02T00:00") == read_moment("1970-01-02")
        True
        >>> read_moment("1970-01-01T01:00:00+01:00"), read_moment("")
        (0, None)
    """
    text = text.strip()
    if not text:
        return None
    match = LOCAL.fullmatch(text)
    if match:
        text += ("" if match[1] else "T00:00") + ("" if match[2] else ":00") + "Z"
    return read_time(text, "time")[0]


def write_field(time: int | None) -> str:
    """Write a time as a field for a date and a time has it.

    Examples:
        >>> write_field(0), write_field(1_500_000), write_field(None)
        ('1970-01-01T00:00', '1970-01-01T00:00:01.500000Z', '')
    """
    if time is None:
        return ""
    text = format_time(time)
    return text[:16] if time % MINUTE == 0 else text
