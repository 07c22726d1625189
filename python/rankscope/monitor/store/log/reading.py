"""Reads the log of a project: its rankings and their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from rankscope import _core
from rankscope.monitor.events.event import LABEL_KINDS, Label, Ranking
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.chunks import (
    make_chunk,
    make_label_events,
    make_ranking,
    text_at,
    to_integers,
)
from rankscope.monitor.store.log.blocks import (
    LABELS,
    PRODUCTION,
    RANKINGS,
    Block,
    damaged,
    is_of,
    list_blocks,
    open_labels,
    open_rankings,
    select_blocks,
)
from rankscope.monitor.store.log.ids import find_rankings
from rankscope.monitor.store.log.spans import open_columns, read_blocks
from rankscope.monitor.store.records import Chunk, Context
from rankscope.monitor.store.tables.projects import find_project
from rankscope.monitor.store.tables.schema import blocks, pending
from rankscope.monitor.store.tables.statements import in_project, parse_stored
from rankscope.monitor.store.tables.versions import read_contexts

if TYPE_CHECKING:
    from sqlalchemy import Connection


CHUNK = 5_000
"""How many rankings are read at once, so that their columns fit into the cache of a core."""
FEW = 2
"""From so many blocks the documents of some rankings are read."""


class LogReader:
    """Reads the log of a project as of one moment.

    Times are in microseconds since 1970. A span goes from `since` to before `until`.

    Args:
        connection: Reads the database, as of one moment.
        project: The name of the project.
    """

    def __init__(self, connection: Connection, project: str) -> None:
        self._connection = connection
        self._project = project
        self._known: dict[int, Context] | None = None

    def read(
        self, since: int | None, until: int | None, size: int, *, event_ids: bool
    ) -> Iterator[Chunk]:
        """Read the rankings of a span by time, then by `ranking_id`; see `StoreReader.read`."""
        listed = list_blocks(self._connection, self._project, since, until)
        return read_blocks(self._connection, listed, since, until, size, event_ids=event_ids)

    def find_ranking(self, ranking_id: str) -> Ranking | None:
        """Find a ranking by its id."""
        place = self._find(ranking_id)
        return None if place is None else make_ranking(place[0], place[1], self._contexts())

    def find_labels(self, ranking_id: str) -> list[Label]:
        """Find the labels of a ranking, in the order in which they count."""
        place = self._find(ranking_id)
        if place is not None:
            return [label for _, label in make_label_events(*place)]
        wanted = select(pending).where(
            in_project(pending.c.project_id, self._project), pending.c.ranking_id == ranking_id
        )
        labels = map(make_waiting, self._connection.execute(wanted))
        return sorted(labels, key=lambda label: (label.time, label.event_id))

    def _find(self, ranking_id: str) -> tuple[Chunk, int] | None:
        """Find a ranking by its id: a chunk of rankings of its time, and its position there."""
        project_id = find_project(self._connection, self._project)
        if project_id is None:
            return None
        entry = find_rankings(self._connection, project_id, [ranking_id]).get(ranking_id)
        if entry is None:
            return None
        for chunk in self.read(entry.time, entry.time + 1, size=1000, event_ids=True):
            for place in range(len(chunk.seqs)):
                if text_at(chunk.ranking_ids, place) == ranking_id:
                    return chunk, place
        return None

    def list_documents(self, ranking_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the documents of rankings, from a few blocks at most."""
        project_id = find_project(self._connection, self._project)
        if project_id is None:
            return {}
        entries = find_rankings(self._connection, project_id, ranking_ids)
        if not entries:
            return {}
        seqs, times = zip(*((entry.seq, entry.time) for entry in entries.values()), strict=True)
        listed = list_blocks(self._connection, project_id, min(times), max(times) + 1, (RANKINGS,))
        few = [block for block in listed if any(block.overlaps(time, time + 1) for time in times)][
            :FEW
        ]
        documents: dict[str, tuple[str, ...]] = {}
        for rankings in open_rankings(self._connection, few):
            # The numbers of events tell rankings apart without comparing their ids.
            places = np.flatnonzero(np.isin(to_integers(rankings.seqs()), seqs))
            chunk = make_chunk(rankings.take(places), _core.LabelBlock.join([]), event_ids=False)
            for place in range(len(chunk.seqs)):
                start, end = chunk.items.offsets[place : place + 2].tolist()
                documents[text_at(chunk.ranking_ids, place)] = tuple(
                    text_at(chunk.items.doc_ids, at) for at in range(start, end)
                )
        return documents

    def find_changes(self, after: int, length: int) -> NDArray[np.int64]:
        """Find the starts of the windows of a length that have events after a number."""
        listed = select_blocks(
            self._connection,
            is_of(self._project),
            blocks.c.last_seq > after,
            blocks.c.kind.in_((RANKINGS, LABELS) if after > 0 else (RANKINGS,)),
        )
        if length % HOUR == 0:
            starts = np.array([block.start for block in listed], dtype=np.int64)
            return np.unique(starts - starts % length)
        times = [np.zeros(0, dtype=np.int64)]
        for block in listed:
            columns, moments = open_columns(self._connection, block)
            times.append(moments[to_integers(columns.seqs()) > after])
        changed = np.concatenate(times)
        return np.unique(changed - changed % length)

    def count_by_hour(self, since: int, until: int) -> list[tuple[int, int, int]]:
        """Count the rankings of a span by the start of the hour and the context."""
        counts: Counter[tuple[int, int]] = Counter()
        for block in list_blocks(self._connection, self._project, since, until, (RANKINGS,)):
            if block.is_within(since, until):
                for context, span in block.spans.items():
                    counts[block.start, context] += span.rankings
            elif block.overlaps(since, until):
                _, times, contexts = self._read_columns(block)
                chosen = contexts[(times >= since) & (times < until)]
                counts.update((block.start, context) for context in chosen.tolist())
        return [(*place, count) for place, count in sorted(counts.items())]

    def has_labels(self, since: int, until: int, before: int) -> bool:
        """Return whether a ranking of production in a span has a label from before a time."""
        for block in list_blocks(self._connection, self._project, since, until, (LABELS,)):
            if block.environment != PRODUCTION or not block.overlaps(since, until):
                continue
            (labels,) = open_labels(self._connection, [block])
            shown, times = to_integers(labels.shown()), to_integers(labels.times())
            if ((shown >= since) & (shown < until) & (times < before)).any():
                return True
        return False

    def count_late(
        self, *, model: str | None, since: int, until: int, after: int, upto: int
    ) -> int:
        """Count the rankings of production in a span by when they were stored."""
        contexts = self._contexts()
        wanted = [
            number
            for number, context in contexts.items()
            if model is None or context.model == model
        ]
        listed = select_blocks(
            self._connection,
            is_of(self._project),
            blocks.c.last_seq > after,
            blocks.c.block_id <= upto,
            blocks.c.first < until,
            blocks.c.last >= since,
            blocks.c.kind == RANKINGS,
            blocks.c.environment == PRODUCTION,
        )
        count = 0
        for block in listed:
            seqs, times, numbers = self._read_columns(block)
            is_late = (seqs > after) & (seqs <= upto) & (times >= since) & (times < until)
            count += int(np.sum(is_late & np.isin(numbers, wanted)))
        return count

    def _read_columns(self, block: Block) -> tuple[NDArray[np.int64], ...]:
        """Read the numbers, times and contexts of the rankings of a block."""
        (rankings,) = open_rankings(self._connection, [block])
        return tuple(map(to_integers, (rankings.seqs(), rankings.times(), rankings.contexts())))

    def _contexts(self) -> dict[int, Context]:
        if self._known is None:
            self._known = read_contexts(self._connection, self._project)
        return self._known


def make_waiting(row: Any) -> Label:  # noqa: ANN401 - a row of the table
    """Make an event of a label that waits for its ranking."""
    if not 0 <= row.kind < len(LABEL_KINDS):
        raise damaged("the labels that wait", "damaged")
    return Label(
        row.event_id,
        row.ranking_id,
        row.doc_id,
        row.time,
        tuple(parse_stored(row.labels)),
        row.value,
        LABEL_KINDS[row.kind],
    )
