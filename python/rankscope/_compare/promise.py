"""What is promised of a difference: one way to its p-value, its interval and its margin.

A dense promise is what a test of sign flips says, or the t test if that was asked for. A bounded
one holds for every distribution of differences with known limits.
"""

from __future__ import annotations

import math

from rankscope._compare.cases import are_same
from rankscope._core import bounded_tails, student_tails
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.names import check_choice, is_real
from rankscope.records import record, replace
from rankscope.settings.interval import Interval, of_measure
from rankscope.stats.estimate.interval import Estimate, estimate_mean
from rankscope.stats.test.family import sum_by_cluster
from rankscope.stats.test.paired import TESTS
from rankscope.stats.test.student import average
from rankscope.stats.test.tested import correct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from rankscope._compare.cases import Cases, Limits, Numbers
    from rankscope.stats.test.flips import Inverted
    from rankscope.stats.test.paired import Test
    from rankscope.stats.test.tested import Tested

    Correction: TypeAlias = Literal["holm", "max-t", "bonferroni", "bh", "none"]

CORRECTIONS = ("holm", "max-t", "bonferroni", "bh", "none")
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


@record(frozen=True, slots=True, kw_only=True)
class Choices:
    """What to compute for each difference.

    Args:
        test: The name of the test.
        correction: The name of the correction.
        interval: The settings of the intervals. Its seed is that of the test, too.
        permutations: The number of permutations, or `None` to choose by the size of the data.
        margin: The margin of equivalence, or `None`.
        threads: The number of threads, or `None` for all cores.
    """

    test: Test = "permutation"
    correction: Correction = "holm"
    interval: Interval = Interval()
    permutations: int | None = None
    margin: float | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        check_choice("test", self.test, TESTS, hint=_find_hint(self.test, INSTEAD))
        hint = _find_hint(self.correction, CORRECTED_INSTEAD)
        check_choice("correction", self.correction, CORRECTIONS, hint=hint)
        method = self.interval.method
        if self.correction == "max-t" and (self.test != "permutation" or method == "bounded"):
            raise UsageError(
                f"max-T needs the permutation test, found {self.promise}",
                hint="use correction='holm', or test='permutation' with dense intervals",
                code="bad_parameter",
            )
        fits = {
            "permutation": ("auto", "dense", "bounded"),
            "t": ("auto", "t"),
            "wilcoxon": ("auto", "dense"),
        }
        if method not in fits[self.test]:
            raise UsageError(
                f"test={self.test!r} and {method} intervals promise different things",
                hint="write test='t' for t intervals"
                if method == "t"
                else f"leave out the method, or use one of: {', '.join(fits[self.test][1:])}",
                code="bad_parameter",
            )
        margin = self.margin
        if margin is not None and not (is_real(margin) and 0 < margin < math.inf):
            raise UsageError(
                f"expected a margin above 0, found {margin!r}",
                hint="give the largest difference that doesn't matter, such as 0.005",
                code="bad_parameter",
            )

    @property
    def alpha(self) -> float:
        """The p-value below which a difference is significant."""
        return round(1 - self.interval.level, 12)

    @property
    def promise(self) -> str:
        """The promise that was asked for: `"dense"`, `"bounded"` or `"t"`."""
        return "t" if self.test == "t" else self.interval.method.replace("auto", "dense")


def _find_hint(given: object, hints: dict[str, str]) -> str:
    return hints.get(given.casefold(), "") if isinstance(given, str) else ""


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
    values: Numbers,
    cases: Cases,
    limits: Limits,
    inverted: Inverted,
    interval: Interval,
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
        >>> from rankscope._compare.cases import Cases, MeasureValues
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
        of_units, ends = (column, cases.weights, cases.clusters), (low, high)
        tails = [bounded_tails(*of_units, ends, at) for at in (-limit, limit)]
        if tails[0] is not None and tails[1] is not None:
            return tails[0][0], tails[1][1]
    mean = cases.average(differences)
    if math.isnan(mean) or promise == "bounded":
        return math.nan, math.nan
    if promise == "t":
        codes = np.arange(len(column))
        if cases.clusters is not None:
            codes = np.unique(cases.clusters, return_inverse=True)[1]
        count = int(codes.max()) + 1
        [sums], sizes = sum_by_cluster(column[None], codes, count, cases.weights)
        of_mean = average(sums, sizes)
        error, degrees = of_mean.standard_error, of_mean.degrees
        both = [
            student_tails((mean + each) / error, degrees) if error > 0 else math.nan
            for each in (limit, -limit)
        ]
    else:
        both = [inverted.p_below, inverted.p_above]
    below, above = both[0] / 2, both[1] / 2
    return below if mean > -limit else 1 - below, above if mean < limit else 1 - above


def correct_pairs(p: Numbers, tested: Tested, choices: Choices) -> tuple[Numbers, float]:
    """Return the corrected p-values, and the level of the intervals that agree with them.

    The intervals hold at once with the level that was asked for: they are Bonferroni's. Those of
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
