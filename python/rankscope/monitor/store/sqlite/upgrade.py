"""Upgrades the tables of a store that an earlier version wrote."""

from __future__ import annotations

import secrets

from sqlalchemy import delete, insert, select, text

from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.sqlite.connection import converted_errors, driver_of
from rankscope.monitor.store.sqlite.high_water import write_facts
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.schema import webhooks
from rankscope.monitor.store.tables.windows import CELLS, HOURS, checksum_of
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from rankscope.monitor.store.sqlite.high_water import Mark
    from rankscope.monitor.store.sqlite.secrets import SecretFile

UNCLEAN = "unclean"
"""The name of a fact that is stored while freed pages of the file may contain secrets."""


def upgrade(connection: Connection, stored: Mark, version: int, secret_file: SecretFile) -> Mark:
    """Upgrade the tables of an earlier version, and return the number of this transaction.

    Raises:
        FileError: The store or the file of secrets cannot be written.
    """
    if version < 2:
        rows = [{"name": name, "value": "0"} for name in ("last_commit", "lost_commits")]
        connection.execute(insert(schema.meta), rows)
        _add_checksums(connection)
        _move_secrets(connection, secret_file)
    mark = replace(stored, commit=stored.commit + 1)
    write_facts(connection, schema_version=schema.VERSION, last_commit=mark.commit)
    return mark


def clean(connection: Connection, path: Path) -> None:
    """Overwrite the pages that `upgrade` has freed, so that no secret is left in them or the log.

    The connection must be outside of a transaction. Where a reader holds the log, this is repeated
    when the store is opened next.

    Raises:
        FileError: The disk has no room for a second copy of the store.
    """
    with connection.begin():
        asked = select(schema.meta.c.value).where(schema.meta.c.name == UNCLEAN)
        is_clean = connection.execute(asked).one_or_none() is None
    if is_clean:
        return
    driver = driver_of(connection)
    with converted_errors(path):
        # The copy that VACUUM makes may be larger than the memory.
        kept = driver.execute("PRAGMA temp_store").fetchone()[0]
        driver.execute("PRAGMA temp_store=FILE")
        driver.execute("VACUUM")
        driver.execute(f"PRAGMA temp_store={kept}")
        is_busy, *_ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if not is_busy:
        with connection.begin():
            connection.execute(delete(schema.meta).where(schema.meta.c.name == UNCLEAN))


def _add_checksums(connection: Connection) -> None:
    driver = driver_of(connection)
    for windows in (CELLS, HOURS):
        table = windows.table.name
        connection.exec_driver_sql(
            f"ALTER TABLE {table} ADD COLUMN checksum BIGINT NOT NULL DEFAULT 0"
        )
        driver.create_function(
            "checksum_of",
            len(windows.checked),
            lambda *values: checksum_of(values),
            deterministic=True,
        )
        columns = ", ".join(windows.checked)
        connection.exec_driver_sql(f"UPDATE {table} SET checksum = checksum_of({columns})")  # noqa: S608 - our own names


def _move_secrets(connection: Connection, secret_file: SecretFile) -> None:
    """Move the secrets of webhooks from the database into their file."""
    rows = connection.execute(text("SELECT * FROM webhooks")).mappings().all()
    webhooks.drop(connection)
    webhooks.create(connection)
    for row in rows:
        secret_id = secrets.token_hex(8)
        secret_file.add(secret_id, Secret(row["secret"]))
        kept = {name: row[name] for name in webhooks.columns.keys() if name in row}  # noqa: SIM118 - columns have no such test
        connection.execute(insert(webhooks), {**kept, "secret_id": secret_id})
    was_set = select(schema.audit.c.audit_id).where(schema.audit.c.action == "webhook.set")
    if rows or connection.execute(was_set.limit(1)).one_or_none() is not None:
        connection.execute(insert(schema.meta), {"name": UNCLEAN, "value": "1"})
