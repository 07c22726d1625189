"""The parameters that several routes have."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.monitor.events.fields import read_id, read_text
from rankscope.monitor.events.limits import DAY, HOUR, Limits
from rankscope.monitor.events.times import format_time, read_time
from rankscope.monitor.server.api.schemas import ID, PART, TIME, text_of
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.query import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

MOST_POINTS = 5000
"""Windows in an answer."""
LENGTHS = {"hour": HOUR, "day": DAY}
LIMITS = Limits()


def _read_time(text: str) -> int:
    return read_time(text, "")[0]


def _read_name(text: str) -> str:
    return read_text(text, "", LIMITS.id_bytes)


def _read_part(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(
            "expected the name of an attribute, = and a value, found no =",
            hint="write device=tv",
            code="parameter",
        )
    return read_id(name, "", LIMITS.name_bytes), read_text(value, "", LIMITS.value_bytes)


def _read_one_of(*known: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in known:
            raise UsageError(
                f"expected {' or '.join(known)}, found {text[:40]!a}",
                hint="write one of these",
                code="parameter",
            )
        return text

    return read


def _read_count(most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        is_number = text.isascii() and text.isdigit() and len(text) < 10
        if not is_number or not 1 <= int(text) <= most:
            raise UsageError(
                f"expected a whole number from 1 to {most}, found {text[:40]!a}",
                hint="leave it out",
                code="parameter",
            )
        return int(text)

    return read


def name_time(name: str, summary: str) -> Parameter:
    """Make a parameter that is a time."""
    return Parameter(name, summary, _read_time, TIME)


def name_text(name: str, summary: str) -> Parameter:
    """Make a parameter that is a text."""
    return Parameter(name, summary, _read_name, PART)


def name_count(name: str, summary: str, most: int) -> Parameter:
    """Make a parameter that is a number of things."""
    schema = {"type": "integer", "minimum": 1, "maximum": most}
    return Parameter(name, summary, _read_count(most), schema)


def name_choice(name: str, summary: str, *known: str) -> Parameter:
    """Make a parameter that is one of some words."""
    return Parameter(name, summary, _read_one_of(*known), {"type": "string", "enum": list(known)})


MEASURE = Parameter(
    "measure", "One of the measures of the project, such as nDCG@10.", _read_name, ID
)
SINCE = name_time("since", "From which time on, in RFC 3339.")
UNTIL = name_time("until", "Up to before which time, in RFC 3339.")
MODEL = name_text("model", "The model that ranked; all together if left out.")
VERSION = name_text("version", "Its version; all together if left out.")
EVERY = name_choice("every", "How long windows are; an hour if left out.", "hour", "day")
PAIRED = f"^[^=\\u0000]{{1,{LIMITS.name_bytes}}}=[^\\u0000]{{0,{LIMITS.value_bytes}}}$"
SLICE = Parameter(
    "slice",
    "An attribute and its value, such as device=tv; two for a pair.",
    _read_part,
    text_of(LIMITS.name_bytes + 1 + LIMITS.value_bytes, least=2, pattern=PAIRED),
    is_many=True,
)
LIMIT = name_count("limit", "How many at most, the newest first; 100 if left out.", 1000)


def check_span(query: Mapping[str, Any], now: int, every: str = "day") -> None:
    """Refuse a span that ends before it begins, or has too many windows.

    Args:
        query: The parameters that were given.
        now: Where a span ends that has no end.
        every: How long windows are.

    Raises:
        RefusedRequestError: It does.
    """
    since, until = query.get("since"), query.get("until")
    if since is None:
        return
    if until is not None and since >= until:
        raise RefusedRequestError(
            422,
            f"expected since before until, found {format_time(since)} and {format_time(until)}",
            code="bad_span",
            hint="swap them",
        )
    end = now if until is None else until
    if (end - since) // LENGTHS[every] > MOST_POINTS:
        raise refuse_long(every)


def refuse_long(every: str) -> RefusedRequestError:
    """Give the answer to who asks for too many windows."""
    shorter = "ask for a shorter span"
    return RefusedRequestError(
        422,
        f"expected a span of at most {MOST_POINTS} windows, found more",
        code="span_limit",
        hint=f"{shorter}, or for windows of a day, every=day" if every == "hour" else shorter,
    )
