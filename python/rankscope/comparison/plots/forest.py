"""The forest plot."""

from __future__ import annotations

from math import isnan

from rankscope.comparison.notes import CORRECTIONS, format_p, format_signed
from rankscope.drawing.axes import TEXT, name_axes, open_axes
from rankscope.drawing.names import fit_names, measure_widest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope.comparison.charts.forest import Effect, Forest
    from rankscope.drawing.palette import Palette
    from rankscope.drawing.theme import ThemeName

WIDEST_PAIR = 38
"""Pairs of names with more characters take two lines."""
PLOT = 6.4
"""The width of what is right of the names, in inches."""
COLUMNS = (8, 168, 214)
"""Where the text beside the plot starts or ends, in points: differences, intervals, p-values."""


def draw_forest(data: Forest, ax: Axes | None = None, *, theme: ThemeName = "light") -> Axes:
    """Draw differences with their confidence intervals, one per row.

    The circle of a difference is filled if it is significant after correction. A margin of
    equivalence is a band around 0.

    Args:
        data: The differences, from `Forest`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Returns:
        The axes.

    Raises:
        UsageError: Matplotlib is not installed, or the theme doesn't exist.
    """
    names = _name_rows(data)
    count = len(names)
    row = 0.44 if any("\n" in name for name in names) else 0.32
    size = (PLOT + measure_widest(names), 1.5 + row * count)
    ax, colors = open_axes(ax, theme, size, grid="x")
    if data.margin is not None:
        ax.axvspan(-data.margin, data.margin, color=colors.faint, linewidth=0, zorder=0)
    ax.axvline(0, color=colors.ink, linewidth=0.9, zorder=1)
    for place, each in enumerate(data.effects):
        color = colors.run[0] if each.is_significant else colors.quiet
        if not isnan(each.lower):
            ax.hlines(place, each.lower, each.upper, color=color, linewidth=2.2, zorder=2)
        ax.plot(
            each.difference,
            place,
            marker="o",
            markersize=7,
            markerfacecolor=color if each.is_significant else colors.paper,
            markeredgecolor=color,
            markeredgewidth=1.6,
            zorder=3,
        )
    ax.set_yticks(range(count), names, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(count - 0.4, -1.0)
    ax.margins(x=0.06)
    _write_values(ax, colors, data)
    correction = "" if data.correction == "none" else f" ({CORRECTIONS[data.correction]})"
    corrected = f"after correction{correction}" if correction else "not corrected"
    band = "" if data.margin is None else f"; band: ±{data.margin:g}"
    name_axes(
        ax,
        colors,
        title=data.title,
        x=f"difference of {data.measure}; filled: p < {1 - data.level:.2g} {corrected}{band}",
        y="",
    )
    return ax


def _name_rows(data: Forest) -> list[str]:
    """Return the names of the rows; long pairs take two lines."""
    fitted = fit_names([each.name for each in data.effects] + [each.minus for each in data.effects])
    pairs = [*zip(fitted, fitted[len(data.effects) :], strict=False)]
    is_wide = any(len(name + minus) > WIDEST_PAIR for name, minus in pairs if minus)
    between = "\nminus " if is_wide else " minus "
    return [f"{name}{between}{minus}" if minus else name for name, minus in pairs]


def _write_values(ax: Axes, theme: Palette, data: Forest) -> None:
    """Write the numbers of each row to the right of the plot, under a head."""
    first, second, third = COLUMNS
    level = f"{100 * data.level:g} % interval"

    def write(place: float, texts: tuple[str, str, str], color: str) -> None:
        for text, offset, side in zip(
            texts, (first, second, third), ("left", "right", "right"), strict=True
        ):
            ax.annotate(
                text,
                xy=(1, place),
                xycoords=ax.get_yaxis_transform(),
                xytext=(offset, 0),
                textcoords="offset points",
                ha=side,
                va="center",
                color=color,
                fontsize=TEXT,
                annotation_clip=False,
            )

    write(-0.8, ("", level, "p"), theme.quiet)
    for place, each in enumerate(data.effects):
        write(place, (format_signed(each.difference), _format(each), format_p(each.p)), theme.ink)


def _format(effect: Effect) -> str:
    if isnan(effect.lower):
        return "–"
    return f"{format_signed(effect.lower)} to {format_signed(effect.upper)}"
