"""Sums of signals by version and slice, as windows have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.clusters import Spread
from rankscope.monitor.evaluate.grades import read_integers
from rankscope.monitor.evaluate.stored_windows import StoredCell
from rankscope.monitor.evaluate.windows import COUNTS, Cell, Grouping, Key
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.signals.kinds import NAMES
from rankscope.monitor.signals.values import ListValues
from rankscope.monitor.store.records import Chunk


class CellSums:
    """Sums the signals of rankings by version and slice.

    Args:
        grouping: Tells the cells of rankings.
        slicing: The slices.
    """

    def __init__(self, grouping: Grouping, slicing: Slicing) -> None:
        self._grouping = grouping
        self._dimensions = slicing.dimensions()
        self._cells: dict[Key, Cell] = {}
        self._numbers: dict[Key, int] = {}
        self._clusters = _core.ClusterSums(len(NAMES))
        self._closed: dict[Key, Spread] = {}

    def add(self, chunk: Chunk, rows: NDArray[np.int64], values: ListValues) -> None:
        """Add the rankings at some places of a chunk, in the order of time."""
        count = len(rows)
        if not count:
            return
        is_mature = np.ones(len(chunk.seqs), dtype=np.bool_)
        parts = self._grouping.divide(chunk, is_mature).choose(rows)
        nothing, none = np.zeros(count, dtype=np.uint8), np.zeros(count, dtype=np.int64)
        marks = {
            "missing": values.columns["no_results"],
            "tied": np.nan_to_num(values.columns["tied"]),
        }
        amounts = {"documents": np.diff(chunk.items.offsets)[rows]}
        for attributes in self._dimensions:
            keys, groups = parts.group(attributes)
            columns = values.list_columns(attributes)
            [(counts, defined, sums)] = _core.sum_cells(
                groups,
                len(keys),
                [
                    (marks[name] > 0).view(np.uint8) if name in marks else nothing
                    for name in COUNTS[1:7]
                ],
                [amounts.get(name, none) for name in COUNTS[7:]],
                columns,
                [(np.arange(len(keys)), len(keys))],
            )
            table = zip(
                keys,
                read_integers(counts).reshape(len(keys), -1).tolist(),
                read_integers(defined).reshape(len(keys), -1).tolist(),
                sums,
                strict=True,
            )
            for key, counted, known, packed in table:
                cell = Cell(tuple(counted), tuple(known), packed)
                here = self._cells.get(key)
                self._cells[key] = cell if here is None else here.merge(cell)
            if len(attributes) < 2:
                self._add_clusters(
                    chunk, rows, np.array([*map(self._number, keys)])[groups], columns
                )
        self._close(int(chunk.times[rows[-1]]) // HOUR * HOUR)

    def _number(self, key: Key) -> int:
        """Return the number of a cell; 0 is that of rankings which are in none."""
        return self._numbers.setdefault(key, len(self._numbers) + len(self._closed) + 1)

    def _add_clusters(
        self,
        chunk: Chunk,
        rows: NDArray[np.int64],
        numbers: NDArray[np.int64],
        columns: Sequence[NDArray[np.float64]],
    ) -> None:
        """Add the rankings of a chunk to the clusters of their cells."""
        names = [chunk.user_ids, chunk.query_keys, chunk.ranking_ids]
        if len(rows) < len(chunk.seqs):
            cells, values = np.zeros(len(chunk.seqs), dtype=np.int64), columns
            cells[rows] = numbers
            numbers, columns = cells, [np.full(len(cells), np.nan) for _ in values]
            for whole, part in zip(columns, values, strict=True):
                whole[rows] = part
        self._clusters.take(numbers, names, columns)

    def _close(self, before: int) -> None:
        """Sum the clusters of the cells that have all their rankings, and forget them."""
        self._clusters.close(0)
        for key in [key for key in self._numbers if key.start < before]:
            self._closed[key] = tuple(self._clusters.close(self._numbers.pop(key)))

    def finish(self) -> Iterator[StoredCell]:
        """Return the cells."""
        self._close(max((key.start for key in self._numbers), default=0) + 1)
        for key, cell in self._cells.items():
            yield StoredCell(key, cell, self._closed.get(key, ()))
