"""The critical-difference diagram."""

from __future__ import annotations

import textwrap

from rankscope.comparison.notes import CORRECTIONS, TESTS
from rankscope.drawing.axes import TEXT, name_axes, open_axes
from rankscope.drawing.names import fit_names, measure_widest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from rankscope.comparison.charts.critical_differences import CriticalDifferences
    from rankscope.drawing.palette import Palette
    from rankscope.drawing.theme import ThemeName

WIDTH = 5.0
"""The width of the axis, in inches."""
ROW = 0.25
"""The height of a row of names, in inches."""
BAR = 0.55
"""The height of a level of bars, in rows."""
LINE = 105
"""The most characters of a line of the caption."""


def draw_critical_differences(
    data: CriticalDifferences, ax: Axes | None = None, *, theme: ThemeName = "light"
) -> Axes:
    """Draw runs on an axis, the best at the right, and join those that don't differ significantly.

    A bar joins the runs that have a dot on it. No two of them differ significantly. A bar can pass
    a run without a dot, which isn't part of its group.

    Args:
        data: The runs and groups, from `CriticalDifferences`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Returns:
        The axes.

    Raises:
        UsageError: Matplotlib is not installed, or the theme doesn't exist.
    """
    levels = _stack(data.groups)
    bars = max(levels, default=-1) + 1
    count = len(data.runs)
    left = (count + 1) // 2
    fitted = fit_names([run.name for run in data.runs])
    values = [_write(data, run.value) for run in data.runs]
    names = [f"{name}  {value}" for name, value in zip(fitted, values, strict=True)]
    depth = BAR * bars + 0.6
    rows = depth + left
    size = (WIDTH + 2 * measure_widest(names), 1.25 + ROW * rows)
    ax, colors = open_axes(ax, theme, size)
    ax.grid(visible=False)
    _lay_axis(ax, colors, data)
    low, high = ax.get_xlim()
    ax.set_ylim(rows, 0)
    for at, run in enumerate(data.runs):
        is_left = at < left
        place = depth + (at if is_left else count - 1 - at) + 0.5
        edge = low if is_left else high
        ax.plot([run.value, run.value, edge], [0, place, place], color=colors.quiet, linewidth=0.9)
        ax.annotate(
            names[at],
            xy=(edge, place),
            xytext=(-4 if is_left else 4, 0),
            textcoords="offset points",
            ha="right" if is_left else "left",
            va="center",
            color=colors.ink,
            fontsize=TEXT,
            annotation_clip=False,
            parse_math=False,
        )
    for group, level in zip(data.groups, levels, strict=True):
        height = BAR * level + 0.55
        members = [data.runs[at].value for at in group]
        ax.plot(
            members,
            [height] * len(members),
            color=colors.run[0],
            linewidth=2.6,
            marker="o",
            markersize=6,
            solid_capstyle="round",
            zorder=3,
        )
    what = data.measure if data.axis == "mean" else f"average rank by {data.measure}"
    name_axes(ax, colors, title=f"Runs by {what}", x=_write_caption(data), y="")
    return ax


def _lay_axis(ax: Axes, theme: Palette, data: CriticalDifferences) -> None:
    """Put the axis at the top, from the worst run to the best."""
    values = [run.value for run in data.runs]
    low, high = min(values), max(values)
    margin = 0.06 * ((high - low) or abs(high) or 1.0)
    limits = (low - margin, high + margin)
    ax.set_xlim(*(reversed(limits) if data.axis == "rank" else limits))
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("bottom")
    ax.set_yticks([])
    for side, spine in ax.spines.items():
        spine.set_visible(side == "top")
    ax.tick_params(axis="x", colors=theme.ink)


def _stack(groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the level of each bar, so that bars at one level don't touch."""
    ends: list[int] = []
    levels = []
    for group in groups:
        first, last = group[0], group[-1]
        level = next((at for at, end in enumerate(ends) if end < first), len(ends))
        ends[level : level + 1] = [last]
        levels.append(level)
    return levels


def _write(data: CriticalDifferences, value: float) -> str:
    return f"{value:.4f}" if data.axis == "mean" else f"{value:.2f}"


def _write_caption(data: CriticalDifferences) -> str:
    test = TESTS[data.test]
    correction = CORRECTIONS[data.correction]
    how = f"{test}, {correction}, p < {data.alpha:g}, {data.queries:,} queries"
    if data.groups:
        text = (
            f"Runs with a dot on the same bar don't differ significantly in any pair ({how}). "
            "Groups follow from the p-value of each pair, not from one critical difference."
        )
    else:
        text = f"All pairs of runs differ significantly ({how})."
    return textwrap.fill(text, LINE)
