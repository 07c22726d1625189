"""The tables of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.types import TypeEngine


TABLES = MetaData()
SERVER_TABLES = MetaData()
"""What only a store in PostgreSQL has."""

# SQLite keeps rows in the order of a key that is INTEGER, and of no other.
SEQ = BigInteger().with_variant(Integer(), "sqlite")
# Every database compares and sorts texts by their bytes, as SQLite does.
TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def _columns(kind: type[TypeEngine[Any]] | TypeEngine[Any], *names: str) -> list[Column[Any]]:
    """Make columns that have a value in each row."""
    return [Column(name, kind, nullable=False) for name in names]


def _keys(kind: type[TypeEngine[Any]] | TypeEngine[Any], *names: str) -> list[Column[Any]]:
    return [Column(name, kind, primary_key=True) for name in names]


def _of_project(*, is_key: bool = False) -> Column[int]:
    project = ForeignKey("projects.project_id")
    return Column("project_id", Integer, project, primary_key=is_key, nullable=False)


meta = Table(
    "meta",
    TABLES,
    Column("name", TEXT, primary_key=True),
    Column("value", TEXT, nullable=False),
)
"""By name, `store` (its random id), the `oldest` revision whose releases can use it, the numbers of
the last event and transaction (`last_seq`, `last_commit`), how many of each are lost
(`lost_events`, `lost_commits`), the number and digest of the rows of `blocks` (`blocks`), and a
number that changes when projects are deleted (`generation`)."""

alembic_version = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), primary_key=True),
)
"""The revision of the tables, which Alembic keeps."""

projects = Table(
    "projects",
    TABLES,
    Column("project_id", Integer, primary_key=True),
    Column("name", TEXT, nullable=False, unique=True),
    Column("pending", BigInteger, nullable=False),
    Column("deleted_before", BigInteger),
)
"""`pending` is the number of labels whose ranking is not stored; events before `deleted_before`
were deleted."""

contexts = Table(
    "contexts",
    TABLES,
    Column("context_id", Integer, primary_key=True),
    _of_project(),
    Column("digest", LargeBinary(16), nullable=False),
    *_columns(TEXT, "model", "version", "environment", "attributes"),
    Column("rankings", BigInteger, nullable=False),
    Column("first", BigInteger),
    Column("last", BigInteger),
    UniqueConstraint("project_id", "digest"),
)
"""What many rankings have in common; `attributes` is a JSON object. The number of their rankings
and the times of the first and the last are kept here for the list of versions."""

blocks = Table(
    "blocks",
    TABLES,
    Column("block_id", SEQ, primary_key=True, autoincrement=False),
    _of_project(),
    Column("start", BigInteger, nullable=False),
    *_columns(SmallInteger, "kind", "environment"),
    *_columns(BigInteger, "last_seq", "first", "last", "rankings", "labels"),
    Column("contexts", TEXT, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("checksum", LargeBinary(16), nullable=False),
    Index("blocks_by_start", "project_id", "start", "kind", "environment"),
    Index("blocks_by_seq", "project_id", "last_seq"),
)
"""The log: columns of rankings of one hour and environment, or of labels of such rankings. They are
in `bodies`. `block_id` is the smallest number of its events and `last_seq` the largest; `first` and
`last` are times of rankings, and `contexts` is JSON with the number of rankings by context and
their first and last times."""

bodies = Table(
    "bodies",
    TABLES,
    Column("block_id", SEQ, primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
)
"""The columns of blocks, as the core encodes them."""

ids = Table(
    "ids",
    TABLES,
    *_columns(BigInteger, "high", "low", "seq", "digest", "time"),
    Column("role", SmallInteger, nullable=False),
    Column("checksum", BigInteger, nullable=False),
    PrimaryKeyConstraint("high", "low"),
    sqlite_with_rowid=False,
)
"""By 16 bytes of a hash of a project and an id: the number of the event that has the id, 8 bytes of
a digest of its content, and the time of a ranking. `role` says whether the id is that of an event,
of a ranking or of both, and the environment of a ranking; see `log/ids.py`. `checksum` is that of
all other columns."""

pending = Table(
    "pending",
    TABLES,
    Column("seq", SEQ, primary_key=True, autoincrement=False),
    _of_project(),
    *_columns(TEXT, "event_id", "ranking_id", "doc_id"),
    Column("time", BigInteger, nullable=False),
    Column("kind", SmallInteger, nullable=False),
    Column("labels", TEXT, nullable=False),
    Column("value", Float(53)),
    Column("digest", LargeBinary(16), nullable=False),
    Index("pending_by_ranking", "project_id", "ranking_id"),
)
"""The labels whose ranking is not stored yet."""

counters = Table(
    "counters",
    TABLES,
    _of_project(is_key=True),
    Column("reason", TEXT, primary_key=True),
    Column("count", BigInteger, nullable=False),
)
"""How many events were stored or discarded, by reason."""

keys = Table(
    "keys",
    TABLES,
    Column("key_id", TEXT, primary_key=True),
    _of_project(),
    *_columns(TEXT, "scopes", "name", "creator"),
    Column("created", BigInteger, nullable=False),
    Column("digest", LargeBinary(32), nullable=False),
    *(Column(name, BigInteger) for name in ("revoked", "expires", "used")),
)
"""API keys; `scopes` are words, and `digest` is that of the secret, which is stored nowhere. `used`
is when one was used last, to the minute."""

people = Table(
    "people",
    TABLES,
    Column("person_id", Integer, primary_key=True),
    Column("email", TEXT, nullable=False, unique=True),
    *_columns(TEXT, "name", "subject", "groups", "password", "link", "totp", "recovery"),
    *_columns(BigInteger, "created", "link_ends", "totp_step"),
    Column("disabled", BigInteger),
)
"""Accounts; `groups` and `recovery` are JSON. The database has the hash of a password, only the
digest of a link, and only the ID of the secret of an authenticator app."""

roles = Table(
    "roles",
    TABLES,
    Column("role_id", Integer, primary_key=True),
    Column("project_id", Integer, ForeignKey("projects.project_id")),
    *_columns(TEXT, "member", "role"),
    UniqueConstraint("project_id", "member"),
    Index("roles_of_member", "member"),
)
"""The roles of people and groups; without a project, that of operators."""

sessions = Table(
    "sessions",
    TABLES,
    Column("digest", TEXT, primary_key=True),
    Column("person_id", Integer, ForeignKey("people.person_id"), nullable=False),
    *_columns(BigInteger, "created", "seen"),
    *_columns(TEXT, "agent", "rights"),
    Index("sessions_of_person", "person_id", "created"),
)
"""Browsers that are signed in; `digest` is that of their cookie, which is stored nowhere."""

audit = Table(
    "audit",
    TABLES,
    Column("audit_id", SEQ, primary_key=True),
    Column("project_id", Integer, ForeignKey("projects.project_id")),
    Column("time", BigInteger, nullable=False),
    *_columns(TEXT, "actor", "action", "subject", "before", "after"),
    Index("audit_of_project", "project_id", "audit_id"),
)
"""Who changed what, and what it was before and after, as JSON; sign-ins belong to no project."""

configurations = Table(
    "configurations",
    TABLES,
    Column("configuration_id", SEQ, primary_key=True),
    _of_project(),
    Column("time", BigInteger, nullable=False),
    *_columns(TEXT, "actor", "text"),
)
"""Configurations of projects as JSON; the last one of a project is current."""

progress = Table(
    "progress",
    TABLES,
    _of_project(is_key=True),
    Column("digest", LargeBinary(16), primary_key=True),
    *_columns(BigInteger, "seq", "as_of"),
    *_columns(TEXT, "slicing", "baseline"),
)
"""How far windows are up to date; `digest` is that of the configuration."""

hours = Table(
    "hours",
    TABLES,
    _of_project(is_key=True),
    Column("digest", LargeBinary(16), primary_key=True),
    Column("start", BigInteger, primary_key=True),
    Column("ages", LargeBinary, nullable=False),
    *_columns(BigInteger, "late", "unshown"),
    Column("labels", Text, nullable=False),
    *_columns(BigInteger, "checksum"),
)
"""One row per hour that has rankings; `checksum` is that of all other columns."""

open_hours = Table(
    "open_hours",
    TABLES,
    _of_project(is_key=True),
    Column("digest", LargeBinary(16), primary_key=True),
    Column("start", BigInteger, primary_key=True),
    *_columns(BigInteger, "as_of", "rankings"),
    Column("is_behind", Boolean, nullable=False),
)
"""One row per hour that was not final when it was summed, at `as_of`; `is_behind` if later events
still have to be summed."""

cells = Table(
    "cells",
    TABLES,
    _of_project(is_key=True),
    Column("digest", LargeBinary(16), primary_key=True),
    *_keys(BigInteger, "length", "start"),
    *_keys(TEXT, "slice", "environment", "model", "version"),
    Column("is_mature", Boolean, primary_key=True),
    *_columns(LargeBinary, "counts", "defined", "sums", "spread"),
    Column("checksum", BigInteger, nullable=False),
    Index("cells_by_slice", "project_id", "digest", "length", "slice", "start"),
)
"""One row per cell of a window; `checksum` is that of all other columns."""

rules = Table(
    "rules",
    TABLES,
    _of_project(is_key=True),
    Column("name", TEXT, primary_key=True),
    *_columns(TEXT, "rule", "progress", "state", "reason"),
    *_columns(BigInteger, "since", "evaluated"),
    Column("silenced_until", BigInteger),
    Column("revision", BigInteger, nullable=False),
)
"""Rules and their states; `rule` and `progress` are JSON, and each change adds 1 to `revision`."""

incidents = Table(
    "incidents",
    TABLES,
    Column("incident_id", TEXT, primary_key=True),
    _of_project(),
    *_columns(TEXT, "rule", "kind", "state"),
    *_columns(BigInteger, "opened", "updated"),
    Column("body", TEXT, nullable=False),
    Index("incidents_by_state", "project_id", "state", "opened"),
    Index("incidents_of_project", "project_id", "opened", "incident_id"),
)
"""Problems that rules have found; `body` is JSON with everything, also with what the other columns
say."""

incident_changes = Table(
    "incident_changes",
    TABLES,
    Column("number", SEQ, primary_key=True),
    Column("incident_id", TEXT, ForeignKey("incidents.incident_id"), nullable=False),
    Column("time", BigInteger, nullable=False),
    *_columns(TEXT, "action", "actor", "note"),
    Index("changes_of_incident", "incident_id", "number"),
)
"""The history of incidents: every change, with who made it."""

outbox = Table(
    "outbox",
    TABLES,
    Column("number", SEQ, primary_key=True),
    _of_project(),
    *_columns(TEXT, "notification_id", "channel", "body"),
    Column("created", BigInteger, nullable=False),
    Column("status", TEXT, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due", BigInteger, nullable=False),
    Column("finished", BigInteger),
    Column("problem", TEXT, nullable=False),
    Index("outbox_of_project", "project_id", "number"),
    Index("outbox_by_status", "status", "due"),
)
"""Notifications; `status` is waiting, delivered, dead or summed."""

webhooks = Table(
    "webhooks",
    TABLES,
    _of_project(is_key=True),
    *_columns(TEXT, "url", "secret_id"),
    Column("allows_http", Boolean, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("disabled", BigInteger),
)
"""Where the notifications of a project are sent. The database has only the id of the secret that
signs them."""

secrets = Table(
    "secrets",
    SERVER_TABLES,
    Column("secret_id", Text, primary_key=True),
    Column("secret", Text, nullable=False),
)
"""Secrets by their ids, which are in `webhooks`; a store in a file has them in another one."""


def create_tables(connection: Connection) -> None:
    """Create all tables but that of the revision, within a transaction: there are none."""
    # Looking for each of them first would take most of the time.
    TABLES.create_all(connection, checkfirst=False)
    if connection.dialect.name == "postgresql":
        SERVER_TABLES.create_all(connection, checkfirst=False)
