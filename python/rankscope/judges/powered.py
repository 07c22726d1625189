"""Means estimated from few human judgments and many of a model (prediction-powered inference)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._core import t_quantile
from rankscope._settings import Interval
from rankscope._stats.power import estimate_mean
from rankscope.errors import InputError
from rankscope.judges.reliability import correlate
from rankscope.judges.result import ModelJudgedMean
from rankscope.measures import Measure

Numbers: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

FEWEST_QUERIES = 20
"""Dense intervals from fewer human queries don't cover as promised in simulations."""

# A residual has about twice the range of a value, so that the one that wasn't seen weighs more.
HALF_TRUSTED = 40
"""With so many human queries, a bounded interval uses half of the model's weight."""

# Where people judged nearly all queries, the model says little that people don't.
FEWEST_TRUSTED = 25
"""With fewer human queries, times the share that wasn't judged, a bounded interval has weight 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """What people judge: whole queries or single documents."""

    measure: Measure
    # The query of each item, and the document if items are documents.
    names: Sequence[tuple[str, str | None]]
    # How much each item counts in the sum of its query: 1 for a query, the discount for a document;
    # 0 if run and baseline treat it in the same way.
    sizes: Numbers
    human: Numbers  # its value by people, NaN if they did not judge it
    model: Numbers  # its value by the model, on the scale of people
    model_mean: float  # the mean over all queries by the model, on its own scale
    strata: Codes  # the stratum, in whose items people judged a random sample
    # The query of each document; `None` if the items are queries.
    queries: Codes | None = None
    count: int
    limits: tuple[float, float]  # the lowest and the highest value by people, which may be infinite
    reach: float = 1.0  # the largest sum of the sizes of a query

    @property
    def is_judged(self) -> Mask:
        """Whether people judged it, and it counts."""
        return (self.sizes > 0) & ~np.isnan(self.human)

    @property
    def has_limits(self) -> bool:
        """Whether there are a lowest and a highest value."""
        return math.isfinite(self.limits[1] - self.limits[0])

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest mean."""
        low, high = self.limits
        return min(low, 0.0) * self.reach, max(high, 0.0) * self.reach

    def count_queries(self, which: Mask) -> int:
        """Return how many queries these items are of."""
        return int(which.sum()) if self.queries is None else len(np.unique(self.queries[which]))

    def add_up(self, numbers: Numbers, which: Mask | None = None) -> Numbers:
        """Return the sum of each query that has a number."""
        if self.queries is None:
            return numbers
        if which is None:
            return np.bincount(self.queries, numbers, self.count).astype(np.float64)
        _, codes = np.unique(self.queries[which], return_inverse=True)
        return np.bincount(codes, numbers).astype(np.float64)


@dataclass(frozen=True, slots=True)
class _Mean:
    """A mean with its interval; `own` is the share of the squared width due to human queries."""

    value: float
    lower: float
    upper: float
    own: float


