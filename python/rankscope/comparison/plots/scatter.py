"""The scatter plot of the values of two runs, query by query."""

from __future__ import annotations

from collections import Counter

from rankscope.drawing.axes import dress_legend, fit_names, name_axes, open_axes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

    from rankscope.comparison.charts.scatter import QueryScatter
    from rankscope.drawing.palette import Palette, ThemeName

MOST_POINTS = 1000
"""More queries than these are drawn as cells that are darker where there are more queries."""
CELLS = 40
"""The number of cells from left to right."""
AREA = 22
"""The area of the point of one query, in square points."""
ROW = 14
"""The height of a row of the legend, in points."""
LARGEST = 30
"""Points of more queries than these are as large as the point of that many."""


def draw_scatter(data: QueryScatter, ax: Axes | None = None, *, theme: ThemeName = "light") -> Axes:
    """Draw the values of a run against those of a baseline, one point per query.

    Above the diagonal, the value of the run is higher. Queries with the same values share a larger
    point. More than 1,000 queries are counted in hexagonal cells. Dashed lines mark the means.

    Args:
        data: The values, from `QueryScatter`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Returns:
        The axes.

    Raises:
        UsageError: Matplotlib is not installed, or the theme doesn't exist.
    """
    ax, colors = open_axes(ax, theme, (5.4, 5.8))
    margin = 0.03 * ((data.high - data.low) or 1.0)
    limits = (data.low - margin, data.high + margin)
    ax.set_xlim(*limits)
    ax.set_ylim(*limits)
    ax.set_aspect("equal")
    ax.plot(limits, limits, color=colors.ink, linewidth=0.9, zorder=1)
    one, other = fit_names([data.baseline, data.run])
    signs = Counter(data.signs)
    what = "higher" if data.direction == "neither" else "better"
    kinds = (
        (1, f"{other} {what}: {signs[1]:,}", colors.better),
        (-1, f"{one} {what}: {signs[-1]:,}", colors.worse),
        (0, f"equal: {signs[0]:,}", colors.quiet),
    )
    pairs = [*zip(data.baseline_values, data.run_values, data.signs, strict=True)]
    is_dense = len(pairs) > MOST_POINTS
    cells = []
    for sign, _, color in kinds:
        points = [(x, y) for x, y, each in pairs if each == sign]
        if points and is_dense:
            cells.append(_draw_cells(ax, colors, data, points, color))
        elif points:
            _draw_points(ax, colors, points, color)
    _share_scale(cells)
    x, y = data.means
    for draw, mean in ((ax.axvline, x), (ax.axhline, y)):
        draw(mean, color=colors.quiet, linewidth=1.2, linestyle=(0, (4, 2)), zorder=2.5)
    below = "\nstronger color: more queries" if is_dense else ""
    name_axes(
        ax,
        colors,
        title=f"{data.measure} of {len(pairs):,} queries",
        x=f"{one}, mean {x:.4f}{below}",
        y=f"{other}, mean {y:.4f}",
    )
    _add_legend(ax, colors, [(text, color) for sign, text, color in kinds if signs[sign]])
    return ax


def _draw_points(ax: Axes, theme: Palette, points: list[tuple[float, float]], color: str) -> None:
    counted = Counter(points)
    ax.scatter(
        [x for x, _ in counted],
        [y for _, y in counted],
        s=[AREA * min(count, LARGEST) for count in counted.values()],
        color=color,
        alpha=0.75,
        edgecolors=theme.paper,
        linewidths=0.5,
        zorder=3,
    )


def _draw_cells(
    ax: Axes,
    theme: Palette,
    data: QueryScatter,
    points: list[tuple[float, float]],
    color: str,
) -> PolyCollection:
    from matplotlib.colors import (  # noqa: PLC0415 - loads Matplotlib
        LinearSegmentedColormap,
        LogNorm,
    )

    return ax.hexbin(
        [x for x, _ in points],
        [y for _, y in points],
        gridsize=CELLS,
        extent=(data.low, data.high, data.low, data.high),
        mincnt=1,
        norm=LogNorm(vmin=1),
        cmap=LinearSegmentedColormap.from_list("", [_mix(theme.paper, color), color]),
        linewidths=0.2,
        edgecolors=theme.paper,
        zorder=2,
    )


def _mix(paper: str, color: str, share: float = 0.25) -> str:
    """Return a color between that of the paper and another."""
    channels = [
        round((1 - share) * int(paper[at : at + 2], 16) + share * int(color[at : at + 2], 16))
        for at in (1, 3, 5)
    ]
    return "#" + "".join(f"{channel:02X}" for channel in channels)


def _share_scale(cells: Sequence[PolyCollection]) -> None:
    """Let one color strength stand for the same number of queries in all cells."""
    most = max((float(each.get_array().max()) for each in cells), default=1.0)  # type: ignore[union-attr]  # the counts of hexbin
    for each in cells:
        each.set_clim(1, max(most, 2))


def _add_legend(ax: Axes, theme: Palette, entries: Sequence[tuple[str, str]]) -> None:
    """Name the colors between the title and the plot, one in a row."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - loads Matplotlib

    handles = [
        Line2D([], [], linestyle="none", marker="o", color=color, label=text.replace("$", r"\$"))
        for text, color in entries
    ]
    legend = ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        handletextpad=0.2,
        borderaxespad=0.1,
        borderpad=0.1,
    )
    dress_legend(legend, theme)
    ax.set_title(ax.get_title(loc="left"), loc="left", pad=10 + ROW * len(entries))
