"""Baselines: what is expected of rankings, how uncertain that is, and the time of the anchor."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope._names import as_dict
from rankscope.errors import InputError, UsageError
from rankscope.monitor.sequential.effects import (
    CellEffects,
    bound_mean,
    estimate_cells,
    estimate_cycle,
    find_day_variance,
)
from rankscope.monitor.sequential.likelihood import simulate
from rankscope.monitor.sequential.noise import (
    ERRORS,
    FEWEST_DAYS,
    FEWEST_USERS,
    FEWEST_VARIED,
    MOST_SKEW,
    Noise,
    average,
    fit_days,
)
from rankscope.monitor.sequential.observations import (
    DAY,
    FIRST_WEEKDAY,
    HOUR,
    WEEK,
    Gaps,
    Likelihood,
    Observations,
    group_units,
    tally,
)

LONGEST = 84 * DAY
"""The anchor is from at most this long."""


LEAST = 14 * DAY
"""It is from at least this long: two of each weekday."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The time that the long-term baseline is from.

    Args:
        since: When it begins, in microseconds since 1970 in UTC.
        until: When it ends.
    """

    since: int
    until: int


def choose_anchor(first: int, before: int, longest: int = LONGEST) -> Anchor | None:
    """Return the time of the anchor: up to 84 days before the first period compared with it.

    The anchor has the rankings of all versions together. It is chosen once and stays, so that a
    stream that is compared with it finds many small losses that each release alone hides from a
    comparison with the version before. If a team accepts a lower level, a new anchor is chosen: the
    time before that.

    Examples:
        >>> choose_anchor(first=60 * DAY, before=160 * DAY) == Anchor(76 * DAY, 160 * DAY)
        True
        >>> choose_anchor(first=150 * DAY, before=160 * DAY) is None
        True
    """
    if before - first < LEAST:
        return None
    return Anchor(max(before - min(LONGEST, longest), first), before)


LEVEL = 0.025
"""The probability that any floor of a rule is above the true mean of its baseline, at most."""


DAY_WEIGHT = 3.0
"""How many times the variance between days counts, because neighbouring days are alike."""


LASTING = 0.25
"""A user who comes on this share of the days of a baseline is a lasting part of the traffic."""


HOURS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What is expected of the rankings of a stream.

    Args:
        mean: The mean over users and periods.
        half_width: How far the true mean could be below: at the level that was asked for, or by
            2.5 standard errors if there is `noise`.
        tolerance: How far the mean can fall before it counts as a drop.
        cells: What is expected in each cell.
        weekdays: What is added on each day of the week, Monday first; empty if weekdays don't
            differ.
        hours: What is added in each hour of the day; empty if hours don't differ.
        variance: The variance of the gaps of users.
        day_variance: The variance between days that neither users nor weekdays explain: its lower
            84 % bound.
        days: The number of days.
        users: The number of users.
        per_day: The number of users on an average day.
        most: The largest weight of a user in a period, if rankings have weights.
        share_error: The variance of the mean that the sizes of the cells explain; it is compared
            with that of other mixes of cells.
        is_hourly: Whether a period is an hour.
        noise: How days vary, and which evidence chance makes of that; `None` if it wasn't
            calibrated.
        uncalibrated: Why it could not be.

    Examples:
        >>> import numpy as np
        >>> from rankscope.monitor.sequential.observations import Observations
        >>> draw = np.random.default_rng(1)
        >>> seen = Observations(
        ...     value=draw.random(2800),
        ...     cluster=np.arange(2800) % 700,
        ...     cell=np.zeros(2800, dtype=np.int64),
        ...     time=np.arange(2800) * (DAY // 100),
        ... )
        >>> baseline = fit_baseline(seen, tolerance=0.05)
        >>> baseline.users, baseline.days, baseline.margin
        (700, 28, 0.05)
        >>> Baseline.from_dict(baseline.to_dict()) == baseline
        True
    """

    mean: float
    half_width: float
    tolerance: float
    cells: CellEffects
    weekdays: tuple[float, ...] = ()
    hours: tuple[float, ...] = ()
    variance: float
    day_variance: float = 0.0
    days: int
    users: int
    per_day: float
    most: float = 1.0
    share_error: float = 0.0
    is_hourly: bool = False
    noise: Noise | None = None
    uncalibrated: str = ""

    @property
    def margin(self) -> float:
        """How far the mean can be below the baseline's without being a drop."""
        return min(max(self.half_width, self.tolerance), 1.0)

    @property
    def floor(self) -> float:
        """The lowest mean that isn't a drop, for the baseline's own mix of cells."""
        return self.mean - self.margin

    @property
    def lower(self) -> float:
        """The lower confidence bound of the mean."""
        return self.mean - self.half_width

    @property
    def day_deviation(self) -> float:
        """The standard deviation between days that neither users nor weekdays explain."""
        return math.sqrt(self.day_variance)

    def to_dict(self) -> dict[str, Any]:
        """Return the baseline as a dict that JSON can represent exactly, for `from_dict`."""
        stored = as_dict(self)
        lists = {name: list(stored[name]) for name in ("weekdays", "hours")}
        noise = None if self.noise is None else as_dict(self.noise)
        if noise is not None:
            noise["levels"] = list(noise["levels"])
        return stored | lists | {"cells": self.cells.to_dict(), "noise": noise}

    @staticmethod
    def from_dict(stored: Mapping[str, Any]) -> Baseline:
        """Return the baseline from the result of `to_dict`."""
        try:
            tuples = {name: tuple(stored[name]) for name in ("weekdays", "hours")}
            cells, noise = CellEffects.from_dict(stored["cells"]), stored["noise"]
            if noise is not None:
                noise = Noise(**{**noise, "levels": tuple(noise["levels"])})
            return Baseline(**{**stored, **tuples, "cells": cells, "noise": noise})
        except (KeyError, TypeError) as error:
            raise UsageError(
                f"expected what to_dict gives, found {str(error)[:120]}",
                hint="fit the baseline again with fit_baseline",
                code="bad_baseline",
            ) from error


