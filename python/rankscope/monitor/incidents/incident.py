"""Incidents: problems of one stream of a rule, what became of them, and their rows and notices."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args
from urllib.parse import quote

from rankscope.errors import FileError
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.events.times import format_time, read_time, to_datetime, to_micros
from rankscope.monitor.plain import make_plain, write_record
from rankscope.monitor.rules.state import Kind, StreamKey
from rankscope.monitor.store.records import ChangeRow, IncidentRow, NoticeRow

if TYPE_CHECKING:
    from rankscope.monitor.incidents.conclusion import Conclusion


Status: TypeAlias = Literal[
    "open", "acknowledged", "snoozed", "recovered", "superseded", "resolved"
]
Severity: TypeAlias = Literal["info", "warning", "critical"]
Event: TypeAlias = Literal[
    "opened", "reopened", "worsened", "reminded", "recovered", "superseded", "resolved"
]
STATUSES: tuple[Status, ...] = get_args(Status)
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""How bad incidents are, the worst one last."""
ACTIVE: frozenset[Status] = frozenset({"open", "acknowledged", "snoozed"})
"""States in which the problem lasts."""
LASTING: frozenset[Status] = ACTIVE | {"recovered"}
"""States in which a stream that is bad again continues its incident."""
EVENTS: tuple[Event, ...] = get_args(Event)
"""What people are notified of."""


@dataclass(frozen=True, slots=True)
class Notified:
    """A notification of an incident.

    Args:
        time: When it was sent off, in UTC.
        event: What it reported.
        channel: Where it went; `*` stands for all channels of the operator.
        notice_id: The notice that it was part of.
    """

    time: datetime
    event: Event
    channel: str
    notice_id: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            "time": format_time(self.time),
            "event": self.event,
            "channel": self.channel,
            "notice": self.notice_id,
        }


