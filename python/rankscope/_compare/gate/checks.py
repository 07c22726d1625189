"""Checks budgets against the values of queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._compare.gate.budget import (
    BROKEN,
    HOLDS,
    INCONCLUSIVE,
    UNCHANGED,
    Budget,
    OnInconclusive,
    Verdict,
    decide,
)
from rankscope._compare.gate.result import Check
from rankscope._compare.pairs import POWER
from rankscope._compare.promise import (
    CLOSE,
    Cases,
    Limits,
    MeasureValues,
    Numbers,
    are_same,
    choose_cases,
    estimate_as_named,
    estimate_dense,
    find_deviation,
    find_squares,
    make_family,
)
from rankscope._core import bounded_units_needed
from rankscope._evaluate.query_values import Groups
from rankscope._settings import Interval
from rankscope._show.diagnostics import Estimate
from rankscope._stats.paired import invert_pairs
from rankscope._stats.power import estimate_mean, queries_needed
from rankscope._stats.sums import count_needed, estimate_quantile, find_design_effect
from rankscope.measures import Measure
from rankscope.measures.spec import SIGNS

Plan: TypeAlias = dict[str, int | None]
CompareLists: TypeAlias = Callable[[NDArray[np.int64]], bool]
Limited: TypeAlias = tuple[dict[str, Any], Callable[[], Plan]]


ENDS = ("value", "lower", "upper")
ALIKE = "these queries don't differ, which doesn't tell how far others do."
"""Why a measure without limits has no interval then."""
MOST_TIMES = 1000
"""No number of queries is said for a distance so many times below the standard deviation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What holds for all budgets that don't say otherwise."""

    interval: Interval = field(default_factory=Interval)
    on_inconclusive: OnInconclusive = "fail"
    threads: int | None = None
    has_same_lists: CompareLists = lambda _: False

    def is_unchanged(self, cases: Cases) -> bool:
        """Whether all queries have the same values and the same lists under both runs."""
        return bool(are_same(*cases.values).all()) and self.has_same_lists(cases.chosen)

    def passes(self, budget: Budget, verdict: Verdict) -> bool:
        """Whether a budget with this verdict lets the candidate pass."""
        if verdict == INCONCLUSIVE:
            return (budget.on_inconclusive or self.on_inconclusive) == "pass"
        return verdict != BROKEN


def check_budget(
    budget: Budget,
    measure: MeasureValues,
    *,
    groups: Groups | None = None,
    clusters: Groups | None = None,
    weights: Numbers | None = None,
    settings: Settings = Settings(),
) -> list[Check]:
    """Check a budget over all queries; with slices in each of them, the largest first."""
    whole, *slices = choose_cases(
        measure, groups, clusters, weights, runs="both runs", code="no_queries"
    )
    chosen = [whole] if groups is None else slices
    settings = replace(settings, interval=_correct(settings.interval, budget, len(chosen)))
    limit = _limit_loss if budget.kind == "max-loss" else _limit_mean
    checks = []
    for cases in chosen:
        limited, plan = limit(budget, cases, settings, len(slices))
        is_open = limited["verdict"] != HOLDS and budget.kind != "min"
        if is_open and settings.is_unchanged(cases):
            limited |= _keep(cases, settings)
        verdict = limited["verdict"]
        if verdict == INCONCLUSIVE:
            limited |= plan()
        baseline, candidate = cases.values
        checks.append(
            Check(
                budget=budget,
                measure=measure.name,
                by="" if groups is None else groups[0],
                slice=cases.slice,
                n=len(candidate),
                clusters=cases.cluster_count,
                baseline_mean=cases.average(baseline),
                candidate_mean=cases.average(candidate),
                level=settings.interval.level,
                corrected_for=len(chosen),
                passed=settings.passes(budget, verdict),
                **limited,
            )
        )
    return checks


