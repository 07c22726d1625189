"""Incidents as rows of the store."""

from __future__ import annotations

from rankscope.errors import FileError
from rankscope.monitor.events.times import to_micros
from rankscope.monitor.incidents.incident import Change, Incident
from rankscope.monitor.store.records import ChangeRow, IncidentRow, NoticeRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.incidents.conclusion import Conclusion


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
