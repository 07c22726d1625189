"""How many rankings each version of a model has shown, and from when to when.

That is kept beside what rankings have in common, so that no ranking is read to tell it.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, case, func, or_, select, update

from rankscope.monitor.store import schema
from rankscope.monitor.store.protocol import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import BindParameter, Connection


class Shown(NamedTuple):
    """Rankings that are new to a context.

    Args:
        rankings: How many.
        first: The time of the first of them.
        last: That of the last.
    """

    rankings: int
    first: int
    last: int

    def add(self, time: int) -> Shown:
        """Count one more."""
        return Shown(self.rankings + 1, min(self.first, time), max(self.last, time))


def count_shown(connection: Connection, shown: Mapping[int, Shown]) -> None:
    """Add new rankings to what contexts have.

    Args:
        connection: A connection that writes.
        shown: The new ones, by context.
    """
    table = schema.contexts
    first: BindParameter[int] = bindparam("new_first")
    last: BindParameter[int] = bindparam("new_last")
    is_first = or_(table.c.first.is_(None), table.c.first > first)
    is_last = or_(table.c.last.is_(None), table.c.last < last)
    added = (
        update(table)
        .where(table.c.context_id == bindparam("context"))
        .values(
            rankings=table.c.rankings + bindparam("count"),
            first=case((is_first, first), else_=table.c.first),
            last=case((is_last, last), else_=table.c.last),
        )
    )
    rows = [
        {"context": context, "count": new.rankings, "new_first": new.first, "new_last": new.last}
        for context, new in shown.items()
    ]
    if rows:
        connection.execute(added, rows)


def find_contexts(connection: Connection, seqs: Sequence[int]) -> dict[int, int]:
    """Count rankings, given by their numbers, by context."""
    shown = schema.rankings
    wanted = (
        select(shown.c.context_id, func.count())
        .where(shown.c.seq.in_(seqs))
        .group_by(shown.c.context_id)
    )
    return dict(map(tuple, connection.execute(wanted)))


def discount_deleted(connection: Connection, deleted: Mapping[int, int]) -> None:
    """Take rankings that were deleted away from what contexts have.

    Args:
        connection: A connection that writes.
        deleted: How many, by context.
    """
    table, shown = schema.contexts, schema.rankings
    first, last = (
        select(edge(shown.c.time)).where(shown.c.context_id == table.c.context_id).scalar_subquery()
        for edge in (func.min, func.max)
    )
    left = (
        update(table)
        .where(table.c.context_id == bindparam("context"))
        .values(rankings=table.c.rankings - bindparam("count"), first=first, last=last)
    )
    rows = [{"context": context, "count": count} for context, count in deleted.items()]
    if rows:
        connection.execute(left, rows)


def list_versions(connection: Connection, project: str) -> list[Version]:
    """List the versions that have rankings, by model, and those of one in the order of time."""
    table, named = schema.contexts, schema.projects
    who = (table.c.model, table.c.version, table.c.environment)
    first, last = func.min(table.c.first), func.max(table.c.last)
    found = (
        select(*who, first, last, func.sum(table.c.rankings))
        .join(named, named.c.project_id == table.c.project_id)
        .where(named.c.name == project, table.c.rankings > 0)
        .group_by(*who)
        .order_by(table.c.model, first, table.c.version, table.c.environment)
    )
    return [Version(*row[:5], int(row[5])) for row in connection.execute(found)]
