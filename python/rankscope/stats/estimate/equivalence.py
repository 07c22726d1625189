"""Tests of equivalence and non-inferiority: whether a difference is smaller than a margin."""

from __future__ import annotations

import math

from rankscope._core import student_upper
from rankscope.errors import UsageError
from rankscope.records import record


@record(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """The p-values of a difference against a margin.

    Args:
        p_not_worse: The p-value of the test that the run isn't worse than the baseline by the
            margin or more: small if that is sure (non-inferiority).
        p_equivalent: The p-value of the test that the difference is smaller than the margin in
            both directions: small if that is sure (equivalence).
    """

    p_not_worse: float
    p_equivalent: float


def test_margin(
    difference: float, standard_error: float, degrees: float, margin: float
) -> MarginTest:
    """Test a difference against a margin with one-sided t tests.

    Equivalence is the two one-sided tests procedure (Schuirmann, *A comparison of the two one-sided
    tests procedure and the power approach*, 1987): its p-value is the larger one of both.

    Args:
        difference: The mean of the run minus that of the baseline.
        standard_error: The standard error of the difference, 0 or more.
        degrees: The degrees of freedom of the standard error.
        margin: The largest difference that doesn't matter, above 0.

    Returns:
        The p-values; NaN if the standard error isn't known.

    Raises:
        UsageError: The margin isn't above 0.

    Examples:
        >>> found = test_margin(0.002, 0.004, 249, margin=0.01)
        >>> round(found.p_not_worse, 4), round(found.p_equivalent, 4)
        (0.0015, 0.0233)
    """
    if not 0 < margin < math.inf:
        raise UsageError(
            f"expected a margin above 0, found {margin}",
            hint="pass the largest difference that doesn't matter, such as 0.01",
            code="bad_parameter",
        )
    not_worse = _test_above(difference + margin, standard_error, degrees)
    not_better = _test_above(margin - difference, standard_error, degrees)
    return MarginTest(p_not_worse=not_worse, p_equivalent=max(not_worse, not_better))


def _test_above(distance: float, standard_error: float, degrees: float) -> float:
    """Return the p-value of the one-sided test that a distance is above 0."""
    if standard_error == 0:
        return 0.0 if distance > 0 else 1.0
    return student_upper(distance / standard_error, degrees)
