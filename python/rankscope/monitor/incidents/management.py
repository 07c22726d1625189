"""Changes of rules, each with an entry in the audit log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, TypeAlias, cast

from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.incidents.conclusion import Conclusion
from rankscope.monitor.incidents.incident import (
    ACTIVE,
    LASTING,
    TRIES,
    Incident,
    busy,
    read_incident,
    write_conclusion,
)
from rankscope.monitor.incidents.response import end_incidents
from rankscope.monitor.rules.kinds import DEFAULTS, KINDS, Rule, find_kind, read_progress
from rankscope.monitor.rules.run import ACTOR, RESOLVED
from rankscope.monitor.rules.state import RuleState, State, join_first
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import OPERATOR, Delivery, RuleRow
from rankscope.monitor.store.store import Store, StoreReader

Change: TypeAlias = Callable[[RuleRow | None], tuple[RuleRow, str, str]]
"""Makes the next version of a rule, and says what is done to it, and why evidence is void."""


MOST_RULES = 1000
WAITS = "no period is final yet"
CHANGED = f"the rule was changed; {WAITS}"
RESTARTED = "what the rule measures was changed"
REMOVED = "the rule was removed"


def list_rules(store: StoreReader, project: str) -> tuple[Rule, ...]:
    """List the rules of a project, by name."""
    return tuple(Rule.from_json(row.rule) for row in store.list_rules(project))


def list_states(store: StoreReader, project: str) -> tuple[RuleState, ...]:
    """List the states of the rules of a project, by name."""
    rows = store.list_incidents(project, states=ACTIVE)
    return summarize_rules(store.list_rules(project), map(read_incident, rows))


def summarize_rules(
    rows: Iterable[RuleRow], incidents: Iterable[Incident]
) -> tuple[RuleState, ...]:
    """Return the states of rules, by name.

    A rule is in ALERT while it has incidents that are open, acknowledged or snoozed.
    """
    by_rule: dict[str, list[Incident]] = {}
    for incident in incidents:
        by_rule.setdefault(incident.rule, []).append(incident)
    ordered = sorted(rows, key=lambda row: row.name)
    return tuple(_summarize(_read_state(row), by_rule.get(row.name, [])) for row in ordered)


def _read_state(row: RuleRow) -> RuleState:
    progress = read_progress(row)
    return RuleState(
        rule=Rule.from_json(row.rule),
        state=cast("State", row.state),
        since=to_datetime(row.since),
        reason=row.reason,
        evaluated=to_datetime(row.evaluated),
        following=to_datetime(progress.following),
        silenced_until=None if row.silenced_until is None else to_datetime(row.silenced_until),
        **progress.describe(),
    )


def _summarize(state: RuleState, active: Sequence[Incident]) -> RuleState:
    """Return the state of a rule with incidents."""
    if not active:
        return replace(state, state="OK") if state.state == "ALERT" else state
    ordered = sorted(
        active, key=lambda incident: (len(incident.slice), incident.opened, incident.key)
    )
    reason = join_first([incident.reason for incident in ordered])
    since = min(incident.began for incident in active)
    return replace(state, state="ALERT", reason=reason, since=since)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A notification and whether it was delivered.

    Args:
        notification_id: Its ID, the same however often it is sent.
        channel: Where it goes: `log` or `webhook`.
        body: The JSON that is sent.
        created: When it was created, in UTC.
        status: `waiting`, `delivered`, `dead` if sending was given up, or `summed` if a later
            notification has reported that.
        attempts: How often sending was tried.
        due: When it is tried next, in UTC.
        finished: When it was delivered or given up, in UTC, or `None`.
        problem: What went wrong at the last attempt.
    """

    notification_id: str
    channel: str
    body: str
    created: datetime
    status: Delivery
    attempts: int
    due: datetime
    finished: datetime | None
    problem: str


NOTIFIED = tuple(field.name for field in fields(Notification))


def list_notifications(
    store: StoreReader, project: str, limit: int = 100
) -> tuple[Notification, ...]:
    """List the last notifications and whether they were delivered, the newest first.

    Those that wait to be shared out among the channels of the operator are left out: a service
    does that, and only if it has such channels.
    """
    found = []
    for row in store.list_notifications(project, limit):
        if row.channel != OPERATOR:
            said: dict[str, Any] = {name: getattr(row, name) for name in NOTIFIED}
            times = [name for name in ("created", "due", "finished") if said[name] is not None]
            found.append(Notification(**said | {name: to_datetime(said[name]) for name in times}))
    return tuple(found)


def set_rule(
    store: Store, project: str, configuration: Configuration, rule: Rule, *, now: int, actor: str
) -> None:
    """Create a rule, or change the rule with its name.

    A change of what is measured voids the evidence that was collected: the streams start anew with
    the newest period. The audit says so.
    """
    change = make_change(store, project, configuration, rule, now)
    _write(store, project, rule.name, change, now=now, actor=actor)


def make_change(
    store: StoreReader, project: str, configuration: Configuration, rule: Rule, now: int
) -> Change:
    """Return what makes a new rule, or a rule of this name, one like this."""
    kind, checked = KINDS[rule.kind], rule.check(configuration)
    seq = store.last_seq
    count = len(store.list_rules(project))

    def start() -> str:
        return kind.begin(checked, configuration, now, seq)

    def change(row: RuleRow | None) -> tuple[RuleRow, str, str]:
        if row is None:
            if count >= MOST_RULES:
                raise UsageError(
                    f"a project can have at most {MOST_RULES} rules, found {count}",
                    hint="remove rules that are no longer needed",
                    code="too_many_rules",
                )
            return make_row(checked, start(), now), "rule.create", ""
        is_same = find_kind(row) is kind
        if is_same and read_progress(row).basis == checked.find_basis(configuration):
            return replace(row, rule=checked.to_json()), "rule.change", ""
        changed = replace(row, rule=checked.to_json(), progress=start())
        turned = replace(changed, state="INSUFFICIENT", reason=CHANGED, since=now, evaluated=now)
        return turned, "rule.change_and_restart", RESTARTED

    return change


