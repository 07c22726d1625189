"""What a baseline is made of: effects of cells and days, and a bound of its mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope._core import bound_below
from rankscope.monitor.sequential.observations import Cell, Units, tally

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]


MOST_CELLS = 200
"""So many cells, those with the most users, have an expected value of their own."""


PASSES = 5


# One standard error: the lower 84 % bound. That of 95 % misses day effects that cause false alarms.
Z = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CellEffects:
    """What is expected in each cell: the mean of all, effects of attribute values, and a rest.

    Args:
        mean: The mean of all.
        values: By attribute, the effect of each of its values.
        cells: By cell, what is expected, and the variance of that.
        spread: The variance between cells, which is that of a cell that the baseline doesn't have.
    """

    mean: float
    values: tuple[tuple[tuple[str, float], ...], ...] = ()
    cells: tuple[tuple[tuple[str, ...], float, float], ...] = ()
    spread: float = 0.0

    def expect(self, cells: Sequence[Cell]) -> Numbers:
        """Return what is expected in some cells.

        A cell that the baseline doesn't have gets the sum of the effects of its attribute values.
        """
        known = {cell: expected for cell, expected, _ in self.cells}
        effects = [dict(pairs) for pairs in self.values]
        found = []
        for cell in cells:
            if cell in known:
                found.append(known[cell])
                continue
            parts = [effect.get(value, 0.0) for effect, value in zip(effects, cell, strict=False)]
            found.append(min(max(math.fsum([self.mean, *parts]), 0.0), 1.0))
        return np.array(found, dtype=np.float64)

    def error_of(self, cells: Sequence[Cell], mix: Numbers) -> float:
        """Return the variance of what is expected of a mix of cells."""
        known = {cell: variance for cell, _, variance in self.cells}
        errors = np.array([known.get(cell, self.spread) for cell in cells])
        total = mix.sum()
        return float(((mix / total) ** 2 * errors).sum()) if total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the effects as JSON holds them."""
        return {
            "mean": self.mean,
            "values": [[list(pair) for pair in pairs] for pairs in self.values],
            "cells": [[list(cell), expected, variance] for cell, expected, variance in self.cells],
            "spread": self.spread,
        }

    @staticmethod
    def from_dict(stored: Mapping[str, Any]) -> CellEffects:
        """Return the effects from the result of `to_dict`."""
        return CellEffects(
            mean=stored["mean"],
            values=tuple(tuple((name, effect) for name, effect in one) for one in stored["values"]),
            cells=tuple((tuple(cell), at, variance) for cell, at, variance in stored["cells"]),
            spread=stored["spread"],
        )


def estimate_cells(units: Units, names: Sequence[Cell], mean: float) -> CellEffects:
    """Return the expected values of cells.

    The effects of attribute values are fitted together, then what is left of each cell. Both are
    shrunk by what their errors explain of the differences (empirical Bayes), so that a small cell
    follows its parents.
    """
    weight = tally(units.cell, units.weight, len(names))
    used = np.flatnonzero(weight > 0)
    if len(used) <= 1 and not (len(used) and names[int(used[0])]):
        return CellEffects(mean=mean)
    rest = units.value - mean
    size = weight[used]
    level = tally(units.cell, units.weight * rest, len(names))[used] / size
    number = np.zeros(len(names), dtype=np.int64)
    number[used] = np.arange(len(used))
    within = rest - level[number[units.cell]]
    noise = float((units.weight * within**2).sum() / units.weight.sum())
    # A ranking of a user with many counts less than a user, so that this is a bit too large.
    square = tally(units.cell, units.weight**2, len(names))[used]
    unit = square / size if float(units.size.min()) < 1 else np.ones(len(used))
    error = noise * unit / size
    width = len(names[int(used[0])])
    effects: list[dict[str, float]] = [{} for _ in range(width)]
    fitted = np.zeros(len(used))
    places = []
    for attribute in range(width):
        texts = [names[cell][attribute] for cell in used.tolist()]
        values = sorted(set(texts))
        where = {value: place for place, value in enumerate(values)}
        places.append((values, np.array([where[text] for text in texts])))
    parts = [np.zeros(len(values)) for values, _ in places]
    for _ in range(PASSES if width > 1 else 1):
        for attribute, (values, place) in enumerate(places):
            without = level - fitted + parts[attribute][place]
            total = tally(place, size, len(values))
            effect = tally(place, size * without, len(values)) / total
            variance = tally(place, size**2 * error, len(values)) / total**2
            shrunk = effect * _keep(effect, variance, total)
            fitted = fitted + (shrunk - parts[attribute])[place]
            parts[attribute] = shrunk
    for attribute, (values, _) in enumerate(places):
        effects[attribute] = dict(zip(values, parts[attribute].tolist(), strict=True))
    left = level - fitted
    expected = np.clip(mean + fitted + left * _keep(left, error, size), 0.0, 1.0)
    spread = float((size * level**2).sum() / size.sum())
    kept = sorted(range(len(used)), key=lambda at: (-size[at], names[int(used[at])]))[:MOST_CELLS]
    return CellEffects(
        mean=mean,
        values=tuple(tuple(effect.items()) for effect in effects),
        cells=tuple(
            sorted((names[int(used[at])], float(expected[at]), float(error[at])) for at in kept)
        ),
        spread=spread,
    )


