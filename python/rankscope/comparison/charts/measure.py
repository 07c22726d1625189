"""The choice of a measure of a comparison."""

from __future__ import annotations

from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.comparison.result import Comparison
    from rankscope.measures import Measure


def find_measure(comparison: Comparison, measure: Measure | str | None) -> str:
    """Return the name of a measure of a comparison; that of the first for `None`."""
    name = comparison.measures[0] if measure is None else str(measure)
    if name not in comparison.measures:
        raise UsageError(
            f"the comparison has no measure {name}",
            hint=f"choose one of: {', '.join(comparison.measures)}",
            code="not_compared",
        )
    return name
