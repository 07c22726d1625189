"""To version 5: the rows of an archived hour are removed in small steps."""

from __future__ import annotations

from sqlalchemy import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.store.tables.migrations import SecretKeeper

MOVES = """
    CREATE TABLE history_moves (
        hour_id BIGINT NOT NULL,
        seq BIGINT NOT NULL,
        PRIMARY KEY (hour_id),
        FOREIGN KEY(hour_id) REFERENCES history (hour_id)
    )
"""


def migrate(connection: Connection, _secrets: SecretKeeper) -> None:
    """Make the table of hours whose rows are being removed, which is empty."""
    connection.execute(text(MOVES))
