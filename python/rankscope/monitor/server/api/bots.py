"""Users who are unlike people, and those who are left out."""

from __future__ import annotations

from functools import partial
from typing import Annotated, cast

from pydantic import Field, PlainValidator
from typing_extensions import TypedDict

from rankscope.monitor.ask.bots import MOST_DAYS
from rankscope.monitor.definition.definition import MOST_LEFT_OUT
from rankscope.monitor.server.api.fields import CheckedId, Count, read_count
from rankscope.monitor.server.routing.endpoint import Route
from rankscope.monitor.setup.fields import Time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.routing.endpoint import Call


class BotsQuery(TypedDict, total=False):
    """Which days are read."""

    days: Annotated[
        int,
        PlainValidator(
            partial(read_count, most=MOST_DAYS),
            json_schema_input_type=Annotated[int, Field(ge=1, le=MOST_DAYS)],
        ),
        Field(description="How many days are read (default: 7)."),
    ]


class OddUserFields(TypedDict):
    """A user who is unlike people."""

    user_id: str
    rankings: Count
    facts: Annotated[list[str], Field(description="What is odd about them.")]
    is_left_out: bool


class BotsAnswer(TypedDict):
    """Users who are unlike people, those with the most facts first."""

    since: Time
    until: Time
    rankings: Count
    users: Count
    left_out: Count
    left_out_rankings: Count
    found: list[OddUserFields]
    more: Count


Users = Annotated[list[CheckedId], Field(max_length=MOST_LEFT_OUT)]


class LeftOutFields(TypedDict, total=False):
    """Which users don't count, or count again."""

    leave_out: Annotated[Users, Field(description="Users whose rankings don't count any more.")]
    take_back: Annotated[Users, Field(description="Users whose rankings count again.")]


class LeftOutAnswer(TypedDict):
    """The users who are left out."""

    left_out: list[str]


LeftOut = Annotated[LeftOutFields, Field(examples=[{"leave_out": ["bot-1"]}])]


def get_bots(monitor: Monitor, call: Call) -> BotsAnswer:
    """Find users whose rate or pattern is unlike people. You decide whether to leave them out."""
    return cast("BotsAnswer", monitor.find_bots(**call.query).to_dict())


def change_left_out(monitor: Monitor, call: Call) -> LeftOutAnswer:
    """Leave out users, or count them again. All values are recomputed from the stored events."""
    body: LeftOutFields = call.body
    monitor.leave_out(
        body.get("leave_out", ()),
        take_back=body.get("take_back", ()),
        actor=call.principal.actor,
    )
    return {"left_out": list(monitor.configuration.definition.left_out)}


ROUTES = (
    Route(
        "GET",
        "/v1/bots",
        get_bots,
        query=BotsQuery,
        result=BotsAnswer,
        scope="admin",
        is_trace=True,
    ),
    Route("POST", "/v1/left-out", change_left_out, body=LeftOut, result=LeftOutAnswer),
)
