"""Changes of rules, each with an entry in the audit log."""

from __future__ import annotations

from rankscope.errors import FileError, UsageError
from rankscope.monitor.alerts.advance import address, name_basis
from rankscope.monitor.alerts.detect.progress import RuleProgress, begin
from rankscope.monitor.alerts.detect.state import RuleState, RuleVerdict, read_state, read_word
from rankscope.monitor.alerts.notify.alert import Alert, announce
from rankscope.monitor.alerts.rule import Rule, check_rule
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import RuleRow
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.store.records import AlertRow, Delivery
    from rankscope.monitor.store.store import Store, StoreReader

TRIES = 5
MOST_RULES = 1000
WAITS = "no period is final yet"
CHANGED = RuleVerdict("INSUFFICIENT", f"the rule was changed; {WAITS}")


def list_rules(store: StoreReader, project: str) -> tuple[Rule, ...]:
    """List the rules of a project, by name."""
    return tuple(Rule.from_json(row.rule) for row in store.list_rules(project))


def list_states(store: StoreReader, project: str) -> tuple[RuleState, ...]:
    """List the states of the rules of a project, by name."""
    return tuple(map(read_state, store.list_rules(project)))


def list_alerts(store: StoreReader, project: str, limit: int = 100) -> tuple[Alert, ...]:
    """List the last changes of states, the newest first."""
    return tuple(map(Alert.from_json, store.list_alerts(project, limit)))


@record(frozen=True, slots=True, kw_only=True)
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


def list_notifications(
    store: StoreReader, project: str, limit: int = 100
) -> tuple[Notification, ...]:
    """List the last notifications and whether they were delivered, the newest first."""
    return tuple(
        Notification(
            notification_id=row.notification_id,
            channel=row.channel,
            body=row.body,
            created=to_datetime(row.created),
            status=row.status,
            attempts=row.attempts,
            due=to_datetime(row.due),
            finished=None if row.finished is None else to_datetime(row.finished),
            problem=row.problem,
        )
        for row in store.list_notifications(project, limit)
    )


def set_rule(
    store: Store, project: str, configuration: Configuration, rule: Rule, *, now: int, actor: str
) -> None:
    """Create a rule, or change the rule with its name.

    A change of what is measured voids the evidence that was collected: the streams start anew with
    the newest period, or with that of `since`. The audit says so.

    Args:
        store: The store that holds the rules.
        project: The name of the project.
        configuration: The configuration of the project.
        rule: The rule.
        now: The current time, in microseconds since 1970 in UTC.
        actor: The name for the audit log.

    Raises:
        UsageError: What it asks for is not measured, or there are too many rules.
        FileError: It is not stored, or not surely.
    """
    checked = check_rule(rule, configuration)
    basis = name_basis(checked, configuration)
    seq = store.last_seq
    count = len(store.list_rules(project))

    def change(row: RuleRow | None) -> tuple[RuleRow, AlertRow | None, str]:
        if row is None:
            if count >= MOST_RULES:
                raise UsageError(
                    f"a project can have at most {MOST_RULES} rules, found {count}",
                    hint="remove rules that are no longer needed",
                    code="too_many_rules",
                )
            return _make_row(checked, begin(checked, basis, now, seq), now), None, "rule.create"
        if RuleProgress.from_json(row.progress).basis == basis:
            return replace(row, rule=checked.to_json()), None, "rule.change"
        anew = begin(checked, basis, now, seq).to_json()
        changed = replace(row, rule=checked.to_json(), progress=anew)
        told = _turn(changed, project, checked, CHANGED, now)
        return *told, "rule.change_and_restart"

    _write(store, project, checked.name, change, now=now, actor=actor)


def remove_rule(store: Store, project: str, name: str, *, now: int, actor: str) -> None:
    """Remove a rule; its past alerts stay.

    Raises:
        UsageError: There is none.
        FileError: That is not stored, or not surely.
    """
    audit = AuditEntry(now, actor, "rule.remove", name)
    if store.find_rule(project, name) is None or not store.remove_rule(project, name, audit):
        raise _unknown(name)


