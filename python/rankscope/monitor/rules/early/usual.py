"""How surprising the newest hours of a signal are, by its own days.

The mean of a span of hours is compared with the means of the same hours of the days before: with
how much users differ, and with how much days differ beyond that. Of the latter, few days tell
little, and so do days that are like the day before: then a change has to be larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


SPANS = (24, 1, 2, 3, 6, 12, 48, 72)
"""The hours that are judged together, up to the newest one: first the day, which others need."""
DAYS = 28
"""The number of days in the baseline."""
FEWEST_DAYS = 7
FEWEST = 10
"""Fewer rankings, counted as users of one ranking each, tell nothing."""
HOURS = 24
WEEKDAYS = 7
SURE = 1.0
"""By how many standard errors what days differ by is taken to be larger than it seems."""


class Sums(NamedTuple):
    """Cumulative sums of signals by hour: a row for each stream and signal.

    Their shape is rows × (hours + 1); the first column is 0. With S the sum of the values of a
    user, or of what else is counted as one, in an hour, and n their number:

    Args:
        rankings: Of n.
        total: Of S.
        sizes: Of n².
        products: Of S n.
        squares: Of S².
    """

    rankings: Floats
    total: Floats
    sizes: Floats
    products: Floats
    squares: Floats


class Judgment(NamedTuple):
    """What the newest hours say, by row, end and span, as `SPANS` has them.

    Args:
        evidence: The natural logarithm of one divided by a bound of the probability of a mean as
            far from the usual one; 0 where nothing can be said.
        value: The mean.
        usual: The mean that is usual.
        spread: The standard deviation of their difference, by what is known.
        users: The variance of the mean that is due to users.
        rankings: Their number.
        days: The number of days in the baseline.
    """

    evidence: Floats
    value: Floats
    usual: Floats
    spread: Floats
    users: Floats
    rankings: Floats
    days: Floats


def add_up(hours: Sums) -> Sums:
    """Return the cumulative sums of the sums of hours, which are rows × hours."""
    return Sums(*map(accumulate, hours))


def accumulate(hours: NDArray[np.generic]) -> Floats:
    """Return the sums of the first hours of rows: of none, of one, and so on."""
    summed = np.zeros((len(hours), hours.shape[1] + 1))
    np.cumsum(hours, axis=1, out=summed[:, 1:])
    return summed


def judge(
    sums: Sums,
    ends: NDArray[np.int64],
    *,
    spans: Sequence[int] = SPANS,
    before: Sums | None = None,
    skipped: Floats | None = None,
    reach: int = DAYS,
    margin: Floats | float = 0.0,
    is_share: bool = True,
) -> Judgment:
    """Compare the spans that end before some hours with the same hours of the days before.

    Args:
        sums: The sums of hours.
        ends: How many hours are before each end.
        spans: How many hours are judged together, up to an end; a day is the first.
        before: The sums of the hours of the baseline, if these are others; hours that are left out
            are 0.
        skipped: How many hours were left out before each hour.
        reach: How many days are looked at to find `DAYS` that are not left out.
        margin: By how much the means of rows may differ without surprise.
        is_share: Whether values are from 0 to 1.
    """
    known = sums if before is None else before
    judged, daily = [], None
    for hours in spans:
        first = -(-hours // HOURS)
        shifts = np.arange(first, first + reach)
        stops = ends[:, None] - HOURS * shifts
        counts, totals = (_cut(each, stops, hours) for each in (known.rankings, known.total))
        if skipped is not None:
            counts[_cut(skipped, stops, hours) > 0] = 0.0
        if reach > DAYS:
            counts[np.cumsum(counts > 0, axis=-1) > DAYS] = 0.0
        totals[counts == 0] = 0.0
        long = [_cut(each, (ends - hours)[:, None], reach * HOURS)[..., 0] for each in known]
        here = Sums(*(_cut(each, ends[:, None], hours)[..., 0] for each in sums))
        usual = learn(gather(counts, totals, shifts), long, daily)
        daily = usual.between if daily is None else daily
        judged.append(compare(here, usual, margin, is_share=is_share))
    return Judgment(*(np.stack(each, axis=-1) for each in zip(*judged, strict=True)))


def _cut(summed: Floats, stops: NDArray[np.int64], hours: int) -> Floats:
    """Return the sums of spans; those that begin before the first hour have what there is."""
    cut: Floats = summed[:, np.maximum(stops, 0)] - summed[:, np.maximum(stops - hours, 0)]
    return cut


class Days(NamedTuple):
    """Sums over the same hours of several days, of which C is the rankings of one and T its total.

    Args:
        known: The number of days with rankings.
        weight: Of C.
        total: Of T.
        squares: Of C².
        in_all: Of T² / C.
        parts: Of the same for the sums of weekdays.
        has_all: Whether all weekdays have rankings.
        own: Of C, for the weekday of the end.
        own_total: Of T.
    """

    known: Floats
    weight: Floats
    total: Floats
    squares: Floats
    in_all: Floats
    parts: Floats
    has_all: NDArray[np.bool_]
    own: Floats
    own_total: Floats


def gather(counts: Floats, totals: Floats, shifts: NDArray[np.int64]) -> Days:
    """Sum rows × ends × days, which are some days before."""
    kinds = (shifts[:, None] % WEEKDAYS == np.arange(WEEKDAYS)).astype(np.float64)
    of_kind, sum_of_kind = counts @ kinds, totals @ kinds
    with np.errstate(divide="ignore", invalid="ignore"):
        return Days(
            (counts > 0).sum(axis=-1),
            counts.sum(axis=-1),
            totals.sum(axis=-1),
            (counts**2).sum(axis=-1),
            np.where(counts > 0, totals**2 / counts, 0.0).sum(axis=-1),
            np.where(of_kind > 0, sum_of_kind**2 / of_kind, 0.0).sum(axis=-1),
            (of_kind > 0).all(axis=-1),
            of_kind[..., 0],
            sum_of_kind[..., 0],
        )


class Usual(NamedTuple):
    """What is usual in spans: the mean, and what makes single spans differ from it."""

    mean: Floats
    unit: Floats  # the variance of a ranking
    squared: Floats  # the variance of the mean of a user of n rankings, by n² / N²
    between: Floats  # the variance of days
    error: Floats  # the variance of the mean
    degrees: Floats
    days: Floats


def learn(same: Days, long: list[Floats], daily: Floats | None) -> Usual:
    """Learn what is usual from the same hours of several days, and from all of their hours."""
    with np.errstate(divide="ignore", invalid="ignore"):
        count, total, sizes, products, squares = long
        middle = total / count
        size = sizes / count
        # With one more that is as far off as can be: what never happened may happen.
        rest = np.maximum(squares - 2 * middle * products + middle**2 * sizes, 0.0) + size**2
        squared = rest / sizes
        unit = squared * size
        days, weight = same.known, same.weight
        mean = same.total / weight
        within = np.maximum(same.in_all - same.parts, 0.0)
        among = np.maximum(same.parts - same.total**2 / weight, 0.0)
        # Weekdays count as far as they differ by more than days of one weekday do.
        share = 1 - (within / (days - WEEKDAYS)) / (among / (WEEKDAYS - 1))
        is_known = (days >= 2 * WEEKDAYS) & same.has_all & (among > 1e-12 * weight)
        share = np.where(is_known, np.clip(np.nan_to_num(share), 0.0, 1.0), 0.0)
        degrees = np.where(
            is_known, days - WEEKDAYS + (WEEKDAYS - 1) * (1 - share) ** 2, days - 1.0
        )
        ours = np.where(same.own > 0, same.own_total / same.own, mean)
        usual = mean + share * (ours - mean)
        residual = (within + (1 - share) ** 2 * among) / degrees
        often = (weight - same.squares / weight) / (days - 1)
        upper = residual * (1 + SURE * np.sqrt(2 / degrees))
        between = np.maximum(upper - unit, 0.0) / often
        if daily is not None:
            between = np.maximum(between, daily)
        own = np.where(same.own > 0, share / same.own, 0.0)
        error = (unit + between * often) * ((1 - share) / weight + own)
    return Usual(usual, unit, squared, between, error, degrees, days)


def compare(
    here: Sums,
    usual: Usual,
    margin: Floats | float,
    *,
    is_share: bool,
) -> Judgment:
    """Compare spans with what is usual."""
    count, total, sizes, _, _ = here
    with np.errstate(divide="ignore", invalid="ignore"):
        value = total / count
        users = usual.squared * sizes / count**2
        variance = users + usual.between + usual.error
        degrees = usual.degrees * (variance / usual.between) ** 2
        change = np.maximum(np.abs(value - usual.mean) - margin, 0.0)
        farthest = np.where(value > usual.mean, 1 - usual.mean, usual.mean)
        step = farthest * sizes / count**2 if is_share else np.zeros_like(change)
        gaussian = bound(change, variance, step)
        degrees = np.minimum(degrees, 1e6)
        evidence = (degrees + 1) / 2 * np.log1p(2 * gaussian / degrees)
        is_known = (usual.days >= FEWEST_DAYS) & (count**2 >= FEWEST * sizes) & (count > 0)
        evidence = np.where(is_known, np.nan_to_num(evidence), 0.0)
    return Judgment(evidence, value, usual.mean, np.sqrt(variance), users, count, usual.days)


def bound(change: Floats, variance: Floats, step: Floats) -> Floats:
    """Return the logarithm of one divided by Bennett's bound of a deviation of a mean.

    That of a normal distribution where no value alone moves the mean by much; where values are
    mostly 0 and rarely 1, a few of them are less surprising.

    Examples:
        >>> import numpy as np
        >>> change, variance = np.array([0.3]), np.array([0.01])
        >>> [bound(change, variance, np.array([step])).round(2).tolist() for step in (0.0, 0.1)]
        [[4.5], [2.55]]
    """
    part = step * change / variance
    large = np.maximum(part, 1e-3)  # below, the difference is lost in rounding
    exact = ((1 + large) * np.log1p(large) - large) / large**2
    factor = np.where(part < large, 0.5 - part / 6, exact)
    surprise: Floats = change**2 / variance * factor
    return surprise
