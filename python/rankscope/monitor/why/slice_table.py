"""Tables of all slices of one and two attributes, over all queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._show.table import Cell, Table
from rankscope._stats.sums import split_exactly
from rankscope.monitor.why.decomposition import divide, split_change
from rankscope.monitor.why.decomposition_result import name_slice
from rankscope.monitor.why.document_regrets import Codes
from rankscope.monitor.why.query_columns import QueryColumns
from rankscope.monitor.why.shared_slices import SliceAxis

Numbers: TypeAlias = NDArray[np.float64]
Slice: TypeAlias = tuple[tuple[int, int], ...]


MOST_LISTED = 50
"""The number of slices listed by contribution of their mean, and by total contribution."""
PARTS = ("mix", "within", "entered", "left")


def tabulate_all(
    windows: tuple[QueryColumns, QueryColumns], axes: Sequence[SliceAxis]
) -> list[SliceGrid]:
    """Return the counts and sums of all slices, over all queries."""
    parts = [split_exactly(window.value) for window in windows]
    most = max(map(len, parts))
    # Where a window needs fewer parts, the others are nothing.
    filled = [
        [np.zeros(len(window))] * (most - len(part)) + part
        for window, part in zip(windows, parts, strict=True)
    ]
    return tabulate(
        [axis.codes for axis in axes],
        [len(axis.texts) for axis in axes],
        [*zip(*filled, strict=True)],
    )


def list_attributes(grids: Sequence[SliceGrid], axes: Sequence[SliceAxis]) -> Table:
    """Return the change split by the values of each attribute, with one row per attribute."""
    columns: dict[str, list[Cell]] = {"attribute": [axis.name for axis in axes]}
    singles = [grid for grid in grids if len(grid.axes) == 1]
    columns["values"] = [int(grid.counts.any(axis=0).sum()) for grid in singles]
    splits = [split_change(grid.counts, grid.sums) for grid in singles]
    for part in PARTS:
        columns[part] = [math.fsum(getattr(split, part)) for split in splits]
    return Table(columns)


def list_slices(
    grids: Sequence[SliceGrid], axes: Sequence[SliceAxis], *, sign: float, support: int
) -> Table:
    """Return the slices that contribute most to the change."""
    rows: list[tuple[Cell, ...]] = []
    for grid in grids:
        split = split_change(grid.counts, grid.sums)
        terms = np.array([getattr(split, part) for part in PARTS])
        total = terms.sum(axis=0)
        means = divide(grid.sums, grid.counts)
        whole = grid.counts.sum(axis=1, keepdims=True)
        is_listed = (grid.counts >= support).any(axis=0) & (grid.counts < whole).any(axis=0)
        for cell in _take_most(is_listed, (sign * split.within, sign * total)):
            counts = grid.counts[:, cell].astype(int).tolist()
            place = grid.place(int(cell))
            rows.append(
                (
                    name_slice(
                        tuple((axes[at].name, axes[at].texts[value]) for at, value in place)
                    ),
                    *counts,
                    *(float(means[at, cell]) if counts[at] else None for at in range(2)),
                    float(total[cell]),
                    *terms[:, cell].tolist(),
                )
            )
    names = ("slice", "queries before", "queries after", "before", "after", "total", *PARTS)
    total_at, within_at = names.index("total"), names.index("within")
    kept: set[tuple[Cell, ...]] = set()
    for at in (total_at, within_at):
        kept.update(_sort(rows, at, sign)[:MOST_LISTED])
    ordered = _sort(kept, within_at, sign)
    return Table({name: [row[at] for row in ordered] for at, name in enumerate(names)})


def _take_most(is_listed: NDArray[np.bool_], orders: Sequence[NDArray[np.float64]]) -> list[int]:
    """Return the indices of the largest numbers, for each order."""
    places = np.flatnonzero(is_listed)
    kept: set[int] = set()
    for order in orders:
        # Of equal numbers all are kept, so that the order of slices does not matter.
        numbers = order[places]
        least = (
            np.partition(numbers, -MOST_LISTED)[-MOST_LISTED]
            if len(places) > MOST_LISTED
            else -np.inf
        )
        kept.update(places[numbers >= least].tolist())
    return sorted(kept)


def _sort(rows: Iterable[tuple[Cell, ...]], at: int, sign: float) -> list[tuple[Cell, ...]]:
    """Return the rows sorted by a number in a direction, largest first."""

    def key(row: tuple[Cell, ...]) -> tuple[float, str]:
        number = row[at]
        return (-sign * number if isinstance(number, float) else 0.0, str(row[0]))

    return sorted(rows, key=key)


@dataclass(frozen=True, slots=True)
class SliceGrid:
    """All slices of one or two attributes.

    Args:
        axes: The indices of the attributes.
        width: The number of values of the last attribute.
        counts: The number of queries of each slice, by window.
        sums: The sums of their values.
    """

    axes: tuple[int, ...]
    width: int
    counts: Numbers
    sums: Numbers

    def place(self, cell: int) -> Slice:
        """Return the values of a slice by attribute."""
        if not self.axes:
            return ()
        values = (cell,) if len(self.axes) == 1 else divmod(cell, self.width)
        return tuple(zip(self.axes, values, strict=True))


def find_cells(codes: Sequence[Codes], axes: tuple[int, ...], width: int) -> Codes:
    """Return the slice of each query of a window, for one or two attributes."""
    cells = codes[axes[0]]
    if len(axes) == 2:
        cells = cells * np.int32(width) + codes[axes[1]]
    return cells


def find_queries(codes: Sequence[Codes], place: Slice) -> NDArray[np.bool_]:
    """Return which queries of a window are in a slice."""
    (axis, value), *others = place
    is_in: NDArray[np.bool_] = codes[axis] == value
    for axis, value in others:
        is_in &= codes[axis] == value
    return is_in


def tabulate(
    codes: Sequence[Sequence[Codes]], sizes: Sequence[int], parts: Sequence[Sequence[Numbers]]
) -> list[SliceGrid]:
    """Return the counts and sums of all slices of one and two attributes."""
    grids = []
    numbers = range(len(codes))
    for axes in [*((axis,) for axis in numbers), *combinations(numbers, 2)]:
        width = sizes[axes[-1]]
        count = width if len(axes) == 1 else sizes[axes[0]] * width
        counts, sums = np.zeros((2, count)), np.zeros((2, count))
        for at in range(2):
            cells = find_cells([each[at] for each in codes], axes, width)
            counts[at] = np.bincount(cells, minlength=count)
            for part in parts:
                sums[at] += np.bincount(cells, part[at], minlength=count)
        grids.append(SliceGrid(axes, width, counts, sums))
    return grids
