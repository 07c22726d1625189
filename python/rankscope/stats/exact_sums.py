"""Sums of arrays that don't depend on the order.

Each number is split into a high part, which is a multiple of a power of two so large that adding up
all high parts is exact, and a rest that is split in the same way (Rump, Ogita and Oishi, *Accurate
floating-point summation part I: faithful rounding*, 2008, `ExtractVector`).
"""

from __future__ import annotations

import math

from rankscope.deferred import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

BLOCK = 2**20
"""How many numbers are added up at once."""


def take_high_part(values: NDArray[np.float64], terms: int) -> NDArray[np.float64]:
    """Return values rounded so that sums of up to `terms` of them are exact.

    Examples:
        >>> import numpy as np
        >>> third = take_high_part(np.array([1 / 3]), 2**20)
        >>> bool(abs(third[0] - 1 / 3) < 2**-32), float(third[0] % 2**-32)
        (True, 0.0)
    """
    top = max(-float(values.min(initial=0.0)), float(values.max(initial=0.0)))
    if top == 0:
        return values
    unit = math.ldexp(1.0, math.frexp(top)[1] + (terms + 2).bit_length())
    high = unit + values
    high -= unit
    return high


def sum_groups(
    values: NDArray[np.float64], groups: NDArray[Any], count: int
) -> NDArray[np.float64]:
    """Return the sum of each group, rounded once, whatever the order.

    Examples:
        >>> import numpy as np
        >>> sum_groups(np.array([1e20, 0.1, -1e20]), np.array([0, 0, 0]), 2).tolist()
        [0.1, 0.0]
    """
    (total,) = sum_groupings(values, [groups], [count])
    return total


def sum_groupings(
    values: NDArray[np.float64], groupings: Sequence[NDArray[Any]], counts: Sequence[int]
) -> list[NDArray[np.float64]]:
    """Return the sums of several groupings of the same values, as `sum_groups` does of one."""
    found = [
        [_count(groups, part, count) for groups, count in zip(groupings, counts, strict=True)]
        for part in _peel(values)
    ]
    # Sums of large and of small parts can cancel each other, so these are added up exactly, too.
    parts = ([[0.0] * count, *(of[at].tolist() for of in found)] for at, count in enumerate(counts))
    return [np.array([*map(math.fsum, zip(*sums, strict=True))]) for sums in parts]


def _count(groups: NDArray[Any], part: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the exact sums of parts by group, a block at a time, which limits memory."""
    total = np.zeros(count)
    for first in range(0, len(groups), BLOCK):
        block = slice(first, first + BLOCK)
        total += np.bincount(groups[block], part[block], minlength=count)
    return total


def sum_all(values: NDArray[np.float64]) -> float:
    """Return the same sum as `math.fsum`, but faster.

    Examples:
        >>> import numpy as np
        >>> sum_all(np.array([1e20, 0.1, -1e20]))
        0.1
    """
    return math.fsum(float(part.sum()) for part in _peel(values))


def split_exactly(values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the parts of each value, smallest first, whose sums are exact.

    Examples:
        >>> import numpy as np
        >>> parts = split_exactly(np.array([1 / 3, 1e-9]))
        >>> len(parts), sum(parts).tolist() == [1 / 3, 1e-9]
        (2, True)
    """
    return [*_peel(values)][::-1]


def _peel(values: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield the parts of each value, largest first."""
    rest = values
    while rest.any():
        part = take_high_part(rest, len(rest))
        yield part
        rest = rest - part
