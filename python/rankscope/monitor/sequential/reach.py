"""The reach of a stream: which falls it can find, and how many users it would need."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from rankscope.monitor.sequential.baseline import DAY_WEIGHT, Baseline
from rankscope.monitor.sequential.detector import BETS
from rankscope.monitor.sequential.noise import Noise, find_ratio

DAYS = 30
FALL = 0.10
# The evidence is averaged over bets, and the best one is rarely among them.
LOST = math.log(len(BETS))
MOST_TIMES = 1e6
STEPS = 60


@dataclass(frozen=True, slots=True)
class Reach:
    """Which falls a stream finds.

    Args:
        smallest_fall: The smallest fall of the mean that is found within 30 days, in half of the
            cases or more; `None` if even a fall to 0 is not.
        users_needed: How many users the baseline would need so that a fall of 0.10 is found within
            30 days; `None` if the tolerance or the variation between days is too large for that.
    """

    smallest_fall: float | None
    users_needed: int | None


def find_reach(baseline: Baseline, *, run_length: float, streams: int) -> Reach:
    """Return which falls a stream finds within 30 days, and how many users it needs for 0.10.

    Both are calculated from the margin, the number of users on an average day, and the variances of
    users and days. A baseline with more users also has more users each day.

    Examples:
        >>> import numpy as np
        >>> from rankscope.monitor.sequential.baseline import fit_baseline
        >>> from rankscope.monitor.sequential.observations import DAY, Observations
        >>> draw = np.random.default_rng(1)
        >>> seen = Observations(
        ...     value=draw.random(560),
        ...     cluster=np.arange(560) % 140,
        ...     cell=np.zeros(560, dtype=np.int64),
        ...     time=np.arange(560) * (DAY // 20),
        ... )
        >>> reach = find_reach(fit_baseline(seen, tolerance=0.02), run_length=1800, streams=1)
        >>> 0.05 < reach.smallest_fall < 0.1, 70 < reach.users_needed < 140
        (True, True)
    """
    log_needed = math.log(max(run_length, 1.0) * max(streams, 1))
    if baseline.noise is None:
        log_needed += LOST
    return _find_reach(_Facts(*(getattr(baseline, name) for name in _Facts._fields)), log_needed)


class _Facts(NamedTuple):
    """What the reach of a stream follows from: fields of its baseline."""

    mean: float
    half_width: float
    tolerance: float
    variance: float
    day_variance: float
    users: int
    per_day: float
    noise: Noise | None


# Baselines stay for weeks, and are asked about with each period.
@lru_cache(maxsize=4096)
def _find_reach(facts: _Facts, log_needed: float) -> Reach:
    fall = _find_fall(facts, log_needed, 1.0)
    smallest = fall if fall <= facts.mean else None
    if _find_fall(facts, log_needed, MOST_TIMES) > FALL or facts.mean < FALL:
        return Reach(smallest, None)
    low, high = -math.log(MOST_TIMES), math.log(MOST_TIMES)
    for _ in range(STEPS):
        middle = (low + high) / 2
        if _find_fall(facts, log_needed, math.exp(middle)) > FALL:
            low = middle
        else:
            high = middle
    return Reach(smallest, max(2, math.ceil(facts.users * math.exp(high))))


def _find_fall(facts: _Facts, log_needed: float, times: float) -> float:
    """Return the fall that is found with so many times the users."""
    margin = max(facts.half_width / math.sqrt(times), facts.tolerance)
    sampling = max(facts.variance, 1e-6) / (facts.per_day * times)
    if facts.noise is None:
        daily = sampling + DAY_WEIGHT * facts.day_variance
        return margin + math.sqrt(2 * daily * log_needed / DAYS)
    # What many days tell about a fall of which the effects of days hide a part.
    like = facts.noise.correlation
    daily = sampling + facts.noise.day_variance * (1 + like) / (1 - like)
    ratio = find_ratio(facts.noise.levels, log_needed)
    fall = math.sqrt(2 * daily * ratio / DAYS)
    return fall if fall >= 2 * margin else margin + daily * ratio / (2 * margin * DAYS)
