"""The axes to draw on."""

from __future__ import annotations

from rankscope.drawing.theme import find_theme
from rankscope.errors import UsageError, hint_extra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

    from rankscope.drawing.palette import Palette
    from rankscope.drawing.theme import ThemeName

TEXT = 9
"""The size of text, in points."""
PAD = 0.1
"""The margins around a plot, in inches."""


def open_axes(
    ax: Axes | None,
    theme: ThemeName,
    size: tuple[float, float],
    grid: Literal["both", "x", "y"] = "both",
) -> tuple[Axes, Palette]:
    """Return axes in the style of a theme, and the colors of the theme."""
    colors = find_theme(theme)
    if ax is None:
        try:
            from matplotlib.figure import Figure  # noqa: PLC0415 - only where it is drawn
            from matplotlib.layout_engine import (  # noqa: PLC0415 - as above
                ConstrainedLayoutEngine,
            )

            from rankscope.drawing.picture import PictureAxes  # noqa: PLC0415 - loads late
        except ModuleNotFoundError as error:
            raise UsageError(
                "plots need matplotlib, which is not installed",
                hint=hint_extra("plot"),
                code="missing_extra",
            ) from error
        # A figure of its own, which no list of pyplot keeps alive.
        figure = Figure(
            figsize=size,
            layout=ConstrainedLayoutEngine(w_pad=PAD, h_pad=PAD),
            facecolor=colors.paper,
        )
        ax = figure.add_subplot(axes_class=PictureAxes)
    ax.set_facecolor(colors.paper)
    for side, spine in ax.spines.items():
        spine.set_color(colors.quiet)
        spine.set_visible(side in {"left", "bottom"})
    ax.tick_params(colors=colors.ink, labelsize=TEXT)
    ax.set_axisbelow(True)
    ax.grid(axis=grid, color=colors.faint, linewidth=0.8)
    return ax, colors


def name_axes(ax: Axes, theme: Palette, *, title: str, x: str, y: str) -> None:
    """Set the title and the labels of the axes."""
    # A name of a run that has two dollar signs is not a formula.
    ax.set_title(title, loc="left", color=theme.ink, fontsize=TEXT + 1.5, pad=10, parse_math=False)
    ax.set_xlabel(x, color=theme.ink, fontsize=TEXT, parse_math=False)
    ax.set_ylabel(y, color=theme.ink, fontsize=TEXT, parse_math=False)


def dress_legend(legend: Legend, theme: Palette) -> None:
    """Style a legend: no frame, and the text color of the theme."""
    legend.set_frame_on(False)
    for text in legend.get_texts():
        text.set_color(theme.ink)
        text.set_fontsize(TEXT)
