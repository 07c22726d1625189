"""How the values of queries become one."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FLOOR = 0.000_01


def mean(values: Sequence[float], how: str = "mean") -> float:
    """Sum up the values of queries, with exact sums.

    Args:
        values: A value for each query.
        how: `mean`, `sum`, or `geometric`, which raises smaller values to 0.00001.

    Returns:
        One number; NaN for the mean of no values.

    Examples:
        >>> mean([1.0, 0.5]), mean([1.0, 0.0], "sum"), round(mean([1.0, 0.0], "geometric"), 4)
        (0.75, 1.0, 0.0032)
    """
    if how == "sum":
        return math.fsum(values)
    if not values:
        return math.nan
    if how == "geometric":
        return math.exp(math.fsum(math.log(max(value, FLOOR)) for value in values) / len(values))
    return math.fsum(values) / len(values)
