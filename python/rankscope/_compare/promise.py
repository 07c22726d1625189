"""The values of queries that are compared: by measure, over all queries and in each slice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._compare.notes import CORRECTIONS
from rankscope._core import bounded_tails, student_tails
from rankscope._evaluate.query_values import Groups, bad_parameter
from rankscope._names import check_choice, is_real
from rankscope._settings import Interval, of_measure
from rankscope._show.diagnostics import Estimate
from rankscope._stats.paired import TESTS, Test, sum_by_cluster
from rankscope._stats.power import estimate_mean
from rankscope._stats.tests import Family, Inverted, Tested, average, correct
from rankscope.errors import EmptyError
from rankscope.measures import Measure
from rankscope.measures.spec import Direction

Numbers: TypeAlias = NDArray[np.float64]
Limits: TypeAlias = tuple[float | None, float | None]
Correction: TypeAlias = Literal["holm", "max-t", "bonferroni", "bh", "none"]


CLOSE = 1e-12
"""Values that differ by at most this, absolutely and relatively, are equal except for rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureValues:
    """The values of one measure for all queries under all runs."""

    name: str
    low: float | None
    high: float | None
    values: Numbers  # [runs, queries], in the order of `order_queries`; NaN without a value
    direction: Direction = "higher"

    @classmethod
    def stack(
        cls, measure: Measure, values: Sequence[Numbers], order: Sequence[int]
    ) -> MeasureValues:
        """Stack the values of each run, with the queries in this order."""
        low, high = measure.row.value_range
        return cls(
            name=measure.name,
            low=low,
            high=high,
            values=np.stack(values)[:, order],
            direction=measure.better,
        )

    @property
    def range_of_difference(self) -> tuple[float | None, float | None]:
        """The lowest and the highest difference that two values can have."""
        if self.low is None or self.high is None or math.isinf(self.high - self.low):
            return None, None
        return self.low - self.high, self.high - self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """The queries of one measure and slice for which all runs have a value."""

    measure: MeasureValues
    slice: str | None
    chosen: NDArray[np.int64]  # the places of its queries
    values: Numbers
    units: int  # independent ones: clusters, or else queries
    clusters: NDArray[np.int64] | None = None
    weights: Numbers | None = None

    @property
    def cluster_count(self) -> int | None:
        """The number of clusters, or `None` without clusters."""
        return None if self.clusters is None else self.units

    def average(self, values: Numbers) -> float:
        """Return the mean of a value of each query."""
        if self.weights is None:
            return math.fsum(values.tolist()) / len(values) if len(values) else math.nan
        return math.fsum((values * self.weights).tolist()) / math.fsum(self.weights.tolist())

    def subtract(self, baseline: int, run: int) -> Numbers:
        """Return the differences of two runs, 0 where values are equal except for rounding."""
        theirs, ours = self.values[baseline], self.values[run]
        return np.where(are_same(ours, theirs), 0.0, ours - theirs)


def are_same(values: Numbers, others: Numbers) -> NDArray[np.bool_]:
    """Return which values are equal, except for rounding."""
    same: NDArray[np.bool_] = np.isclose(values, others, rtol=CLOSE, atol=CLOSE)
    return same


def choose_cases(
    measure: MeasureValues,
    groups: Groups | None,
    clusters: Groups | None,
    weights: Numbers | None = None,
    *,
    runs: str = "all runs",
    code: str = "no_common_queries",
) -> list[Cases]:
    """Return the queries that all runs have a value for, in all and by slice, the largest first."""
    is_there = np.asarray(~np.isnan(measure.values).any(axis=0), dtype=np.bool_)
    if not is_there.any():
        raise EmptyError(
            f"no query has a value of {measure.name} in {runs}",
            hint="compare runs of the same queries, or keep them: policy='empty=zero'",
            code=code,
        )
    if weights is not None:
        is_there &= weights > 0
    clusters_of_queries = None if clusters is None else np.asarray(clusters[2], dtype=np.int64)

    def choose(name: str | None, is_chosen: NDArray[np.bool_]) -> Cases:
        chosen = np.flatnonzero(is_chosen)
        codes = None if clusters_of_queries is None else clusters_of_queries[chosen]
        return Cases(
            measure=measure,
            slice=name,
            chosen=chosen,
            values=np.ascontiguousarray(measure.values[:, chosen]),
            units=len(chosen) if codes is None else len(np.unique(codes)),
            clusters=codes,
            weights=None if weights is None else weights[chosen],
        )

    cases = [choose(None, is_there)]
    if groups is not None:
        _, names, codes = groups
        slices = np.asarray(codes)
        counts = np.bincount(slices[is_there], minlength=len(names))
        order = sorted(range(len(names)), key=lambda at: (-counts[at], names[at]))
        cases += [choose(names[at], is_there & (slices == at)) for at in order if counts[at]]
    return cases


