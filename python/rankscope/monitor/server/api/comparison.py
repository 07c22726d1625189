"""Two versions of a model over the time in which both serve."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import Field
from typing_extensions import TypedDict

from rankscope.monitor.events.times import to_datetimes
from rankscope.monitor.server.api.fields import (
    Count,
    Measure,
    Name,
    Since,
    SliceParts,
    Time,
    Until,
    check_span,
)
from rankscope.monitor.server.api.route import Route
from rankscope.monitor.server.http.schema import Number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.routing.endpoint import Call

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
    Route(
        "GET",
        "/v1/comparison",
        get_comparison,
        query=ComparisonQuery,
        result=Comparison,
        is_trace=True,
    ),
)
