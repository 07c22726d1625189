"""Checks budgets against the values of queries."""

from __future__ import annotations

import math

from rankscope._compare.cases import (
    CLOSE,
    Cases,
    are_same,
    choose_cases,
    find_deviation,
    find_squares,
    make_family,
)
from rankscope._compare.gate.result import BROKEN, HOLDS, INCONCLUSIVE, UNCHANGED, Check, decide
from rankscope._compare.pairs import POWER
from rankscope._compare.promise import estimate_as_named, estimate_dense
from rankscope._core import bounded_units_needed
from rankscope.deferred import np
from rankscope.measures.direction import SIGNS
from rankscope.records import as_dict, record, replace
from rankscope.settings.interval import Interval
from rankscope.stats.estimate.interval import estimate_mean
from rankscope.stats.estimate.power import queries_needed
from rankscope.stats.quantiles import count_needed, estimate_quantile, find_design_effect
from rankscope.stats.test.paired import invert_pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope._compare.cases import MeasureValues
    from rankscope._compare.gate.result import Budget, OnInconclusive
    from rankscope._evaluate.query_values import Groups
    from rankscope.measures import Measure
    from rankscope.output.estimate import Estimate

    Numbers: TypeAlias = NDArray[np.float64]

    Plan: TypeAlias = tuple[int | None, int | None, int | None]
    CompareLists: TypeAlias = Callable[[NDArray[np.int64]], bool]

TAIL_RESAMPLES = 50
"""How many bootstrap resamples must lie beyond each end of an interval."""
MOST_RESAMPLES = 99_999
IDENTICAL = "identical"
"""The method of an interval where nothing changed."""
MOST_TIMES = 1000
"""How many times smaller than the standard deviation a distance can be to say how many queries it
needs."""
ALIKE = "these queries don't differ, which doesn't tell how far others do."
"""Why a measure without limits has no interval then."""
NO_INTERVAL = (
    "It is one number of all lists together: there are no values of queries to resample, so it has "
    "no interval."
)
"""Why a measure of all lists has no interval."""
FEW_LOSE = 0.5
"""A quantile of losses is planned for so many of the queries that may lose more."""


@record(frozen=True, slots=True, kw_only=True)
class Settings:
    """What holds for all budgets that don't say otherwise.

    Args:
        interval: The level and the method of intervals.
        on_inconclusive: Whether an inconclusive budget fails or passes.
        threads: The number of threads, or `None` for all cores.
        has_same_lists: Whether both runs have the same lists for the queries at these places, or
            `None` if that isn't known.
    """

    interval: Interval = Interval()
    on_inconclusive: OnInconclusive = "fail"
    threads: int | None = None
    has_same_lists: CompareLists | None = None


@record(frozen=True, slots=True, kw_only=True)
class _Sample:
    """The queries of one check.

    Args:
        cases: Their values: those of the baseline and of the candidate.
        baseline: The values of the baseline.
        candidate: The values of the candidate, of the same queries.
        interval: The settings of the interval, with the corrected level.
        slices: The number of slices of the budget.
        threads: The number of threads.
        has_same_lists: As in `Settings`.
    """

    cases: Cases
    baseline: Numbers
    candidate: Numbers
    interval: Interval
    slices: int
    threads: int | None
    has_same_lists: CompareLists | None


@record(frozen=True, slots=True, kw_only=True)
class Limited:
    """A value that a budget limits, with its interval.

    Args:
        value: The value.
        lower: The lower end of its interval.
        upper: The upper end.
        level: The confidence level.
        threshold: What the budget compares it with.
        interval_method: How the interval was made.
        note: Why there is no interval, or what to know about it.
        needed: The number of queries that would decide, and its range.
    """

    value: float
    lower: float
    upper: float
    level: float
    threshold: float
    interval_method: str
    note: str = ""
    needed: Plan = (None, None, None)


def check_budgets(
    budgets: Sequence[tuple[Budget, MeasureValues]],
    *,
    groups: Mapping[tuple[str, ...], Groups],
    clusters: Groups | None = None,
    settings: Settings = Settings(),  # noqa: B008 - a record that can't be changed
) -> tuple[Check, ...]:
    """Check each budget, in order; one with slices in each slice, the largest first."""
    return tuple(
        check
        for budget, measure in budgets
        for check in _check(budget, measure, groups.get(budget.attributes), clusters, settings)
    )


