"""Writes the file of an hour: an hour that is final is archived, or something is deleted from one.

A file is durable before one transaction puts it in the place of the blocks that it was made of, if
these are as they were. What a crash leaves of a file is not listed, and is removed later, as are
the columns of blocks that are in the file, in small transactions, so that new events don't have to
wait.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import islice
from typing import NamedTuple

from rankscope.deferred import np
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.chunks import list_texts
from rankscope.monitor.store.log.blocks import (
    ERASED,
    FILE,
    MOVED,
    PRODUCTION,
    Block,
    are_there,
    insert_blocks,
    list_blocks,
    mark_blocks,
    remove_blocks,
    select_blocks,
    write_index,
    write_spans,
)
from rankscope.monitor.store.log.hour_file import HourFile
from rankscope.monitor.store.log.ids import remove_ids
from rankscope.monitor.store.log.layout import GROUP, write_hour
from rankscope.monitor.store.log.reading import LogReader
from rankscope.monitor.store.log.removal import Removed, record_removed
from rankscope.monitor.store.log.users import hash_users
from rankscope.monitor.store.log.values import list_published
from rankscope.monitor.store.merging import choose
from rankscope.monitor.store.records import Archived, Deleted, require_ids
from rankscope.monitor.store.tables.projects import find_project
from rankscope.monitor.store.tables.schema import blocks
from rankscope.monitor.store.tables.versions import read_contexts
from rankscope.monitor.store.tables.windows import mark_hours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from typing import Protocol, TypeAlias, TypeVar

    from numpy.typing import NDArray
    from sqlalchemy import Connection, Engine

    from rankscope.monitor.store.log.files import HistoryPlace
    from rankscope.monitor.store.records import Chunk
    from rankscope.monitor.store.transaction import Transaction

    T = TypeVar("T")
    FindKept: TypeAlias = Callable[[Chunk], NDArray[np.bool_]]

    class Writer(Protocol):
        """The part of a store that is needed to write it; see `Store`."""

        engine: Engine

        def query(self, read: Callable[[Connection], T]) -> T:
            """Call a function that reads."""

        def transact(self, work: Callable[[Transaction], T], size: int = 1) -> Future[T]:
            """Do some work in a transaction of the writer."""


TRIES = 5
"""How often an hour is read that changes while it is written."""
BLOCKS, IDS = 4, 2_000
"""How many blocks, and how many ids, a transaction removes."""


class Rewritten(NamedTuple):
    """What takes the place of the blocks of an hour.

    Args:
        before: The blocks.
        file: The new file; `None` if nothing is left.
        users: The hashes of its users.
        removed: What was deleted.
        is_erased: Whether windows are computed again without what was deleted.
    """

    before: tuple[Block, ...]
    file: Block | None
    users: bytes
    removed: Removed
    is_erased: bool


def archive_hours(store: Writer, place: HistoryPlace, project: str, before: int) -> Archived:
    """Move the hours of a project that end by some time to files.

    Only rankings of production are moved, with their labels: validation and training sets stay, as
    they are replaced as a whole. An hour that is archived already is written again where rankings
    or labels of it have come since.
    """
    clean_place(store, place)
    finish_removals(store, place, project, deletes=False)
    done = Archived(0, 0, 0, 0)
    for start in store.query(partial(_list_to_archive, project=project, before=before)):
        for _ in range(TRIES):
            # An hour that keeps changing is left for the next time.
            new = rewrite_hour(store, place, project, start)
            if new is not None:
                finish_removals(store, place, project, deletes=False)
                hot = [block for block in new.before if block.kind != FILE]
                done = Archived(
                    done.hours + 1,
                    done.rankings + sum(block.rankings for block in hot),
                    done.labels + sum(block.labels for block in hot),
                    done.bytes + (0 if new.file is None else new.file.size),
                )
                break
    return done


def _list_to_archive(connection: Connection, project: str, before: int) -> list[int]:
    """List the starts of the hours that have something to archive, and end by some time."""
    listed = list_blocks(connection, project, until=before - HOUR + 1)
    hot = [block for block in listed if block.kind != FILE and block.environment == PRODUCTION]
    return sorted({block.start for block in hot})


def clean_place(store: Writer, place: HistoryPlace) -> int:
    """Remove files that are not listed any more, and return how many they were."""
    return place.clean({each.path for each in store.query(list_published)})


def rewrite_hour(
    store: Writer,
    place: HistoryPlace,
    project: str,
    start: int,
    find_kept: FindKept | None = None,
    *,
    is_erased: bool = False,
) -> Rewritten | None:
    """Write the file of an hour, and put it in the place of what there is.

    Args:
        store: The store.
        place: The place of its files.
        project: The name of the project.
        start: When the hour begins.
        find_kept: Returns which of the rankings of a chunk are kept.
        is_erased: Whether windows are computed again without what is not kept.

    Returns:
        What took the place of the hour; `None` if it has changed meanwhile.
    """
    with store.engine.connect() as connection:
        new = _write_file(connection, place, project, start, find_kept, is_erased=is_erased)
    if find_kept is not None and not new.removed.deleted.rankings:
        return new
    # None of these can be listed any more once the hour is replaced.
    earlier = place.list_hour(project, start)
    if not store.transact(partial(put_hour, project=project, start=start, new=new)).result():
        return None  # the new file is removed later
    replaced = [block.path for block in new.before if block.kind == FILE]
    for path in earlier:
        if new.file is None or path != new.file.path:
            if find_kept is not None:
                place.remove(path)
            elif path in replaced or "/values/" in path:
                place.retire(path)
    return new


def _write_file(
    connection: Connection,
    place: HistoryPlace,
    project: str,
    start: int,
    find_kept: FindKept | None,
    *,
    is_erased: bool,
) -> Rewritten:
    """Write the file of an hour as it is at one moment."""
    users = [np.zeros(0, dtype=np.uint32)]
    contexts: Counter[int] = Counter()
    labels = 0
    ids: list[tuple[str, int]] = []

    def keep(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Leave out what is to be deleted, and note it."""
        nonlocal labels
        for chunk in chunks:
            kept = chunk
            if find_kept is not None:
                is_kept = find_kept(chunk)
                if not is_kept.all():
                    gone = choose(chunk, np.flatnonzero(~is_kept))
                    contexts.update(gone.contexts.tolist())
                    labels += len(gone.labels.codes)
                    ids.extend(_list_event_ids(gone))
                    kept = choose(chunk, np.flatnonzero(is_kept))
            if len(kept.seqs):
                users.append(hash_users(kept.user_ids))
                yield kept

    project_id = find_project(connection, project) or 0
    listed = list_blocks(connection, project_id, start, start + HOUR)
    before = tuple(block for block in listed if block.environment == PRODUCTION)
    reader = LogReader(connection, project, lambda _: place)
    chunks = reader.read_hour(before, size=GROUP, event_ids=True) if before else iter(())
    file = None
    with place.open_part(project, start) as part:
        written = write_hour(part, keep(chunks), read_contexts(connection, project))
        if written.rankings:
            published = place.publish(part)
            file = Block(
                written.first_seq,
                project_id,
                start,
                FILE,
                PRODUCTION,
                written.last_seq,
                min(span.first for span in written.contexts.values()),
                max(span.last for span in written.contexts.values()),
                written.rankings,
                written.labels,
                write_spans(written.contexts),
                *published,
            )
    hashes = np.unique(np.concatenate(users)).tobytes()
    deleted = Deleted(contexts.total(), labels)
    return Rewritten(before, file, hashes, Removed(deleted, contexts, ids), is_erased)


