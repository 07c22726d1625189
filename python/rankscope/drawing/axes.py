"""The axes to draw on, lines that differ by color, dash pattern and marker, and their names."""

from __future__ import annotations

from rankscope.drawing.palette import DASHES, MARKERS, find_theme
from rankscope.errors import UsageError, hint_extra
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

    from rankscope.drawing.palette import Palette, ThemeName

    End = tuple[str, str, float, float]


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


LONGEST = (34, 48, 80)
"""Longer names are cut in the middle, since runs often differ at both ends."""
WIDTH = 0.6
"""The mean width of a character, as a share of the height of the text."""
POINTS = 72


def fit_names(names: Sequence[str]) -> list[str]:
    """Return names on one line, with an ellipsis in the middle of those that are too long.

    Different names stay different.

    Examples:
        >>> fit_names(["bm25", "dense_retriever_with_cross_encoder_reranker"])
        ['bm25', 'dense_retriever_w…encoder_reranker']
    """
    shown = [show(name) for name in names]
    for longest in LONGEST:
        fitted = [_cut(name, longest) for name in shown]
        if len(set(fitted)) == len(set(shown)):
            return fitted
    return shown


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[-end:]}"


def measure_widest(texts: Sequence[str]) -> float:
    """Return about how wide the longest line of some texts is, in inches."""
    lines = [line for text in texts for line in text.split("\n")]
    return max(map(len, lines), default=0) * TEXT * WIDTH / POINTS


LINE_HEIGHT = 1.35


def name_ends(ax: Axes, theme: Palette, ends: Sequence[End]) -> None:
    """Write the name of each line next to its end, after the limits of the axes are set."""
    low, high = ax.get_ylim()
    figure = ax.get_figure(root=True)
    height = ax.get_position().height * (figure.get_size_inches()[1] if figure else 4.0)
    gap = TEXT * LINE_HEIGHT / POINTS / height * (high - low)
    ordered = sorted(ends, key=lambda end: end[3])
    placed = _spread([end[3] for end in ordered], gap)
    for (name, color, x, y), at in zip(ordered, placed, strict=True):
        ax.annotate(
            name,
            xy=(x, y),
            xytext=(1.03, at),
            xycoords="data",
            textcoords=ax.get_yaxis_transform(),
            color=theme.ink,
            fontsize=TEXT,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": color,
                "linewidth": 0.8,
                "shrinkA": 1,
                "shrinkB": 3,
            },
        )


def _spread(heights: Sequence[float], gap: float) -> list[float]:
    """Return ascending heights, moved as little as possible to be a gap apart."""
    # Heights that are too near form a block, whose centre is the mean of theirs.
    blocks: list[list[float]] = []
    for height in heights:
        blocks.append([height])
        while len(blocks) > 1 and _top(blocks[-2], gap) + gap > _bottom(blocks[-1], gap):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    return [_bottom(block, gap) + at * gap for block in blocks for at in range(len(block))]


def _bottom(block: list[float], gap: float) -> float:
    return sum(block) / len(block) - (len(block) - 1) * gap / 2


def _top(block: list[float], gap: float) -> float:
    return sum(block) / len(block) + (len(block) - 1) * gap / 2


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
