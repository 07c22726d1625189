"""Deletes events from the tables and from files, in small transactions."""

from __future__ import annotations

from functools import partial

from rankscope.deferred import np
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.arrays import find_texts
from rankscope.monitor.store.history import manifest
from rankscope.monitor.store.history.archiver import clean_folder, delete_from_hour
from rankscope.monitor.store.history.hour_file import HourFile
from rankscope.monitor.store.history.replacing import finish_moves
from rankscope.monitor.store.records import Deleted
from rankscope.monitor.store.tables import retention
from rankscope.monitor.store.tables.moves import list_moves
from rankscope.monitor.store.tables.projects import find_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankscope.monitor.store.history.files import HistoryPlace
    from rankscope.monitor.store.history.writing import Writer
    from rankscope.monitor.store.records import Chosen, Chunk
    from rankscope.monitor.store.tables.transaction import Transaction


def delete_before(store: Writer, folder: HistoryPlace | None, project: str, time: int) -> Deleted:
    """Delete the rankings before a time with their labels, and earlier labels without ranking."""
    if store.query(partial(find_project, name=project)) is None:
        return Deleted(0, 0)
    store.transact(partial(retention.mark_deleted, project=project, time=time)).result()
    pending = store.query(partial(retention.find_pending, project=project, time=time))
    done = Deleted(0, 0)
    for start in range(0, len(pending), retention.AT_ONCE):
        seqs = pending[start : start + retention.AT_ONCE]
        work = partial(retention.delete_pending, project=project, seqs=seqs)
        done = done.add(store.transact(work, retention.AT_ONCE).result())
    done = done.add(
        _delete_all(store, project, partial(retention.delete_rankings, project=project, time=time))
    )
    return done if folder is None else done.add(_delete_archived(store, folder, project, time))


def erase_rankings(
    store: Writer, folder: HistoryPlace | None, project: str, chosen: Chosen
) -> Deleted:
    """Delete rankings by what they are, with all their labels.

    Their hours are marked, so that the next evaluation computes their windows without them.
    """
    if store.query(partial(find_project, name=project)) is None:
        return Deleted(0, 0)
    work = partial(retention.erase_rankings, project=project, chosen=chosen)
    done = _delete_all(store, project, work)
    return done if folder is None else done.add(_erase_archived(store, folder, project, chosen))


def _delete_all(store: Writer, project: str, work: Callable[[Transaction], Deleted]) -> Deleted:
    """Repeat a transaction that deletes some rankings until none are left."""
    done = Deleted(0, 0)
    while True:
        only_here = partial(delete_unless_moving, project=project, work=work)
        deleted = store.transact(only_here, retention.AT_ONCE).result()
        if deleted is None:
            finish_moves(store, project)
            continue
        done = done.add(deleted)
        if not deleted.rankings:
            return done


def delete_unless_moving(
    transaction: Transaction, project: str, work: Callable[[Transaction], Deleted]
) -> Deleted | None:
    """Delete from the tables, unless files have some of their rows already: then return `None`."""
    return None if list_moves(transaction.connection, project) else work(transaction)


def _delete_archived(store: Writer, folder: HistoryPlace, project: str, time: int) -> Deleted:
    """Delete archived rankings before a time, with all their labels."""

    def find_kept(chunk: Chunk) -> NDArray[np.bool_]:
        kept: NDArray[np.bool_] = chunk.times >= time
        return kept

    done = Deleted(0, 0)
    hours = store.query(partial(manifest.list_archived, project=project, until=time))
    for hour in hours:
        done = done.add(delete_from_hour(store, folder, project, hour, find_kept))
    if any(hour.start + HOUR <= time for hour in hours):
        for first, last in manifest.divide_keys():
            store.transact(partial(purge_ids, first=first, last=last)).result()
    if hours:
        clean_folder(store, folder)
    return done


def _erase_archived(store: Writer, folder: HistoryPlace, project: str, chosen: Chosen) -> Deleted:
    """Delete archived rankings with all their labels, and mark their hours."""

    def find_kept(chunk: Chunk) -> NDArray[np.bool_]:
        fits = np.ones(len(chunk.seqs), dtype=np.bool_)
        if chosen.since is not None:
            fits &= chunk.times >= chosen.since
        if chosen.until is not None:
            fits &= chunk.times < chosen.until
        if chosen.user_id is not None:
            fits &= find_texts(chunk.user_ids, [chosen.user_id])
        if chosen.ranking_ids is not None:
            fits &= find_texts(chunk.ranking_ids, chosen.ranking_ids)
        return ~fits

    done = Deleted(0, 0)
    hours = store.query(partial(manifest.list_with_rankings, project=project, chosen=chosen))
    for hour in hours:
        file = HourFile(folder, hour)
        if chosen.user_id is not None and not file.has_any("user_id", [chosen.user_id]):
            continue
        if chosen.ranking_ids is not None and not file.has_any("ranking_id", chosen.ranking_ids):
            continue
        done = done.add(delete_from_hour(store, folder, project, hour, find_kept, is_erased=True))
    if hours:
        clean_folder(store, folder)
    return done


def purge_ids(transaction: Transaction, first: int, last: int) -> None:
    """Remove the ids of hours that are not archived any more, of a range of keys."""
    manifest.purge_ids(transaction.connection, first, last)
