"""What follows from the findings of one moment: incidents, their history, and notices.

This reads and writes nothing, so that a replay of the same findings gives the same incidents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from rankscope.monitor.incidents.grouping import find_group, share_causes
from rankscope.monitor.incidents.incident import (
    EVENTS,
    SEVERITIES,
    Change,
    Event,
    Incident,
    Notice,
    Notified,
    make_notice,
)
from rankscope.monitor.incidents.transitions import (
    Turn,
    find_timer,
    open_incident,
    pass_time,
    take_finding,
)
from rankscope.monitor.rules.run import ACTOR, Check
from rankscope.monitor.rules.state import StreamKey

FindCause: TypeAlias = Callable[[Incident, datetime], Mapping[str, Any] | None]


MICROSECOND = timedelta(microseconds=1)
TRACED_FOR = timedelta(days=7)
"""The cause of an incident is traced again for so long: later data hardly change it."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What follows from the findings of one moment.

    Args:
        incidents: The incidents that are new or have changed.
        changes: Their history: the ID of an incident, and its change.
        notices: The notices to send, each with its channels.
        events: What people are notified of.
    """

    incidents: tuple[Incident, ...] = ()
    changes: tuple[tuple[str, Change], ...] = ()
    notices: tuple[tuple[Notice, tuple[str, ...]], ...] = ()
    events: tuple[tuple[Event, Incident], ...] = ()


def conclude(
    project: str,
    lasting: Iterable[Incident],
    checks: Sequence[Check],
    now: datetime,
    *,
    find_cause: FindCause | None = None,
    sent: datetime | None = None,
) -> Conclusion:
    """Conclude what becomes of incidents."""
    known = {one.incident_id: one for one in lasting}
    by_rule = {check.rule.name: check for check in checks}
    turns = _take_findings(project, known, checks, now)
    changed = {turn.incident.incident_id for turn in turns}
    for incident in known.values():
        turn = None if incident.incident_id in changed else pass_time(incident, now)
        if turn is not None:
            turns.append(turn)
    turns = _group(turns, known, by_rule, now, find_cause)
    if find_cause is not None:
        turns = _trace_again(turns, known, by_rule, now, find_cause)
        turns = share_causes(turns, known, now)
    current = known | {turn.incident.incident_id: turn.incident for turn in turns}
    reminders = _remind(current, by_rule, turns, now)
    return settle(project, [*turns, *reminders], by_rule, now, sent=sent)


def find_next(incidents: Iterable[Incident], checks: Sequence[Check]) -> datetime | None:
    """Return the first moment at which the passing of time alone changes an incident."""
    by_rule = {check.rule.name: check for check in checks}
    moments = []
    for incident in incidents:
        check = by_rule.get(incident.rule)
        moments += [find_timer(incident)]
        moments += [None if check is None else _find_reminder(incident, check)]
    return min((moment for moment in moments if moment is not None), default=None)


def _find_reminder(incident: Incident, check: Check) -> datetime | None:
    """Return when people are reminded of an incident next, `None` if they are not."""
    if incident.state != "open" or not check.rule.remind:
        return None
    told = [one.time for one in incident.notified if one.event != "recovered"]
    due = max([incident.opened, *told]) + timedelta(hours=check.rule.remind)
    return due if check.silenced_until is None else max(due, check.silenced_until)


def _take_findings(
    project: str, known: Mapping[str, Incident], checks: Sequence[Check], now: datetime
) -> list[Turn]:
    streams: dict[tuple[str, StreamKey], Incident] = {
        (one.rule, one.key): one for one in known.values()
    }
    turns = []
    for check in sorted(checks, key=lambda one: one.rule.name):
        for finding in sorted(check.findings, key=lambda one: one.key):
            incident = streams.get((check.rule.name, finding.key))
            if incident is not None:
                turn = take_finding(replace(incident, severity=check.rule.severity), finding, now)
            elif finding.verdict == "bad":
                turn = open_incident(project, check.rule, finding, now)
            else:
                continue
            if turn is not None:
                turns.append(turn)
    return turns


def _group(
    turns: Sequence[Turn],
    known: Mapping[str, Incident],
    checks: Mapping[str, Check],
    now: datetime,
    find_cause: FindCause | None,
) -> list[Turn]:
    """Trace the cause of new incidents, and put them into groups: data first, then the widest."""
    lengths = {name: timedelta(microseconds=check.rule.length) for name, check in checks.items()}
    current = {name: one for name, one in known.items() if one.rule in lengths}
    grouped = []
    for turn in sorted(turns, key=_breadth):
        incident = turn.incident
        if incident.incident_id not in known:
            if find_cause is not None and incident.kind == "quality":
                incident = replace(incident, cause=find_cause(incident, now))
            group = find_group(incident, current.values(), lengths)
            incident = replace(incident, group=group)
        current[incident.incident_id] = incident
        grouped.append(replace(turn, incident=incident))
    return grouped


def _trace_again(
    turns: Sequence[Turn],
    known: Mapping[str, Incident],
    checks: Mapping[str, Check],
    now: datetime,
    find_cause: FindCause,
) -> list[Turn]:
    """Trace the causes of lasting incidents again where a day has become final.

    A cause that was found stays if the trace finds none any more.
    """
    changed = {turn.incident.incident_id: turn for turn in turns}
    for name, before in known.items():
        turn = changed.get(name)
        incident = before if turn is None else turn.incident
        check = checks.get(incident.rule)
        is_due = check is not None and check.has_ended_day and now - incident.opened <= TRACED_FOR
        if not is_due or not incident.is_active or incident.kind != "quality":
            continue
        cause = find_cause(incident, now)
        is_lost = bool((incident.cause or {}).get("sentence")) and not (cause or {}).get("sentence")
        if cause is not None and cause != incident.cause and not is_lost:
            traced = replace(incident, cause=cause, updated=now)
            changed[name] = Turn(traced) if turn is None else replace(turn, incident=traced)
    return list(changed.values())


def _breadth(turn: Turn) -> tuple[object, ...]:
    incident = turn.incident
    return incident.kind == "quality", len(incident.slice), incident.rule, incident.key


def _remind(
    current: Mapping[str, Incident],
    checks: Mapping[str, Check],
    turns: Sequence[Turn],
    now: datetime,
) -> list[Turn]:
    """Return the reminders that are due, and those that soon will be, so that they are one digest.

    An incident of which people are notified now needs none.
    """
    told = {turn.incident.incident_id for turn in turns if turn.event is not None}
    due = []
    for incident in current.values():
        check = checks.get(incident.rule)
        if check is None or incident.incident_id in told or check.is_silent(now):
            continue
        moment = _find_reminder(incident, check)
        if moment is not None:
            due.append((moment, timedelta(hours=check.rule.remind) / 2, incident))
    if not any(moment <= now for moment, _, _ in due):
        return []
    reminded = sorted(
        (incident for moment, slack, incident in due if moment - slack <= now),
        key=lambda one: (one.opened, one.incident_id),
    )
    return [Turn(one, Change(now, "reminded", ACTOR), "reminded") for one in reminded]


def settle(
    project: str,
    turns: Sequence[Turn],
    checks: Mapping[str, Check],
    now: datetime,
    *,
    sent: datetime | None = None,
) -> Conclusion:
    """Return what turns of incidents change, with the notices that tell of them.

    One notice tells each channel of all that happened to a group, and one of all reminders.
    """
    at = now if sent is None else sent
    current = {turn.incident.incident_id: turn.incident for turn in turns}
    parts: dict[tuple[str, str], list[tuple[Event, str]]] = {}
    for turn in turns:
        incident, check = turn.incident, checks.get(turn.incident.rule)
        if turn.event is None or check is None or check.is_silent(now):
            continue
        is_digest = turn.change is not None and turn.change.action == "reminded"
        for channel in check.channels:
            to = ("" if is_digest else incident.group, channel)
            parts.setdefault(to, []).append((turn.event, incident.incident_id))
    together: dict[tuple[str, tuple[tuple[Event, str], ...]], list[str]] = {}
    for (group, channel), told in parts.items():
        together.setdefault((group, tuple(told)), []).append(channel)
    notices: list[tuple[Notice, tuple[str, ...]]] = []
    for (group, said), channels in together.items():
        shown = [(event, current[name]) for event, name in said]
        notice = make_notice(project, at, group, sorted(shown, key=_rank), moment=now)
        for event, incident in notice.parts:
            name = incident.incident_id
            more = tuple(Notified(at, event, channel, notice.notice_id) for channel in channels)
            current[name] = replace(current[name], notified=(*current[name].notified, *more))
        notices.append((notice, tuple(channels)))
    # As they are after all notifications were added.
    written = [
        (replace(one, parts=tuple((event, current[it.incident_id]) for event, it in one.parts)), to)
        for one, to in notices
    ]
    events = {(event, it.incident_id): it for one, _ in written for event, it in one.parts}
    return Conclusion(
        incidents=tuple(current.values()),
        changes=tuple(
            (turn.incident.incident_id, turn.change) for turn in turns if turn.change is not None
        ),
        notices=tuple(written),
        events=tuple((event, incident) for (event, _), incident in events.items()),
    )


def _rank(part: tuple[Event, Incident]) -> tuple[object, ...]:
    """Order parts of a notice by importance."""
    event, incident = part
    return (
        -SEVERITIES.index(incident.severity),
        EVENTS.index(event),
        incident.kind == "quality",
        len(incident.slice),
        incident.rule,
        incident.key,
    )
