"""What people do about incidents, each change with an entry in the history and the audit log."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal, TypeAlias

from rankscope.errors import UsageError
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents import transitions
from rankscope.monitor.incidents.conclusion import Conclusion, settle
from rankscope.monitor.incidents.incident import (
    ACTIVE,
    LASTING,
    STATUSES,
    TRIES,
    Change,
    Incident,
    Notified,
    Status,
    busy,
    read_incident,
    write_conclusion,
)
from rankscope.monitor.incidents.transitions import Turn
from rankscope.monitor.rules.kinds import Rule, find_kind
from rankscope.monitor.rules.run import Check
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import OPERATOR, IncidentRow, RuleRow
from rankscope.monitor.store.store import Store, StoreReader

Chosen: TypeAlias = Status | Literal["all"]


CHOICES: tuple[str, ...] = (*STATUSES, "all")
SENT = ("waiting", "delivered")
AT_ONCE = 500
"""How many notices are looked up by one statement."""


def list_incidents(
    store: StoreReader,
    project: str,
    state: Chosen = "open",
    *,
    rule: str | None = None,
    limit: int | None = None,
) -> tuple[Incident, ...]:
    """List incidents, those that were opened last first."""
    if state not in CHOICES:
        raise UsageError(
            f"state: expected one of {', '.join(CHOICES)}, found {state!a:.100}",
            hint="use open for incidents that last, or all",
            code="incident_state",
        )
    states: Collection[str] | None = {"open": ACTIVE, "all": None}.get(state, {state})
    rows = store.list_incidents(project, states=states, rule=rule, limit=limit)
    return _name_recipients(store, project, [*map(read_incident, rows)])


def find_incident(
    store: StoreReader, project: str, incident_id: str
) -> tuple[Incident, tuple[Change, ...]]:
    """Return an incident by its ID, and its history, the oldest change first."""
    found = read_incident(_find(store, project, incident_id))
    (incident,) = _name_recipients(store, project, [found])
    changes = store.list_changes(project, incident_id)
    return incident, tuple(
        Change(to_datetime(row.time), row.action, row.actor, row.note) for row in changes
    )


ACTIONS: Mapping[str, Callable[..., Turn]] = {
    "acknowledge": transitions.acknowledge,
    "snooze": transitions.snooze,
    "resolve": transitions.resolve,
}
"""What people can do about an incident."""


def respond(
    store: Store,
    project: str,
    incident_id: str,
    action: str,
    *,
    now: int,
    actor: str,
    note: str = "",
    **more: datetime,
) -> Incident:
    """Do something about an incident, again if its rule changes in between, and return it.

    Resolving it discards the evidence of its stream; a snooze has its end, `until`.
    """
    time = to_datetime(now)
    for _ in range(TRIES):
        found = _find(store, project, incident_id)
        turn = ACTIONS[action](read_incident(found), time, actor=actor, note=note, **more)
        rule = store.find_rule(project, found.rule)
        if rule is None:  # it has just been removed, which resolves its incidents
            continue
        changed = replace(rule, revision=rule.revision + 1)
        if action == "resolve":
            key = turn.incident.key
            changed = find_kind(rule).restart(changed, [key], now, is_all=False)
        ended = _settle(project, rule, [turn], time)
        states = (json.dumps({"state": state}) for state in (found.state, ended.incidents[0].state))
        audit = AuditEntry(now, actor, f"incident.{action}", incident_id, *states)
        rows = write_conclusion(ended, now)
        if not store.save_rules(project, [changed], audit=[audit], **rows):
            return ended.incidents[0]
    raise busy("the incident was")


def end_incidents(
    store: StoreReader, project: str, row: RuleRow, *, now: int, actor: str, note: str
) -> Conclusion:
    """Resolve all incidents of a rule, and return what is to be stored with the rule."""
    time = to_datetime(now)
    rows = store.list_incidents(project, states=LASTING, rule=row.name)
    lasting = sorted(
        map(read_incident, rows), key=lambda incident: (incident.opened, incident.incident_id)
    )
    turns = [transitions.resolve(incident, time, actor=actor, note=note) for incident in lasting]
    return _settle(project, row, turns, time)


def _settle(project: str, row: RuleRow, turns: list[Turn], time: datetime) -> Conclusion:
    until = row.silenced_until
    check = Check(Rule.from_json(row.rule), None if until is None else to_datetime(until))
    return settle(project, turns, {row.name: check}, time)


def _name_recipients(
    store: StoreReader, project: str, incidents: Sequence[Incident]
) -> tuple[Incident, ...]:
    """Return incidents with the channels that their notifications went to, or still wait for.

    Which channels the operator has defined is known only where notifications are delivered.
    """
    notices = sorted({told.notice_id for incident in incidents for told in incident.notified})
    recipients: dict[str, list[str]] = {}
    for at in range(0, len(notices), AT_ONCE):
        for notice, channel, status, _ in store.list_recipients(
            project, notices[at : at + AT_ONCE]
        ):
            to = recipients.setdefault(notice, [])
            if status in SENT and channel != OPERATOR:
                to.append(channel)
    return tuple(
        replace(incident, notified=_spread(incident.notified, recipients)) for incident in incidents
    )


def _spread(
    notified: Sequence[Notified], recipients: Mapping[str, Sequence[str]]
) -> tuple[Notified, ...]:
    spread: dict[Notified, None] = {}
    for told in notified:
        # Those of older versions are as they were.
        for channel in recipients.get(told.notice_id, (told.channel,)):
            spread[replace(told, channel=channel)] = None
    return tuple(spread)


def _find(store: StoreReader, project: str, incident_id: str) -> IncidentRow:
    row = store.find_incident(project, incident_id)
    if row is None:
        raise UsageError(
            f"there is no incident {incident_id[:100]!a}",
            hint="list them with rankscope monitor incidents STORE --state all",
            code="no_incident",
        )
    return row
