"""How far a share of simulated trials may be from what is promised."""

from __future__ import annotations

import math

from scipy.stats import binom  # type: ignore[import-untyped]  # it has no types

ENOUGH = 1000
"""With fewer trials, a share is wrong only if chance practically never gives it."""
ERRORS = 2.0
"""With enough trials, a share may be so many Monte Carlo errors beyond what is promised."""
RARE = 1e-8
"""With few trials, the probability that a row is wrong although the promise just holds.

A short form with a thousand such shares then fails by chance with a probability of at most 1e-5.
"""


def find_error(share: float, trials: float) -> float:
    """Return the Monte Carlo error of a share of trials."""
    return math.sqrt(share * (1 - share) / trials) if trials else math.nan


def is_below(found: float, promised: float, trials: float) -> bool:
    """Whether a share of trials is below what is promised by more than chance allows."""
    if trials >= ENOUGH:
        return found < promised - ERRORS * find_error(promised, trials)
    return bool(binom.cdf(round(found * trials), round(trials), promised) < RARE)


def is_above(found: float, promised: float, trials: float) -> bool:
    """Whether a share of trials is above what is promised by more than chance allows.

    For a mean of numbers from 0 to 1 instead of a share, this is on the safe side: no such numbers
    vary more than zeros and ones.
    """
    return is_below(1 - found, 1 - promised, trials)


def show(share: float, trials: float) -> str:
    """Return a share in percent with its Monte Carlo error."""
    if math.isnan(share):
        return "–"
    return f"{100 * share:.1f} ± {100 * find_error(share, trials):.1f}"