def check_tolerance(
    budget: Budget, measure: Measure, values: Sequence[float], n: int, settings: Settings
) -> Check:
    """Check how much worse the candidate's value of all lists is than the baseline's.

    There is one number a run, so there is no interval. What rounding could make decides nothing.
    """
    baseline, candidate = values
    limit = budget.limit * (abs(baseline) if budget.is_relative else 1.0)
    sign, difference = SIGNS[measure.better], candidate - baseline
    rounding = CLOSE * max(abs(baseline), abs(candidate), limit)
    # Without an interval, both ends are the difference: NaN where a value isn't defined.
    verdict = decide(sign * difference, sign * difference, -limit - rounding)
    return Check(
        budget=budget,
        measure=measure.name,
        n=n,
        baseline_mean=baseline,
        candidate_mean=candidate,
        value=difference,
        threshold=-sign * limit or 0.0,
        verdict=verdict,
        passed=settings.passes(budget, verdict),
        note="It is one number of all lists together: there are no values of queries to resample.",
    )


def _correct(interval: Interval, budget: Budget, slices: int) -> Interval:
    """Return the interval of a budget at the level that is corrected for its slices.

    If each of m intervals misses with a probability of at most (1 - level) / m, any of them misses
    with at most 1 - level, however they depend on each other (Bonferroni). Beyond each end lie 50
    resamples, if that takes at most 99,999.
    """
    level = interval.level if budget.confidence is None else budget.confidence
    outside = (1 - level) / slices
    resamples = max(interval.resamples, min(math.ceil(50 / (outside / 2)), 99_999))
    return replace(interval, level=level if slices == 1 else 1 - outside, resamples=resamples)


def _limit_mean(budget: Budget, cases: Cases, settings: Settings, slices: int) -> Limited:
    """Estimate the mean of the candidate, or its difference from the baseline.

    The budget of a relative drop r depends on the baseline's mean, which is uncertain, too. The
    interval is therefore that of the mean of candidate − (1 − r) · baseline, which must not be
    below 0. It is moved to the scale of the difference.
    """
    baseline, candidate = cases.values
    kept, threshold, moved = 1.0, -budget.limit, 0.0
    if budget.kind == "min":
        kept, threshold = 0.0, budget.limit
    elif budget.is_relative:
        kept = 1 - budget.limit
        moved = budget.limit * cases.average(baseline)
        threshold = -moved
    cases = replace(cases, values=np.stack([kept * baseline, candidate]))
    changes = candidate - baseline if kept else candidate
    are_alike = bool(are_same(changes, changes[:1]).all())
    limits = _find_limits(cases.measure, kept)
    estimate = _estimate(cases, limits, settings, slices, are_alike=are_alike)
    as_good = (1 - kept) * cases.average(baseline)
    bounded = limits if estimate.method == "bounded" else None
    note = estimate.reason and (ALIKE if are_alike else estimate.reason)
    limited: dict[str, Any] = {name: getattr(estimate, name) - moved for name in ENDS}
    limited |= {"threshold": threshold, "interval_method": estimate.method, "note": note}
    limited["verdict"] = decide(limited["lower"], limited["upper"], threshold)
    return limited, lambda: _plan(cases, settings, threshold + moved, as_good, bounded)


def _find_limits(measure: MeasureValues, kept: float) -> Limits:
    """Return the range of candidate − kept · baseline."""
    low = -math.inf if measure.low is None else measure.low
    high = math.inf if measure.high is None else measure.high
    lower, upper = low - (kept and kept * high), high - (kept and kept * low)
    return lower if math.isfinite(lower) else None, upper if math.isfinite(upper) else None


def _estimate(
    cases: Cases, limits: Limits, settings: Settings, slices: int, *, are_alike: bool
) -> Estimate:
    """Return the mean difference of two rows: by default with a bounded interval."""
    interval, values = settings.interval, cases.values[1] - cases.values[0]
    if are_alike:  # without a variance, only a bounded interval has a width
        interval = replace(interval, method="bounded")
    elif interval.method == "auto":
        interval = replace(interval, method="dense" if None in limits else "bounded")
    if interval.method != "dense":
        return estimate_as_named(values, cases, limits, interval, settings.threads)
    [inverted] = invert_pairs(
        [make_family(cases, [(0, 1)])],
        level=interval.level,
        seed=interval.seed,
        slices=slices,
        threads=settings.threads,
    )
    return estimate_dense(values, cases, limits, inverted, interval)


