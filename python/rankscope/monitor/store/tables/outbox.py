"""What is still to be told, and to whom, in a store."""

from __future__ import annotations

import secrets

from sqlalchemy import case, delete, func, insert, select, update

from rankscope.monitor.store.sqlite.reader import is_of
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.keys import write_audit
from rankscope.monitor.store.tables.schema import outbox, webhooks
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, Literal, TypeAlias

    from sqlalchemy import Connection

    from rankscope.monitor.store.keys import AuditEntry, Secret
    from rankscope.monitor.store.tables.transaction import Transaction

    Status: TypeAlias = Literal["waiting", "delivered", "dead", "summed"]

LOG, WEBHOOK = "log", "webhook"


@record(frozen=True, slots=True, kw_only=True)
class Letter:
    """A notification that is to be delivered, or was, or cannot be.

    Args:
        number: Its place among all.
        project: Whose it is.
        notification_id: What it is known by, however often it is sent.
        channel: By which way: `log` or `webhook`.
        body: What is told, as JSON.
        created: When it was written, in microseconds since 1970 in UTC.
        status: `waiting`, `delivered`, `dead` if it was given up, or `summed` if it was given up
            and a later one has said so.
        attempts: How often it was tried.
        due: When it is to be tried next.
        finished: When it was delivered or given up.
        problem: What was wrong the last time.
    """

    number: int
    project: str
    notification_id: str
    channel: str
    body: str
    created: int
    status: Status
    attempts: int
    due: int
    finished: int | None
    problem: str


@record(frozen=True, slots=True)
class Webhook:
    """Where the notifications of a project go.

    Args:
        url: The address.
        secret: The secret that signs them, as `whsec_` and base64; `None` where it is missing, as
            after a restore: then the webhook has to be set again.
        allows_http: Whether it may be without TLS.
        created: When it was set, in microseconds since 1970 in UTC.
        disabled: Since when it said that it is gone, or `None`.
        secret_id: The id by which `find_secret` of the store finds the secret.
    """

    url: str
    secret: Secret | None
    allows_http: bool
    created: int
    disabled: int | None = None
    secret_id: str = ""


def insert_letters(
    connection: Connection,
    project_id: int,
    notification_id: str,
    body: str,
    *,
    now: int,
    channels: Collection[str],
) -> None:
    """Let a notification wait for each channel; a webhook only where there is one."""
    for channel in sorted(channels):
        here = (webhooks.c.project_id == project_id) & webhooks.c.disabled.is_(None)
        if channel == WEBHOOK and not connection.execute(select(webhooks).where(here)).all():
            continue
        row = {
            "project_id": project_id,
            "notification_id": notification_id,
            "channel": channel,
            "body": body,
            "created": now,
            "status": "waiting",
            "attempts": 0,
            "due": now,
            "finished": None,
            "problem": "",
        }
        connection.execute(insert(outbox), row)


def list_letters(connection: Connection, project: str, limit: int) -> list[Letter]:
    """List the last notifications of a project, the newest first."""
    wanted = _select_letters().where(is_of(outbox.c.project_id, project))
    rows = connection.execute(wanted.order_by(outbox.c.number.desc()).limit(limit))
    return [Letter(**dict(zip(LETTER, row, strict=True))) for row in rows]


def list_due(connection: Connection, now: int, limit: int) -> list[Letter]:
    """List notifications that are to be tried now, those of the log first, then in their order."""
    wanted = _select_letters().where(outbox.c.status == "waiting", outbox.c.due <= now)
    is_slow = case((outbox.c.channel == LOG, 0), else_=1)
    rows = connection.execute(wanted.order_by(is_slow, outbox.c.due, outbox.c.number).limit(limit))
    return [Letter(**dict(zip(LETTER, row, strict=True))) for row in rows]


def count_letters(connection: Connection, project: str) -> dict[str, int]:
    """Count the notifications of a project by what became of them."""
    wanted = (
        select(outbox.c.status, func.count())
        .where(is_of(outbox.c.project_id, project))
        .group_by(outbox.c.status)
        .order_by(outbox.c.status)
    )
    return dict(map(tuple, connection.execute(wanted)))


