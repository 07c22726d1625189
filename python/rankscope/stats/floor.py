"""The floor of a detector: the lower bound of a baseline minus a tolerance."""

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
    """The floor of a detector.

    Args:
        value: The lower end of the baseline's interval minus the tolerance.
        baseline: The mean of the baseline over the clusters of its periods.
        tolerance: How far the mean can fall before it counts as a drop.
    """

    value: float
    baseline: Mean
    tolerance: float


def find_floor(
    baseline: ClusterMeans, tolerance: float, interval: Interval = DEFAULT, threads: int = 1
) -> Floor:
    """Return the floor for a detector, given a baseline.

    The detector uses the mean of each cluster in each period, so the baseline is averaged over the
    same means. Use periods of the same length for both. The interval also treats a cluster in
    different periods as independent: it is about the existing queries and users, who come back, and
    not about new ones. The guarantee of the detector holds if the true mean is above the lower end,
    which has a probability of (1 + level) / 2, and if the tolerance covers the usual variation
    within a week.

    Args:
        baseline: The means of clusters by period, for a few weeks without problems.
        tolerance: How far the mean can fall before it counts as a drop, 0 or more.
        interval: The settings of the interval of the baseline's mean.
        threads: The number of threads, which doesn't change the interval.

    Raises:
        UsageError: The tolerance is negative, or the floor is not between 0 and 1, for example
            because the baseline has fewer than two means.

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
            f"the tolerance must be 0 or more, found {tolerance}",
            hint="0.02 tolerates means that are up to 0.02 below the baseline",
            code="bad_tolerance",
        )
    import numpy as np  # noqa: PLC0415 - loads with the first array

    rows = np.arange(len(baseline.value))
    mean = estimate_mean(baseline.value, rows, interval, threads)
    value = mean.lower - tolerance
    check_floor(value)
    return Floor(value, mean, tolerance)
