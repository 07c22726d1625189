"""The rules that rankscope is compared with, each tuned to the same rate of false alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dev.simulate.traffic import DAYS, Traffic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from dev.simulate.traffic import World

    Numbers = NDArray[np.float64]

WINDOW = 30


def _test_days(gaps: Numbers) -> Numbers:
    return gaps


def _add(gaps: Numbers, allowance: float) -> Numbers:
    sums, found = np.zeros(len(gaps)), np.empty_like(gaps)
    for day in range(gaps.shape[1]):
        sums = np.maximum(sums + gaps[:, day] - allowance, 0)
        found[:, day] = sums
    return found


def _compare_windows(gaps: Numbers) -> Numbers:
    """Return the largest standardised mean gap of the last 1 to 30 days."""
    total = np.cumsum(np.pad(gaps, ((0, 0), (1, 0))), axis=1)
    found = np.full_like(gaps, -np.inf)
    for days in range(1, min(WINDOW, gaps.shape[1]) + 1):
        window = (total[:, days:] - total[:, :-days]) / np.sqrt(days)
        found[:, days - 1 :] = np.maximum(found[:, days - 1 :], window)
    return found


# By rule, what is compared with its limit, given the gaps beyond the tolerance in standard errors.
RULES: Mapping[str, Callable[[Numbers], Numbers]] = {
    "CUSUM, the tolerance as allowance": lambda gaps: _add(gaps, 0.0),
    "CUSUM, half a standard error more": lambda gaps: _add(gaps, 0.5),
    "GLR over 30 days": _compare_windows,
    "z-test every day": _test_days,
}


def find_gaps(baseline: Numbers, per_day: int, days: Iterable[float], tolerance: float) -> Numbers:
    """Return how far the means of days are below the tolerance, in standard errors of a day."""
    below = float(baseline.mean()) - tolerance - np.array([*days])
    return np.asarray(below / (baseline.std() / np.sqrt(per_day)))


def tune(
    world: World, runs: Iterable[np.random.Generator], tolerance: float, share: float
) -> dict[str, float]:
    """Return the limits of the rules, so that this share of quarters has a false alarm."""
    gaps = []
    for random in runs:
        traffic = Traffic(world, random)
        baseline = traffic.draw_baseline().value
        # All days at once: each has as many searches.
        days = np.repeat(np.arange(DAYS), world.per_day)
        cells = random.integers(0, len(world.slices), len(days))
        means = traffic.draw(days, cells).value.reshape(DAYS, -1).mean(axis=1)
        gaps.append(find_gaps(baseline, world.per_day, means, tolerance))
    quiet = np.array(gaps)
    return {
        name: float(np.quantile(rule(quiet).max(axis=1), 1 - share)) for name, rule in RULES.items()
    }
