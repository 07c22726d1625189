"""Compares runs from the values of their queries: differences, intervals, p-values and power."""

from __future__ import annotations

import math
from itertools import combinations, product

from rankscope.comparison.pair import Compared
from rankscope.comparison.result import Settings
from rankscope.deferred import np
from rankscope.errors import EmptyError, UsageError
from rankscope.measures.direction import SIGNS
from rankscope.names import check_choice
from rankscope.records import record, replace
from rankscope.settings.interval import Interval, of_measure
from rankscope.stats.estimate.interval import Estimate, estimate_mean
from rankscope.stats.estimate.margin import MarginTest, test_bounded, test_dense
from rankscope.stats.estimate.power import minimum_detectable, queries_needed
from rankscope.stats.test.family import Family, sum_by_cluster
from rankscope.stats.test.flips import NO_FLIPS, Inverted
from rankscope.stats.test.paired import TESTS, invert_pairs, test_pairs
from rankscope.stats.test.tested import correct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal, TypeAlias

    from numpy.typing import NDArray

    from rankscope._evaluate.query_values import Groups
    from rankscope.measures import Measure
    from rankscope.measures.direction import Direction
    from rankscope.stats.test.paired import Test
    from rankscope.stats.test.tested import Drawn, Tested

    Numbers: TypeAlias = NDArray[np.float64]
    Limits: TypeAlias = tuple[float | None, float | None]

    Correction: TypeAlias = Literal["holm", "bh", "max-t", "none"]


CORRECTIONS = ("holm", "bh", "max-t", "none")
CLOSE = 1e-12
"""Values that differ by at most this, absolutely and relatively, are equal except for rounding."""
POWER = 0.8
SMALLEST_EFFECT = 1e-3
"""Smaller effects take more than seven million queries to detect."""


@record(frozen=True, slots=True, kw_only=True)
class MeasureValues:
    """The values of one measure for all queries under all runs.

    Args:
        name: The name of the measure, on which its random numbers depend.
        low: The lowest value a query can have, `None` if there is no bound.
        high: The highest value.
        values: float64 [runs, queries], NaN where a run has no value for a query. Queries are in
            the order of `rankscope._evaluate.order_queries`, in which they are resampled.
        direction: Which values are better.
    """

    name: str
    low: float | None
    high: float | None
    values: Numbers
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

    @property
    def needs_flips(self) -> bool:
        """Whether intervals or margins need what a permutation test says of all differences."""
        is_dense = self.interval.method in {"auto", "dense"} and self.test != "t"
        return is_dense or self.margin is not None

    def __post_init__(self) -> None:
        check_choice("test", self.test, TESTS)
        check_choice("correction", self.correction, CORRECTIONS)
        if self.correction == "max-t" and self.test != "permutation":
            raise UsageError(
                f"max-T needs the permutation test, found {self.test!r}",
                hint="use correction='holm', or test='permutation'",
                code="bad_parameter",
            )
        margin = self.margin
        if margin is not None and not (margin > 0 and math.isfinite(margin)):
            raise UsageError(
                f"expected a margin above 0, found {margin!r}",
                hint="give the largest difference that doesn't matter, such as 0.005",
                code="bad_parameter",
            )


@record(frozen=True, slots=True, kw_only=True)
class Cases:
    """The queries of one measure and slice for which all runs have a value.

    Args:
        measure: The measure.
        slice: The name of the slice, or `None` for all queries.
        chosen: The numbers of the queries.
        values: float64 [runs, queries].
        clusters: The number of the cluster of each query, or `None`.
    """

    measure: MeasureValues
    slice: str | None
    chosen: NDArray[np.int64]
    values: Numbers
    clusters: NDArray[np.int64] | None

    @property
    def cluster_count(self) -> int | None:
        """The number of clusters, or `None` without clusters."""
        return None if self.clusters is None else len(np.unique(self.clusters))


