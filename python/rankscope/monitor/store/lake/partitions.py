"""The rankings of a project in its lake, as a source of a store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

from rankscope.deferred import np
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.ahead import map_ahead
from rankscope.monitor.store.chunks import (
    make_label_events,
    make_ranking,
    text_at,
)
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.lake.state import find_contents, read_files, read_hours
from rankscope.monitor.store.merging import concatenate, take
from rankscope.monitor.store.tables.projects import read_bins
from rankscope.monitor.store.tables.versions import read_contexts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from rankscope.monitor.events.bins import Bins, Content
    from rankscope.monitor.events.event import Label, Ranking
    from rankscope.monitor.store.lake.reader import LakeReader
    from rankscope.monitor.store.lake.state import KnownFile, KnownHour
    from rankscope.monitor.store.records import Chunk, Context

CHUNK = 5_000
"""How many rankings are looked at together to count their labels."""
AT_ONCE = 8
"""How many files are searched for an id at once."""


class LakePartitions:
    """The rankings of a project in files of a lake, as of the last scan.

    Args:
        connection: Reads the database, as of one moment.
        project: The name of the project.
        reader: Reads the files.
    """

    def __init__(self, connection: Connection, project: str, reader: LakeReader) -> None:
        self._connection = connection
        self._project = project
        self._reader = reader

    @cached_property
    def _files(self) -> dict[str, list[KnownFile]]:
        files: dict[str, list[KnownFile]] = {"rankings": [], "labels": []}
        for file in read_files(self._connection, self._project):
            if file.fault is None:
                files[file.kind].append(file)
        return files

    @cached_property
    def _contexts(self) -> Mapping[int, Context]:
        return read_contexts(self._connection, self._project)

    @cached_property
    def _numbers(self) -> dict[Content, int]:
        return find_contents(self._contexts)

    @cached_property
    def _bins(self) -> Bins:
        return read_bins(self._connection, self._project)

    def _known(self, since: int | None, until: int | None) -> list[KnownHour]:
        first = None if since is None else since - since % HOUR
        hours = read_hours(self._connection, self._project, first, until)
        return [hour for hour in hours if hour.spans]

    def read(
        self,
        since: int | None,
        until: int | None,
        size: int,
        *,
        event_ids: bool,
        is_brief: bool = False,  # noqa: ARG002 - an hour is read as a whole
    ) -> Iterator[Chunk]:
        """Read the rankings of a span, in chunks as the tables of a database give them."""
        # Read here: threads have no connection.
        hours, *_ = self._known(since, until), self._files, self._numbers, self._bins

        def read(hour: KnownHour) -> Chunk:
            return _cut(self._read_hour(hour, event_ids=event_ids), since, until)

        yield from _cut_evenly(map_ahead(read, hours, self._reader.threads), size)

    def _read_hour(self, hour: KnownHour, *, event_ids: bool) -> Chunk:
        check_deadline()
        files = self._files
        read = self._reader.read_hour(hour.start, files["rankings"], files["labels"], hour.earlier)
        return read.settled.make_chunk(self._numbers, self._bins, event_ids=event_ids)

    def find_ranking(self, ranking_id: str) -> Ranking | None:
        """Find a ranking by its id; files are searched one after the other."""
        place = self._find(ranking_id)
        return None if place is None else make_ranking(*place, self._contexts)

    def find_labels(self, ranking_id: str) -> list[Label]:
        """Find the labels of a ranking."""
        place = self._find(ranking_id)
        return [] if place is None else [label for _, label in make_label_events(*place)]

    def _find(self, ranking_id: str) -> tuple[Chunk, int] | None:
        """Find the hour of a ranking, and its position there."""
        hours = self._known(None, None)
        with ThreadPoolExecutor(AT_ONCE, "rankscope-lake") as threads:
            files = self._files["rankings"]
            searches = [
                threads.submit(self._reader.holds, file, ranking_id) for file in reversed(files)
            ]
            for file, future in zip(reversed(files), searches, strict=True):
                if not future.result():
                    continue
                for hour in hours:
                    if file.overlaps(hour.start, hour.start + HOUR):
                        chunk = self._read_hour(hour, event_ids=True)
                        for place in range(len(chunk.seqs)):
                            if text_at(chunk.ranking_ids, place) == ranking_id:
                                threads.shutdown(wait=False, cancel_futures=True)
                                return chunk, place
        return None

    def find_changes(self, after: int, length: int) -> NDArray[np.int64]:
        """Find the starts of the windows that changed after a number."""
        hours = read_hours(self._connection, self._project)
        starts = [hour.start for hour in hours if hour.seq > after]
        return np.unique([start - start % length for start in starts] or np.zeros(0, np.int64))

    def count_by_hour(self, since: int, until: int) -> Sequence[tuple[int, int, int]]:
        """Count the rankings of a span of whole hours by hour and context."""
        return [
            (hour.start, number, count)
            for hour in self._known(since, until)
            for number, (count, *_) in hour.spans.items()
        ]

    def has_labels(self, since: int, until: int, before: int) -> bool:
        """Return whether a ranking of production in a span has a label from before a time."""
        return any(
            self._has_labels(hour, since, until, before) for hour in self._known(since, until)
        )

    def _has_labels(self, hour: KnownHour, since: int, until: int, before: int) -> bool:
        contexts = self._contexts
        is_whole = since <= hour.start and hour.start + HOUR <= until
        if is_whole and all(contexts[at].environment == "production" for at in hour.spans):
            files = self._files
            return self._reader.has_labels(hour.start, files["rankings"], files["labels"], before)
        chunk = _cut(self._read_hour(hour, event_ids=False), since, until)
        with_label = chunk.contexts[chunk.labels.rankings[chunk.labels.times < before]]
        return any(
            contexts[at].environment == "production" for at in np.unique(with_label).tolist()
        )

    def count_late(
        self, *, model: str | None, since: int, until: int, after: int, upto: int
    ) -> int:
        """Count the rankings of a span of whole hours by when their files were found."""
        contexts = self._contexts
        return sum(
            count
            for hour in read_hours(self._connection, self._project, since, until)
            for seq, number, count in hour.arrived
            if after < seq <= upto
            and contexts[number].environment == "production"
            and model in {None, contexts[number].model}
        )


def _cut(chunk: Chunk, since: int | None, until: int | None) -> Chunk:
    """Leave out the rankings of an hour that are outside of a span."""
    start = 0 if since is None else int(np.searchsorted(chunk.times, since))
    end = len(chunk.times) if until is None else int(np.searchsorted(chunk.times, until))
    return take(chunk, start, end)


def _cut_evenly(chunks: Iterable[Chunk], size: int) -> Iterator[Chunk]:
    """Cut chunks again, so that all but the last one have the same number of rankings."""
    waiting: list[Chunk] = []
    count = 0
    for chunk in chunks:
        start, length = 0, len(chunk.seqs)
        while count + length - start >= size:
            end = start + size - count
            yield concatenate([*waiting, take(chunk, start, end)])
            waiting, count, start = [], 0, end
        if start < length:
            waiting.append(take(chunk, start, length))
            count += length - start
    if waiting:
        yield concatenate(waiting)
