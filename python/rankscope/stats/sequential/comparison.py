"""Comparison of two versions while both serve, which can be checked at any time."""

from __future__ import annotations

import math

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

TUNED_FOR = 500
"""The interval is narrowest at about so many users."""

FEWEST_USERS = 30
"""With fewer users of a version, there is no interval."""


@record(frozen=True, slots=True, kw_only=True)
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
        rankings: The number of rankings of each that are compared.
        explained: The share of the variance that the covariate explains.
    """

    value: float
    lower: float
    upper: float
    level: float
    old: float
    new: float
    users: tuple[int, int]
    rankings: tuple[int, int]
    explained: float

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
    cell: NDArray[np.int64] | None = None,
    covariate: Numbers | None = None,
    level: float = 0.95,
) -> Difference | None:
    """Return the difference between two versions, with an interval that is valid at any time.

    Call this with all rankings since both versions serve, as often as you like: the asymptotic
    confidence sequence contains the true difference at all times with probability `level`
    (Waudby-Smith et al., *Time-uniform central limit theory and asymptotic confidence sequences*,
    Annals of Statistics 2024; Lindon, Ham, Tingley and Bojinov, *Anytime-valid linear models*,
    2022). Users are the units of sampling, so a user may have seen both versions. It needs hundreds
    of users to be accurate.

    Versions are compared within cells, of which only those with rankings of both versions count. If
    the release reaches one device after another, the difference is that on the devices that have
    both.

    Args:
        value: By ranking, its value; NaN if the policy leaves it out.
        cluster: Its user, as text or integers.
        is_new: Whether the new version ranked it.
        cell: Its cell, as a number from 0 on; by default, all are in one.
        covariate: What was known before the comparison, such as the mean value of its query in the
            weeks before; NaN if nothing was known. The values are adjusted by regression (CUPED).
        level: The confidence level, above 0 and below 1.

    Returns:
        The difference, or `None` if no cell has rankings of both versions.

    Raises:
        UsageError: The columns have different lengths, or the level is not above 0 and below 1.

    Examples:
        >>> import numpy as np
        >>> draw = np.random.default_rng(1)
        >>> is_new = draw.random(4000) < 0.3
        >>> value = draw.random(4000) - 0.1 * is_new
        >>> found = compare_versions(value, np.arange(4000), is_new)
        >>> found.is_worse, found.lower < -0.1 < found.upper
        (True, True)
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if not 0 < level < 1:
        raise UsageError(
            f"the level must be above 0 and below 1, found {level}",
            hint="0.95 is usual",
            code="bad_level",
        )
    cells = np.zeros(len(value), dtype=np.int64) if cell is None else np.asarray(cell)
    known = np.full(len(value), math.nan) if covariate is None else np.asarray(covariate)
    if len({len(value), len(cluster), len(is_new), len(cells), len(known)}) > 1:
        raise UsageError(
            "expected columns of one length",
            hint="pass a value, a cluster and a version for each ranking",
            code="column_length",
        )
    kept = np.flatnonzero(~np.isnan(value))
    # The order of rows changes no bit.
    _, users = np.unique(np.asarray(cluster)[kept], return_inverse=True)
    order = np.lexsort((known[kept], value[kept], is_new[kept], cells[kept], users))
    kept, users = kept[order], users[order]
    arm, place = np.asarray(is_new)[kept].astype(np.int64), cells[kept]
    count = int(place.max()) + 1 if len(place) else 0
    sizes = np.array([np.bincount(place[arm == each], minlength=count) for each in (0, 1)])
    has_both = np.minimum(sizes[0], sizes[1]) > 0
    if not has_both.any():
        return None
    rows = has_both[place]
    kept, users, arm, place = kept[rows], users[rows], arm[rows], place[rows]
    values, known = value[kept].astype(np.float64), known[kept]
    adjusted, explained = _adjust(values, known, place, arm)
    # Each cell counts by its rankings of both versions together.
    share = sizes.sum(axis=0) * has_both / sizes[:, has_both].sum()
    means = np.zeros((2, count))
    plain = np.zeros((2, count))
    for each in (0, 1):
        of_arm = arm == each
        total = np.maximum(sizes[each], 1)
        means[each] = np.bincount(place[of_arm], adjusted[of_arm], count) / total
        plain[each] = np.bincount(place[of_arm], values[of_arm], count) / total
    difference = float((share * (means[1] - means[0])).sum())
    old = float((share * plain[0]).sum())
    # How much each ranking moves the difference; by user, because their rankings are alike.
    rest = adjusted - means[arm, place]
    influence = np.where(arm == 1, 1, -1) * share[place] / sizes[arm, place] * rest
    by_user = np.bincount(users, influence)
    number = [len(np.unique(users[arm == each])) for each in (0, 1)]
    radius = math.nan
    if min(number) >= FEWEST_USERS:
        radius = _find_radius(float((by_user**2).sum()), min(number), 1 - level)
    return Difference(
        value=difference,
        lower=difference - radius,
        upper=difference + radius,
        level=level,
        old=old,
        new=old + difference,
        users=(number[0], number[1]),
        rankings=(int((arm == 0).sum()), int((arm == 1).sum())),
        explained=explained,
    )


def _adjust(
    values: Numbers, known: Numbers, place: NDArray[np.int64], arm: NDArray[np.int64]
) -> tuple[Numbers, float]:
    """Return the values less what the covariate explains, and the share that it explains."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    has = ~np.isnan(known)
    if int(has.sum()) < FEWEST_USERS:
        return values, 0.0
    centred = np.where(has, known - known[has].mean(), 0.0)
    count = int(place.max()) + 1
    group = arm * count + place
    size = np.maximum(np.bincount(group, minlength=2 * count), 1)

    def within(column: Numbers) -> Numbers:
        return np.asarray(column - (np.bincount(group, column, 2 * count) / size)[group])

    x, y = within(centred), within(values)
    square = float((x**2).sum())
    if square <= 0:
        return values, 0.0
    slope = float((x * y).sum()) / square
    total = float((y**2).sum())
    explained = slope**2 * square / total if total else 0.0
    return values - slope * centred, explained


def _find_radius(variance: float, users: int, error: float) -> float:
    """Return the half width of the asymptotic confidence sequence.

    Args:
        variance: The variance of the estimate.
        users: The number of users of the version that has fewer: its information is the time.
        error: One minus the level.
    """
    tuned = -2 * math.log(error) + math.log(-2 * math.log(error)) + 1
    scale = users * tuned / TUNED_FOR
    return math.sqrt(variance * (scale + 1) / scale * math.log((scale + 1) / error**2))
