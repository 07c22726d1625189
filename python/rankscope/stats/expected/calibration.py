"""The calibration of expected values on lists that have their labels."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.records import record
from rankscope.stats.expected.curves import Grades, expect_lists, fit_grades

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope.stats.expected.curves import Lists

    Numbers: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.int64]

FEWEST = 500
"""Final lists that a calibration needs."""
FEWEST_DAYS = 4
"""Days with final lists that it needs."""
FEWEST_IN_GROUP = 100
"""Final lists that a group needs, to have an effect and expected values of its own."""
FOLDS = 5
BLOCKS = 14
DAY = 24
SLOPE, EFFECT = 0.5, 0.1
"""How far the slopes are from 1, and effects of groups from 0, before there is any data."""
OUTSIDE = 0.005
"""The share of scores at either end that is outside of the calibrated range."""


@record(frozen=True, slots=True, kw_only=True)
class Early:
    """What the first labels of lists said, less what was expected of these lists.

    Args:
        mean: The mean of the differences.
        variance: Their variance.
        of_days: The variance between days.
    """

    mean: float
    variance: float
    of_days: float


@record(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What is expected of lists, and how certain that is.

    Args:
        lists: How many lists it was fitted to.
        days: On how many days they were shown.
        mean: The mean of their values.
        grades: The probabilities of gains.
        discounts: What a gain counts at each rank, down to the cutoff.
        groups: How many lists of each group it was fitted to.
        centers: What the terms of a list are centered at.
        value: What each term adds to the value of a list that is defined.
        defined: What it adds to the probability that it is.
        blocks: How leaving out a block of days changes what each term adds to the mean.
        users: How leaving out some of the users does.
        variance: The variance of what is left of a list.
        shared: Its covariance between lists of one cluster.
        of_days: The variance that days add to their mean.
        of_hours: The variance that hours do.
        scores: The range of scores.
        terms: The range of what is expected of a list: from the 5th to the 95th percentile.
        early: What the first labels said.
    """

    lists: int
    days: int
    mean: float
    grades: Grades
    discounts: tuple[float, ...]
    groups: tuple[int, ...]
    centers: tuple[float, ...]
    value: tuple[float, ...]
    defined: tuple[float, ...]
    blocks: tuple[tuple[float, ...], ...]
    users: tuple[tuple[float, ...], ...]
    variance: float
    shared: float
    of_days: float
    of_hours: float
    scores: tuple[float, float] | None
    terms: tuple[tuple[float, float], ...]
    early: Early | None


def count_missing(lists: int, days: int) -> tuple[int, int]:
    """Return how many final lists, and days with some, a calibration lacks."""
    return max(FEWEST - lists, 0), max(FEWEST_DAYS - days, 0)


def make_terms(share: Numbers, chance: Numbers, groups: Places, counts: Places) -> Numbers:
    """Return the terms of lists: what is expected of them, and the groups that they are in."""
    terms = np.zeros((len(share), 2 + len(counts)))
    terms[:, 0], terms[:, 1] = share * chance, chance
    for column in groups.T:
        rows = np.flatnonzero(column >= 0)
        terms[rows, 2 + column[rows]] = 1.0
    terms[:, 2:][:, counts < FEWEST_IN_GROUP] = 0.0
    return terms


