"""Intervals of means that are uncertain about both queries and judges."""

from __future__ import annotations

import math

from rankscope._core import t_quantile
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_GROUPS = 50
"""More judges than this are left out in groups."""


@record(frozen=True, slots=True, kw_only=True)
class Crossed:
    """A mean over queries, with intervals for new queries, and for new queries and judges.

    Args:
        value: The mean.
        lower: The lower end of the interval for new queries and judges.
        upper: Its upper end.
        lower_queries: The lower end of the interval for new queries and the same judges.
        upper_queries: Its upper end.
        judge_share: The share of the variance that comes from the choice of judges.
    """

    value: float
    lower: float
    upper: float
    lower_queries: float
    upper_queries: float
    judge_share: float


def group_judges(judges: int) -> list[list[int]]:
    """Return the judges to leave out together: each alone, or in `MOST_GROUPS` groups."""
    return [[*range(first, judges, MOST_GROUPS)] for first in range(min(judges, MOST_GROUPS))]


def estimate_crossed(
    values: NDArray[np.float64],
    without: NDArray[np.float64],
    *,
    level: float,
    low: float,
    high: float,
) -> Crossed:
    """Estimate a mean over queries whose documents were judged by a sample of judges.

    The variance is the sum of two components, as in Cameron, Gelbach and Miller, *Robust inference
    with multiway clustering*, 2011: that over queries, and that over judges from a jackknife that
    leaves out one judge at a time (Efron and Stein, 1981), less the part that both contain. Each
    has a t quantile of its own (Zou and Donner, *Construction of confidence limits about effect
    measures*, 2008), because there are usually few judges.
    """
    groups, count = without.shape
    value = float(values.mean())
    if count < 2:
        return Crossed(
            value=value,
            lower=math.nan,
            upper=math.nan,
            lower_queries=math.nan,
            upper_queries=math.nan,
            judge_share=math.nan,
        )
    of_queries = float(values.var(ddof=1)) / count
    factor = (groups - 1) / groups
    means = without.mean(axis=1)
    of_judges = factor * float(((means - means.mean()) ** 2).sum())
    of_both = factor * float(((without - without.mean(axis=0)) ** 2).sum()) / count**2
    own = max(of_judges - of_both, 0.0)
    half_queries = t_quantile(level, count - 1) * math.sqrt(of_queries)
    half_judges = t_quantile(level, groups - 1) * math.sqrt(own)
    half = math.hypot(half_queries, half_judges)
    total = of_queries + own
    return Crossed(
        value=value,
        lower=max(value - half, low),
        upper=min(value + half, high),
        lower_queries=max(value - half_queries, low),
        upper_queries=min(value + half_queries, high),
        judge_share=own / total if total > 0 else 0.0,
    )
