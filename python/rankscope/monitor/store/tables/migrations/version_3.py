"""To version 3: incidents take the place of alerts, one for each stream that has fallen.

The alerts of version 2 are changes of the state of a rule. Each stream that one names becomes an
incident, which is resolved when the rule leaves ALERT; the streams of a rule that is in ALERT now
become open incidents, also those that no alert has named. The alerts themselves are kept.
"""

from __future__ import annotations

import json
from hashlib import blake2b

from sqlalchemy import text

from rankscope.monitor.events.times import format_time, read_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from sqlalchemy import Connection

    from rankscope.monitor.store.tables.migrations import SecretKeeper

TABLES = (
    """
    CREATE TABLE incidents (
        incident_id TEXT NOT NULL,
        project_id INTEGER NOT NULL,
        rule TEXT NOT NULL,
        kind TEXT NOT NULL,
        state TEXT NOT NULL,
        opened BIGINT NOT NULL,
        updated BIGINT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (incident_id),
        FOREIGN KEY(project_id) REFERENCES projects (project_id)
    )
    """,
    "CREATE INDEX incidents_by_state ON incidents (project_id, state, opened)",
    "CREATE INDEX incidents_of_project ON incidents (project_id, opened, incident_id)",
    """
    CREATE TABLE incident_changes (
        number INTEGER NOT NULL,
        incident_id TEXT NOT NULL,
        time BIGINT NOT NULL,
        action TEXT NOT NULL,
        actor TEXT NOT NULL,
        note TEXT NOT NULL,
        PRIMARY KEY (number),
        FOREIGN KEY(incident_id) REFERENCES incidents (incident_id)
    )
    """,
    "CREATE INDEX changes_of_incident ON incident_changes (incident_id, number)",
)
ACTOR = "rankscope"
OPENED = "taken over from the alert of version 2"
UNNAMED = "taken over from version 2, which notified nobody of it"
RESOLVED = "the rule was no longer in ALERT"


def migrate(connection: Connection, _secrets: SecretKeeper) -> None:
    """Make the tables of incidents, fill them, and replace a field of rules."""
    for statement in TABLES:
        connection.execute(text(statement))
    projects = dict(map(tuple, connection.execute(text("SELECT project_id, name FROM projects"))))
    for project_id, project in projects.items():
        for incident, history in _make_incidents(connection, project_id, project):
            _insert(connection, project_id, incident, history)
        _change_rules(connection, project_id)


def _make_incidents(
    connection: Connection, project_id: int, project: str
) -> Iterator[tuple[dict[str, Any], list[tuple[str, str, str]]]]:
    """Yield each incident with its history: times, actions and notes."""
    asked = text("SELECT body FROM alerts WHERE project_id = :id ORDER BY number")
    alerts = [json.loads(body) for (body,) in connection.execute(asked, {"id": project_id})]
    lasting: dict[str, dict[str, Any]] = {}
    for alert in alerts:
        yield from _resolve(connection, project, lasting.pop(alert["rule"], None), alert["time"])
        if alert["after"] == "ALERT":
            lasting[alert["rule"]] = alert
    asked = text("SELECT * FROM rules WHERE project_id = :id ORDER BY name")
    for row in connection.execute(asked, {"id": project_id}).mappings().all():
        alert = lasting.pop(row["name"], None)
        if row["state"] == "ALERT":
            yield from _open(connection, project, dict(row), alert)
        else:
            yield from _resolve(connection, project, alert, format_time(row["since"]))
    for alert in lasting.values():  # of rules that were removed
        yield from _resolve(connection, project, alert, alert["time"])


def _resolve(
    connection: Connection, project: str, alert: Mapping[str, Any] | None, time: str
) -> Iterator[tuple[dict[str, Any], list[tuple[str, str, str]]]]:
    """Yield the resolved incidents of the streams that an alert has named."""
    if alert is None:
        return
    for stream in alert["streams"]:
        incident = _describe(connection, project, alert, stream)
        ended = {"state": "resolved", "updated": time, "recovered": time, "resolved": time}
        history = [(alert["time"], "opened", OPENED), (time, "resolved", RESOLVED)]
        yield incident | ended, history


def _open(
    connection: Connection, project: str, row: Mapping[str, Any], begun: Mapping[str, Any] | None
) -> Iterator[tuple[dict[str, Any], list[tuple[str, str, str]]]]:
    """Yield the open incidents of a rule in ALERT."""
    rule = json.loads(row["rule"])
    evaluated = format_time(row["evaluated"])
    named = {} if begun is None else {_key(stream): stream for stream in begun["streams"]}
    for stream in json.loads(row["progress"])["streams"]:
        if stream["state"] != "ALERT":
            continue
        fallen = {
            "model": stream["model"],
            "version": stream["version"],
            "slice": dict(map(tuple, stream["slice"])),
            "value": (stream["value"] or {}).get("value"),
            "lower": (stream["value"] or {}).get("lower"),
            "upper": (stream["value"] or {}).get("upper"),
            "baseline": (stream["baseline"] or {}).get("value"),
            "floor": stream["floor"],
            "log_evidence": None,
            "needed": stream["needed"],
            "since": None if stream["since"] is None else format_time(stream["since"]),
        }
        told = named.get(_key(fallen))
        if begun is not None and told is not None:
            fallen["log_evidence"] = told["log_evidence"]
            yield _describe(connection, project, begun, fallen), [(begun["time"], "opened", OPENED)]
            continue
        alert = {
            "id": "",
            "rule": row["name"],
            "measure": rule["measure"],
            "time": evaluated,
            "reason": row["reason"],
        }
        yield _describe(connection, project, alert, fallen), [(evaluated, "opened", UNNAMED)]


