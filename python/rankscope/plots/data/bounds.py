"""Values with the bounds between which they lie, whatever is still unknown."""

from __future__ import annotations

from rankscope.records import record


@record(frozen=True, slots=True)
class Range:
    """A value and its bounds.

    Args:
        name: The run or the query.
        value: The value.
        lower: The least that it can be.
        upper: The most that it can be.
    """

    name: str
    value: float
    lower: float
    upper: float


@record(frozen=True, slots=True)
class BoundsChart:
    """Values with their bounds.

    Args:
        measure: The measure.
        by: What a row is: `run` or `query`.
        ranges: The values, in order.
    """

    measure: str
    by: str
    ranges: tuple[Range, ...]
