"""Sums of arrays that don't depend on the order.

Each number is split into a high part, which is a multiple of a power of two so large that adding up
all high parts is exact, and a rest that is split in the same way (Rump, Ogita and Oishi, *Accurate
floating-point summation part I: faithful rounding*, 2008, `ExtractVector`).
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray


def take_high_part(values: NDArray[np.float64], terms: int) -> NDArray[np.float64]:
    """Return values rounded so that sums of up to `terms` of them are exact.

    Args:
        values: Finite numbers, below 1e100.
        terms: The maximum number of terms.

    Examples:
        >>> import numpy as np
        >>> third = take_high_part(np.array([1 / 3]), 2**20)
        >>> bool(abs(third[0] - 1 / 3) < 2**-32), float(third[0] % 2**-32)
        (True, 0.0)
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    top = float(np.abs(values).max(initial=0.0))
    if top == 0:
        return values
    unit = math.ldexp(1.0, math.frexp(top)[1] + (terms + 2).bit_length())
    return (unit + values) - unit


def sum_groups(
    values: NDArray[np.float64], groups: NDArray[Any], count: int
) -> NDArray[np.float64]:
    """Return the faithfully rounded sum of each group, independent of the order.

    Args:
        values: Finite numbers, below 1e100.
        groups: The group of each value, counted from 0.
        count: The number of groups.

    Returns:
        The sum of each group, or 0 if it has no values.

    Examples:
        >>> import numpy as np
        >>> sum_groups(np.array([1e20, 0.1, -1e20]), np.array([0, 0, 0]), 2).tolist()
        [0.1, 0.0]
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    total = np.zeros(count)
    for part in split_exactly(values):
        total += np.bincount(groups, part, minlength=count)
    return total


def sum_all(values: NDArray[np.float64]) -> float:
    """Return the same sum as `math.fsum`, but faster.

    Examples:
        >>> import numpy as np
        >>> sum_all(np.array([1e20, 0.1, -1e20]))
        0.1
    """
    return math.fsum(float(part.sum()) for part in split_exactly(values))


def split_exactly(values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the parts of each value, smallest first, whose sums are exact.

    Examples:
        >>> import numpy as np
        >>> parts = split_exactly(np.array([1 / 3, 1e-9]))
        >>> len(parts), sum(parts).tolist() == [1 / 3, 1e-9]
        (2, True)
    """
    parts = []
    rest = values
    while rest.any():
        parts.append(take_high_part(rest, len(rest)))
        rest = rest - parts[-1]
    return parts[::-1]