def _plan(
    cases: Cases, settings: Settings, limit: float, as_good: float, limits: Limits | None
) -> Plan:
    """Return how many queries hold a budget if the candidate is as good as the baseline.

    The number is between two others, which belong to the ends of an interval of the variance: few
    queries hardly show how much others vary. The mean that was found decides nothing here: where a
    check is inconclusive, its distance from the limit is mostly noise, and so would be the number.
    """
    values, level = cases.values[1] - cases.values[0], settings.interval.level
    deviation, distance = find_deviation(values, cases), as_good - limit

    def need(times: float) -> int | None:
        # A smaller distance needs about eight million queries.
        if not distance > times * deviation / MOST_TIMES or (limits is None and not deviation > 0):
            return None
        units: int | None
        if limits is None:
            spread = deviation * max(times, 1 / MOST_TIMES)
            units = queries_needed(distance, (spread,), level=1 - level, power=POWER)
        else:
            column = np.ascontiguousarray(values, dtype=np.float64)
            low, high = (math.inf if end is None else end for end in limits)
            data, ends = (column, cases.weights, cases.clusters), (low, high)
            units = bounded_units_needed(*data, ends, limit, as_good, times, level, POWER)
        return None if units is None else math.ceil(units * len(values) / cases.units)

    fewest, most = map(need, _vary(values, cases, settings.interval, as_good, limits))
    return {
        "queries_needed": need(1.0),
        "queries_needed_lower": fewest,
        "queries_needed_upper": most,
    }


def _vary(
    values: Numbers, cases: Cases, interval: Interval, as_good: float, limits: Limits | None
) -> tuple[float, float]:
    """Return how many times as much as these, at least and at most, all queries may vary.

    They are the ends of an interval of the mean of squared residuals, of the same kind as the
    interval of the mean: a bounded one allows for a query that isn't among these and is as far off
    as there can be. NaN if there is none.
    """
    squares, sizes = find_squares(values, cases)
    mean = float(squares.mean())
    if not mean > 0:
        return math.nan, math.nan
    low, high = limits or (None, None)
    furthest = None
    if low is not None and high is not None:
        unseen = float((sizes**2).sum() / sizes.sum())
        furthest = (unseen * max(as_good - low, high - as_good)) ** 2
        furthest = max(furthest, float(squares.max()))
    interval = replace(interval, method="dense" if furthest is None else "bounded")
    square = estimate_mean(squares, interval=interval, low=0.0, high=furthest, threads=1)
    return math.sqrt(square.lower / mean), math.sqrt(square.upper / mean)


def _limit_loss(budget: Budget, cases: Cases, settings: Settings, _: int) -> Limited:
    """Estimate the quantile of the losses of queries."""
    baseline, candidate = cases.values
    losses, level = baseline - candidate, settings.interval.level
    low, high = cases.measure.range_of_difference
    limits = {} if low is None or high is None else {"low": low, "high": high}
    quantile = estimate_quantile(
        losses, budget.quantile, level=level, clusters=cases.clusters, **limits
    )

    def plan() -> Plan:
        # Half of the queries that may lose more do.
        few = (1 - budget.quantile) / 2
        needed = count_needed(few, budget.quantile, level=level, power=POWER)
        if needed is not None and cases.clusters is not None:
            needed = math.ceil(needed * find_design_effect(losses > budget.limit, cases.clusters))
        return {"queries_needed": needed}

    limited: dict[str, Any] = {name: getattr(quantile, name) for name in ENDS}
    limited |= {"threshold": budget.limit, "interval_method": "order statistics"}
    limited["verdict"] = decide(-quantile.upper, -quantile.lower, -budget.limit)
    return limited, plan


def _keep(cases: Cases, settings: Settings) -> dict[str, Any]:
    """Return that nothing changed, and what other queries could still change.

    A pipeline in which no list changed has to pass. No interval says that the budget holds: the
    queries that weren't sampled could differ.
    """
    bounds = estimate_as_named(
        cases.values[1] - cases.values[0],
        cases,
        cases.measure.range_of_difference,
        replace(settings.interval, method="bounded"),
        settings.threads,
    )
    note = "Both runs rank the same documents in the same order for every query."
    if not math.isnan(bounds.lower):
        note += f" Other queries could still lower the mean by up to {-bounds.lower:.4f} (bounded)."
    unchanged = {"verdict": UNCHANGED, "interval_method": "identical", "note": note}
    return unchanged | dict.fromkeys(ENDS, 0.0)
