"""Renders the templates of pages: times, changes, addresses, and plain values."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import pass_context

from rankscope._core import __version__
from rankscope.monitor.events.limits import MINUTE
from rankscope.monitor.events.times import (
    Time,
    describe_duration,
    describe_length,
    describe_time,
    format_time,
    read_time,
    to_datetime,
    to_micros,
)
from rankscope.monitor.links import Links
from rankscope.monitor.server.pages.charts.lines import LineChart
from rankscope.monitor.store.people import Person

if TYPE_CHECKING:
    from jinja2.runtime import Context


MOST_MARKS = 6
"""Marks of one kind that the description of a chart names."""
SHAPES = (
    "M-4.5 0a4.5 4.5 0 109 0a4.5 4.5 0 10-9 0z",
    "M-4 -4H4V4H-4z",
    "M0 -5L5 4H-5z",
    "M0 -5.5L5.5 0L0 5.5L-5.5 0z",
    "M0 5L5 -4H-5z",
    "M-5 -1.8H-1.8V-5H1.8V-1.8H5V1.8H1.8V5H-1.8V1.8H-5z",
)
"""The dots of lines: circle, square, triangle, diamond, triangle upside down, cross."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What is around a page.

    Args:
        links: Makes addresses.
        places: The names and paths of the pages in the navigation.
        styles: The paths of the styles.
        script: The path of the script.
        here: Which of the places this is; none of them if empty.
        project: The project; empty where nobody is let in.
        person: Who is signed in, if anybody is.
        csrf: What forms have to say.
        can_change: Whether the reader may change rules and incidents.
        can_manage: Whether the reader may change settings, keys and roles.
        is_operator: Whether the reader may change accounts.
        has_others: Whether there are other projects that the caller may see.
        now: As of when the page is, in microseconds since 1970 in UTC.
        refresh: After how many seconds the page is loaded again; 0 if it stays as it is.
    """

    links: Links
    places: tuple[tuple[str, str], ...]
    styles: tuple[str, ...]
    script: str
    here: str = ""
    project: str = ""
    person: Person | None = None
    csrf: str = ""
    can_change: bool = False
    can_manage: bool = False
    is_operator: bool = False
    has_others: bool = False
    now: int | None = None
    refresh: int = 0

    @property
    def release(self) -> str:
        """The version of the package."""
        return __version__


def write_minute(time: int | Time) -> str:
    """Write a time to the minute.

    Examples:
        >>> write_minute(5_401_000_000)
        '1 Jan 1970, 01:30 UTC'
    """
    moment = time if isinstance(time, int) else to_micros(time)
    return describe_time(moment - moment % MINUTE)


def write_day(time: int | Time) -> str:
    """Write the day of a time in UTC, as HTML has dates.

    Examples:
        >>> write_day(5_401_000_000)
        '1970-01-01'
    """
    return format_time(time if isinstance(time, int) else to_micros(time))[:10]


STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", re.ASCII)


def describe_times(text: str) -> str:
    """Write the timestamps in a text as people read them.

    Examples:
        >>> describe_times("1970-01-01T00:00:00.000000Z to 1970-01-02T01:30:00.000000Z")
        '1 Jan 1970 to 2 Jan 1970, 01:30 UTC'
    """
    return STAMP.sub(lambda match: describe_time(read_time(match[0], "time")[0]), text)


def describe_marks(chart: LineChart) -> str:
    """Describe the marks of a chart, for who does not see it."""
    said = []
    for words, names in (
        ("New versions", [each.name for each in chart.events]),
        ("Incidents", [each.name for each in chart.episodes if each.kind == "incident"]),
        ("Early warnings", [each.name for each in chart.episodes if each.kind == "early"]),
        ("Labels missing", [each.name for each in chart.episodes if each.kind == "labels"]),
        ("Calendar", [each.name for each in chart.episodes if each.kind == "period"]),
    ):
        if names:
            rest = len(names) - MOST_MARKS
            listed = ", ".join(names[:MOST_MARKS]) + (f" and {rest} more" if rest > 0 else "")
            said.append(f" {words}: {listed}.")
    return "".join(said)


def write_signed(amount: float | None) -> str:
    """Write a change with its sign, and four places.

    Examples:
        >>> write_signed(-0.12345), write_signed(0.0), write_signed(None)
        ('−0.1235', '0.0000', '–')
    """
    if amount is None or math.isnan(amount):
        return "–"
    written = f"{abs(amount):.4f}"
    if not float(written):
        return written
    return ("−" if amount < 0 else "+") + written


def write_share_of(part: int, whole: int) -> str:
    """Write a part as a percentage of the whole.

    Examples:
        >>> write_share_of(1, 8), write_share_of(0, 0)
        ('12.5%', '–')
    """
    return f"{100 * part / whole:.1f}%" if whole else "–"


def write_part(share: float) -> str:
    """Write a share of a change as a percentage, which may be negative.

    Examples:
        >>> write_part(0.925), write_part(-0.00001), write_part(-0.25)
        ('92.5%', '0.0%', '−25.0%')
    """
    written = f"{abs(100 * share):.1f}"
    return f"{'−' if share < 0 and float(written) else ''}{written}%"


def write_bytes(size: int) -> str:
    """Write a number of bytes, in the largest unit that fits.

    Examples:
        >>> write_bytes(512), write_bytes(98_304), write_bytes(4_280_320_000)
        ('512 B', '98 kB', '4.3 GB')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return (
                f"{size / unit:.2g} {name}" if size < 100 * unit else f"{size / unit:,.0f} {name}"
            )
    return f"{size} B"