def make_family(cases: Cases, pairs: Sequence[tuple[int, int]]) -> Family:
    """Return the values of the units of a case: of its queries, or its clusters."""
    # All families have the units of all data, so that one permutation is the same in each.
    count = cases.measure.values.shape[1]
    units = cases.chosen if cases.clusters is None else cases.clusters
    values, sizes = sum_by_cluster(cases.values, units, count, cases.weights)
    return Family(values=values, sizes=sizes, pairs=tuple(pairs), measure=cases.measure.name)


def find_deviation(values: Numbers, cases: Cases) -> float:
    """Return the standard deviation of the values of units.

    It is scaled so that, divided by the root of their number, it is the standard error of the mean
    over queries, also where units are clusters or have weights.
    """
    if cases.units < 2:
        return math.nan
    squares, sizes = find_squares(values, cases)
    return math.sqrt(float(squares.sum()) / (cases.units - 1)) * cases.units / float(sizes.sum())


def find_squares(values: Numbers, cases: Cases) -> tuple[Numbers, Numbers]:
    """Return the squared residuals of units, and the number, or weight, of queries of each."""
    residuals = values - (values.mean() if cases.weights is None else cases.average(values))
    if float(abs(residuals).max()) <= CLOSE * float(abs(values).max()):
        residuals = residuals * 0.0
    weights = np.ones(len(values)) if cases.weights is None else cases.weights
    if cases.clusters is None:
        return (residuals * weights) ** 2, weights
    codes = np.unique(cases.clusters, return_inverse=True)[1]
    sums = np.bincount(codes, weights=residuals * weights).astype(np.float64)
    return sums**2, np.bincount(codes, weights=weights).astype(np.float64)


