"""The picture of a leaderboard: the runs by one measure, their groups, and the baselines."""

from __future__ import annotations

import math

from rankscope.drawing.axes import (
    DASHED,
    TEXT,
    annotate,
    fit_names,
    measure_widest,
    name_axes,
    name_rows,
    open_axes,
)
from rankscope.drawing.palette import MARKERS
from rankscope.errors import EmptyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope._compare.leaderboard.result import Leaderboard
    from rankscope.drawing.palette import ThemeName
    from rankscope.measures import Measure


def draw_leaderboard(
    board: Leaderboard,
    measure: Measure | str | None = None,
    *,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draw the value of each run as a mark, best run at the top, with the letter of its group.

    Marks change with each group. A dashed line goes through the value of each baseline. The runs
    are those that the leaderboard shows, if they have a value.

    Args:
        board: The result of `leaderboard`.
        measure: The measure (default: the one that runs are sorted by).
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        UsageError: The leaderboard doesn't have the measure, Matplotlib isn't installed, or the
            theme doesn't exist.
        EmptyError: No run has a value.
    """
    name = board.sort if measure is None else board.find_measure(measure)
    entries = [entry for entry in board.shown if not math.isnan(entry.values[name])]
    if not entries:
        raise EmptyError(
            f"no run has a value of {name}",
            hint="keep queries without a value: policy='empty=zero'",
            code="no_value",
        )
    names = fit_names([entry.run for entry in entries])
    values = [entry.values[name] for entry in entries]
    baselines = [entry.values[name] for entry in entries if entry.run in board.baselines]
    size = (5.6 + measure_widest(names), 1.2 + 0.24 * len(names))
    ax, colors = open_axes(ax, theme, size, grid="x")
    for value in baselines:
        ax.axvline(value, color=colors.quiet, linewidth=1, linestyle=DASHED, zorder=1)
    for number, group in enumerate(dict.fromkeys(entry.group for entry in entries)):
        places = [at for at, entry in enumerate(entries) if entry.group == group]
        x, mark, color = [values[at] for at in places], MARKERS[number % 2], colors.run[number % 2]
        ax.plot(x, places, mark, color=color, markersize=6, zorder=3)
    beside = ax.get_yaxis_transform()
    for at, entry in enumerate(entries):
        text = f"{values[at]:.4f}  {entry.group}".rstrip()
        annotate(ax, text, (1, at), (5, 0), colors.ink, beside, fontsize=TEXT - 1)
    name_rows(ax, names)
    ax.margins(x=0.06)
    groups = "" if board.groups is None else f", with groups by {board.sort}"
    dashed = "; dashed: baselines" if baselines else ""
    name_axes(ax, colors, title=f"Runs by {name}{groups}", x=f"{name}{dashed}")
    return ax
