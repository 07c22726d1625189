"""Betting bounds: confidence bounds for means of bounded values that hold for any sample size."""

from __future__ import annotations

import math

from rankscope.errors import InputError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

# What each bet is made for: a variance of the values, and the share of the money that it gets.
# Most measures have a variance from 1/64 to 1/4; known-item measures near 1 have less.
VARIANCES = ((1 / 4, 0.3), (1 / 16, 0.3), (1 / 64, 0.2), (1 / 256, 0.1), (0.0, 0.1))
# No bet risks more than this share of its money, so that none is ever ruined.
MOST = 0.98
STEPS = 60
PRECISION = 1e-9
SMALLEST = 1e-9


def bound_mean(sums: NDArray[np.float64], counts: NDArray[np.float64], level: float) -> float:
    """Return a lower bound of a mean over independent users, whatever the distribution is.

    This is the betting bound of Waudby-Smith and Ramdas (*Estimating means of bounded random
    variables by betting*, JRSSB 2024). A mean m is refuted if someone who bets against it, with
    odds that are fair if the mean is m, multiplies their money by 1 / level. The bets are fixed by
    the number of users, and the money is split over bets for different variances. Therefore the
    bound doesn't depend on the order of users, not even in the last bit, and holds for 10 users as
    well as for 10,000, also if nearly all values are 1.

    A user can have several values. The users are independent, while the values of one user need not
    be. The mean is that of all values: the sum over users divided by the number of values.

    Args:
        sums: The sum of the values of each user, which are from 0 to 1.
        counts: The number of values of each user, above 0; it doesn't have to be whole.
        level: The probability that the bound is above the mean, at most; above 0 and below 1.

    Returns:
        The bound, from 0 to the mean; 0 without users.

    Raises:
        UsageError: The level is not above 0 and below 1, or the columns have different lengths.
        InputError: A sum is not from 0 to its count.

    Examples:
        >>> import numpy as np
        >>> bound = bound_mean(np.full(200, 0.7), np.ones(200), level=0.025)
        >>> 0.6 < bound < 0.7
        True
        >>> bound_mean(np.array([]), np.array([]), level=0.025)
        0.0
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if not 0 < level < 1:
        raise UsageError(
            f"the level must be above 0 and below 1, found {level}",
            hint="0.025 is usual; divide it by the number of bounds that have to hold together",
            code="bad_level",
        )
    total, weight = np.asarray(sums, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if total.shape != weight.shape:
        raise UsageError(
            f"expected a count for each of {len(total)} sums, found {len(weight)}",
            hint="pass one sum and one count for each user",
            code="column_length",
        )
    if not len(total):
        return 0.0
    order = np.lexsort((total, weight))
    total, weight = total[order], weight[order]
    # A mean of values can exceed 1 by an error of rounding.
    slack = 1e-9 * weight
    if not (weight[0] > 0 and (total >= -slack).all() and (total <= weight + slack).all()):
        raise InputError(
            "expected sums from 0 to their counts",
            hint="remove queries without a value, and scale measures that can exceed 1",
            code="bad_observation",
        )
    largest = weight[-1]
    total, weight = total / largest, weight / largest
    square = float((weight**2).sum())
    needed = math.log(1 / level)
    wanted = [math.sqrt(2 * needed / (square * v)) if v else math.inf for v, _ in VARIANCES]
    money = np.log([share for _, share in VARIANCES])

    def grow(mean: float) -> float:
        """Return the logarithm of the money of someone who bets that the mean is larger."""
        bets = np.array([min(bet, MOST / mean) for bet in wanted])
        gains = np.log1p(np.multiply.outer(bets, total - mean * weight)).sum(axis=1) + money
        most = gains.max()
        return float(most + math.log(np.exp(gains - most).sum()))

    possible = float(total.sum() / weight.sum())
    return _search(lambda mean: grow(mean) - needed, possible) if possible > SMALLEST else 0.0


def _search(excess: Callable[[float], float], possible: float) -> float:
    """Return where a falling function gets negative, or a little before (the Illinois method)."""
    at_possible = excess(possible)
    if at_possible >= 0:
        return min(possible, 1.0)
    # The function is infinite at 0; half the way down is refuted unless there are few users.
    refuted = possible / 2
    at_refuted = excess(refuted)
    while at_refuted < 0:
        if refuted < SMALLEST:
            return 0.0
        possible, at_possible = refuted, at_refuted
        refuted /= 2
        at_refuted = excess(refuted)
    side = 0
    for _ in range(STEPS):
        if possible - refuted <= PRECISION:
            break
        middle = refuted + (possible - refuted) * at_refuted / (at_refuted - at_possible)
        if not refuted < middle < possible:
            break
        found = excess(middle)
        if found >= 0:
            refuted, at_refuted = middle, found
            at_possible = at_possible / 2 if side > 0 else at_possible
            side = 1
        else:
            possible, at_possible = middle, found
            at_refuted = at_refuted / 2 if side < 0 else at_refuted
            side = -1
    return refuted