FEWEST_CLUSTERS = 20
"""With fewer, dense intervals cover too seldom where values go with the size of clusters."""
INSTEAD = {
    "tukey": "write correction='max-t', which controls the same error and needs no equal spread",
    "sign": "the permutation test asks about means; for wins and losses, pass per_query to SciPy",
    "bootstrap": "write test='permutation', which needs no resamples",
    **dict.fromkeys(("ttest", "t-test", "t_test", "student", "paired_t"), "write test='t'"),
    **dict.fromkeys(("fisher", "randomization", "randomisation"), "write test='permutation'"),
}
"""What to use in place of tests that others have, and their names."""
CORRECTED_INSTEAD = {
    "tukey": "write correction='max-t', which controls the same error and needs no equal spread",
    "fdr": "write correction='bh', which controls the share of false differences",
    "fwer": "holm controls it",
    "sidak": "write correction='holm', which is as good and assumes less",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What to compute for each difference."""

    test: Test = "permutation"
    correction: Correction = "holm"
    interval: Interval = field(default_factory=Interval)
    permutations: int | None = None
    margin: float | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        hint = INSTEAD.get(str(self.test).casefold(), "")
        check_choice("test", self.test, TESTS, hint=hint)
        hint = CORRECTED_INSTEAD.get(str(self.correction).casefold(), "")
        check_choice("correction", self.correction, CORRECTIONS, hint=hint)
        method = self.interval.method
        if self.correction == "max-t" and (self.test != "permutation" or method == "bounded"):
            raise bad_parameter(
                f"max-T needs the permutation test, found {self.promise}",
                "use correction='holm', or test='permutation' with dense intervals",
            )
        fits = {"permutation": ("dense", "bounded"), "t": ("t",), "wilcoxon": ("dense",)}[self.test]
        if method not in {"auto", *fits}:
            raise bad_parameter(
                f"test={self.test!r} and {method} intervals promise different things",
                "write test='t' for t intervals"
                if method == "t"
                else f"leave out the method, or use one of: {', '.join(fits)}",
            )
        margin = self.margin
        if margin is not None and not (is_real(margin) and 0 < margin < math.inf):
            raise bad_parameter(
                f"expected a margin above 0, found {margin!r}",
                "give the largest difference that doesn't matter, such as 0.005",
            )

    @property
    def alpha(self) -> float:
        """The p-value below which a difference is significant."""
        return round(1 - self.interval.level, 12)

    @property
    def promise(self) -> str:
        """The promise that is requested: `"dense"`, `"bounded"` or `"t"`."""
        return "t" if self.test == "t" else self.interval.method.replace("auto", "dense")


def choose_promise(differences: Numbers, cases: Cases, choices: Choices) -> str:
    """Return which promise there is: bounds stand in where flips could tell too little.

    The number of units decides that, and whether any query differs: of those that don't, flips
    would say that no other query does.
    """
    if choices.promise != "dense":
        return choices.promise
    is_few = 2.0 ** (1 - cases.units) >= choices.alpha
    is_few |= cases.clusters is not None and cases.units < FEWEST_CLUSTERS
    is_limited = None not in cases.measure.range_of_difference
    return "bounded" if is_limited and (is_few or not differences.any()) else "dense"


def estimate_as_named(
    values: Numbers, cases: Cases, limits: Limits, interval: Interval, threads: int | None = 1
) -> Estimate:
    """Return a mean with an interval of the method that is named."""
    return estimate_mean(
        values,
        interval=of_measure(interval, cases.measure.name),
        low=limits[0],
        high=limits[1],
        weights=cases.weights,
        clusters=cases.clusters,
        threads=threads,
    )


def estimate_dense(
    values: Numbers, cases: Cases, limits: Limits, inverted: Inverted, interval: Interval
) -> Estimate:
    """Return a mean with what a test of sign flips doesn't reject, or why there is no interval."""
    estimate = estimate_as_named(values, cases, limits, replace(interval, method="bounded"))
    is_few = cases.clusters is not None and cases.units < FEWEST_CLUSTERS
    if math.isfinite(inverted.lower) and not is_few:
        lower = max(inverted.lower, -math.inf if limits[0] is None else limits[0])
        upper = min(inverted.upper, math.inf if limits[1] is None else limits[1])
        return replace(estimate, lower=lower, upper=upper, method="dense", reason="")
    if estimate.reason:
        return estimate_as_named(values, cases, limits, replace(interval, method="dense"))
    return estimate


def find_tails(
    promise: str, differences: Numbers, cases: Cases, inverted: Inverted, limit: float
) -> tuple[float, float]:
    """Return the one-sided p-values that a mean is at most minus the limit, and at least the limit.

    Examples:
        >>> import numpy as np
        >>> from rankscope._compare.promise import Cases, MeasureValues
        >>> rows = np.zeros((2, 100))
        >>> measure = MeasureValues(name="RR", low=0.0, high=1.0, values=rows)
        >>> cases = Cases(
        ...     measure=measure, slice=None, chosen=np.arange(100), values=rows, units=100
        ... )
        >>> below, above = find_tails("bounded", rows[0], cases, None, 0.05)
        >>> round(below, 3), round((1 - 0.05 / 1) ** 100, 3)  # nothing was lost in 100 queries
        (0.006, 0.006)
    """
    low, high = cases.measure.range_of_difference
    column = np.ascontiguousarray(differences, dtype=np.float64)
    if promise == "bounded" and low is not None and high is not None:
        units = column, cases.weights, cases.clusters, (low, high)
        below, above = (bounded_tails(*units, end) for end in (-limit, limit))
        if below is not None and above is not None:
            return below[0], above[1]
    mean = cases.average(differences)
    if math.isnan(mean) or promise == "bounded":
        return math.nan, math.nan
    if promise == "t":
        codes = np.arange(len(column))
        if cases.clusters is not None:
            codes = np.unique(cases.clusters, return_inverse=True)[1]
        count = int(codes.max()) + 1
        [sums], sizes = sum_by_cluster(column[None], codes, count, cases.weights)
        estimate = average(sums, sizes)
        error, degrees = estimate.standard_error, estimate.degrees
        both = [
            student_tails((mean - end) / error, degrees) if error > 0 else math.nan
            for end in (-limit, limit)
        ]
    else:
        both = [inverted.p_below, inverted.p_above]
    low_tail, high_tail = both[0] / 2, both[1] / 2
    return (
        low_tail if mean > -limit else 1 - low_tail,
        high_tail if mean < limit else 1 - high_tail,
    )


def correct_pairs(p: Numbers, tested: Tested, choices: Choices) -> tuple[Numbers, float]:
    """Return the corrected p-values, and the level of the intervals that agree with them.

    The intervals hold at once with the level of the choices: they are Bonferroni's. Those of
    Benjamini and Hochberg miss for a small share of what is significant (Benjamini and Yekutieli,
    *False discovery rate-adjusted multiple confidence intervals*, 2005).

    Examples:
        >>> import numpy as np
        >>> corrected, level = correct_pairs(np.array([0.001, 0.2, 0.4]), None, Choices())
        >>> corrected.round(3).tolist(), round(level, 4)
        ([0.003, 0.4, 0.4], 0.9833)
    """
    alpha, correction = choices.alpha, choices.correction
    if correction == "max-t" and tested.max_t is not None:
        count = int((~np.isnan(p)).sum())
        is_other = ~are_same(p, tested.p) & ~np.isnan(p)
        corrected = np.where(is_other, np.minimum(p * count, 1.0), tested.max_t)
    else:
        corrected = correct(p, correction)  # type: ignore[arg-type]  # max-T needs flips
    count = max(int((~np.isnan(p)).sum()), 1)
    share = 1 / count
    if correction == "bh":
        share *= max(int((corrected < alpha).sum()), 1)
    return corrected, 1.0 - alpha * (1.0 if correction == "none" else share)


def agree(estimate: Estimate, *, is_significant: bool) -> Estimate:
    """Return an interval that excludes 0 exactly if the corrected p-value is significant.

    They can disagree where the p-value counts all flips, which is possible where few units differ,
    while other differences are tested with random flips; and by what Holm's and max-T's steps
    reject beyond Bonferroni, of which an interval can say no more than the sign.
    """
    lower, upper = estimate.ends
    if is_significant == (not lower <= 0 <= upper) or math.isnan(lower):
        return estimate
    if not is_significant:
        return replace(estimate, lower=min(lower, 0.0), upper=max(upper, 0.0))
    nearest = math.nextafter(0, estimate.value)
    if estimate.value > 0:
        return replace(estimate, lower=nearest)
    return replace(estimate, upper=nearest)
