"""Tests against a margin: whether a run is not worse than a baseline, or equivalent to it."""

from __future__ import annotations

import math

from rankscope._core import bounded_tails
from rankscope.deferred import np
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankscope.stats.test.flips import Inverted


@record(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """The p-values of a mean difference against a margin, each twice that of one direction.

    A p-value is 1 - level or more exactly if the interval at that level reaches the margin. The
    difference is equivalent if p is small in both directions.

    Args:
        p_below: The p-value of the hypothesis that the difference is minus the margin or less.
        p_above: The p-value of the hypothesis that it is the margin or more.
    """

    p_below: float
    p_above: float

    @property
    def p_equivalent(self) -> float:
        """The p-value of the hypothesis that the difference is the margin or more either way."""
        return max(self.p_below, self.p_above)


def test_bounded(
    differences: NDArray[np.float64],
    clusters: NDArray[np.int64] | None,
    value_range: tuple[float | None, float | None],
    margin: float,
) -> MarginTest | None:
    """Test a mean difference against a margin, for every distribution of differences with limits.

    Examples:
        >>> import numpy as np
        >>> found = test_bounded(np.zeros(100), None, (-1.0, 1.0), margin=0.05)
        >>> exact = 2 * (1 - 0.05 / 1) ** 100  # nothing was lost in 100 queries
        >>> round(found.p_equivalent, 3), round(exact, 3)
        (0.012, 0.012)
    """
    low, high = value_range
    if low is None or high is None:
        return None
    column = np.ascontiguousarray(differences, dtype=np.float64)
    tails = [bounded_tails(column, clusters, (low, high), limit) for limit in (-margin, margin)]
    if tails[0] is None or tails[1] is None:
        return None
    return MarginTest(p_below=min(2 * tails[0][0], 1.0), p_above=min(2 * tails[1][1], 1.0))


def test_dense(difference: float, inverted: Inverted, margin: float) -> MarginTest:
    """Return what a test of sign flips says about a margin."""
    if math.isnan(difference):
        return MarginTest(p_below=math.nan, p_above=math.nan)
    return MarginTest(
        p_below=inverted.p_below if difference > -margin else 1.0,
        p_above=inverted.p_above if difference < margin else 1.0,
    )
