"""The likelihood ratio of a fall against none, where a day is like the one before."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.sequential.noise import QUARTER, find_levels
from rankscope.monitor.sequential.observations import WEEK, Gaps, Likelihood

Numbers = NDArray[np.float64]

if TYPE_CHECKING:
    from rankscope.monitor.sequential.detector import Detector


MOST_STARTS = 30
"""So many days on which a fall may have begun are kept, those with the largest ratios."""


LEAST_SKEW = 1e-3


@dataclass(frozen=True, slots=True)
class Steps:
    """What the gaps say about a fall that began in some period, for several such periods.

    Gaps are compared with what the days before make likely, which a fall changes, too: a part of it
    is taken for an effect of the day. Each array is changed in place.

    Args:
        missed: The part of a fall that the expected effect of the newest day doesn't have yet.
        score: The sum of the surprises, each by the part missed and divided by its variance.
        information: The sum of the squares of the parts missed, each divided by the variance.
    """

    missed: Numbers
    score: Numbers
    information: Numbers

    def begin(self, at: int) -> None:
        """Let a fall begin in the next period, in place of the one that is there."""
        self.missed[at], self.score[at], self.information[at] = 1.0, 0.0, 0.0

    def pass_day(self, correlation: float) -> None:
        """Go on to the next day, whose effect is like that of the day before."""
        self.missed[:] = 1 - (1 - self.missed) * correlation

    def add(self, surprise: Numbers | float, variance: float, gain: float) -> None:
        """Add a period.

        Args:
            surprise: The gap beyond the expected effect.
            variance: The variance of that.
            gain: By which part of it the effect is larger than was expected.
        """
        self.score[:] += self.missed * (surprise / variance)
        self.information[:] += self.missed**2 / variance
        self.missed[:] *= 1 - gain

    def measure(self, least: float) -> Numbers:
        """Return the logarithms of the ratios of the likeliest fall that isn't below the least."""
        fall = np.maximum(self.score / np.maximum(self.information, 1e-30), least)
        fall *= self.score - fall * self.information / 2
        return fall


def track(detector: Detector, gaps: Gaps, noise: Likelihood, size: float) -> Detector:
    """Return a detector after a period whose gaps have a likelihood."""
    effect, spread = detector.effect, noise.day_variance
    held = detector.missed, detector.score, detector.information
    steps = Steps(*(np.array([*each, 0.0]) for each in held))
    if detector.periods:
        days = max(noise.day - detector.day, 0)
        like = noise.correlation**days
        effect *= like
        spread = like**2 * detector.spread + (1 - like**2) * noise.day_variance
        steps.pass_day(like)
    variance = spread + noise.variance
    third = noise.skew * (noise.variance / variance) ** 1.5
    surprise = _straighten((gaps.mean - effect) / math.sqrt(variance), third) * math.sqrt(variance)
    gain = spread / variance
    period = detector.periods + 1
    steps.begin(-1)
    steps.add(surprise, variance, gain)
    ratio = steps.measure(noise.least)
    # What speaks against a fall since a period is better left out: that is a later start.
    order = [at for at in np.argsort(-ratio, kind="stable").tolist() if ratio[at] > 0]
    kept = np.array(sorted({*order[:MOST_STARTS], len(ratio) - 1}))
    falls = [fall + size * gaps.mean for fall in (*detector.falls, 0.0)]
    sizes = [each + size for each in (*detector.sizes, 0.0)]
    starts = (*detector.starts, period)
    return replace(
        detector,
        periods=period,
        observations=detector.observations + len(gaps.gap),
        sums=tuple(ratio[kept].tolist()),
        starts=tuple(starts[at] for at in kept),
        falls=tuple(falls[at] for at in kept),
        sizes=tuple(sizes[at] for at in kept),
        missed=tuple(steps.missed[kept].tolist()),
        score=tuple(steps.score[kept].tolist()),
        information=tuple(steps.information[kept].tolist()),
        effect=float(effect + gain * surprise),
        spread=float(spread - gain * spread),
        day=noise.day,
        levels=noise.levels,
    )


def _straighten(deviation: float, skew: float) -> float:
    """Return a standard deviate of a skewed mean as a normal one of the same probability.

    A few users without any relevant document make a mean that isn't as unlikely as it would be if
    means were normal (Wilson and Hilferty, 1931). What makes falls less likely is left alone.
    """
    if skew < LEAST_SKEW:
        return deviation
    shape = 4 / skew**2
    part = max(1 + deviation / math.sqrt(shape), 0.0)
    return 3 * math.sqrt(shape) * (math.cbrt(part) - 1 + 1 / (9 * shape))


QUARTERS = 3000
SEED = 20261128
TOGETHER = 512
"""So many quarters are simulated at once, which fit into the caches of a processor."""
PERIODS = 24
"""How many times a day evidence is looked at that is looked at after each hour."""


@lru_cache(maxsize=4096)
def simulate(
    *,
    least: float,
    ratio: float,
    correlation: float,
    days: int,
    has_weekdays: bool,
    is_hourly: bool,
) -> tuple[float, ...]:
    """Return the levels of the ratio in simulated quarters in which nothing falls.

    The mean of a day varies by the chance of its users, of which the variance is 1 here, and by the
    effect of the day. What is expected has the error of a baseline of such days.

    Args:
        least: The least fall that is looked for.
        ratio: The variance between days.
        correlation: Between a day and the next.
        days: The number of days of the baseline.
        has_weekdays: Whether each day of the week has a mean of its own.
        is_hourly: Whether the evidence is looked at after each hour.
    """
    draw = np.random.default_rng(SEED)
    parts, room = (PERIODS, 2 * MOST_STARTS) if is_hourly else (1, MOST_STARTS)
    stay = math.sqrt(ratio * (1 - correlation**2))
    group = WEEK if has_weekdays else 1
    found = []
    for begin in range(0, QUARTERS, TOGETHER):
        count = min(TOGETHER, QUARTERS - begin)
        normal = partial(draw.standard_normal, dtype=np.float32)
        effect = math.sqrt(ratio) * normal(count)
        usual = np.zeros((group, count), dtype=np.float32)
        for day in range(days):
            usual[day % group] += effect + normal(count)
            effect = correlation * effect + stay * normal(count)
        usual /= np.bincount(np.arange(days) % group, minlength=group)[:, None]
        steps = Steps(*np.zeros((3, room, count), dtype=np.float32))
        most = np.full((room, count), -np.inf, dtype=np.float32)
        expected, spread = np.zeros(count, dtype=np.float32), ratio
        for day in range(days, days + QUARTER):
            seen = usual[day % group] - effect + math.sqrt(parts) * normal((parts, count))
            for part in range(parts):
                steps.begin((day * parts + part) % room)
                variance = spread + parts
                gain = spread / variance
                surprise = seen[part] - expected
                steps.add(surprise, variance, gain)
                expected, spread = expected + gain * surprise, spread - gain * spread
                np.maximum(most, steps.measure(least), out=most)
            effect = correlation * effect + stay * normal(count)
            expected = correlation * expected
            spread = correlation**2 * spread + (1 - correlation**2) * ratio
            steps.pass_day(correlation)
        found.append(most.max(axis=0))
    return find_levels(np.concatenate(found).astype(np.float64))
