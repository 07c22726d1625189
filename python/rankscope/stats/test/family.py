"""The values of systems that are compared: one measure on one slice."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]

CLOSE = 1e-12
"""Values that differ by less, relative to the larger one, differ by rounding only."""


@record(frozen=True, slots=True, kw_only=True)
class Family:
    """The values of systems on independent units, for one measure on one slice.

    A unit is a query, or a cluster of queries that depend on each other, such as those of a user.

    Args:
        values: One row per system and one column per unit: the value of the query, or the sum over
            the queries of the cluster.
        sizes: How many queries each unit has in this slice; 0 if the slice doesn't include the
            unit, whose values are then ignored. All families of a test have the same units.
        pairs: The pairs of systems to compare, as the rows of the baseline and of the run. The
            difference is the value of the run minus that of the baseline.
        measure: The name of the measure.

    Raises:
        UsageError: The shapes don't fit, or a value isn't finite.
    """

    values: Numbers
    sizes: Numbers
    pairs: Sequence[tuple[int, int]]
    measure: str = ""

    def __post_init__(self) -> None:

        if not np.isfinite(self.values[:, self.sizes > 0]).all():
            raise UsageError(
                "expected finite values, found NaN or infinity",
                hint="set the size of units without a value to 0",
                code="bad_parameter",
            )

    @property
    def is_clustered(self) -> bool:
        """Whether a unit has several queries, or a weight."""
        return bool(((self.sizes != 0) & (self.sizes != 1)).any())

    def kept(self) -> tuple[NDArray[np.int64], Numbers, Numbers]:
        """Return the units of the slice, their values, and their sizes."""
        units = np.flatnonzero(self.sizes > 0)
        values = np.ascontiguousarray(self.values[:, units], dtype=np.float64)
        return units, values, np.asarray(self.sizes[units], dtype=np.float64)

    def differences(self) -> Iterator[Numbers]:
        """Yield the differences of each pair, 0 where values are equal except for rounding."""
        _, values, _ = self.kept()
        for one, other in self.pairs:
            found = values[other] - values[one]
            scale = np.maximum(np.abs(values[other]), np.abs(values[one]))
            found[np.abs(found) <= CLOSE * scale] = 0.0
            yield found


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
    own = np.ones(len(codes)) if weights is None else weights[is_there]
    sums = [np.bincount(codes, weights=row[is_there] * own, minlength=count) for row in values]
    sizes = np.bincount(codes, weights=own, minlength=count).astype(np.float64)
    return np.array(sums, dtype=np.float64).reshape(len(values), count), sizes
