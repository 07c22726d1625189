"""The mean of values with its confidence interval."""

from __future__ import annotations

import math

from rankscope._core import estimate_mean as compute_estimate
from rankscope.deferred import np
from rankscope.output.estimate import Estimate, read_estimate
from rankscope.settings.reading import count_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rankscope.settings.interval import Interval

__all__ = ["Estimate", "estimate_mean"]


def estimate_mean(
    values: ArrayLike,
    *,
    interval: Interval,
    low: float | None,
    high: float | None,
    weights: ArrayLike | None = None,
    clusters: NDArray[np.int64] | None = None,
    threads: int | None = None,
) -> Estimate:
    """Return the mean of values with its confidence interval.

    `rankscope.Interval` describes the methods. The interval never leaves the range of the values,
    and doesn't depend on the number of threads.

    Examples:
        >>> import numpy as np
        >>> from rankscope import Interval
        >>> found = estimate_mean(np.full(40, 0.5), interval=Interval(), low=0.0, high=1.0)
        >>> found.value, found.method, 0.45 < found.lower < 0.5 < found.upper < 0.55
        (0.5, 'bounded', True)
    """
    column = np.ascontiguousarray(values, dtype=np.float64)
    weighed = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    codes = None if clusters is None else np.ascontiguousarray(clusters, dtype=np.int64)

    row = compute_estimate(
        column,
        weighed,
        codes,
        (-math.inf if low is None else low, math.inf if high is None else high),
        interval.level,
        interval.method,
        interval.resamples,
        interval.seed,
        count_threads(threads),
    )
    return read_estimate(row, interval.level, is_clustered=codes is not None)