def estimate_powered(items: Items, *, interval: Interval) -> ModelJudgedMean:
    """Estimate a mean as mean(human) + weight x (mean of the model over all - over human queries).

    The weight is the slope of the human on the model values, clipped to 0 to 1, which minimizes the
    variance. This is PPI++ (Angelopoulos, Duchi and Zrnic, *PPI++: efficient prediction-powered
    inference*, 2023) for a mean, and the regression estimator of double sampling (Cochran,
    *Sampling techniques*, 1977, section 12.6). Like the latter, it averages the model over all
    queries, including those that people judged. Items of size 0 are known to add 0. The others are
    weighted so that each stratum counts as much as it has items (post-stratification).

    A bounded interval has two independent parts: the mean residual of the items that people
    judged, and the mean over all queries of what the model and that residual say. Each part has a
    bounded interval, and their distances from the estimate add up like standard errors (Zou and
    Donner, *Construction of confidence limits about effect measures*, 2008). Its weight is smaller
    the fewer human queries there are, and 0 with fewer than `FEWEST_TRUSTED`.

    The variance of a dense interval is that of a random sample of queries in two phases. Its
    residuals are those of HC3 (MacKinnon and White, 1985), which accounts for a weight tuned on few
    queries. The ends are the outer ones of Student's t interval and of that with Hall's correction
    for skewness (*On the removal of skewness by transformation*, 1992). It needs `FEWEST_QUERIES`
    and values that differ; a bounded interval stands in if there are limits.
    """
    is_judged = items.is_judged
    human, model = items.human[is_judged], items.model[is_judged]
    human_queries = items.count_queries(~np.isnan(items.human))
    fewest, count = 1, human_queries
    if not items.has_limits:
        fewest, count = FEWEST_QUERIES, items.count_queries(is_judged)
    if count < fewest:
        raise InputError(
            f"expected {fewest} or more queries judged by people and by the model, found {count}",
            hint="judge more queries by hand (of two runs: in which they differ), or evaluate a "
            "measure with limits, such as nDCG",
            code="too_few_queries",
        )
    groups, weights = _weigh(items)
    clusters = items.add_up(weights, is_judged)
    slope = _find_slope(human, model, weights)
    weight, is_tuned = min(max(slope, 0.0), 1.0), 0 < slope < 1
    is_dense = interval.method == "dense" or (interval.method == "auto" and not items.has_limits)
    estimate = None
    if is_dense and (len(clusters) >= FEWEST_QUERIES or not items.has_limits):
        estimate = _estimate_dense(items, weights, weight, interval.level, is_tuned=is_tuned)
        if math.isnan(estimate.lower) and items.has_limits:
            estimate = None
    is_dense = estimate is not None
    if estimate is not None:
        alone = _estimate_dense(items, items.sizes[is_judged], 0.0, interval.level, is_tuned=False)
    else:
        effective = _count_effective(clusters)
        unjudged = 1 - len(human) / max(int((items.sizes > 0).sum()), 1)
        if effective * unjudged < FEWEST_TRUSTED:
            weight = 0.0
        slope = weight
        weight *= effective / (effective + HALF_TRUSTED)
        estimate = _estimate_bounded(items, weights, weight, slope, interval.level)
        alone = _estimate_bounded(items, items.sizes[is_judged], 0.0, 0.0, interval.level)
    is_known = bool(len(human)) or not items.sizes.any()
    width = estimate.upper - estimate.lower
    at, share = _find_next(items, groups, weights, weight, is_bounded=not is_dense)
    next_query, next_document = (None, None) if at is None else items.names[at]
    return ModelJudgedMean(
        measure=items.measure,
        value=estimate.value if is_known else math.nan,
        lower=estimate.lower,
        upper=estimate.upper,
        method="" if math.isnan(width) else "dense" if is_dense else "bounded",
        human=alone.value if is_known else math.nan,
        human_lower=alone.lower,
        human_upper=alone.upper,
        model=items.model_mean,
        weight=weight,
        correlation=correlate(human, model),
        gain=((alone.upper - alone.lower) / width) ** 2 if width > 0 else math.nan,
        shift=_find_shift(items, groups),
        human_queries=human_queries,
        queries=items.count,
        changed=int((items.sizes > 0).sum()),
        human_changed=len(human),
        next_query=next_query,
        next_document=next_document,
        narrowing=width * (1 - math.sqrt(1 - estimate.own * share)) if len(human) else math.nan,
    )


def rescale(values: Numbers, human: Numbers, model: Numbers) -> Numbers:
    """Return the model's values on the scale of people: with the same mean and spread.

    Examples:
        >>> import numpy as np
        >>> rescale(np.array([0.0, 50.0, 100.0]), np.array([0.0, 3.0]), np.array([0.0, 100.0]))
        array([0. , 1.5, 3. ])
    """
    if not len(human):
        return values
    spread = float(model.std())
    if spread <= 1e-12 * float(np.abs(model).max()):
        return np.full(len(values), float(human.mean()))
    middle = float(human.mean())
    return middle + (values - float(model.mean())) * (float(human.std()) / spread)


