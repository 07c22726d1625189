"""The states of one incident: what findings, people and the passing of time make of it.

An incident is opened by a bad finding, and recovers with a good one. If its version is no longer
served, it is superseded, as nobody knows whether it would be good again. If its stream is bad again
within `RESOLVE_AFTER`, the same incident is reopened; otherwise it is resolved then. A person can
acknowledge it, which ends the reminders; snooze it, which keeps all notifications back for some
time; or resolve it, which discards the evidence of its stream.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Literal

from rankscope.errors import UsageError
from rankscope.monitor.events.times import describe_time, format_time
from rankscope.monitor.incidents.incident import ACTIVE, LASTING, Change, Event, Incident, Status
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.rules.run import ACTOR
from rankscope.monitor.rules.state import Finding

WORSE_TIMES, WORSE_BY = 2.0, 0.05
"""An incident has worsened if its fall is so many times the one that people know, and so much more.

Each notification of it thus tells of twice the fall of the one before.
"""
RESOLVE_AFTER = timedelta(days=3)
"""An incident that has recovered is resolved after this time."""
MOST_NOTE = 2000
"""The longest note, in characters."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A change of an incident.

    Args:
        incident: The incident afterwards.
        change: The row of its history; `None` where only the evidence is newer.
        event: What people are notified of, if they are.
    """

    incident: Incident
    change: Change | None = None
    event: Event | None = None


def open_incident(project: str, rule: Rule, finding: Finding, now: datetime) -> Turn:
    """Open an incident; the same finding at the same time gives the same ID."""
    said = [project, rule.name, finding.key, format_time(now)]
    digest = blake2b(json.dumps(said).encode(), digest_size=10).hexdigest()
    incident = Incident(
        incident_id=f"incident_{digest}",
        project=project,
        rule=rule.name,
        measure=rule.subject,
        kind=finding.kind,
        model=finding.model,
        version=finding.version,
        slice=finding.slice,
        severity=rule.severity,
        opened=now,
        began=finding.began or now,
        updated=now,
        reason=finding.reason,
        before=finding.before,
        after=finding.after,
        evidence=finding.evidence,
        told_fall=_find_fall(finding),
    )
    return Turn(incident, Change(now, "opened", ACTOR, finding.reason), "opened")


def take_finding(incident: Incident, finding: Finding, now: datetime) -> Turn | None:
    """Return what a finding changes about the incident of its stream, `None` for nothing."""
    if finding.verdict in {"good", "gone"}:
        return _end(incident, finding, now) if incident.is_active else None
    if finding.verdict == "noted":
        noted = replace(incident, evidence=finding.evidence, updated=now)
        return Turn(noted, Change(now, "noted", ACTOR, finding.reason))
    if finding.verdict != "bad":
        return None
    seen = replace(
        incident,
        reason=finding.reason,
        before=finding.before,
        after=finding.after,
        evidence=finding.evidence,
        updated=now,
    )
    if incident.state != "recovered":
        # A new period alone is no news; `updated` says when there was some.
        newer = replace(seen, updated=incident.updated)
        told, fall = incident.told_fall, _find_fall(finding)
        if told is None:  # of an older version
            newer = replace(newer, told_fall=fall)
        elif fall is not None and fall >= max(WORSE_TIMES * told, told + WORSE_BY):
            worse = replace(newer, told_fall=fall, updated=now)
            event: Event | None = None if incident.state == "snoozed" else "worsened"
            return Turn(worse, Change(now, "worsened", ACTOR, finding.reason), event)
        return None if newer == incident else Turn(replace(newer, updated=now))
    is_snoozed = incident.snoozed_until is not None and now < incident.snoozed_until
    state: Status = "snoozed" if is_snoozed else "open"
    again = replace(
        seen,
        state=state,
        recovered=None,
        acknowledged_by=None,
        snoozed_until=incident.snoozed_until if is_snoozed else None,
        told_fall=_find_fall(finding),
    )
    change = Change(now, "reopened", ACTOR, finding.reason)
    return Turn(again, change, None if is_snoozed else "reopened")


def _find_fall(finding: Finding) -> float | None:
    """Return how far a mean has fallen, `None` where the finding isn't about one."""
    fall = finding.evidence.get("fall")
    return float(fall) if isinstance(fall, int | float) else None


