"""The plot of values with bounds."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan

from rankscope.drawing.axes import annotate, fit_names, name_axes, name_rows, open_axes
from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope.bounds.result import Bounds
    from rankscope.drawing.palette import ThemeName

MOST_NAMES = 30
"""More values than these are columns without names."""


def draw_bounds(
    bounds: Bounds | Mapping[str, Bounds], *, ax: Axes | None = None, theme: ThemeName = "light"
) -> Axes:
    """Draw values with their bounds, as rows with names, or as columns if there are many.

    Args:
        bounds: The result of `Rankings.bounds`, whose queries are drawn, highest value first. Or
            the results of several runs, whose means are drawn in their order.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        UsageError: The results are for different measures, Matplotlib isn't installed, or the theme
            doesn't exist.

    Examples:
        >>> import rankscope as rs
        >>> lists = rs.Rankings.from_lists([[1, float("nan")], [1, 0]])
        >>> ax = draw_bounds(lists.bounds(rs.P @ 2, scale=[0, 1]))
        >>> [text.get_text() for text in ax.texts]
        ['0.500 to 1.000', '0.500 to 0.500']
    """
    if isinstance(bounds, Mapping):
        measures = list(dict.fromkeys(map(_name_measure, bounds.values())))
        if len(measures) > 1:
            raise UsageError(
                f"expected bounds of {measures[0]}, found bounds of {measures[1]}",
                hint="draw them in separate plots",
                code="not_alike",
            )
        means = ((name, each.mean) for name, each in bounds.items())
        rows = [(name, mean.value, mean.lower, mean.upper) for name, mean in means]
        measure, what = measures[0], "runs"
    else:
        columns = (bounds.array(name).tolist() for name in ("value", "lower", "upper"))
        every = zip(map(str, bounds.column("query_id")), *columns, strict=True)
        rows = sorted((row for row in every if not isnan(row[1])), key=lambda row: -row[1])
        measure, what = _name_measure(bounds), "queries, sorted"
    names, values, lower, upper = zip(*rows, strict=True) if rows else ((), (), (), ())
    count = len(rows)
    places = range(count)
    axis = f"{measure}: value and possible range"
    title = f"{measure} with bounds for unjudged documents"
    has_sides = min(lower, default=0.0) < 0  # of a difference, it matters on which side of 0 it is
    if count <= MOST_NAMES:
        ax, colors = open_axes(ax, theme, (7.2, 1.4 + 0.34 * count), grid="x")
        ax.hlines(places, lower, upper, color=colors.run[0], linewidth=5)
        circles = ax.plot(values, places, "o", markersize=7, markeredgewidth=1.8)
        if has_sides:
            ax.axvline(0, color=colors.ink, linewidth=0.8)
        for place, (_, _, low, high) in enumerate(rows):
            annotate(ax, f"{low:.3f} to {high:.3f}", (high, place), (8, 0), colors.quiet)
        name_rows(ax, fit_names(names))
        ax.margins(x=0.12)
        name_axes(ax, colors, title=title, x=axis)
    else:
        ax, colors = open_axes(ax, theme, (7.2, 4.2), grid="y")
        width = max(0.5, 3 - count / 200)
        ax.vlines(places, lower, upper, color=colors.run[0], linewidth=width, alpha=0.7)
        circles = ax.plot(places, values, "o", markersize=2.5, markeredgewidth=0.8)
        if has_sides:
            ax.axhline(0, color=colors.ink, linewidth=0.8)
        else:
            ax.set_ylim(0, max([1.0, *upper]) * 1.02)
        ax.set_xticks([])
        name_axes(ax, colors, title=title, x=f"{count} {what}", y=axis)
    circles[0].set(markerfacecolor=colors.paper, markeredgecolor=colors.run[1])
    return ax


def _name_measure(bounds: Bounds) -> str:
    return f"difference of {bounds.measure}" if bounds.is_difference else str(bounds.measure)
