"""Deletes archived events: whole files where nothing of them is left, and parts of others."""

from __future__ import annotations

from functools import partial

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.arrays import find_texts
from rankscope.monitor.store.history import manifest
from rankscope.monitor.store.history.archiver import clean_folder, delete_from_hour
from rankscope.monitor.store.history.hour_file import HourFile
from rankscope.monitor.store.records import Deleted

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.store.history.archiver import Writer
    from rankscope.monitor.store.history.files import HistoryFolder
    from rankscope.monitor.store.records import Chosen, Chunk
    from rankscope.monitor.store.tables.transaction import Transaction


def delete_archived_before(
    store: Writer, folder: HistoryFolder, project: str, time: int
) -> Deleted:
    """Delete archived rankings before a time, with all their labels.

    Raises:
        FileError: A file cannot be read, written or removed.
    """

    def find_kept(chunk: Chunk) -> NDArray[np.bool_]:
        kept: NDArray[np.bool_] = chunk.times >= time
        return kept

    rankings = labels = 0
    hours = store.query(partial(manifest.list_archived, project=project, until=time))
    for hour in hours:
        deleted = delete_from_hour(store, folder, project, hour, find_kept)
        rankings += deleted.rankings
        labels += deleted.labels
    if any(hour.start + HOUR <= time for hour in hours):
        for first, last in manifest.divide_keys():
            store.transact(partial(purge_ids, first=first, last=last)).result()
    if hours:
        clean_folder(store, folder)
    return Deleted(rankings, labels)


def erase_archived(store: Writer, folder: HistoryFolder, project: str, chosen: Chosen) -> Deleted:
    """Delete archived rankings with all their labels, and mark their hours.

    Raises:
        FileError: A file cannot be read, written or removed.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

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

    rankings = labels = 0
    since, until = chosen.since, chosen.until
    hours = store.query(partial(manifest.list_archived, project=project, since=since, until=until))
    for hour in hours:
        file = HourFile(folder, hour)
        if chosen.user_id is not None and not file.has_any("user_id", [chosen.user_id]):
            continue
        if chosen.ranking_ids is not None and not file.has_any("ranking_id", chosen.ranking_ids):
            continue
        deleted = delete_from_hour(store, folder, project, hour, find_kept, is_erased=True)
        rankings += deleted.rankings
        labels += deleted.labels
    if hours:
        clean_folder(store, folder)
    return Deleted(rankings, labels)


def purge_ids(transaction: Transaction, first: int, last: int) -> None:
    """Remove the ids of hours that are not archived any more, of a range of keys."""
    manifest.purge_ids(transaction.connection, first, last)
