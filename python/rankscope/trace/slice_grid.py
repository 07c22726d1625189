"""Counts and sums of all slices of one and two attributes."""

from __future__ import annotations

from itertools import combinations

from rankscope.deferred import np
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope.trace.document_regrets import Codes

    Numbers: TypeAlias = NDArray[np.float64]
    Slice: TypeAlias = tuple[tuple[int, int], ...]


@record(frozen=True, slots=True)
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
