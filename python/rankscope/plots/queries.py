"""The plots of two runs, query by query: the scatter plot, and sorted differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import fsum, isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from rankscope._compare.promise import Numbers, are_same
from rankscope._diff.difference import RunDifference
from rankscope._drawing import (
    ABOVE,
    DASHED,
    Palette,
    ThemeName,
    add_legend,
    annotate,
    fit_names,
    name_axes,
    name_columns,
    open_axes,
)
from rankscope._evaluate.evaluation import Evaluation
from rankscope.errors import UsageError
from rankscope.measures import Measure
from rankscope.measures.spec import SIGNS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_POINTS = 1000
"""More queries than these are drawn as cells that are darker where there are more queries."""


def draw_scatter(
    evaluations: Mapping[str, Evaluation],
    measure: Measure | str | None = None,
    *,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draw the values of a run against those of a baseline, one point per query.

    Above the diagonal, the value of the run is higher. Queries with the same values share a larger
    point. More than 1,000 queries are counted in hexagonal cells. Dashed lines mark the means.

    Args:
        evaluations: The result of `evaluate` for two runs, the baseline first. Queries without a
            value in one of them are left out.
        measure: The measure (default: the first of the first result).
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        UsageError: There aren't two results, they are for different queries, Matplotlib isn't
            installed, or the theme doesn't exist.
        MeasureError: A result doesn't have the measure.
    """
    if len(evaluations) != 2:
        raise UsageError(
            f"expected the results of two runs, found {len(evaluations)}",
            hint="write {'old': old_result, 'new': new_result}, the baseline first",
            code="bad_parameter",
        )
    (one, baseline), (other, run) = evaluations.items()
    if baseline.query_texts != run.query_texts:
        raise UsageError(
            f"{one} and {other} were evaluated on different queries",
            hint="evaluate both with the same judgments",
            code="not_alike",
        )
    measure = baseline.measures[0] if measure is None else baseline.find_measure(measure)
    values = np.array([baseline.per_query(measure), run.per_query(measure)])
    values = values[:, ~np.isnan(values).any(axis=0)]
    x, y = values
    signs = np.where(are_same(y, x), 0, np.sign(y - x) * (SIGNS[measure.better] or 1))
    low, high = measure.row.value_range
    low = low if isfinite(low) else values.min(initial=0.0)
    high = high if isfinite(high) else values.max(initial=0.0) or 1.0

    ax, colors = open_axes(ax, theme, (5.4, 5.8))
    margin = 0.03 * ((high - low) or 1.0)
    limits = (low - margin, high + margin)
    ax.set(xlim=limits, ylim=limits, aspect="equal")
    ax.plot(limits, limits, color=colors.ink, linewidth=0.9, zorder=1)
    is_dense = len(x) > MOST_POINTS
    (_draw_cells if is_dense else _draw_points)(ax, colors, values, signs)
    one, other = fit_names([one, other])
    means = [fsum(row) / max(len(row), 1) for row in values]
    for mark, mean in zip((ax.axvline, ax.axhline), means, strict=True):
        mark(mean, color=colors.quiet, linewidth=1.2, linestyle=DASHED, zorder=2.5)
    below = "\nstronger color: more queries" if is_dense else ""
    legend = _count_signs(ax, colors, measure, (one, other), Counter(signs.tolist()))
    name_axes(
        ax,
        colors,
        title=f"{measure} of {len(x):,} queries",
        x=f"{one}, mean {means[0]:.4f}{below}",
        y=f"{other}, mean {means[1]:.4f}",
        legend=legend,
    )
    return ax


def _color_signs(theme: Palette) -> dict[int, str]:
    """Return the color of queries in which the second run is better, the first, or neither."""
    return {1: theme.better, -1: theme.worse, 0: theme.quiet}


