"""The axes to draw on."""

from __future__ import annotations

from rankscope.errors import UsageError, hint_extra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

    from rankscope.plots.matplotlib.theme import Theme

TEXT = 9
"""The size of text, in points."""
PAD = 0.1
"""The margins around a plot, in inches."""


def open_axes(ax: Axes | None, theme: Theme, size: tuple[float, float]) -> Axes:
    """Return axes in the style of a theme.

    Args:
        ax: The axes to style, or `None` to create a figure.
        theme: The theme.
        size: The width and height of the new figure, in inches.

    Raises:
        UsageError: Matplotlib is not installed.
    """
    if ax is None:
        try:
            from matplotlib.figure import Figure  # noqa: PLC0415 - only where it is drawn
            from matplotlib.layout_engine import (  # noqa: PLC0415 - as above
                ConstrainedLayoutEngine,
            )
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
            facecolor=theme.paper,
        )
        ax = figure.add_subplot()
    ax.set_facecolor(theme.paper)
    for side, spine in ax.spines.items():
        spine.set_color(theme.muted)
        spine.set_visible(side in {"left", "bottom"})
    ax.tick_params(colors=theme.ink, labelsize=TEXT)
    ax.set_axisbelow(True)
    return ax


def name_axes(ax: Axes, theme: Theme, *, title: str, x: str, y: str) -> None:
    """Set the title and the labels of the axes."""
    ax.set_title(title, loc="left", color=theme.ink, fontsize=TEXT + 1.5, pad=10)
    ax.set_xlabel(x, color=theme.ink, fontsize=TEXT)
    ax.set_ylabel(y, color=theme.ink, fontsize=TEXT)


def dress_legend(legend: Legend, theme: Theme) -> None:
    """Style a legend: no frame, and the text color of the theme."""
    legend.set_frame_on(False)
    for text in legend.get_texts():
        text.set_color(theme.ink)
        text.set_fontsize(TEXT)
