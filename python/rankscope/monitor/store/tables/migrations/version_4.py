"""To version 4: final hours can be archived as files, and projects can read a data lake."""

from __future__ import annotations

from sqlalchemy import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.store.tables.migrations import SecretKeeper

TABLES = (
    """
    CREATE TABLE history (
        hour_id INTEGER NOT NULL,
        project_id INTEGER NOT NULL,
        start BIGINT NOT NULL,
        path TEXT NOT NULL,
        rankings BIGINT NOT NULL,
        labels BIGINT NOT NULL,
        first_seq BIGINT NOT NULL,
        last_seq BIGINT NOT NULL,
        size BIGINT NOT NULL,
        checksum BLOB NOT NULL,
        PRIMARY KEY (hour_id),
        UNIQUE (project_id, start),
        FOREIGN KEY(project_id) REFERENCES projects (project_id)
    )
    """,
    """
    CREATE TABLE history_contexts (
        hour_id BIGINT NOT NULL,
        context_id INTEGER NOT NULL,
        rankings BIGINT NOT NULL,
        first BIGINT NOT NULL,
        last BIGINT NOT NULL,
        PRIMARY KEY (hour_id, context_id),
        FOREIGN KEY(hour_id) REFERENCES history (hour_id)
    )
    """,
    "CREATE INDEX history_by_context ON history_contexts (context_id)",
    """
    CREATE TABLE history_ids (
        "key" BIGINT NOT NULL,
        start BIGINT NOT NULL,
        PRIMARY KEY ("key", start)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE history_labels (
        seq INTEGER NOT NULL,
        hour_id BIGINT NOT NULL,
        PRIMARY KEY (seq),
        FOREIGN KEY(hour_id) REFERENCES history (hour_id)
    )
    """,
    "CREATE INDEX history_labels_by_hour ON history_labels (hour_id)",
    """
    CREATE TABLE lakes (
        project_id INTEGER NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (project_id),
        FOREIGN KEY(project_id) REFERENCES projects (project_id)
    )
    """,
    """
    CREATE TABLE lake_files (
        project_id INTEGER NOT NULL,
        kind TEXT NOT NULL,
        path TEXT NOT NULL,
        size BIGINT NOT NULL,
        stamp TEXT NOT NULL,
        seen BIGINT NOT NULL,
        rows BIGINT NOT NULL,
        first BIGINT,
        last BIGINT,
        counts TEXT NOT NULL,
        PRIMARY KEY (project_id, kind, path),
        FOREIGN KEY(project_id) REFERENCES projects (project_id)
    )
    """,
    """
    CREATE TABLE lake_hours (
        project_id INTEGER NOT NULL,
        start BIGINT NOT NULL,
        seq BIGINT NOT NULL,
        spans TEXT NOT NULL,
        counts TEXT NOT NULL,
        matched BIGINT NOT NULL,
        arrived TEXT NOT NULL,
        PRIMARY KEY (project_id, start),
        FOREIGN KEY(project_id) REFERENCES projects (project_id)
    )
    """,
)


def migrate(connection: Connection, _secrets: SecretKeeper) -> None:
    """Make the tables of the history and of lakes, which are empty."""
    for statement in TABLES:
        connection.execute(text(statement))
