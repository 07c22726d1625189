"""Incidents, and what people do about them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal, cast

from pydantic import Field
from typing_extensions import TypedDict

from rankscope.monitor.events.times import read_time, to_datetime
from rankscope.monitor.incidents.incident import STATUSES, Event, Incident, Status
from rankscope.monitor.incidents.transitions import MOST_NOTE
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import PROBLEMS
from rankscope.monitor.rules.settings import NO_NUL, described
from rankscope.monitor.server.api.fields import Limit, Name, Object
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.setup.fields import Time
from rankscope.monitor.shapes import OneOf, extensible

Kind = Annotated[str, OneOf(*PROBLEMS)]
Note = Annotated[
    str,
    described(maxLength=MOST_NOTE, pattern=NO_NUL),
    Field(description="A note for the history (default: none)."),
]
EXAMPLE: dict[str, Any] = {
    "id": "incident_4ad287fbcce7505cae4d",
    "project": "music",
    "rule": "quality",
    "measure": "nDCG@5",
    "kind": "quality",
    "severity": "warning",
    "stream": {"model": "ranker", "version": "4", "slice": {"device": "tv"}},
    "state": "open",
    "opened": "2026-11-21T02:00:00.000000Z",
    "began": "2026-11-18T00:00:00.000000Z",
    "updated": "2026-11-21T02:00:00.000000Z",
    "recovered": None,
    "resolved": None,
    "snoozed_until": None,
    "acknowledged_by": None,
    "reason": "device=tv, model=ranker, version=4: nDCG@5 fell from 0.8214 to 0.6012",
    "before": 0.8214,
    "after": 0.6012,
    "evidence": {"value": 0.6104, "floor": 0.8014},
    "cause": None,
    "group": "group_b222c4bbd5d4e1d1a6f7",
    "notified": [
        {
            "time": "2026-11-21T02:00:00.000000Z",
            "event": "opened",
            "channel": "webhook",
            "notice": "notice_4ad287fbcce7505cae4db2dc3743e5ee",
        }
    ],
}


class StreamKeyFields(TypedDict):
    """What an incident is about; an empty name stands for all."""

    model: str
    version: str
    slice: dict[str, str]


@extensible
class NotifiedFields(TypedDict):
    """A notification of an incident."""

    time: Time
    event: Event
    channel: str
    notice: str


@extensible
class IncidentFields(TypedDict):
    """A problem that a rule has found."""

    id: Annotated[str, Field(examples=[EXAMPLE["id"]])]
    project: str
    rule: str
    measure: Annotated[str, Field(description="Empty for checks of data.")]
    kind: Kind
    severity: Literal["info", "warning", "critical"]
    stream: StreamKeyFields
    state: Status
    opened: Time
    began: Annotated[
        Time,
        Field(
            description="When the problem seems to have begun; when it was opened if that isn't "
            "known."
        ),
    ]
    updated: Time
    recovered: Time | None
    resolved: Annotated[Time | None, Field(description="When it was resolved or superseded.")]
    snoozed_until: Time | None
    acknowledged_by: str | None
    reason: str
    before: Annotated[
        float | None,
        Field(description="The baseline, or the usual count or share; `null` where none is known."),
    ]
    after: Annotated[
        float | None,
        Field(description="The same since it began, for the mix of slices of the baseline."),
    ]
    evidence: Object
    cause: Annotated[
        Object | None, Field(description="What the trace has found, and what else changed.")
    ]
    group: Annotated[str, Field(description="The same for incidents with the same cause.")]
    notified: list[NotifiedFields]


class Incidents(TypedDict):
    """Incidents, those that were opened last first."""

    incidents: Annotated[list[IncidentFields], Field(examples=[[EXAMPLE]])]


@extensible
class ChangeFields(TypedDict):
    """Something that happened to an incident."""

    time: Time
    action: str
    actor: str
    note: str


@extensible
class IncidentDetails(IncidentFields):
    """An incident and its history, the oldest change first."""

    history: list[ChangeFields]


class IncidentQuery(TypedDict, total=False):
    """Which incidents are listed."""

    state: Annotated[
        str,
        OneOf(*STATUSES, "all"),
        Field(
            description="`open` for all that last, whether they are acknowledged, snoozed or "
            "neither (default: open)."
        ),
    ]
    rule: Annotated[Name, Field(description="The rule that found them (default: all).")]
    limit: Limit


class NoteFields(TypedDict, total=False):
    """A note about what was done."""

    note: Note


class SnoozeFields(NoteFields):
    """Until when an incident is snoozed."""

    until: Annotated[Time, Field(description="A time to come, in RFC 3339.")]


Noted = Annotated[NoteFields, Field(examples=[{"note": "Rolling back version 4."}])]
Snoozed = Annotated[SnoozeFields, Field(examples=[{"until": "2026-11-22T08:00:00Z"}])]


def list_incidents(monitor: Monitor, call: Call) -> Incidents:
    """Return incidents, those that were opened last first."""
    incidents = monitor.incidents(
        call.query.get("state", "open"),
        rule=call.query.get("rule"),
        limit=call.query.get("limit", 100),
    )
    return {"incidents": [_write(incident) for incident in incidents]}


def get_incident(monitor: Monitor, call: Call) -> IncidentDetails:
    """Return an incident and its history."""
    incident, history = monitor.incident(call.part("incident_id"))
    changes = [change.to_dict() for change in history]
    return cast("IncidentDetails", incident.to_dict() | {"history": changes})


def acknowledge_incident(monitor: Monitor, call: Call) -> IncidentFields:
    """Acknowledge an incident: no more reminders are sent."""
    return _change(monitor.acknowledge, call)


def snooze_incident(monitor: Monitor, call: Call) -> IncidentFields:
    """Send no notifications of an incident until a time."""
    until = to_datetime(read_time(call.body["until"], "until")[0])
    return _change(partial(monitor.snooze, until=until), call)


def resolve_incident(monitor: Monitor, call: Call) -> IncidentFields:
    """Resolve an incident, and discard the evidence of its stream."""
    return _change(monitor.resolve, call)


def _change(change: Callable[..., Incident], call: Call) -> IncidentFields:
    note = call.body.get("note", "")
    return _write(change(call.part("incident_id"), note=note, actor=call.principal.actor))


def _write(incident: Incident) -> IncidentFields:
    return cast("IncidentFields", incident.to_dict())


INCIDENT = "/v1/incidents/{incident_id}"
ROUTES = (
    Route("GET", "/v1/incidents", list_incidents, query=IncidentQuery, result=Incidents),
    Route("GET", INCIDENT, get_incident, result=IncidentDetails),
    Route(
        "POST",
        f"{INCIDENT}/acknowledge",
        acknowledge_incident,
        "edit",
        body=Noted,
        result=IncidentFields,
    ),
    Route(
        "POST", f"{INCIDENT}/snooze", snooze_incident, "edit", body=Snoozed, result=IncidentFields
    ),
    Route(
        "POST", f"{INCIDENT}/resolve", resolve_incident, "edit", body=Noted, result=IncidentFields
    ),
)
