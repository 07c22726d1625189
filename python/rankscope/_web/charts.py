"""Computes positions in charts, in percent of the width so that charts fit every page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

FEWEST_STEPS = 3
PADDING = 0.08
NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from one number to another.

    Examples:
        >>> axis = choose_axis([0.41, 0.52])
        >>> axis.ticks
        (0.42, 0.44, 0.46, 0.48, 0.5, 0.52)
        >>> round(axis.place(0.5))
        77
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    places: int

    def place(self, value: float) -> float:
        """Return the position of a value, from 0 to 100."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(max(share, 0.0), 1.0), 3)


def choose_axis(
    values: Iterable[float], within: tuple[float, float] = (-math.inf, math.inf)
) -> Axis:
    """Choose an axis for values, with ticks at round numbers.

    Examples:
        >>> choose_axis([0.9, 1.0], within=(0.0, 1.0)).high
        1.0
    """
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    spread = (high - low) or abs(high) or 1.0
    low = min(max(low - PADDING * spread, within[0]), low)
    high = max(min(high + PADDING * spread, within[1]), high)
    step = _round_step((high - low) / FEWEST_STEPS)
    # A bound such as 1 is a tick, whatever its quotient is rounded to.
    first, last = math.ceil(low / step - NEAR), math.floor(high / step + NEAR)
    ticks = tuple(round(step * at, 12) for at in range(first, last + 1))
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    return Axis(low, high, ticks, places)


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a bar."""

    name: str
    value: float
    start: float
    width: float


def stack(ledger: Any) -> list[Segment]:  # noqa: ANN401 - a record
    """Stack the `value` of a record and its `losses` by name, which add up to 1, as segments.

    Negative ones have no width.
    """
    segments = []
    start = 0.0
    for name, value in {"value": ledger.value, **ledger.losses}.items():
        if value > 0:
            width = min(100 * value, 100 - start)
            segments.append(Segment(name, value, round(start, 3), round(width, 3)))
            start += width
    return segments


def span(means: Iterable[Any], *others: float) -> Axis:
    """Choose an axis for other numbers, and for records with `lower`, `value` and `upper`."""
    ends = [end for mean in means for end in (mean.lower, mean.value, mean.upper)]
    return choose_axis([*(end for end in ends if end is not None), *others])


def _round_step(most: float) -> float:
    """Return the largest of 1, 2 or 5 times a power of ten that is at most a number."""
    power = 10.0 ** math.floor(math.log10(most))
    return next(factor * power for factor in (5, 2, 1) if factor * power <= most * (1 + 1e-9))
