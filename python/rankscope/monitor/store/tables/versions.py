"""How many rankings each version of a model has shown, and from when to when.

That is kept beside what rankings have in common, so that no ranking is read to tell it.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, case, func, or_, select, update

from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.folding import choose_versions
from rankscope.monitor.store.records import Version
from rankscope.monitor.store.sqlite.connection import fetch_rows
from rankscope.monitor.store.tables import schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeAlias

    from sqlalchemy import BindParameter, Connection

    from rankscope.monitor.events.event import Environment
    from rankscope.monitor.store.folding import Pair

    # How many rankings, and the times of the first and the last of them.
    Counted: TypeAlias = list[int]

AT_ONCE = 10_000
RECENT = 28 * DAY
"""How long before the last ranking of an environment a version counts as one in use."""


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


def count_by_hour(
    connection: Connection, project: str, since: int, until: int
) -> list[tuple[int, int, int]]:
    """Count the rankings from one time to before another, by hour and context.

    Returns:
        Starts of hours, the numbers of contexts, and how many rankings there are.
    """
    shown, named = schema.rankings, schema.projects
    # What is left over is never negative, although times may be.
    start = shown.c.time - (shown.c.time % HOUR + HOUR) % HOUR
    number = select(named.c.project_id).where(named.c.name == project).scalar_subquery()
    wanted = (
        select(start, shown.c.context_id, func.count())
        .where(shown.c.project_id == number, shown.c.time.between(since, until - 1))
        .group_by(start, shown.c.context_id)
    )
    return [(at, context, count) for at, context, count in connection.execute(wanted)]


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
    """List the versions that have rankings, by model, and those of one in the order of time.

    Where an environment has more than `MOST_VERSIONS`, those with the most rankings are listed,
    and first of all those that ranked in the last `RECENT`. The others are one, named `<other>`.
    """
    table, named = schema.contexts, schema.projects
    wanted = (
        select(
            table.c.environment,
            table.c.model,
            table.c.version,
            table.c.rankings,
            table.c.first,
            table.c.last,
        )
        .join(named, named.c.project_id == table.c.project_id)
        .where(named.c.name == project, table.c.rankings > 0)
    )
    shown: dict[Environment, dict[Pair, Counted]] = {}
    result = connection.execute(wanted)
    # Added up here: SQLite would sort all of them for it, which takes longer.
    while rows := fetch_rows(result, AT_ONCE):
        check_deadline()
        for environment, model, version, *counted in rows:
            theirs = shown.setdefault(environment, {})
            known = theirs.setdefault((model, version), counted)
            if known is not counted:
                known[0] += counted[0]
                known[1] = min(known[1], counted[1])
                known[2] = max(known[2], counted[2])
    listed = [one for each in shown.items() for one in _fold(*each)]
    return sorted(listed, key=lambda one: (one.model, one.first, one.version, one.environment))


def _fold(environment: Environment, shown: Mapping[Pair, Counted]) -> Iterator[Version]:
    """List the versions of an environment, those that are too many as one."""
    recent = max(last for _, _, last in shown.values()) - RECENT
    # More than all rankings, so that no number of older ones counts as much as a recent version.
    bonus = sum(count for count, _, _ in shown.values()) + 1
    folding = choose_versions(
        {
            pair: count + bonus if last >= recent else count
            for pair, (count, _, last) in shown.items()
        }
    )
    folded: dict[Pair, list[Counted]] = {}
    for pair, counted in shown.items():
        if pair in folding.pairs:
            count, first, last = counted
            yield Version(*pair, environment, first, last, count)
        else:
            folded.setdefault(folding.place(*pair), []).append(counted)
    for pair, those in folded.items():
        counts, firsts, lasts = zip(*those, strict=True)
        yield Version(*pair, environment, min(firsts), max(lasts), sum(counts), len(those))
