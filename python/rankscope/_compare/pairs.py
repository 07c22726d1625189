"""Compares runs from the values of their queries: differences, intervals, p-values and power."""

from __future__ import annotations

import math
from itertools import combinations, product

from rankscope._compare.cases import choose_cases, find_deviation, make_family
from rankscope._compare.pair import Compared
from rankscope._compare.promise import (
    agree,
    choose_promise,
    correct_pairs,
    estimate_as_named,
    estimate_dense,
    find_tails,
)
from rankscope._compare.result import ComparedPairs, Settings
from rankscope.deferred import np
from rankscope.measures.direction import SIGNS
from rankscope.records import record, replace
from rankscope.stats.estimate.power import minimum_detectable, queries_needed
from rankscope.stats.test.flips import NO_FLIPS
from rankscope.stats.test.paired import invert_pairs, test_pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from rankscope._compare.cases import Cases, MeasureValues, Numbers
    from rankscope._compare.promise import Choices
    from rankscope._evaluate.query_values import Groups
    from rankscope.stats.test.flips import Inverted

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
    slices = 0 if groups is None else len(groups[1])
    families = [make_family(case, pairs) for case in cases]
    drawn: dict[str, Any] = {
        "permutations": choices.permutations,
        "seed": choices.interval.seed,
        "slices": slices,
        "threads": choices.threads,
        "check": check,
    }
    tested = test_pairs(families, test=choices.test, **drawn)
    every = [_Pair.read(case, pair, choices) for case, pair in product(cases, pairs)]
    p, smallest = tested.p.copy(), tested.smallest_p.copy()
    for at, each in enumerate(every):
        if each.promise == "bounded":
            p[at] = min(2 * min(each.find_tails(NO_FLIPS, 0.0)), 1.0)
            smallest[at] = 2.0 ** (1 - each.case.units)
    corrected, level = correct_pairs(p, tested, choices)
    inverted = [NO_FLIPS] * len(p)
    if has_intervals and any(each.promise == "dense" for each in every):
        inverted = invert_pairs(families, level=level, margin=choices.margin or 0.0, **drawn)
    compared = []
    for at, each in enumerate(every):
        numbers = map(float, (tested.statistic[at], p[at], smallest[at], corrected[at]))
        pair = each.compare(runs, *numbers)
        compared.append(each.add_interval(pair, level, inverted[at]) if has_intervals else pair)
    return ComparedPairs(
        tuple(compared),
        Settings(
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
        ),
        tested.warnings,
    )


@record(frozen=True, slots=True)
class _Pair:
    """A run and its baseline by one measure on one slice.

    Args:
        case: The values of all runs.
        pair: The places of the baseline and the run.
        differences: The difference of each query.
        promise: What is promised of the difference.
        choices: What to compute.
    """

    case: Cases
    pair: tuple[int, int]
    differences: Numbers
    promise: str
    choices: Choices

    @classmethod
    def read(cls, case: Cases, pair: tuple[int, int], choices: Choices) -> _Pair:
        differences = case.subtract(*pair)
        return cls(case, pair, differences, choose_promise(differences, case, choices), choices)

    def find_tails(self, inverted: Inverted, limit: float) -> tuple[float, float]:
        """Return the one-sided p-values of minus the limit and of the limit."""
        return find_tails(self.promise, self.differences, self.case, inverted, limit)

    def compare(
        self, runs: Sequence[str], statistic: float, p: float, smallest_p: float, corrected: float
    ) -> Compared:
        """Return the pair without an interval, and without power, which takes longest."""
        case, choices, differences = self.case, self.choices, self.differences
        theirs, ours = (case.values[number] for number in self.pair)
        direction, highest = case.measure.direction, case.measure.range_of_difference[1]
        counts = int((differences > 0).sum()), int((differences < 0).sum())
        wins, losses = counts[::-1] if SIGNS[direction] < 0 else counts
        difference, baseline_mean = case.average(differences), case.average(theirs)
        return Compared(
            measure=case.measure.name,
            direction=direction,
            baseline=runs[self.pair[0]],
            run=runs[self.pair[1]],
            slice=case.slice,
            n=len(differences),
            clusters=case.cluster_count,
            baseline_mean=baseline_mean,
            run_mean=case.average(ours),
            difference=difference,
            relative=difference / baseline_mean if baseline_mean else math.nan,
            level=choices.interval.level,
            test=choices.test if self.promise != "bounded" else "bounded",
            statistic=statistic,
            p=p,
            smallest_p=smallest_p,
            correction=choices.correction,
            p_corrected=corrected,
            wins=wins,
            ties=len(differences) - wins - losses,
            losses=losses,
            has_large=bool((abs(differences) >= LARGE * (highest or math.inf)).any()),
        )

    def add_interval(self, compared: Compared, level: float, inverted: Inverted) -> Compared:
        """Return the pair with its interval, the bounded one, its power, and the margin's."""
        case, choices, differences = self.case, self.choices, self.differences
        limits, deviation = case.measure.range_of_difference, find_deviation(differences, case)
        interval = replace(choices.interval, level=level, method="bounded")
        bounds = estimate = estimate_as_named(differences, case, limits, interval)
        if self.promise == "dense":
            estimate = estimate_dense(differences, case, limits, inverted, interval)
        elif self.promise == "t":
            interval = replace(interval, method="t")
            estimate = estimate_as_named(differences, case, limits, interval)
        if choices.test != "wilcoxon":
            estimate = agree(estimate, is_significant=compared.is_significant)
        of_margin: dict[str, Any] = {}
        if choices.margin is not None:
            below, above = self.find_tails(inverted, choices.margin)
            sides = {1: below, -1: above}
            of_margin = {
                "margin": choices.margin,
                "p_not_worse": sides.get(SIGNS[compared.direction], math.nan),
                "p_equivalent": max(below, above),
            }
        return replace(
            compared,
            lower=estimate.lower,
            upper=estimate.upper,
            interval_method=estimate.method,
            interval_note=estimate.reason,
            bounded_lower=bounds.lower,
            bounded_upper=bounds.upper,
            minimum_detectable=_detectable(deviation, case.units, choices.alpha, limits[1]),
            queries_needed=_need(compared.difference, deviation, choices.alpha),
            **of_margin,
        )


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
    counts = {each.name: int(np.isnan(each.values).any(axis=0).sum()) for each in measures}
    return [
        f"Queries left out of {name}, because a run has no value for them: {count:,}."
        for name, count in counts.items()
        if count
    ]
