"""Replaces a validation or training set in one transaction."""

from __future__ import annotations

from sqlalchemy import BigInteger, cast, delete, func, insert, select, update

from rankscope.errors import UsageError
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.rejection import show
from rankscope.monitor.store.records import Deleted
from rankscope.monitor.store.tables.events import store_events
from rankscope.monitor.store.tables.schema import (
    contexts,
    counters,
    events,
    labels,
    open_hours,
    progress,
    rankings,
)
from rankscope.monitor.store.tables.statements import floor_time, in_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from rankscope.monitor.store.tables.events import PreparedEvent
    from rankscope.monitor.store.tables.transaction import Transaction

REPLACED = "replaced_rankings"
"""The counter of rankings of sets that were replaced. If it changes while rankings are
read, parts of two sets may have been read."""
ERASED = "erased_rankings"
"""The counter of rankings that were deleted by what they are, likewise."""


def replace_set(
    transaction: Transaction,
    project: str,
    environment: str,
    batch: Sequence[PreparedEvent],
    rejected: Mapping[str, int],
) -> Deleted:
    """Delete the rankings of a set with all their labels, and store others in their place."""
    connection = transaction.connection
    project_id = transaction.project(project)
    own = select(contexts.c.context_id).where(
        contexts.c.project_id == project_id, contexts.c.environment == environment
    )
    theirs = rankings.c.context_id.in_(own)
    mark_hours(connection, project_id, _list_hours(connection, project_id, environment))
    their_labels = (labels.c.project_id == project_id) & labels.c.ranking_id.in_(
        select(rankings.c.ranking_id).where(theirs)
    )
    connection.execute(
        delete(events).where(events.c.seq.in_(select(labels.c.seq).where(their_labels)))
    )
    labelled = connection.execute(delete(labels).where(their_labels)).rowcount
    connection.execute(delete(events).where(events.c.seq.in_(select(rankings.c.seq).where(theirs))))
    ranked = connection.execute(delete(rankings).where(theirs)).rowcount
    emptied = update(contexts).where(contexts.c.context_id.in_(own))
    connection.execute(emptied.values(rankings=0, first=None, last=None))
    if ranked:
        transaction.counts[project_id, REPLACED] += ranked
    for prepared, outcome in zip(
        batch, store_events(transaction, project, batch, rejected), strict=True
    ):
        if outcome.status != "accepted":
            raise UsageError(
                f"expected ids that nothing outside the {environment} set has, "
                f"found {show(prepared.event_id)}; the set stays as it was",
                hint="give the rankings of a set ids of their own",
                code="set_conflict",
            )
    return Deleted(ranked, labelled)


def _list_hours(connection: Connection, project_id: int, environment: str) -> list[int]:
    """List the starts of the hours of a set."""
    wanted = (
        select(floor_time(rankings.c.time, HOUR))
        .join(contexts, contexts.c.context_id == rankings.c.context_id)
        .where(rankings.c.project_id == project_id, contexts.c.environment == environment)
        .distinct()
    )
    return list(connection.execute(wanted).scalars())


def mark_hours(connection: Connection, project_id: int, starts: Sequence[int]) -> None:
    """Record that hours have to be summed again, for all windows there are."""
    digests = connection.execute(
        select(progress.c.digest).where(progress.c.project_id == project_id)
    ).scalars()
    for digest in digests.all() if starts else ():
        owner = {"project_id": project_id, "digest": digest}
        known = (open_hours.c.project_id == project_id) & (open_hours.c.digest == digest)
        behind = {"as_of": 0, "rankings": 0, "is_behind": True}
        for at in range(0, len(starts), 500):
            some = starts[at : at + 500]
            connection.execute(delete(open_hours).where(known, open_hours.c.start.in_(some)))
            connection.execute(
                insert(open_hours), [owner | behind | {"start": one} for one in some]
            )


def count_replaced(connection: Connection, project: str) -> int:
    """Return how many rankings were replaced or erased so far."""
    # PostgreSQL makes a decimal number of a sum of integers.
    wanted = select(cast(func.sum(counters.c.count), BigInteger)).where(
        in_project(counters.c.project_id, project), counters.c.reason.in_((REPLACED, ERASED))
    )
    return int(connection.execute(wanted).scalar_one() or 0)