def settle_letter(transaction: Transaction, letter: Letter, summary: tuple[str, str] | None) -> int:
    """Write down what became of a notification.

    Args:
        transaction: Where that is done.
        letter: The notification, as it stands now.
        summary: Id and JSON of what is to be told, after a delivery, if others were given up
            before; they are told by it.

    Returns:
        How many others that is about.
    """
    project_id = transaction.project(letter.project)
    connection = transaction.connection
    changed = {name: getattr(letter, name) for name in CHANGING}
    connection.execute(update(outbox).where(outbox.c.number == letter.number).values(changed))
    if summary is None:
        return 0
    given_up = (
        (outbox.c.project_id == project_id)
        & (outbox.c.channel == letter.channel)
        & (outbox.c.status == "dead")
    )
    count = connection.execute(update(outbox).where(given_up).values(status="summed")).rowcount
    if count:
        at = letter.created if letter.finished is None else letter.finished
        insert_letters(connection, project_id, *summary, now=at, channels=(letter.channel,))
    return count


def count_dead(connection: Connection, project: str, channel: str) -> int:
    """Count the notifications that were given up, and of which nobody was told."""
    wanted = select(func.count()).where(
        is_of(outbox.c.project_id, project),
        outbox.c.channel == channel,
        outbox.c.status == "dead",
    )
    return int(connection.execute(wanted).scalar_one())


def find_webhook(connection: Connection, project: str) -> Webhook | None:
    """Find where the notifications of a project go, without the secret, which has an id here."""
    row = connection.execute(
        select(webhooks).where(is_of(webhooks.c.project_id, project))
    ).one_or_none()
    if row is None:
        return None
    return Webhook(row.url, None, row.allows_http, row.created, row.disabled, row.secret_id)


def set_webhook(
    transaction: Transaction, project: str, webhook: Webhook, audit: AuditEntry
) -> None:
    """Say where the notifications of a project go, in the place of what was said before.

    Raises:
        FileError: The file of secrets cannot be written.
    """
    if webhook.secret is None:
        raise ValueError("a webhook is set with its secret")
    project_id = transaction.project(project)
    here = webhooks.c.project_id == project_id
    transaction.connection.execute(delete(webhooks).where(here))
    secret_id = secrets.token_hex(8)
    transaction.secrets.add(secret_id, webhook.secret)
    row = {
        "project_id": project_id,
        "url": webhook.url,
        "secret_id": secret_id,
        "allows_http": webhook.allows_http,
        "created": webhook.created,
        "disabled": webhook.disabled,
    }
    transaction.connection.execute(insert(webhooks), row)
    write_audit(transaction.connection, project_id, audit)


def remove_webhook(transaction: Transaction, project: str, audit: AuditEntry) -> bool:
    """Let the notifications of a project go nowhere, and say whether they went somewhere."""
    project_id = transaction.project(project)
    here = webhooks.c.project_id == project_id
    if transaction.connection.execute(delete(webhooks).where(here)).rowcount == 0:
        return False
    transaction.secrets.forget()
    _give_up(transaction, project_id, audit.time, "the webhook was removed")
    write_audit(transaction.connection, project_id, audit)
    return True


def disable_webhook(transaction: Transaction, project: str, url: str, audit: AuditEntry) -> bool:
    """Send nothing more to a webhook that says that it is gone, if it still is the one."""
    project_id = transaction.project(project)
    here = (webhooks.c.project_id == project_id) & (webhooks.c.url == url)
    here &= webhooks.c.disabled.is_(None)
    changed = update(webhooks).where(here).values(disabled=audit.time)
    if transaction.connection.execute(changed).rowcount == 0:
        return False
    _give_up(transaction, project_id, audit.time, "the webhook is gone")
    write_audit(transaction.connection, project_id, audit)
    return True


def _give_up(transaction: Transaction, project_id: int, now: int, problem: str) -> None:
    here = (
        (outbox.c.project_id == project_id)
        & (outbox.c.channel == WEBHOOK)
        & (outbox.c.status == "waiting")
    )
    values = {"status": "dead", "finished": now, "problem": problem}
    transaction.connection.execute(update(outbox).where(here).values(values))


def _select_letters() -> Any:  # noqa: ANN401 - a select with a type for each of its columns
    of = schema.projects
    named = select(*(of.c.name if name == "project" else outbox.c[name] for name in LETTER))
    return named.select_from(outbox).join(of, of.c.project_id == outbox.c.project_id)


CHANGING = ("status", "attempts", "due", "finished", "problem")
LETTER = ("number", "project", "notification_id", "channel", "body", "created", *CHANGING)
