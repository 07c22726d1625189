"""Tests whether systems differ on the same queries, for all pairs of many families at once."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.records import replace
from rankscope.settings.reading import count_threads
from rankscope.stats.test.flips import Inverted, invert_flips, test_by_flips
from rankscope.stats.test.ranks import test_by_ranks
from rankscope.stats.test.student import test_by_t
from rankscope.stats.test.tested import Sampling, Tested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias, Unpack

    from rankscope.stats.test.family import Family
    from rankscope.stats.test.tested import Drawn

    Test: TypeAlias = Literal["permutation", "t", "wilcoxon"]

TESTS: tuple[Test, ...] = ("permutation", "t", "wilcoxon")
MOST_PERMUTATIONS = 10_000_000
NOTABLE = 0.05
"""A test that can't give smaller p-values gets a warning."""
NAMES = {
    "permutation": "permutation test",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon signed-rank test",
}
"""What each test is called in sentences."""


def test_pairs(
    families: Sequence[Family],
    *,
    test: Test = "permutation",
    **drawn: Unpack[Drawn],
) -> Tested:
    """Test whether the systems of each pair differ.

    Examples:
        >>> import numpy as np
        >>> from rankscope.stats.test.family import Family
        >>> values = np.array([[0.1, 0.4, 0.2, 0.3], [0.3, 0.5, 0.5, 0.4]])
        >>> family = Family(values=values, sizes=np.ones(4), pairs=[(0, 1)])
        >>> found = test_pairs([family])
        >>> found.p.tolist(), found.smallest_p.tolist(), found.is_exact
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
        found = test_by_flips(families, sampling)
    else:
        found = test_by_t(families) if test == "t" else test_by_ranks(families)
    return replace(found, warnings=(*found.warnings, *_warn_of_floor(found)))


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
        >>> from rankscope.stats.test.family import Family
        >>> values = np.array([[0.1, 0.4, 0.2, 0.3, 0.2, 0.1], [0.3, 0.5, 0.5, 0.4, 0.6, 0.7]])
        >>> family = Family(values=values, sizes=np.ones(6), pairs=[(0, 1)])
        >>> [found] = invert_pairs([family], level=0.9)
        >>> round(found.lower, 4), round(found.upper, 4)
        (0.1, 0.45)
    """
    return invert_flips(families, _read_sampling(drawn), level=level, margin=margin)


def _warn_of_floor(found: Tested) -> list[str]:
    """Return a warning if a test can't be significant, whatever the data say."""
    floors = found.smallest_p[(found.smallest_p > NOTABLE) & (found.p < 1)]
    if len(floors) == 0:
        return []
    where = "for a pair" if len(floors) == 1 else f"for {len(floors)} pairs"
    smallest = f"the smallest p-value that the {NAMES[found.test]} can give is {floors.max():.3g}"
    return [f"{smallest} {where}, because few queries or clusters differ"]


def _read_sampling(drawn: Drawn) -> Sampling:
    _check_number("permutations", drawn.get("permutations"), 99, MOST_PERMUTATIONS)
    _check_number("seed", drawn.get("seed"), 0, 2**64 - 1)
    return Sampling(**{**drawn, "threads": count_threads(drawn.get("threads"))})  # type: ignore[arg-type]  # checked


def _check_number(name: str, given: object, lowest: int, highest: int) -> None:
    is_number = (
        isinstance(given, int) and not isinstance(given, bool) and lowest <= given <= highest
    )
    if given is not None and not is_number:
        raise UsageError(
            f"expected {name} from {lowest:,} to {highest:,}, found {given!r}",
            hint="leave it out for the default",
            code="bad_parameter",
        )
