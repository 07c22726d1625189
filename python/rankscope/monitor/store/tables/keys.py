"""API keys and the audit log: who may do what, and who changed what."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from rankscope._names import as_dict
from rankscope.errors import UsageError
from rankscope.monitor.store.keys import ApiKey, Audited, AuditEntry
from rankscope.monitor.store.people import OPERATOR
from rankscope.monitor.store.tables.schema import audit, keys, projects, roles
from rankscope.monitor.store.tables.statements import columns_of, in_project, read_records

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from rankscope.monitor.store.transaction import Transaction


def insert_key(
    transaction: Transaction, key: ApiKey, actor: str, *, keeps_admin: bool = False
) -> None:
    """Store a key, and who made it."""
    if keeps_admin and not _has_admin(transaction.connection, key.project, more=key):
        raise _no_admin(
            "the first key of a project must have the scope admin and not expire, because with it "
            "every request needs a key",
            "create an administrator's key first, with the scopes read, edit and admin; or give "
            "somebody the role admin with rankscope monitor people",
        )
    _insert(transaction, key, actor, "key.create")


def _insert(transaction: Transaction, key: ApiKey, actor: str, action: str) -> None:
    project_id = transaction.project(key.project)
    more = {"project_id": project_id, "scopes": " ".join(key.scopes), "creator": actor}
    row = as_dict(key) | more
    del row["project"]
    transaction.connection.execute(insert(keys), row)
    entry = AuditEntry(key.created, actor, action, key.key_id, "", _describe(key))
    insert_audit(transaction.connection, project_id, entry)


def _describe(key: ApiKey) -> str:
    said = {"name": key.name, "scopes": list(key.scopes)}
    return json.dumps(said | ({"expires": key.expires} if key.expires else {}))


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
    has_others = _has_admin(connection, project, but=key_id)
    if keeps_admin and _has_admin(connection, project) and not has_others:
        raise _no_admin(
            "this is the only key of the project with the scope admin",
            "create another administrator's key first, or give somebody the role admin with "
            "rankscope monitor people",
        )
    is_valid = (keys.c.key_id == key_id) & keys.c.revoked.is_(None)
    changed = update(keys).where(is_valid, in_project(keys.c.project_id, project))
    if connection.execute(changed.values(revoked=now)).rowcount == 0:
        return False
    entry = AuditEntry(now, actor, "key.revoke", key_id)
    insert_audit(connection, transaction.project(project), entry)
    return True


def rotate_key(transaction: Transaction, key_id: str, key: ApiKey, until: int, actor: str) -> bool:
    """Store the successor of a key, which goes on until some time, unless it ends before.

    Returns:
        Whether the key was valid; otherwise nothing was stored.
    """
    connection = transaction.connection
    here = (keys.c.key_id == key_id) & in_project(keys.c.project_id, key.project)
    for old in _select_keys(connection, here):
        if old.is_valid(key.created):
            break
    else:
        return False
    ends = until if old.expires is None else min(old.expires, until)
    connection.execute(update(keys).where(here).values(expires=ends))
    _insert(transaction, key, actor, "key.rotate")
    before, after = (json.dumps({"expires": each}) for each in (old.expires, ends))
    entry = AuditEntry(key.created, actor, "key.expire", key_id, before, after)
    insert_audit(connection, transaction.project(key.project), entry)
    return True


def touch_key(transaction: Transaction, key_id: str, now: int) -> None:
    """Write when a key was used."""
    here = keys.c.key_id == key_id
    transaction.connection.execute(update(keys).where(here).values(used=now))


def _has_admin(
    connection: Connection, project: str, *, more: ApiKey | None = None, but: str = ""
) -> bool:
    """Whether somebody administers a project for good: a person, or a key that doesn't expire."""
    is_admin = roles.c.role.in_((OPERATOR, "admin"))
    here = roles.c.project_id.is_(None) | in_project(roles.c.project_id, project)
    if connection.execute(select(roles.c.role_id).where(is_admin, here).limit(1)).first():
        return True
    known = [*_select_keys(connection, projects.c.name == project), *([more] if more else [])]
    return any(
        key.revoked is None and key.expires is None and "admin" in key.scopes and key.key_id != but
        for key in known
    )


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


def read_audit(
    connection: Connection,
    project: str | None,
    *,
    before: int | None = None,
    limit: int = 1000,
) -> list[Audited]:
    """List changes, the newest first: in a project, or in all of them with sign-ins and accounts.

    Those of a number and later ones are left out.
    """
    columns = columns_of(audit, AuditEntry)
    wanted = select(audit.c.audit_id, projects.c.name, *columns)
    wanted = wanted.join_from(audit, projects, isouter=True)
    if project is not None:
        wanted = wanted.where(in_project(audit.c.project_id, project))
    if before is not None:
        wanted = wanted.where(audit.c.audit_id < before)
    rows = connection.execute(wanted.order_by(audit.c.audit_id.desc()).limit(limit))
    return [Audited(number, name, AuditEntry(*entry)) for number, name, *entry in rows]


def has_audit(connection: Connection, project: str, action: str) -> bool:
    """Return whether something was ever done in a project."""
    here = in_project(audit.c.project_id, project) & (audit.c.action == action)
    return connection.execute(select(audit.c.audit_id).where(here).limit(1)).first() is not None


def record_audit(transaction: Transaction, project: str | None, entry: AuditEntry) -> None:
    """Record in the audit log that something was done, of which nothing else is stored."""
    project_id = None if project is None else transaction.project(project)
    insert_audit(transaction.connection, project_id, entry)


def insert_audit(connection: Connection, project_id: int | None, entry: AuditEntry) -> None:
    """Record a change in the audit log: every change that somebody makes comes by here."""
    connection.execute(insert(audit), {"project_id": project_id, **as_dict(entry)})