def _weigh(items: Items) -> tuple[Codes, Numbers]:
    """Return the stratum of each item, and the weights of judged ones, which add up to all sizes.

    A stratum that nobody judged is part of its neighbor.
    """
    seen = np.unique(items.strata[items.is_judged])
    groups = np.minimum(np.searchsorted(seen, items.strata), max(len(seen) - 1, 0))
    own, sizes = groups[items.is_judged], items.sizes[items.is_judged]
    if not len(own):
        return groups, sizes
    totals = np.bincount(groups, weights=items.sizes)
    return groups, sizes * (totals / np.bincount(own, weights=sizes, minlength=len(totals)))[own]


def _count_effective(weights: Numbers) -> float:
    """Return Kish's effective number of weights."""
    return float(weights.sum() ** 2 / (weights @ weights)) if len(weights) else 0.0


def _find_slope(human: Numbers, model: Numbers, weights: Numbers) -> float:
    if len(human) < 2:
        return 0.0
    total = weights.sum()
    from_model = weights * (model - weights @ model / total)
    spread = float(from_model @ model)
    return float(from_model @ human) / spread if spread > 1e-12 * float(weights @ model**2) else 0.0


def _expect(items: Items, weights: Numbers, weight: float) -> tuple[Numbers, float, Numbers]:
    """Return the residuals of judged items, their mean, and what is expected of each query."""
    is_judged = items.is_judged
    residuals = items.human[is_judged] - weight * items.model[is_judged]
    middle = sum(items.limits) / 2  # nothing is known but the limits
    mean = float(weights @ residuals / weights.sum()) if len(weights) else middle
    return residuals, mean, items.add_up(items.sizes * (weight * items.model + mean))


def _estimate_bounded(
    items: Items, weights: Numbers, weight: float, slope: float, level: float
) -> _Mean:
    interval = Interval(level, method="bounded")
    residuals, mean, expected = _expect(items, weights, weight)
    value = float(expected.mean())
    (low, high), (lowest, highest) = items.limits, items.ends
    # With the whole slope, these are independent of what people said beyond it.
    expected = _expect(items, weights, slope)[2]
    whole = estimate_mean(
        expected,
        interval=interval,
        low=min(lowest, float(expected.min())),
        high=max(highest, float(expected.max())),
    )
    # The model's values of all items are known, so that a residual can't be below these limits.
    of_model = weight * items.model[items.sizes > 0]
    below, above = mean - low, high - mean
    if len(residuals):
        part = estimate_mean(
            residuals,
            interval=interval,
            low=min(low - float(of_model.max()), float(residuals.min())),
            high=max(high - float(of_model.min()), float(residuals.max())),
            weights=weights,
            clusters=None if items.queries is None else items.queries[items.is_judged],
        )
        below, above = part.value - part.lower, part.upper - part.value
    share = float(items.sizes.sum()) / items.count
    own, others = share * (below + above), whole.upper - whole.lower
    return _Mean(
        value,
        max(value - math.hypot(share * below, whole.value - whole.lower), lowest),
        min(value + math.hypot(share * above, whole.upper - whole.value), highest),
        own**2 / (own**2 + others**2),
    )


def _estimate_dense(
    items: Items, weights: Numbers, weight: float, level: float, *, is_tuned: bool
) -> _Mean:
    is_judged = items.is_judged
    residuals, mean, expected = _expect(items, weights, weight)
    value = float(expected.mean())
    model = items.model[is_judged]
    # What each human value counts in the estimate, and how much it pulls the fit to itself.
    shares = weights / weights.sum()
    leverage = shares
    if is_tuned:
        from_model = model - shares @ model
        moved = float(items.sizes @ items.model / items.sizes.sum() - shares @ model)
        pull = shares * from_model / float((shares * from_model) @ from_model)
        shares = shares + moved * pull
        leverage = leverage + pull * from_model
    share = float(items.sizes.sum()) / items.count
    parts = items.add_up(share * shares * (residuals - mean), is_judged)
    # A value that the fit follows entirely leaves no residual to divide.
    room = np.maximum(1 - items.add_up(leverage, is_judged), 1 / len(parts))
    adjusted = parts / (room if is_tuned else np.sqrt(room))
    own = float(adjusted @ adjusted)
    variance = own + float(expected.var(ddof=1)) / items.count
    scale = float(np.abs(items.human[is_judged]).max())
    if math.sqrt(variance) <= 1e-12 * scale:  # nothing but rounding
        return _Mean(value, math.nan, math.nan, 0.0)
    degrees = max(_count_effective(items.add_up(weights, is_judged)) - 1 - is_tuned, 1.0)
    lower, upper = _find_ends(value, variance, parts, degrees, level)
    lowest, highest = items.ends
    return _Mean(value, max(lower, lowest), min(upper, highest), own / variance)


