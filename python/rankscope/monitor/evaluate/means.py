"""The means of clusters, and the mean of clustered values with its uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope._core import estimate_mean as compute_estimate
from rankscope._core import fsum, t_quantile
from rankscope._settings import Interval


def average_by_cluster(
    values: NDArray[np.float64], clusters: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the mean of the values of each cluster, and their number; NaN is left out.

    The result doesn't depend on the order of the rows, not even in the last bit.

    Examples:
        >>> import numpy as np
        >>> values, users = np.array([1.0, 0.5, 0.0, 0.75]), np.array(["b", "a", "b", "a"])
        >>> average_by_cluster(values, users)[0]
        array([0.625, 0.5  ])
    """
    is_kept = ~np.isnan(values)
    value, cluster = values[is_kept], clusters[is_kept]
    # Values are a key, too, so that they are added in one order, however they came.
    order = np.lexsort((value, cluster))
    value, cluster = value[order], cluster[order]
    is_first = np.ones(len(value), dtype=np.bool_)
    is_first[1:] = cluster[1:] != cluster[:-1]
    starts = np.flatnonzero(is_first)
    if not len(starts):
        return value, starts
    counts = np.diff(starts, append=len(value))
    return np.add.reduceat(value, starts) / counts, counts


DEFAULT = Interval(method="t")


@dataclass(frozen=True, slots=True)
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
    1986). `"dense"` flips the signs of whole clusters, which is slower. With thousands of clusters,
    `"t"` gives almost the same result. `"bounded"` needs the limits of values.

    Examples:
        >>> import numpy as np
        >>> values = np.array([1.0, 0.5, 0.0, 0.5])
        >>> mean = estimate_mean(values, np.array(["a", "b", "a", "c"]), Interval(method="t"))
        >>> mean.value, mean.clusters, mean.rankings
        (0.5, 3, 4)
    """
    means, counts = average_by_cluster(values, clusters)
    weights = counts.astype(float)
    if interval.method == "t":
        count = fsum(weights.tolist())
        mean = fsum((weights * means).tolist()) / count if count else math.nan
        residuals = weights * (means - mean)
        lower, upper = robust_ends(
            mean, fsum((residuals**2).tolist()), len(weights), count, interval.level
        )
    else:
        (_, lower, upper), _, _ = compute_estimate(
            means,
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
