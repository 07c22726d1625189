"""Changes of rules, each with an entry in the audit log."""

from __future__ import annotations

from functools import partial

from rankscope.errors import FileError, UsageError
from rankscope.monitor.alerts.advance import address, name_basis
from rankscope.monitor.alerts.detect.progress import RuleProgress, begin
from rankscope.monitor.alerts.detect.state import RuleState, RuleVerdict, read_state, read_word
from rankscope.monitor.alerts.notify.alert import Alert, announce
from rankscope.monitor.alerts.rule import Rule, check_rule
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.store.keys import AuditEntry
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.store.store import Store
    from rankscope.monitor.store.tables.outbox import Status
    from rankscope.monitor.store.tables.rules import AlertRow, RuleRow

TRIES = 5
MOST_RULES = 1000
WAITS = "no period is final yet"
CHANGED = RuleVerdict("INSUFFICIENT", f"the rule was changed; {WAITS}")


def list_rules(store: Store, project: str) -> tuple[Rule, ...]:
    """List the rules of a project, by name."""
    return tuple(Rule.from_json(row.rule) for row in _read_rows(store, project))


def list_states(store: Store, project: str) -> tuple[RuleState, ...]:
    """List the states of the rules of a project, by name."""
    return tuple(map(read_state, _read_rows(store, project)))


def list_alerts(store: Store, project: str, limit: int = 100) -> tuple[Alert, ...]:
    """List the last changes of states, the newest first."""
    from rankscope.monitor.store.tables import rules as rule_rows  # noqa: PLC0415 - loads SQLAlchemy

    texts = store.query(partial(rule_rows.list_alerts, project=project, limit=limit))
    return tuple(map(Alert.from_json, texts))


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
    status: Status
    attempts: int
    due: datetime
    finished: datetime | None
    problem: str


def list_notifications(store: Store, project: str, limit: int = 100) -> tuple[Notification, ...]:
    """List the last notifications and whether they were delivered, the newest first."""
    from rankscope.monitor.store.tables import outbox as outbox_rows  # noqa: PLC0415 - loads SQLAlchemy

    stored = store.query(partial(outbox_rows.list_letters, project=project, limit=limit))
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
        for row in stored
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
    count = len(_read_rows(store, project))

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
    from rankscope.monitor.store.tables import rules as rule_rows  # noqa: PLC0415 - loads SQLAlchemy

    audit = AuditEntry(now, actor, "rule.remove", name)
    gone = partial(rule_rows.remove_rule, project=project, name=name, audit=audit)
    if _find_row(store, project, name) is None or not store.transact(gone).result():
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
        told = _turn(changed, project, rule, RuleVerdict("OK", "resolved by hand"), now)
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
    from rankscope.monitor.store.tables import rules as rule_rows  # noqa: PLC0415 - loads SQLAlchemy

    for _ in range(TRIES):
        known = _find_row(store, project, name)
        changed, alert, action = change(known)
        row = replace(changed, revision=1 if known is None else known.revision + 1)
        audit = AuditEntry(now, actor, action, name + more)
        saved = partial(rule_rows.save_rule, project=project, row=row, alert=alert, audit=audit)
        if store.transact(saved).result():
            return
    raise FileError(
        "the rule was changed by others at the same time, again and again",
        hint="try again",
        code="store_busy",
    )


def _read_rows(store: Store, project: str) -> list[RuleRow]:
    from rankscope.monitor.store.tables import rules as rule_rows  # noqa: PLC0415 - loads SQLAlchemy

    return store.query(partial(rule_rows.list_rules, project=project))


def _find_row(store: Store, project: str, name: str) -> RuleRow | None:
    from rankscope.monitor.store.tables import rules as rule_rows  # noqa: PLC0415 - loads SQLAlchemy

    return store.query(partial(rule_rows.find_rule, project=project, name=name))


def _make_row(rule: Rule, progress: RuleProgress, now: int) -> RuleRow:
    from rankscope.monitor.store.tables.rules import RuleRow  # noqa: PLC0415 - loads SQLAlchemy

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
