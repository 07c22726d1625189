"""The mean of clustered values, with its uncertainty."""

from __future__ import annotations

import math

from rankscope._core import estimate_mean as compute_estimate
from rankscope._core import fsum, t_quantile
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.records import record
from rankscope.settings.interval import Interval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


@record(frozen=True, slots=True)
class ClusterMeans:
    """The means by cluster and period, ordered by period, then by cluster.

    Args:
        period: int64, the number of the period: the time of maturity divided by its length, rounded
            down.
        cluster: The cluster, with the given type.
        value: float64, the mean of its values in that period.
        rankings: int64, the number of its values in that period, 1 or more.
    """

    period: NDArray[np.int64]
    cluster: NDArray[Any]
    value: NDArray[np.float64]
    rankings: NDArray[np.int64]


def average_by_cluster(
    values: NDArray[np.float64],
    clusters: NDArray[Any],
    matured: NDArray[np.int64] | None = None,
    length: int = 1,
) -> ClusterMeans:
    """Return the mean value of each cluster in each period.

    Values that the policy leaves out (NaN) are ignored. The result doesn't depend on the order of
    the rows, not even in the last bit.

    Examples:
        >>> import numpy as np
        >>> values, users = np.array([1.0, 0.5, 0.0, 0.75]), np.array(["b", "a", "b", "a"])
        >>> average_by_cluster(values, users).value
        array([0.625, 0.5  ])
        >>> daily = average_by_cluster(values, users, np.array([0, 0, 23, 24]), length=24)
        >>> daily.period.tolist(), daily.value.tolist()
        ([0, 0, 1], [0.5, 0.5, 0.75])
    """
    given = np.asarray(values, dtype=np.float64)
    names = np.asarray(clusters)
    times = np.zeros(len(given), dtype=np.int64) if matured is None else np.asarray(matured)
    if not len(given) == len(names) == len(times):
        raise UsageError(
            f"expected a cluster and a time for each of {len(given)} values, found {len(names)} "
            f"and {len(times)}",
            hint="pass one cluster and one time for each ranking",
            code="column_length",
        )
    if length < 1:
        raise UsageError(
            f"expected a period of length 1 or more, found {length}",
            hint="if times are in microseconds, an hour is 3_600_000_000",
            code="bad_period",
        )
    is_kept = ~np.isnan(given)
    value, cluster, period = given[is_kept], names[is_kept], times[is_kept] // length
    # Values are a key, too, so that they are added in one order, however they came.
    order = np.lexsort((value, cluster, period))
    value, cluster, period = value[order], cluster[order], period[order]
    is_first = np.ones(len(value), dtype=np.bool_)
    is_first[1:] = (cluster[1:] != cluster[:-1]) | (period[1:] != period[:-1])
    starts = np.flatnonzero(is_first)
    if not len(starts):
        return ClusterMeans(period, cluster, value, starts)
    counts = np.diff(starts, append=len(value))
    means = np.add.reduceat(value, starts) / counts
    return ClusterMeans(period[starts], cluster[starts], means, counts)


DEFAULT = Interval(method="t")


@record(frozen=True, slots=True)
class Mean:
    """A mean over rankings, with its confidence interval.

    Args:
        value: The mean; NaN without values.
        lower: The lower end of its interval; NaN with fewer than two clusters.
        upper: The upper end of its interval; NaN with fewer than two clusters.
        level: The confidence level.
        clusters: The number of clusters, which are the units of sampling.
        rankings: The number of values.
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
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> Mean:
    """Return the mean over rankings, with a confidence interval over clusters.

    Each cluster is weighted by its number of rankings. The t interval uses the cluster-robust
    standard error (Liang and Zeger, *Longitudinal data analysis using generalized linear models*,
    1986). `"bca"` resamples whole clusters, which is slower. With thousands of clusters, `"t"`
    gives almost the same result. `"bounded"` needs the limits of values.

    Examples:
        >>> import numpy as np
        >>> values = np.array([1.0, 0.5, 0.0, 0.5])
        >>> mean = estimate_mean(values, np.array(["a", "b", "a", "c"]), Interval(method="t"))
        >>> mean.value, mean.clusters, mean.rankings
        (0.5, 3, 4)
    """
    means = average_by_cluster(values, clusters)
    weights = means.rankings.astype(float)
    if interval.method == "t":
        count = fsum(weights.tolist())
        mean = fsum((weights * means.value).tolist()) / count if count else math.nan
        residuals = weights * (means.value - mean)
        lower, upper = robust_ends(
            mean, fsum((residuals**2).tolist()), len(weights), count, interval.level
        )
    else:
        (_, lower, upper), _, _ = compute_estimate(
            means.value,
            weights,
            None,
            limits,
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


def robust_ends(
    mean: float, squares: float, clusters: int, count: float, level: float
) -> tuple[float, float]:
    """Return the ends of the t interval with the error CR1, which needs sums over clusters only.

    Windows that are added up don't have more. With hundreds of clusters of which none has most of
    the values, it is that of `rankscope.Interval(method="t")`.
    """
    if clusters < 2:
        return math.nan, math.nan
    half = t_quantile(level, clusters - 1) * math.sqrt(squares * clusters / (clusters - 1)) / count
    return mean - half, mean + half
