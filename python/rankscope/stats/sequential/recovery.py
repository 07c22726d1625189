"""Recovery: evidence that a mean is back above its floor."""

from __future__ import annotations

import math

from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.records import as_dict, record, replace
from rankscope.stats.sequential.detector import BETS, LEAST_ROOM, average_evidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rankscope.stats.sequential.gaps import Gaps

NEEDED = 20.0
"""The evidence at which a drop counts as recovered."""


@record(frozen=True, slots=True, kw_only=True)
class Recovery:
    """The evidence that a drop has ended; each step returns a new record.

    The mean gap has fallen to some level. Evidence is collected against the hypothesis that it is
    still below the level h halfway between the floor and there: a user with the gap d multiplies it
    by L = 1 + b (h - d) / (r - h), where r is the largest possible gap. The mean of L is at most 1
    while the mean gap is h or more. A recovery can start in any period, so M becomes max(M, 1)
    times the L of the period. The drop has recovered once the average of M over the bets is 20 and
    the mean gap since the recovery seems to have started is within the margin.

    Args:
        total: The sum of the gaps while the mean was down.
        size: Their number.
        later_total: The sum of the gaps since the recovery seems to have started.
        later_size: Their number.
        margin: The margin of the newest period.
        evidence: The logarithm of M for each bet.
        periods: The number of periods since the recovery seems to have started.

    Examples:
        >>> import numpy as np
        >>> from rankscope.stats.sequential.gaps import below
        >>> recovery = begin_recovery(fall=0.2, size=100)
        >>> for mean in (0.5, 0.5, 0.7):
        ...     recovery = follow(recovery, below(np.full(60, mean), floor=0.68))
        ...     print(mean, recovery.is_recovered)
        0.5 False
        0.5 False
        0.7 True
    """

    total: float
    size: float
    later_total: float = 0.0
    later_size: float = 0.0
    margin: float = 0.0
    evidence: tuple[float, ...] = ()
    periods: int = 0

    @property
    def fall(self) -> float:
        """The mean gap while the mean was down."""
        return self.total / self.size

    @property
    def log_evidence(self) -> float:
        """The logarithm of the evidence that the drop has ended."""
        return average_evidence(self.evidence)

    @property
    def is_recovered(self) -> bool:
        """Whether the drop has ended."""
        if not self.later_size or self.log_evidence < math.log(NEEDED):
            return False
        return self.later_total / self.later_size <= self.margin

    def to_dict(self) -> dict[str, Any]:
        """Return the recovery as a dict that JSON can represent exactly, for `from_dict`."""
        stored = as_dict(self)
        return stored | {"evidence": list(self.evidence)}

    @staticmethod
    def from_dict(stored: Mapping[str, Any]) -> Recovery:
        """Return the recovery from the result of `to_dict`."""
        try:
            return Recovery(**{**stored, "evidence": tuple(stored["evidence"])})
        except (KeyError, TypeError) as error:
            raise UsageError(
                f"expected what to_dict gives, found {str(error)[:120]}",
                hint="start again with begin_recovery",
                code="bad_recovery",
            ) from error


def begin_recovery(fall: float, size: float) -> Recovery:
    """Return the recovery of a drop that was just found."""
    if not (math.isfinite(fall) and 0 < size < math.inf):
        raise UsageError(
            f"expected a mean gap and its number of users, found {fall} and {size}",
            hint="use Detector.fall and Detector.size",
            code="bad_recovery",
        )
    return Recovery(total=fall * size, size=size)


def follow(recovery: Recovery, gaps: Gaps) -> Recovery:
    """Return the recovery after one more period.

    The result doesn't depend on the order of the users. A period without users is ignored.
    """
    if not len(gaps.gap):
        return recovery
    size = float(len(gaps.gap) if gaps.weight is None else gaps.weight.sum())
    halfway = max((recovery.fall + gaps.margin) / 2, gaps.margin)
    # Nobody can be further below the level that is tested.
    worst = max(gaps.depth - halfway, LEAST_ROOM)
    fractions = np.array(BETS) / worst
    gains = np.log1p(np.multiply.outer(fractions, -gaps.cut(halfway))).sum(axis=1) * gaps.gamma
    before = np.array(recovery.evidence or [0.0] * len(BETS))
    after = np.maximum(before, 0) + gains
    total = size * gaps.mean
    found = replace(recovery, evidence=tuple(after.tolist()), margin=gaps.margin)
    if recovery.log_evidence > 0:
        return replace(
            found,
            later_total=recovery.later_total + total,
            later_size=recovery.later_size + size,
            periods=recovery.periods + 1,
        )
    # The recovery, if any, starts with this period: what came before belongs to the drop.
    return replace(
        found,
        total=recovery.total + recovery.later_total,
        size=recovery.size + recovery.later_size,
        later_total=total,
        later_size=size,
        periods=1,
    )
