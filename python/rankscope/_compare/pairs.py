"""Compares runs from the values of their queries: differences, intervals, p-values and power."""

from __future__ import annotations

import math
from itertools import combinations, product

from rankscope._compare.cases import are_same, average, choose_cases, find_deviation, make_family
from rankscope._compare.pair import Compared
from rankscope._compare.promise import (
    agree,
    choose_promise,
    correct_pairs,
    estimate_as_named,
    estimate_dense,
    find_tails,
)
from rankscope._compare.result import Settings
from rankscope.deferred import np
from rankscope.measures.direction import SIGNS
from rankscope.records import record, replace
from rankscope.stats.estimate.power import minimum_detectable, queries_needed
from rankscope.stats.test.flips import NO_FLIPS
from rankscope.stats.test.paired import invert_pairs, test_pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankscope._compare.cases import Cases, MeasureValues, Numbers
    from rankscope._compare.promise import Choices
    from rankscope._evaluate.query_values import Groups
    from rankscope.stats.test.flips import Inverted
    from rankscope.stats.test.tested import Tested

POWER = 0.8
LARGE = 0.5
"""The share of the largest difference that there can be from which one is large."""
SMALLEST_EFFECT = 1e-3
"""Smaller effects take more than seven million queries to detect."""


@record(frozen=True, slots=True)
class TestedPairs:
    """The p-values of all pairs of runs, by case.

    Args:
        promises: What is promised of each pair.
        statistic: The statistic of each pair.
        p: Its two-sided p-value.
        smallest_p: The smallest one that its data can give.
        p_corrected: The corrected p-values.
        level: The level of each interval that agrees with them.
        tested: What the test says of all pairs.
    """

    promises: list[str]
    statistic: Numbers
    p: Numbers
    smallest_p: Numbers
    p_corrected: Numbers
    level: float
    tested: Tested

    __test__ = False  # not a class of tests, for pytest


def find_p_values(
    cases: Sequence[Cases],
    pairs: Sequence[tuple[int, int]],
    choices: Choices,
    *,
    slices: int = 0,
    check: Callable[[], None] | None = None,
) -> TestedPairs:
    """Test all pairs of all cases, and correct their p-values together."""
    tested = test_pairs(
        [make_family(case, pairs) for case in cases],
        test=choices.test,
        permutations=choices.permutations,
        seed=choices.interval.seed,
        slices=slices,
        threads=choices.threads,
        check=check,
    )
    p, smallest = tested.p.copy(), tested.smallest_p.copy()
    promises = []
    for at, (case, (baseline, run)) in enumerate(product(cases, pairs)):
        differences = find_differences(case, baseline, run)
        promises.append(choose_promise(differences, case, choices))
        if promises[-1] == "bounded":
            tails = find_tails("bounded", differences, case, NO_FLIPS, 0.0)
            p[at], smallest[at] = min(2 * min(tails), 1.0), 2.0 ** (1 - case.units)
    corrected, level = correct_pairs(p, tested, choices)
    return TestedPairs(promises, tested.statistic, p, smallest, corrected, level, tested)


def find_differences(case: Cases, baseline: int, run: int) -> Numbers:
    """Return the differences of two runs, 0 where values are equal except for rounding."""
    theirs, ours = case.values[baseline], case.values[run]
    return np.where(are_same(ours, theirs), 0.0, ours - theirs)


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
    pairs = list_pairs(len(runs), baseline)
    cases = [case for measure in measures for case in choose_cases(measure, groups, clusters)]
    slices = 0 if groups is None else len(groups[1])
    tests = find_p_values(cases, pairs, choices, slices=slices, check=check)
    inverted = [NO_FLIPS] * len(tests.p)
    if "dense" in tests.promises:
        inverted = invert_pairs(
            [make_family(case, pairs) for case in cases],
            level=tests.level,
            margin=choices.margin or 0.0,
            permutations=choices.permutations,
            seed=choices.interval.seed,
            slices=slices,
            threads=choices.threads,
            check=check,
        )
    compared = tuple(
        _compare_pair(case, pair, runs, tests=tests, at=at, choices=choices, inverted=inverted[at])
        for at, (case, pair) in enumerate(product(cases, pairs))
    )
    means = {
        run: {case.measure.name: average(case.values[at]) for case in cases if case.slice is None}
        for at, run in enumerate(runs)
    }
    return compared, means, describe_settings(tests, choices, clusters), warn(tests, cases)


