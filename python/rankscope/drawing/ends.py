"""Labels at the ends of lines, without overlaps."""

from __future__ import annotations

from rankscope.drawing.axes import TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from rankscope.drawing.palette import Palette

    End = tuple[str, str, float, float]

POINTS = 72
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
