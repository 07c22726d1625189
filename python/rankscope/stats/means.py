"""The mean of values that come in clusters, with its uncertainty."""

from __future__ import annotations

from rankscope._core import fsum, interval_of_mean
from rankscope.data.interval import Interval
from rankscope.records import record
from rankscope.stats.clusters import average_by_cluster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

DEFAULT = Interval()


@record(frozen=True, slots=True)
class Mean:
    """A mean over rankings, and how far it may be from that of all rankings there might be.

    Args:
        value: The mean; NaN where there are no values.
        lower: The lower end of its interval; NaN where there are fewer than two clusters.
        upper: The upper end.
        level: The probability with which the interval covers.
        clusters: How many clusters there are, which are what is drawn at random.
        rankings: How many values there are.
    """

    value: float
    lower: float
    upper: float
    level: float
    clusters: int
    rankings: int


def estimate_mean(
    values: NDArray[np.float64],
    clusters: NDArray[Any],
    interval: Interval = DEFAULT,
    threads: int = 1,
) -> Mean:
    """Average values over rankings, with an interval over clusters.

    A cluster weighs as much as it has rankings. The t interval is then that of the cluster-robust
    standard error (Liang and Zeger, *Longitudinal data analysis using generalized linear models*,
    1986), and `"bca"` draws whole clusters, which takes its time: with thousands of them `"t"`
    gives nearly the same at once.

    Args:
        values: One a ranking; those that a policy left out (NaN) are not counted.
        clusters: Whose ranking each is: text or integers.
        interval: How the interval is made.
        threads: How many threads may draw; the interval does not depend on it.

    Raises:
        UsageError: The columns differ in length.

    Examples:
        >>> import numpy as np
        >>> values = np.array([1.0, 0.5, 0.0, 0.5])
        >>> mean = estimate_mean(values, np.array(["a", "b", "a", "c"]), Interval(method="t"))
        >>> mean.value, mean.clusters, mean.rankings
        (0.5, 3, 4)
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    means = average_by_cluster(values, clusters)
    weights = means.rankings.astype(float).tolist()
    lower, upper = interval_of_mean(
        means.value.tolist(),
        weights,
        interval.level,
        interval.method,
        interval.resamples,
        interval.seed,
        threads,
    )
    kept = values[~np.isnan(values)].tolist()
    return Mean(
        value=fsum(kept) / len(kept) if kept else float("nan"),
        lower=lower,
        upper=upper,
        level=interval.level,
        clusters=len(weights),
        rankings=len(kept),
    )
