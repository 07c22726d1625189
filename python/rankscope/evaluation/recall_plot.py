"""The precision-recall plot."""

from __future__ import annotations

from rankscope.drawing.axes import draw_line, dress_legend, name_axes, open_axes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope.drawing.palette import ThemeName
    from rankscope.evaluation.recall_chart import PrecisionRecall


def draw_precision_recall(
    data: PrecisionRecall, ax: Axes | None = None, *, theme: ThemeName = "light"
) -> Axes:
    """Draw interpolated precision by recall, with one line per run.

    Args:
        data: The values, from `PrecisionRecall`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Returns:
        The axes.

    Raises:
        UsageError: Matplotlib is not installed, or the theme doesn't exist.
    """
    ax, colors = open_axes(ax, theme, (6.0, 4.6))
    for number, line in enumerate(data.lines):
        draw_line(ax, colors, number, line.run, x=data.recall, y=line.precision)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(0, 1.02)
    name_axes(ax, colors, title="Precision by recall", x="recall", y="interpolated precision, mean")
    # The lines meet at both ends, where names would not tell them apart.
    dress_legend(ax.legend(loc="upper right", handlelength=3.5), colors)
    return ax
