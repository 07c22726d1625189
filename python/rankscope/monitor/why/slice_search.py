"""Search for the slices of one or two attributes whose quality changed, or everything together.

All slices with enough queries are tested together with the change everywhere, and the one that
stands out most is a cause if hardly any reassignment of users between the windows has a slice that
stands out as much. Its queries are then removed, and the search repeats. The slices found therefore
don't overlap, and their contributions add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._core import SliceQueries
from rankscope._stats.sums import take_high_part
from rankscope.monitor.why.additive_effects import fit_effects, take_residuals
from rankscope.monitor.why.document_regrets import Codes
from rankscope.monitor.why.reassignment import Reassignment
from rankscope.monitor.why.result import Ends
from rankscope.monitor.why.slice_table import Slice, SliceGrid, find_queries, tabulate

Numbers: TypeAlias = NDArray[np.float64]
By: TypeAlias = Literal["within", "mix"]


FEWEST_CLUSTERS = 10
"""The minimum number of clusters of a slice. With fewer, too few reassignments are different."""
NEGLIGIBLE = 1e-9
"""What rounding leaves of no change, at most."""
PRIOR_CLUSTERS = 50
"""The number of clusters by which the variance in a slice is moved towards that in all slices. Its
own variance includes the fall itself, which hides large falls of small slices."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A slice that was found, or everything.

    Args:
        place: The indices of the attributes and of their values; empty for everything.
        by: Whether it was found because of its mean or its share.
        is_steady: Whether both windows have enough queries for a mean.
        statistic: The change of its mean or share, in standard errors.
        p_value: The share of reassignments in which a slice stands out as much.
        difference: The change of its mean that the mix of attributes doesn't explain, or the change
            of its share.
        interval: The interval of this difference, which holds for all slices searched together.
        is_confirmed: Whether the p-value is at most the level of the search.
    """

    place: Slice
    by: By
    is_steady: bool
    statistic: float
    p_value: float
    difference: float
    interval: Ends
    is_confirmed: bool


@dataclass(frozen=True, slots=True)
class Rows:
    """The queries that are searched, by window.

    Args:
        codes: The value of each query, by attribute and window.
        values: The values.
        bags: The bag of each query, in ascending order.
    """

    codes: tuple[tuple[Codes, Codes], ...]
    values: tuple[Numbers, Numbers]
    bags: tuple[NDArray[np.int64], NDArray[np.int64]]

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of queries before and after."""
        return len(self.values[0]), len(self.values[1])

    def take(self, chosen: Sequence[NDArray[np.bool_] | NDArray[np.int64]]) -> Rows:
        """Return some queries of each window."""
        return Rows(
            tuple((one[chosen[0]], other[chosen[1]]) for one, other in self.codes),
            (self.values[0][chosen[0]], self.values[1][chosen[1]]),
            (self.bags[0][chosen[0]], self.bags[1][chosen[1]]),
        )

    def remove(self, place: Slice) -> Rows:
        """Return the queries that are not in a slice."""
        return self.take([~find_queries([each[at] for each in self.codes], place) for at in (0, 1)])


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchChoices:
    """The settings of a search.

    Args:
        sizes: The number of values of each attribute.
        draws: The reassignments of the bags.
        support: The number of queries that a slice must have in each window for its mean.
        most_found: The maximum number of slices to find.
        level: The probability that something is found where nothing changed.
        direction: 1 to search for what rose, -1 for what fell (default: both).
        rankers: The indices of the attributes of the ranker, such as its version.
        threads: The number of threads; what is found doesn't depend on it.
        check: Called now and then; it stops the search by raising, as when a deadline is over.
    """

    sizes: tuple[int, ...]
    draws: Reassignment
    support: int
    most_found: int
    level: float
    direction: float | None
    rankers: frozenset[int] = frozenset()
    threads: int = 1
    check: Callable[[], None] | None = None


def search_slices(rows: Rows, choices: SearchChoices) -> list[Candidate]:
    """Return what changed in quality, strongest first, each without the queries of earlier ones.

    If the change of everything stands out most, slices are searched that changed even more, until
    what remains changed alike or not at all.
    """
    candidates: list[Candidate] = []
    while min(rows.sizes) and len(candidates) < choices.most_found:
        candidate = _find_strongest(rows, choices)
        if candidate is None or not candidate.is_confirmed:
            return candidates or ([] if candidate is None else [candidate])
        if not candidate.place:
            everything = candidate
            beyond = _find_strongest(rows, choices, beyond=everything)
            is_last = len(candidates) + 1 == choices.most_found
            if is_last or beyond is None or not beyond.is_confirmed:
                return [*candidates, everything]
            candidate = beyond
        candidates.append(candidate)
        rows = rows.remove(candidate.place)
    return candidates


@dataclass(frozen=True, slots=True)
class _Tested:
    """The slices of a grid that are tested.

    Args:
        grid: The grid.
        cells: The numbers of the slices in it.
        penalty: What is taken off their squared statistics.
    """

    grid: SliceGrid
    cells: NDArray[np.int64]
    penalty: float


