"""Notices: what people are notified of in one message, as the outbox keeps it."""

from __future__ import annotations

import json
from hashlib import blake2b

from rankscope.monitor.events.times import format_time, read_time, to_datetime
from rankscope.monitor.incidents.incident import Incident
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from rankscope.monitor.incidents.incident import Event

CHANGED = "incidents.changed"
DIGEST = "incidents.digest"
"""The types of notices: what happened to the incidents of one group, and reminders of all."""


@record(frozen=True, slots=True, kw_only=True)
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
