"""Changes of accounts, roles, and keys that are replaced."""

from __future__ import annotations

import secrets

from rankscope.errors import UsageError
from rankscope.monitor.store.keys import ApiKey, AuditEntry, Secret, make_key
from rankscope.monitor.store.people import (
    LINK_LIFE,
    OPERATOR,
    Person,
    hash_secret,
    read_email,
    read_member,
    read_role,
)
from rankscope.monitor.store.store import Store, StoreReader

NOTHING_LEFT = {
    "password": "",
    "totp": "",
    "totp_step": 0,
    "recovery": (),
    "link": "",
    "link_ends": 0,
}
LINK_PATH = "/set-password"


def add_person(store: Store, email: str, *, name: str, now: int, actor: str) -> tuple[Person, str]:
    """Make an account, or enable one that was disabled, and return the secret of its link."""
    email = read_email(email)
    known, link = store.find_person(email=email), secrets.token_hex(32)
    if known is not None:
        if known.disabled is None:
            raise UsageError(
                f"{email} has an account already",
                hint="to make a new link, reset the password",
                code="known_person",
            )
        return _invite(store, known, "person.enable", now=now, actor=actor)
    ends = now + LINK_LIFE
    person = Person(
        person_id=0, email=email, name=name, created=now, link=hash_secret(link), link_ends=ends
    )
    if store.add_person(person, AuditEntry(now, actor, "person.add", email)) is None:
        raise _changed(email)
    return person, link


def reset_password(store: Store, email: str, *, now: int, actor: str) -> tuple[Person, str]:
    """End all sessions of a person, forget password and app, and return the secret of a link."""
    person = find_known(store, email)
    if person.disabled is not None:
        raise UsageError(
            f"the account of {person.email} is disabled",
            hint="add the person again to enable it",
            code="disabled_person",
        )
    return _invite(store, person, "person.reset_password", now=now, actor=actor)


def _invite(
    store: Store, person: Person, action: str, *, now: int, actor: str
) -> tuple[Person, str]:
    link = secrets.token_hex(32)
    said = {"link": hash_secret(link), "link_ends": now + LINK_LIFE, "disabled": None}
    entry = AuditEntry(now, actor, action, person.email)
    if not store.change_person(person, {**NOTHING_LEFT, **said}, entry, ends_sessions=True):
        raise _changed(person.email)
    return person, link


def disable_person(store: Store, email: str, *, now: int, actor: str) -> None:
    """Disable an account: its sessions end, and nobody signs in any more."""
    person = find_known(store, email)
    entry = AuditEntry(now, actor, "person.disable", person.email)
    changes = {**NOTHING_LEFT, "disabled": now}
    if person.disabled is None and not store.change_person(
        person, changes, entry, ends_sessions=True
    ):
        raise _changed(person.email)


def set_role(
    store: Store, project: str | None, member: str, role: str | None, *, now: int, actor: str
) -> None:
    """Set or remove the role of a member in a project; without a project, that of operators."""
    if project is not None and role is not None:
        role = read_role(role)
    elif role is not None and role != OPERATOR:
        raise UsageError(
            f"in all projects, the role is {OPERATOR}, found {role}",
            hint="name a project for other roles",
            code="bad_role",
        )
    store.set_roles(project, {read_member(member): role}, now, actor)


def find_known(store: StoreReader, email: str) -> Person:
    """Return the account of an email address."""
    person = store.find_person(email=read_email(email))
    if person is None:
        raise UsageError(
            f"there is no account of {read_email(email)}",
            hint="list the accounts with rankscope monitor people list STORE",
            code="unknown_person",
        )
    return person


def _changed(email: str) -> UsageError:
    return UsageError(
        f"somebody else has just changed the account of {email}",
        hint="look at it, and try again",
        code="changed_person",
    )


def replace_key(
    store: Store, project: str, key_id: str, *, keep: int, life: int | None, now: int, actor: str
) -> tuple[ApiKey, Secret] | None:
    """Store the successor of a key, which goes on for a while; `None` if it opens nothing.

    The successor lasts as long as the old key was meant to, unless it is said how long.
    """
    old = store.find_key(key_id)
    if old is None or old.project != project:
        return None
    if life is None and old.expires is not None:
        life = max(old.expires - old.created, keep)
    expires = None if life is None else now + life
    key, shown = make_key(project, old.scopes, name=old.name, now=now, expires=expires)
    return (key, shown) if store.rotate_key(key_id, key, now + keep, actor) else None
