"""What a mean is at least while all is well: the lower bound of a baseline, less a tolerance."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.records import record
from rankscope.stats.detector import check_floor
from rankscope.stats.means import DEFAULT, Mean, estimate_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.data.interval import Interval
    from rankscope.stats.clusters import ClusterMeans


@record(frozen=True, slots=True)
class Floor:
    """The floor of a detector, and what it was made from.

    Args:
        value: The lower end of the baseline's interval, less the tolerance.
        baseline: The mean of the baseline over the clusters of its periods.
        tolerance: How far the mean may fall without being called a drop.
    """

    value: float
    baseline: Mean
    tolerance: float


def find_floor(
    baseline: ClusterMeans, tolerance: float, interval: Interval = DEFAULT, threads: int = 1
) -> Floor:
    """Find the floor that a baseline gives a detector.

    The detector sees the mean of each cluster once a period, so the baseline is averaged over the
    same; make it with periods of the same length. For the interval, too, what a cluster does in one
    period is drawn on its own: it is about the queries and users there are, who come back, and not
    about others. The promise of the detector holds where the lower end does, which it does with a
    probability of (1 + level) / 2, and where the tolerance is more than a usual week swings below
    its mean.

    Args:
        baseline: The means of clusters by period, of some weeks that were well.
        tolerance: How far the mean may fall without being called a drop, 0 or more.
        interval: How the interval around the baseline's mean is made.
        threads: How many threads may draw; the interval does not depend on it.

    Raises:
        UsageError: The tolerance is negative, or what is left is not between 0 and 1, as where the
            baseline has fewer than two means.

    Examples:
        >>> import numpy as np
        >>> from rankscope.stats.clusters import average_by_cluster
        >>> values, users = np.tile([0.5, 0.9, 0.7, 0.7], 25), np.arange(100)
        >>> floor = find_floor(average_by_cluster(values, users), tolerance=0.02)
        >>> floor.value == floor.baseline.lower - 0.02
        True
    """
    if not tolerance >= 0:
        raise UsageError(
            f"expected a tolerance of 0 or more, found {tolerance}",
            hint="0.02 bears what is at most 0.02 below the baseline",
            code="bad_tolerance",
        )
    import numpy as np  # noqa: PLC0415 - loads with the first array

    rows = np.arange(len(baseline.value))
    mean = estimate_mean(baseline.value, rows, interval, threads)
    value = mean.lower - tolerance
    check_floor(value)
    return Floor(value, mean, tolerance)
