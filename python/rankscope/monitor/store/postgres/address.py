"""The URL of a store in PostgreSQL, which may have a password that is shown nowhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope.errors import UsageError, hint_extra

if TYPE_CHECKING:
    from sqlalchemy import URL


POSTGRES = ("postgresql://", "postgres://")
"""The starts of the URL of a store."""
SCHEMA = "rankscope"
NAME = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
KNOWN = frozenset(
    {
        "channel_binding",
        "connect_timeout",
        "gssencmode",
        "host",
        "keepalives",
        "keepalives_count",
        "keepalives_idle",
        "keepalives_interval",
        "passfile",
        "schema",
        "sslcert",
        "sslkey",
        "sslmode",
        "sslrootcert",
        "target_session_attrs",
        "tcp_user_timeout",
    }
)
"""The names that may follow a question mark."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a store is.

    Args:
        url: The URL without the schema; its password is not in its `repr`.
        schema: The schema of the tables, so that several stores can be in a database.
    """

    url: URL
    schema: str

    def __str__(self) -> str:
        """The URL without its password."""
        more = {} if self.schema == SCHEMA else {"schema": self.schema}
        return self._write(more)

    @property
    def for_tools(self) -> str:
        """The URL of the database as the tools of PostgreSQL take it, without its password."""
        return self._write({})

    def _write(self, more: dict[str, str]) -> str:
        from sqlalchemy import URL

        query = {**self.url.query, **more}
        url = self.url
        # `URL.set` would keep the password.
        shown = URL.create(
            "postgresql", url.username, None, url.host, url.port, url.database, query
        )
        return shown.render_as_string().replace("%2F", "/")


def has_password(url: str) -> bool:
    """Return whether a URL of PostgreSQL has a password in it.

    Examples:
        >>> has_password("postgresql://ada:secret@host/music"), has_password("postgresql:///music")
        (True, False)
    """
    return url.startswith(POSTGRES) and read_address(url).url.password is not None


def read_address(url: str) -> Address:
    """Read the URL of a store in PostgreSQL.

    Examples:
        >>> address = read_address("postgresql://ada:secret@db.example.com/music?schema=songs")
        >>> str(address), address.schema
        ('postgresql://ada@db.example.com/music?schema=songs', 'songs')
        >>> "secret" in repr(address)
        False
    """
    try:
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError
    except ModuleNotFoundError as error:
        raise UsageError(
            "stores need SQLAlchemy, which is not installed",
            hint=hint_extra("postgres"),
            code="missing_extra",
        ) from error
    try:
        found = make_url(url)
    except (ArgumentError, ValueError):
        # Their messages repeat the URL, with its password.
        raise _refuse(
            "the URL of the store cannot be read",
            "write postgresql://user@host:5432/database, and @ : / in a password as %40 %3A %2F",
        ) from None
    if "@" in (found.host or ""):
        raise _refuse("the password in the URL of the store has an @", "write it as %40")
    unknown = sorted(found.query.keys() - KNOWN)
    if unknown:
        hint = f"use {', '.join(sorted(KNOWN))}"
        if "password" in unknown:
            hint = "use the environment variable PGPASSWORD, or the file ~/.pgpass"
        raise _refuse(f"the URL of the store has the unknown option {unknown[0][:40]!r}", hint)
    schema = found.query.get("schema", SCHEMA)
    if not isinstance(schema, str) or not NAME.fullmatch(schema):
        raise _refuse(
            "the schema of the store is not a plain name",
            "use small letters, digits and underscores, such as ?schema=music",
        )
    plain = found.set(drivername="postgresql+psycopg").difference_update_query(["schema"])
    return Address(plain, schema)


def _refuse(message: str, hint: str) -> UsageError:
    return UsageError(message, hint=hint, code="store_url")
