"""Means estimated from few human judgments and many of a model (prediction-powered inference)."""

from __future__ import annotations

import math

from rankscope._core import t_quantile
from rankscope.records import record
from rankscope.stats.judges.agreement import correlate

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST_QUERIES = 20
"""Intervals from fewer human queries don't cover as promised in simulations."""
DOUBTED_QUERIES = 2
"""How many queries without information from the model the variance is mixed with.

A model that is usually right and rarely wrong looks perfect on few queries. The mixture keeps the
interval from collapsing before its mistakes were seen.
"""


@record(frozen=True, slots=True, kw_only=True)
class Powered:
    """A mean estimated from human values of some queries and model values of all.

    Args:
        value: The estimate.
        lower: The lower end of its interval.
        upper: The upper end of its interval.
        human: The mean of the human values.
        human_lower: The lower end of the interval from the human values alone.
        human_upper: The upper end of the interval from the human values alone.
        model: The mean of the model values over all queries.
        weight: The weight of the model's values, from 0 to 1.
        correlation: The correlation of human and model values; NaN if one of them is constant.
        gain: The variance of the human mean divided by that of the estimate.
        shift: The model's mean over the human queries minus that over the others, in standard
            errors; 0 if there are no others.
    """

    value: float
    lower: float
    upper: float
    human: float
    human_lower: float
    human_upper: float
    model: float
    weight: float
    correlation: float
    gain: float
    shift: float


def estimate_powered(
    human: NDArray[np.float64],
    model: NDArray[np.float64],
    others: NDArray[np.float64],
    *,
    level: float,
    low: float,
    high: float,
) -> Powered:
    """Estimate a mean as mean(human) + weight x (mean of the model over all - over human queries).

    The weight is the slope of the human on the model values, clipped to 0 to 1, which minimizes the
    variance. This is PPI++ (Angelopoulos, Duchi and Zrnic, *PPI++: efficient prediction-powered
    inference*, 2023) for a mean, and the regression estimator of double sampling (Cochran,
    *Sampling techniques*, 1977, section 12.6). Like the latter, it averages the model over all
    queries, including those that people judged. If no weight is clipped, the estimates are equal.

    The variance is that of a random sample of queries in two phases. Its residuals are those of HC3
    (MacKinnon and White, 1985), which accounts for a weight tuned on few queries, and it is mixed
    with `DOUBTED_QUERIES`. The ends are the outer ones of Student's t interval and of that with
    Hall's correction for skewness (*On the removal of skewness by transformation*, 1992).

    Args:
        human: The human values of the queries that people judged.
        model: The model's values of the same queries.
        others: The model's values of the other queries.
        level: The confidence level.
        low: The lowest possible value, or minus infinity.
        high: The highest possible value, or infinity.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    count, total = len(human), len(human) + len(others)
    of_human, of_model = float(human.mean()), float(model.mean())
    everywhere = float((model.sum() + others.sum()) / total)
    from_human, from_model = human - of_human, model - of_model
    spread = float(from_model @ from_model)
    slope = float(from_human @ from_model) / spread if spread > 0 else 0.0
    weight = min(max(slope, 0.0), 1.0)
    is_tuned = 0 < slope < 1
    moved = everywhere - of_model
    residuals = from_human - weight * from_model
    # What each human value counts in the estimate, and how much it pulls the fit to itself.
    shares, leverage = np.full(count, 1 / count), np.full(count, 1 / count)
    if is_tuned:
        shares = shares + moved * from_model / spread
        leverage = leverage + from_model**2 / spread
    parts = shares * residuals
    raw = float(((parts / (1 - leverage)) ** 2).sum())
    alone = float(from_human @ from_human) / (count - 1) / count
    mixed = raw
    if weight > 0:
        mixed = ((count - 1) * raw + DOUBTED_QUERIES * alone) / (count - 1 + DOUBTED_QUERIES)
    else:
        mixed = alone
    variance = mixed * (1 - count / total) + alone * count / total
    value = of_human + weight * moved
    degrees = count - 1 - is_tuned
    lower, upper = find_ends(value, variance, parts, degrees, level)
    human_ends = find_ends(of_human, alone, from_human / count, count - 1, level)
    return Powered(
        value=value,
        lower=max(lower, low),
        upper=min(upper, high),
        human=of_human,
        human_lower=max(human_ends[0], low),
        human_upper=min(human_ends[1], high),
        model=everywhere,
        weight=weight,
        correlation=correlate(human, model),
        gain=alone / variance if variance > 0 else 1.0,
        shift=_find_shift(model, others),
    )


def find_ends(
    value: float, variance: float, parts: NDArray[np.float64], degrees: float, level: float
) -> tuple[float, float]:
    """Return the outer ends of the t interval without and with the correction for skewness.

    Args:
        value: The estimate.
        variance: Its variance.
        parts: What each query contributes to its deviation from the true mean.
        degrees: The degrees of freedom.
        level: The confidence level.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if variance <= 0:
        return value, value
    quantile, error = t_quantile(level, degrees), math.sqrt(variance)
    count = len(parts)
    cubes = float((parts**3).sum()) * count * count / ((count - 1) * (count - 2))
    skewness = cubes / variance**1.5
    lower, upper = quantile, -quantile
    if abs(skewness) > 1e-6:
        lower, upper = (
            3 / skewness * (float(np.cbrt(1 + skewness * (end - skewness / 6))) - 1)
            for end in (quantile, -quantile)
        )
    return value - error * max(lower, quantile), value - error * min(upper, -quantile)


def _find_shift(model: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    if len(others) < 2:
        return 0.0
    variance = float(model.var(ddof=1)) / len(model) + float(others.var(ddof=1)) / len(others)
    difference = float(model.mean() - others.mean())
    return difference / math.sqrt(variance) if variance > 0 else 0.0
