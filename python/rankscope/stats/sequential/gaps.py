"""Gaps: how far the users of a period are below what is expected of them."""

from __future__ import annotations

import math

from rankscope.deferred import np
from rankscope.errors import InputError, UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray


@record(frozen=True, slots=True, kw_only=True)
class Gaps:
    """The gaps of the users of one period, in a fixed order.

    Args:
        gap: By user, the expected value minus the mean of the user's values, ascending.
        weight: By user, how much it counts, above 0 and at most 1; `None` if all count the same.
        room: The largest possible surplus: 1 minus the lowest expected value of a user.
        depth: The largest possible gap: the highest expected value of a user.
        margin: How large the mean gap can be without being a drop.
        gamma: By what the logarithm of the evidence is multiplied, above 0 and at most 1; below 1
            if days vary more than chance alone explains.
        value: The mean of the values.
        expected: The mean of the expected values.
        error: The standard error of the mean gap, including the variation between days.
    """

    gap: NDArray[np.float64]
    weight: NDArray[np.float64] | None = None
    room: float
    depth: float
    margin: float
    gamma: float = 1.0
    value: float
    expected: float
    error: float = math.nan

    def __post_init__(self) -> None:
        if not (
            0 <= self.margin <= 1 and 0 < self.gamma <= 1 and 0 <= self.room <= 1 >= self.depth
        ):
            raise UsageError(
                f"expected a margin and a room from 0 to 1 and a gamma above 0, found "
                f"{self.margin}, {self.room} and {self.gamma}",
                hint="use find_gaps with a baseline, or below with a floor",
                code="bad_gaps",
            )

    @property
    def floor(self) -> float:
        """What the mean of the values is compared with."""
        return self.expected - self.margin

    @property
    def mean(self) -> float:
        """The mean gap."""
        return self.expected - self.value

    def cut(self, margin: float) -> NDArray[np.float64]:
        """Return the weighted gaps beyond a margin, ascending."""
        if self.weight is None:
            return self.gap - margin
        return np.sort(self.weight * (self.gap - margin))


def below(values: NDArray[np.float64], floor: float) -> Gaps:
    """Return the gaps of users for whom the same is expected.

    Examples:
        >>> import numpy as np
        >>> below(np.array([0.25, 1.0]), floor=0.5).gap
        array([-0.5 ,  0.25])
    """
    check_floor(floor)
    observed = np.sort(np.asarray(values, dtype=np.float64))
    check_values(observed)
    value = float(observed.sum() / len(observed)) if len(observed) else math.nan
    return Gaps(
        gap=(floor - observed)[::-1],
        room=1 - floor,
        depth=floor,
        margin=0.0,
        value=value,
        expected=floor,
    )


def check_floor(floor: float) -> None:
    """Check that a floor is between 0 and 1."""
    if not 0 < floor < 1:
        raise UsageError(
            f"the floor must be between 0 and 1, found {floor}",
            hint="use a smaller tolerance, or a longer baseline",
            code="bad_floor",
        )


def check_values(ordered: NDArray[np.float64]) -> None:
    """Check that values are from 0 to 1, given that they are in order."""
    # Sorting puts NaN last.
    if len(ordered) and not 0 <= ordered[0] <= ordered[-1] <= 1:
        raise InputError(
            f"expected values from 0 to 1, found {ordered[0]:g} to {ordered[-1]:g}",
            hint="remove queries without a value, and scale measures that can exceed 1",
            code="bad_observation",
        )
