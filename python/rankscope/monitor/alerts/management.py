"""What people do with rules, each time with an entry in the audit."""

from __future__ import annotations

from rankscope.errors import FileError, UsageError
from rankscope.monitor.alerts.advance import address, name_basis
from rankscope.monitor.alerts.detect.progress import Progress, begin
from rankscope.monitor.alerts.detect.state import RuleState, Verdict, read_state, read_word
from rankscope.monitor.alerts.notify.alert import Alert, announce
from rankscope.monitor.alerts.rule import Rule, check_rule
from rankscope.monitor.events.times import format_time
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import RuleRow
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.store.records import AlertRow, OutboxRow
    from rankscope.monitor.store.store import Store

TRIES = 5
MOST_RULES = 1000
WAITS = "no period is final yet"
CHANGED = Verdict("INSUFFICIENT", f"the rule was changed; {WAITS}")


def list_rules(store: Store, project: str) -> tuple[Rule, ...]:
    """List the rules of a project, by name."""
    return tuple(Rule.from_json(row.rule) for row in store.list_rules(project))


def list_states(store: Store, project: str) -> tuple[RuleState, ...]:
    """List how the rules of a project stand, by name."""
    return tuple(map(read_state, store.list_rules(project)))


def list_alerts(store: Store, project: str, limit: int = 100) -> tuple[Alert, ...]:
    """List the last changes of states, the newest first."""
    return tuple(map(Alert.from_json, store.list_alerts(project, limit)))


def list_notifications(store: Store, project: str, limit: int = 100) -> tuple[OutboxRow, ...]:
    """List the last notifications and what became of them, the newest first."""
    return tuple(store.list_notifications(project, limit))


def set_rule(
    store: Store, project: str, configuration: Configuration, rule: Rule, *, now: int, actor: str
) -> None:
    """Make a rule, or change the one of its name.

    A change of what is measured voids the evidence that was collected: the streams start anew with
    the newest period, or with that of `since`. The audit says so.

    Args:
        store: Where rules are.
        project: Whose it is.
        configuration: How the project is measured.
        rule: The rule.
        now: The time, in microseconds since 1970 in UTC.
        actor: Who does it.

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
                    f"expected at most {MOST_RULES} rules, found {count}",
                    hint="remove some first",
                    code="too_many_rules",
                )
            return _make_row(checked, begin(checked, basis, now, seq), now), None, "rule.create"
        if Progress.from_json(row.progress).basis == basis:
            return replace(row, rule=checked.to_json()), None, "rule.change"
        anew = begin(checked, basis, now, seq).to_json()
        changed = replace(row, rule=checked.to_json(), progress=anew)
        told = _turn(changed, project, checked, CHANGED, now)
        return *told, "rule.change_and_restart"

    _write(store, project, checked.name, change, now=now, actor=actor)


def remove_rule(store: Store, project: str, name: str, *, now: int, actor: str) -> None:
    """Remove a rule; the alerts that there were stay.

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
    """Tell nobody of a rule until a time; its state and its alerts go on.

    Args:
        store: Where rules are.
        project: Whose it is.
        name: The rule.
        until: Until when, in microseconds since 1970 in UTC; `None` to tell again.
        now: The time.
        actor: Who does it.

    Raises:
        UsageError: There is no such rule.
        FileError: That is not stored, or not surely.
    """

    def change(row: RuleRow | None) -> tuple[RuleRow, AlertRow | None, str]:
        return replace(_known(row, name), silenced_until=until), None, "rule.silence"

    said = "" if until is None else f" until {format_time(until)}"
    _write(store, project, name, change, now=now, actor=actor, more=said or " no more")


def resolve_rule(store: Store, project: str, name: str, *, now: int, actor: str) -> None:
    """Say that what a rule has found is dealt with: its evidence is forgotten, and its alert over.

    What its streams are held against stays.

    Args:
        store: Where rules are.
        project: Whose it is.
        name: The rule.
        now: The time, in microseconds since 1970 in UTC.
        actor: Who does it.

    Raises:
        UsageError: There is no such rule.
        FileError: That is not stored, or not surely.
    """

    def change(row: RuleRow | None) -> tuple[RuleRow, AlertRow | None, str]:
        known = _known(row, name)
        restarted = Progress.from_json(known.progress).restart().to_json()
        changed = replace(known, progress=restarted)
        if known.state != "ALERT":
            return changed, None, "rule.resolve"
        rule = Rule.from_json(known.rule)
        told = _turn(changed, project, rule, Verdict("OK", "marked as resolved"), now)
        return *told, "rule.resolve"

    _write(store, project, name, change, now=now, actor=actor)


def _turn(
    row: RuleRow, project: str, rule: Rule, verdict: Verdict, now: int
) -> tuple[RuleRow, AlertRow | None]:
    """Change the state of a rule, and tell of it if it is another."""
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
    """Change a rule as it stands; should it be looked at meanwhile, as it stands then."""
    for _ in range(TRIES):
        known = store.find_rule(project, name)
        changed, alert, action = change(known)
        row = replace(changed, revision=1 if known is None else known.revision + 1)
        audit = AuditEntry(now, actor, action, name + more)
        if store.save_rule(project, row, alert=alert, audit=audit):
            return
    raise FileError(
        "expected to change a rule, found it being changed all the time",
        hint="do it again",
        code="store_busy",
    )


def _make_row(rule: Rule, progress: Progress, now: int) -> RuleRow:
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
        f"expected the name of a rule, found {name[:100]!a}",
        hint="rules are known by their names; list them",
        code="no_rule",
    )
