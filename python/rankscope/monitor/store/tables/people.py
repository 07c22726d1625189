"""Accounts, roles and sessions. Every change is checked against what it was made from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from rankscope._names import as_dict
from rankscope.errors import UsageError
from rankscope.monitor.store.keys import AuditEntry, Secret
from rankscope.monitor.store.people import (
    ROLES,
    SESSION_IDLE,
    SESSION_LIFE,
    Access,
    BrowserSession,
    Person,
)
from rankscope.monitor.store.tables.keys import insert_audit
from rankscope.monitor.store.tables.projects import list_projects
from rankscope.monitor.store.tables.schema import people, projects, roles, sessions
from rankscope.monitor.store.tables.statements import columns_of, in_project, is_among, read_records
from rankscope.monitor.store.transaction import Transaction

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection


LISTS = ("groups", "recovery")
MOST_SESSIONS = 100


def list_people(connection: Connection) -> list[Person]:
    """List the accounts, also disabled ones, by email address."""
    return _select_people(connection)


def find_person(connection: Connection, /, **known: object) -> Person | None:
    """Find an account by a column."""
    wanted = [people.c[name] == value for name, value in known.items()]
    return next(iter(_select_people(connection, *wanted)), None)


def _select_people(connection: Connection, *wanted: ColumnElement[bool]) -> list[Person]:
    asked = select(*columns_of(people, Person)).where(*wanted).order_by(people.c.email)
    return [
        Person(**row | {name: tuple(json.loads(row[name])) for name in LISTS})
        for row in map(dict, connection.execute(asked).mappings())
    ]


def _write(values: Mapping[str, Any]) -> dict[str, Any]:
    lists = {name: json.dumps(values[name]) for name in LISTS if name in values}
    return {**values, **lists}


def has_people(connection: Connection) -> bool:
    """Return whether there is an account, or ever was one: none is deleted."""
    return connection.execute(select(people.c.person_id).limit(1)).first() is not None


def add_person(transaction: Transaction, person: Person, entry: AuditEntry) -> int | None:
    """Store a new account, and return its number; `None` if its email address has one."""
    connection = transaction.connection
    if find_person(connection, email=person.email) is not None:
        return None
    row = _write(as_dict(person))
    del row["person_id"]
    made = connection.execute(insert(people).values(row).returning(people.c.person_id))
    insert_audit(connection, None, entry)
    return int(made.scalar_one())


def change_person(
    transaction: Transaction,
    person: Person,
    changes: Mapping[str, Any],
    entry: AuditEntry,
    *,
    session: BrowserSession | None = None,
    left: str = "",
    ends_sessions: bool = False,
    secret: Secret | None = None,
) -> bool:
    """Change an account, unless somebody has changed it meanwhile.

    So neither a link nor a code is taken twice, and nobody signs in who was just disabled.

    Args:
        transaction: The transaction.
        person: The account, as it was when the change was decided on.
        changes: New values of its fields.
        entry: Who did what.
        session: A session that begins with the change.
        left: The digest of the session that its browser had before, which ends.
        ends_sessions: Whether all sessions of the person end before that.
        secret: The secret of an authenticator app that the change names.

    Returns:
        Whether it was changed; otherwise nothing was stored.
    """
    connection = transaction.connection
    if find_person(connection, person_id=person.person_id) != person:
        return False
    here = people.c.person_id == person.person_id
    if changes:
        connection.execute(update(people).where(here).values(_write(changes)))
    if "totp" in changes:
        transaction.changes_secrets = True
    if secret is not None:
        transaction.secrets[str(changes["totp"])] = secret
    if ends_sessions:
        connection.execute(delete(sessions).where(sessions.c.person_id == person.person_id))
    connection.execute(delete(sessions).where(sessions.c.digest == left))
    if session is not None:
        _insert_session(connection, session)
    insert_audit(connection, None, entry)
    return True


def _insert_session(connection: Connection, session: BrowserSession) -> None:
    """Store a session, and remove those that have expired, or are too many of one person."""
    now, own = session.created, sessions.c.person_id == session.person_id
    is_over = (sessions.c.created <= now - SESSION_LIFE) | (sessions.c.seen <= now - SESSION_IDLE)
    connection.execute(delete(sessions).where(is_over))
    oldest = select(sessions.c.digest).where(own).order_by(sessions.c.created.desc())
    many = connection.execute(oldest.offset(MOST_SESSIONS - 1)).scalars().all()
    connection.execute(delete(sessions).where(sessions.c.digest.in_(many)))
    access = find_access(connection, _owner(connection, session))
    connection.execute(insert(sessions), as_dict(replace(session, rights=access.digest)))


def _owner(connection: Connection, session: BrowserSession) -> Person:
    [person] = _select_people(connection, people.c.person_id == session.person_id)
    return person


def find_session(
    connection: Connection, digest: str, now: int
) -> tuple[BrowserSession, Person, Access] | None:
    """Find a session that hasn't expired, of a person whose account isn't disabled."""
    asked = select(*columns_of(sessions, BrowserSession)).where(sessions.c.digest == digest)
    for session in read_records(connection, BrowserSession, asked):
        person = _owner(connection, session)
        if not session.is_over(now) and person.disabled is None:
            return session, person, find_access(connection, person)
    return None


def list_sessions(connection: Connection, person_id: int) -> list[BrowserSession]:
    """List the sessions of a person, the last one used first."""
    asked = select(*columns_of(sessions, BrowserSession)).where(sessions.c.person_id == person_id)
    return read_records(connection, BrowserSession, asked.order_by(sessions.c.seen.desc()))


def renew_session(transaction: Transaction, digest: str, changes: Mapping[str, Any]) -> bool:
    """Write when a session was used, or under which other cookie and rights it goes on."""
    here = sessions.c.digest == digest
    done = transaction.connection.execute(update(sessions).where(here).values(dict(changes)))
    return done.rowcount > 0


def end_sessions(
    transaction: Transaction, person_id: int, digest: str | None, entry: AuditEntry
) -> int:
    """End a session of a person, or all of them, and return how many there were."""
    here = sessions.c.person_id == person_id
    if digest is not None:
        here &= sessions.c.digest == digest
    count = transaction.connection.execute(delete(sessions).where(here)).rowcount
    if count:
        insert_audit(transaction.connection, None, entry)
    return count


def find_access(connection: Connection, person: Person) -> Access:
    """Return what a person may do, also as a member of groups."""
    asked = select(projects.c.name, roles.c.role).join_from(roles, projects, isouter=True)
    given = asked.where(is_among(roles.c.member, "members"))
    order = list(ROLES)
    found: dict[str, str] = {}
    is_operator = False
    for project, role in connection.execute(given, {"members": person.members}):
        if project is None:
            is_operator = True
        else:
            found[project] = max(role, found.get(project, role), key=order.index)
    if is_operator:
        found = dict.fromkeys(list_projects(connection), order[-1])
    return Access(roles=found, is_operator=is_operator)


def list_roles(connection: Connection, project: str | None) -> dict[str, str]:
    """Return the roles in a project by member; without a project, the operators."""
    asked = select(roles.c.member, roles.c.role).where(_in(project)).order_by(roles.c.member)
    return dict(map(tuple, connection.execute(asked)))


def _in(project: str | None) -> ColumnElement[bool]:
    column = roles.c.project_id
    return column.is_(None) if project is None else in_project(column, project)


def set_roles(
    transaction: Transaction,
    project: str | None,
    changes: Mapping[str, str | None],
    now: int,
    actor: str,
) -> bool:
    """Set or remove roles of members in a project, and return whether any changed.

    Raises:
        UsageError: There would be no operator any more.
    """
    connection = transaction.connection
    before = list_roles(connection, project)
    changed = {who: role for who, role in changes.items() if before.get(who) != role}
    project_id = None if project is None or not changed else transaction.project(project)
    for member, role in changed.items():
        connection.execute(delete(roles).where(_in(project), roles.c.member == member))
        if role is not None:
            row = {"project_id": project_id, "member": member, "role": role}
            connection.execute(insert(roles), row)
        old, new = (json.dumps(each) if each else "" for each in (before.get(member), role))
        entry = AuditEntry(now, actor, "role.set" if role else "role.remove", member, old, new)
        insert_audit(connection, project_id, entry)
    if project is None and changed and not list_roles(connection, None):
        raise UsageError(
            "this is the only operator",
            hint="make somebody else an operator first",
            code="no_administrator",
        )
    return bool(changed)
