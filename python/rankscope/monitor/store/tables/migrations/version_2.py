"""To version 2: windows have checksums, and secrets of webhooks are kept beside the database."""

from __future__ import annotations

import secrets as random

from sqlalchemy import text

from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.tables.windows import checksum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.store.tables.migrations import SecretKeeper

CELLS = (
    "project_id, digest, length, start, slice, environment, model, version, is_mature, counts, "
    "defined, sums, spread"
)
HOURS = "project_id, digest, start, ages, late, unshown"
WEBHOOKS = """
CREATE TABLE webhooks (
    project_id INTEGER NOT NULL,
    url TEXT NOT NULL,
    secret_id TEXT NOT NULL,
    allows_http BOOLEAN NOT NULL,
    created BIGINT NOT NULL,
    disabled BIGINT,
    PRIMARY KEY (project_id),
    FOREIGN KEY(project_id) REFERENCES projects (project_id)
)
"""
UNCLEAN = "unclean"
"""The name of a fact that is stored while freed pages of the file may contain secrets."""


def migrate(connection: Connection, secrets: SecretKeeper) -> None:
    """Number commits, add checksums, and move the secrets of webhooks out of the database."""
    for name in ("last_commit", "lost_commits"):
        _add_fact(connection, name, "0")
    _add_checksums(connection)
    _move_secrets(connection, secrets)


def _add_checksums(connection: Connection) -> None:
    # Stores of version 1 were files of SQLite, which calls the function for each row.
    driver = connection.connection.driver_connection
    for table, columns in (("cells", CELLS), ("hours", HOURS)):
        connection.execute(
            text(f"ALTER TABLE {table} ADD COLUMN checksum BIGINT NOT NULL DEFAULT 0")
        )
        driver.create_function(  # type: ignore[union-attr]  # of sqlite3
            "checksum_of",
            columns.count(",") + 1,
            lambda *values: checksum_of(values),
            deterministic=True,
        )
        connection.execute(text(f"UPDATE {table} SET checksum = checksum_of({columns})"))  # noqa: S608 - our own names


def _move_secrets(connection: Connection, secrets: SecretKeeper) -> None:
    rows = connection.execute(text("SELECT * FROM webhooks")).mappings().all()
    connection.execute(text("DROP TABLE webhooks"))
    connection.execute(text(WEBHOOKS))
    for row in rows:
        secret_id = random.token_hex(8)
        secrets.add(secret_id, Secret(row["secret"]))
        connection.execute(
            text(
                "INSERT INTO webhooks (project_id, url, secret_id, allows_http, created, disabled) "
                "VALUES (:project_id, :url, :secret_id, :allows_http, :created, :disabled)"
            ),
            {**row, "secret_id": secret_id},
        )
    was_set = text("SELECT 1 FROM audit WHERE action = 'webhook.set' LIMIT 1")
    if rows or connection.execute(was_set).one_or_none() is not None:
        _add_fact(connection, UNCLEAN, "1")


def _add_fact(connection: Connection, name: str, value: str) -> None:
    added = text("INSERT INTO meta (name, value) VALUES (:name, :value)")
    connection.execute(added, {"name": name, "value": value})
