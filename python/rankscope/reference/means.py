"""Aggregation of the values of queries."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FLOOR = 0.000_01


def mean(values: Sequence[float], how: str = "mean") -> float:
    """Return the aggregate of the values of queries, with exact sums.

    Args:
        values: The value of each query.
        how: `mean`, `sum`, or `geometric`, where values below 0.00001 count as 0.00001.

    Returns:
        The aggregate, or NaN for a mean without values.

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
