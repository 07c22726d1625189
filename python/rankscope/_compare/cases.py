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
        units: The number of independent units: of clusters, or else of queries.
        clusters: The number of the cluster of each query, or `None`.
        weights: The weight of each query, or `None`.
    """

    measure: MeasureValues
    slice: str | None
    chosen: NDArray[np.int64]
    values: Numbers
    units: int
    clusters: NDArray[np.int64] | None = None
    weights: Numbers | None = None

    @property
    def cluster_count(self) -> int | None:
        """The number of clusters, or `None` without clusters."""
        return None if self.clusters is None else self.units

    def average(self, values: Numbers) -> float:
        """Return the mean of a value of each query."""
        if self.weights is None:
            return math.fsum(values.tolist()) / len(values) if len(values) else math.nan
        return math.fsum((values * self.weights).tolist()) / math.fsum(self.weights.tolist())

    def subtract(self, baseline: int, run: int) -> Numbers:
        """Return the differences of two runs, 0 where values are equal except for rounding."""
        theirs, ours = self.values[baseline], self.values[run]
        return np.where(are_same(ours, theirs), 0.0, ours - theirs)


def are_same(one: Numbers, other: Numbers) -> NDArray[np.bool_]:
    """Return which values are equal, except for rounding."""
    same: NDArray[np.bool_] = np.isclose(one, other, rtol=CLOSE, atol=CLOSE)
    return same


def choose_cases(
    measure: MeasureValues,
    groups: Groups | None,
    clusters: Groups | None,
    weights: Numbers | None = None,
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
    if weights is not None:
        is_there &= weights > 0
    codes = None if clusters is None else np.asarray(clusters[2], dtype=np.int64)

    def choose(name: str | None, is_chosen: NDArray[np.bool_]) -> Cases:
        chosen = np.flatnonzero(is_chosen)
        own = None if codes is None else codes[chosen]
        return Cases(
            measure=measure,
            slice=name,
            chosen=chosen,
            values=np.ascontiguousarray(measure.values[:, chosen]),
            units=len(chosen) if own is None else len(np.unique(own)),
            clusters=own,
            weights=None if weights is None else weights[chosen],
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
    units = cases.chosen if cases.clusters is None else cases.clusters
    values, sizes = sum_by_cluster(cases.values, units, count, cases.weights)
    return Family(values=values, sizes=sizes, pairs=tuple(pairs), measure=cases.measure.name)


def find_deviation(values: Numbers, cases: Cases) -> float:
    """Return the standard deviation of the values of units.

    It is scaled so that, divided by the root of their number, it is the standard error of the mean
    over queries, also where units are clusters or have weights.
    """
    if cases.units < 2:
        return math.nan
    squares, sizes = find_squares(values, cases)
    return math.sqrt(float(squares.sum()) / (cases.units - 1)) * cases.units / float(sizes.sum())


def find_squares(values: Numbers, cases: Cases) -> tuple[Numbers, Numbers]:
    """Return the squared residuals of units, and the number, or weight, of queries of each."""
    residuals = values - (values.mean() if cases.weights is None else cases.average(values))
    if float(abs(residuals).max()) <= CLOSE * float(abs(values).max()):
        residuals = residuals * 0.0
    weights = np.ones(len(values)) if cases.weights is None else cases.weights
    if cases.clusters is None:
        return (residuals * weights) ** 2, weights
    codes = np.unique(cases.clusters, return_inverse=True)[1]
    sums = np.bincount(codes, weights=residuals * weights).astype(np.float64)
    return sums**2, np.bincount(codes, weights=weights).astype(np.float64)
