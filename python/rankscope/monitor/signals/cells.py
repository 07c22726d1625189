"""Sums of hourly signals by version and slice, as windows have them."""

from __future__ import annotations

from rankscope import _core
from rankscope.deferred import np
from rankscope.monitor.evaluate.grades import read_integers
from rankscope.monitor.evaluate.stored_windows import StoredCell
from rankscope.monitor.evaluate.windows import COUNTS, Cell, Grouping
from rankscope.monitor.signals.kinds import HOURLY, NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankscope.monitor.definition.slices import Slicing
    from rankscope.monitor.evaluate.clusters import Spread
    from rankscope.monitor.evaluate.windows import Key
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
        self._clusters = _core.ClusterSums(len(HOURLY))

    def add(self, chunk: Chunk, values: ListValues) -> None:
        """Add the rankings of a chunk, in the order of time."""
        count = len(chunk.seqs)
        if not count:
            return
        parts = self._grouping.divide(chunk, np.ones(count, dtype=np.bool_))
        nothing, none = np.zeros(count, dtype=np.uint8), np.zeros(count, dtype=np.int64)
        marks = {
            "missing": values.columns["no_results"],
            "tied": np.nan_to_num(values.columns["tied"]),
        }
        amounts = {"documents": np.diff(chunk.items.offsets)}
        names = [chunk.user_ids, chunk.query_keys, chunk.ranking_ids]
        undefined = [np.full(count, np.nan)] * (len(NAMES) - len(HOURLY))
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
                [*columns, *undefined],
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
                numbers = [self._numbers.setdefault(key, len(self._numbers)) for key in keys]
                self._clusters.take(np.array(numbers, dtype=np.int64)[groups], names, columns)

    def finish(self) -> Iterator[StoredCell]:
        """Return the cells."""
        nothing = ((0.0, 0.0, 0.0, 0.0),) * (len(NAMES) - len(HOURLY))
        for key, cell in self._cells.items():
            number = self._numbers.get(key)
            spread: Spread = ()
            if number is not None:
                spread = (*self._clusters.close(number), *nothing)
            yield StoredCell(key, cell, spread)
