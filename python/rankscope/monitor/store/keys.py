"""Keys of the service: 256 random bits, shown once, of which only a hash is kept."""

from __future__ import annotations

import hmac
import re
import secrets
from hashlib import sha256

from rankscope.errors import UsageError
from rankscope.monitor.events.fields import read_name
from rankscope.monitor.events.limits import Limits
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Literal, TypeAlias

    Scope: TypeAlias = Literal["ingest", "read", "admin"]


SCOPES: tuple[Scope, ...] = ("ingest", "read", "admin")
"""What a key may do; none of them is part of another."""

FORM = re.compile(r"rk_([0-9a-f]{16})_([0-9a-f]{64})", re.ASCII)
NO_DIGEST = bytes(32)


class Secret:
    """A text that no log and no message shows.

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
        """Give the text."""
        return self._text

    def __str__(self) -> str:
        return "***"

    def __repr__(self) -> str:
        return "Secret(***)"


@record(frozen=True, slots=True)
class ApiKey:
    """A key as it is stored.

    Args:
        key_id: What it is known by.
        project: The project that it opens, and no other.
        scopes: What it may do.
        name: What people call it.
        created: When it was made, in microseconds since 1970 in UTC.
        digest: SHA-256 of its secret; 256 random bits need no slower hash.
        revoked: Since when it opens nothing, or `None`.
    """

    key_id: str
    project: str
    scopes: tuple[Scope, ...]
    name: str
    created: int
    digest: bytes
    revoked: int | None = None


@record(frozen=True, slots=True)
class AuditEntry:
    """Something that was changed, and by whom.

    Args:
        time: When, in microseconds since 1970 in UTC.
        actor: Who, such as the id of a key.
        action: What was done, such as `key.create`.
        subject: To what, such as the id of a key.
    """

    time: int
    actor: str
    action: str
    subject: str


def make_key(project: str, scopes: Iterable[str], *, name: str, now: int) -> tuple[ApiKey, Secret]:
    """Make a key.

    Args:
        project: The project that it opens.
        scopes: What it may do.
        name: What people call it.
        now: The time, in microseconds since 1970 in UTC.

    Returns:
        What is to be stored, and what is to be shown once.

    Raises:
        UsageError: There is no such scope, or none.
        FormatError: The project or the name is no text that can be stored.

    Examples:
        >>> key, shown = make_key("music", ["ingest"], name="search", now=0)
        >>> shown.reveal().startswith(f"rk_{key.key_id}_")
        True
    """
    asked = set(scopes)
    unknown = sorted(asked.difference(SCOPES))
    if unknown or not asked:
        raise UsageError(
            f"expected scopes among {', '.join(SCOPES)}, found {', '.join(unknown) or 'none'}",
            hint="name what the key is for",
            code="key_scope",
        )
    limits = Limits()
    project = read_name(project, "project", limits.name_bytes)
    name = read_name(name, "name", limits.name_bytes)
    key_id, secret = secrets.token_hex(8), secrets.token_hex(32)
    ordered = tuple(scope for scope in SCOPES if scope in asked)
    key = ApiKey(key_id, project, ordered, name, now, _digest(secret))
    return key, Secret(f"rk_{key_id}_{secret}")


def authenticate(find_key: Callable[[str], ApiKey | None], presented: str) -> ApiKey | None:
    """Find the key that was presented, if it is one that opens something.

    Whether its id is unknown, its secret is wrong or it was revoked is not told.

    Args:
        find_key: Finds a key by its id, such as `Store.find_key`.
        presented: What was sent.

    Examples:
        >>> key, shown = make_key("music", ["ingest"], name="search", now=0)
        >>> find_key = {key.key_id: key}.get
        >>> authenticate(find_key, shown.reveal()) == key
        True
        >>> authenticate(find_key, shown.reveal()[:-1] + "!") is None
        True
    """
    form = FORM.fullmatch(presented)
    if form is None:
        return None
    key = find_key(form[1])
    is_equal = hmac.compare_digest(key.digest if key else NO_DIGEST, _digest(form[2]))
    return key if is_equal and key is not None and key.revoked is None else None


def _digest(secret: str) -> bytes:
    return sha256(secret.encode("ascii")).digest()
