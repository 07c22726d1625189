"""What maintains a project: deleting events, and evaluating when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, cast

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from rankscope.monitor.monitor import Monitor
from rankscope.monitor.plain import write_record
from rankscope.monitor.round import Round
from rankscope.monitor.server.api.fields import CheckedId, Count, Object
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.setup.fields import Time

MOST_IDS = 1000
"""Rankings that are named in one request."""


@with_config(ConfigDict(json_schema_extra={"minProperties": 1}))
class DeletionFields(TypedDict, total=False):
    """Which rankings to delete: those that have everything that is given."""

    user: Annotated[CheckedId, Field(description="The `user_id` of the rankings.")]
    rankings: Annotated[
        list[CheckedId],
        Field(min_length=1, max_length=MOST_IDS, description="Their IDs."),
    ]
    since: Annotated[Time, Field(description="The earliest time of a ranking.")]
    until: Annotated[Time, Field(description="The first time that isn't deleted.")]


class RetentionFields(TypedDict):
    """Which events are old."""

    before: Annotated[Time, Field(description="Events of the hours before it are deleted.")]


Deletion = Annotated[
    DeletionFields,
    Field(examples=[{"user": "u17"}, {"rankings": ["s1"], "until": "2026-11-20T00:00:00Z"}]),
]
Retention = Annotated[RetentionFields, Field(examples=[{"before": "2026-01-01T00:00:00Z"}])]


class DeletedFields(TypedDict):
    """How many events were deleted."""

    rankings: Count
    labels: Count


def delete_rankings(monitor: Monitor, call: Call) -> DeletedFields:
    """Delete the rankings of a user, or others, with their labels."""
    chosen: dict[str, Any] = dict(call.body)
    done = monitor.delete(**chosen, actor=call.principal.actor)
    return cast("DeletedFields", write_record(done, DeletedFields.__annotations__))


def delete_old(monitor: Monitor, call: Call) -> DeletedFields:
    """Delete the events before a time. The values computed from them are kept."""
    done = monitor.delete_before(call.body["before"], actor=call.principal.actor)
    return cast("DeletedFields", write_record(done, DeletedFields.__annotations__))


class EvaluationFields(TypedDict):
    """What an evaluation has done."""

    as_of: Time
    hours: Count
    rankings: Count
    incidents: list[Object]


class Evaluating:
    """The route that evaluates a project.

    Args:
        evaluate: Evaluates a project, in turn with scheduled rounds (default: the monitor does).
    """

    def __init__(self, evaluate: Callable[[str], Round] | None = None) -> None:
        self._evaluate = evaluate
        self.routes = (
            Route(
                "POST",
                "/v1/evaluation",
                self.evaluate,
                result=EvaluationFields,
                refuses=(409,),
                is_slow=True,
            ),
        )

    def evaluate(self, monitor: Monitor, _call: Call) -> EvaluationFields:
        """Compute values and baselines from new events, and check the alert rules."""
        done = monitor.evaluate() if self._evaluate is None else self._evaluate(monitor.project)
        return cast("EvaluationFields", done.to_dict())


# They read events, and wait for each other.
ROUTES = (
    Route(
        "POST",
        "/v1/deletions",
        delete_rankings,
        body=Deletion,
        result=DeletedFields,
        is_trace=True,
        is_slow=True,
    ),
    Route(
        "POST",
        "/v1/retention",
        delete_old,
        body=Retention,
        result=DeletedFields,
        refuses=(409,),
        is_trace=True,
        is_slow=True,
    ),
)
