"""Where the rankings of a project are: the log of the store, or a lake."""

from __future__ import annotations

from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.events.event import Label, Ranking
    from rankscope.monitor.store.records import Chunk


class Source(Protocol):
    """The rankings of one project, with their labels, as of one moment.

    Times are in microseconds since 1970. A span goes from `since` to before `until`.
    """

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

    def find_labels(self, ranking_id: str) -> list[Label]:
        """Find the labels of a ranking, in the order in which they count."""

    def find_changes(self, after: int, length: int) -> NDArray[np.int64]:
        """Find the starts of the windows of a length that have events after that number."""

    def count_by_hour(self, since: int, until: int) -> Sequence[tuple[int, int, int]]:
        """Count the rankings of a span by the start of the hour and the context."""

    def has_labels(self, since: int, until: int, before: int) -> bool:
        """Return whether a ranking of production in a span has a label from before a time."""

    def count_late(
        self, *, model: str | None, since: int, until: int, after: int, upto: int
    ) -> int:
        """Count rankings in production by their times, and by when they were stored.

        Args:
            model: The model; `None` means any.
            since: The earliest time, in microseconds since 1970.
            until: The first time that does not count.
            after: The number of an event; only later events count.
            upto: The number of the last event that counts.
        """