def _list_event_ids(chunk: Chunk) -> Iterator[tuple[str, int]]:
    """List all ids of the events of a chunk that has them, with the numbers of the events."""
    labels, seqs = chunk.labels, chunk.seqs.tolist()
    yield from zip(list_texts(chunk.ranking_ids), seqs, strict=True)
    yield from zip(list_texts(require_ids(chunk.event_ids)), seqs, strict=True)
    label_ids, label_seqs = require_ids(labels.event_ids), require_ids(labels.seqs)
    yield from zip(list_texts(label_ids), label_seqs.tolist(), strict=True)


def put_hour(transaction: Transaction, project: str, start: int, new: Rewritten) -> bool:
    """Put a file in the place of the blocks it was made of, and return whether these were there."""
    transaction.log.settle()
    if not are_there(transaction.connection, new.before):
        return False
    moved = [
        block
        for block in new.before
        if block.kind != FILE and (new.file is None or block.block_id != new.file.block_id)
    ]
    remove_blocks(transaction, [block for block in new.before if block not in moved])
    mark_blocks(transaction, moved, MOVED)
    if new.file is not None:
        # Another process may not have removed yet what it has moved to the file before this one.
        taken = blocks.c.block_id == new.file.block_id
        remove_blocks(transaction, select_blocks(transaction.connection, taken))
        insert_blocks(transaction, [(new.file, write_index(new.file, new.users))])
    project_id = transaction.project(project)
    deleted = record_removed(transaction, project_id, new.removed, is_erased=new.is_erased)
    if new.is_erased and deleted.rankings:
        mark_hours(transaction.connection, project_id, [start])
    return True


def finish_removals(
    store: Writer, place: HistoryPlace | None, project: str, *, deletes: bool = True
) -> None:
    """Remove what is moved or erased, in small transactions.

    Args:
        store: The store.
        place: The place of its files.
        project: The name of the project.
        deletes: Whether nothing of it may stay in other files of the store.
    """
    marked = store.query(partial(list_blocks, project=project, kinds=(MOVED, ERASED)))
    for block in marked:
        if block.kind == ERASED and place is not None:
            ids = _list_file_ids(place, block)
            while rows := list(islice(ids, IDS)):
                work = partial(remove_ids, project_id=block.project_id, rows=rows)
                store.transact(work).result()
    for at in range(0, len(marked), BLOCKS):
        part = marked[at : at + BLOCKS]
        store.transact(partial(remove_marked, marked=part, deletes=deletes)).result()
        for block in part:
            if block.path and place is not None:
                place.remove(block.path)


def _list_file_ids(place: HistoryPlace, block: Block) -> Iterator[tuple[str, int]]:
    """List the ids of the events in a file, with their numbers."""
    for chunk in HourFile(place, block).read(event_ids=True):
        yield from _list_event_ids(chunk)


def remove_marked(transaction: Transaction, marked: list[Block], *, deletes: bool) -> None:
    """Remove blocks, unless another process has."""
    transaction.deletes |= deletes
    numbers = [block.block_id for block in marked]
    left = blocks.c.block_id.in_(numbers), blocks.c.kind.in_((MOVED, ERASED))
    remove_blocks(transaction, select_blocks(transaction.connection, *left))