def describe_settings(tests: TestedPairs, choices: Choices, clusters: Groups | None) -> Settings:
    """Return how pairs were tested."""
    return Settings(
        test=choices.test,
        correction=choices.correction,
        level=choices.interval.level,
        permutations=tests.tested.permutations,
        is_exact=tests.tested.is_exact,
        seed=choices.interval.seed,
        power=POWER,
        clusters="" if clusters is None else clusters[0],
        comparisons=len(tests.p),
    )


def list_pairs(count: int, baseline: int | None) -> list[tuple[int, int]]:
    """Return the places of the baseline and the run of each pair."""
    if baseline is not None:
        return [(baseline, run) for run in range(count) if run != baseline]
    return [*combinations(range(count), 2)]


def _compare_pair(
    case: Cases,
    pair: tuple[int, int],
    runs: Sequence[str],
    *,
    tests: TestedPairs,
    at: int,
    choices: Choices,
    inverted: Inverted,
) -> Compared:
    theirs, ours = (case.values[number] for number in pair)
    differences = find_differences(case, *pair)
    limits, promise = case.measure.range_of_difference, tests.promises[at]
    interval = replace(choices.interval, level=tests.level, method="bounded")
    bounds = estimate_as_named(differences, case, limits, interval)
    if promise == "dense":
        estimate = estimate_dense(differences, case, limits, inverted, interval)
    elif promise == "t":
        estimate = estimate_as_named(differences, case, limits, replace(interval, method="t"))
    else:
        estimate = bounds
    if choices.test != "wilcoxon":
        is_significant = bool(tests.p_corrected[at] < choices.alpha)
        estimate = agree(estimate, is_significant=is_significant)
    deviation, units = find_deviation(differences, case.clusters)
    difference, baseline_mean = estimate.value, average(theirs)
    margin, direction = choices.margin, case.measure.direction
    sign = SIGNS[direction]
    below, above = math.nan, math.nan
    if margin is not None:
        below, above = find_tails(promise, differences, case, inverted, margin)
    counts = int((differences > 0).sum()), int((differences < 0).sum())
    wins, losses = counts[::-1] if sign < 0 else counts
    return Compared(
        measure=case.measure.name,
        direction=direction,
        baseline=runs[pair[0]],
        run=runs[pair[1]],
        slice=case.slice,
        n=len(differences),
        clusters=case.cluster_count,
        baseline_mean=baseline_mean,
        run_mean=average(ours),
        difference=difference,
        relative=difference / baseline_mean if baseline_mean else math.nan,
        lower=estimate.lower,
        upper=estimate.upper,
        level=choices.interval.level,
        interval_method=estimate.method,
        interval_note=estimate.reason,
        bounded_lower=bounds.lower,
        bounded_upper=bounds.upper,
        test=choices.test if promise != "bounded" else "bounded",
        statistic=float(tests.statistic[at]),
        p=float(tests.p[at]),
        smallest_p=float(tests.smallest_p[at]),
        correction=choices.correction,
        p_corrected=float(tests.p_corrected[at]),
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
        has_large=bool((abs(differences) >= LARGE * (limits[1] or math.inf)).any()),
        minimum_detectable=_detectable(deviation, units, choices.alpha, limits[1]),
        queries_needed=_need(difference, deviation, choices.alpha),
        margin=margin,
        p_not_worse=None if margin is None else {1: below, -1: above}.get(sign, math.nan),
        p_equivalent=None if margin is None else max(below, above),
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
    found = minimum_detectable((deviation,), units, level=alpha, power=POWER)
    return found if highest is None or found <= highest else math.nan


def warn(tests: TestedPairs, cases: Sequence[Cases]) -> tuple[str, ...]:
    """Return what the test can't say, and how many queries some run has no value of."""
    missing = {
        case.measure.name: case.measure.values.shape[1] - len(case.chosen)
        for case in cases
        if case.slice is None
    }
    left_out = [
        f"Queries left out of {name}, because a run has no value for them: {count}."
        for name, count in missing.items()
        if count
    ]
    return (*tests.tested.warnings, *left_out)
