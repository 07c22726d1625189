"""The critical-difference diagram: runs on an axis, and groups that don't differ."""

from __future__ import annotations

import textwrap
from math import fsum

from rankscope._compare.charts.forest import find_measure
from rankscope._compare.notes import CORRECTIONS, TESTS
from rankscope.drawing.axes import TEXT, fit_names, measure_widest, name_axes, open_axes
from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from matplotlib.axes import Axes

    from rankscope._compare.result import Comparison
    from rankscope.drawing.palette import Palette, ThemeName
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
            >>> found = CriticalDifferences.of(rs.compare(values, values=True))
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


WIDTH = 5.0
"""The width of the axis, in inches."""


ROW = 0.25
"""The height of a row of names, in inches."""


BAR = 0.55
"""The height of a level of bars, in rows."""


LINE = 105
"""The most characters of a line of the caption."""


def draw_critical_differences(
    data: CriticalDifferences, ax: Axes | None = None, *, theme: ThemeName = "light"
) -> Axes:
    """Draw runs on an axis, the best at the right, and join those that don't differ significantly.

    A bar joins the runs that have a dot on it. No two of them differ significantly. A bar can pass
    a run without a dot, which isn't part of its group.

    Args:
        data: The runs and groups, from `CriticalDifferences`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Returns:
        The axes.

    Raises:
        UsageError: Matplotlib is not installed, or the theme doesn't exist.
    """
    levels = _stack(data.groups)
    bars = max(levels, default=-1) + 1
    count = len(data.runs)
    left = (count + 1) // 2
    fitted = fit_names([run.name for run in data.runs])
    values = [_write(data, run.value) for run in data.runs]
    names = [f"{name}  {value}" for name, value in zip(fitted, values, strict=True)]
    depth = BAR * bars + 0.6
    rows = depth + left
    size = (WIDTH + 2 * measure_widest(names), 1.25 + ROW * rows)
    ax, colors = open_axes(ax, theme, size)
    ax.grid(visible=False)
    _lay_axis(ax, colors, data)
    low, high = ax.get_xlim()
    ax.set_ylim(rows, 0)
    for at, run in enumerate(data.runs):
        is_left = at < left
        place = depth + (at if is_left else count - 1 - at) + 0.5
        edge = low if is_left else high
        ax.plot([run.value, run.value, edge], [0, place, place], color=colors.quiet, linewidth=0.9)
        ax.annotate(
            names[at],
            xy=(edge, place),
            xytext=(-4 if is_left else 4, 0),
            textcoords="offset points",
            ha="right" if is_left else "left",
            va="center",
            color=colors.ink,
            fontsize=TEXT,
            annotation_clip=False,
            parse_math=False,
        )
    for group, level in zip(data.groups, levels, strict=True):
        height = BAR * level + 0.55
        members = [data.runs[at].value for at in group]
        ax.plot(
            members,
            [height] * len(members),
            color=colors.run[0],
            linewidth=2.6,
            marker="o",
            markersize=6,
            solid_capstyle="round",
            zorder=3,
        )
    what = data.measure if data.axis == "mean" else f"average rank by {data.measure}"
    name_axes(ax, colors, title=f"Runs by {what}", x=_write_caption(data), y="")
    return ax


def _lay_axis(ax: Axes, theme: Palette, data: CriticalDifferences) -> None:
    """Put the axis at the top, from the worst run to the best."""
    values = [run.value for run in data.runs]
    low, high = min(values), max(values)
    margin = 0.06 * ((high - low) or abs(high) or 1.0)
    limits = (low - margin, high + margin)
    ax.set_xlim(*(reversed(limits) if data.axis == "rank" else limits))
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("bottom")
    ax.set_yticks([])
    for side, spine in ax.spines.items():
        spine.set_visible(side == "top")
    ax.tick_params(axis="x", colors=theme.ink)


def _stack(groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the level of each bar, so that bars at one level don't touch."""
    ends: list[int] = []
    levels = []
    for group in groups:
        first, last = group[0], group[-1]
        level = next((at for at, end in enumerate(ends) if end < first), len(ends))
        ends[level : level + 1] = [last]
        levels.append(level)
    return levels


def _write(data: CriticalDifferences, value: float) -> str:
    return f"{value:.4f}" if data.axis == "mean" else f"{value:.2f}"


def _write_caption(data: CriticalDifferences) -> str:
    test = TESTS[data.test]
    correction = CORRECTIONS[data.correction]
    how = f"{test}, {correction}, p < {data.alpha:g}, {data.queries:,} queries"
    if data.groups:
        text = (
            f"Runs with a dot on the same bar don't differ significantly in any pair ({how}). "
            "Groups follow from the p-value of each pair, not from one critical difference."
        )
    else:
        text = f"All pairs of runs differ significantly ({how})."
    return textwrap.fill(text, LINE)