def compare_values(
    measures: Sequence[MeasureValues],
    *,
    runs: Sequence[str],
    baseline: int | None,
    choices: Choices,
    groups: Groups | None = None,
    clusters: Groups | None = None,
    check: Callable[[], None] | None = None,
) -> tuple[tuple[Compared, ...], dict[str, dict[str, float]], Settings, tuple[str, ...]]:
    """Compare runs by each measure, over all queries and in each slice.

    A query counts if all runs have a value for it. Clusters, such as users, are what queries depend
    within: intervals and tests then treat a cluster as one independent unit.
    """
    pairs = _pair(len(runs), baseline)
    cases = [each for measure in measures for each in choose_cases(measure, groups, clusters)]
    families = [make_family(each, pairs) for each in cases]
    drawn: Drawn = {
        "permutations": choices.permutations,
        "seed": choices.interval.seed,
        "slices": 0 if groups is None else len(groups[1]),
        "threads": choices.threads,
        "check": check,
    }
    tested = test_pairs(families, test=choices.test, **drawn)
    level, margin = choices.interval.level, choices.margin or 0.0
    inverted = (
        invert_pairs(families, level=level, margin=margin, **drawn)
        if choices.needs_flips
        else [NO_FLIPS] * len(tested.p)
    )
    correction, corrected = correct_family(tested, choices, len(cases))
    compared = []
    for at, (case, pair) in enumerate(product(cases, pairs)):
        outcome = {
            "statistic": float(tested.statistic[at]),
            "p": float(tested.p[at]),
            "smallest_p": float(tested.smallest_p[at]),
            "correction": correction,
            "p_corrected": float(corrected[at]),
        }
        compared.append(_compare_pair(case, pair, runs, outcome, choices, inverted=inverted[at]))
    means = {
        run: {each.measure.name: _mean(each.values[at]) for each in cases if each.slice is None}
        for at, run in enumerate(runs)
    }
    settings = Settings(
        test=choices.test,
        correction=correction,
        level=choices.interval.level,
        permutations=tested.permutations,
        is_exact=tested.is_exact,
        seed=choices.interval.seed,
        power=POWER,
        clusters="" if clusters is None else clusters[0],
    )
    return tuple(compared), means, settings, (*tested.warnings, *_warn(cases))


def are_same(one: Numbers, other: Numbers) -> NDArray[np.bool_]:
    """Return which values are equal, except for rounding."""
    same: NDArray[np.bool_] = np.isclose(one, other, rtol=CLOSE, atol=CLOSE)
    return same


def _pair(count: int, baseline: int | None) -> list[tuple[int, int]]:
    if baseline is not None:
        return [(baseline, run) for run in range(count) if run != baseline]
    return [*combinations(range(count), 2)]


