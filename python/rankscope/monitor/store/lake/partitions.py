"""The rankings of a project in its lake, as a source of a store."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

from rankscope.deferred import np
from rankscope.errors import FileError
from rankscope.inputs.arrow import load_arrow
from rankscope.monitor.events.event import LABEL_KINDS, Label
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.ahead import map_ahead
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.lake.cells import to_texts
from rankscope.monitor.store.lake.shown import to_ranking
from rankscope.monitor.store.lake.state import find_contents, read_files, read_hours
from rankscope.monitor.store.merging import concatenate, take
from rankscope.monitor.store.records import Chunk, ItemColumns, LabelColumns, LabelCount
from rankscope.monitor.store.tables.contexts import read_contexts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from rankscope.monitor.events.event import Ranking
    from rankscope.monitor.store.lake.labels import Given
    from rankscope.monitor.store.lake.reader import LakeHour, LakeReader
    from rankscope.monitor.store.lake.shown import Content
    from rankscope.monitor.store.lake.state import KnownFile, KnownHour
    from rankscope.monitor.store.records import Context

RETRACTION = LABEL_KINDS.index("retraction")
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
        found: dict[str, list[KnownFile]] = {"rankings": [], "labels": []}
        for file in read_files(self._connection, self._project):
            if file.fault is None:
                found[file.kind].append(file)
        return found

    @cached_property
    def _numbers(self) -> dict[Content, int]:
        return find_contents(read_contexts(self._connection, self._project))

    def _known(self, since: int | None, until: int | None) -> list[KnownHour]:
        first = None if since is None else since - since % HOUR
        found = read_hours(self._connection, self._project, first, until)
        return [hour for hour in found if hour.spans]

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
        known, _, _, _ = self._known(since, until), self._files, self._numbers, self._accepted

        def read(hour: KnownHour) -> Chunk:
            return _cut(self._read_hour(hour, event_ids=event_ids), since, until)

        yield from _cut_evenly(map_ahead(read, known, self._reader.threads), size)

    @cached_property
    def _accepted(self) -> dict[int, bool]:
        """By start, whether all rows of an hour were accepted."""
        return {hour.start: hour.is_accepted for hour in self._known(None, None)}

    def _load(self, known: KnownHour, *, event_ids: bool = False) -> LakeHour:
        check_deadline()
        files = self._files
        return self._reader.read_hour(
            known.start,
            files["rankings"],
            files["labels"],
            earlier={start: self._accepted.get(start, False) for start in known.earlier},
            is_plain=known.is_plain,
            event_ids=event_ids,
        )

    def _read_hour(self, known: KnownHour, *, event_ids: bool) -> Chunk:

        hour = self._load(known, event_ids=event_ids)
        shown, given = hour.shown, hour.joined.given
        # A context that only rankings had which don't count has no number.
        numbers = [self._numbers.get(content, -1) for content in shown.contents]
        contexts = np.array(numbers or [0], dtype=np.int64)[shown.contexts]
        if (contexts < 0).any():
            raise FileError(
                "the files of an hour are not those that were scanned",
                hint="run it again: files that change are read again",
                code="lake_changed",
            )
        return Chunk(
            seqs=shown.places,
            times=shown.times,
            contexts=contexts,
            ranking_ids=to_texts(shown.ranking_ids),
            query_keys=to_texts(shown.query_keys),
            user_ids=to_texts(shown.user_ids),
            items=ItemColumns(
                shown.offsets,
                to_texts(shown.doc_ids),
                shown.ranks,
                shown.scores,
                shown.relevance,
            ),
            labels=LabelColumns(
                hour.joined.rankings,
                to_texts(given.doc_ids),
                given.times,
                given.kinds,
                given.names,
                given.codes,
                given.values,
                to_texts(given.event_ids) if event_ids else None,
            ),
            event_ids=to_texts(shown.event_ids) if event_ids else None,
        )

    def find_ranking(self, ranking_id: str) -> Ranking | None:
        """Find a ranking by its id; files are searched one after the other."""
        found = self._find(ranking_id)
        return None if found is None else to_ranking(found[0].shown, found[1])

    def find_labels(self, ranking_id: str) -> list[Label]:
        """Find the labels of a ranking."""
        found = self._find(ranking_id)
        if found is None:
            return []
        joined = found[0].joined
        labels = joined.given.choose(np.flatnonzero(joined.rankings == found[1]))
        found_labels = [
            Label(
                labels.event_ids[at].as_py(),
                ranking_id,
                labels.doc_ids[at].as_py(),
                int(labels.times[at]),
                labels.names[int(labels.codes[at])],
                None if np.isnan(labels.values[at]) else float(labels.values[at]),
                LABEL_KINDS[int(labels.kinds[at])],  # type: ignore[arg-type]  # one of them
            )
            for at in range(len(labels))
        ]
        return sorted(found_labels, key=lambda label: (label.time, label.event_id))

    def _find(self, ranking_id: str) -> tuple[LakeHour, int] | None:
        """Find the hour of a ranking, and its position there."""
        compute = load_arrow("pyarrow.compute")
        known = self._known(None, None)
        with ThreadPoolExecutor(AT_ONCE, "rankscope-lake") as threads:
            files = self._files["rankings"]
            wanted = (threads.submit(self._holds, ranking_id, file) for file in reversed(files))
            for file, future in zip(reversed(files), list(wanted), strict=True):
                if not future.result():
                    continue
                for hour in known:
                    if file.overlaps(hour.start, hour.start + HOUR):
                        found = self._load(hour, event_ids=True)
                        at = compute.index(found.shown.ranking_ids, ranking_id).as_py()
                        if at >= 0:
                            threads.shutdown(wait=False, cancel_futures=True)
                            return found, at
        return None

    def _holds(self, ranking_id: str, file: KnownFile) -> bool:
        return self._reader.holds(file, ranking_id)

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

    def count_labels(self, since: int, until: int, *, window: int) -> list[LabelCount]:
        """Count the labels of the rankings of production in a span."""
        contexts = read_contexts(self._connection, self._project)
        counts: Counter[tuple[str, tuple[str, ...], bool]] = Counter()
        for known in self._known(since, until):
            check_deadline()
            for labels, times, of_ranking in self._list_labels(known, contexts, since, until):
                ages = labels.times - times
                kept = np.flatnonzero((labels.kinds != RETRACTION) & (ages < window))
                is_grade = ~np.isnan(labels.values[kept])
                keys = np.stack([of_ranking[kept], labels.codes[kept], is_grade], axis=1)
                rows, numbers = np.unique(keys, axis=0, return_counts=True)
                for (context, code, graded), number in zip(
                    rows.tolist(), numbers.tolist(), strict=True
                ):
                    one = contexts[context]
                    if one.environment == "production":
                        counts[one.model, labels.names[code], bool(graded)] += number
        return [LabelCount(*kind, number) for kind, number in sorted(counts.items())]

    def _list_labels(
        self, known: KnownHour, contexts: Mapping[int, Context], since: int, until: int
    ) -> Iterator[tuple[LabelColumns | Given, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the labels of an hour, with the time and a context of the ranking of each.

        The context has the environment and the model of the ranking. If all rankings of the hour
        share these, its documents are not read.
        """
        makers = {(contexts[number].environment, contexts[number].model) for number in known.spans}
        if len(makers) == 1 and since <= known.start and known.start + HOUR <= until:
            files = self._files
            found = self._reader.match(known, files["rankings"], files["labels"])
            if found is not None:
                times, joined = found
                number = next(iter(known.spans))
                yield (
                    joined.given,
                    times[joined.rankings],
                    np.full(len(joined.rankings), number, dtype=np.int64),
                )
                return
        chunk = _cut(self._read_hour(known, event_ids=False), since, until)
        labels = chunk.labels
        yield labels, chunk.times[labels.rankings], chunk.contexts[labels.rankings]

    def has_labels(self, since: int, until: int, before: int) -> bool:
        """Return whether a ranking of production in a span has a label from before a time."""
        contexts = read_contexts(self._connection, self._project)
        production = [at for at, one in contexts.items() if one.environment == "production"]
        return any(
            np.isin(of_ranking[labels.times < before], production).any()
            for known in self._known(since, until)
            for labels, _, of_ranking in self._list_labels(known, contexts, since, until)
        )

    def count_late(
        self, *, model: str | None, since: int, until: int, after: int, upto: int
    ) -> int:
        """Count the rankings of a span of whole hours by when their files were found."""
        contexts = read_contexts(self._connection, self._project)
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
