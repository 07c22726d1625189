"""Lines that differ in colour, in dash and in marker."""

from __future__ import annotations

from rankscope.plots.matplotlib.theme import DASHES, MARKERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from rankscope.plots.matplotlib.theme import Theme


def draw_line(
    ax: Axes, theme: Theme, number: int, name: str, *, x: Sequence[float], y: Sequence[float]
) -> str:
    """Draw a line, and give its colour.

    Args:
        ax: The Axes.
        theme: The theme.
        number: Which line it is, from 0 on; it says how it looks.
        name: What it is called.
        x: Where its points are.
        y: How high they are.
    """
    colour = theme.lines[number % len(theme.lines)]
    ax.plot(
        x,
        y,
        color=colour,
        linestyle=DASHES[number % len(DASHES)],
        marker=MARKERS[number % len(MARKERS)],
        # The second time round, lines of one colour differ in their markers.
        markerfacecolor=colour if number < len(MARKERS) else theme.paper,
        linewidth=1.6,
        markersize=4.5,
        label=name,
    )
    return colour
