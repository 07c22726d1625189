"""The outbox: notifications that wait for delivery, and where they are sent."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, delete, exists, func, insert, select, update

from rankscope._names import as_dict
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import (
    LOG,
    WEBHOOK,
    ChannelDeliveries,
    NoticeRow,
    OutboxRow,
    Webhook,
)
from rankscope.monitor.store.tables.keys import insert_audit
from rankscope.monitor.store.tables.schema import outbox, people, projects, webhooks
from rankscope.monitor.store.tables.statements import in_project, read_records
from rankscope.monitor.store.transaction import Transaction

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select


CHANGING = ("status", "attempts", "due", "finished", "problem")

PATIENCE = 2
"""After so many failures, later notifications don't wait for one any more."""


def insert_notifications(connection: Connection, project_id: int, notice: NoticeRow) -> None:
    """Add a notification for each channel of a notice; for a webhook only where there is one."""
    for channel in sorted(notice.channels):
        here = (webhooks.c.project_id == project_id) & webhooks.c.disabled.is_(None)
        if channel == WEBHOOK and not connection.execute(select(webhooks).where(here)).all():
            continue
        _insert(connection, project_id, notice, channel)


def _insert(connection: Connection, project_id: int, notice: NoticeRow, channel: str) -> None:
    row = {
        "project_id": project_id,
        "notification_id": notice.notice_id,
        "channel": channel,
        "body": notice.body,
        "created": notice.time,
        "status": "waiting",
        "attempts": 0,
        "due": notice.time,
        "finished": None,
        "problem": "",
    }
    connection.execute(insert(outbox), row)


def list_notifications(connection: Connection, project: str, limit: int) -> list[OutboxRow]:
    """List the last notifications of a project, newest first."""
    wanted = _select_rows().where(in_project(outbox.c.project_id, project))
    newest = wanted.order_by(outbox.c.number.desc()).limit(limit)
    return read_records(connection, OutboxRow, newest)


def list_due(connection: Connection, now: int, limit: int) -> list[OutboxRow]:
    """List the notifications whose next attempt is due, fairly among channels.

    Those for the log come first, then the oldest of each channel, the second oldest of each, and so
    on. A notification waits while an older one of its channel is to be tried again soon, so that
    the order is kept; it doesn't wait for one that has failed several times.
    """
    older = outbox.alias()
    waits_for_older = exists().where(
        older.c.project_id == outbox.c.project_id,
        older.c.channel == outbox.c.channel,
        older.c.status == "waiting",
        older.c.number < outbox.c.number,
        older.c.due > now,
        older.c.attempts.between(1, PATIENCE),
    )
    of_channel = (outbox.c.project_id, outbox.c.channel)
    place = func.row_number().over(partition_by=of_channel, order_by=outbox.c.number)
    due = (
        select(outbox.c.number.label("number"), place.label("place"))
        .where(outbox.c.status == "waiting", outbox.c.due <= now, ~waits_for_older)
        .subquery()
    )
    is_slow = case((outbox.c.channel == LOG, 0), else_=1)
    wanted = _select_rows().join(due, due.c.number == outbox.c.number)
    ordered = wanted.order_by(is_slow, due.c.place, outbox.c.number)
    return read_records(connection, OutboxRow, ordered.limit(limit))


def _select_rows() -> Select[Any]:
    columns = (column for column in outbox.columns if column.name != "project_id")
    of_project = projects.c.project_id == outbox.c.project_id
    wanted = select(projects.c.name.label("project"), *columns)
    return wanted.select_from(outbox).join(projects, of_project)


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
        insert_notifications(connection, project_id, NoticeRow(name, now, body, (row.channel,)))
    return count


def expand_notification(transaction: Transaction, row: OutboxRow, channels: Sequence[str]) -> None:
    """Replace a notification for the channels of the operator by one for each of them.

    Args:
        transaction: The transaction.
        row: The notification.
        channels: The names of the channels.
    """
    connection = transaction.connection
    here = (outbox.c.number == row.number) & (outbox.c.status == "waiting")
    if connection.execute(delete(outbox).where(here)).rowcount == 0:
        return
    project_id = transaction.project(row.project)
    notice = NoticeRow(row.notification_id, row.created, row.body, channels)
    for channel in channels:
        # A rule may name a channel besides.
        known = select(outbox.c.number).where(
            outbox.c.project_id == project_id,
            outbox.c.notification_id == row.notification_id,
            outbox.c.channel == channel,
        )
        if connection.execute(known).first() is None:
            _insert(connection, project_id, notice, channel)


def list_recipients(
    connection: Connection, project: str, notification_ids: Sequence[str]
) -> list[tuple[str, str, str, int | None]]:
    """List where notifications went: their id, the channel, the status, and when it was final."""
    columns = (outbox.c.notification_id, outbox.c.channel, outbox.c.status, outbox.c.finished)
    wanted = select(*columns).where(
        in_project(outbox.c.project_id, project),
        outbox.c.notification_id.in_(list(notification_ids)),
    )
    return [tuple(row) for row in connection.execute(wanted.order_by(outbox.c.number))]


def list_channel_deliveries(connection: Connection, project: str) -> list[ChannelDeliveries]:
    """List the channels of a project's notifications, and how their last deliveries went."""
    here = in_project(outbox.c.project_id, project)
    is_waiting = case((outbox.c.status == "waiting", 1), else_=0)
    delivered = case((outbox.c.status == "delivered", outbox.c.finished))
    has_failed = case((outbox.c.problem != "", outbox.c.number))
    wanted = (
        select(
            outbox.c.channel,
            func.max(delivered).label("delivered"),
            func.sum(is_waiting).label("waiting"),
            func.max(has_failed).label("failed"),
        )
        .where(here)
        .group_by(outbox.c.channel)
        .order_by(outbox.c.channel)
    )
    found = connection.execute(wanted).all()
    problems = select(outbox.c.number, outbox.c.problem).where(
        outbox.c.number.in_([row.failed for row in found if row.failed is not None])
    )
    known = dict(map(tuple, connection.execute(problems)))
    return [
        ChannelDeliveries(row.channel, row.delivered, known.get(row.failed, ""), row.waiting)
        for row in found
    ]


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
    """List the ids of the secrets that webhooks and people use."""
    used = select(webhooks.c.secret_id).union_all(select(people.c.totp).where(people.c.totp != ""))
    return list(connection.execute(used).scalars())


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
    transaction.changes_secrets = True
    row = as_dict(webhook) | {"project_id": project_id, "secret_id": secret_id}
    del row["secret"]
    transaction.connection.execute(insert(webhooks), row)
    insert_audit(transaction.connection, project_id, audit)


def remove_webhook(transaction: Transaction, project: str, audit: AuditEntry) -> bool:
    """Remove the webhook of a project, and return whether there was one."""
    project_id = transaction.project(project)
    here = webhooks.c.project_id == project_id
    if transaction.connection.execute(delete(webhooks).where(here)).rowcount == 0:
        return False
    transaction.changes_secrets = True
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