def _end(incident: Incident, finding: Finding, now: datetime) -> Turn:
    """End an incident whose stream is good again, or is no longer served."""
    reason = finding.reason or incident.reason
    is_told = incident.state != "snoozed" and bool(incident.notified)
    state: Literal["superseded", "recovered"] = "recovered"
    over = replace(incident, state=state, recovered=now, updated=now, reason=reason)
    if finding.verdict == "gone":
        state = "superseded"
        over = replace(incident, state=state, resolved=now, updated=now, reason=reason)
    return Turn(over, Change(now, state, ACTOR, finding.reason), state if is_told else None)


def pass_time(incident: Incident, now: datetime) -> Turn | None:
    """Return what the passing of time changes: a snooze that ends, or a resolution."""
    due = find_timer(incident)
    if due is None or now < due:
        return None
    if incident.state == "snoozed":
        woken = replace(incident, state="open", snoozed_until=None, updated=now)
        return Turn(woken, Change(now, "woken", ACTOR, "the snooze has ended"), "reminded")
    note = f"nothing was found since {describe_time(incident.recovered or now)}"
    done = replace(incident, state="resolved", resolved=now, updated=now, snoozed_until=None)
    return Turn(done, Change(now, "resolved", ACTOR, note))


def find_timer(incident: Incident) -> datetime | None:
    """Return when the passing of time changes the state of an incident, `None` if it never does."""
    if incident.state == "snoozed":
        return incident.snoozed_until
    if incident.state == "recovered" and incident.recovered is not None:
        return incident.recovered + RESOLVE_AFTER
    return None


def acknowledge(incident: Incident, now: datetime, *, actor: str, note: str = "") -> Turn:
    """Acknowledge an incident: somebody works on it, so that no more reminders are sent."""
    _check(incident, ACTIVE, "acknowledged", note)
    known = replace(
        incident, state="acknowledged", acknowledged_by=actor, snoozed_until=None, updated=now
    )
    return Turn(known, Change(now, "acknowledged", actor, note))


def snooze(
    incident: Incident, now: datetime, until: datetime, *, actor: str, note: str = ""
) -> Turn:
    """Send no notifications of an incident until a time; then, if it lasts, it is open again."""
    _check(incident, ACTIVE, "snoozed", note)
    if until <= now:
        raise UsageError(
            f"expected a time after {format_time(now)}, found {format_time(until)}",
            hint="snooze it until a later time",
            code="incident_time",
        )
    quiet = replace(incident, state="snoozed", snoozed_until=until, updated=now)
    said = f"until {describe_time(until)}"
    return Turn(quiet, Change(now, "snoozed", actor, f"{said}: {note}" if note else said))


def resolve(incident: Incident, now: datetime, *, actor: str, note: str = "") -> Turn:
    """Resolve an incident, whether it has recovered or not."""
    _check(incident, LASTING, "resolved", note)
    is_told = incident.state in {"open", "acknowledged"} and bool(incident.notified)
    done = replace(incident, state="resolved", resolved=now, updated=now, snoozed_until=None)
    return Turn(done, Change(now, "resolved", actor, note), "resolved" if is_told else None)


def _check(incident: Incident, states: Collection[str], become: str, note: str) -> None:
    if incident.state not in states:
        raise UsageError(
            f"an incident that is {incident.state} cannot be {become}",
            hint="list the incidents that last: rankscope monitor incidents STORE",
            code="incident_state",
        )
    if len(note) > MOST_NOTE:
        raise UsageError(
            f"expected a note of at most {MOST_NOTE:,} characters, found {len(note):,}",
            hint="write a shorter note, with a link to the rest",
            code="incident_note",
        )
