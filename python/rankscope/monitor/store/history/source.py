"""The archived hours of a project as a source of rankings."""

from __future__ import annotations

from collections import Counter

from rankscope.deferred import np
from rankscope.inputs.arrow import load_arrow
from rankscope.monitor.events.event import LABEL_KINDS
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.arrays import write_texts
from rankscope.monitor.store.history import manifest
from rankscope.monitor.store.history.hour_file import HourFile
from rankscope.monitor.store.merging import choose_labels, concatenate_labels, sort_labels
from rankscope.monitor.store.records import LabelCount
from rankscope.monitor.store.tables.chunks import make_labels
from rankscope.monitor.store.tables.projects import find_project
from rankscope.monitor.store.tables.rankings import read_contexts
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from rankscope.monitor.events.event import Label, Ranking
    from rankscope.monitor.store.history.files import ArchivedHour, HistoryPlace
    from rankscope.monitor.store.records import Chunk, Context, LabelColumns

RETRACTION = LABEL_KINDS.index("retraction")


class ArchivedRankings:
    """The rankings in the files of archived hours, with their labels, also those that came since.

    Args:
        connection: Reads the database, as of one moment.
        project: The name of the project.
        folder: The folder of the files.
    """

    def __init__(self, connection: Connection, project: str, folder: HistoryPlace) -> None:
        self._connection = connection
        self._project = project
        self._folder = folder
        self._known: dict[int, Context] | None = None

    def hours(self, since: int | None, until: int | None) -> Sequence[int]:
        """Return the starts of the hours that may have rankings in a span."""
        return [hour.start for hour in self._list(since, until)]

    def read(
        self,
        since: int | None,
        until: int | None,
        size: int,
        *,
        event_ids: bool,
        is_brief: bool = False,
    ) -> Iterator[Chunk]:
        """Read the rankings of a span."""
        for hour in self._list(since, until):
            yield from self.read_hour(
                hour, since, until, size, event_ids=event_ids, is_brief=is_brief
            )

    def read_hour(
        self,
        hour: ArchivedHour,
        since: int | None = None,
        until: int | None = None,
        size: int | None = None,
        *,
        event_ids: bool,
        is_brief: bool = False,
    ) -> Iterator[Chunk]:
        """Read the rankings of an archived hour."""
        rows = manifest.list_late_labels(self._connection, hour.hour_id)
        file = HourFile(self._folder, hour)
        if not rows:
            yield from file.read(since, until, size, event_ids=event_ids, is_brief=is_brief)
            return
        ids = [ranking_id for ranking_id, *_ in rows]
        late = make_labels(rows, dict.fromkeys(ids, 0), event_ids=True)
        # Late labels name their documents, so that what they are about is read with all ids.
        chunks = file.read(since, until, size, event_ids=True, is_brief=is_brief, whole=ids)
        for chunk in chunks:
            if chunk.labels.positions is not None:
                yield chunk
                continue
            joined = _join(chunk, ids, late)
            if not event_ids:
                labels = replace(joined.labels, event_ids=None, seqs=None)
                joined = replace(joined, labels=labels, event_ids=None)
            yield joined

    def find_ranking(self, ranking_id: str) -> Ranking | None:
        """Find a ranking by its id."""
        found = self._find(ranking_id)
        return None if found is None else found[0]

    def find_labels(self, ranking_id: str) -> Sequence[Label]:
        """Find the labels that were archived with a ranking."""
        found = self._find(ranking_id)
        return [] if found is None else found[1]

    def _find(self, ranking_id: str) -> tuple[Ranking, list[Label]] | None:
        project_id = find_project(self._connection, self._project)
        if project_id is None:
            return None
        places = manifest.find_places(self._connection, project_id, "ranking", [ranking_id])
        for hour, ids in places.values():
            found = HourFile(self._folder, hour).find_rankings(ids, self._contexts())
            if ranking_id in found:
                _, ranking, labels = found[ranking_id]
                return ranking, labels
        return None

    def find_changes(self, after: int, length: int) -> NDArray[np.int64]:
        """Find the starts of the windows that have events after a number."""
        hours = (
            self._list(None, None)
            if after <= 0
            else manifest.list_changed(self._connection, self._project, after)
        )
        if length % HOUR == 0:
            starts = np.array([hour.start for hour in hours], dtype=np.int64)
            return np.unique(starts - starts % length)
        times = [np.zeros(0, dtype=np.int64)]
        for hour in hours:
            for chunk in self.read_hour(hour, event_ids=True):
                is_new = chunk.seqs > after
                labels = chunk.labels
                if labels.seqs is not None:
                    is_new[labels.rankings[labels.seqs > after]] = True
                times.append(chunk.times[is_new])
        found = np.concatenate(times)
        return np.unique(found - found % length)

    def count_by_hour(self, since: int, until: int) -> Sequence[tuple[int, int, int]]:
        """Count the rankings of a span by hour and context."""
        if since % HOUR == until % HOUR == 0:
            return manifest.count_contexts(self._connection, self._project, since, until)
        counts: Counter[tuple[int, int]] = Counter()
        for hour in self._list(since, until):
            for chunk in HourFile(self._folder, hour).read(since, until):
                counts.update((hour.start, context) for context in chunk.contexts.tolist())
        return [(*place, count) for place, count in counts.items()]

    def count_labels(self, since: int, until: int, *, window: int) -> Sequence[LabelCount]:
        """Count the labels of the rankings of production in a span."""
        counts: Counter[tuple[str, tuple[str, ...], bool]] = Counter()
        contexts = self._contexts()
        for hour in self._list(since, until):
            for chunk in self.read_hour(hour, since, until, event_ids=False):
                labels = chunk.labels
                ages = labels.times - chunk.times[labels.rankings]
                kept = np.flatnonzero((labels.kinds != RETRACTION) & (ages < window))
                for number, code, is_grade in zip(
                    chunk.contexts[labels.rankings[kept]].tolist(),
                    labels.codes[kept].tolist(),
                    (~np.isnan(labels.values[kept])).tolist(),
                    strict=True,
                ):
                    counts[contexts[number].model, labels.names[code], is_grade] += 1
        return [LabelCount(*kind, count) for kind, count in counts.items()]

    def has_labels(self, since: int, until: int, before: int) -> bool:
        """Return whether a ranking of production has a label from before a time."""
        return any(
            bool((chunk.labels.times < before).any())
            for hour in self._list(since, until)
            for chunk in self.read_hour(hour, since, until, event_ids=False)
        )

    def count_late(
        self, *, model: str | None, since: int, until: int, after: int, upto: int
    ) -> int:
        """Count the rankings of a span by when they were stored."""
        contexts = self._contexts()
        theirs = [number for number, one in contexts.items() if model is None or one.model == model]
        count = 0
        for hour in manifest.list_changed(self._connection, self._project, after):
            if since - HOUR < hour.start < until and hour.first_seq <= upto:
                for chunk in HourFile(self._folder, hour).read(since, until):
                    is_late = (chunk.seqs > after) & (chunk.seqs <= upto)
                    count += int(np.sum(is_late & np.isin(chunk.contexts, theirs)))
        return count

    def _list(self, since: int | None, until: int | None) -> list[ArchivedHour]:
        return manifest.list_archived(self._connection, self._project, since, until)

    def _contexts(self) -> dict[int, Context]:
        if self._known is None:
            self._known = read_contexts(self._connection, self._project)
        return self._known


def _join(chunk: Chunk, ids: list[str], late: LabelColumns) -> Chunk:
    """Add labels to the rankings of a chunk that they name."""
    pa, compute = load_arrow(), load_arrow("pyarrow.compute")
    found = compute.index_in(pa.array(ids, pa.large_string()), write_texts(chunk.ranking_ids))
    there = np.flatnonzero(found.is_valid().to_numpy(zero_copy_only=False))
    if not len(there):
        return chunk
    rankings = found.drop_null().to_numpy().astype(np.int64)
    added = replace(choose_labels(late, there), rankings=rankings)
    return replace(chunk, labels=sort_labels(concatenate_labels([chunk.labels, added], [0, 0])))
