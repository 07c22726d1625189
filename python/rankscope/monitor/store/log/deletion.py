"""Deletes events from blocks and files, in small transactions."""

from __future__ import annotations

from functools import partial

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.log.blocks import FILE, list_blocks
from rankscope.monitor.store.log.hour_file import HourFile
from rankscope.monitor.store.log.ids import find_rankings
from rankscope.monitor.store.log.removal import (
    delete_hot,
    delete_pending,
    erase_file,
    erase_hot,
    find_chosen,
    find_fitting,
    mark_deleted,
)
from rankscope.monitor.store.log.rewriting import (
    BLOCKS,
    clean_place,
    finish_removals,
    rewrite_hour,
)
from rankscope.monitor.store.log.users import may_have_user
from rankscope.monitor.store.records import Deleted
from rankscope.monitor.store.tables.projects import find_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from rankscope.monitor.store.log.blocks import Block
    from rankscope.monitor.store.log.files import HistoryPlace
    from rankscope.monitor.store.log.rewriting import FindKept, Writer
    from rankscope.monitor.store.records import Chosen, Chunk
    from rankscope.monitor.store.transaction import Transaction


def delete_before(store: Writer, place: HistoryPlace | None, project: str, time: int) -> Deleted:
    """Delete the rankings before a time with their labels, and earlier labels without ranking."""
    if store.query(partial(find_project, name=project)) is None:
        return Deleted(0, 0)
    finish_removals(store, place, project)
    store.transact(partial(mark_deleted, project=project, time=time)).result()
    done = _delete_pending(store, partial(delete_pending, project=project, before=time))
    work = partial(delete_hot, project=project, time=time, most=BLOCKS)
    while (deleted := store.transact(work).result()) is not None:
        done = done.add(deleted)
    return done if place is None else done.add(_delete_archived(store, place, project, time))


def _delete_archived(store: Writer, place: HistoryPlace, project: str, time: int) -> Deleted:
    """Delete what is before a time from the files of archived hours."""
    done = Deleted(0, 0)
    files = store.query(partial(list_blocks, project=project, until=time, kinds=(FILE,)))
    for block in files:
        if block.last < time:
            # Values, and files that were replaced: none can be listed once the hour is erased.
            earlier = place.list_hour(project, block.start)
            erase = partial(erase_file, project=project, block=block)
            deleted = store.transact(erase).result()
            finish_removals(store, place, project)
            if deleted.rankings:
                for path in earlier:
                    place.remove(path)
            done = done.add(deleted)
        elif block.first < time:
            done = done.add(
                _delete_from(store, place, project, block, lambda chunk: chunk.times >= time)
            )
    if files:
        clean_place(store, place)
    return done


def erase_rankings(
    store: Writer, place: HistoryPlace | None, project: str, chosen: Chosen
) -> Deleted:
    """Delete rankings by what they are, with all their labels.

    Their hours are marked, so that the next evaluation computes their windows without them. Labels
    that wait for one of the chosen ids are deleted, too.
    """
    if store.query(partial(find_project, name=project)) is None:
        return Deleted(0, 0)
    finish_removals(store, place, project)
    done = Deleted(0, 0)
    # Blocks may be joined by others meanwhile, so that it is over when nothing is found.
    while listed := store.query(partial(find_chosen, project=project, chosen=chosen)):
        for block in listed:
            work = partial(erase_hot, project=project, block=block, chosen=chosen)
            done = done.add(store.transact(work).result())
    if chosen.ranking_ids is not None and chosen.user_id is None:
        work = partial(delete_pending, project=project, ranking_ids=chosen.ranking_ids)
        done = done.add(_delete_pending(store, work))
    return done if place is None else done.add(_erase_archived(store, place, project, chosen))


def _delete_pending(store: Writer, work: Callable[[Transaction], Deleted]) -> Deleted:
    done = Deleted(0, 0)
    while (deleted := store.transact(work).result()).labels:
        done = done.add(deleted)
    return done


def _erase_archived(store: Writer, place: HistoryPlace, project: str, chosen: Chosen) -> Deleted:
    """Delete the chosen rankings of hours that have a file."""

    def find_kept(chunk: Chunk) -> NDArray[np.bool_]:
        return ~find_fitting(
            chosen,
            chunk.times,
            user_ids=lambda: chunk.user_ids,
            ranking_ids=lambda: chunk.ranking_ids,
        )

    done = Deleted(0, 0)
    listed = store.query(
        partial(list_blocks, project=project, since=chosen.since, until=chosen.until)
    )
    files = [block for block in listed if block.kind == FILE]
    hot = {block.start for block in listed if block.kind != FILE}
    named = None
    if chosen.ranking_ids is not None:
        named = store.query(partial(_find_hours, project=project, ranking_ids=chosen.ranking_ids))
    for block in files:
        if named is not None and block.start not in named:
            continue
        if block.start in hot or _may_have(store, place, block, chosen):
            done = done.add(_delete_from(store, place, project, block, find_kept, is_erased=True))
    if files:
        clean_place(store, place)
    return done


def _find_hours(connection: Connection, project: str, ranking_ids: Sequence[str]) -> set[int]:
    """Find the starts of the hours of rankings."""
    project_id = find_project(connection, project)
    if project_id is None:
        return set()
    entries = find_rankings(connection, project_id, ranking_ids).values()
    return {entry.time - entry.time % HOUR for entry in entries}


def _may_have(store: Writer, place: HistoryPlace, block: Block, chosen: Chosen) -> bool:
    """Return whether a file may have rankings of the chosen user."""
    if chosen.user_id is None:
        return True
    asked = partial(may_have_user, block=block, user_id=chosen.user_id)
    return store.query(asked) and HourFile(place, block).has_any("user_id", [chosen.user_id])


def _delete_from(
    store: Writer,
    place: HistoryPlace,
    project: str,
    block: Block,
    find_kept: FindKept,
    *,
    is_erased: bool = False,
) -> Deleted:
    """Write the file of an hour again without some of its rankings."""
    while True:
        # As often as it takes: what is to be deleted must not stay.
        new = rewrite_hour(store, place, project, block.start, find_kept, is_erased=is_erased)
        if new is not None:
            finish_removals(store, place, project)
            return new.removed.deleted