def _count_signs(
    ax: Axes, theme: Palette, measure: Measure, names: Sequence[str], counts: Mapping[int, int]
) -> int:
    """Add a legend with the number of queries by sign, and return its height in points."""
    what = "higher" if measure.better == "neither" else "better"
    words = {1: f"{names[1]} {what}", -1: f"{names[0]} {what}", 0: "equal"}
    colors = {sign: color for sign, color in _color_signs(theme).items() if counts.get(sign)}
    entries = [
        (ax.scatter([], [], color=color), f"{words[sign]}: {counts[sign]:,}")
        for sign, color in colors.items()
    ]
    add_legend(ax, theme, entries, **ABOVE, handletextpad=0.2, borderpad=0.1)
    return 14 * len(entries)


def _draw_points(ax: Axes, theme: Palette, values: Numbers, signs: Numbers) -> None:
    for sign, color in _color_signs(theme).items():
        (x, y), counts = np.unique(values[:, signs == sign], axis=1, return_counts=True)
        size = 22 * np.minimum(counts, 30)  # beyond, points would cover their neighbors
        ax.scatter(x, y, size, color, alpha=0.75, edgecolors=theme.paper, linewidths=0.5, zorder=3)


def _draw_cells(ax: Axes, theme: Palette, values: Numbers, signs: Numbers) -> None:
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgba

    # One color strength stands for the same number of queries in all cells.
    norm = LogNorm(vmin=1)
    counts = [2.0]
    for sign, color in _color_signs(theme).items():
        x, y = values[:, signs == sign]
        cells = ax.hexbin(
            x,
            y,
            gridsize=40,
            extent=(*ax.get_xlim(), *ax.get_ylim()),
            mincnt=1,
            norm=norm,
            cmap=LinearSegmentedColormap.from_list("", [to_rgba(color, 0.25), to_rgba(color)]),
            linewidths=0.2,
            edgecolors=theme.paper,
            zorder=2,
        )
        counts += np.asarray(cells.get_array()).tolist()
    norm.vmax = max(counts)


MOST_NAMES = 30
"""The most queries that are named below their bars."""


def draw_differences(
    difference: RunDifference, *, ax: Axes | None = None, theme: ThemeName = "light"
) -> Axes:
    """Draw the difference between two runs for each query as a bar, largest first.

    A dashed line marks the mean.

    Args:
        difference: The result of `diff`. Queries without a difference are left out.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        UsageError: Matplotlib isn't installed, or the theme doesn't exist.
    """
    measure, queries = difference.measure, difference.queries
    rows = zip(queries.column("query_id"), queries.array("difference").tolist(), strict=True)
    valued = sorted((row for row in rows if not isnan(row[1])), key=lambda row: -row[1])
    values, count = [value for _, value in valued], len(valued)
    ax, colors = open_axes(ax, theme, (7.2, 4.2), grid="y")
    up = SIGNS[measure.better] or 1
    by_sign = _color_signs(colors)
    ax.bar(
        range(count),
        values,
        width=1.0 if count > MOST_NAMES else 0.8,
        color=[by_sign[up if value > 0 else -up] for value in values],
        linewidth=0,
    )
    mean = fsum(values) / max(count, 1)
    ax.axhline(0, color=colors.ink, linewidth=0.8)
    ax.axhline(mean, color=colors.quiet, linewidth=1.2, linestyle=DASHED)
    beside = ax.get_yaxis_transform()
    annotate(ax, f"mean {mean:+.4f}", (1, mean), (4, 0), colors.quiet, beside)
    reach = 1.15 * (max(map(abs, values), default=0.0) or 1.0)
    ax.set(xlim=(-0.8, max(count - 0.2, 1)), ylim=(-reach, reach))
    names = fit_names([str(query) for query, _ in valued]) if count <= MOST_NAMES else []
    name_columns(ax, names, 90)
    one, other = fit_names(difference.names)
    counts = {1: difference.wins, -1: difference.losses, 0: difference.ties}
    name_axes(
        ax,
        colors,
        title=f"{other} against {one}, query by query",
        x=f"{count} queries, sorted",
        y=f"difference of {measure}",
        legend=_count_signs(ax, colors, measure, (one, other), counts),
    )
    return ax
