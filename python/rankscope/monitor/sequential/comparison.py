"""Comparison of two versions while both serve, which can be checked at any time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope.errors import UsageError

Numbers = NDArray[np.float64]
Whole = NDArray[np.int64]


TUNED_FOR = 500
"""The interval is narrowest at about so many users."""

FEWEST_USERS = 30
"""With fewer users of a version, there is no interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The difference between two versions while both serve.

    Args:
        value: The mean of the new version less that of the old one, for the same mix of cells.
        lower: The lower end of its confidence sequence; NaN with too few users.
        upper: The upper end; NaN with too few users.
        level: The probability that the true difference is in the interval at all times.
        old: The mean of the old version.
        new: The mean of the new version, as the old one plus the difference.
        users: The number of users of the old and of the new version.
        effective_users: As how many users of equal weight those of the version with fewer count.
        rankings: The number of rankings of each that are compared.
        explained: The share of the variance that the covariate explains.
        error: The standard error of the difference.
    """

    value: float
    lower: float
    upper: float
    level: float
    old: float
    new: float
    users: tuple[int, int]
    effective_users: float
    rankings: tuple[int, int]
    explained: float
    error: float

    @property
    def has_interval(self) -> bool:
        """Whether there are enough users for an interval."""
        return not math.isnan(self.lower)

    @property
    def is_worse(self) -> bool:
        """Whether the new version is worse, beyond chance."""
        return self.upper < 0

    @property
    def is_better(self) -> bool:
        """Whether the new version is better, beyond chance."""
        return self.lower > 0


def compare_versions(
    value: Numbers,
    cluster: NDArray[Any],
    is_new: NDArray[np.bool_],
    *,
    cell: Whole | None = None,
    covariate: Numbers | None = None,
    level: float = 0.95,
) -> Difference | None:
    """Return the difference between two versions, with an interval that is valid at any time.

    Call this with all rankings since both versions serve, as often as you like. `follow_difference`
    describes the interval, and returns that of each day.

    Examples:
        >>> import numpy as np
        >>> draw = np.random.default_rng(1)
        >>> is_new = draw.random(4000) < 0.3
        >>> value = draw.random(4000) - 0.1 * is_new
        >>> found = compare_versions(value, np.arange(4000), is_new)
        >>> found.is_worse, found.lower < -0.1 < found.upper
        (True, True)
    """
    day = np.zeros(len(value), dtype=np.int64)
    found = follow_difference(
        value, cluster, is_new, day, cell=cell, covariate=covariate, level=level
    )
    return found[-1][1] if found else None


def follow_difference(
    value: Numbers,
    cluster: NDArray[Any],
    is_new: NDArray[np.bool_],
    day: Whole,
    *,
    cell: Whole | None = None,
    covariate: Numbers | None = None,
    level: float = 0.95,
) -> list[tuple[int, Difference]]:
    """Return the difference between two versions as of each day, from all rankings until then.

    The asymptotic confidence sequence contains the true difference on all days with probability
    `level`, however often it is looked at (Lindon, Ham, Tingley and Bojinov, *Anytime-valid linear
    models*, 2022; Waudby-Smith et al., *Time-uniform central limit theory and asymptotic confidence
    sequences*, Annals of Statistics 2024). Users are the units of sampling. A user may have seen
    both versions: what is alike in both then cancels out.

    Values are regressed on the version within each cell of each day. What a day or a cell does to
    both versions is no difference, whichever share of it the new version has. A cell with n old and
    m new rankings counts as n m / (n + m) pairs; one that has only one version doesn't count.

    The variance is that of the users' sums (cluster-robust). Where it is less than if the values of
    both versions varied alike, as with a few users without a bad ranking, that is taken instead.
    """
    if not 0 < level < 1:
        raise UsageError(
            f"the level must be above 0 and below 1, found {level}",
            hint="0.95 is usual",
            code="bad_level",
        )
    cells = np.zeros(len(value), dtype=np.int64) if cell is None else np.asarray(cell)
    known = np.full(len(value), math.nan) if covariate is None else np.asarray(covariate)
    if len({len(value), len(cluster), len(is_new), len(day), len(cells), len(known)}) > 1:
        raise UsageError(
            "expected columns of one length",
            hint="pass a value, a cluster and a version for each ranking",
            code="column_length",
        )
    kept = np.flatnonzero(~np.isnan(value))
    _, users = np.unique(np.asarray(cluster)[kept], return_inverse=True)
    # The order of rows changes no bit.
    order = np.lexsort((known[kept], value[kept], is_new[kept], users, cells[kept], day[kept]))
    kept, users = kept[order], users[order]
    arm = np.asarray(is_new)[kept].astype(np.int64)
    days = np.asarray(day)[kept]
    first = np.ones(len(kept), dtype=np.bool_)
    first[1:] = (np.diff(days) != 0) | (np.diff(cells[kept]) != 0)
    place = np.cumsum(first) - 1
    count = int(place[-1]) + 1 if len(place) else 0
    sizes = np.array([np.bincount(place[arm == each], minlength=count) for each in (0, 1)])
    rows = np.flatnonzero(np.minimum(sizes[0], sizes[1])[place] > 0)
    if not len(rows):
        return []
    kept, users, arm, days, place = kept[rows], users[rows], arm[rows], days[rows], place[rows]
    sums = _Sums(len(kept) and int(users.max()) + 1, level)
    found = []
    ends = np.flatnonzero(np.append(np.diff(days) != 0, True)) + 1
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        part = slice(start, end)
        sums.add(
            value[kept[part]].astype(np.float64),
            known[kept[part]],
            users[part],
            arm[part],
            place[part] - place[start],
        )
        found.append((int(days[start]), sums.estimate()))
    return found


class _Sums:
    """Sums over the rankings of all days so far, from which the difference follows.

    With x the version, y the value and z the covariate, less their means in the cell: the products
    x y, x x, x z, z y and z z, by user and in all.

    Args:
        users: The number of users.
        level: The confidence level.
    """

    def __init__(self, users: int, level: float) -> None:

        self._level = level
        self._by_user = np.zeros((users, 5))
        self._squares = np.zeros((5, 5))
        self._in_arm = np.zeros((2, users))
        self._rankings = np.zeros(2, dtype=np.int64)
        self._cells = 0
        self._known = 0
        self._total = 0.0
        self._old = 0.0

    def add(
        self,
        value: Numbers,
        known: Numbers,
        users: Whole,
        arm: Whole,
        place: Whole,
    ) -> None:
        """Add the rankings of a day, whose cells all have both versions."""
        _, place = np.unique(place, return_inverse=True)
        size = np.bincount(place)
        count = len(size)

        def centre(column: Numbers) -> Numbers:
            return np.asarray(column - (np.bincount(place, column, count) / size)[place])

        has = ~np.isnan(known)
        # Where nothing is known of a query, it is taken for an average one.
        middle = known[has].mean() if has.any() else 0.0
        x, y = centre(arm.astype(np.float64)), centre(value)
        z = centre(np.where(has, known - middle, 0.0))
        products = np.column_stack((x * y, x * x, x * z, z * y, z * z))
        for column in range(5):
            self._by_user[:, column] += np.bincount(users, products[:, column], len(self._by_user))
        self._squares += products.T @ products
        for each in (0, 1):
            self._in_arm[each] += np.bincount(
                users[arm == each], (x * x)[arm == each], len(self._by_user)
            )
            self._rankings[each] += int((arm == each).sum())
        of_old = arm == 0
        old = np.bincount(place[of_old], value[of_old], count)
        # The pairs of a cell times its mean of the old version.
        self._old += float((old * (1 - np.bincount(place[of_old], minlength=count) / size)).sum())
        self._cells += count
        self._known += int(has.sum())
        self._total += float((y * y).sum())

    def estimate(self) -> Difference:
        """Return the difference as of now."""
        xy, xx, xz, zy, zz = self._by_user.sum(axis=0).tolist()
        has_covariate = self._known >= FEWEST_USERS and zz * xx - xz * xz > 1e-12 * zz * xx
        gamma = slope = 0.0
        if has_covariate:
            gamma = xz / zz
            slope = (zy * xx - xz * xy) / (zz * xx - xz * xz)
        pairs = xx - gamma * xz
        difference = (xy - gamma * zy) / pairs
        # By user, the sum of (x - gamma z) (y - difference x - slope z) is this combination.
        weights = np.array([1.0, -difference, gamma * difference - slope, -gamma, gamma * slope])
        by_user = self._by_user @ weights
        rows, users = int(self._rankings.sum()), int((self._in_arm.sum(axis=0) > 0).sum())
        rest = self._total - 2 * (difference * xy + slope * zy)
        rest += difference**2 * xx + 2 * difference * slope * xz + slope**2 * zz
        rest = max(rest, 0.0)
        freedom = max(rows - self._cells - 1 - has_covariate, 1)
        clustered = float((by_user**2).sum()) * users / max(users - 1, 1)
        separate = float(weights @ self._squares @ weights)
        # As if one more ranking had been seen, half of the range away from what was expected.
        alike = (rest + 0.25) / freedom * pairs
        factor = rows / freedom
        variance = clustered * factor * max(1.0, alike / (separate * factor)) if separate else alike
        error = math.sqrt(variance) / pairs
        effective = min(
            float(one.sum()) ** 2 / float((one**2).sum()) if one.any() else 0.0
            for one in self._in_arm
        )
        radius = math.nan
        if effective >= FEWEST_USERS:
            radius = error * find_factor(effective, 1 - self._level)
        alone = self._total - xy**2 / xx
        old = self._old / xx
        return Difference(
            value=difference,
            lower=difference - radius,
            upper=difference + radius,
            level=self._level,
            old=old,
            new=old + difference,
            users=(int((self._in_arm[0] > 0).sum()), int((self._in_arm[1] > 0).sum())),
            effective_users=effective,
            rankings=(int(self._rankings[0]), int(self._rankings[1])),
            explained=max(1 - rest / alone, 0.0) if has_covariate and alone > 0 else 0.0,
            error=error,
        )


def find_factor(users: float, error: float) -> float:
    """Return how many standard errors the interval reaches to each side."""
    tuned = -2 * math.log(error) + math.log(-2 * math.log(error)) + 1
    scale = users * tuned / TUNED_FOR
    return math.sqrt((scale + 1) / scale * math.log((scale + 1) / error**2))