def _check(
    budget: Budget,
    measure: MeasureValues,
    groups: Groups | None,
    clusters: Groups | None,
    settings: Settings,
) -> Iterator[Check]:
    whole, *slices = choose_cases(measure, groups, clusters, runs="both runs", code="no_queries")
    chosen = [whole] if groups is None else slices
    interval = _correct(settings.interval, budget, len(chosen))
    for cases in chosen:
        sample = _Sample(
            cases=cases,
            baseline=cases.values[0],
            candidate=cases.values[1],
            interval=interval,
            slices=len(slices),
            threads=settings.threads,
            has_same_lists=settings.has_same_lists,
        )
        yield conclude(
            budget,
            _estimate_loss(budget, sample)
            if budget.kind == "max-loss"
            else _estimate(budget, sample),
            measure=measure.name,
            by="" if groups is None else groups[0],
            slice=cases.slice,
            n=len(sample.candidate),
            clusters=cases.cluster_count,
            means=(float(sample.baseline.mean()), float(sample.candidate.mean())),
            corrected_for=len(chosen),
            on_inconclusive=budget.on_inconclusive or settings.on_inconclusive,
        )


def check_tolerance(
    budget: Budget, measure: Measure, values: Sequence[float], n: int, settings: Settings
) -> Check:
    """Check how much worse the candidate's value of all lists is than the baseline's.

    There is one number a run, so there is no interval. What rounding could make decides nothing.
    """
    baseline, candidate = values
    limit = budget.limit * (abs(baseline) if budget.is_relative else 1.0)
    sign = SIGNS[measure.better]
    difference = candidate - baseline
    verdict = INCONCLUSIVE  # NaN: a value isn't defined
    if not math.isnan(difference):
        rounding = CLOSE * max(abs(baseline), abs(candidate), limit)
        verdict = HOLDS if sign * difference >= -limit - rounding else BROKEN
    on_inconclusive = budget.on_inconclusive or settings.on_inconclusive
    return Check(
        budget=budget,
        measure=measure.name,
        by="",
        slice=None,
        n=n,
        clusters=None,
        baseline_mean=baseline,
        candidate_mean=candidate,
        value=difference,
        lower=math.nan,
        upper=math.nan,
        level=math.nan,
        corrected_for=1,
        interval_method="",
        threshold=-sign * limit or 0.0,
        verdict=verdict,
        passed=verdict == HOLDS or (verdict == INCONCLUSIVE and on_inconclusive == "pass"),
        queries_needed=None,
        note=NO_INTERVAL,
    )


def conclude(
    budget: Budget,
    limited: Limited,
    *,
    measure: str,
    n: int,
    clusters: int | None,
    means: tuple[float, float],
    on_inconclusive: OnInconclusive,
    by: str = "",
    slice: str | None = None,  # noqa: A002 - the field
    corrected_for: int = 1,
) -> Check:
    """Return the check of a budget, given the limited value and its interval."""
    if limited.interval_method == IDENTICAL:
        verdict = UNCHANGED
    elif budget.kind == "max-loss":
        verdict = decide(-limited.upper, -limited.lower, -limited.threshold)
    else:
        verdict = decide(limited.lower, limited.upper, limited.threshold)
    is_open = verdict == INCONCLUSIVE
    fields = as_dict(limited)
    plan = fields.pop("needed")
    fewest, needed, most = plan if is_open else (None, None, None)
    return Check(
        budget=budget,
        measure=measure,
        by=by,
        slice=slice,
        n=n,
        clusters=clusters,
        baseline_mean=means[0],
        candidate_mean=means[1],
        **fields,
        corrected_for=corrected_for,
        verdict=verdict,
        passed=verdict in {HOLDS, UNCHANGED} or (is_open and on_inconclusive == "pass"),
        queries_needed=needed,
        queries_needed_lower=fewest,
        queries_needed_upper=most,
    )


