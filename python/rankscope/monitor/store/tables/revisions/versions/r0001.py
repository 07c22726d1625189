"""The tables of the first release.

Until that release, they are made from their metadata, so that they are described once, and change
with it. At the release, this file gets the tables as they are then, and is never changed again.
"""

from __future__ import annotations

from alembic import op

from rankscope.monitor.store.tables.schema import create_tables

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    create_tables(op.get_bind())
