"""Compares runs from the values of their queries: differences, intervals, p-values and power."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankscope._compare.layout import check_baselines
from rankscope._compare.pair import Compared
from rankscope._compare.promise import (
    Cases,
    Choices,
    MeasureValues,
    Numbers,
    agree,
    choose_cases,
    choose_promise,
    correct_pairs,
    estimate_as_named,
    estimate_dense,
    find_deviation,
    find_tails,
    make_family,
)
from rankscope._compare.ranges import Axis
from rankscope._compare.result import ComparedPairs, Comparison, Settings
from rankscope._evaluate.query_values import Groups, bad_parameter
from rankscope._settings import Interval, Reading, read_interval
from rankscope._show.progress import tick
from rankscope._stats.paired import invert_pairs, test_pairs
from rankscope._stats.power import minimum_detectable, queries_needed
from rankscope._stats.tests import NO_FLIPS, Inverted
from rankscope.measures.spec import SIGNS

Named = TypeVar("Named")

POWER = 0.8
LARGE = 0.5
"""The share of the largest difference that there can be from which one is large."""
SMALLEST_EFFECT = 1e-3
"""Smaller effects take more than seven million queries to detect."""


def list_pairs(count: int, baseline: int | None) -> list[tuple[int, int]]:
    """Return the places of the baseline and the run of each pair."""
    if baseline is not None:
        return [(baseline, run) for run in range(count) if run != baseline]
    return [*combinations(range(count), 2)]


def compare_values(
    measures: Sequence[MeasureValues],
    *,
    runs: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    choices: Choices,
    groups: Groups | None = None,
    clusters: Groups | None = None,
    weights: Numbers | None = None,
    has_intervals: bool = True,
    check: Callable[[], None] | None = None,
) -> ComparedPairs:
    """Compare pairs of runs by each measure, over all queries and in each slice.

    A query counts if all runs have a value for it. Clusters, such as users, are what queries depend
    within: intervals and tests then treat a cluster as one independent unit.
    """
    cases = [
        case for measure in measures for case in choose_cases(measure, groups, clusters, weights)
    ]
    families = [make_family(case, pairs) for case in cases]
    drawn: dict[str, Any] = {
        "permutations": choices.permutations,
        "seed": choices.interval.seed,
        "slices": 0 if groups is None else len(groups[1]),
        "threads": choices.threads,
        "check": check,
    }
    tested = test_pairs(families, test=choices.test, **drawn)
    differences = [_Difference.read(case, pair, choices) for case, pair in product(cases, pairs)]
    p, smallest = tested.p.copy(), tested.smallest_p.copy()
    for at, difference in enumerate(differences):
        if difference.promise == "bounded":
            p[at] = min(2 * min(difference.find_tails(NO_FLIPS, 0.0)), 1.0)
            smallest[at] = 2.0 ** (1 - difference.case.units)
    corrected, level = correct_pairs(p, tested, choices)
    inverted = [NO_FLIPS] * len(p)
    if has_intervals and any(difference.promise == "dense" for difference in differences):
        inverted = invert_pairs(families, level=level, margin=choices.margin or 0.0, **drawn)
    compared = []
    for at, difference in enumerate(differences):
        fields: dict[str, Any] = {
            "statistic": float(tested.statistic[at]),
            "p": float(p[at]),
            "smallest_p": float(smallest[at]),
            "p_corrected": float(corrected[at]),
        }
        if has_intervals:
            is_significant = fields["p_corrected"] < choices.alpha
            fields |= difference.estimate(level, inverted[at], is_significant=is_significant)
        compared.append(difference.compare(runs, fields))
    settings = Settings(
        test=choices.test,
        correction=choices.correction,
        level=choices.interval.level,
        permutations=tested.permutations,
        is_exact=tested.is_exact,
        seed=choices.interval.seed,
        power=POWER,
        clusters="" if clusters is None else clusters[0],
        is_weighted=weights is not None,
        comparisons=len(p),
    )
    return ComparedPairs(tuple(compared), settings, tested.warnings)


@dataclass(frozen=True, slots=True)
class _Difference:
    """A run and its baseline by one measure on one slice, and the differences of queries."""

    case: Cases
    pair: tuple[int, int]
    values: Numbers
    promise: str
    choices: Choices

    @classmethod
    def read(cls, case: Cases, pair: tuple[int, int], choices: Choices) -> _Difference:
        values = case.subtract(*pair)
        return cls(case, pair, values, choose_promise(values, case, choices), choices)

    def find_tails(self, inverted: Inverted, limit: float) -> tuple[float, float]:
        """Return the one-sided p-values of minus the limit and of the limit."""
        return find_tails(self.promise, self.values, self.case, inverted, limit)

    def compare(self, runs: Sequence[str], fields: Mapping[str, Any]) -> Compared:
        """Return the pair, with the fields about its test and its interval."""
        case, choices, measure = self.case, self.choices, self.case.measure
        baseline, run = self.pair
        above, below = int((self.values > 0).sum()), int((self.values < 0).sum())
        wins, losses = (below, above) if SIGNS[measure.direction] < 0 else (above, below)
        difference, baseline_mean = case.average(self.values), case.average(case.values[baseline])
        largest = measure.range_of_difference[1] or math.inf
        return Compared(
            measure=measure.name,
            direction=measure.direction,
            baseline=runs[baseline],
            run=runs[run],
            slice=case.slice,
            n=len(self.values),
            clusters=case.cluster_count,
            baseline_mean=baseline_mean,
            run_mean=case.average(case.values[run]),
            difference=difference,
            relative=difference / baseline_mean if baseline_mean else math.nan,
            level=choices.interval.level,
            test=choices.test if self.promise != "bounded" else "bounded",
            correction=choices.correction,
            wins=wins,
            ties=len(self.values) - wins - losses,
            losses=losses,
            has_large=bool((abs(self.values) >= LARGE * largest).any()),
            **fields,
        )

    def estimate(
        self, level: float, inverted: Inverted, *, is_significant: bool
    ) -> dict[str, object]:
        """Return the fields about the interval, the bounded one, its power, and the margin."""
        case, choices, values = self.case, self.choices, self.values
        limits, deviation = case.measure.range_of_difference, find_deviation(values, case)
        interval = replace(choices.interval, level=level, method="bounded")
        bounds = estimate = estimate_as_named(values, case, limits, interval)
        if self.promise == "dense":
            estimate = estimate_dense(values, case, limits, inverted, interval)
        elif self.promise == "t":
            estimate = estimate_as_named(values, case, limits, replace(interval, method="t"))
        if choices.test != "wilcoxon":
            estimate = agree(estimate, is_significant=is_significant)
        fields: dict[str, object] = {
            "lower": estimate.lower,
            "upper": estimate.upper,
            "interval_method": estimate.method,
            "interval_note": estimate.reason,
            "bounded_lower": bounds.lower,
            "bounded_upper": bounds.upper,
            "minimum_detectable": _detectable(deviation, case.units, choices.alpha, limits[1]),
            "queries_needed": _need(case.average(values), deviation, choices.alpha),
        }
        if choices.margin is not None:
            below, above = self.find_tails(inverted, choices.margin)
            sides = {1: below, -1: above}
            fields["margin"] = choices.margin
            fields["p_not_worse"] = sides.get(SIGNS[case.measure.direction], math.nan)
            fields["p_equivalent"] = max(below, above)
        return fields


def _need(difference: float, deviation: float, alpha: float) -> int | None:
    """Return how many units detect a difference of this size; `None` for sizes near 0."""
    if not deviation > 0 or abs(difference) < deviation * SMALLEST_EFFECT:
        return None
    return queries_needed(abs(difference), (deviation,), level=alpha, power=POWER)


def _detectable(deviation: float, units: int, alpha: float, highest: float | None) -> float:
    """Return the minimum detectable difference; NaN if no difference that there can be is."""
    if units < 2 or not deviation > 0:
        return math.nan
    size = minimum_detectable((deviation,), units, level=alpha, power=POWER)
    return size if highest is None or size <= highest else math.nan


def say_left_out(measures: Sequence[MeasureValues]) -> list[str]:
    """Return how many queries some run has no value of, by measure."""
    return [
        f"Queries left out of {measure.name}, because a run has no value for them: {count:,}."
        for measure in measures
        if (count := int(np.isnan(measure.values).any(axis=0).sum()))
    ]


def rename(runs: dict[str, Named], names: Sequence[str] | None) -> dict[str, Named]:
    """Return runs under other names, in order."""
    if names is None:
        return runs
    if isinstance(names, str) or len(set(names)) < len(runs) or len(names) != len(runs):
        raise bad_parameter(
            f"expected {len(runs)} different names, found {names!r}",
            "give one name for each run, in order",
        )
    return dict(zip(names, runs.values(), strict=True))


def compare_columns(
    values: Sequence[MeasureValues],
    runs: tuple[str, ...],
    axis: Axis,
    testing: Mapping[str, Any],
    reading: Reading,
    *,
    answered: NDArray[np.bool_] | None = None,
) -> Comparison:
    """Compare the values of queries, measure by measure.

    Where some run has no list for a query, each pair also says what it is over those `answered`.
    """
    testing = dict(testing)
    baseline, seed = testing.pop("baseline", None), testing.pop("seed", None)
    interval = _seed(read_interval(testing.pop("interval", 0.95)) or Interval(), seed)
    choices = Choices(**testing, interval=interval, threads=reading.threads)
    place = None if baseline is None else runs.index(check_baselines(baseline, runs)[0])
    with tick("testing differences", is_shown=reading.progress is True) as check:
        compare = partial(
            compare_values,
            runs=runs,
            pairs=list_pairs(len(runs), place),
            choices=choices,
            clusters=axis.clusters,
            weights=axis.weights,
            check=check,
        )
        compared = compare(values, groups=axis.groups)
        pairs = compared.comparisons
        if answered is not None and answered.any() and not answered.all():
            kept = np.where(answered[axis.order], 0.0, np.nan)
            both = compare([replace(column, values=column.values + kept) for column in values])
            rest = iter(both.comparisons)
            pairs = tuple(
                pair if pair.slice is not None else replace(pair, answered=next(rest))
                for pair in pairs
            )
    means: dict[str, dict[str, float]] = {run: {} for run in runs}
    for pair in pairs:
        if pair.slice is None:
            means[pair.baseline][pair.measure] = pair.baseline_mean
            means[pair.run][pair.measure] = pair.run_mean
    return Comparison(
        runs=runs,
        measures=tuple(measure.name for measure in values),
        means=means,
        comparisons=pairs,
        baseline=baseline,
        by="" if axis.groups is None else axis.groups[0],
        settings=compared.settings,
        policy=None,
        warnings=(*compared.warnings, *say_left_out(values)),
        attributes=axis.attributes,
    )


def _seed(interval: Interval, seed: int | None) -> Interval:
    """Return the interval with the seed of the comparison, which is that of its tests, too."""
    if seed is None:
        return interval
    if interval.seed not in {0, seed}:
        raise bad_parameter(
            f"expected one seed, found seed={seed!r} and an interval with seed={interval.seed!r}",
            "remove one of them: the test and the intervals use the same seed",
        )
    return replace(interval, seed=seed)
