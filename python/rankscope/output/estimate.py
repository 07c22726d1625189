"""Estimates: aggregates with their confidence intervals, and sentences about the intervals."""

from __future__ import annotations

import math

from rankscope.records import record
from rankscope.settings.interval import METHODS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Row: TypeAlias = tuple[tuple[float, float, float], tuple[str, str], tuple[int, int, float]]


REASONS = {
    "undefined": "there is no value",
    "single": "a t interval needs 2 or more {units}, found {count}",
    "few": "a dense interval needs 6 or more queries (at 95%), or 20 or more clusters; found "
    "{count} {units}",
    "few_drawn": "the bootstrap needs 20 or more {units}, found {count}",
    "few_degrees": "a t interval needs 4 or more effective degrees of freedom; the {count} {units} "
    "are too few, or too unequal in size",
    "equal": "all {count} {units} have the same value, so that resamples of them show nothing",
    "unbounded": "a bounded interval needs a mean of values with limits",
}
"""Why there is no interval, by the name that the core has for it."""


@record(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean or another aggregate with its confidence interval.

    Args:
        value: The aggregate; NaN without values.
        lower: The lower end of the interval; NaN if there is no interval.
        upper: The upper end of the interval; NaN if there is no interval.
        level: The confidence level.
        method: The method that was used, one of: `"dense"`, `"bounded"`, `"t"`,
            `"percentile"`; empty if there is no interval.
        n: The number of values.
        clusters: The number of clusters, which are the units of sampling; `None` if each value is
            one.
        effective: The effective sample size of the weights (Kish, *Survey Sampling*, 1965): the
            square of their sum, divided by the sum of their squares. It is `n` without weights.
        reason: Why there is no interval; empty if there is one.
    """

    value: float
    lower: float
    upper: float
    level: float
    method: str
    n: int
    clusters: int | None
    effective: float
    reason: str

    @property
    def ends(self) -> tuple[float, float]:
        """The lower and the upper end of the interval."""
        return self.lower, self.upper


def estimate_run(value: float, level: float, lists: int) -> Estimate:
    """Return the estimate of a measure of all lists together, which has no interval."""
    return Estimate(
        value=value,
        lower=math.nan,
        upper=math.nan,
        level=level,
        method="",
        n=lists,
        clusters=None,
        effective=lists,
        reason="it is one value of all lists, and resampled users show fewer different items",
    )


def read_estimate(row: Row, level: float, *, is_clustered: bool) -> Estimate:
    """Return the estimate that the core computed."""
    (value, lower, upper), (method, reason), (count, units, effective) = row
    kind = "clusters" if is_clustered else "queries"
    return Estimate(
        value=value,
        lower=lower,
        upper=upper,
        level=level,
        method=method,
        n=count,
        clusters=units if is_clustered else None,
        effective=effective,
        reason=REASONS[reason].format(units=kind, count=units) if reason else "",
    )


LEAST_EFFECTIVE = 0.8
"""Weights are noted if the effective sample size is a smaller share of the queries."""


def describe_intervals(estimates: Mapping[str, Estimate]) -> list[str]:
    """Return a line with the level, the method and the clusters, and a line for each limitation."""
    if not estimates:
        return []
    methods: dict[str, list[str]] = {}
    reasons: dict[str, list[str]] = {}
    for name, estimate in estimates.items():
        if estimate.reason:
            reasons.setdefault(estimate.reason, []).append(name)
        else:
            methods.setdefault(METHODS[estimate.method], []).append(name)
    level = next(iter(estimates.values())).level
    is_one = len(methods) == 1 and not reasons
    told = [
        method if is_one else f"{method} ({', '.join(names)})" for method, names in methods.items()
    ]
    lines = [
        *([f"intervals: {100 * level:g}%, {'; '.join(told)}{_over(estimates)}"] if told else []),
        *(f"no interval of {', '.join(names)}: {reason}" for reason, names in reasons.items()),
    ]
    return [*lines, *_note_weights(estimates)]


def _over(estimates: Mapping[str, Estimate]) -> str:
    """Return how many clusters there are, if queries are clustered."""
    counts = {each.clusters for each in estimates.values() if each.clusters is not None}
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    if low == high:
        return f", over {low:,} cluster{'s' * (low != 1)}"
    return f", over {low:,} to {high:,} clusters"


def _note_weights(estimates: Mapping[str, Estimate]) -> list[str]:
    """Return a line if a few queries have most of the weight."""
    heavy = [each for each in estimates.values() if each.effective < LEAST_EFFECTIVE * each.n]
    if not heavy:
        return []
    worst = min(heavy, key=lambda each: each.effective / each.n)
    alike = f"{worst.effective:,.1f} with equal weights"
    return [f"weights: {worst.n:,} weighted queries count as much as {alike}"]
