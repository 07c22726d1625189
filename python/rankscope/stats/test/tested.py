"""What a test of many pairs returns, the choices that tests share, and corrections of p-values."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, TypeAlias, TypedDict

    from numpy.typing import NDArray

    from rankscope.stats.test.family import Numbers

    class Drawn(TypedDict, total=False):
        """The arguments that decide which permutations are drawn; see `Sampling`."""

        permutations: int | None
        seed: int
        slices: int
        threads: int | None
        check: Callable[[], None] | None

    Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "none"]

CHOICES = (99_999, 9_999, 999)
"""The default number of permutations is the first of these that is quick enough, or the last."""


@record(frozen=True, slots=True, kw_only=True)
class Tested:
    """The outcome of tests, with one entry per pair: the pairs of the first family, and so on.

    Args:
        statistic: The test statistic. Its sign is that of the difference, except for the Wilcoxon
            test, whose statistic is the smaller sum of ranks.
        p: The two-sided p-value; NaN where there is none.
        smallest_p: The smallest p-value that the test could give with these data; 0 if there is no
            such limit.
        max_t: The p-values corrected for all pairs of all families by the largest statistic
            (Westfall and Young's step-down max-T); `None` for tests without one.
        test: The name of the test.
        permutations: The number of random permutations; 0 if none were needed.
        is_exact: Whether all p-values count all possibilities, without sampling or an
            approximation.
        warnings: What a reader should know about this test on these data.
    """

    statistic: Numbers
    p: Numbers
    smallest_p: Numbers
    max_t: Numbers | None = None
    test: str
    permutations: int = 0
    is_exact: bool = False
    warnings: tuple[str, ...] = ()

    __test__ = False  # not a class of tests, for pytest


@record(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a test draws permutations.

    Args:
        permutations: How many to draw (default: see `choose`).
        seed: The random seed.
        slices: The number of slices that each measure has.
        threads: The number of threads.
        check: Called about ten times a second; it stops the test by raising.
    """

    permutations: int | None = None
    seed: int = 0
    slices: int = 0
    threads: int = 1
    check: Callable[[], None] | None = None

    def choose(self, for_all: int, for_each: int, most: int) -> int:
        """Return the number of permutations to draw.

        The default is the largest of 99,999, 9,999 and 999 that takes at most so many operations
        for one measure, and 999 if none does. It doesn't depend on which measures are compared
        together.

        Examples:
            >>> sampling = Sampling()
            >>> sampling.choose(1_000, 10, 10**9), sampling.choose(100_000, 10, 10**10)
            (99999, 9999)
        """
        if self.permutations is not None:
            return self.permutations
        # Each query is in one slice.
        work = for_all * (2 if self.slices else 1) + for_each * (1 + self.slices)
        return next((count for count in CHOICES if count * work <= most), CHOICES[-1])


def correct(p: NDArray[np.float64], method: Correction = "holm") -> NDArray[np.float64]:
    """Correct p-values for the number of tests.

    Examples:
        >>> import numpy as np
        >>> p = np.array([0.01, 0.04, np.nan, 0.03])
        >>> correct(p, "holm").round(4).tolist()
        [0.03, 0.06, nan, 0.06]
        >>> correct(p, "bonferroni").round(4).tolist()
        [0.03, 0.12, nan, 0.09]
        >>> correct(p, "bh").round(4).tolist()
        [0.03, 0.04, nan, 0.04]
    """
    corrected = np.array(p, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(corrected))
    if method == "none" or len(tested) == 0:
        return corrected
    order = tested[np.argsort(corrected[tested], kind="stable")]
    count = len(order)
    if method == "bonferroni":
        corrected[order] = np.minimum(corrected[order] * count, 1.0)
    elif method == "holm":
        scaled = corrected[order] * np.arange(count, 0, -1)
        corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    else:
        scaled = corrected[order] * count / np.arange(1, count + 1)
        corrected[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return corrected
