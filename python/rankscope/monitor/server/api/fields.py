"""Types of fields, and records, that several routes have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, PlainValidator
from typing_extensions import TypedDict

from rankscope.errors import UsageError
from rankscope.monitor.ask.series import LENGTHS
from rankscope.monitor.events.fields import read_id, read_text
from rankscope.monitor.events.times import format_time, read_time
from rankscope.monitor.rules.settings import described
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.query import LONGEST
from rankscope.monitor.setup.fields import LIMITS, Id, Part, ProjectName, RuleName, Time
from rankscope.monitor.shapes import WHOLE, make_record

# The largest numbers of characters are numbers of bytes in UTF-8, so that a text of other than
# ASCII characters may be refused although it fits the schema.
Count = Annotated[int, Field(ge=0), WHOLE]
Object = dict[str, Any]
Every = Literal["hour", "day"]
CheckedId = Annotated[Id, Field(min_length=1, max_length=LIMITS.id_bytes, pattern="^[^\\x00]+$")]
"""An ID that is looked up, and not read as events are."""


class PathParameters(TypedDict):
    """What stands in paths, by its name in braces."""

    environment: Annotated[str, described(enum=["validation", "training"])]
    incident_id: Annotated[str, described(pattern="^incident_[0-9a-f]{20}$")]
    key_id: Annotated[str, described(pattern="^[0-9a-f]{16}$")]
    member: Annotated[str, described(pattern="^(group:[^\\u0000]+|[^@]+@[^@]+)$", maxLength=254)]
    name: RuleName
    project: ProjectName
    ranking_id: Id


class Status(TypedDict):
    """The health of the service."""

    status: Literal["ok", "ready", "not ready", "failed"]
    evaluation: NotRequired[Literal["late", "on time"]]


MOST_POINTS = 5000
"""Windows in an answer."""
MOST_ROWS = 1000


def _read_time(text: str) -> int:
    return read_time(text, "")[0]


def _read_name(text: str) -> str:
    return read_text(text, "", LIMITS.id_bytes)


def read_part(text: str) -> tuple[str, str]:
    """Read an attribute and its value, such as `device=tv`."""
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(
            "expected the name of an attribute, = and a value, found no =",
            hint="write device=tv",
            code="parameter",
        )
    return read_id(name, "", LIMITS.name_bytes), read_text(value, "", LIMITS.value_bytes)


def read_count(text: str) -> int:
    """Read a whole number from 1."""
    is_number = text.isascii() and text.isdigit() and len(text) < 10
    if not is_number or not 1 <= int(text) <= MOST_ROWS:
        raise UsageError(
            f"expected a whole number from 1 to {MOST_ROWS}, found {text[:40]!a}",
            hint="leave it out",
            code="parameter",
        )
    return int(text)


PAIRED = f"^[^=\\u0000]{{1,{LIMITS.name_bytes}}}=[^\\u0000]{{0,{LIMITS.value_bytes}}}$"
SliceText = Annotated[
    str,
    described(minLength=2, maxLength=LIMITS.name_bytes + 1 + LIMITS.value_bytes, pattern=PAIRED),
]
Moment = Annotated[int, PlainValidator(_read_time, json_schema_input_type=Time)]
"""A timestamp, read as microseconds since 1970 in UTC."""
Name = Annotated[str, PlainValidator(_read_name, json_schema_input_type=Part)]
Measure = Annotated[
    str,
    PlainValidator(_read_name, json_schema_input_type=Id),
    Field(description="One of the measures of the project, such as nDCG@10."),
]
Since = Annotated[Moment, Field(description="From which time on, in RFC 3339.")]
Until = Annotated[Moment, Field(description="Up to before which time, in RFC 3339.")]
Model = Annotated[Name, Field(description="The model that ranked (default: all together).")]
ModelVersion = Annotated[Name, Field(description="Its version (default: all together).")]
WindowLength = Annotated[Every, Field(description="How long windows are (default: hour).")]
SlicePart = Annotated[tuple[str, str], PlainValidator(read_part, json_schema_input_type=SliceText)]
SliceParts = Annotated[
    tuple[SlicePart, ...],
    Field(description="An attribute and its value, such as device=tv; two for a pair."),
]
Limit = Annotated[
    int,
    PlainValidator(read_count, json_schema_input_type=Annotated[int, Field(ge=1, le=MOST_ROWS)]),
    Field(description="How many at most, the newest first (default: 100)."),
]


class ListQuery(TypedDict, total=False):
    """How much of a list is read."""

    limit: Limit


def check_span(query: Mapping[str, Any], now: int, every: str = "day") -> None:
    """Refuse a span that ends before it begins, or has too many windows."""
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
    """Return the refusal of a span with too many windows."""
    shorter = "ask for a shorter span"
    return RefusedRequestError(
        422,
        f"expected a span of at most {MOST_POINTS} windows, found more",
        code="span_limit",
        hint=f"{shorter}, or for windows of a day, every=day" if every == "hour" else shorter,
    )


def make_query(name: str, fields: Mapping[str, str], **choices: Sequence[str]) -> Any:  # noqa: ANN401 - a type
    """Return the type of a query of texts that pages read themselves."""
    return make_record(
        name,
        {
            field: Annotated[
                str,
                described(
                    maxLength=LONGEST,
                    **({"enum": list(choices[field])} if field in choices else {}),
                ),
                Field(description=meaning),
            ]
            for field, meaning in fields.items()
        },
    )
