"""To version 7: rankings that are known by their own ids have no second one."""

from __future__ import annotations

from sqlalchemy import text

from rankscope.monitor.store.tables.statements import POSTGRES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.store.tables.migrations import SecretKeeper

REBUILT = (
    """
    CREATE TABLE new_events (
        seq INTEGER NOT NULL,
        project_id INTEGER NOT NULL,
        event_id TEXT,
        digest BLOB NOT NULL,
        PRIMARY KEY (seq),
        UNIQUE (project_id, event_id),
        FOREIGN KEY(project_id) REFERENCES projects (project_id)
    )
    """,
    # All columns and no others: so SQLite copies the index, too, instead of sorting all ids again.
    "INSERT INTO new_events SELECT * FROM events",
    "DROP TABLE events",
    "ALTER TABLE new_events RENAME TO events",
)
"""SQLite cannot change a column."""


def migrate(connection: Connection, _secrets: SecretKeeper) -> None:
    """Let events be without an id; those that are stored keep theirs."""
    if connection.dialect.name == POSTGRES:
        connection.execute(text("ALTER TABLE events ALTER COLUMN event_id DROP NOT NULL"))
        return
    for statement in REBUILT:
        connection.execute(text(statement))
