"""Moves hours that are final from the tables to files.

A file is written and durable before one transaction puts it into the manifest. From then on, reads
take its events from the file, and small transactions remove the rows from the tables. What a crash
leaves of a file is not in the manifest, and what it leaves of the rows is not read; both are
removed later.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

from rankscope.deferred import np
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.history import manifest
from rankscope.monitor.store.history.files import ArchivedHour
from rankscope.monitor.store.history.layout import GROUP, write_hour
from rankscope.monitor.store.history.replacing import (
    NewHour,
    count_deletions,
    finish_moves,
    put_hour,
)
from rankscope.monitor.store.history.source import ArchivedRankings
from rankscope.monitor.store.history.values import find_values, list_values
from rankscope.monitor.store.merging import choose, merge_chunks
from rankscope.monitor.store.records import Archived, Deleted
from rankscope.monitor.store.sources import HotTables
from rankscope.monitor.store.tables.moves import list_moves
from rankscope.monitor.store.tables.projects import find_project, read_last_seq
from rankscope.monitor.store.tables.rankings import read_contexts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeAlias

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from rankscope.monitor.store.history.files import HistoryPlace
    from rankscope.monitor.store.history.writing import Writer
    from rankscope.monitor.store.records import Chunk, Context

    Mask: TypeAlias = NDArray[np.bool_]

TRIES = 5
"""How often an hour is read that changes while it is written."""
IDS_AT_ONCE = 2_000
"""How many ids a transaction adds."""


def archive_hours(store: Writer, folder: HistoryPlace, project: str, before: int) -> Archived:
    """Move the hours of a project that end by some time to files.

    Only rankings of production are moved, with their labels: validation and training sets stay, as
    they are replaced as a whole. An hour that is archived already is written again where rankings
    or labels of it have come since.
    """
    clean_folder(store, folder)
    finish_moves(store, project)
    done = Archived(0, 0, 0, 0)
    for start in store.query(partial(manifest.list_to_archive, project=project, before=before)):
        for _ in range(TRIES):
            # An hour that keeps changing is left for the next time.
            writer = _HourWriter(store, folder, project, start)
            new = writer.write()
            if new is not None:
                finish_moves(store, project)
                done = Archived(
                    done.hours + 1,
                    done.rankings + writer.rankings,
                    done.labels + writer.labels,
                    done.bytes + (0 if new.hour is None else new.hour.size),
                )
                break
    return done


def delete_from_hour(
    store: Writer,
    folder: HistoryPlace,
    project: str,
    hour: ArchivedHour,
    find_kept: Callable[[Chunk], Mask],
    *,
    is_erased: bool = False,
) -> Deleted:
    """Delete archived rankings of an hour with all their labels; its file is written again."""
    while True:
        # As often as it takes: what is to be deleted must not stay.
        finish_moves(store, project)
        writer = _HourWriter(store, folder, project, hour.start, find_kept, is_erased=is_erased)
        new = writer.write()
        if new is not None:
            return new.deleted


def clean_folder(store: Writer, folder: HistoryPlace) -> int:
    """Remove files that are not in the manifest any more, and return how many they were."""
    known = {hour.path for hour in store.query(manifest.list_all_archived)}
    known.update(values.path for values in store.query(list_values))
    return folder.clean(known)


class _HourWriter:
    """Writes a file of an hour, and puts it in the place of what there is.

    Args:
        store: The store.
        folder: The folder of its files.
        project: The name of the project.
        start: When the hour begins.
        find_kept: Returns which of the archived rankings of a chunk are kept. If it is given, those
            in the tables stay there.
        is_erased: Whether windows are computed again without what is not kept.

    Attributes:
        rankings: The number of rankings that came from the tables.
        labels: The number of labels that did.
    """

    def __init__(
        self,
        store: Writer,
        folder: HistoryPlace,
        project: str,
        start: int,
        find_kept: Callable[[Chunk], Mask] | None = None,
        *,
        is_erased: bool = False,
    ) -> None:
        self._store = store
        self._folder = folder
        self._project = project
        self._start = start
        self._find_kept = find_kept
        self._is_erased = is_erased
        self._has_rankings = find_kept is None
        self.rankings = self.labels = 0
        self._keys: list[int] = []
        self._deleted: Counter[int] = Counter()
        self._deleted_labels = 0

    def write(self) -> NewHour | None:
        """Write the file, and return what took the place of the hour; `None` if it has changed."""
        with self._store.engine.connect() as connection:
            new = self._write_file(connection)
        if new.hour == new.replaced:
            return new  # nothing was deleted
        # Before the hour is in the manifest, so that ids are never missing; in small transactions,
        # so that new events don't have to wait.
        self._keys.sort()
        for at in range(0, len(self._keys), IDS_AT_ONCE):
            some = self._keys[at : at + IDS_AT_ONCE]
            self._store.transact(partial(manifest.add_ids, start=self._start, keys=some)).result()
        work = partial(put_hour, project=self._project, new=new, has_rankings=self._has_rankings)
        # None of these can come into the manifest any more once the hour is replaced.
        earlier = self._folder.list_hour(self._project, self._start)
        if not self._store.transact(work).result():
            return None  # the new file is removed later
        path = None if new.hour is None else new.hour.path
        if not self._has_rankings:
            for one in earlier:
                if one != path:
                    self._folder.remove(one)
        else:
            for replaced in (new.replaced, new.values):
                if replaced is not None:
                    self._folder.retire(replaced.path)
        return new

    def _write_file(self, connection: Connection) -> NewHour:
        """Write what there is of an hour at one moment to a file."""
        start = self._start
        seq = read_last_seq(connection)
        project_id = find_project(connection, self._project) or 0
        replaced = manifest.find_hour(connection, project_id, start)
        contexts = read_contexts(connection, self._project)
        with self._folder.open_part(self._project, start) as part:
            chunks = self._read(connection, project_id, replaced, contexts)
            written = write_hour(part, chunks, contexts)
            hour_id = 0 if replaced is None else replaced.hour_id
            hour = None
            if not self._has_rankings and not self._deleted:
                hour = replaced
            elif written.rankings:
                place = self._folder.publish(part)
                hour = ArchivedHour(
                    hour_id,
                    start,
                    place.path,
                    written.rankings,
                    written.labels,
                    written.first_seq,
                    written.last_seq,
                    place.size,
                    place.checksum,
                )
        return NewHour(
            start,
            hour,
            written.contexts,
            replaced,
            None if replaced is None else find_values(connection, replaced.hour_id),
            seq,
            count_deletions(connection, project_id),
            manifest.sample_keys(self._keys),
            self._is_erased,
            Deleted(self._deleted.total(), self._deleted_labels),
            dict(self._deleted),
        )

    def _read(
        self,
        connection: Connection,
        project_id: int,
        replaced: ArchivedHour | None,
        contexts: Mapping[int, Context],
    ) -> Iterator[Chunk]:
        """Read what is to be in the file, and note the ids that come from the tables."""
        streams = []
        if replaced is not None:
            archived = ArchivedRankings(connection, self._project, self._folder)
            chunks = archived.read_hour(replaced, event_ids=True)
            streams.append(self._keep(chunks))
            late = manifest.list_late_labels(connection, replaced.hour_id)
            self._keys += [manifest.make_key(project_id, "event", row[6].decode()) for row in late]
            self.labels += len(late)
        if self._has_rankings:
            hot = HotTables(connection, self._project, list_moves(connection, self._project))
            end = self._start + HOUR
            chunks = hot.read(self._start, end, GROUP, event_ids=True)
            streams.append(self._note(_keep_production(chunks, contexts), project_id))
        return streams[0] if len(streams) == 1 else merge_chunks(streams, GROUP)

    def _keep(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Leave out what is to be deleted, and count it."""
        for chunk in chunks:
            is_kept = (
                np.ones(len(chunk.seqs), dtype=np.bool_)
                if self._find_kept is None
                else self._find_kept(chunk)
            )
            if is_kept.all():
                yield chunk
                continue
            self._deleted.update(chunk.contexts[~is_kept].tolist())
            self._deleted_labels += int(np.sum(~is_kept[chunk.labels.rankings]))
            if is_kept.any():
                yield choose(chunk, np.flatnonzero(is_kept))

    def _note(self, chunks: Iterator[Chunk], project_id: int) -> Iterator[Chunk]:
        """Note the ids of rankings and events, and of users."""
        for chunk in chunks:
            self._keys += manifest.make_user_keys(project_id, chunk.user_ids)
            self.rankings += len(chunk.seqs)
            self.labels += len(chunk.labels.codes)
            self._keys += manifest.make_keys(project_id, "ranking", chunk.ranking_ids)
            for column in (chunk.event_ids, chunk.labels.event_ids):
                if column is not None:
                    self._keys += manifest.make_keys(project_id, "event", column)
            yield chunk


def _keep_production(chunks: Iterator[Chunk], contexts: Mapping[int, Context]) -> Iterator[Chunk]:
    """Leave out the rankings of validation and training sets."""
    theirs = [number for number, one in contexts.items() if one.environment == "production"]
    for chunk in chunks:
        is_theirs = np.isin(chunk.contexts, theirs)
        if is_theirs.all():
            yield chunk
        elif is_theirs.any():
            yield choose(chunk, np.flatnonzero(is_theirs))