def _describe(
    connection: Connection, project: str, alert: Mapping[str, Any], stream: Mapping[str, Any]
) -> dict[str, Any]:
    """Return an open incident, as JSON holds it."""
    said = [project, alert["rule"], "quality", _key(stream), alert["time"]]
    group = [project, alert["rule"], alert["time"]]
    return {
        "id": f"incident_{_hash(said)}",
        "project": project,
        "rule": alert["rule"],
        "measure": alert["measure"],
        "kind": "quality",
        "severity": "warning",
        "stream": {name: stream[name] for name in ("model", "version", "slice")},
        "state": "open",
        "opened": alert["time"],
        "began": stream["since"],
        "updated": alert["time"],
        "recovered": None,
        "resolved": None,
        "snoozed_until": None,
        "acknowledged_by": None,
        "reason": _tell(alert, stream),
        "evidence": {
            name: stream[name]
            for name in (
                "value",
                "lower",
                "upper",
                "baseline",
                "floor",
                "log_evidence",
                "needed",
            )
        },
        "cause": None,
        "group": f"group_{_hash(group)}",
        "notified": _list_notified(connection, alert["id"]),
    }


def _tell(alert: Mapping[str, Any], stream: Mapping[str, Any]) -> str:
    value, floor = stream["value"], stream["floor"]
    if value is None or floor is None:
        return str(alert["reason"])
    return f"{alert['measure']} is {value:.4f}, and its floor is {floor:.4f}"


def _list_notified(connection: Connection, alert_id: str) -> list[dict[str, str]]:
    asked = text(
        "SELECT channel, coalesce(finished, created) FROM outbox "
        "WHERE notification_id = :id AND status IN ('delivered', 'waiting') ORDER BY number"
    )
    return [
        {"time": format_time(time), "event": "opened", "channel": channel}
        for channel, time in connection.execute(asked, {"id": alert_id})
    ]


def _insert(
    connection: Connection,
    project_id: int,
    incident: Mapping[str, Any],
    history: list[tuple[str, str, str]],
) -> None:
    row = {
        "incident_id": incident["id"],
        "project_id": project_id,
        "rule": incident["rule"],
        "kind": incident["kind"],
        "state": incident["state"],
        "opened": read_time(incident["opened"], "time")[0],
        "updated": read_time(incident["updated"], "time")[0],
        "body": json.dumps(incident, separators=(",", ":")),
    }
    # Two alerts of one moment would be the same incident.
    added = connection.execute(
        text(
            "INSERT INTO incidents SELECT :incident_id, :project_id, :rule, :kind, :state, "
            ":opened, :updated, :body WHERE NOT EXISTS "
            "(SELECT 1 FROM incidents WHERE incident_id = :incident_id)"
        ),
        row,
    )
    for time, action, note in history if added.rowcount else ():
        connection.execute(
            text(
                "INSERT INTO incident_changes (incident_id, time, action, actor, note) "
                "VALUES (:incident_id, :time, :action, :actor, :note)"
            ),
            {
                "incident_id": incident["id"],
                "time": read_time(time, "time")[0],
                "action": action,
                "actor": ACTOR,
                "note": note,
            },
        )


def _change_rules(connection: Connection, project_id: int) -> None:
    """Replace `webhook` by `channels`; the evidence that was collected stays valid."""
    asked = text("SELECT name, rule, progress FROM rules WHERE project_id = :id")
    for name, rule, progress in connection.execute(asked, {"id": project_id}).all():
        said, collected = json.loads(rule), json.loads(progress)
        if not said.pop("webhook", True):
            said["channels"] = ["log"]
        # The hash of what is measured includes fields that rules did not have.
        collected["basis"] = ""
        connection.execute(
            text(
                "UPDATE rules SET rule = :rule, progress = :progress "
                "WHERE project_id = :id AND name = :name"
            ),
            {
                "rule": json.dumps(said, sort_keys=True, separators=(",", ":")),
                "progress": json.dumps(collected, sort_keys=True, separators=(",", ":")),
                "id": project_id,
                "name": name,
            },
        )


def _key(stream: Mapping[str, Any]) -> str:
    return json.dumps([stream["model"], stream["version"], [*stream["slice"].items()]])


def _hash(said: list[Any]) -> str:
    return blake2b(json.dumps(said).encode(), digest_size=10).hexdigest()
