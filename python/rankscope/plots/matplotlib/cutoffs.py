"""The plots of a measure by cutoff, and of precision by recall."""

from __future__ import annotations

from rankscope.drawing.axes import draw_line, dress_legend, name_axes, name_ends, open_axes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope.drawing.palette import ThemeName
    from rankscope.plots.data.cutoffs import CutoffCurve, PrecisionRecall


def draw_cutoffs(data: CutoffCurve, ax: Axes | None = None, *, theme: ThemeName = "light") -> Axes:
    """Draw a measure by cutoff, with one line per run and with intervals, if any.

    Args:
        data: The values, from `CutoffCurve`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Returns:
        The axes.

    Raises:
        UsageError: Matplotlib is not installed, or the theme doesn't exist.
    """
    ax, colors = open_axes(ax, theme, (7.2, 4.4), grid="y")
    # Cutoffs are spaced evenly: they are usually 1, 3, 5, 10, 20, 100.
    places = [*range(len(data.cutoffs))]
    ends = []
    for number, line in enumerate(data.lines):
        # Runs are offset a little, so that their intervals don't overlap.
        shift = (number - (len(data.lines) - 1) / 2) * 0.06
        x = [place + shift for place in places]
        color = draw_line(ax, colors, number, line.run, x=x, y=line.values)
        if line.lower:
            ax.vlines(x, line.lower, line.upper, color=color, linewidth=1.1, alpha=0.75)
        ends.append((line.run, color, x[-1], line.values[-1]))
    ax.set_xticks(places, [str(k) for k in data.cutoffs])
    ax.set_xlim(-0.35, places[-1] + 0.35)
    ax.margins(y=0.08)
    has_intervals = any(line.lower for line in data.lines)
    level = "" if data.level is None else f"{data.level:.0%} ".replace("%", " %")
    beside = f", with {level}intervals" if has_intervals else ""
    name_axes(
        ax, colors, title=f"{data.measure} by cutoff{beside}", x="cutoff k", y=f"{data.measure}@k"
    )
    name_ends(ax, colors, ends)
    return ax


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
