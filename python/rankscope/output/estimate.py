"""Estimates: a mean or another aggregate with its confidence interval."""

from __future__ import annotations

import math

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Row: TypeAlias = tuple[tuple[float, float, float], tuple[str, str], tuple[int, int, float]]

REASONS = {
    "undefined": "there is no value",
    "single": "a t interval needs 2 or more {units}, found {count}",
    "few": "with fewer than 6 {units}, a permutation test excludes nothing; found {count}",
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
        method: The method that was used, one of: `"dense"`, `"bounded"`, `"t"`, `"bca"`; empty if
            there is no interval.
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
