"""How soon labels come: the share of them that is there, by the age of a ranking."""

from __future__ import annotations

from itertools import accumulate

from rankscope.errors import UsageError
from rankscope.monitor.limits import MINUTE
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.grading import Graded

AGES = tuple(
    minutes * MINUTE
    for minutes in (
        1,
        5,
        15,
        30,
        60,
        120,
        240,
        480,
        720,
        1440,
        2880,
        4320,
        7200,
        10080,
        20160,
        43200,
    )
)
"""The ages by which labels are counted."""


@record(frozen=True, slots=True)
class MaturityCurve:
    """How many of the labels of mature rankings were there by which age.

    Ages are by the times of the events: how long an event took to arrive is not in them.

    Args:
        ages: Ages in microseconds, ascending.
        counts: How many labels came up to each age and after the one before it; the last number is
            that of those that came after all of them.
    """

    ages: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of all labels that were there by each age; empty where there are no labels.

        Examples:
            >>> MaturityCurve((60, 3600), (6, 3, 1)).shares
            (0.6, 0.9)
        """
        total = sum(self.counts)
        so_far = list(accumulate(self.counts))[:-1]
        return tuple(count / total for count in so_far) if total else ()

    def merge(self, other: MaturityCurve) -> MaturityCurve:
        """Count the labels of both.

        Raises:
            UsageError: They are by other ages.
        """
        if self.ages != other.ages:
            raise UsageError(
                f"expected curves by the same ages, found {self.ages} and {other.ages}",
                hint="count the labels of both by one list of ages",
                code="other_definition",
            )
        return MaturityCurve(
            self.ages, tuple(map(sum, zip(self.counts, other.counts, strict=True)))
        )


def count_ages(graded: Graded, ages: tuple[int, ...]) -> MaturityCurve:
    """Count the labels of the mature rankings of a chunk by their age.

    Args:
        graded: What is known of the chunk.
        ages: Ages in microseconds, ascending.

    Raises:
        UsageError: Ages are not ascending.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if not ages or list(ages) != sorted(set(ages)):
        raise UsageError(
            f"expected ages that ascend, found {ages}",
            hint="(60_000_000, 3_600_000_000) for a minute and an hour",
            code="bad_period",
        )
    final = graded.ages[graded.is_mature[graded.aged]]
    places = np.searchsorted(np.array(ages), final, side="left")
    return MaturityCurve(ages, tuple(np.bincount(places, minlength=len(ages) + 1).tolist()))