@dataclass(frozen=True, slots=True)
class Change:
    """A row of the history of an incident.

    Args:
        time: When it happened, in UTC.
        action: What happened: `opened`, `reopened`, `worsened`, `updated`, `acknowledged`,
            `snoozed`, `woken` at the end of a snooze, `reminded`, `recovered`,
            `superseded`, `resolved` or `noted`.
        actor: Who did it; `rankscope` for what nobody did.
        note: What the actor wrote, or the reason.
    """

    time: datetime
    action: str
    actor: str
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return write_record(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A problem of one stream of a rule, while it lasts and afterwards.

    Args:
        incident_id: Its ID.
        project: The name of the project.
        rule: The name of the rule that found it.
        measure: The measure of the rule; empty for checks of data.
        kind: What is wrong: `quality`, or the kind of data that is missing or has changed.
        model: The model; empty for all.
        version: Its version; empty for all.
        slice: Pairs of an attribute and its value; empty for all rankings.
        severity: `info`, `warning` or `critical`, as its rule says.
        state: `open`, `acknowledged`, `snoozed`, `recovered`, `superseded` or `resolved`.
        opened: When it was opened, in UTC.
        began: When the problem seems to have begun, in UTC; when it was opened if that isn't known.
            It stays as people were told.
        updated: When its state or its evidence changed last, in UTC.
        recovered: When the problem was over, in UTC.
        resolved: When it was resolved or superseded, in UTC.
        acknowledged_by: Who acknowledged it.
        snoozed_until: When the snooze ends, in UTC.
        reason: What is wrong, in one sentence.
        before: The baseline, or the usual count or share; `None` where nothing is compared.
        after: The same since it began, for the mix of slices of the baseline.
        evidence: What that is based on, as JSON holds it.
        cause: What the trace has found: `sentence`, `slice`, `share`, `new_version` and others.
        group: The ID of the group of incidents with the same cause.
        notified: The notifications, the oldest first.
        told_fall: The fall of quality that people know of; `None` where there is none.

    Examples:
        >>> from datetime import UTC, datetime
        >>> incident = Incident(
        ...     incident_id="incident_1",
        ...     project="music",
        ...     rule="quality",
        ...     kind="quality",
        ...     opened=datetime(2026, 11, 8, tzinfo=UTC),
        ...     began=datetime(2026, 11, 7, tzinfo=UTC),
        ...     updated=datetime(2026, 11, 8, tzinfo=UTC),
        ...     slice=(("device", "tv"),),
        ... )
        >>> Incident.from_json(incident.to_json()) == incident
        True
        >>> incident.is_active, incident.link
        (True, '/incidents/incident_1')
    """

    incident_id: str
    project: str
    rule: str
    measure: str = ""
    kind: Kind
    model: str = ""
    version: str = ""
    slice: Slice = ()
    severity: Severity = "warning"
    state: Status = "open"
    opened: datetime
    began: datetime
    updated: datetime
    recovered: datetime | None = None
    resolved: datetime | None = None
    acknowledged_by: str | None = None
    snoozed_until: datetime | None = None
    reason: str = ""
    before: float | None = None
    after: float | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    cause: Mapping[str, Any] | None = None
    group: str = ""
    notified: tuple[Notified, ...] = ()
    told_fall: float | None = None

    @property
    def key(self) -> StreamKey:
        """What tells its stream apart from the others of its rule."""
        return self.kind, self.model, self.version, self.slice

    @property
    def name(self) -> str:
        """The name of its stream, such as `device=tv, version=4`."""
        parts = [*self.slice, ("model", self.model), ("version", self.version)]
        return ", ".join(f"{name}={value}" for name, value in parts if value) or "all rankings"

    @property
    def has_final_evidence(self) -> bool:
        """Whether floor and baseline of its evidence are those of final values of its measure.

        Early values, and the discount that is judged where labels are lost, have others.
        """
        known = {"lane": "final", "judged": "value"}
        return all(self.evidence.get(name, usual) == usual for name, usual in known.items())

    @property
    def is_active(self) -> bool:
        """Whether the problem lasts: the incident is open, acknowledged or snoozed."""
        return self.state in ACTIVE

    @property
    def link(self) -> str:
        """The path of its page."""
        return f"/incidents/{quote(self.incident_id, safe='')}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            "id": self.incident_id,
            "project": self.project,
            "rule": self.rule,
            "measure": self.measure,
            "kind": self.kind,
            "severity": self.severity,
            "stream": {
                "model": self.model,
                "version": self.version,
                "slice": dict(self.slice),
            },
            "state": self.state,
            **{name: make_plain(getattr(self, name)) for name in TIMES},
            "acknowledged_by": self.acknowledged_by,
            "reason": self.reason,
            "before": self.before,
            "after": self.after,
            "evidence": dict(self.evidence),
            "cause": None if self.cause is None else dict(self.cause),
            "group": self.group,
            "notified": [one.to_dict() for one in self.notified],
        }

    def to_json(self) -> str:
        """Return the JSON that the store keeps."""
        said = self.to_dict() | {"told_fall": self.told_fall}
        return json.dumps(said, separators=(",", ":"), allow_nan=False)

    @staticmethod
    def from_dict(said: Mapping[str, Any]) -> Incident:
        """Read what `to_dict` returned."""
        names = {field.name for field in dataclass_fields(Incident)}
        fields = {name: value for name, value in said.items() if name in names}
        notified = tuple(
            Notified(_read(one["time"]), one["event"], one["channel"], one.get("notice", ""))
            for one in said.get("notified", ())
        )
        stream = {**said["stream"], "slice": tuple(said["stream"]["slice"].items())}
        times = {name: None if said[name] is None else _read(said[name]) for name in TIMES}
        fields |= {"incident_id": said["id"], **stream, **times, "notified": notified}
        return Incident(**fields)

    @staticmethod
    def from_json(text: str) -> Incident:
        """Read what `to_json` has written."""
        return Incident.from_dict(json.loads(text))


TIMES = ("opened", "began", "updated", "recovered", "resolved", "snoozed_until")


def _read(text: str) -> datetime:
    return to_datetime(read_time(text, "time")[0])


CHANGED = "incidents.changed"
DIGEST = "incidents.digest"
"""The types of notices: what happened to the incidents of one group, and reminders of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What people are notified of in one message.

    Its JSON has `type`: `incidents.changed` for the incidents of one group, `incidents.digest` for
    reminders of incidents that are still open; `id`, `project`, `time`, `group`, which is empty in
    a digest; and `incidents`, each of which has the fields of an incident but `notified`, and
    `event`.

    Args:
        notice_id: Its ID, the same however often it is sent.
        project: The name of the project.
        time: When it was written, in UTC.
        group: The group of the incidents; empty for a digest.
        parts: What happened, and to which incident, the most important first.

    Examples:
        >>> from datetime import UTC, datetime
        >>> now = datetime(2026, 11, 8, tzinfo=UTC)
        >>> incident = Incident(
        ...     incident_id="incident_1",
        ...     project="music",
        ...     rule="quality",
        ...     kind="quality",
        ...     opened=now,
        ...     began=now,
        ...     updated=now,
        ... )
        >>> notice = make_notice("music", now, "group_1", [("opened", incident)])
        >>> Notice.from_json(notice.to_json()) == notice
        True
    """

    notice_id: str
    project: str
    time: datetime
    group: str
    parts: tuple[tuple[Event, Incident], ...]

    @property
    def is_digest(self) -> bool:
        """Whether it only reminds of incidents that are still open."""
        return not self.group

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            "type": DIGEST if self.is_digest else CHANGED,
            "id": self.notice_id,
            "project": self.project,
            "time": format_time(self.time),
            "group": self.group,
            "incidents": [write_part(event, incident) for event, incident in self.parts],
        }

    def to_json(self) -> str:
        """Return the JSON that the outbox keeps."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @staticmethod
    def from_dict(said: Mapping[str, Any]) -> Notice:
        """Read what `to_dict` returned."""
        return Notice(
            notice_id=said["id"],
            project=said["project"],
            time=to_datetime(read_time(said["time"], "time")[0]),
            group=said["group"],
            parts=tuple((part["event"], Incident.from_dict(part)) for part in said["incidents"]),
        )

    @staticmethod
    def from_json(text: str) -> Notice:
        """Read what `to_json` has written."""
        return Notice.from_dict(json.loads(text))


def write_part(event: Event, incident: Incident) -> dict[str, Any]:
    """Return what happened to an incident as JSON holds it.

    Where it was sent is left out: that is known once it is delivered.
    """
    fields = incident.to_dict()
    del fields["notified"]
    return {"event": event} | fields


def make_notice(
    project: str,
    time: datetime,
    group: str,
    parts: Sequence[tuple[Event, Incident]],
    *,
    moment: datetime | None = None,
) -> Notice:
    """Return the notice of some events; the same events of one moment give the same ID."""
    told = [[event, incident.incident_id] for event, incident in parts]
    said = json.dumps([project, group, format_time(moment or time), told])
    digest = blake2b(said.encode(), digest_size=16).hexdigest()
    return Notice(
        notice_id=f"notice_{digest}", project=project, time=time, group=group, parts=tuple(parts)
    )


TRIES = 5
"""How often something is changed again because somebody else has changed its rule meanwhile."""


def busy(what: str) -> FileError:
    """Return the error that others change the same thing all the time."""
    return FileError(
        f"{what} changed by others at the same time, again and again",
        hint="try again",
        code="store_busy",
    )


def write_incident(incident: Incident) -> IncidentRow:
    """Return the row of an incident."""
    return IncidentRow(
        incident_id=incident.incident_id,
        rule=incident.rule,
        kind=incident.kind,
        state=incident.state,
        opened=to_micros(incident.opened),
        updated=to_micros(incident.updated),
        body=incident.to_json(),
    )


def read_incident(row: IncidentRow) -> Incident:
    """Return the incident of a row."""
    return Incident.from_json(row.body)


def write_change(incident_id: str, change: Change) -> ChangeRow:
    """Return the row of a change."""
    return ChangeRow(incident_id, to_micros(change.time), change.action, change.actor, change.note)


def write_conclusion(concluded: Conclusion, now: int) -> dict[str, Any]:
    """Return the rows of what was concluded, as the store takes them; notices are sent from now."""
    return {
        "incidents": [write_incident(each) for each in concluded.incidents],
        "changes": [write_change(*change) for change in concluded.changes],
        "notices": [
            NoticeRow(each.notice_id, now, each.to_json(), channels)
            for each, channels in concluded.notices
        ],
    }