def write_amount(amount: float) -> str:
    """Write an amount with three digits, or all that it has before the point.

    Examples:
        >>> write_amount(1234.5), write_amount(0.012345), write_amount(12.0)
        ('1,234', '0.0123', '12')
    """
    return f"{amount:,.0f}" if abs(amount) >= 100 else f"{amount:.3g}"


def is_known(value: float | None) -> bool:
    """Whether there is a number."""
    return value is not None and not math.isnan(value)


def write_sentence(text: str) -> str:
    """Write a message as a sentence, with a capital letter and a full stop.

    Names such as `nDCG@5` keep their letters.

    Examples:
        >>> write_sentence("expected a time"), write_sentence("Is it running?"), write_sentence("")
        ('Expected a time.', 'Is it running?', '')
        >>> write_sentence("nDCG@5 is low"), write_sentence("device=tv fell")
        ('nDCG@5 is low.', 'device=tv fell.')
    """
    is_word = re.match(r"[a-z]+(?=[\s,.:;’']|$)", text) is not None
    whole = text[:1].upper() + text[1:] if is_word else text
    return whole if not whole or whole.endswith((".", "?", "!", "…")) else f"{whole}."


def name_loss(name: str) -> str:
    """Write the name of a part of a change as people read it."""
    return {"undefined": "no relevant documents"}.get(name, name)


@pass_context
def make_address(context: Context, path: str, **parameters: str | int | list[str] | None) -> str:
    """Make the address of a page of the project that a page is about, from its path there."""
    frame: Frame = context["frame"]
    return frame.links(path, **parameters)


LOCAL = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?", re.ASCII)
"""What browsers make of a field for a date and a time."""


def read_moment(text: str) -> datetime | None:
    """Read a time of a form; `None` where the field is empty.

    Examples:
        >>> read_moment("1970-01-02T00:00") == read_moment("1970-01-02")
        True
        >>> read_moment("1970-01-01T01:00:00+01:00").isoformat(), read_moment("")
        ('1970-01-01T00:00:00+00:00', None)
    """
    text = text.strip()
    if not text:
        return None
    match = LOCAL.fullmatch(text)
    if match:
        text += ("" if match[1] else "T00:00") + ("" if match[2] else ":00") + "Z"
    return to_datetime(read_time(text, "time")[0])


def write_field(time: int | Time | None) -> str:
    """Write a time as a field for a date and a time has it.

    Examples:
        >>> write_field(0), write_field(1_500_000), write_field(None)
        ('1970-01-01T00:00', '1970-01-01T00:00:01.500000Z', '')
    """
    if time is None:
        return ""
    text = format_time(time if isinstance(time, int) else to_micros(time))
    return text[:16] if text.endswith(":00.000000Z") else text


FILTERS: Mapping[str, Callable[..., object]] = {
    "moment": describe_time,
    "minute": write_minute,
    "rfc": format_time,
    "micros": to_micros,
    "signed": write_signed,
    "lasting": describe_duration,
    "ago": describe_length,
    "day": write_day,
    "known": is_known,
    "amount": write_amount,
    "share_of": write_share_of,
    "part": write_part,
    "bytes": write_bytes,
    "shellword": shlex.quote,
    "timed": describe_times,
    "loss": name_loss,
    "sentence": write_sentence,
    "pathword": partial(quote, safe=""),
}
WORDS: Mapping[str, object] = {
    "address": make_address,
    "shapes": SHAPES,
    "describe_marks": describe_marks,
}
"""What all templates can use. Modules of this folder list more under this name."""
