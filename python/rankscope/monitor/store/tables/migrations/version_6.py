"""To version 6: archived hours have files with the values of their rankings."""

from __future__ import annotations

from sqlalchemy import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.store.tables.migrations import SecretKeeper

VALUES = """
    CREATE TABLE history_values (
        hour_id BIGINT NOT NULL,
        definition TEXT NOT NULL,
        path TEXT NOT NULL,
        rankings BIGINT NOT NULL,
        size BIGINT NOT NULL,
        checksum BLOB NOT NULL,
        PRIMARY KEY (hour_id),
        FOREIGN KEY(hour_id) REFERENCES history (hour_id)
    )
"""


def migrate(connection: Connection, _secrets: SecretKeeper) -> None:
    """Make the table of files with values, which is empty until the next hour is archived."""
    connection.execute(text(VALUES))
