"""Tests of the differences of systems on the same queries, and corrections for many tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from rankscope._settings import count_threads
from rankscope._stats.tests import (
    Drawn,
    Family,
    Inverted,
    Numbers,
    Sampling,
    Tested,
    invert_flips,
    test_by_flips,
    test_by_ranks,
    test_by_t,
)
from rankscope.errors import UsageError

Test: TypeAlias = Literal["permutation", "t", "wilcoxon"]


def sum_by_cluster(
    values: Numbers, clusters: NDArray[np.int64], count: int, weights: Numbers | None = None
) -> tuple[Numbers, Numbers]:
    """Sum the values of queries, times their weights, by cluster, for a `Family`.

    Examples:
        >>> import numpy as np
        >>> values = np.array([[0.25, 0.5, 1.0], [0.5, 0.5, np.nan]])
        >>> sums, sizes = sum_by_cluster(values, np.array([1, 1, 0]), 2)
        >>> sums.tolist(), sizes.tolist()
        ([[0.0, 0.75], [0.0, 1.0]], [0.0, 2.0])
    """
    is_there = ~np.isnan(values).any(axis=0)
    codes = clusters[is_there]
    weights = np.ones(len(codes)) if weights is None else weights[is_there]
    sums = [np.bincount(codes, weights=row[is_there] * weights, minlength=count) for row in values]
    sizes = np.bincount(codes, weights=weights, minlength=count).astype(np.float64)
    return np.array(sums, dtype=np.float64).reshape(len(values), count), sizes


MOST_PERMUTATIONS = 10_000_000
NOTABLE = 0.05
"""A test that can't give smaller p-values gets a warning."""
NAMES = {
    "permutation": "permutation test",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon signed-rank test",
}
"""What each test is called in sentences."""
TESTS: tuple[Test, ...] = ("permutation", "t", "wilcoxon")


def test_pairs(
    families: Sequence[Family],
    *,
    test: Test = "permutation",
    **drawn: Unpack[Drawn],
) -> Tested:
    """Test whether the systems of each pair differ.

    Examples:
        >>> import numpy as np
        >>> from rankscope._stats.paired import Family
        >>> values = np.array([[0.1, 0.4, 0.2, 0.3], [0.3, 0.5, 0.5, 0.4]])
        >>> family = Family(values=values, sizes=np.ones(4), pairs=[(0, 1)])
        >>> tested = test_pairs([family])
        >>> tested.p.tolist(), tested.smallest_p.tolist(), tested.is_exact
        ([0.125], [0.125], True)
        >>> test_pairs([family], test="t").p.round(4).tolist()
        [0.0354]
    """
    sampling = _read_sampling(drawn)
    if test == "wilcoxon" and any(family.is_clustered for family in families):
        raise UsageError(
            f"the {NAMES[test]} needs independent queries of one weight, found clusters or weights",
            hint='use test="permutation" or test="t", which support both',
            code="clustered_test",
        )
    if test == "permutation":
        tested = test_by_flips(families, sampling)
    else:
        tested = test_by_t(families) if test == "t" else test_by_ranks(families)
    return replace(tested, warnings=(*tested.warnings, *_warn_of_floor(tested)))


def invert_pairs(
    families: Sequence[Family],
    *,
    level: float,
    margin: float = 0.0,
    **drawn: Unpack[Drawn],
) -> list[Inverted]:
    """Return which mean differences the permutation test doesn't reject, for each pair.

    The arguments are those of `test_pairs`, whose permutations are used.

    Examples:
        >>> import numpy as np
        >>> from rankscope._stats.paired import Family
        >>> values = np.array([[0.1, 0.4, 0.2, 0.3, 0.2, 0.1], [0.3, 0.5, 0.5, 0.4, 0.6, 0.7]])
        >>> family = Family(values=values, sizes=np.ones(6), pairs=[(0, 1)])
        >>> [inverted] = invert_pairs([family], level=0.9)
        >>> round(inverted.lower, 4), round(inverted.upper, 4)
        (0.1, 0.45)
    """
    return invert_flips(families, _read_sampling(drawn), level=level, margin=margin)


def _warn_of_floor(tested: Tested) -> list[str]:
    """Return a warning if a test can't be significant, whatever the data say."""
    floors = tested.smallest_p[(tested.smallest_p > NOTABLE) & (tested.p < 1)]
    if len(floors) == 0:
        return []
    where = "for a pair" if len(floors) == 1 else f"for {len(floors)} pairs"
    smallest = f"the smallest p-value that the {NAMES[tested.test]} can give is {floors.max():.3g}"
    return [f"{smallest} {where}, because few queries or clusters differ"]


def _read_sampling(drawn: Drawn) -> Sampling:
    _check_number("permutations", drawn.get("permutations"), 99, MOST_PERMUTATIONS)
    _check_number("seed", drawn.get("seed"), 0, 2**64 - 1)
    return Sampling(**{**drawn, "threads": count_threads(drawn.get("threads"))})  # type: ignore[arg-type]  # checked


def _check_number(name: str, value: object, lowest: int, highest: int) -> None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if value is not None and not (is_whole and lowest <= value <= highest):  # type: ignore[operator]  # a number
        raise UsageError(
            f"expected {name} from {lowest:,} to {highest:,}, found {value!r}",
            hint="leave it out for the default",
            code="bad_parameter",
        )