def _find_ends(
    value: float, variance: float, parts: Numbers, degrees: float, level: float
) -> tuple[float, float]:
    """Return the outer ends of the t interval without and with the correction for skewness."""
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


def _find_next(
    items: Items, groups: Codes, weights: Numbers, weight: float, *, is_bounded: bool
) -> tuple[int | None, float]:
    """Return the item to judge next, and which share of the variance of human values it takes.

    That is one from a stratum that nobody judged, or else from the one with the largest share
    (Neyman, *On the two different aspects of the representative method*, 1934).
    """
    is_judged = items.is_judged
    order = np.random.default_rng(0).permutation(len(groups))
    rest = order[((items.sizes > 0) & ~is_judged)[order]]
    if not len(rest):
        return None, 0.0
    if not len(weights):
        return int(rest[0]), 0.0
    residuals, mean, _ = _expect(items, weights, weight)
    squares = weights**2
    spreads = squares * (residuals - mean) ** 2
    unseen = np.zeros(len(squares))
    if is_bounded:
        of_model = weight * items.model[items.sizes > 0]
        reach = items.limits[1] - items.limits[0] + float(np.ptp(of_model))
        unseen = squares * reach**2 / len(squares)
    own = groups[is_judged]
    seen = np.bincount(own)
    # The variance of a mean falls with the number of values, and what wasn't seen with its square.
    saved = np.bincount(own, weights=spreads) / (seen + 1)
    saved += np.bincount(own, weights=unseen) * (2 * seen + 1) / (seen + 1) ** 2
    total = float((spreads + unseen).sum())
    is_new = ~np.isin(items.strata[rest], items.strata[is_judged])
    worth = saved[groups[rest]] / total if total > 0 else np.zeros(len(rest))
    best = int(np.lexsort((-worth, ~is_new))[0])
    return int(rest[best]), float(worth[best])


def _find_shift(items: Items, groups: Codes) -> float:
    """Return how far the model's values of judged items are above those of others of a stratum."""
    is_judged, is_counted = items.is_judged, items.sizes > 0
    if items.queries is not None:
        return 0.0
    difference = variance = 0.0
    for group in range(int(groups.max()) + 1):
        is_own = is_counted & (groups == group)
        model, others = items.model[is_own & is_judged], items.model[is_own & ~is_judged]
        if len(model) and len(others):
            count = len(model)
            difference += count * float(model.mean() - others.mean())
            # Few values of a stratum say little about how much these vary.
            own = float(items.model[is_own].var(ddof=1))
            variance += own * count**2 * (1 / count + 1 / len(others))
    error = math.sqrt(variance)
    # Of values that are all the same, only rounding is left.
    is_real = error > 1e-9 * float(abs(items.model).max()) * is_judged.sum()
    return difference / error if is_real else 0.0


def split_strata(model: Numbers, sizes: Numbers) -> Codes:
    """Return the half to which each item belongs by the model's values, of those with a size.

    More strata would make the weights of few judged queries too unequal.

    Examples:
        >>> import numpy as np
        >>> split_strata(np.array([0.1, 0.9, 0.5, 0.2, 0.8, 0.4]), np.ones(6)).tolist()
        [0, 1, 1, 0, 1, 0]
    """
    values = model[sizes > 0]
    if not len(values):
        return np.zeros(len(model), dtype=np.int64)
    middle = np.quantile(values, [0.5], method="inverted_cdf")
    return np.searchsorted(middle, model).astype(np.int64)
