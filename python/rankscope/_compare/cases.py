"""The values of queries that are compared: by measure, over all queries and in each slice."""

from __future__ import annotations

import math

from rankscope.deferred import np
from rankscope.errors import EmptyError
from rankscope.records import record
from rankscope.stats.test.family import Family, sum_by_cluster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope._evaluate.query_values import Groups
    from rankscope.measures import Measure
    from rankscope.measures.direction import Direction

    Numbers: TypeAlias = NDArray[np.float64]
    Limits: TypeAlias = tuple[float | None, float | None]

CLOSE = 1e-12
"""Values that differ by at most this, absolutely and relatively, are equal except for rounding."""


@record(frozen=True, slots=True, kw_only=True)
class MeasureValues:
    """The values of one measure for all queries under all runs.

    Args:
        name: The name of the measure, on which its random numbers depend.
        low: The lowest value a query can have, `None` if there is no bound.
        high: The highest value.
        values: float64 [runs, queries], NaN where a run has no value for a query. Queries are in
            the order of `rankscope._evaluate.order_queries`, in which they are resampled.
        direction: Which values are better.
    """

    name: str
    low: float | None
    high: float | None
    values: Numbers
    direction: Direction = "higher"

    @classmethod
    def stack(
        cls, measure: Measure, values: Sequence[Numbers], order: Sequence[int]
    ) -> MeasureValues:
        """Stack the values of each run, with the queries in this order."""
        low, high = measure.row.value_range
        return cls(
            name=measure.name,
            low=low,
            high=high,
            values=np.stack(values)[:, order],
            direction=measure.better,
        )

    @property
    def range_of_difference(self) -> tuple[float | None, float | None]:
        """The lowest and the highest difference that two values can have."""
        if self.low is None or self.high is None or math.isinf(self.high - self.low):
            return None, None
        return self.low - self.high, self.high - self.low


@record(frozen=True, slots=True, kw_only=True)
class Cases:
    """The queries of one measure and slice for which all runs have a value.

    Args:
        measure: The measure.
        slice: The name of the slice, or `None` for all queries.
        chosen: The numbers of the queries.
        values: float64 [runs, queries].
        clusters: The number of the cluster of each query, or `None`.
    """

    measure: MeasureValues
    slice: str | None
    chosen: NDArray[np.int64]
    values: Numbers
    clusters: NDArray[np.int64] | None

    @property
    def cluster_count(self) -> int | None:
        """The number of clusters, or `None` without clusters."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    @property
    def units(self) -> int:
        """The number of independent units: of clusters, or else of queries."""
        return self.values.shape[1] if self.cluster_count is None else self.cluster_count


def are_same(one: Numbers, other: Numbers) -> NDArray[np.bool_]:
    """Return which values are equal, except for rounding."""
    same: NDArray[np.bool_] = np.isclose(one, other, rtol=CLOSE, atol=CLOSE)
    return same


def choose_cases(
    measure: MeasureValues,
    groups: Groups | None,
    clusters: Groups | None,
    *,
    runs: str = "all runs",
    code: str = "no_common_queries",
) -> list[Cases]:
    """Return the queries that all runs have a value for, in all and by slice, the largest first."""
    is_there = np.asarray(~np.isnan(measure.values).any(axis=0), dtype=np.bool_)
    if not is_there.any():
        raise EmptyError(
            f"no query has a value of {measure.name} in {runs}",
            hint="compare runs of the same queries, or keep them: policy='empty=zero'",
            code=code,
        )
    codes = None if clusters is None else np.asarray(clusters[2], dtype=np.int64)

    def choose(name: str | None, is_chosen: NDArray[np.bool_]) -> Cases:
        chosen = np.flatnonzero(is_chosen)
        return Cases(
            measure=measure,
            slice=name,
            chosen=chosen,
            values=np.ascontiguousarray(measure.values[:, chosen]),
            clusters=None if codes is None else codes[chosen],
        )

    cases = [choose(None, is_there)]
    if groups is not None:
        _, names, slices = groups
        held = np.asarray(slices)
        counts = np.bincount(held[is_there], minlength=len(names))
        order = sorted(range(len(names)), key=lambda at: (-counts[at], names[at]))
        cases += [choose(names[at], is_there & (held == at)) for at in order if counts[at]]
    return cases


def make_family(cases: Cases, pairs: Sequence[tuple[int, int]]) -> Family:
    """Return the values of the units of a case: of its queries, or its clusters."""
    # All families have the units of all data, so that one permutation is the same in each.
    count = cases.measure.values.shape[1]
    if cases.clusters is not None:
        values, sizes = sum_by_cluster(cases.values, cases.clusters, count)
    else:
        values, sizes = np.zeros((len(cases.values), count)), np.zeros(count)
        values[:, cases.chosen], sizes[cases.chosen] = cases.values, 1
    return Family(values=values, sizes=sizes, pairs=tuple(pairs), measure=cases.measure.name)


def find_deviation(values: Numbers, clusters: NDArray[np.int64] | None = None) -> tuple[float, int]:
    """Return the standard deviation of the values of queries or clusters, and their number.

    That of clusters is scaled so that, divided by the root of their number, it is the standard
    error of the mean over queries.
    """
    squares, _ = find_squares(values, clusters)
    units = len(squares)
    if units < 2:
        return math.nan, units
    return math.sqrt(float(squares.sum()) / (units - 1)) * units / len(values), units


def find_squares(
    values: Numbers, clusters: NDArray[np.int64] | None = None
) -> tuple[Numbers, Numbers]:
    """Return the squared residuals of queries or clusters, and the number of queries of each."""
    residuals = values - values.mean()
    if float(abs(residuals).max()) <= CLOSE * float(abs(values).max()):
        residuals = residuals * 0.0
    if clusters is None:
        return residuals**2, np.ones(len(values))
    codes = np.unique(clusters, return_inverse=True)[1]
    sizes = np.bincount(codes).astype(np.float64)
    return np.bincount(codes, weights=residuals).astype(np.float64) ** 2, sizes


def average(values: Numbers) -> float:
    return math.fsum(values.tolist()) / len(values) if len(values) else math.nan
