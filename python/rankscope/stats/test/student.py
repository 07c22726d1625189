"""The paired t test, which is cluster-robust where units are clusters of queries."""

from __future__ import annotations

import math

from rankscope._core import student_tails
from rankscope.records import record
from rankscope.stats.test.family import CLOSE
from rankscope.stats.test.tested import Tested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.stats.test.family import Family, Numbers

FEW = "with fewer than two queries or clusters, there is no standard error and no p-value"
CONSTANT = "all differences of a pair are equal, so there is no standard error and no p-value"


@record(frozen=True, slots=True, kw_only=True)
class MeanDifference:
    """The mean of differences, and its standard error.

    Args:
        mean: The mean over queries.
        standard_error: Its standard error; NaN with fewer than two units.
        degrees: The degrees of freedom: the number of units less 1.
    """

    mean: float
    standard_error: float
    degrees: int

    @property
    def statistic(self) -> float:
        """The mean in standard errors; NaN if these can't be estimated."""
        if self.standard_error > 0:
            return self.mean / self.standard_error
        return 0.0 if self.mean == self.standard_error == 0 else math.nan


def average(differences: Numbers, sizes: Numbers) -> MeanDifference:
    """Return the mean of differences and its standard error.

    The standard error is that of a ratio of sums, with n / (n - 1) for n units. For single queries,
    it is the usual one of a mean. For clusters, it is the cluster-robust one (Liang and Zeger,
    *Longitudinal data analysis using generalized linear models*, 1986).

    Args:
        differences: The difference of each unit, summed over its queries.
        sizes: The number of queries of each unit.

    Examples:
        >>> import numpy as np
        >>> found = average(np.array([0.0, 0.2, 0.1]), np.ones(3))
        >>> round(found.mean, 4), round(found.standard_error, 4), found.degrees
        (0.1, 0.0577, 2)
    """
    count = len(differences)
    queries = float(sizes.sum())
    if queries == 0:
        return MeanDifference(mean=math.nan, standard_error=math.nan, degrees=0)
    mean = float(differences.sum()) / queries
    if count < 2:
        return MeanDifference(mean=mean, standard_error=math.nan, degrees=0)
    residuals = differences - mean * sizes
    largest = float(abs(differences).max())
    if float(abs(residuals).max()) <= CLOSE * largest:
        residuals = residuals * 0.0
    squares = float((residuals * residuals).sum())
    error = math.sqrt(squares * count / (count - 1)) / queries
    return MeanDifference(mean=mean, standard_error=error, degrees=count - 1)


def test_by_t(families: Sequence[Family]) -> Tested:
    """Test all pairs of all families with the paired t test.

    A pair without any difference has p = 1. There is no p-value where there are fewer than two
    units, or where all differences are equal but not 0.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    found = [
        average(differences, sizes)
        for family in families
        for sizes in [family.kept()[2]]
        for differences in family.differences()
    ]
    p = np.array([student_tails(each.statistic, each.degrees) for each in found])
    is_few = any(each.degrees == 0 for each in found)
    is_constant = any(each.degrees and math.isnan(each.statistic) for each in found)
    return Tested(
        statistic=np.array([each.statistic for each in found]),
        p=p,
        smallest_p=np.zeros(len(found)),
        max_t=np.full(len(found), np.nan),
        test="t",
        permutations=0,
        is_exact=False,
        warnings=(
            *([FEW] if is_few else []),
            *([CONSTANT] if is_constant else []),
        ),
    )
