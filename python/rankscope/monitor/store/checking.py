"""Holds the numbers that are kept beside events against the events."""

from __future__ import annotations

from sqlalchemy import func, select

from rankscope.monitor.store import schema
from rankscope.monitor.store.reading import is_pending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection


def find_wrong_count(connection: Connection) -> str | None:
    """Find a number that is not what it says.

    Args:
        connection: A connection, which sees one moment.

    Returns:
        What is wrong, if anything is.
    """
    common, shown = schema.contexts, schema.rankings
    projects, told = schema.projects, schema.labels
    times = shown.c.time
    counted = select(shown.c.context_id, func.count(), func.min(times), func.max(times))
    kept = select(common.c.context_id, common.c.rankings, common.c.first, common.c.last)
    pending = select(told.c.project_id, func.count()).where(is_pending())
    for what, said, found in (
        ("rankings", kept.where(common.c.rankings != 0), counted.group_by(shown.c.context_id)),
        (
            "labels that wait",
            select(projects.c.project_id, projects.c.pending).where(projects.c.pending != 0),
            pending.group_by(told.c.project_id),
        ),
    ):
        if set(map(tuple, connection.execute(said))) != set(map(tuple, connection.execute(found))):
            return f"the number of {what} is wrong"
    return None