def choose_cases(
    measure: MeasureValues,
    groups: Groups | None,
    clusters: Groups | None,
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
    codes = None if clusters is None else np.asarray(clusters[2], dtype=np.int64)

    def choose(name: str | None, is_chosen: NDArray[np.bool_]) -> Cases:
        chosen = np.flatnonzero(is_chosen)
        return Cases(
            measure=measure,
            slice=name,
            chosen=chosen,
            values=np.ascontiguousarray(measure.values[:, chosen]),
            clusters=None if codes is None else codes[chosen],
        )

    cases = [choose(None, is_there)]
    if groups is not None:
        _, names, slices = groups
        held = np.asarray(slices)
        counts = np.bincount(held[is_there], minlength=len(names))
        order = sorted(range(len(names)), key=lambda at: (-counts[at], names[at]))
        cases += [choose(names[at], is_there & (held == at)) for at in order if counts[at]]
    return cases


def make_family(cases: Cases, pairs: Sequence[tuple[int, int]]) -> Family:
    """Return the values of the units of a case: of its queries, or its clusters."""
    # All families have the units of all data, so that one permutation is the same in each.
    count = cases.measure.values.shape[1]
    if cases.clusters is not None:
        values, sizes = sum_by_cluster(cases.values, cases.clusters, count)
    else:
        values, sizes = np.zeros((len(cases.values), count)), np.zeros(count)
        values[:, cases.chosen], sizes[cases.chosen] = cases.values, 1
    return Family(values=values, sizes=sizes, pairs=tuple(pairs), measure=cases.measure.name)


def correct_family(tested: Tested, choices: Choices, families: int) -> tuple[str, Numbers]:
    """Return the name of the correction, and the corrected p-values of so many families."""
    if choices.test == "tukey":
        # Each family is corrected for its pairs; Bonferroni's correction is over families.
        return "tukey", np.minimum(tested.p * families, 1.0)
    if choices.correction == "max-t":
        return "max-t", np.asarray(tested.max_t, dtype=np.float64)
    return choices.correction, correct(tested.p, choices.correction)


def _compare_pair(
    cases: Cases,
    pair: tuple[int, int],
    runs: Sequence[str],
    outcome: Mapping[str, Any],
    choices: Choices,
    *,
    inverted: Inverted,
) -> Compared:
    theirs, ours = (cases.values[number] for number in pair)
    differences = ours - theirs
    is_same = are_same(ours, theirs)
    limits = cases.measure.range_of_difference
    bounded = replace(choices.interval, method="bounded")
    bounds = estimate_as_named(differences, cases, limits, bounded, choices.threads)
    estimate = _choose(differences, cases, outcome["p"], inverted, choices)
    baseline_mean, run_mean = _mean(theirs), _mean(ours)
    deviation, units = find_deviation(differences, cases.clusters)
    difference = estimate.value
    alpha = 1 - choices.interval.level
    margin = choices.margin
    direction = cases.measure.direction
    sign = SIGNS[direction]
    against = None if margin is None else _test_margin(differences, cases, inverted, margin)
    counts = int(((ours > theirs) & ~is_same).sum()), int(((ours < theirs) & ~is_same).sum())
    wins, losses = counts[::-1] if sign < 0 else counts
    return Compared(
        measure=cases.measure.name,
        baseline=runs[pair[0]],
        run=runs[pair[1]],
        slice=cases.slice,
        n=len(differences),
        clusters=cases.cluster_count,
        baseline_mean=baseline_mean,
        run_mean=run_mean,
        difference=difference,
        relative=difference / baseline_mean if baseline_mean else math.nan,
        lower=estimate.lower,
        upper=estimate.upper,
        level=choices.interval.level,
        interval_method=estimate.method,
        interval_note=estimate.reason,
        bounded_lower=bounds.lower,
        bounded_upper=bounds.upper,
        effect_size=_divide(difference, deviation),
        test=choices.test,
        wins=wins,
        ties=int(is_same.sum()),
        losses=losses,
        minimum_detectable=_detectable(deviation, units, alpha, limits[1]),
        queries_needed=_need(difference, deviation, alpha),
        margin=margin,
        p_not_worse=_find_not_worse(against, sign),
        p_equivalent=None if against is None else against.p_equivalent,
        direction=direction,
        **outcome,
    )


def estimate_as_named(
    values: Numbers, cases: Cases, limits: Limits, interval: Interval, threads: int | None
) -> Estimate:
    """Return a mean with an interval of the method that is named."""
    return estimate_mean(
        values,
        interval=of_measure(interval, cases.measure.name),
        low=limits[0],
        high=limits[1],
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
    """Return a mean with what a test of sign flips doesn't reject.

    With too few queries for the test to reject anything, it has a bounded interval, or none.
    """
    bounds = estimate_as_named(values, cases, limits, replace(interval, method="bounded"), 1)
    if math.isfinite(inverted.lower):
        lower, upper = (
            max(inverted.lower, -math.inf if limits[0] is None else limits[0]),
            min(inverted.upper, math.inf if limits[1] is None else limits[1]),
        )
        return replace(bounds, lower=lower, upper=upper, method="dense", reason="")
    if bounds.reason:
        return estimate_as_named(values, cases, limits, replace(interval, method="dense"), 1)
    return bounds


def _choose(
    differences: Numbers, cases: Cases, p: float, inverted: Inverted, choices: Choices
) -> Estimate:
    """Return the interval to show: by default what the test doesn't reject."""
    interval, limits = choices.interval, cases.measure.range_of_difference
    is_dense = interval.method in {"auto", "dense"}
    if is_dense and choices.test == "t":
        interval, is_dense = replace(interval, method="t"), False
    if not is_dense:
        return estimate_as_named(differences, cases, limits, interval, choices.threads)
    estimate = estimate_dense(differences, cases, limits, inverted, interval)
    if estimate.method != "dense" or choices.test != "permutation":
        return estimate
    lower, upper = _agree(estimate, p, interval.level)
    return replace(estimate, lower=lower, upper=upper)


def _agree(estimate: Estimate, p: float, level: float) -> tuple[float, float]:
    """Return the ends of an interval that excludes 0 exactly if the p-value is below 1 - level.

    They disagree only if the p-value counts all flips, which is possible where few units differ,
    while other differences are tested with random flips.
    """
    lower, upper = estimate.ends
    is_rejected = p < round(1 - level, 12)
    if is_rejected == (not lower <= 0 <= upper):
        return lower, upper
    if not is_rejected:
        return min(lower, 0.0), max(upper, 0.0)
    nearest = math.nextafter(0, estimate.value)
    return (nearest, upper) if estimate.value > 0 else (lower, nearest)


def _test_margin(
    differences: Numbers, cases: Cases, inverted: Inverted, margin: float
) -> MarginTest:
    """Test a margin with bounds, or with sign flips where differences have no limits."""
    limits = cases.measure.range_of_difference
    tested = test_bounded(differences, cases.clusters, limits, margin)
    if tested is not None:
        return tested
    return test_dense(float(differences.mean()), inverted, margin)


def _find_not_worse(against: MarginTest | None, sign: int) -> float | None:
    """Return the p-value of the hypothesis that the run is worse by the margin or more."""
    if against is None:
        return None
    if sign == 0:
        return math.nan
    return against.p_below if sign > 0 else against.p_above


def _need(difference: float, deviation: float, alpha: float) -> int | None:
    """Return how many units detect a difference of this size; `None` for sizes near 0."""
    if not deviation > 0 or abs(difference) < deviation * SMALLEST_EFFECT:
        return None
    return queries_needed(abs(difference), (deviation,), level=alpha, power=POWER)


def _detectable(deviation: float, units: int, alpha: float, highest: float | None) -> float:
    """Return the minimum detectable difference; NaN if no difference that there can be is."""
    if units < 2 or not deviation > 0:
        return math.nan
    found = minimum_detectable((deviation,), units, level=alpha, power=POWER)
    return found if highest is None or found <= highest else math.nan


def find_deviation(values: Numbers, clusters: NDArray[np.int64] | None = None) -> tuple[float, int]:
    """Return the standard deviation of the values of queries or clusters, and their number.

    That of clusters is scaled so that, divided by the root of their number, it is the standard
    error of the mean over queries.
    """
    squares, _ = find_squares(values, clusters)
    units = len(squares)
    if units < 2:
        return math.nan, units
    return math.sqrt(float(squares.sum()) / (units - 1)) * units / len(values), units


def find_squares(
    values: Numbers, clusters: NDArray[np.int64] | None = None
) -> tuple[Numbers, Numbers]:
    """Return the squared residuals of queries or clusters, and the number of queries of each."""
    residuals = values - values.mean()
    if float(abs(residuals).max()) <= CLOSE * float(abs(values).max()):
        residuals = residuals * 0.0
    if clusters is None:
        return residuals**2, np.ones(len(values))
    codes = np.unique(clusters, return_inverse=True)[1]
    sizes = np.bincount(codes).astype(np.float64)
    return np.bincount(codes, weights=residuals).astype(np.float64) ** 2, sizes


def _mean(values: Numbers) -> float:
    return math.fsum(values.tolist()) / len(values) if len(values) else math.nan


def _divide(difference: float, deviation: float) -> float:
    if deviation > 0:
        return difference / deviation
    return 0.0 if difference == 0 else math.nan


def _warn(cases: Sequence[Cases]) -> list[str]:
    """Return a sentence for each measure that some run has no value of for some query."""
    return [
        f"Queries left out of {each.measure.name}, because a run has no value for them: {missing}."
        for each in cases
        if each.slice is None and (missing := each.measure.values.shape[1] - len(each.chosen))
    ]