def _find_strongest(
    rows: Rows, choices: SearchChoices, *, beyond: Candidate | None = None
) -> Candidate | None:
    """Return the slice whose mean changed most, compared with what chance would make of it."""
    grids = tabulate(
        rows.codes, choices.sizes, [[take_high_part(each, len(each)) for each in rows.values]]
    )
    is_apart = beyond is not None
    residuals = _take_exact_residuals(
        rows, fit_effects(grids, choices.sizes, choices.rankers), is_apart=is_apart
    )
    tested = _choose_tested(grids, rows.sizes, choices.support, with_all=not is_apart)
    direction = choices.direction
    if beyond is not None:
        direction = 1.0 if beyond.statistic > 0 else -1.0
    before, after = (
        (rows.bags[at], residuals[at], [each[at] for each in rows.codes]) for at in (0, 1)
    )
    queries = SliceQueries(
        before,
        after,
        choices.sizes,
        len(choices.draws.is_paired),
    )
    found, best = choices.draws.drawn.find_strongest(
        queries,
        [(each.grid.axes, each.cells, each.penalty) for each in tested],
        (direction or 0.0, _measure_noise(residuals), PRIOR_CLUSTERS, FEWEST_CLUSTERS),
        choices.threads,
        choices.check,
    )
    if best is None:
        return None
    strength, number, cell, statistic = best
    if statistic == 0 or (direction is not None and statistic * direction < 0):
        return None
    largest = np.frombuffer(found)[1:]
    place = tested[number].grid.place(cell)
    difference = _find_difference(rows, residuals, place)
    if abs(difference) < NEGLIGIBLE:
        return None
    p_value = float((largest >= strength).sum() + 1) / (len(largest) + 1)
    # The largest statistic that chance has at the level, with the penalty of this slice.
    critical = float(np.quantile(largest, 1 - choices.level, method="higher"))
    half = abs(difference / statistic) * math.sqrt(max(critical + tested[number].penalty, 0.0))
    difference += 0.0 if beyond is None else beyond.difference
    return Candidate(
        place=place,
        by="within",
        is_steady=True,
        statistic=statistic,
        p_value=p_value,
        difference=difference,
        interval=(difference - half, difference + half),
        is_confirmed=p_value <= choices.level,
    )


def _choose_tested(
    grids: Sequence[SliceGrid], sizes: tuple[int, int], support: int, *, with_all: bool
) -> list[_Tested]:
    """Return the slices that have enough queries, and leave enough to compare with.

    Everything, all slices of one attribute, and all of two are taken to be equally likely, so each
    of many slices is less likely than each of few: twice the logarithm of their number is taken off
    their squared statistics. A slice is therefore preferred to the many parts of it.
    """
    cells = []
    counts = {1: 0, 2: 0}
    for grid in grids:
        rest = np.array(sizes)[:, None] - grid.counts
        can = (grid.counts >= support).all(axis=0) & (rest >= support).all(axis=0)
        cells.append(np.flatnonzero(can))
        counts[len(grid.axes)] += len(cells[-1])
    penalties = {many: 2 * float(np.log(max(count, 1))) for many, count in counts.items()}
    tested = [
        _Tested(grid, each, penalties[len(grid.axes)])
        for grid, each in zip(grids, cells, strict=True)
        if len(each)
    ]
    if with_all:
        whole = SliceGrid((), 1, np.array(sizes, dtype=np.float64)[:, None], np.zeros((2, 1)))
        tested.insert(0, _Tested(whole, np.zeros(1, dtype=np.int64), 0.0))
    return tested


def _take_exact_residuals(
    rows: Rows, effects: Sequence[Numbers], *, is_apart: bool
) -> tuple[Numbers, Numbers]:
    """Return the residuals, rounded so that sums of them are exact."""
    parts = [
        take_residuals(rows.values[at], [each[at] for each in rows.codes], effects) for at in (0, 1)
    ]
    many = sum(rows.sizes)
    whole = take_high_part(np.concatenate(parts), many)
    centre = float(whole.sum()) / many
    made = []
    for part in np.split(whole, [rows.sizes[0]]):
        mean = float(part.sum()) / len(part) if is_apart else centre
        made.append(take_high_part(part - mean, many))
    return made[0], made[1]


def _measure_noise(residuals: tuple[Numbers, Numbers]) -> float:
    """Return the variance of residuals, which doesn't depend on the order of queries."""
    squares = np.square(np.concatenate(residuals))
    return float(take_high_part(squares, len(squares)).sum()) / max(len(squares), 1)


def _find_difference(rows: Rows, residuals: tuple[Numbers, Numbers], place: Slice) -> float:
    """Return the change of the mean of a slice that attributes don't explain."""
    means = []
    for at in (0, 1):
        chosen = residuals[at]
        if place:
            chosen = chosen[find_queries([each[at] for each in rows.codes], place)]
        means.append(float(chosen.sum()) / max(len(chosen), 1))
    return means[1] - means[0]
