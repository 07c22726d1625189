"""The label delay chart and the breakdown of a change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate

from rankscope._web.charts import Axis, choose_axis
from rankscope.monitor.evaluate.stored_windows import MaturityCurve
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.events.times import MICROSECOND

UNITS = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s"))
APART = 9.0
"""Ticks are written where they are so far apart, of 100."""


@dataclass(frozen=True, slots=True)
class Age:
    """A point of the curve.

    Args:
        x: Where it lies from the left, from 0 to 100.
        y: And from above.
        text: The age.
        share: The share of all labels that were there.
        is_written: Whether there is room for the age below the axis.
    """

    x: float
    y: float
    text: str
    share: float
    is_written: bool


@dataclass(frozen=True, slots=True)
class MaturityChart:
    """The curve.

    Args:
        path: The line, in a plane of 100 by 100.
        ages: Its points.
    """

    path: str
    ages: tuple[Age, ...]


def draw_maturity(curve: MaturityCurve) -> MaturityChart | None:
    """Draw a curve over the logarithm of age; nothing where there are no labels.

    Examples:
        >>> from rankscope.monitor.evaluate.stored_windows import MaturityCurve
        >>> ages = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
        >>> chart = draw_maturity(MaturityCurve(ages, (5, 4, 1, 0)))
        >>> chart.path
        'M0 50L56.3 10L100 0'
        >>> [age.text for age in chart.ages]
        ['1 min', '1 h', '1 d']
    """
    if not curve.shares:
        return None
    micros = [age // MICROSECOND for age in curve.ages]
    low, high = math.log(micros[0]), math.log(micros[-1])
    ages: list[Age] = []
    written = -math.inf
    for age, share in zip(micros, curve.shares, strict=True):
        x = round(100 * (math.log(age) - low) / (high - low), 3) if high > low else 100.0
        is_written = x - written >= APART
        written = x if is_written else written
        ages.append(Age(x, round(100 - 100 * share, 3), write_age(age), share, is_written))
    path = "M" + "L".join(f"{age.x:g} {age.y:g}" for age in ages)
    return MaturityChart(path, tuple(ages))


def write_age(age: int | timedelta) -> str:
    """Write how long something takes, in the largest unit that fits.

    Examples:
        >>> write_age(90 * MINUTE), write_age(36 * HOUR), write_age(500)
        ('1.5 h', '1.5 d', '0.0005 s')
    """
    age = age // MICROSECOND if isinstance(age, timedelta) else age
    unit, name = next((each for each in UNITS if age >= each[0]), UNITS[-1])
    return f"{age / unit:.4g} {name}"


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a change.

    Args:
        name: What it is.
        amount: How much it adds; `None` where that cannot be observed.
        start: Where its bar begins, from 0 to 100.
        width: How wide it is.
        end: Where the next one goes on.
    """

    name: str
    amount: float | None
    start: float
    width: float
    end: float


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The parts of a change, end to end.

    Args:
        axis: The axis of values.
        before: Where it begins, from 0 to 100.
        steps: The parts.
        after: Where it ends.
    """

    axis: Axis
    before: float
    steps: tuple[Step, ...]
    after: float


def draw_waterfall(before: float, after: float, parts: Mapping[str, float | None]) -> Waterfall:
    """Draw the parts of a change.

    Examples:
        >>> fall = draw_waterfall(0.9, 0.6, {"mix": 0.1, "within": -0.4})
        >>> [(step.name, step.width > 0, step.end) for step in fall.steps]
        [('mix', True, 93.103), ('within', True, 6.897)]
    """
    ends = list(accumulate((amount or 0.0 for amount in parts.values()), initial=before))
    axis = choose_axis([*ends, after])
    steps = []
    for (name, amount), start, end in zip(parts.items(), ends, ends[1:], strict=False):
        left, right = sorted((axis.place(start), axis.place(end)))
        steps.append(Step(name, amount, left, round(right - left, 3), axis.place(end)))
    return Waterfall(axis, axis.place(before), tuple(steps), axis.place(after))
