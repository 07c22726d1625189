"""The plot of values with bounds."""

from __future__ import annotations

from rankscope.drawing.axes import TEXT, name_axes, open_axes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope.bounds.chart import BoundsChart
    from rankscope.drawing.palette import ThemeName

MOST_NAMES = 30


def draw_bounds(data: BoundsChart, ax: Axes | None = None, *, theme: ThemeName = "light") -> Axes:
    """Draw values with their bounds, as rows with names, or as columns if there are many.

    Args:
        data: The values, from `BoundsChart`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Returns:
        The axes.

    Raises:
        UsageError: Matplotlib is not installed, or the theme doesn't exist.
    """
    count = len(data.ranges)
    is_named = count <= MOST_NAMES
    ax, colors = open_axes(
        ax,
        theme,
        (7.2, 1.4 + 0.34 * count) if is_named else (7.2, 4.2),
        grid="x" if is_named else "y",
    )
    places = [*range(count)]
    lower, value, upper = (
        [getattr(each, name) for each in data.ranges] for name in ("lower", "value", "upper")
    )
    draw = ax.hlines if is_named else ax.vlines
    draw(
        places,
        lower,
        upper,
        color=colors.run[0],
        linewidth=5 if is_named else max(0.5, 3 - count / 200),
        alpha=1.0 if is_named else 0.7,
    )
    points = (value, places) if is_named else (places, value)
    ax.plot(
        *points,
        linestyle="none",
        marker="o",
        markersize=7 if is_named else 2.5,
        markerfacecolor=colors.paper,
        markeredgecolor=colors.run[1],
        markeredgewidth=1.8 if is_named else 0.8,
    )
    has_sides = min(lower, default=0.0) < 0
    if has_sides:
        # Of a difference, it matters on which side of 0 it lies.
        (ax.axvline if is_named else ax.axhline)(0, color=colors.ink, linewidth=0.8)
    axis = f"{data.measure}: value, and what it could be"
    if is_named:
        ax.set_yticks(places, [each.name for each in data.ranges])
        ax.set_ylim(count - 0.4, -0.6)
        ax.margins(x=0.12)
        for place, each in zip(places, data.ranges, strict=True):
            ax.annotate(
                f"{each.lower:.3f} to {each.upper:.3f}",
                xy=(each.upper, place),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                color=colors.quiet,
                fontsize=TEXT,
                annotation_clip=False,
            )
    else:
        ax.set_xticks([])
        if not has_sides:
            ax.set_ylim(0, max([1.0, *upper]) * 1.02)
    name_axes(
        ax,
        colors,
        title=f"What could still change: {data.measure}",
        x=axis if is_named else f"{count} values, one a {data.by}, sorted",
        y="" if is_named else axis,
    )
    return ax
