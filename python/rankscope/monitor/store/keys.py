"""API keys: 256 random bits that are shown once, and of which only a hash is stored."""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, NamedTuple, TypeAlias

from rankscope._names import as_dict
from rankscope.errors import UsageError
from rankscope.monitor.events.fields import read_name
from rankscope.monitor.events.limits import DAY, Limits
from rankscope.monitor.events.times import format_time, read_duration

Scope: TypeAlias = Literal["ingest", "read", "edit", "admin"]


SCOPES: tuple[Scope, ...] = ("ingest", "read", "edit", "admin")
"""What a key may do; `admin` includes `edit`, and no other scope another."""

FORM = re.compile(r"rk_([0-9a-f]{16})_([0-9a-f]{64})", re.ASCII)
NO_DIGEST = bytes(32)
KEEP = "24h"
"""How long a key goes on after it was replaced."""
MOST_LIFE = 3650 * DAY
KEY_TIMES = ("created", "expires", "used", "revoked")
TESTED = "channel.test"
"""The action of the audit log that says that a test message was delivered."""


class Secret:
    """A text that does not appear in logs and messages.

    Examples:
        >>> print(Secret("abc"), [Secret("abc")])
        *** [Secret(***)]
        >>> Secret("abc").reveal()
        'abc'
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text."""
        return self._text

    def __str__(self) -> str:
        return "***"

    def __repr__(self) -> str:
        return "Secret(***)"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key, as it is stored.

    Args:
        key_id: Its id.
        project: The one project that it opens.
        scopes: What it may do.
        name: Its name, for people.
        created: When it was made, in microseconds since 1970 in UTC.
        digest: SHA-256 of its secret; 256 random bits need no slower hash.
        revoked: When it was revoked, or `None`.
        expires: When it expires, or `None`.
        used: When it was used last, to the minute, or `None`.
        creator: Who made it.
    """

    key_id: str
    project: str
    scopes: tuple[Scope, ...]
    name: str
    created: int
    digest: bytes
    revoked: int | None = None
    expires: int | None = None
    used: int | None = None
    creator: str = ""

    def is_valid(self, now: int) -> bool:
        """Whether it opens its project."""
        return self.revoked is None and (self.expires is None or now < self.expires)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An entry of the audit log.

    Args:
        time: When it was done, in microseconds since 1970 in UTC.
        actor: Who did it, such as the id of a key.
        action: What was done, such as `key.create`.
        subject: What it was done to, such as the id of a key.
        before: What it was before, as JSON; empty where there was nothing, or nothing to say.
        after: What it was afterwards, likewise.
    """

    time: int
    actor: str
    action: str
    subject: str
    before: str = ""
    after: str = ""


class Audited(NamedTuple):
    """An entry of the audit log, as it is stored.

    Args:
        number: Its number; later ones have larger numbers.
        project: The name of the project; `None` for sign-ins and accounts.
        entry: The entry.
    """

    number: int
    project: str | None
    entry: AuditEntry

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        said = {"number": self.number, "project": self.project, **as_dict(self.entry)}
        read = {name: _read_value(said[name]) for name in ("before", "after")}
        return said | read | {"time": format_time(self.entry.time)}


def _read_value(text: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def make_key(
    project: str, scopes: Iterable[str], *, name: str, now: int, expires: int | None = None
) -> tuple[ApiKey, Secret]:
    """Make an API key.

    Examples:
        >>> key, shown = make_key("music", ["ingest"], name="search", now=0)
        >>> shown.reveal().startswith(f"rk_{key.key_id}_")
        True
    """
    asked = set(scopes)
    unknown = sorted(asked.difference(SCOPES))
    if unknown or not asked:
        raise UsageError(
            f"unknown scope {', '.join(unknown)}" if unknown else "the key has no scope",
            hint=f"use one or more of {', '.join(SCOPES)}",
            code="key_scope",
        )
    if "admin" in asked:  # who makes keys could make one for that
        asked.add("edit")
    limits = Limits()
    project = read_name(project, "project", limits.name_bytes)
    name = read_name(name, "name", limits.name_bytes)
    key_id, secret = secrets.token_hex(8), secrets.token_hex(32)
    ordered = tuple(scope for scope in SCOPES if scope in asked)
    key = ApiKey(key_id, project, ordered, name, now, _digest(secret), expires=expires)
    return key, Secret(f"rk_{key_id}_{secret}")


def read_life(text: str) -> int:
    """Read how long a key lasts, in microseconds, such as `90d`."""
    life = read_duration(text)
    if not 0 < life <= MOST_LIFE:
        raise UsageError(
            f"expected a duration of up to {MOST_LIFE // DAY} days, found {text}",
            hint="write it such as 90d",
            code="key_life",
        )
    return life


def authenticate(
    find_key: Callable[[str], ApiKey | None], presented: str, now: int
) -> ApiKey | None:
    """Return the key with a text, if it is valid.

    The caller does not learn whether the id is unknown, the secret is wrong or the key was revoked.

    Examples:
        >>> key, shown = make_key("music", ["ingest"], name="search", now=0)
        >>> find_key = {key.key_id: key}.get
        >>> authenticate(find_key, shown.reveal(), now=1) == key
        True
        >>> authenticate(find_key, shown.reveal()[:-1] + "!", now=1) is None
        True
    """
    form = FORM.fullmatch(presented)
    if form is None:
        return None
    key = find_key(form[1])
    is_equal = hmac.compare_digest(key.digest if key else NO_DIGEST, _digest(form[2]))
    return key if is_equal and key is not None and key.is_valid(now) else None


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("ascii")).digest()
