"""The mean of clustered values, with its uncertainty."""

from __future__ import annotations

import math

from rankscope._core import estimate_mean as compute_estimate
from rankscope._core import fsum, t_quantile
from rankscope.deferred import np
from rankscope.records import record
from rankscope.settings.interval import Interval
from rankscope.stats.clusters import average_by_cluster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

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
