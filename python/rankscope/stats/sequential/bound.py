"""Lower bounds of means over users that hold for any sample size and distribution."""

from __future__ import annotations

from rankscope._core import bound_below
from rankscope.deferred import np
from rankscope.errors import InputError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    # A mean of values can exceed 1 by an error of rounding.
    slack = 1e-9 * weight
    if not ((weight > 0).all() and (total >= -slack).all() and (total <= weight + slack).all()):
        raise InputError(
            "expected sums from 0 to their counts",
            hint="remove queries without a value, and scale measures that can exceed 1",
            code="bad_observation",
        )
    return bound_below(np.ascontiguousarray(total), np.ascontiguousarray(weight), level)
