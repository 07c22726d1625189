"""API keys and the audit log: who may do what, and who changed what."""

from __future__ import annotations

from sqlalchemy import insert, select, update

from rankscope.errors import UsageError
from rankscope.monitor.store.keys import ApiKey, AuditEntry
from rankscope.monitor.store.tables.schema import audit, keys, projects
from rankscope.monitor.store.tables.statements import columns_of, in_project, read_records
from rankscope.records import as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import ColumnElement, Connection

    from rankscope.monitor.store.transaction import Transaction


def insert_key(
    transaction: Transaction, key: ApiKey, actor: str, *, keeps_admin: bool = False
) -> None:
    """Store a key, and who made it."""
    others = _select_keys(transaction.connection, projects.c.name == key.project)
    if keeps_admin and not _has_admin([*others, key]):
        raise _no_admin(
            "the first key of a project must have the scope admin, because with it every request "
            "needs a key",
            "create an administrator's key first, with the scopes read and admin",
        )
    project_id = transaction.project(key.project)
    row = as_dict(key) | {"project_id": project_id, "scopes": " ".join(key.scopes)}
    del row["project"]
    transaction.connection.execute(insert(keys), row)
    entry = AuditEntry(key.created, actor, "key.create", key.key_id)
    insert_audit(transaction.connection, project_id, entry)


def revoke_key(
    transaction: Transaction,
    project: str,
    key_id: str,
    now: int,
    actor: str,
    *,
    keeps_admin: bool = False,
) -> bool:
    """Revoke a key of a project, and return whether it was valid before."""
    connection = transaction.connection
    known = _select_keys(connection, projects.c.name == project)
    rest = [key for key in known if key.key_id != key_id]
    if keeps_admin and _has_admin(known) and not _has_admin(rest):
        raise _no_admin(
            "this is the only key of the project with the scope admin",
            "create another administrator's key first, with the scopes read and admin",
        )
    is_valid = (keys.c.key_id == key_id) & keys.c.revoked.is_(None)
    changed = update(keys).where(is_valid, in_project(keys.c.project_id, project))
    if connection.execute(changed.values(revoked=now)).rowcount == 0:
        return False
    entry = AuditEntry(now, actor, "key.revoke", key_id)
    insert_audit(connection, transaction.project(project), entry)
    return True


def _has_admin(keys: Iterable[ApiKey]) -> bool:
    return any(key.revoked is None and "admin" in key.scopes for key in keys)


def _no_admin(message: str, hint: str) -> UsageError:
    return UsageError(message, hint=hint, code="no_administrator")


def find_key(connection: Connection, key_id: str) -> ApiKey | None:
    """Find a key by its id, whichever project it opens."""
    return next(iter(_select_keys(connection, keys.c.key_id == key_id)), None)


def list_all_keys(connection: Connection) -> list[ApiKey]:
    """List the keys of all projects, including revoked ones."""
    return _select_keys(connection)


def list_keys(connection: Connection, project: str) -> list[ApiKey]:
    """List the keys of a project, including revoked ones, oldest first."""
    return _select_keys(connection, projects.c.name == project)


def _select_keys(connection: Connection, *wanted: ColumnElement[bool]) -> list[ApiKey]:
    columns = [column for column in keys.columns if column.name != "project_id"]
    asked = (
        select(*columns, projects.c.name.label("project"))
        .join(projects, projects.c.project_id == keys.c.project_id)
        .where(*wanted)
        .order_by(keys.c.created, keys.c.key_id)
    )
    return [
        ApiKey(**{**row, "scopes": tuple(row["scopes"].split())})
        for row in connection.execute(asked).mappings()
    ]


def list_audit(connection: Connection, project: str) -> list[AuditEntry]:
    """List the changes that were made in a project, oldest first."""
    wanted = select(*columns_of(audit, AuditEntry)).where(in_project(audit.c.project_id, project))
    return read_records(connection, AuditEntry, wanted.order_by(audit.c.audit_id))


def has_audit(connection: Connection, project: str, action: str) -> bool:
    """Return whether something was ever done in a project."""
    here = in_project(audit.c.project_id, project) & (audit.c.action == action)
    return connection.execute(select(audit.c.audit_id).where(here).limit(1)).first() is not None


def record_audit(transaction: Transaction, project: str, entry: AuditEntry) -> None:
    """Record in the audit log that something was done, of which nothing else is stored."""
    insert_audit(transaction.connection, transaction.project(project), entry)


def insert_audit(connection: Connection, project_id: int, entry: AuditEntry) -> None:
    """Record a change in the audit log."""
    connection.execute(insert(audit), {"project_id": project_id, **as_dict(entry)})
