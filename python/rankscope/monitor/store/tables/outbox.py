"""The outbox: notifications that wait for delivery, and where they are sent."""

from __future__ import annotations

import secrets

from sqlalchemy import case, delete, func, insert, select, update

from rankscope.monitor.store.records import LOG, WEBHOOK, AlertRow, OutboxRow, Webhook
from rankscope.monitor.store.tables.keys import insert_audit
from rankscope.monitor.store.tables.schema import outbox, projects, webhooks
from rankscope.monitor.store.tables.statements import in_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlalchemy import Connection, Select

    from rankscope.monitor.store.keys import AuditEntry
    from rankscope.monitor.store.tables.transaction import Transaction

CHANGING = ("status", "attempts", "due", "finished", "problem")


def insert_notifications(connection: Connection, project_id: int, alert: AlertRow) -> None:
    """Add a notification for each channel of an alert; for a webhook only where there is one."""
    for channel in sorted(alert.channels):
        here = (webhooks.c.project_id == project_id) & webhooks.c.disabled.is_(None)
        if channel == WEBHOOK and not connection.execute(select(webhooks).where(here)).all():
            continue
        row = {
            "project_id": project_id,
            "notification_id": alert.alert_id,
            "channel": channel,
            "body": alert.body,
            "created": alert.time,
            "status": "waiting",
            "attempts": 0,
            "due": alert.time,
            "finished": None,
            "problem": "",
        }
        connection.execute(insert(outbox), row)


def list_notifications(connection: Connection, project: str, limit: int) -> list[OutboxRow]:
    """List the last notifications of a project, newest first."""
    wanted = _select_rows().where(in_project(outbox.c.project_id, project))
    return _read_rows(connection, wanted.order_by(outbox.c.number.desc()).limit(limit))


def list_due(connection: Connection, now: int, limit: int) -> list[OutboxRow]:
    """List the notifications whose next attempt is due: those for the log first, then by time."""
    wanted = _select_rows().where(outbox.c.status == "waiting", outbox.c.due <= now)
    is_slow = case((outbox.c.channel == LOG, 0), else_=1)
    ordered = wanted.order_by(is_slow, outbox.c.due, outbox.c.number)
    return _read_rows(connection, ordered.limit(limit))


def _select_rows() -> Select[Any]:
    columns = (column for column in outbox.columns if column.name != "project_id")
    of_project = projects.c.project_id == outbox.c.project_id
    wanted = select(projects.c.name.label("project"), *columns)
    return wanted.select_from(outbox).join(projects, of_project)


def _read_rows(connection: Connection, wanted: Select[Any]) -> list[OutboxRow]:
    return [OutboxRow(**row) for row in connection.execute(wanted).mappings()]


def count_notifications(connection: Connection, project: str) -> dict[str, int]:
    """Count the notifications of a project by status."""
    wanted = (
        select(outbox.c.status, func.count())
        .where(in_project(outbox.c.project_id, project))
        .group_by(outbox.c.status)
        .order_by(outbox.c.status)
    )
    return dict(map(tuple, connection.execute(wanted)))


def update_notification(
    transaction: Transaction, row: OutboxRow, summary: tuple[str, str] | None
) -> int:
    """Store the result of an attempt to deliver a notification.

    Args:
        transaction: The transaction.
        row: The notification after the attempt.
        summary: After a delivery, the id and the JSON of a notification which reports that others
            were given up before.

    Returns:
        How many notifications that were given up are now reported.
    """
    project_id = transaction.project(row.project)
    connection = transaction.connection
    changed = {name: getattr(row, name) for name in CHANGING}
    connection.execute(update(outbox).where(outbox.c.number == row.number).values(changed))
    if summary is None:
        return 0
    given_up = (
        (outbox.c.project_id == project_id)
        & (outbox.c.channel == row.channel)
        & (outbox.c.status == "dead")
    )
    count = connection.execute(update(outbox).where(given_up).values(status="summed")).rowcount
    if count:
        name, body = summary
        now = row.created if row.finished is None else row.finished
        insert_notifications(connection, project_id, AlertRow(name, now, body, (row.channel,)))
    return count


def count_dead(connection: Connection, project: str, channel: str) -> int:
    """Count the notifications that were given up and not reported yet."""
    wanted = select(func.count()).where(
        in_project(outbox.c.project_id, project),
        outbox.c.channel == channel,
        outbox.c.status == "dead",
    )
    return int(connection.execute(wanted).scalar_one())


def find_webhook(connection: Connection, project: str) -> Webhook | None:
    """Find the webhook of a project; the database has only the id of its secret."""
    wanted = select(webhooks).where(in_project(webhooks.c.project_id, project))
    row = connection.execute(wanted).one_or_none()
    if row is None:
        return None
    return Webhook(row.url, None, row.allows_http, row.created, row.disabled, row.secret_id)


def list_secret_ids(connection: Connection) -> list[str]:
    """List the ids of the secrets that webhooks use."""
    return list(connection.execute(select(webhooks.c.secret_id)).scalars())


def set_webhook(
    transaction: Transaction, project: str, webhook: Webhook, audit: AuditEntry
) -> None:
    """Set or replace the webhook of a project.

    Raises:
        FileError: The secret cannot be stored.
    """
    if webhook.secret is None:
        raise ValueError("a webhook is set with its secret")
    project_id = transaction.project(project)
    here = webhooks.c.project_id == project_id
    transaction.connection.execute(delete(webhooks).where(here))
    secret_id = secrets.token_hex(8)
    transaction.secrets[secret_id] = webhook.secret
    transaction.changes_webhooks = True
    row = {
        "project_id": project_id,
        "url": webhook.url,
        "secret_id": secret_id,
        "allows_http": webhook.allows_http,
        "created": webhook.created,
        "disabled": webhook.disabled,
    }
    transaction.connection.execute(insert(webhooks), row)
    insert_audit(transaction.connection, project_id, audit)


def remove_webhook(transaction: Transaction, project: str, audit: AuditEntry) -> bool:
    """Remove the webhook of a project, and return whether there was one."""
    project_id = transaction.project(project)
    here = webhooks.c.project_id == project_id
    if transaction.connection.execute(delete(webhooks).where(here)).rowcount == 0:
        return False
    transaction.changes_webhooks = True
    _give_up(transaction, project_id, audit, "the webhook was removed")
    return True


def disable_webhook(transaction: Transaction, project: str, url: str, audit: AuditEntry) -> bool:
    """Disable a webhook whose receiver is gone, unless another one was set in the meantime."""
    project_id = transaction.project(project)
    here = (webhooks.c.project_id == project_id) & (webhooks.c.url == url)
    here &= webhooks.c.disabled.is_(None)
    changed = update(webhooks).where(here).values(disabled=audit.time)
    if transaction.connection.execute(changed).rowcount == 0:
        return False
    _give_up(transaction, project_id, audit, "the webhook is gone")
    return True


def _give_up(transaction: Transaction, project_id: int, audit: AuditEntry, problem: str) -> None:
    """Mark the queued webhook notifications of a project as dead, and record why."""
    here = (
        (outbox.c.project_id == project_id)
        & (outbox.c.channel == WEBHOOK)
        & (outbox.c.status == "waiting")
    )
    values = {"status": "dead", "finished": audit.time, "problem": problem}
    transaction.connection.execute(update(outbox).where(here).values(values))
    insert_audit(transaction.connection, project_id, audit)
