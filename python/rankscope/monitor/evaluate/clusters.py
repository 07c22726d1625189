"""Clusters of rankings that depend on each other, and the intervals that allow for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope.monitor.arrays import Texts
from rankscope.monitor.evaluate.grades import read_integers
from rankscope.monitor.evaluate.means import robust_ends
from rankscope.monitor.evaluate.values import Evaluated
from rankscope.monitor.evaluate.windows import Key
from rankscope.monitor.store.records import Chunk

Moments: TypeAlias = tuple[float, float, float, float]
Spread: TypeAlias = tuple[Moments, ...]


def list_names(chunk: Chunk) -> list[tuple[bytes, Texts]]:
    """Return the columns that name the clusters of rankings, as the core takes them.

    The cluster of a ranking is its user, else its query, else the ranking itself: the first name
    that isn't empty, with its prefix, as a user may be called as a query is.
    """
    return [(b"u", chunk.user_ids), (b"q", chunk.query_keys), (b"r", chunk.ranking_ids)]


def number_clusters(chunk: Chunk, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for the cluster of each ranking at some places, the same in every process.

    It is made of 8 bytes of the BLAKE2b of its name.
    """
    return read_integers(_core.hash_texts(list_names(chunk), places))


def list_texts(codes: _core.TextCodes) -> list[bytes]:
    """Return texts that were numbered, in the order of their numbers."""
    offsets, text = codes.texts()
    whole = bytes(memoryview(text))
    return [whole[start:end] for start, end in pairwise(read_integers(offsets).tolist())]


class ClusterCodes:
    """Numbers the clusters of rankings, chunk by chunk, in the order in which they come."""

    def __init__(self) -> None:
        self._names = _core.TextCodes()

    def number(self, chunk: Chunk, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the clusters of the rankings at some places."""
        return read_integers(self._names.number(list_names(chunk), places))

    def sort(self) -> NDArray[np.int64]:
        """Return the place of each number in the order of the names."""
        names = list_texts(self._names)
        places = np.empty(len(names), dtype=np.int64)
        places[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        return places


def find_interval(
    moments: Moments, *, mean: float, count: int, level: float
) -> tuple[float, float]:
    """Return the t interval with the cluster-robust standard error of a mean.

    It is that of `rankscope.monitor.evaluate.means.estimate_mean` where no cluster is in two parts.

    Examples:
        >>> import numpy as np
        >>> values, users = [0.9, 0.5, 0.7, 0.8], ["a", "b", "b", "c"]
        >>> of_users = (3.0, 6.0, 4.1, 2.89)  # a: 0.9 of 1, b: 1.2 of 2, c: 0.8 of 1
        >>> ends = find_interval(of_users, mean=2.9 / 4, count=4, level=0.95)
        >>> from rankscope import Interval
        >>> from rankscope.monitor.evaluate.means import estimate_mean
        >>> mean = estimate_mean(np.array(values), np.array(users), Interval(method="t"))
        >>> np.allclose(ends, (mean.lower, mean.upper), atol=1e-12)
        True
    """
    clusters, sizes, products, squares = moments
    # Rounding may take what is 0 below it.
    total = max(squares - 2 * mean * products + mean * mean * sizes, 0.0)
    return robust_ends(mean, total, int(clusters), count, level)


def add_spreads(spreads: Sequence[Spread]) -> Spread:
    """Add up the clusters of several cells, at least one, one after the other."""
    # Added in order, as no other sum of NumPy promises to be.
    total = np.add.accumulate(np.array(spreads), axis=0)[-1]
    return tuple(tuple(row) for row in total.tolist())


class SpreadSums:
    """Adds up the clusters of cells, ranking by ranking; the order of chunks makes no difference.

    Rankings come in the order of time: the clusters of a window are forgotten once a later one has
    begun, so that memory grows with the rankings of one window.

    Args:
        measures: How many measures there are.

    Raises:
        RuntimeError: A ranking comes after one of a later window.
    """

    def __init__(self, measures: int) -> None:
        self._sums = _core.ClusterSums(measures)
        self._cells: dict[Key, int] = {}
        self._open: set[Key] = set()
        self._closed: dict[Key, Spread] = {}

    def take(self, evaluated: Evaluated, keys: list[Key], groups: NDArray[np.int64]) -> None:
        """Take the rankings of a chunk."""
        if not keys:
            return
        for key in keys:
            if key not in self._cells:
                self._cells[key] = len(self._cells)
                self._open.add(key)
            elif key not in self._open:
                raise RuntimeError("expected rankings in the order of time")
        chunk = evaluated.chunk
        places = np.array([self._cells[key] for key in keys], dtype=np.int64)
        self._sums.take(
            places[groups],
            [chunk.user_ids, chunk.query_keys, chunk.ranking_ids],
            [measure.value for measure in evaluated.values.measures],
        )
        last = keys[int(groups[-1])].start
        self._close([key for key in self._open if key.start < last])

    def _close(self, keys: Collection[Key]) -> None:
        """Sum the clusters of cells that have all their rankings."""
        for key in keys:
            self._closed[key] = tuple(self._sums.close(self._cells[key]))
        self._open.difference_update(keys)

    def finish(self) -> dict[Key, Spread]:
        """Return the sums of each cell."""
        self._close([*self._open])
        return {key: self._closed[key] for key in self._cells}
