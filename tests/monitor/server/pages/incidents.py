"""Incidents for pages: made at once, without the days that a rule would take."""

from __future__ import annotations

from datetime import timedelta

from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.incident import Incident, write_change, write_incident

from tests.monitor.server.service import NOW

BEGAN = to_datetime(NOW // DAY * DAY - 3 * DAY)


def make_incident(number=1, **said):
    """An incident of the story: televisions fell with the release."""
    made = {
        "incident_id": f"incident_{number}",
        "project": "default",
        "rule": "quality",
        "measure": "nDCG@5",
        "kind": "quality",
        "model": "m",
        "version": "4",
        "slice": (("device", "tv"),),
        "opened": BEGAN + timedelta(days=1),
        "updated": BEGAN + timedelta(days=1),
        "began": BEGAN,
        "reason": "nDCG@5 fell from 1.0000 to 0.7500",
        "before": 1.0,
        "after": 0.75,
    }
    return Incident(**made | said)


def put_incidents(site, *incidents, **history):
    changes = [
        write_change(incident_id, change)
        for incident_id, listed in history.items()
        for change in listed
    ]
    rows = [write_incident(each) for each in incidents]
    site.store.save_rules(incidents[0].project, (), incidents=rows, changes=changes)