def _correct(interval: Interval, budget: Budget, slices: int) -> Interval:
    """Return the interval of a budget at the level that is corrected for its slices.

    If each of m intervals misses with a probability of at most (1 - level) / m, any of them misses
    with at most 1 - level, however they depend on each other (Bonferroni).
    """
    level = interval.level if budget.confidence is None else budget.confidence
    outside = (1 - level) / slices
    needed = math.ceil(TAIL_RESAMPLES / (outside / 2))
    return replace(
        interval,
        level=level if slices == 1 else 1 - outside,
        resamples=max(interval.resamples, min(needed, MOST_RESAMPLES)),
    )


def _estimate(budget: Budget, sample: _Sample) -> Limited:
    """Estimate the mean of the candidate, or its difference from the baseline.

    The budget of a relative drop r depends on the baseline's mean, which is uncertain, too. The
    interval is therefore that of the mean of candidate − (1 − r) · baseline, which must not be
    below 0. It is moved to the scale of the difference.
    """
    measure = sample.cases.measure
    kept, threshold, moved = 1.0, -budget.limit, 0.0
    if budget.kind == "min":
        kept, threshold = 0.0, budget.limit
    elif budget.is_relative:
        kept = 1 - budget.limit
        moved = budget.limit * float(sample.baseline.mean())
        threshold = -moved
    values = sample.candidate - kept * sample.baseline if kept else sample.candidate
    limits = (
        _combine(measure.low, measure.high, kept),
        _combine(measure.high, measure.low, kept),
    )
    estimate = _find_interval(sample, kept, limits)
    lower, upper = estimate.lower - moved, estimate.upper - moved
    if kept and not lower >= threshold and _is_unchanged(sample):
        return _keep(sample, threshold)
    needed: Plan = (None, None, None)
    if decide(lower, upper, threshold) == INCONCLUSIVE:
        needed = _plan(
            sample,
            values,
            limit=threshold + moved,
            as_good=(1 - kept) * float(sample.baseline.mean()),
            limits=limits if estimate.method == "bounded" else None,
        )
    return Limited(
        value=estimate.value - moved,
        lower=lower,
        upper=upper,
        level=sample.interval.level,
        threshold=threshold,
        interval_method=estimate.method,
        note=estimate.reason,
        needed=needed,
    )


def _find_interval(
    sample: _Sample, kept: float, limits: tuple[float | None, float | None]
) -> Estimate:
    """Return the mean of candidate − kept · baseline: by default with a bounded interval."""
    interval, rows = sample.interval, np.stack([kept * sample.baseline, sample.candidate])
    values = rows[1] - rows[0]
    if interval.method == "auto":
        interval = replace(interval, method="dense" if None in limits else "bounded")
    changes = sample.candidate - sample.baseline if kept else values
    if are_same(changes, changes[:1]).all():
        # Without a variance, only a bounded interval has a width.
        bounded = replace(interval, method="bounded")
        estimate = estimate_as_named(values, sample.cases, limits, bounded, sample.threads)
        return replace(estimate, reason=estimate.reason and ALIKE)
    if interval.method != "dense":
        return estimate_as_named(values, sample.cases, limits, interval, sample.threads)
    cases = replace(sample.cases, values=rows)
    [inverted] = invert_pairs(
        [make_family(cases, [(0, 1)])],
        level=interval.level,
        seed=interval.seed,
        slices=sample.slices,
        threads=sample.threads,
    )
    return estimate_dense(values, cases, limits, inverted, interval)


def _plan(
    sample: _Sample,
    values: Numbers,
    *,
    limit: float,
    as_good: float,
    limits: tuple[float | None, float | None] | None,
) -> Plan:
    """Return how many queries hold a budget if the candidate is as good as the baseline.

    The number is between two others, which belong to the ends of an interval of the variance: few
    queries hardly show how much others vary. The mean that was found decides nothing here: where a
    check is inconclusive, its distance from the limit is mostly noise, and so would be the number.
    """
    level, clusters = sample.interval.level, sample.cases.clusters
    deviation, units = find_deviation(values, clusters)
    distance = as_good - limit

    def need(times: float) -> int | None:
        # A smaller distance needs about eight million queries.
        if not distance > times * deviation / MOST_TIMES or (limits is None and not deviation > 0):
            return None
        if limits is None:
            spread = deviation * max(times, 1 / MOST_TIMES)
            queries = queries_needed(distance, (spread,), level=1 - level, power=POWER)
        else:
            column = np.ascontiguousarray(values, dtype=np.float64)
            low, high = (math.inf if each is None else each for each in limits)
            planned = bounded_units_needed(
                column, clusters, (low, high), limit, as_good, times, level, POWER
            )
            if planned is None:
                return None
            queries = planned
        return math.ceil(queries * len(values) / units)

    fewest, most = map(need, _vary(sample, values, as_good, limits))
    return fewest, need(1.0), most


