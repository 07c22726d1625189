"""Deletes events from blocks, in small transactions."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from rankscope.monitor.store.log.removal import (
    delete_blocks,
    delete_pending,
    erase_block,
    find_chosen,
    mark_deleted,
)
from rankscope.monitor.store.records import Chosen, Deleted
from rankscope.monitor.store.tables.projects import find_project
from rankscope.monitor.store.transaction import Transaction

T = TypeVar("T")

if TYPE_CHECKING:
    from sqlalchemy import Connection

    class Writer(Protocol):
        """The part of a store that is needed to write it; see `Store`."""

        def query(self, read: Callable[[Connection], T]) -> T:
            """Call a function that reads."""

        def transact(self, work: Callable[[Transaction], T], size: int = 1) -> Future[T]:
            """Do some work in a transaction of the writer."""


BLOCKS = 4
"""How many blocks a transaction removes."""


def delete_before(store: Writer, project: str, time: int) -> Deleted:
    """Delete the rankings before a time with their labels, and earlier labels without ranking."""
    if store.query(partial(find_project, name=project)) is None:
        return Deleted(0, 0)
    store.transact(partial(mark_deleted, project=project, time=time)).result()
    done = _delete_pending(store, partial(delete_pending, project=project, before=time))
    work = partial(delete_blocks, project=project, time=time, most=BLOCKS)
    while (deleted := store.transact(work).result()) is not None:
        done = done.add(deleted)
    return done


def erase_rankings(store: Writer, project: str, chosen: Chosen) -> Deleted:
    """Delete rankings by what they are, with all their labels.

    Their hours are marked, so that the next evaluation computes their windows without them. Labels
    that wait for one of the chosen ids are deleted, too.
    """
    if store.query(partial(find_project, name=project)) is None:
        return Deleted(0, 0)
    done = Deleted(0, 0)
    # Blocks may be joined by others meanwhile, so that it is over when nothing is found.
    while listed := store.query(partial(find_chosen, project=project, chosen=chosen)):
        for block in listed:
            work = partial(erase_block, project=project, block=block, chosen=chosen)
            done = done.add(store.transact(work).result())
    if chosen.ranking_ids is not None and chosen.user_id is None:
        work = partial(delete_pending, project=project, ranking_ids=chosen.ranking_ids)
        done = done.add(_delete_pending(store, work))
    return done


def _delete_pending(store: Writer, work: Callable[[Transaction], Deleted]) -> Deleted:
    done = Deleted(0, 0)
    while (deleted := store.transact(work).result()).labels:
        done = done.add(deleted)
    return done
