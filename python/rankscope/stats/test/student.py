"""The paired t test, which is cluster-robust where units are clusters of queries."""

from __future__ import annotations

import math

from rankscope._core import average_units, student_tails
from rankscope.deferred import np
from rankscope.records import record
from rankscope.stats.test.tested import Tested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.stats.test.family import Family, Numbers

FEW = "with fewer than two queries or clusters, there is no standard error and no p-value"
FEWEST_DEGREES = 4.0
"""With fewer effective degrees of freedom, clusters have no t."""
UNEQUAL = (
    "the clusters are too few, or too unequal in size, for a t test: it needs 4 or more effective "
    "degrees of freedom; use the permutation test"
)
CONSTANT = "all differences of a pair are equal, so there is no standard error and no p-value"


@record(frozen=True, slots=True, kw_only=True)
class MeanDifference:
    """The mean of differences, and its standard error.

    Args:
        mean: The mean over queries.
        standard_error: Its standard error; NaN with fewer than two units.
        degrees: The effective degrees of freedom: those of Satterthwaite, which for units of one
            size are their number less 1.
    """

    mean: float
    standard_error: float
    degrees: float

    @property
    def statistic(self) -> float:
        """The mean in standard errors; NaN if these can't be estimated."""
        if self.standard_error > 0:
            return self.mean / self.standard_error
        return 0.0 if self.mean == self.standard_error == 0 else math.nan


def average(differences: Numbers, sizes: Numbers) -> MeanDifference:
    """Return the mean of differences and its standard error.

    For clusters of unequal size, the error is the cluster-robust one known as CR2 (Bell and
    McCaffrey, *Bias reduction in standard errors for linear regression with multi-stage samples*,
    2002).

    Examples:
        >>> import numpy as np
        >>> found = average(np.array([0.0, 0.2, 0.1]), np.ones(3))
        >>> round(found.mean, 4), round(found.standard_error, 4), found.degrees
        (0.1, 0.0577, 2.0)
    """
    if not sizes.any():
        return MeanDifference(mean=math.nan, standard_error=math.nan, degrees=0)
    mean, error, degrees = average_units(differences, sizes)
    return MeanDifference(mean=mean, standard_error=error, degrees=degrees)


def test_by_t(families: Sequence[Family]) -> Tested:
    """Test all pairs of all families with the paired t test.

    A pair without any difference has p = 1. There is no p-value where there are fewer than two
    units, where clusters have too few effective degrees of freedom, or where all differences are
    equal but not 0.
    """
    found, is_enough = [], []
    for family in families:
        sizes = family.kept()[2]
        for differences in family.differences():
            mean = average(differences, sizes)
            found.append(mean)
            is_enough.append(not family.is_clustered or mean.degrees >= FEWEST_DEGREES)
    p = np.array(
        [
            student_tails(each.statistic, each.degrees) if enough else math.nan
            for each, enough in zip(found, is_enough, strict=True)
        ]
    )
    is_few = any(each.degrees == 0 for each in found)
    is_constant = any(each.degrees and math.isnan(each.statistic) for each in found)
    is_unequal = any(
        each.degrees and not enough for each, enough in zip(found, is_enough, strict=True)
    )
    return Tested(
        statistic=np.array([each.statistic for each in found]),
        p=p,
        smallest_p=np.zeros(len(found)),
        test="t",
        warnings=(
            *([FEW] if is_few else []),
            *([CONSTANT] if is_constant else []),
            *([UNEQUAL] if is_unequal else []),
        ),
    )
