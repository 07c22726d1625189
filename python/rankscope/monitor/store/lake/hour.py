"""The rankings of an hour of a lake with their labels, each event once."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from rankscope import _core
from rankscope.deferred import np
from rankscope.errors import FileError
from rankscope.monitor.events.bins import bin_content
from rankscope.monitor.events.outcome import STATUSES
from rankscope.monitor.store.chunks import make_chunk, to_integers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope.monitor.events.bins import Bins, Content
    from rankscope.monitor.store.records import Chunk

PROJECT = 0
"""Ids are compared with those of the same lake only."""


class Settled(NamedTuple):
    """What became of the events of an hour.

    Args:
        start: The start of the hour.
        events: What became of them, and the columns of those that count.
        own: By code, what became of the rankings and of the labels that were logged with them.
        labels: By code, what became of the labels of files.
    """

    start: int
    events: _core.Settled
    own: Counter[str]
    labels: Counter[str]

    def find_spans(self, bins: Bins) -> dict[Content, tuple[int, int, int]]:
        """Return by context the number of rankings, and the times of the first and the last.

        They are in the order of their first rankings, as contexts are numbered when events are
        sent.
        """
        contents = self.events.contexts()
        found: dict[Content, tuple[int, int, int]] = {}
        for place, count, first, last in sorted(self.events.spans(), key=lambda span: span[2]):
            if (content := contents[place]) is not None:
                binned = bin_content(content, bins)
                so_far, since, until = found.get(binned, (0, first, last))
                found[binned] = (so_far + count, min(since, first), max(until, last))
        return found

    def count_matched(self) -> int:
        """Count the labels of files whose ranking counts, be they repeated or not."""
        first = self.own["accepted"]  # labels of files have the numbers after those
        blocks, waiting = self.events.labels([])
        others = [to_integers(block.seqs()) for start, _, block in blocks if start != self.start]
        others.append(np.array([row[0] for row in waiting], dtype=np.int64))
        return self.labels.total() - sum(int((seqs > first).sum()) for seqs in others)

    def make_chunk(self, numbers: Mapping[Content, int], bins: Bins, *, event_ids: bool) -> Chunk:
        """Return the rankings by time, then by `ranking_id`, with their labels.

        Raises:
            FileError: There is a context without a number.
        """
        contents = self.events.contexts()
        contexts = [
            0 if content is None else numbers.get(bin_content(content, bins), -1)
            for content in contents
        ]
        if -1 in contexts:
            raise FileError(
                "the files of an hour are not those that were scanned",
                hint="run it again: files that change are read again",
                code="lake_changed",
            )
        rankings = [block for _, _, block in self.events.rankings(contexts)]
        label_blocks, _ = self.events.labels([])
        labels = [block for start, _, block in label_blocks if start == self.start]
        return make_chunk(
            _core.RankingBlock.join(rankings), _core.LabelBlock.join(labels), event_ids=event_ids
        )


def settle(
    start: int,
    batch: _core.EventBatch,
    labels: _core.EventBatch,
    earlier: Sequence[tuple[int, ...]],
) -> Settled:
    """Tell which rankings of an hour, and which labels of files, are the first with their ids.

    Args:
        start: The start of the hour.
        batch: Its rankings, and the labels that were logged with them.
        labels: Labels of files.
        earlier: The ids of earlier hours.
    """
    joined = _core.EventBatch.join([batch, labels])
    events = joined.hash_ids(PROJECT).settle(earlier, 1)
    statuses = np.frombuffer(events.statuses(), dtype=np.uint8)
    own, others = _count(statuses[: len(batch)]), _count(statuses[len(batch) :])
    return Settled(start, events, own, others)


def _count(statuses: NDArray[np.uint8]) -> Counter[str]:
    counts = np.bincount(statuses).tolist()
    return Counter({STATUSES[at]: count for at, count in enumerate(counts) if count})
