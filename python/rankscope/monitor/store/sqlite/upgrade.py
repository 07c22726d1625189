"""Upgrades the tables of a store that an earlier version wrote."""

from __future__ import annotations

from sqlalchemy import delete, select

from rankscope.monitor.store.sqlite.connection import converted_errors, driver_of
from rankscope.monitor.store.sqlite.high_water import write_facts
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.migrations import migrate
from rankscope.monitor.store.tables.migrations.version_2 import UNCLEAN
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from rankscope.monitor.store.sqlite.high_water import Mark
    from rankscope.monitor.store.sqlite.secrets import SecretFile


def upgrade(connection: Connection, stored: Mark, version: int, secret_file: SecretFile) -> Mark:
    """Upgrade the tables of an earlier version, and return the number of this transaction."""
    migrate(connection, version, secret_file)
    mark = replace(stored, commit=stored.commit + 1)
    write_facts(connection, schema_version=schema.VERSION, last_commit=mark.commit)
    return mark


def clean(connection: Connection, path: Path) -> None:
    """Overwrite the pages that `upgrade` has freed, so that no secret is left in them or the log.

    The connection must be outside of a transaction. Where a reader holds the log, this is repeated
    when the store is opened next.
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
