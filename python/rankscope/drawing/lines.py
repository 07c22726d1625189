"""Lines that differ in color, dash pattern and marker."""

from __future__ import annotations

from rankscope.drawing.theme import DASHES, MARKERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from rankscope.drawing.palette import Palette


def draw_line(
    ax: Axes, theme: Palette, number: int, name: str, *, x: Sequence[float], y: Sequence[float]
) -> str:
    """Draw a line and return its color."""
    color = theme.run[number % len(theme.run)]
    ax.plot(
        x,
        y,
        color=color,
        linestyle=DASHES[number % len(DASHES)],
        marker=MARKERS[number % len(MARKERS)],
        # The second time round, lines of one color differ in their markers.
        markerfacecolor=color if number < len(MARKERS) else theme.paper,
        linewidth=1.6,
        markersize=4.5,
        label=name,
    )
    return color
