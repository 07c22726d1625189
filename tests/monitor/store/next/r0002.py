"""Add a table of notes, and owners and ranks of projects."""

from __future__ import annotations

import os
import signal

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    """Add to the tables; a test may end the process in between."""
    op.create_table(
        "notes",
        sa.Column("note_id", sa.Integer, primary_key=True),
        sa.Column("project_id", sa.Integer, sa.ForeignKey("projects.project_id"), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.add_column("projects", sa.Column("owner", sa.Text))
    if os.environ.get("RANKSCOPE_TEST_KILL") == "upgrade":
        os.kill(os.getpid(), signal.SIGKILL)
    op.add_column("projects", sa.Column("rank", sa.Integer, nullable=False, server_default="0"))
    op.create_index("projects_by_rank", "projects", ["rank"])
