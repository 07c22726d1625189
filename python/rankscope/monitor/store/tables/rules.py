"""Rules and their alerts in a store, which does not read what they say.

A state, what it was concluded from, the alert on its change and the notifications of it are written
in one transaction.
"""

from __future__ import annotations

from sqlalchemy import delete, func, insert, select, update

from rankscope.monitor.store.sqlite.reader import is_of
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.keys import write_audit
from rankscope.monitor.store.tables.outbox import insert_letters
from rankscope.monitor.store.tables.schema import alerts, rules
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from sqlalchemy import Connection, Row

    from rankscope.monitor.store.keys import AuditEntry
    from rankscope.monitor.store.tables.transaction import Transaction


@record(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """A rule, and how it stands.

    Args:
        name: What it is known by in its project.
        rule: What people said, as JSON.
        progress: What was concluded so far, as JSON.
        state: Its state.
        reason: Why.
        since: Since when, in microseconds since 1970 in UTC.
        evaluated: When it was looked at last.
        silenced_until: Until when nobody is told, or `None`.
        revision: How often it was changed, 1 for a rule that is new.
    """

    name: str
    rule: str
    progress: str
    state: str
    reason: str
    since: int
    evaluated: int
    silenced_until: int | None
    revision: int


@record(frozen=True, slots=True)
class AlertRow:
    """A change of a state.

    Args:
        alert_id: What it is known by everywhere.
        time: When it was concluded, in microseconds since 1970 in UTC.
        body: What there is to say, as JSON.
        channels: Who is to be told, of `log` and `webhook`.
    """

    alert_id: str
    time: int
    body: str
    channels: Collection[str]


def list_rules(connection: Connection, project: str) -> list[RuleRow]:
    """List the rules of a project, by name."""
    columns = [rules.c[name] for name in COLUMNS]
    wanted = select(*columns).where(is_of(rules.c.project_id, project)).order_by(rules.c.name)
    return [_row_of(row) for row in connection.execute(wanted)]


def find_rule(connection: Connection, project: str, name: str) -> RuleRow | None:
    """Find a rule."""
    columns = [rules.c[name] for name in COLUMNS]
    wanted = select(*columns).where(is_of(rules.c.project_id, project), rules.c.name == name)
    row = connection.execute(wanted).one_or_none()
    return None if row is None else _row_of(row)


def save_rule(
    transaction: Transaction,
    project: str,
    row: RuleRow,
    *,
    alert: AlertRow | None = None,
    audit: AuditEntry | None = None,
) -> bool:
    """Store a rule as it now stands, and what is to be told of that.

    Args:
        transaction: Where that is done.
        project: The name of the project.
        row: The rule; its revision is one more than what it was made from.
        alert: The change of its state.
        audit: Who changed it.

    Returns:
        Whether that was done; if somebody else has changed the rule since, nothing was.
    """
    project_id = transaction.project(project)
    connection = transaction.connection
    values = {name: getattr(row, name) for name in COLUMNS}
    here = (rules.c.project_id == project_id) & (rules.c.name == row.name)
    if row.revision > 1:
        known = here & (rules.c.revision == row.revision - 1)
        if connection.execute(update(rules).where(known).values(values)).rowcount == 0:
            return False
    else:
        if connection.execute(select(rules.c.revision).where(here)).one_or_none() is not None:
            return False
        connection.execute(insert(rules), {"project_id": project_id, **values})
    if alert is not None:
        told = {"project_id": project_id, "alert_id": alert.alert_id, "body": alert.body}
        connection.execute(insert(alerts), told)
        insert_letters(
            connection,
            project_id,
            alert.alert_id,
            alert.body,
            now=alert.time,
            channels=alert.channels,
        )
    if audit is not None:
        write_audit(connection, project_id, audit)
    return True


def remove_rule(transaction: Transaction, project: str, name: str, audit: AuditEntry) -> bool:
    """Remove a rule, and say whether there was one; its alerts stay."""
    project_id = transaction.project(project)
    here = (rules.c.project_id == project_id) & (rules.c.name == name)
    if transaction.connection.execute(delete(rules).where(here)).rowcount == 0:
        return False
    write_audit(transaction.connection, project_id, audit)
    return True


def list_alerts(connection: Connection, project: str, limit: int) -> list[str]:
    """List the last changes of states, the newest first."""
    wanted = select(alerts.c.body).where(is_of(alerts.c.project_id, project))
    return list(connection.execute(wanted.order_by(alerts.c.number.desc()).limit(limit)).scalars())


def count_late(
    connection: Connection,
    project: str,
    *,
    model: str | None,
    since: int,
    until: int,
    after: int,
    upto: int,
) -> int:
    """Count the rankings of a time in production that were stored between two numbers.

    Args:
        connection: A connection.
        project: The name of the project.
        model: The model; any if left out.
        since: From which time on, in microseconds since 1970.
        until: Up to before which time.
        after: The number after which.
        upto: The last number.
    """
    shown, common = schema.rankings, schema.contexts
    # Not the column itself, so that only what is new is read, and not all of the time.
    wanted = (
        select(func.count())
        .select_from(shown)
        .join(common, common.c.context_id == shown.c.context_id)
        .where(
            is_of(shown.c.project_id + 0, project),
            shown.c.seq > after,
            shown.c.seq <= upto,
            shown.c.time >= since,
            shown.c.time < until,
            common.c.environment == "production",
        )
    )
    if model is not None:
        wanted = wanted.where(common.c.model == model)
    return int(connection.execute(wanted).scalar_one())


def _row_of(row: Row[Any]) -> RuleRow:
    return RuleRow(**dict(zip(COLUMNS, row, strict=True)))


COLUMNS = (
    "name",
    "rule",
    "progress",
    "state",
    "reason",
    "since",
    "evaluated",
    "silenced_until",
    "revision",
)
