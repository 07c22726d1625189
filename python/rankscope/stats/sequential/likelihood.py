"""The likelihood ratio of a fall against none, where a day is like the one before."""

from __future__ import annotations

import math
from functools import lru_cache

from rankscope.deferred import np
from rankscope.records import record, replace
from rankscope.stats.sequential.noise import QUARTER, find_levels
from rankscope.stats.sequential.observations import WEEK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankscope.stats.sequential.detector import Detector
    from rankscope.stats.sequential.observations import Gaps, Likelihood

    Numbers = NDArray[np.float64]

MOST_STARTS = 30
"""So many days on which a fall may have begun are kept, those with the largest ratios."""


LEAST_SKEW = 1e-3


@record(frozen=True, slots=True)
class Steps:
    """What the gaps say about a fall that began in some period, for several such periods.

    Gaps are compared with what the days before make likely, which a fall changes, too: a part of it
    is taken for an effect of the day.

    Args:
        missed: The part of a fall that the expected effect of the newest day doesn't have yet.
        score: The sum of the surprises, each by the part missed and divided by its variance.
        information: The sum of the squares of the parts missed, each divided by the variance.
    """

    missed: Numbers
    score: Numbers
    information: Numbers

    def pass_day(self, correlation: Numbers | float) -> Steps:
        """Return the steps on the next day, whose effect is like that of the day before."""
        return replace(self, missed=1 - (1 - self.missed) * correlation)

    def add(
        self, surprise: Numbers | float, variance: Numbers | float, gain: Numbers | float
    ) -> Steps:
        """Return the steps after a period.

        Args:
            surprise: The gap beyond the expected effect.
            variance: The variance of that.
            gain: By which part of it the effect is larger than was expected.
        """
        return Steps(
            self.missed * (1 - gain),
            self.score + self.missed * surprise / variance,
            self.information + self.missed**2 / variance,
        )

    def measure(self, least: float) -> Numbers:
        """Return the logarithms of the ratios of the likeliest fall that isn't below the least."""
        information = np.maximum(self.information, 1e-300)
        fall = np.maximum(self.score / information, least)
        return np.asarray(fall * (self.score - fall * information / 2), dtype=np.float64)


def track(detector: Detector, gaps: Gaps, noise: Likelihood, size: float) -> Detector:
    """Return a detector after a period whose gaps have a likelihood."""
    effect, spread = detector.effect, noise.day_variance
    steps = Steps(
        *(np.array(held) for held in (detector.missed, detector.score, detector.information))
    )
    if detector.periods:
        days = max(noise.day - detector.day, 0)
        like = noise.correlation**days
        effect *= like
        spread = like**2 * detector.spread + (1 - like**2) * noise.day_variance
        steps = steps.pass_day(like)
    variance = spread + noise.variance
    third = noise.skew * (noise.variance / variance) ** 1.5
    surprise = _straighten((gaps.mean - effect) / math.sqrt(variance), third) * math.sqrt(variance)
    gain = spread / variance
    period = detector.periods + 1
    steps = Steps(*(np.append(held, new) for held, new in _pair(steps, (1.0, 0.0, 0.0))))
    steps = steps.add(surprise, variance, gain)
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


def _pair(steps: Steps, new: tuple[float, float, float]) -> list[tuple[Numbers, float]]:
    return list(zip((steps.missed, steps.score, steps.information), new, strict=True))


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
PARTS = 4
"""An hour is looked at as a quarter of a day, which takes a sixth of the time."""
ROOM = 0.3
"""What is added to the levels for that: the ratio is the largest of more hours."""


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
    normal, scale = draw.standard_normal, math.sqrt(ratio)
    effect = scale * normal(QUARTERS)
    group, stay = (WEEK if has_weekdays else 1), scale * math.sqrt(1 - correlation**2)
    usual = np.zeros((group, QUARTERS))
    for day in range(days):
        usual[day % group] += effect + normal(QUARTERS)
        effect = correlation * effect + stay * normal(QUARTERS)
    usual /= np.bincount(np.arange(days) % group, minlength=group)[:, None]
    parts = PARTS if is_hourly else 1
    room = MOST_STARTS * (2 if is_hourly else 1)
    steps = Steps(*np.zeros((3, 0, QUARTERS)))
    expected, spread = np.zeros(QUARTERS), ratio
    most = np.full(QUARTERS, -np.inf)
    for day in range(days, days + QUARTER):
        for _ in range(parts):
            seen = usual[day % group] - effect + math.sqrt(parts) * normal(QUARTERS)
            held = [
                np.append(one, np.full((1, QUARTERS), new), axis=0)[-room:]
                for one, new in _pair(steps, (1.0, 0.0, 0.0))
            ]
            variance = spread + parts
            gain = spread / variance
            surprise = seen - expected
            steps = Steps(*held).add(surprise, variance, gain)
            expected, spread = expected + gain * surprise, spread - gain * spread
            most = np.maximum(most, steps.measure(least).max(axis=0))
        effect = correlation * effect + stay * normal(QUARTERS)
        expected = correlation * expected
        spread = correlation**2 * spread + (1 - correlation**2) * ratio
        steps = steps.pass_day(correlation)
    return find_levels(most + (ROOM if is_hourly else 0.0))
