"""Whether values of days fall a little every week, and whether they fell at once instead."""

from __future__ import annotations

import math

from rankscope.deferred import np
from rankscope.records import record
from rankscope.stats.day_shift import correlate, fit_weekdays

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

WEEK = 7
LONGEST = 84
"""The newest days that are looked at."""
FEWEST = 42
STARTS = (14, 21, 28, 42, 56)
"""How many days ago a decline is taken to begin: each, and the first day."""
FEWEST_BEFORE = 14
STEP_AWAY = 4
"""How many days there are on each side of a step, at least."""
NEEDED = 4.0
"""The score of a decline that is found where there is none in fewer than 5 % of quarters."""
CLEAR = math.log(20)
"""How much more likely one shape is than the other, in logarithms, to be named."""


@record(frozen=True, slots=True, kw_only=True)
class Decline:
    """A steady decline of the newest days, beside the best step.

    Args:
        days: How many days ago it began.
        weekly: By how much values fall each week.
        score: The same in its standard errors.
        step_days: Since how many days values would be lower, had they fallen at once.
        step: By how much.
        log_odds: The logarithm of how much more likely the decline makes the values.
    """

    days: int
    weekly: float
    score: float
    step_days: int
    step: float
    log_odds: float

    @property
    def fall(self) -> float:
        """By how much values have fallen since it began."""
        return self.weekly * self.days / WEEK

    @property
    def shape(self) -> str:
        """What the values tell: `decline`, `step`, or nothing."""
        if abs(self.log_odds) < CLEAR:
            return ""
        return "decline" if self.log_odds > 0 else "step"

    def is_found(self, tolerance: float) -> bool:
        """Whether values decline by the tolerance, and more clearly than days that differ do."""
        return self.score >= NEEDED and self.fall >= tolerance and self.shape != "step"


def find_decline(values: Numbers, errors: Numbers) -> Decline | None:
    """Fit a decline and a step to days; `None` where there are too few. The newest day is last.

    Args:
        values: float64 [days], NaN where a day is unknown.
        errors: float64 [days], the variance of each value because it is a sample.

    Examples:
        >>> import numpy as np
        >>> noise = 0.004 * np.sin(1.7 * np.arange(70) ** 2)
        >>> found = find_decline(
        ...     noise - 0.002 * np.maximum(0, np.arange(70) - 41), np.full(70, 1e-5)
        ... )
        >>> found.days, round(found.weekly, 3), found.shape
        (28, 0.014, 'decline')
    """
    at = np.flatnonzero(~np.isnan(values))
    at = at[at >= len(values) - LONGEST]
    if not len(at) or at[-1] - at[0] + 1 < FEWEST or len(at) < FEWEST:
        return None
    days, noise = at - at[-1], errors[at]
    line = np.stack([np.ones(len(at)), days.astype(np.float64)], axis=1)
    rest = values[at] - line @ np.linalg.lstsq(line, values[at], rcond=None)[0]
    kept = values[at] - fit_weekdays(rest, at % WEEK)[0][at % WEEK]
    alike = correlate(at)
    error = float(noise.mean())
    span = int(-days[0])
    starts = [*(each for each in STARTS if each + FEWEST_BEFORE <= span), span]
    declines = []
    for start in starts:
        design = _bend(days, start)
        weights = np.linalg.inv(alike + np.eye(len(at)))
        row = np.linalg.solve(design.T @ weights @ design, design.T @ weights)[1]
        rests = np.eye(len(at)) - design @ np.linalg.pinv(design)
        free = len(at) - 2
        squares = float(((rests @ kept) ** 2).sum()) * (1 + math.sqrt(2 / free))
        effects = max(0.0, squares - error * free) / float(np.trace(rests @ alike))
        variance = effects * float(row @ alike @ row) + float((row**2) @ noise)
        declines.append((-float(row @ kept) / math.sqrt(variance), effects))
    score, effects = max(declines)
    root = np.linalg.cholesky(effects * alike + np.diag(np.maximum(noise, 1e-12)))
    # The clearest decline is often a longer one than the likeliest, which is described.
    bent, slope, start = min((*_fit(root, kept, _bend(days, each)), each) for each in starts)
    steps = [
        (*_fit(root, kept, np.stack([np.ones(len(at)), days > -each], axis=1)), each)
        for each in range(STEP_AWAY, span + 1 - STEP_AWAY)
    ]
    left, step, since = min(steps)
    return Decline(
        days=start,
        weekly=-WEEK * slope,
        score=score,
        step_days=since,
        step=-step,
        log_odds=(left - bent) / 2,
    )


def _bend(days: NDArray[np.int64], start: int) -> Numbers:
    """Return the columns of a level, and of a line that begins so many days ago."""
    return np.stack([np.ones(len(days)), np.maximum(0.0, days + start)], axis=1)


def _fit(root: Numbers, values: Numbers, design: Numbers) -> tuple[float, float]:
    """Return what is left of values, squared and weighted, and the last coefficient."""
    white, columns = np.linalg.solve(root, values), np.linalg.solve(root, design)
    found = np.linalg.lstsq(columns, white, rcond=None)[0]
    return float(((white - columns @ found) ** 2).sum()), float(found[-1])