def _vary(
    sample: _Sample,
    values: Numbers,
    as_good: float,
    limits: tuple[float | None, float | None] | None,
) -> tuple[float, float]:
    """Return how many times as much as these, at least and at most, all queries may vary.

    They are the ends of an interval of the mean of squared residuals, of the same kind as the
    interval of the mean: a bounded one allows for a query that isn't among these and is as far off
    as there can be. NaN if there is none.
    """
    squares, sizes = find_squares(values, sample.cases.clusters)
    mean = float(squares.mean())
    if not mean > 0:
        return math.nan, math.nan
    low, high = limits or (None, None)
    furthest = None
    if low is not None and high is not None:
        unseen = float((sizes**2).sum() / sizes.sum())
        furthest = (unseen * max(as_good - low, high - as_good)) ** 2
        furthest = max(furthest, float(squares.max()))
    interval = replace(sample.interval, method="dense" if furthest is None else "bounded")
    square = estimate_mean(squares, interval=interval, low=0.0, high=furthest, threads=1)
    return math.sqrt(square.lower / mean), math.sqrt(square.upper / mean)


def _combine(own: float | None, others: float | None, kept: float) -> float | None:
    """Return an end of the range of candidate − kept · baseline."""
    if own is None or (kept and others is None):
        return None
    end = own - kept * others if kept else own  # type: ignore[operator]  # see above
    return end if math.isfinite(end) else None


def _estimate_loss(budget: Budget, sample: _Sample) -> Limited:
    """Estimate the quantile of the losses of queries."""
    losses = sample.baseline - sample.candidate
    low, high = sample.cases.measure.range_of_difference
    level = sample.interval.level
    quantile = estimate_quantile(
        losses,
        budget.quantile,
        level=level,
        low=-math.inf if low is None else low,
        high=math.inf if high is None else high,
        clusters=sample.cases.clusters,
    )
    if not quantile.upper <= budget.limit and _is_unchanged(sample):
        return _keep(sample, budget.limit)
    is_above = losses > budget.limit
    few = FEW_LOSE * (1 - budget.quantile)
    needed = count_needed(few, budget.quantile, level=level, power=POWER)
    if needed is not None and sample.cases.clusters is not None:
        needed = math.ceil(needed * find_design_effect(is_above, sample.cases.clusters))
    return Limited(
        value=quantile.value,
        lower=quantile.lower,
        upper=quantile.upper,
        level=level,
        threshold=budget.limit,
        interval_method="order statistics",
        needed=(None, needed, None),
    )


def _is_unchanged(sample: _Sample) -> bool:
    """Return whether every query has the same list and the same value under both runs."""
    return (
        sample.has_same_lists is not None
        and bool(are_same(sample.candidate, sample.baseline).all())
        and sample.has_same_lists(sample.cases.chosen)
    )


def _keep(sample: _Sample, threshold: float) -> Limited:
    """Return that nothing changed, and what other queries could still change.

    A pipeline in which no list changed has to pass. No interval says that the budget holds: the
    queries that weren't sampled could differ.
    """
    limits, interval = sample.cases.measure.range_of_difference, sample.interval
    bounds = estimate_as_named(
        sample.candidate - sample.baseline,
        sample.cases,
        limits,
        replace(interval, method="bounded"),
        sample.threads,
    )
    note = "Both runs rank the same documents in the same order for every query."
    if not math.isnan(bounds.lower):
        note += f" Other queries could still lower the mean by up to {-bounds.lower:.4f} (bounded)."
    return Limited(
        value=0.0,
        lower=0.0,
        upper=0.0,
        level=interval.level,
        threshold=threshold,
        interval_method=IDENTICAL,
        note=note,
    )
