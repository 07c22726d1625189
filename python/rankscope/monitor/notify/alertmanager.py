"""Incidents as alerts of Alertmanager.

Alertmanager knows the state of alerts and not what happened to them: it forgets those that are not
sent again, and all of them when it restarts. So what is sent is how incidents stand now, whatever
the notification said that it is sent for, and incidents that last are sent again and again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rankscope.errors import UsageError
from rankscope.monitor.events.limits import HOUR, MINUTE
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.incidents.grouping import find_cause
from rankscope.monitor.incidents.incident import ACTIVE, Incident, read_incident
from rankscope.monitor.links import Links
from rankscope.monitor.notify.attempt import Attempt, judge_reply
from rankscope.monitor.notify.http import Poster, PostError, read_url
from rankscope.monitor.notify.message import name_problem, name_stream
from rankscope.monitor.rules.kinds import PROBLEMS
from rankscope.monitor.store.records import OPERATOR
from rankscope.monitor.store.store import StoreReader

if TYPE_CHECKING:
    from rankscope.monitor.notify.channels import Channel


PATH = "/api/v2/alerts"
ALERT = "RankscopeIncident"
TEST = "RankscopeTest"
AGAIN = 5 * MINUTE
"""How often incidents that last are sent again."""
LASTS = HOUR
"""How long an alert lasts that is not sent again, as while the service is down."""


class AlertSchedule:
    """Says when incidents that last have to be sent again.

    Examples:
        >>> schedule = AlertSchedule()
        >>> [schedule.is_due(now) for now in (0, AGAIN - 1, AGAIN)]
        [True, False, True]
    """

    def __init__(self) -> None:
        self._last: int | None = None

    def is_due(self, now: int) -> bool:
        """Return whether to send them now, and note that it is done."""
        if self._last is not None and now - self._last < AGAIN:
            return False
        self._last = now
        return True


def write_alert(incident: Incident, now: int, public_url: str | None = None) -> dict[str, Any]:
    """Return the alert of an incident as it stands now.

    All labels but the severity, which follows the rule, stay as they are while the incident exists:
    Alertmanager knows an alert by its labels.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from rankscope.monitor.incidents.incident import Incident
        >>> opened = datetime(2026, 11, 8, tzinfo=UTC)
        >>> incident = Incident(
        ...     incident_id="incident_1",
        ...     project="music",
        ...     rule="quality",
        ...     measure="nDCG@5",
        ...     kind="quality",
        ...     slice=(("device", "tv"),),
        ...     opened=opened,
        ...     began=opened,
        ...     updated=opened,
        ... )
        >>> alert = write_alert(incident, 0)
        >>> alert["labels"]["slice"], alert["annotations"]["summary"]
        ('device=tv', 'nDCG@5 fell for device=tv (music)')
    """
    labels = {
        "alertname": ALERT,
        "incident": incident.incident_id,
        "project": incident.project,
        "rule": incident.rule,
        "kind": incident.kind,
        "severity": incident.severity,
        "measure": incident.measure,
        "model": incident.model,
        "version": incident.version,
        "slice": ", ".join(f"{name}={value}" for name, value in incident.slice),
        "group": incident.group,
    }
    title = f"{name_problem(incident)} for {name_stream(incident)} ({incident.project})"
    annotations = {
        "summary": title,
        "description": incident.reason,
        "cause": find_cause([incident]),
        "action": PROBLEMS[incident.kind].step,
    }
    starts = incident.began
    if incident.is_active:
        ends = to_datetime(now + LASTS)
    else:
        ends = max(incident.recovered or incident.resolved or incident.updated, starts)
    alert: dict[str, Any] = {
        # To Alertmanager, an empty label is one that is missing.
        "labels": {name: value for name, value in labels.items() if value},
        "annotations": {name: value for name, value in annotations.items() if value},
        "startsAt": format_time(starts),
        "endsAt": format_time(ends),
    }
    if public_url is not None:
        alert["generatorURL"] = Links(public_url, incident.project)(incident.link)
    return alert


def write_test_alert(channel: str, now: int) -> dict[str, Any]:
    """Return an alert that tests a channel, and ends after a few minutes."""
    return {
        "labels": {"alertname": TEST, "channel": channel, "severity": "info"},
        "annotations": {"summary": "This is a test of rankscope. Nothing is wrong."},
        "startsAt": format_time(now),
        "endsAt": format_time(now + AGAIN),
    }


def list_current(store: StoreReader, project: str, told: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents as they stand now; a notification may have waited for days."""
    for incident in told:
        row = store.find_incident(project, incident.incident_id)
        yield incident if row is None else read_incident(row)


def list_lasting(store: StoreReader, channel: Channel) -> Iterator[Incident]:
    """Yield the incidents of all projects that last, and that a channel was notified of."""
    for project in store.projects():
        for row in store.list_incidents(project, states=ACTIVE):
            incident = read_incident(row)
            names = {told.channel for told in incident.notified}
            if channel.name in names or (OPERATOR in names and channel.takes(incident.severity)):
                yield incident


def post_alerts(channel: Channel, alerts: Sequence[dict[str, Any]], poster: Poster) -> Attempt:
    """Post alerts to an Alertmanager, once."""
    chosen = poster.with_private() if channel.allows_private else poster
    headers = {"Content-Type": "application/json", "User-Agent": "rankscope"}
    if channel.secret is not None:
        headers["Authorization"] = f"Bearer {channel.secret.reveal()}"
    try:
        url = channel.url.reveal().rstrip("/") + PATH
        target = read_url(url, allows_http=channel.allows_http)
        reply = chosen.post(target, headers, json.dumps(alerts).encode())
    except (PostError, UsageError) as error:
        return Attempt(error.message)
    return judge_reply(reply.status, reply.retry_after)