def silence_rule(
    store: Store, project: str, name: str, until: int | None, *, now: int, actor: str
) -> None:
    """Send no notifications of a rule until a time; it is still checked.

    Args:
        store: The store that holds the rules.
        project: The name of the project.
        name: The rule.
        until: Until when, in microseconds since 1970 in UTC; `None` to tell again.
        now: The time.
        actor: The name for the audit log.

    Raises:
        UsageError: There is no such rule.
        FileError: That is not stored, or not surely.
    """

    def change(row: RuleRow | None) -> tuple[RuleRow, AlertRow | None, str]:
        return replace(_known(row, name), silenced_until=until), None, "rule.silence"

    said = "" if until is None else f" until {format_time(until)}"
    _write(store, project, name, change, now=now, actor=actor, more=said or " no more")


def resolve_rule(store: Store, project: str, name: str, *, now: int, actor: str) -> None:
    """Resolve the incident of a rule and discard its evidence.

    What its streams are held against stays.

    Args:
        store: The store that holds the rules.
        project: The name of the project.
        name: The rule.
        now: The current time, in microseconds since 1970 in UTC.
        actor: The name for the audit log.

    Raises:
        UsageError: There is no such rule.
        FileError: That is not stored, or not surely.
    """

    def change(row: RuleRow | None) -> tuple[RuleRow, AlertRow | None, str]:
        known = _known(row, name)
        restarted = RuleProgress.from_json(known.progress).restart().to_json()
        changed = replace(known, progress=restarted)
        if known.state != "ALERT":
            return changed, None, "rule.resolve"
        rule = Rule.from_json(known.rule)
        told = _turn(changed, project, rule, RuleVerdict("OK", "marked as resolved"), now)
        return *told, "rule.resolve"

    _write(store, project, name, change, now=now, actor=actor)


def _turn(
    row: RuleRow, project: str, rule: Rule, verdict: RuleVerdict, now: int
) -> tuple[RuleRow, AlertRow | None]:
    """Change the state of a rule, and announce it if it differs."""
    turned = replace(row, state=verdict.state, reason=verdict.reason)
    if turned.state == row.state:
        return turned, None
    turned = replace(turned, since=now, evaluated=now)
    alert = announce(
        project,
        rule,
        row.revision + 1,
        time=now,
        before=read_word(row.state),
        after=verdict.state,
        reason=verdict.reason,
        streams=(),
    )
    return turned, address(alert, rule, row)


def _write(
    store: Store,
    project: str,
    name: str,
    change: Callable[[RuleRow | None], tuple[RuleRow, AlertRow | None, str]],
    *,
    now: int,
    actor: str,
    more: str = "",
) -> None:
    """Change the current version of a rule, again if it changes in between."""
    for _ in range(TRIES):
        known = store.find_rule(project, name)
        changed, alert, action = change(known)
        row = replace(changed, revision=1 if known is None else known.revision + 1)
        audit = AuditEntry(now, actor, action, name + more)
        if store.save_rule(project, row, alert=alert, audit=audit):
            return
    raise FileError(
        "the rule was changed by others at the same time, again and again",
        hint="try again",
        code="store_busy",
    )


def _make_row(rule: Rule, progress: RuleProgress, now: int) -> RuleRow:
    return RuleRow(
        name=rule.name,
        rule=rule.to_json(),
        progress=progress.to_json(),
        state="INSUFFICIENT",
        reason=WAITS,
        since=now,
        evaluated=now,
        silenced_until=None,
        revision=1,
    )


def _known(row: RuleRow | None, name: str) -> RuleRow:
    if row is None:
        raise _unknown(name)
    return row


def _unknown(name: str) -> UsageError:
    return UsageError(
        f"there is no rule {name[:100]!a}",
        hint="list the rules to see their names",
        code="no_rule",
    )
