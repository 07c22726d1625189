"""Keys and audit in a store: who may do what, and who changed that."""

from __future__ import annotations

from sqlalchemy import insert, select, update

from rankscope.monitor.store.keys import ApiKey, AuditEntry
from rankscope.monitor.store.tables import schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlalchemy import Connection

    from rankscope.monitor.store.tables.transaction import Transaction


def insert_key(transaction: Transaction, key: ApiKey, actor: str) -> None:
    """Store a key, and who made it."""
    project_id = transaction.project(key.project)
    row = {
        "key_id": key.key_id,
        "project_id": project_id,
        "scopes": " ".join(key.scopes),
        "name": key.name,
        "created": key.created,
        "digest": key.digest,
        "revoked": key.revoked,
    }
    transaction.connection.execute(insert(schema.keys), row)
    entry = AuditEntry(key.created, actor, "key.create", key.key_id)
    write_audit(transaction.connection, project_id, entry)


def revoke_key(transaction: Transaction, project: str, key_id: str, now: int, actor: str) -> bool:
    """Let a key of a project open nothing any more, and say whether it opened something before."""
    table, of = schema.keys, schema.projects
    found = select(of.c.project_id).where(of.c.name == project)
    project_id = transaction.connection.execute(found).scalar_one_or_none()
    wanted = (
        (table.c.key_id == key_id) & (table.c.project_id == project_id) & table.c.revoked.is_(None)
    )
    changed = transaction.connection.execute(update(table).where(wanted).values(revoked=now))
    if project_id is None or changed.rowcount == 0:
        return False
    write_audit(transaction.connection, project_id, AuditEntry(now, actor, "key.revoke", key_id))
    return True


def find_key(connection: Connection, key_id: str) -> ApiKey | None:
    """Find a key by its id, whichever project it opens."""
    row = connection.execute(_select_keys().where(schema.keys.c.key_id == key_id)).one_or_none()
    return None if row is None else _key_of(row)


def list_all_keys(connection: Connection) -> list[ApiKey]:
    """List the keys of all projects."""
    return [_key_of(row) for row in connection.execute(_select_keys())]


def list_keys(connection: Connection, project: str) -> list[ApiKey]:
    """List the keys of a project, the oldest first."""
    table = schema.keys
    wanted = _select_keys().where(schema.projects.c.name == project)
    return [
        _key_of(row) for row in connection.execute(wanted.order_by(table.c.created, table.c.key_id))
    ]


def list_audit(connection: Connection, project: str) -> list[AuditEntry]:
    """List what was changed in a project, the oldest first."""
    table, of = schema.audit, schema.projects
    wanted = (
        select(table.c.time, table.c.actor, table.c.action, table.c.subject)
        .join(of, of.c.project_id == table.c.project_id)
        .where(of.c.name == project)
        .order_by(table.c.audit_id)
    )
    return [AuditEntry(*row) for row in connection.execute(wanted)]


def _select_keys() -> Any:  # noqa: ANN401 - a select with a type for each of its columns
    table, of = schema.keys, schema.projects
    return select(table, of.c.name.label("project")).join(of, of.c.project_id == table.c.project_id)


def _key_of(row: Any) -> ApiKey:  # noqa: ANN401 - a row has the fields that were asked for
    scopes = tuple(row.scopes.split())
    return ApiKey(row.key_id, row.project, scopes, row.name, row.created, row.digest, row.revoked)


def write_audit(connection: Connection, project_id: int, entry: AuditEntry) -> None:
    """Write down what was changed, and by whom."""
    row = {
        "project_id": project_id,
        "time": entry.time,
        "actor": entry.actor,
        "action": entry.action,
        "subject": entry.subject,
    }
    connection.execute(insert(schema.audit), row)
