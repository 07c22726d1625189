"""People: accounts, roles in projects, and the sessions of browsers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType

from rankscope._names import quote
from rankscope.errors import UsageError
from rankscope.monitor.events.fields import can_be_stored
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.store.keys import Scope

ROLES: Mapping[str, tuple[Scope, ...]] = MappingProxyType(
    {"viewer": ("read",), "editor": ("read", "edit"), "admin": ("read", "edit", "admin")}
)
"""The roles that people have in a project, from the least: what each of them may do there."""
OPERATOR = "operator"
"""The role in all projects; only operators manage accounts."""
GROUP = "group:"
EMAIL = re.compile(r"[!#-&(-+\--;=?A-Z^-~]+@[A-Z0-9-]+(\.[A-Z0-9-]+)*", re.IGNORECASE | re.ASCII)
LONGEST = 254
MOST_GROUPS = 1000

SESSION_LIFE, SESSION_IDLE = 7 * DAY, 12 * HOUR
"""After this long a session ends, and after this long without a request."""
SEEN_EVERY = MINUTE
"""The last use of a session or a key is written again after this long."""
LINK_LIFE = 3 * DAY
"""After this long a link to set a password with expires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """An account.

    Args:
        person_id: Its number.
        email: The email address by which the person signs in, in lower case.
        name: The name, for people; may be empty.
        created: When it was made, in microseconds since 1970 in UTC.
        disabled: When it was disabled, or `None`.
        subject: Who it is to the provider of sign-ins: its address and its ID of the person.
        groups: The groups that the provider named last.
        password: The hash of the password; empty where there is none.
        link: SHA-256 of the link by which a password can be set, or empty.
        link_ends: When that link expires.
        totp: The ID of the secret of the authenticator app; empty where there is none.
        totp_step: The time step of the last code of the app, which is not taken again.
        recovery: SHA-256 of the recovery codes that are left.
    """

    person_id: int
    email: str
    name: str
    created: int
    disabled: int | None = None
    subject: str = ""
    groups: tuple[str, ...] = ()
    password: str = ""
    link: str = ""
    link_ends: int = 0
    totp: str = ""
    totp_step: int = 0
    recovery: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """Whether the person may sign in: `active`, `invited` or `disabled`."""
        if self.disabled is not None:
            return "disabled"
        return "active" if self.password or self.subject else "invited"

    @property
    def members(self) -> list[str]:
        """Under which names roles are given to the person."""
        return [self.email, *(GROUP + name for name in self.groups)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSession:
    """A browser in which a person is signed in.

    Args:
        digest: SHA-256 of its cookie, which is stored nowhere.
        person_id: The number of the person.
        created: When the person signed in, in microseconds since 1970 in UTC.
        seen: When it was used last, to the minute.
        agent: What the browser calls itself.
        rights: A digest of the roles that the person had; if they change, so does the cookie.
    """

    digest: str
    person_id: int
    created: int
    seen: int
    agent: str
    rights: str = ""

    def is_over(self, now: int) -> bool:
        """Whether it has expired."""
        return now >= min(self.created + SESSION_LIFE, self.seen + SESSION_IDLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a person may do.

    Args:
        roles: The largest role in each project where there is one.
        is_operator: Whether all projects are open, and accounts.
    """

    roles: Mapping[str, str]
    is_operator: bool

    @property
    def digest(self) -> str:
        """What changes whenever a role does, but not with a new project of an operator."""
        return OPERATOR if self.is_operator else hash_secret(repr(sorted(self.roles.items())))


def hash_secret(secret: str) -> str:
    """Return the digest of a secret of many random bits, which needs no slower hash."""
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def read_email(text: str) -> str:
    """Return an email address in lower case.

    It has to be of ASCII: other letters may become ASCII in lower case, such as the Kelvin sign.

    Examples:
        >>> read_email(" Ann@Example.com ")
        'ann@example.com'
    """
    email = text.strip()
    if len(email) > LONGEST or not EMAIL.fullmatch(email):
        raise UsageError(
            f"expected an email address, found {quote(text[:100])}",
            hint="write it such as ann@example.com",
            code="bad_email",
        )
    return email.lower()


def read_member(text: str) -> str:
    """Return whom a role is given to: an email address, or a group.

    Examples:
        >>> read_member("group:Search"), read_member("Ann@example.com")
        ('group:Search', 'ann@example.com')
    """
    if not text.startswith(GROUP):
        return read_email(text)
    if text == GROUP or not can_be_stored(text, LONGEST) or not text.isprintable():
        raise UsageError(
            f"expected a group, found {quote(text[:100])}",
            hint="write its name on one line, such as group:search",
            code="bad_group",
        )
    return text


def read_role(text: str) -> str:
    """Return the name of a role in a project."""
    if text not in ROLES:
        raise UsageError(
            f"unknown role {quote(text[:100])}",
            hint=f"use one of {', '.join(ROLES)}",
            code="bad_role",
        )
    return text
