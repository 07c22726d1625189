"""The data of a critical-difference diagram: runs on an axis, and groups that don't differ."""

from __future__ import annotations

from math import fsum

from rankscope.comparison.charts.forest import find_measure
from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from rankscope.comparison.result import Comparison
    from rankscope.measures import Measure


@record(frozen=True, slots=True)
class PlacedRun:
    """A run and its place on the axis.

    Args:
        name: The run.
        value: Its mean or its average rank.
    """

    name: str
    value: float


@record(frozen=True, slots=True)
class CriticalDifferences:
    """The data of a critical-difference diagram.

    Args:
        measure: The measure.
        axis: `"mean"`, or `"rank"` for the average rank of a run among all runs by query, where 1
            is the best.
        runs: The runs, worst first.
        groups: The largest groups of runs of which no two differ significantly, as places in
            `runs`. A run that differs from all others is in no group.
        test: The name of the test.
        correction: How p-values are corrected.
        alpha: The corrected p-value below which two runs differ.
        queries: The number of queries.
    """

    measure: str
    axis: Literal["mean", "rank"]
    runs: tuple[PlacedRun, ...]
    groups: tuple[tuple[int, ...], ...]
    test: str
    correction: str
    alpha: float
    queries: int

    @classmethod
    def of(
        cls,
        comparison: Comparison,
        measure: Measure | str | None = None,
        *,
        axis: Literal["mean", "rank"] = "mean",
    ) -> CriticalDifferences:
        """Return the data from a comparison of all pairs of runs.

        The diagram is that of Demšar, *Statistical comparisons of classifiers over multiple data
        sets*, 2006. There, one critical difference holds for all pairs. Here, groups follow from
        the corrected p-value of each pair, so they need not be contiguous on the axis.

        Args:
            comparison: The result of `compare` without a baseline.
            measure: The measure (default: the first of the comparison).
            axis: One of: `"mean"`, `"rank"`.

        Raises:
            UsageError: Not all pairs of runs are compared, the comparison doesn't have the measure,
                or the axis is unknown.

        Examples:
            >>> import rankscope as rs
            >>> values = {"query_id": [f"q{n}" for n in range(12)], "old": [0.2, 0.4, 0.6] * 4}
            >>> values["new"] = [value + 0.2 for value in values["old"]]
            >>> values["same"] = [0.4, 0.2, 0.6, 0.2, 0.4, 0.6] * 2
            >>> found = CriticalDifferences.of(rs.compare_values(values))
            >>> [run.name for run in found.runs], found.groups
            (['old', 'same', 'new'], ((0, 1),))
        """
        if axis not in ("mean", "rank"):
            raise UsageError(
                f"axis must be one of: mean, rank, found {axis!r}",
                hint="the default is mean",
                code="bad_parameter",
            )
        name = find_measure(comparison, measure)
        if comparison.baseline is not None and len(comparison.runs) > 2:
            raise UsageError(
                "the comparison has a baseline, so runs aren't compared with each other",
                hint="compare without a baseline, or draw a forest plot",
                code="not_compared",
            )
        pairs = comparison.over_all(name)
        if axis == "rank":
            places = _average_ranks(comparison, name)
        else:
            places = {run: comparison.means[run][name] for run in comparison.runs}
        order = sorted(places, key=lambda run: -places[run] if axis == "rank" else places[run])
        at = {run: place for place, run in enumerate(order)}
        alike: list[set[int]] = [set() for _ in order]
        for each in pairs:
            if not each.is_significant:
                one, other = at[each.run], at[each.baseline]
                alike[one].add(other)
                alike[other].add(one)
        return cls(
            name,
            axis,
            tuple(PlacedRun(run, places[run]) for run in order),
            tuple(_find_groups(alike)),
            comparison.settings.test,
            pairs[0].correction,
            comparison.settings.alpha,
            pairs[0].n,
        )


def _average_ranks(comparison: Comparison, measure: str) -> Mapping[str, float]:
    """Return the average rank of each run; runs with equal values share the mean of their ranks.

    In a query, the rank of a run is 1, plus 1 for each run that beats it, plus a half for each that
    ties with it. Its average is therefore a sum over the losses and ties of pairs.
    """
    parts: dict[str, list[float]] = {run: [1.0] for run in comparison.runs}
    for each in comparison.over_all(measure):
        parts[each.run].append((each.losses + each.ties / 2) / each.n)
        parts[each.baseline].append((each.wins + each.ties / 2) / each.n)
    return {run: fsum(terms) for run, terms in parts.items()}


def _find_groups(alike: Sequence[set[int]]) -> list[tuple[int, ...]]:
    """Return the maximal cliques of two or more, in order (Bron and Kerbosch, 1973)."""
    groups: list[tuple[int, ...]] = []

    def extend(group: set[int], candidates: set[int], done: set[int]) -> None:
        if not candidates and not done:
            if len(group) > 1:
                groups.append(tuple(sorted(group)))
            return
        pivot = max(candidates | done, key=lambda node: len(alike[node] & candidates))
        for node in sorted(candidates - alike[pivot]):
            extend(group | {node}, candidates & alike[node], done & alike[node])
            candidates = candidates - {node}
            done = done | {node}

    extend(set(), set(range(len(alike))), set())
    return sorted(groups)