def estimate_cycle(
    rest: Numbers, weight: Numbers, of_moment: Places, phase: Places, length: int
) -> tuple[float, ...]:
    """Return the effects of the phases of a cycle, such as the days of a week."""
    size = tally(of_moment, weight, len(phase))
    level = tally(of_moment, weight * rest, len(phase)) / size
    total = tally(phase, size, length)
    count = np.bincount(phase, minlength=length)
    free = len(phase) - int((count > 0).sum())
    if free < 1 or not (total > 0).all():
        return ()
    effect = tally(phase, size * level, length) / total
    within = float((size * (level - effect[phase]) ** 2).sum() / free)
    effect = effect - float((total * effect).sum() / total.sum())
    shrunk = effect * _keep(effect, within / total, total)
    if not shrunk.any():
        return ()
    return tuple((shrunk - float((total * shrunk).sum() / total.sum())).tolist())


def find_day_variance(
    gaps: Numbers, size: Numbers, day: Places, variance: float, *, free: int
) -> float:
    """Return a lower 84 % bound of the variance between days that their users don't explain."""
    if free < 1:
        return 0.0
    days = int(day.max()) + 1
    total = tally(day, size, days)
    level = tally(day, size * gaps, days) / total
    # Days with more users tell more; days without are none.
    share = total / total.sum()
    centre = float((share * level).sum())
    count = len(total)
    observed = float((share * (level - centre) ** 2).sum()) * count / free
    expected = float((share * variance * tally(day, size**2, days) / total**2).sum())
    return max(observed * free / _chi_square(free) - expected, 0.0)


def _keep(effects: Numbers, errors: Numbers, sizes: Numbers) -> Numbers:
    """Return which share of each effect its error doesn't explain."""
    if len(effects) < 2:
        return np.zeros(len(effects))
    between = float((sizes * (effects**2 - errors)).sum() / sizes.sum())
    if between <= 0:
        return np.zeros(len(effects))
    return between / (between + errors)


def _chi_square(free: int) -> float:
    """Return the 84 % quantile of the chi-square distribution (Wilson and Hilferty)."""
    part = 2 / (9 * free)
    return free * (1 - part + Z * math.sqrt(part)) ** 3


def bound_mean(sums: NDArray[np.float64], counts: NDArray[np.float64], level: float) -> float:
    """Return a lower bound of a mean over independent users, whatever the distribution is.

    This is the bound of `rankscope.Interval(method="bounded")`. It doesn't depend on the order of
    users, not even in the last bit, and holds for 10 users as well as for 10,000, also if nearly
    all values are 1.

    A user can have several values. The users are independent, while the values of one user need not
    be. The mean is that of all values: the sum over users divided by the number of values.

    Examples:
        >>> import numpy as np
        >>> bound = bound_mean(np.full(200, 0.7), np.ones(200), level=0.025)
        >>> 0.6 < bound < 0.7
        True
        >>> bound_mean(np.array([]), np.array([]), level=0.025)
        0.0
    """
    if not len(sums):
        return 0.0
    return bound_below(np.ascontiguousarray(sums), np.ascontiguousarray(counts), level)
