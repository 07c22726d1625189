"""The next release of rankscope: it knows one more revision of the tables, and uses what that adds.

    next_release.py WORD…

runs `rankscope WORD…` of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rankscope.monitor.store.tables import revisions, schema, version
from sqlalchemy import Column, ForeignKey, Index, Integer, Table, Text

NEXT = "0002"
FOLDER = Path(__file__).with_name("next")


def install(oldest="0001"):
    """Make this process the next release, and say which one is the oldest that still works."""
    version.REVISIONS[NEXT] = oldest
    revisions.FOLDERS.append(FOLDER)
    schema.projects.append_column(Column("owner", Text))
    rank = Column("rank", Integer, nullable=False, server_default="0")
    schema.projects.append_column(rank)
    Index("projects_by_rank", rank)
    Table(
        "notes",
        schema.TABLES,
        Column("note_id", Integer, primary_key=True),
        Column("project_id", Integer, ForeignKey("projects.project_id"), nullable=False),
        Column("text", Text, nullable=False),
    )


if __name__ == "__main__":
    install()
    from rankscope._cli import main

    sys.exit(main(sys.argv[1:]))
