"""Rules, their states, and alerts."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import Field
from typing_extensions import TypedDict

from rankscope.errors import UsageError
from rankscope.monitor.alerts.rule import (
    BETWEEN,
    MOST_CHANNELS,
    MOST_LANES,
    MOST_REMIND,
    NAME_BYTES,
    Rule,
)
from rankscope.monitor.events.times import format_time, read_time, to_datetime
from rankscope.monitor.server.api.fields import (
    LIMITS,
    Count,
    Every,
    Object,
    Part,
    RuleName,
    Time,
)
from rankscope.monitor.server.api.route import Route
from rankscope.monitor.server.http.schema import (
    KEEP_INTEGER,
    WHOLE,
    Number,
    described,
    extensible,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.alerts.detect.state import RuleState
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.routing.endpoint import Call

State = Literal["OK", "ALERT", "NO_DATA", "STALE", "INSUFFICIENT"]
Dimension = Annotated[
    str,
    described(minLength=1, maxLength=2 * LIMITS.name_bytes + len(BETWEEN), pattern="^[^\\u0000]+$"),
]
ChannelName = Annotated[str, described(minLength=1, maxLength=NAME_BYTES, pattern="^[^\\u0000]+$")]
Lane = Annotated[str, described(maxLength=20, pattern="^[1-9][0-9]*[smhdw]$")]


class RuleFields(TypedDict, total=False):
    """A rule."""

    name: Annotated[RuleName, Field(description="The name that is in the address.")]
    measure: Annotated[
        Part,
        Field(
            description="One of the measures of the project, or `empty`: the share of rankings "
            "without a relevant document. Required except for the kind `data`."
        ),
    ]
    kind: Literal["drop", "threshold", "data", "trace"]
    model: Part | None
    slices: Annotated[
        list[Dimension],
        described(uniqueItems=True),
        Field(
            description="Attributes whose values are checked one by one, and pairs of attributes, "
            "such as `device:country`, whose values are checked together."
        ),
    ]
    period: Every
    tolerance: Annotated[float, Field(ge=0, description="Below 1 if `is_relative`."), KEEP_INTEGER]
    is_relative: bool
    run_length: Annotated[
        float,
        Field(
            ge=2,
            description="For a drop, the periods, and for a trace, the nights that pass on average "
            "before a false alarm. Up to 2500 for a trace.",
        ),
        KEEP_INTEGER,
    ]
    fewest: Annotated[int, Field(ge=2), WHOLE]
    needs: Literal["interval", "value"]
    since: Time | None
    severity: Literal["warning", "critical"]
    channels: Annotated[
        Annotated[list[ChannelName], described(uniqueItems=True, maxItems=MOST_CHANNELS)] | None,
        Field(description="Default: every channel there is."),
    ]
    remind: Annotated[
        float,
        Field(
            ge=0,
            le=MOST_REMIND,
            description="Hours after which an incident that nobody acknowledged is notified "
            "again; 0 for never.",
        ),
        KEEP_INTEGER,
    ]
    lanes: Annotated[
        Annotated[list[Lane], described(uniqueItems=True, maxItems=MOST_LANES)] | None,
        Field(
            description="Ages at which early values are checked, such as `15m`. Default: the last "
            "two of 15m, 1h and 4h that are at most a quarter of the attribution window."
        ),
    ]
    anchor: Annotated[
        bool,
        Field(
            description="Whether models are also compared with a long-term baseline, which "
            "releases don't renew."
        ),
    ]
    watches: Annotated[
        list[
            Literal[
                "volume",
                "freshness",
                "files",
                "labels",
                "label_freshness",
                "relevance",
                "attributes",
                "versions",
                "names",
            ]
        ],
        described(uniqueItems=True),
        Field(description="For the kind `data`: what is watched. Default: everything."),
    ]


NewRule = Annotated[
    RuleFields, Field(examples=[{"measure": "nDCG@10", "period": "hour", "tolerance": 0.02}])
]


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


def list_rules(monitor: Monitor, _call: Call) -> RuleStates:
    """Return the states of all rules."""
    return {"rules": [write_state(state) for state in monitor.check()]}


def get_rule(monitor: Monitor, call: Call) -> RuleStateFields:
    """Return the state of a rule."""
    for state in monitor.check():
        if state.rule.name == call.part("name"):
            return write_state(state)
    raise UsageError("expected the name of a rule, found another", hint="list them", code="no_rule")


def put_rule(monitor: Monitor, call: Call) -> RuleFields:
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
    stored = next(one.to_dict() for one in monitor.rules() if one.name == name)
    return cast("RuleFields", stored)


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


def write_state(state: RuleState) -> RuleStateFields:
    """Return the state of a rule, with times as people read them."""
    said = state.to_dict()
    for stream in said["streams"]:
        _write_times(stream, "since", "at", "compared", "last")
    _write_times(said, "since", "evaluated", "following", "silenced_until")
    return cast("RuleStateFields", said)


def _write_times(said: dict[str, Any], *names: str) -> None:
    for name in names:
        said[name] = None if said[name] is None else format_time(said[name])


RULE = "/v1/rules/{name}"
ROUTES = (
    Route("GET", "/v1/rules", list_rules, result=RuleStates),
    Route("GET", RULE, get_rule, result=RuleStateFields),
    Route("PUT", RULE, put_rule, body=NewRule, result=RuleFields),
    Route("DELETE", RULE, remove_rule),
    Route("POST", f"{RULE}/silence", silence_rule, body=Silence),
    Route("POST", f"{RULE}/resolve", resolve_rule),
)
