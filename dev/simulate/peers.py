"""The rules that rankscope is compared with: dashboards, CUSUM, and a mixture SPRT."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankscope.stats.sequential.observations import Observations

# One-sided, 5 percent.
QUANTILE = 1.6448536269514722
WEEK = 7
# With an allowance of half a standard deviation, this limit gives one false alarm in 1,800 days if
# days are independent and normal (the approximation of Siegmund, 1985).
CUSUM_LIMIT = 5.64
LOG_RUN_LENGTH = math.log(1800)
NAMES = (
    "z-test every day, one-sided 5%",
    "2 sigma of daily means",
    "z-test of 7 days, every day",
    "CUSUM of daily means, for falls of 1 sigma",
    "mixture SPRT against the tolerance, restarted",
)


@dataclass(slots=True)
class Peers:
    """The rules, with what they know of the baseline.

    Args:
        mean: The mean of the baseline.
        deviation: The standard deviation of its values.
        size: Their number.
        daily: The standard deviation of its daily means.
        tolerance: The tolerance of the mixture SPRT.
    """

    mean: float
    deviation: float
    size: int
    daily: float
    tolerance: float
    cusum: float = 0.0
    total: float = 0.0
    information: float = 0.0
    week: list[np.ndarray] = field(default_factory=list)

    def take(self, seen: Observations) -> list[str]:
        """Take the searches of the next day, and return the rules that alarm."""
        value = seen.value
        found = []
        self.week = [*self.week, value][-WEEK:]
        if self._falls([value]):
            found.append(NAMES[0])
        if value.mean() < self.mean - 2 * self.daily:
            found.append(NAMES[1])
        if self._falls(self.week):
            found.append(NAMES[2])
        # CUSUM with half a standard deviation of daily means as allowance.
        self.cusum = max(0.0, self.cusum + (self.mean - value.mean()) / self.daily - 0.5)
        if self.cusum > CUSUM_LIMIT:
            found.append(NAMES[3])
            self.cusum = 0.0
        if self._mixture(value):
            found.append(NAMES[4])
        return found

    def copy(self) -> Peers:
        """Return another that goes on from the same day."""
        return Peers(
            self.mean,
            self.deviation,
            self.size,
            self.daily,
            self.tolerance,
            self.cusum,
            self.total,
            self.information,
            list(self.week),
        )

    def _falls(self, days: list[np.ndarray]) -> bool:
        window = np.concatenate(days)
        error = math.sqrt(self.deviation**2 / self.size + window.var() / len(window))
        return bool((window.mean() - self.mean) / error < -QUANTILE)

    def _mixture(self, value: np.ndarray) -> bool:
        """Take a day; the prior of the fall has half the mass of a normal distribution."""
        scale = 0.05 / self.deviation
        total = self.total + ((self.mean - self.tolerance - value) / self.deviation).sum()
        information = self.information + len(value)
        spread = 1 + information * scale**2
        log_ratio = total**2 * scale**2 / (2 * spread) - math.log(spread) / 2
        if total < 0:
            # Nothing speaks for a fall: it starts again, as a CUSUM does.
            self.total = self.information = 0.0
            return False
        self.total, self.information = total, information
        return bool(log_ratio > LOG_RUN_LENGTH)


def fit_peers(baseline: Observations, tolerance: float, days: int) -> Peers:
    """Return the rules, given a baseline of some days."""
    value = baseline.value.reshape(days, -1) if len(baseline.value) % days == 0 else None
    daily = value.mean(axis=1).std(ddof=1) if value is not None else math.nan
    return Peers(
        float(baseline.value.mean()),
        float(baseline.value.std()),
        len(baseline.value),
        float(daily),
        tolerance,
    )
