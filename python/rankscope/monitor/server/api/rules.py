"""Rules, their states, and alerts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from rankscope.errors import UsageError
from rankscope.monitor.events.times import read_time, to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.rules.state import State
from rankscope.monitor.server.api.fields import Count, Object
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.setup.fields import NewRule, RuleFields, Time
from rankscope.monitor.shapes import (
    Number,
    extensible,
)


@extensible
class Stream(TypedDict):
    """What a rule has found in one version or slice."""

    model: str
    version: str
    slice: dict[str, str]
    state: State
    reason: str
    floor: Number | None
    baseline: Object | None
    value: Object | None
    log_evidence: Number | None
    needed: Number | None
    is_named: bool
    since: Time | None
    lane: Annotated[
        str, Field(description="`final`, or the age of the early values that evidence is from.")
    ]
    judged: Annotated[
        Literal["value", "discount"],
        Field(
            description="What the newest period was judged by: the value, or the mean discount of "
            "relevant documents if the number of labels is unusual."
        ),
    ]
    method: Annotated[
        str,
        Field(
            description="The test that finds a drop: `calibrated`, or `anytime`, with the reason "
            "if the baseline is too small to calibrate; empty without a baseline."
        ),
    ]
    early: Annotated[list[Object], Field(description="The evidence from early values, by age.")]
    compared: Annotated[
        Time | None, Field(description="From when the long-term baseline of a model is.")
    ]
    labels: Literal["usual", "lost", "gained"]
    warnings: list[str]
    smallest_fall: Annotated[
        Number | None,
        Field(description="The smallest fall that is found within 30 days in half of the cases."),
    ]
    users_needed: Annotated[
        Count | None,
        Field(description="Users that the baseline needs to find a fall of 0.10 in 30 days."),
    ]
    last: Annotated[Time | None, Field(description="The end of the last period with rankings.")]


@extensible
class RuleStateFields(TypedDict):
    """The state of a rule."""

    rule: RuleFields
    state: State
    since: Time
    reason: str
    streams: list[Stream]
    evaluated: Time
    silenced_until: Time | None
    late_rankings: Count
    passed_over: Count
    unwatched: Annotated[
        Count, Field(description="Slices beyond those that a rule watches at most.")
    ]
    warnings: list[str]


class RuleStates(TypedDict):
    """The states of all rules."""

    rules: list[RuleStateFields]


class SilenceFields(TypedDict):
    """Until when a rule is silenced."""

    until: Time | None


Silence = Annotated[SilenceFields, Field(examples=[{"until": "2026-11-21T18:00:00Z"}])]


def list_rules(monitor: Monitor, _call: Call) -> dict[str, Any]:
    """Return the states of all rules."""
    return {"rules": [state.to_dict() for state in monitor.check()]}


def get_rule(monitor: Monitor, call: Call) -> dict[str, Any]:
    """Return the state of a rule."""
    for state in monitor.check():
        if state.rule.name == call.part("name"):
            return state.to_dict()
    raise UsageError("expected the name of a rule, found another", hint="list them", code="no_rule")


def put_rule(monitor: Monitor, call: Call) -> dict[str, Any]:
    """Create or change a rule."""
    name = call.part("name")
    rule = Rule.from_dict({"name": name, **call.body})
    if rule.name != name:
        raise UsageError(
            "name: expected the name that is in the address, found another",
            hint="remove the rule and make another; a name stays",
            code="bad_rule",
        )
    monitor.set_rule(rule, actor=call.principal.actor)
    return next(each.to_dict() for each in monitor.rules() if each.name == name)


def remove_rule(monitor: Monitor, call: Call) -> None:
    """Remove a rule."""
    monitor.remove_rule(call.part("name"), actor=call.principal.actor)


def silence_rule(monitor: Monitor, call: Call) -> None:
    """Send no notifications of a rule until a time, or end its silence."""
    body: SilenceFields = call.body
    until = None
    if body["until"] is not None:
        until = to_datetime(read_time(body["until"], "until")[0])
    monitor.silence(call.part("name"), until, actor=call.principal.actor)


def resolve_rule(monitor: Monitor, call: Call) -> None:
    """Resolve all incidents of a rule: its state is OK, and its evidence starts fresh."""
    monitor.resolve_rule(call.part("name"), actor=call.principal.actor)


RULE = "/v1/rules/{name}"
ROUTES = (
    Route("GET", "/v1/rules", list_rules, result=RuleStates),
    Route("GET", RULE, get_rule, result=RuleStateFields),
    Route("PUT", RULE, put_rule, "edit", body=NewRule, result=RuleFields),
    Route("DELETE", RULE, remove_rule, "edit"),
    Route("POST", f"{RULE}/silence", silence_rule, "edit", body=Silence),
    Route("POST", f"{RULE}/resolve", resolve_rule, "edit"),
)
