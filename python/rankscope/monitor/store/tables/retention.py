"""Deletes what is old, a little at a time, so that new events need not wait."""

from __future__ import annotations

from sqlalchemy import delete, select, update

from rankscope.monitor.store.records import Deleted
from rankscope.monitor.store.sqlite.reader import is_of, is_pending
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.versions import discount_deleted, find_contexts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Table

    from rankscope.monitor.store.tables.transaction import Transaction

AT_ONCE = 500


def mark_deleted(transaction: Transaction, project: str, time: int) -> None:
    """Write down that what is before a time is not whole any more, before the first of it goes."""
    table = schema.projects
    earlier = table.c.deleted_before.is_(None) | (table.c.deleted_before < time)
    of = table.c.project_id == transaction.project(project)
    transaction.connection.execute(update(table).where(of, earlier).values(deleted_before=time))


def delete_rankings(transaction: Transaction, project: str, time: int) -> Deleted:
    """Delete some of the rankings before a time, with all their labels; nothing if none is left."""
    shown, told = schema.rankings, schema.labels
    connection = transaction.connection
    old = is_of(shown.c.project_id, project) & (shown.c.time < time)
    ranked = _choose(connection, shown, old)
    of_those = select(shown.c.ranking_id).where(shown.c.seq.in_(ranked))
    theirs = is_of(told.c.project_id, project) & told.c.ranking_id.in_(of_those)
    labels = 0
    while ranked and (labelled := _choose(connection, told, theirs)):
        _delete(connection, told, labelled)
        labels += len(labelled)
    gone = find_contexts(connection, ranked)
    _delete(connection, shown, ranked)
    discount_deleted(connection, gone)
    return _count(transaction, project, Deleted(len(ranked), labels))


def find_pending(connection: Connection, project: str, time: int) -> list[int]:
    """Find the labels before a time whose rankings are not there."""
    told = schema.labels
    old = is_of(told.c.project_id, project) & (told.c.time < time) & is_pending()
    return list(connection.execute(select(told.c.seq).where(old)).scalars())


def delete_pending(transaction: Transaction, project: str, seqs: Sequence[int]) -> Deleted:
    """Delete some of these labels, if their rankings have not come in between."""
    told = schema.labels
    labelled = _choose(transaction.connection, told, told.c.seq.in_(seqs) & is_pending())
    _delete(transaction.connection, told, labelled)
    transaction.pending[transaction.project(project)] -= len(labelled)
    return _count(transaction, project, Deleted(0, len(labelled)))


def _count(transaction: Transaction, project: str, deleted: Deleted) -> Deleted:
    project_id = transaction.project(project)
    for reason, count in (
        ("deleted_rankings", deleted.rankings),
        ("deleted_labels", deleted.labels),
    ):
        if count:
            transaction.counts[project_id, reason] += count
    return deleted


def _choose(connection: Connection, table: Table, wanted: ColumnElement[bool]) -> list[int]:
    chosen = select(table.c.seq).where(wanted).limit(AT_ONCE)
    return list(connection.execute(chosen).scalars())


def _delete(connection: Connection, table: Table, seqs: list[int]) -> None:
    for rows in (table, schema.events):
        connection.execute(delete(rows).where(rows.c.seq.in_(seqs)))
