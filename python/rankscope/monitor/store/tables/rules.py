"""Alert rules, their alerts, and the notifications of both.

A rule's state, its progress, the alert on a change and its notifications are written in one
transaction. The store does not read the JSON in them.
"""

from __future__ import annotations

from sqlalchemy import delete, func, insert, select, update

from rankscope.monitor.store.records import RuleRow
from rankscope.monitor.store.tables.keys import insert_audit
from rankscope.monitor.store.tables.outbox import insert_notifications
from rankscope.monitor.store.tables.schema import alerts, contexts, rankings, rules
from rankscope.monitor.store.tables.statements import in_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from rankscope.monitor.store.keys import AuditEntry
    from rankscope.monitor.store.records import AlertRow
    from rankscope.monitor.store.tables.transaction import Transaction

COLUMNS = tuple(name for name in rules.columns.keys() if name != "project_id")  # noqa: SIM118 - not a dict


def list_rules(connection: Connection, project: str) -> list[RuleRow]:
    """List the rules of a project, by name."""
    return _select_rules(connection, in_project(rules.c.project_id, project))


def find_rule(connection: Connection, project: str, name: str) -> RuleRow | None:
    """Find a rule by its name."""
    wanted = in_project(rules.c.project_id, project) & (rules.c.name == name)
    return next(iter(_select_rules(connection, wanted)), None)


def _select_rules(connection: Connection, wanted: ColumnElement[bool]) -> list[RuleRow]:
    asked = select(*(rules.c[name] for name in COLUMNS)).where(wanted).order_by(rules.c.name)
    return [RuleRow(**row) for row in connection.execute(asked).mappings()]


def save_rule(
    transaction: Transaction,
    project: str,
    row: RuleRow,
    *,
    alert: AlertRow | None = None,
    audit: AuditEntry | None = None,
) -> bool:
    """Store a rule, unless somebody else has changed it in the meantime.

    Args:
        transaction: The transaction.
        project: The name of the project.
        row: The rule; its revision is one more than that of the rule it was made from.
        alert: The change of its state, if it changed.
        audit: Who changed it, if somebody did.

    Returns:
        Whether it was stored; where it was not, nothing was changed.
    """
    project_id = transaction.project(project)
    connection = transaction.connection
    values = {name: getattr(row, name) for name in COLUMNS}
    here = (rules.c.project_id == project_id) & (rules.c.name == row.name)
    if row.revision > 1:
        unchanged = here & (rules.c.revision == row.revision - 1)
        if connection.execute(update(rules).where(unchanged).values(values)).rowcount == 0:
            return False
    else:
        if connection.execute(select(rules.c.revision).where(here)).one_or_none() is not None:
            return False
        connection.execute(insert(rules), {"project_id": project_id, **values})
    if alert is not None:
        stored = {"project_id": project_id, "alert_id": alert.alert_id, "body": alert.body}
        connection.execute(insert(alerts), stored)
        insert_notifications(connection, project_id, alert)
    if audit is not None:
        insert_audit(connection, project_id, audit)
    return True


def remove_rule(transaction: Transaction, project: str, name: str, audit: AuditEntry) -> bool:
    """Remove a rule, and return whether there was one; its alerts are kept."""
    project_id = transaction.project(project)
    here = (rules.c.project_id == project_id) & (rules.c.name == name)
    if transaction.connection.execute(delete(rules).where(here)).rowcount == 0:
        return False
    insert_audit(transaction.connection, project_id, audit)
    return True


def list_alerts(connection: Connection, project: str, limit: int) -> list[str]:
    """List the last changes of states as JSON, newest first."""
    wanted = select(alerts.c.body).where(in_project(alerts.c.project_id, project))
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
    """Count rankings in production by their times, and by when they were stored.

    Args:
        connection: A connection.
        project: The name of the project.
        model: The model; `None` means any.
        since: The earliest time, in microseconds since 1970.
        until: The first time that does not count.
        after: The number of an event; only later events count.
        upto: The number of the last event that counts.
    """
    wanted = (
        select(func.count())
        .select_from(rankings)
        .join(contexts, contexts.c.context_id == rankings.c.context_id)
        .where(
            # With + 0, only new rankings are read, not all of the time.
            in_project(rankings.c.project_id + 0, project),
            rankings.c.seq > after,
            rankings.c.seq <= upto,
            rankings.c.time >= since,
            rankings.c.time < until,
            contexts.c.environment == "production",
        )
    )
    if model is not None:
        wanted = wanted.where(contexts.c.model == model)
    return int(connection.execute(wanted).scalar_one())