def fit_calibration(
    lists: Lists,
    gains: Numbers,
    values: Numbers,
    early: Numbers,
    *,
    discounts: Numbers,
    groups: int,
) -> Calibration:
    """Fit a calibration to lists that have their labels.

    Args:
        lists: The lists, of at least `FEWEST_DAYS` days.
        gains: The gain of each document.
        values: The value of each list; NaN where it has none.
        early: The value by its first labels; NaN where they said nothing.
        discounts: What a gain counts at each rank, from 1, down to the cutoff.
        groups: How many groups there are.
    """
    day, days = _number(lists.hours // DAY)
    count = len(lists)
    share, chance = _cross_fit(lists, gains, discounts, day % min(FOLDS, days))
    sizes = np.zeros(groups, dtype=np.int64)
    for column in lists.groups.T:
        sizes += np.bincount(column[column >= 0], minlength=groups)
    terms = make_terms(share, chance, lists.groups, sizes)
    is_defined = ~np.isnan(values)
    wanted = np.stack([np.where(is_defined, values, 0.0), is_defined.astype(np.float64)])
    mean = float(wanted[0].sum() / wanted[1].sum())
    centers = terms.mean(axis=0)
    design = np.column_stack([np.ones(count), terms - centers])
    fits = [_Fit(design, side, at) for at, side in enumerate(wanted)]
    value, defined = (fit.solve() for fit in fits)
    left = (wanted[0] - design @ value) - mean * (wanted[1] - design @ defined)
    users = lists.clusters % BLOCKS
    block = day * min(BLOCKS, days) // days
    whole = value - mean * defined

    def leave_out(parts: Places) -> tuple[tuple[float, ...], ...]:
        some = [np.flatnonzero(parts == part) for part in np.unique(parts).tolist()]
        changes = [fits[0].solve(rows) - mean * fits[1].solve(rows) - whole for rows in some]
        return tuple(tuple(change.tolist()) for change in changes)

    # Lists that are all alike may have had others among them that weren't seen (rule of three).
    variance = max(float((left**2).mean()), 3 / count)
    shared = _share(
        left, np.unique(np.stack([day, lists.clusters]), axis=1, return_inverse=True)[1]
    )
    scores = lists.scores[np.isfinite(lists.scores)]
    return Calibration(
        lists=count,
        days=days,
        mean=mean,
        grades=fit_grades(lists.scores, lists.ranks, gains),
        discounts=tuple(discounts.tolist()),
        groups=tuple(sizes.tolist()),
        centers=tuple(centers.tolist()),
        value=tuple(value.tolist()),
        defined=tuple(defined.tolist()),
        blocks=leave_out(block),
        users=leave_out(users),
        variance=variance,
        shared=shared,
        of_days=_vary(left, day, lists.clusters, variance, shared),
        of_hours=_vary(left, _number(lists.hours)[0], lists.clusters, variance, shared),
        scores=tuple(np.quantile(scores, [OUTSIDE, 1 - OUTSIDE]).tolist()) if len(scores) else None,
        terms=tuple(map(tuple, np.quantile(terms[:, :2], [0.05, 0.95], axis=0).T.tolist())),
        early=_watch_early(early - share, day),
    )


def _number(things: Places) -> tuple[Places, int]:
    used, places = np.unique(things, return_inverse=True)
    return places, len(used)


def _cross_fit(
    lists: Lists, gains: Numbers, discounts: Numbers, fold: Places
) -> tuple[Numbers, Numbers]:
    """Return what is expected of each list by the lists of other days."""
    share, chance = np.zeros(len(lists)), np.zeros(len(lists))
    of_document = np.repeat(fold, np.diff(lists.offsets))
    for part in np.unique(fold).tolist():
        others = of_document != part
        grades = fit_grades(lists.scores[others], lists.ranks[others], gains[others])
        rows = np.flatnonzero(fold == part)
        chosen, _ = lists.choose(rows)
        share[rows], chance[rows] = expect_lists(grades, chosen, discounts)
    return share, chance


class _Fit:
    """A ridge regression, which can leave some rows out.

    Args:
        design: Its terms, centered, after a constant.
        wanted: What it explains.
        slope: Which of the first two terms is expected to have a slope of 1.
    """

    def __init__(self, design: Numbers, wanted: Numbers, slope: int) -> None:
        self._design = design
        width = design.shape[1]
        self._prior = np.zeros(width)
        # Where all are defined, nothing explains that.
        self._prior[1 + slope] = float(np.ptp(wanted) > 0)
        self._rest = wanted - design @ self._prior
        spread = max(float(wanted.var()), 1e-6)
        self._ridge = np.full(width, spread / EFFECT**2)
        self._ridge[0], self._ridge[1:3] = 1e-9, spread / SLOPE**2
        self._products: NDArray[Any] = design.T @ design
        self._sums: NDArray[Any] = design.T @ self._rest

    def solve(self, without: Places | None = None) -> Numbers:
        """Return what each term adds."""
        products, sums = self._products, self._sums
        if without is not None:
            some = self._design[without]
            products, sums = products - some.T @ some, sums - some.T @ self._rest[without]
        found: Numbers = np.linalg.solve(products + np.diag(self._ridge), sums)
        return found + self._prior


def _share(left: Numbers, cluster: Places) -> float:
    """Return the covariance of what is left of two lists of one cluster and day."""
    sizes = np.bincount(cluster)
    pairs = float((sizes * (sizes - 1.0)).sum())
    products = float((np.bincount(cluster, left) ** 2).sum() - (left**2).sum())
    return max(products / pairs, 0.0) if pairs else 0.0


def sample_variance(sizes: Places, variance: float, shared: float) -> float:
    """Return the variance of a mean of lists, given how many each cluster has."""
    count = float(sizes.sum())
    squares = float((sizes.astype(np.float64) ** 2).sum())
    return (count * variance + (squares - count) * shared) / count**2


def _vary(left: Numbers, time: Places, cluster: Places, variance: float, shared: float) -> float:
    """Return the variance that times add to the mean of a later one, seen from all of these.

    A time is often like its neighbours. Those of a calibration then differ less from their mean
    than a later one will.
    """
    sizes = np.bincount(time).astype(np.float64)
    count = len(sizes)
    keys = np.unique(np.stack([time, cluster]), axis=1, return_counts=True)
    squares = np.bincount(keys[0][0], keys[1].astype(np.float64) ** 2, count)
    noise = (sizes * variance + (squares - sizes) * shared) / sizes**2
    mean = np.bincount(time, left, count) / sizes
    weight = 1 / noise
    between = float(((mean**2 - noise) * weight).sum() / weight.sum())
    if between <= 0:
        return 0.0
    near = float((mean[1:] * mean[:-1]).mean()) / between
    like = min(max(near + (1 + 3 * max(near, 0.0)) / count, 0.0), 0.9)
    share = min((1 + like) / (1 - like) / count, 0.5)
    return between * (1 + share) / (1 - share)


def _watch_early(gaps: Numbers, day: Places) -> Early | None:
    """Return what the first labels said, less what was expected."""
    seen = np.flatnonzero(~np.isnan(gaps))
    if len(seen) < FEWEST_IN_GROUP:
        return None
    gap, at = gaps[seen], _number(day[seen])[0]
    sizes = np.bincount(at)
    variance = float(gap.var())
    means = np.bincount(at, gap) / sizes
    of_days = float(np.average((means - gap.mean()) ** 2 - variance / sizes, weights=sizes))
    return Early(mean=float(gap.mean()), variance=variance, of_days=max(of_days, 0.0))
