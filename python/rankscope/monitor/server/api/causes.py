"""Why values fell, two versions beside each other, and the explanation of a single ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import Field
from typing_extensions import TypedDict

from rankscope.monitor.ask.trace import Span
from rankscope.monitor.events.times import to_datetimes
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.plain import make_plain
from rankscope.monitor.server.api.fields import (
    Count,
    Measure,
    Moment,
    Name,
    Object,
    Since,
    SliceParts,
    Until,
    check_span,
)
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.setup.fields import Time
from rankscope.monitor.shapes import Number, extensible

MOST_TRACED = 1_000_000
"""How many rankings of a span are traced at most, as a service has little memory and answers in
seconds. Of more, a sample of users is traced."""

SPAN_FIELDS = ("since", "until", "model", "version", "environment")


Begin = Annotated[Moment, Field(description="When the span begins, in RFC 3339.")]
End = Annotated[Moment, Field(description="When it ends.")]
SpanModel = Annotated[Name, Field(description="The model that ranked there (default: any).")]
SpanVersion = Annotated[Name, Field(description="Its version (default: any).")]
Environment = Annotated[
    Literal["production", "validation", "training"],
    Field(description="Where it ranked (default: production)."),
]


class RankingQuery(TypedDict, total=False):
    """By which measure a ranking is explained."""

    measure: Measure


class TraceQuery(RankingQuery, total=False):
    """Which spans are compared."""

    before_since: Begin
    before_until: End
    before_model: SpanModel
    before_version: SpanVersion
    before_environment: Environment
    after_since: Begin
    after_until: End
    after_model: SpanModel
    after_version: SpanVersion
    after_environment: Environment


@extensible
class RankingAnswer(TypedDict):
    """A ranking with its labels and its value."""

    ranking_id: str
    time: Time
    measure: str
    value: Number | None
    is_final: bool
    documents: list[Object]
    labels: list[Object]


def get_trace(monitor: Monitor, call: Call) -> Any:  # noqa: ANN401 - JSON
    """Return why a measure changed between two spans, in parts that add up to the change.

    The spans that are not named are the newest version and the one before it, or the last two
    weeks. `text` is what the command prints.
    """
    before, after = (read_span(side, call.query) for side in ("before", "after"))
    if before is None or after is None:
        suggested = monitor.suggest_spans() or (None, None)
        before, after = before or suggested[0], after or suggested[1]
    if before is None or after is None:
        raise RefusedRequestError(
            422,
            "expected two spans, found nothing to be compared",
            code="parameter",
            hint="say before_since, before_until, after_since and after_until",
        )
    trace = monitor.trace(before, after, call.query.get("measure"), sample=MOST_TRACED)
    return make_plain(trace) | {"text": str(trace)}


def get_ranking(monitor: Monitor, call: Call) -> Any:  # noqa: ANN401 - JSON
    """Return a ranking as it was logged, its labels, and its value rank by rank."""
    return make_plain(monitor.explain(call.part("ranking_id"), call.query.get("measure")))


def read_span(side: str, query: Mapping[str, Any]) -> Span | None:
    """Read one of the two spans of a trace, `None` where nothing is said of it."""
    given = {name: query[f"{side}_{name}"] for name in SPAN_FIELDS if f"{side}_{name}" in query}
    return Span(**to_datetimes(given)) if given else None


Sides = Annotated[list[Count], Field(description="Of the old and of the new version.")]

MOST_COMPARED = 1_000_000
"""How many rankings a request compares, which takes 200 MB of memory."""


class ComparisonQuery(TypedDict, total=False):
    """What is compared."""

    measure: Measure
    model: Annotated[
        Name,
        Field(description="The model (default: that of the newest version beside another)."),
    ]
    old: Annotated[
        Name, Field(description="The older version (default: the newest before the new one).")
    ]
    new: Annotated[
        Name, Field(description="The newer version (default: the newest that serves beside one).")
    ]
    slice: SliceParts
    since: Since
    until: Until


class ComparedDay(TypedDict):
    """The difference as of a day, from all rankings since both versions serve."""

    day: Time
    is_final: Annotated[bool, Field(description="Whether no label can change it any more.")]
    difference: Annotated[Number, Field(description="The new version less the old one.")]
    lower: Annotated[Number | None, Field(description="`null` with too few users.")]
    upper: Number | None
    old_mean: Number
    new_mean: Number
    users: Sides
    rankings: Sides
    explained: Annotated[
        Number, Field(description="The share of the variance that earlier values explain.")
    ]


class ListDistance(TypedDict):
    """How far lists differ from other ones of the same query keys, each key counted once."""

    queries: Count
    overlap: Annotated[Number, Field(description="Mean rank-biased overlap, p = 0.9.")]
    reordered: Annotated[
        Number | None, Field(description="0 for the same order, 1 for the reverse.")
    ]
    missing: Annotated[
        Number,
        Field(description="Share of the first 10 documents of the other list that are missing."),
    ]


class Comparison(ComparedDay):
    """Two versions, with the difference as of the newest final day, and as of each day."""

    measure: str
    model: str
    old: str
    new: str
    slice: dict[str, str]
    since: Time
    until: Time
    level: Annotated[
        Number, Field(description="With this probability, the intervals of all days hold at once.")
    ]
    verdict: Literal["better", "worse", "no difference yet"]
    sentence: str
    lists: Annotated[
        ListDistance | None,
        Field(description="Lists of the new version beside the last ones of the old version."),
    ]
    old_lists: Annotated[
        ListDistance | None,
        Field(description="Lists of the old version beside its own earlier ones."),
    ]
    lists_sentence: str
    target: Number
    days_to_target: Annotated[
        Count | None,
        Field(description="About how many more days until the target could be found."),
    ]
    days: list[ComparedDay]


def get_comparison(monitor: Monitor, call: Call) -> Comparison:
    """Return the difference between two versions that serve at the same time, as of each day."""
    check_span(call.query, monitor.clock())
    given: dict[str, Any] = to_datetimes(call.query)
    parts = tuple(sorted(given.pop("slice", ())))
    comparison = monitor.compare(
        given.pop("measure", None), slice=parts, most_rankings=MOST_COMPARED, **given
    )
    return cast("Comparison", comparison.to_dict())


ROUTES = (
    Route("GET", "/v1/trace", get_trace, query=TraceQuery, result=Object, is_trace=True),
    Route(
        "GET",
        "/v1/rankings/{ranking_id:id}",
        get_ranking,
        query=RankingQuery,
        result=RankingAnswer,
    ),
    Route(
        "GET",
        "/v1/comparison",
        get_comparison,
        query=ComparisonQuery,
        result=Comparison,
        is_trace=True,
    ),
)
