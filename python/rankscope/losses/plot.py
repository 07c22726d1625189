"""The plot of losses."""

from __future__ import annotations

from rankscope.drawing.axes import TEXT, dress_legend, name_axes, open_axes
from rankscope.drawing.palette import HATCHES
from rankscope.losses.chart import PARTS, UNDEFINED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope.drawing.palette import Palette, ThemeName
    from rankscope.losses.chart import LossBars

COLUMNS = 4
ROW = 17
"""The height of a row of the legend, in points."""


def draw_losses(data: LossBars, ax: Axes | None = None, *, theme: ThemeName = "light") -> Axes:
    """Draw losses as stacked bars, horizontal by run or slice, and vertical over time.

    Args:
        data: The bars, from `LossBars`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Returns:
        The axes.

    Raises:
        UsageError: Matplotlib is not installed, or the theme doesn't exist.
    """
    count = len(data.bars)
    size = (7.2, 4.2) if data.is_over_time else (7.2, 1.6 + 0.42 * count)
    ax, colors = open_axes(ax, theme, size, grid="y" if data.is_over_time else "x")
    places = [*range(count)]
    base = [0.0] * count
    for at, part in enumerate(data.parts):
        sizes = [bar.sizes[at] or 0.0 for bar in data.bars]
        if not any(sizes):
            continue
        is_last = part == UNDEFINED
        hatch = HATCHES[-1] if is_last else HATCHES[at % (len(HATCHES) - 1)]
        name = "no ideal" if is_last else part
        if data.is_over_time:
            drawn = ax.bar(places, sizes, width=0.7, bottom=base, label=name)
        else:
            drawn = ax.barh(places, sizes, height=0.7, left=base, label=name)
        for patch in drawn.patches:
            patch.set(
                facecolor=_fill(colors, part, at),
                edgecolor=colors.edge,
                hatch=hatch,
                linewidth=0.6,
            )
        base = [before + size for before, size in zip(base, sizes, strict=True)]
    for place, bar in zip(places, data.bars, strict=True):
        ax.annotate(
            f"{bar.total:.3f}",
            xy=(place, bar.total) if data.is_over_time else (bar.total, place),
            xytext=(0, 3) if data.is_over_time else (4, 0),
            textcoords="offset points",
            ha="center" if data.is_over_time else "left",
            va="bottom" if data.is_over_time else "center",
            color=colors.ink,
            fontsize=TEXT,
        )
    names = [bar.name for bar in data.bars]
    longest = max((bar.total for bar in data.bars), default=1.0) or 1.0
    loss = f"{data.measure} lost against the best order"
    if data.is_over_time:
        ax.set_xticks(places, names, rotation=45 if count > 8 else 0)
        ax.set_ylim(0, longest * 1.12)
    else:
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        ax.set_xlim(0, longest * 1.1)
    name_axes(
        ax,
        colors,
        title=_title(data),
        x=data.by if data.is_over_time else loss,
        y=loss if data.is_over_time else "",
    )
    handles, _ = ax.get_legend_handles_labels()
    legend = ax.legend(
        # Matplotlib fills columns; a legend is read in rows.
        handles=[handle for column in range(COLUMNS) for handle in handles[column::COLUMNS]],
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=COLUMNS,
        handlelength=2.2,
        handleheight=1.2,
        columnspacing=1.4,
        borderaxespad=0.2,
    )
    dress_legend(legend, colors)
    # The legend stands between the title and the bars.
    rows = -(-len(handles) // COLUMNS)
    ax.set_title(ax.get_title(loc="left"), loc="left", pad=12 + ROW * rows)
    return ax


def _fill(colors: Palette, part: str, at: int) -> str:
    """Return the color of a kind of loss, or of a stage of a pipeline."""
    fill: str = getattr(colors, part) if part in PARTS else colors.stage[at % len(colors.stage)]
    return fill


def _title(data: LossBars) -> str:
    unseen = f"; {' and '.join(data.unseen)} not observable" if data.unseen else ""
    return f"What {data.measure} lost, by {data.by}{unseen}"
