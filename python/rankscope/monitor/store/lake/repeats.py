"""Finds hours of a lake that may have rankings which an earlier hour has, too.

Only the ids of rankings are read, as numbers of 64 bits. Those of a day and of the hours around it
are in memory at a time, however large the lake is. Two ids may have one number, so that hours found
here *may* share rankings; `LakeReader.read_hour` compares the ids themselves.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from rankscope import _core
from rankscope.deferred import np
from rankscope.monitor.arrays import read_texts
from rankscope.monitor.events.limits import HOUR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from rankscope.monitor.store.lake.events import Foreign
    from rankscope.monitor.store.lake.loading import IdPiece
    from rankscope.monitor.store.lake.reader import LakeReader
    from rankscope.monitor.store.lake.state import KnownFile

AT_ONCE = 24
"""The hours whose ids are compared with others at a time."""
SPARSE = 5
"""Of 2^5 ids, about one is looked up in vain."""


class RepeatFinder:
    """Finds hours that may share rankings.

    Args:
        reader: Reads the ids.
        rankings: All files of rankings.
        hours: The starts of the hours that have rankings.
        within: How far apart two hours are at most.
        threads: How many hours are read at once.
    """

    def __init__(
        self,
        reader: LakeReader,
        rankings: Sequence[KnownFile],
        hours: Collection[int],
        within: int,
        threads: int,
    ) -> None:
        self._reader = reader
        self._rankings = rankings
        self._hours = sorted(hours)
        self._within = within
        self._threads = threads
        self._keys: dict[int, NDArray[np.uint64]] = {}

    def find(self, changed: Collection[int]) -> dict[int, set[int]]:
        """Find the pairs of hours, of which one has changed, that may share rankings."""
        pairs: dict[int, set[int]] = {}
        for block in _divide(sorted(set(changed) & set(self._hours))):
            self._read(block[0] - self._within, block[-1] + self._within)
            for first, second in self._compare(block):
                if 0 < abs(first - second) <= self._within:
                    pairs.setdefault(max(first, second), set()).add(min(first, second))
        return pairs

    def _read(self, since: int, until: int) -> None:
        """Read the ids of a span, and forget those of others."""
        near = [start for start in self._hours if since <= start <= until]
        self._keys = {start: self._keys[start] for start in near if start in self._keys}
        missing = [start for start in near if start not in self._keys]

        def read(start: int) -> NDArray[np.uint64]:
            return _make_keys(self._reader.read_ids(start, self._rankings))

        with ThreadPoolExecutor(self._threads, "rankscope-lake") as pool:
            self._keys |= zip(missing, pool.map(read, missing), strict=True)

    def _compare(self, block: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield pairs of hours that have an id in common, of which one is in a block."""
        own = np.concatenate([self._keys[start] for start in block])
        hours = np.repeat(np.array(block), [len(self._keys[start]) for start in block])
        mask = np.uint64((1 << (max(len(own), 1).bit_length() + SPARSE)) - 1)
        may_be = np.zeros(int(mask) + 1, dtype=np.bool_)
        may_be[own & mask] = True
        parts = [own]
        of = [hours]
        for start, keys in self._keys.items():
            if start not in block:
                shared = keys[may_be[keys & mask]]
                parts.append(shared)
                of.append(np.full(len(shared), start))
        keys, hours = np.concatenate(parts), np.concatenate(of)
        order = np.argsort(keys, kind="stable")
        keys, hours = keys[order], hours[order]
        ends = np.flatnonzero(np.append(keys[1:] != keys[:-1], True)) + 1
        begins = np.concatenate([[0], ends[:-1]])
        is_shared = ends - begins > 1
        seen: set[tuple[int, ...]] = set()
        for begin, end in zip(begins[is_shared].tolist(), ends[is_shared].tolist(), strict=True):
            group = tuple(hours[begin:end].tolist())
            if group in seen:
                continue
            seen.add(group)
            for place, first in enumerate(group):
                for second in group[place + 1 :]:
                    if first in block or second in block:
                        yield first, second


def _divide(hours: Sequence[int]) -> Iterator[list[int]]:
    """Divide hours into groups of about a day."""
    block: list[int] = []
    for start in hours:
        if block and start - block[0] >= AT_ONCE * HOUR:
            yield block
            block = []
        block.append(start)
    if block:
        yield block


def _make_keys(ids: IdPiece) -> NDArray[np.uint64]:
    """Return the keys of all ids, each once; ids of events have others than those of rankings."""
    keys = [_hash(b"ranking", ids.ranking_ids)]
    if ids.event_ids is not ids.ranking_ids:
        keys.append(_hash(b"event", ids.event_ids))
    return np.unique(np.concatenate(keys))


def _hash(name: bytes, ids: Foreign) -> NDArray[np.uint64]:
    hashes = _core.hash_texts([(name, read_texts(ids, "ids"))], np.arange(len(ids)))
    return np.frombuffer(memoryview(hashes), np.uint64)
