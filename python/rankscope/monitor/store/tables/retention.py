"""Deletes old events in small transactions, so that new ones do not have to wait."""

from __future__ import annotations

from sqlalchemy import delete, select, update

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.records import Deleted
from rankscope.monitor.store.tables.rankings import is_pending
from rankscope.monitor.store.tables.schema import events, labels, projects, rankings
from rankscope.monitor.store.tables.sets import ERASED, mark_hours
from rankscope.monitor.store.tables.statements import FIRST, LAST, floor_time, in_project
from rankscope.monitor.store.tables.versions import count_by_context, subtract_rankings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Table

    from rankscope.monitor.store.records import Chosen
    from rankscope.monitor.store.tables.transaction import Transaction

AT_ONCE = 500
"""How many events a transaction deletes."""


def mark_deleted(transaction: Transaction, project: str, time: int) -> None:
    """Record that events before a time are incomplete, before the first of them is deleted."""
    earlier = projects.c.deleted_before.is_(None) | (projects.c.deleted_before < time)
    number = projects.c.project_id == transaction.project(project)
    transaction.connection.execute(
        update(projects).where(number, earlier).values(deleted_before=time)
    )


def delete_rankings(transaction: Transaction, project: str, time: int) -> Deleted:
    """Delete some of the rankings before a time, with all their labels."""
    connection = transaction.connection
    old = in_project(rankings.c.project_id, project) & (rankings.c.time < time)
    ranked = _choose(connection, rankings, old)
    ranking_ids = select(rankings.c.ranking_id).where(rankings.c.seq.in_(ranked))
    theirs = in_project(labels.c.project_id, project) & labels.c.ranking_id.in_(ranking_ids)
    count = 0
    while ranked and (labelled := _choose(connection, labels, theirs)):
        _delete(connection, labels, labelled)
        count += len(labelled)
    by_context = count_by_context(connection, ranked)
    _delete(connection, rankings, ranked)
    subtract_rankings(connection, by_context)
    return _count(transaction, project, Deleted(len(ranked), count))


def erase_rankings(transaction: Transaction, project: str, chosen: Chosen) -> Deleted:
    """Delete some of the chosen rankings, with all their labels, and mark their hours.

    Labels that wait for one of the chosen ids are deleted, too.
    """
    connection = transaction.connection
    project_id = transaction.project(project)
    ranked = _choose(connection, rankings, (rankings.c.project_id == project_id) & _fits(chosen))
    is_chosen = rankings.c.seq.in_(ranked)
    ranking_ids = select(rankings.c.ranking_id).where(is_chosen)
    count = _delete_labels(connection, project_id, labels.c.ranking_id.in_(ranking_ids))
    hours = connection.execute(
        select(floor_time(rankings.c.time, HOUR)).where(is_chosen).distinct()
    )
    mark_hours(connection, project_id, list(hours.scalars()))
    by_context = count_by_context(connection, ranked)
    _delete(connection, rankings, ranked)
    subtract_rankings(connection, by_context)
    if ranked:
        transaction.counts[project_id, ERASED] += len(ranked)
    elif chosen.ranking_ids is not None and chosen.user_id is None:
        waiting = labels.c.ranking_id.in_(chosen.ranking_ids) & is_pending()
        count = _delete_labels(connection, project_id, waiting)
        transaction.pending[project_id] -= count
    return _count(transaction, project, Deleted(len(ranked), count))


def _fits(chosen: Chosen) -> ColumnElement[bool]:
    """Select the chosen rankings."""
    wanted: ColumnElement[bool] = rankings.c.time.between(
        FIRST if chosen.since is None else chosen.since,
        LAST if chosen.until is None else chosen.until - 1,
    )
    if chosen.user_id is not None:
        wanted &= rankings.c.user_id == chosen.user_id
    if chosen.ranking_ids is not None:
        wanted &= rankings.c.ranking_id.in_(chosen.ranking_ids)
    return wanted


def _delete_labels(connection: Connection, project_id: int, wanted: ColumnElement[bool]) -> int:
    theirs = (labels.c.project_id == project_id) & wanted
    count = 0
    while chosen := _choose(connection, labels, theirs):
        _delete(connection, labels, chosen)
        count += len(chosen)
    return count


def find_pending(connection: Connection, project: str, time: int) -> list[int]:
    """Find the labels before a time whose ranking is not stored."""
    old = in_project(labels.c.project_id, project) & (labels.c.time < time) & is_pending()
    return list(connection.execute(select(labels.c.seq).where(old)).scalars())


def delete_pending(transaction: Transaction, project: str, seqs: Sequence[int]) -> Deleted:
    """Delete those of some labels whose ranking has not come in the meantime."""
    chosen = _choose(transaction.connection, labels, labels.c.seq.in_(seqs) & is_pending())
    _delete(transaction.connection, labels, chosen)
    transaction.pending[transaction.project(project)] -= len(chosen)
    return _count(transaction, project, Deleted(0, len(chosen)))


def _count(transaction: Transaction, project: str, deleted: Deleted) -> Deleted:
    project_id = transaction.project(project)
    counts = {"deleted_rankings": deleted.rankings, "deleted_labels": deleted.labels}
    for reason, count in counts.items():
        if count:
            transaction.counts[project_id, reason] += count
    return deleted


def _choose(connection: Connection, table: Table, wanted: ColumnElement[bool]) -> list[int]:
    chosen = select(table.c.seq).where(wanted).limit(AT_ONCE)
    return list(connection.execute(chosen).scalars())


def _delete(connection: Connection, table: Table, seqs: list[int]) -> None:
    for rows in (table, events):
        connection.execute(delete(rows).where(rows.c.seq.in_(seqs)))
