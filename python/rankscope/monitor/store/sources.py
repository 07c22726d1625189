"""Where the rankings of a project are: each place is a source, and a store reads them as one.

The tables of the database are the first source. Others, such as files of archived hours, have the
same methods; all sources of a read are as of the same moment.
"""

from __future__ import annotations

from itertools import groupby
from typing import Protocol

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.merging import merge_chunks
from rankscope.monitor.store.tables import rankings, rules
from rankscope.monitor.store.tables import versions as version_table
from rankscope.monitor.store.tables.chunks import read_chunks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from rankscope.monitor.events.event import Label, Ranking
    from rankscope.monitor.store.records import Chunk, LabelCount
    from rankscope.monitor.store.tables.moves import Move


class Source(Protocol):
    """Some of the rankings of one project, with their labels, as of one moment.

    Times are in microseconds since 1970. A span goes from `since` to before `until`.
    """

    def hours(self, since: int | None, until: int | None) -> Sequence[int]:
        """Return the starts of the hours that have rankings in a span, ascending."""

    def read(
        self,
        since: int | None,
        until: int | None,
        size: int,
        *,
        event_ids: bool,
        is_brief: bool = False,
    ) -> Iterator[Chunk]:
        """Read the rankings of a span by time, then by `ranking_id`; see `StoreReader.read`."""

    def find_ranking(self, ranking_id: str) -> Ranking | None:
        """Find a ranking by its id."""

    def find_labels(self, ranking_id: str) -> Sequence[Label]:
        """Find the labels of a ranking that are here, in any order."""

    def find_changes(self, after: int, length: int) -> NDArray[np.int64]:
        """Find the starts of the windows of a length that have events after that number."""

    def count_by_hour(self, since: int, until: int) -> Sequence[tuple[int, int, int]]:
        """Count the rankings of a span by the start of the hour and the context."""

    def count_labels(self, since: int, until: int, *, window: int) -> Sequence[LabelCount]:
        """Count the labels of the rankings of production in a span; see `count_labels`."""

    def has_labels(self, since: int, until: int, before: int) -> bool:
        """Return whether a ranking of production in a span has a label from before a time."""

    def count_late(
        self, *, model: str | None, since: int, until: int, after: int, upto: int
    ) -> int:
        """Count the rankings of a span by when they were stored; see `count_late`."""


class HotTables:
    """The rankings in the tables of the database.

    Args:
        connection: Reads the database, as of one moment.
        project: The name of the project.
        moves: The hours whose rows are being removed, and are read from files already.
    """

    def __init__(self, connection: Connection, project: str, moves: Sequence[Move] = ()) -> None:
        self._connection = connection
        self._project = project
        self._moves = moves

    def hours(self, since: int | None, until: int | None) -> Sequence[int]:
        """Return the starts of the hours that have rankings in a span."""
        return rankings.list_hours(self._connection, self._project, since, until)

    def read(
        self,
        since: int | None,
        until: int | None,
        size: int,
        *,
        event_ids: bool,
        is_brief: bool = False,  # noqa: ARG002 - a row has everything
    ) -> Iterator[Chunk]:
        """Read the rankings of a span."""
        return read_chunks(
            self._connection,
            self._project,
            since,
            until,
            size,
            event_ids=event_ids,
            moves=self._moves,
        )

    def find_ranking(self, ranking_id: str) -> Ranking | None:
        """Find a ranking by its id."""
        return rankings.find_ranking(self._connection, self._project, ranking_id)

    def find_labels(self, ranking_id: str) -> Sequence[Label]:
        """Find the labels of a ranking."""
        return rankings.find_labels(self._connection, self._project, ranking_id, self._moves)

    def find_changes(self, after: int, length: int) -> NDArray[np.int64]:
        """Find the starts of the windows that have events after a number."""
        return rankings.find_changes(self._connection, self._project, after, length)

    def count_by_hour(self, since: int, until: int) -> Sequence[tuple[int, int, int]]:
        """Count the rankings of a span by hour and context."""
        return version_table.count_by_hour(
            self._connection, self._project, since, until, self._moves
        )

    def count_labels(self, since: int, until: int, *, window: int) -> Sequence[LabelCount]:
        """Count the labels of the rankings of production in a span."""
        return rankings.count_labels(
            self._connection, self._project, since, until, window=window, moves=self._moves
        )

    def has_labels(self, since: int, until: int, before: int) -> bool:
        """Return whether a ranking of production has a label from before a time."""
        return rankings.has_labels(
            self._connection, self._project, since, until, before, moves=self._moves
        )

    def count_late(
        self, *, model: str | None, since: int, until: int, after: int, upto: int
    ) -> int:
        """Count the rankings of a span by when they were stored."""
        return rules.count_late(
            self._connection,
            self._project,
            model=model,
            since=since,
            until=until,
            after=after,
            upto=upto,
            moves=self._moves,
        )


def read_sources(
    sources: Sequence[Source],
    since: int | None,
    until: int | None,
    size: int,
    *,
    event_ids: bool,
    is_brief: bool = False,
) -> Iterator[Chunk]:
    """Read the rankings of all sources by time, then by `ranking_id`.

    Hours that only one source has are read from it as they are, and others are merged.
    """
    if len(sources) == 1:
        yield from sources[0].read(since, until, size, event_ids=event_ids, is_brief=is_brief)
        return
    owners: dict[int, tuple[int, ...]] = {}
    for number, source in enumerate(sources):
        for start in source.hours(since, until):
            owners[start] = (*owners.get(start, ()), number)
    for numbers, hours in groupby(sorted(owners), owners.__getitem__):
        starts = list(hours)
        span = (
            starts[0] if since is None else max(since, starts[0]),
            starts[-1] + HOUR if until is None else min(until, starts[-1] + HOUR),
        )
        streams = [
            sources[number].read(
                *span, size, event_ids=event_ids, is_brief=is_brief and len(numbers) == 1
            )
            for number in numbers
        ]
        yield from streams[0] if len(streams) == 1 else merge_chunks(streams, size)