def split_level(streams: int, *, is_whole: bool) -> float:
    """Return the level of the floor of a stream, so that all floors of a rule hold together.

    The stream of all rankings gets half of `LEVEL`, because it has the most users and can use a
    narrow margin best. The slices share the other half.

    Examples:
        >>> split_level(1, is_whole=True), split_level(11, is_whole=False)
        (0.025, 0.00125)
    """
    if streams <= 1:
        return LEVEL
    return LEVEL / 2 if is_whole else LEVEL / 2 / (streams - 1)


def fit_baseline(
    seen: Observations,
    *,
    tolerance: float,
    level: float = LEVEL,
    is_hourly: bool = False,
    is_calibrated: bool = False,
    measured: float | None = None,
) -> Baseline:
    """Return what is expected of the rankings of a stream, given those of its baseline.

    The mean of each user in each period counts once. The floor is the mean minus a margin: the
    tolerance, or the half width of a bounded interval over users if that is larger. A user who
    comes on a quarter of the days or more isn't a random draw, but a lasting part of the traffic.
    If days vary, so does the mean of the baseline, which the half width includes.

    What is expected depends on the cell of a ranking, the day of the week, and the hour. Effects
    that are small compared with their errors are shrunk towards 0. The effects of weekdays need a
    baseline of 14 days or more.

    Args:
        seen: The rankings.
        tolerance: How far the mean can fall before it counts as a drop.
        level: The probability that the floor is above the true mean, at most.
        is_hourly: Whether periods are hours instead of days.
        is_calibrated: Whether to simulate which evidence chance makes, if there are enough days
            and users.
        measured: The mean of which the tolerance is a part, if that is not the baseline's own.
    """
    if not 0 <= tolerance < math.inf:
        raise UsageError(
            f"the tolerance must be 0 or more, found {tolerance}",
            hint="0.02 tolerates means that are up to 0.02 below the baseline",
            code="bad_tolerance",
        )
    units = group_units(seen, HOUR if is_hourly else DAY)
    if not len(units.start):
        raise UsageError(
            "the baseline has no values",
            hint="choose a baseline with rankings that have final values",
            code="empty_baseline",
        )
    _check(units.value)
    weight = units.weight
    mean = float((units.value * weight).sum() / weight.sum())
    cells = estimate_cells(units, seen.cells, mean)
    expected = cells.expect(seen.cells)[units.cell]
    day, of_day = np.unique(units.hour // HOURS, return_inverse=True)
    weekdays: tuple[float, ...] = ()
    hours: tuple[float, ...] = ()
    if len(day) >= 2 * WEEK:
        weekday = (day + FIRST_WEEKDAY) % WEEK
        weekdays = estimate_cycle(units.value - expected, weight, of_day, weekday, WEEK)
        if weekdays:
            expected = expected + np.array(weekdays)[weekday][of_day]
    if is_hourly and len(day) >= WEEK:
        moment, of_moment = np.unique(units.hour, return_inverse=True)
        hours = estimate_cycle(units.value - expected, weight, of_moment, moment % HOURS, HOURS)
        if hours:
            expected = expected + np.array(hours)[units.hour % HOURS]
    gaps = units.add(expected - units.value) / units.size
    variance = _spread(gaps, units.size)
    fitted = 1 + (WEEK - 1 if weekdays else 0)
    day_variance = find_day_variance(
        gaps, units.size, of_day[units.start], variance, free=len(day) - fitted
    )
    if measured:
        tolerance *= min(mean / measured, 1.0)
    users = int(units.cluster.max()) + 1
    draw = _find_draws(units.cluster, of_day[units.start], len(day))
    sums = tally(draw, units.add(units.value), int(draw.max()) + 1)
    counts = tally(draw, units.size, len(sums))
    lower = bound_mean(sums, counts, level)
    drift = _quantile(level) * math.sqrt(DAY_WEIGHT * day_variance / len(day))
    baseline = Baseline(
        mean=mean,
        half_width=math.hypot(max(mean - lower, 0.0), drift),
        tolerance=float(tolerance),
        cells=cells,
        weekdays=weekdays,
        hours=hours,
        variance=variance,
        day_variance=day_variance,
        days=len(day),
        users=users,
        per_day=float(units.size.sum() ** 2 / (units.size**2).sum()) / len(day),
        most=units.most,
        share_error=cells.error_of(seen.cells, tally(units.cell, weight, len(seen.cells))),
        is_hourly=is_hourly,
    )
    if not is_calibrated:
        return baseline
    skew = _find_skew(gaps, units.size)
    reason = _refuse(baseline, len(sums), skew)
    if reason:
        return replace(baseline, uncalibrated=reason)
    return _calibrate(
        baseline,
        gaps=gaps,
        size=units.size,
        day=day,
        of_day=of_day[units.start],
        skew=skew,
    )


def _refuse(baseline: Baseline, draws: int, skew: float) -> str:
    """Return why it can't be simulated which evidence chance makes, if it can't."""
    if baseline.days < FEWEST_DAYS:
        return f"the baseline has {baseline.days} of {FEWEST_DAYS} days"
    if min(baseline.users, draws) < FEWEST_USERS:
        return f"the baseline has {baseline.users} of {FEWEST_USERS} users"
    if baseline.variance * baseline.per_day * baseline.days < FEWEST_VARIED:
        return "nearly all values of the baseline are the same"
    if skew > MOST_SKEW * math.sqrt(baseline.per_day / (HOURS if baseline.is_hourly else 1)):
        return "too few users in a period, of whom nearly all have the same value"
    return ""


def _calibrate(
    baseline: Baseline,
    *,
    gaps: NDArray[np.float64],
    size: NDArray[np.float64],
    day: NDArray[np.int64],
    of_day: NDArray[np.int64],
    skew: float,
) -> Baseline:
    """Return the baseline with what chance makes of its users and days."""
    total = tally(of_day, size, len(day))
    level = tally(of_day, size * gaps, len(day)) / total
    error = baseline.variance * tally(of_day, size**2, len(day)) / total**2
    # Also where no weekday differed enough: days that happen to look calm would be believed else.
    weekday = (day + FIRST_WEEKDAY) % WEEK if len(day) >= 2 * WEEK else np.zeros_like(day)
    ratio, correlation = fit_days(level, error, day, weekday)
    usual = baseline.variance / baseline.per_day
    day_variance = ratio * usual
    days = len(day)
    variance = usual / days + day_variance * average(correlation, days)
    baseline = replace(baseline, half_width=ERRORS * math.sqrt(variance))
    # The least fall is rounded down, so that streams that are alike are simulated once. The levels
    # of hours hardly depend on it, and take longer.
    step = 1.25 if baseline.is_hourly else 1.05
    levels = simulate(
        least=step ** math.floor(math.log(2 * baseline.margin / math.sqrt(usual), step)),
        ratio=ratio,
        correlation=correlation,
        days=days,
        has_weekdays=bool(baseline.weekdays),
        is_hourly=baseline.is_hourly,
    )
    noise = Noise(day_variance=day_variance, correlation=correlation, skew=skew, levels=levels)
    return replace(baseline, noise=noise)


def find_gaps(baseline: Baseline, seen: Observations, shared: int | None = None) -> Gaps:
    """Return the gaps of the users of one period.

    The expected mean follows the mix of the period: if more searches come from a cell that has
    always been worse, less is expected. The less the baseline knows about the cells of the period,
    the larger is the margin.
    """
    length = HOUR if baseline.is_hourly else DAY
    has_weights = seen.weight is not None
    units = group_units(seen, length, baseline.most if has_weights else None)
    _check(units.value)
    expected = baseline.cells.expect(seen.cells)[units.cell]
    if baseline.weekdays:
        weekday = (units.hour // HOURS + FIRST_WEEKDAY) % WEEK
        expected = expected + np.array(baseline.weekdays)[weekday]
    if baseline.hours:
        expected = expected + np.array(baseline.hours)[units.hour % HOURS]
    expected = np.clip(expected, 0.0, 1.0)
    wanted, found = units.add(expected) / units.size, units.add(units.value) / units.size
    gap = wanted - found
    order = np.lexsort((wanted, units.size, gap))
    gap, size, wanted, found = gap[order], units.size[order], wanted[order], found[order]
    total = size.sum()
    if not total:
        return Gaps(
            gap=gap,
            room=0.0,
            depth=0.0,
            margin=baseline.margin,
            value=math.nan,
            expected=baseline.mean,
        )
    mix = tally(units.cell, units.weight, len(seen.cells))
    error = baseline.cells.error_of(seen.cells, mix)
    widened = math.sqrt(max(error / baseline.share_error, 1.0)) if baseline.share_error else 1.0
    effective = float(total**2 / (size**2).sum())
    sampling = baseline.variance / effective
    noise = baseline.noise
    day_variance = baseline.day_variance if noise is None else noise.day_variance
    days = DAY_WEIGHT * day_variance * (1.0 if shared is None else shared / effective)
    margin = min(max(widened * baseline.half_width, baseline.tolerance), 1.0)
    spread = _spread(gap, size)
    likelihood = None
    if noise is not None:
        # Other users may differ more than those of the baseline, beyond chance. Those who have
        # fewer labels than in the baseline do differ more.
        doubt = 0.0 if has_weights else 2 * math.sqrt(2 / max(effective, 8.0))
        least = spread * (1 - doubt)
        likelihood = Likelihood(
            least=2 * margin,
            variance=max(baseline.variance, least) / effective,
            skew=noise.skew / math.sqrt(effective),
            day=int(units.hour[0]) // HOURS,
            day_variance=noise.day_variance,
            correlation=noise.correlation,
            levels=noise.levels,
        )
    return Gaps(
        gap=gap,
        weight=size if has_weights else None,
        room=float(1 - wanted.min()),
        depth=float(wanted.max()),
        margin=margin,
        gamma=sampling / (sampling + days) if sampling else 1.0,
        value=float((size * found).sum() / total),
        expected=float((size * wanted).sum() / total),
        error=math.sqrt(spread / effective + baseline.day_variance),
        likelihood=likelihood,
    )


def _find_draws(cluster: NDArray[np.int64], day: NDArray[np.int64], days: int) -> NDArray[np.int64]:
    """Return, by unit, the number of the independent draw that it belongs to.

    A user is one draw from all users. A user who comes on a quarter of the days or more is a
    lasting part of the traffic instead, like a popular query where queries stand for users: only
    what varies from day to day is chance, and each day is a draw.
    """
    pair, of_pair = np.unique(cluster * days + day, return_inverse=True)
    count = np.bincount(pair // days)
    is_lasting = (count >= LASTING * days) & (days >= WEEK)
    draw = np.where(is_lasting[cluster], len(count) + of_pair, cluster)
    return np.asarray(np.unique(draw, return_inverse=True)[1], dtype=np.int64)


def _spread(gaps: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    """Return the variance of gaps, of which each counts by the square of its size."""
    square = sizes**2
    centre = np.average(gaps, weights=sizes)
    return float((square * (gaps - centre) ** 2).sum() / square.sum())


def _find_skew(gaps: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    """Return the skewness of gaps: above 0 if few of them are large."""
    rest = gaps - np.average(gaps, weights=sizes)
    square = float(np.average(rest**2, weights=sizes))
    return float(np.average(rest**3, weights=sizes)) / square**1.5 if square > 0 else 0.0


def _check(values: NDArray[np.float64]) -> None:
    if len(values) and not (values.min() >= 0 and values.max() <= 1):
        raise InputError(
            f"expected values from 0 to 1, found {values.min():g} to {values.max():g}",
            hint="remove queries without a value, and scale measures that can exceed 1",
            code="bad_observation",
        )


def _quantile(level: float) -> float:
    """Return the normal quantile that is exceeded with this probability."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(1 - level)
