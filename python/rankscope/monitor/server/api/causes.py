"""Why values fell, and the explanation of a single ranking."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from rankscope.monitor.ask.trace import Span
from rankscope.monitor.events.times import to_datetimes
from rankscope.monitor.plain import make_plain
from rankscope.monitor.server.api.fields import Measure, Moment, Name, Object, Time
from rankscope.monitor.server.api.route import Route
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.schema import Number, extensible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.routing.endpoint import Call

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


ROUTES = (
    Route("GET", "/v1/trace", get_trace, query=TraceQuery, result=Object, is_trace=True),
    Route(
        "GET",
        "/v1/rankings/{ranking_id:id}",
        get_ranking,
        query=RankingQuery,
        result=RankingAnswer,
    ),
)