def find_default_rows(
    store: StoreReader, project: str, configuration: Configuration, now: int
) -> list[RuleRow]:
    """Return the rows of the default rules that a project lacks and nobody has removed."""
    known = {row.name for row in store.list_rules(project)}
    lacking = [rule for name, rule in DEFAULTS.items() if name not in known]
    if not lacking:
        return []
    changed = {
        entry.subject
        for entry in store.audit(project)
        if entry.action in {"rule.create", "rule.remove"}
    }
    seq = store.last_seq
    return [
        make_row(
            rule,
            KINDS[rule.kind].begin(rule, configuration, now, seq),
            now,
            "no hour has been checked yet",
        )
        for rule in lacking
        if rule.name not in changed
    ]


def add_default_rules(store: Store, project: str, configuration: Configuration, now: int) -> None:
    """Create the default rules that a project lacks and nobody has removed."""
    for row in find_default_rows(store, project, configuration, now):
        # If somebody else has created one meanwhile, it stays.
        store.save_rules(project, [row], audit=[AuditEntry(now, ACTOR, "rule.create", row.name)])


def make_row(rule: Rule, progress: str, now: int, reason: str = WAITS) -> RuleRow:
    """Return the row of a rule that has looked at nothing yet."""
    return RuleRow(
        name=rule.name,
        rule=rule.to_json(),
        progress=progress,
        state="INSUFFICIENT",
        reason=reason,
        since=now,
        evaluated=now,
        silenced_until=None,
        revision=1,
    )


def remove_rule(store: Store, project: str, name: str, *, now: int, actor: str) -> None:
    """Remove a rule; its incidents are resolved, and stay."""
    row = _known(store.find_rule(project, name), name)
    audit, effects = prepare_removal(store, project, row, now=now, actor=actor)
    is_removed = store.remove_rule(project, name, audit, **effects)
    _known(row if is_removed else None, name)


def prepare_removal(
    store: StoreReader, project: str, row: RuleRow, *, now: int, actor: str
) -> tuple[AuditEntry, dict[str, Any]]:
    """Return what is stored when a rule is removed: the audit, and what becomes of incidents."""
    ended = end_incidents(store, project, row, now=now, actor=actor, note=REMOVED)
    entry = AuditEntry(now, actor, "rule.remove", row.name, _write_row(row))
    return entry, write_conclusion(ended, now)


def silence_rule(
    store: Store, project: str, name: str, until: int | None, *, now: int, actor: str
) -> None:
    """Send no notifications of a rule until a time; it is still checked."""

    def change(row: RuleRow | None) -> tuple[RuleRow, str, str]:
        return replace(_known(row, name), silenced_until=until), "rule.silence", ""

    said = "" if until is None else f" until {format_time(until)}"
    _write(store, project, name, change, now=now, actor=actor, more=said or " no more")


def resolve_rule(store: Store, project: str, name: str, *, now: int, actor: str) -> None:
    """Resolve all incidents of a rule and discard its evidence.

    What its streams are held against stays.
    """

    def change(row: RuleRow | None) -> tuple[RuleRow, str, str]:
        known = _known(row, name)
        rows = store.list_incidents(project, states=LASTING, rule=name)
        keys = [read_incident(each).key for each in rows]
        changed = find_kind(known).restart(known, keys, now, is_all=True)
        return changed, "rule.resolve", RESOLVED

    _write(store, project, name, change, now=now, actor=actor)


def _write(
    store: Store,
    project: str,
    name: str,
    change: Change,
    *,
    now: int,
    actor: str,
    more: str = "",
) -> None:
    """Change the current version of a rule, again if it changes in between."""
    for _ in range(TRIES):
        known = store.find_rule(project, name)
        row, audit, effects = prepare_change(
            store, project, known, change, now=now, actor=actor, more=more
        )
        if not store.save_rules(project, [row], audit=[audit], **effects):
            return
    raise busy("the rule was")


def prepare_change(
    store: StoreReader,
    project: str,
    known: RuleRow | None,
    change: Change,
    *,
    now: int,
    actor: str,
    more: str = "",
) -> tuple[RuleRow, AuditEntry, dict[str, Any]]:
    """Return what is stored when a rule changes, with the audit and what becomes of incidents."""
    changed, action, note = change(known)
    row = replace(changed, revision=1 if known is None else known.revision + 1)
    ended = Conclusion()
    if note and known is not None:
        ended = end_incidents(store, project, known, now=now, actor=actor, note=note)
    entry = AuditEntry(now, actor, action, row.name + more, _write_row(known), _write_row(row))
    return row, entry, write_conclusion(ended, now)


def _write_row(row: RuleRow | None) -> str:
    """Write what people have said of a rule, for the audit log."""
    if row is None:
        return ""
    return json.dumps(json.loads(row.rule) | {"silenced_until": row.silenced_until})


def _known(row: RuleRow | None, name: str) -> RuleRow:
    if row is not None:
        return row
    raise UsageError(
        f"there is no rule {name[:100]!a}",
        hint="list the rules to see their names",
        code="no_rule",
    )
