"""The plot of discounts, with attention."""

from __future__ import annotations

from rankscope.drawing.axes import draw_line, dress_legend, name_axes, name_ends, open_axes
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope.discounts.result import Discounts
    from rankscope.drawing.palette import ThemeName


@record(frozen=True, slots=True)
class DiscountLine:
    """The line of a discount.

    Args:
        names: The names of the discount; several if discounts only differ by a constant factor.
        weights: The weight of each rank, divided by that of rank 1.
    """

    names: tuple[str, ...]
    weights: tuple[float, ...]


@record(frozen=True, slots=True)
class DiscountCurves:
    """The data of a plot of discounts, with attention.

    Args:
        ranks: The number of ranks.
        lines: The line of each discount.
        attention: The ranks of the table of attention, with their weights relative to rank 1.
    """

    ranks: int
    lines: tuple[DiscountLine, ...]
    attention: tuple[tuple[int, float], ...] = ()

    @classmethod
    def of(cls, discounts: Discounts) -> DiscountCurves:
        """Return the data from a table of discounts.

        Args:
            discounts: The result of `tabulate_discounts`.
        """
        ranks = len(discounts)
        alike = {names[0]: names for names in discounts.alike}
        again = {name for names in discounts.alike for name in names[1:]}
        lines = tuple(
            DiscountLine(alike.get(curve.name, (curve.name,)), curve.weights[:ranks])
            for curve in discounts.curves
            if curve.name not in again
        )
        attention = tuple(pair for pair in discounts.attention.items() if pair[0] <= ranks)
        return cls(ranks, lines, attention)


MOST_TICKS = 15


def draw_discounts(
    data: DiscountCurves, ax: Axes | None = None, *, theme: ThemeName = "light"
) -> Axes:
    """Draw the weight of each rank under several discounts, with attention.

    Args:
        data: The discounts, from `DiscountCurves`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Returns:
        The axes.

    Raises:
        UsageError: Matplotlib is not installed, or the theme doesn't exist.
    """
    ax, colors = open_axes(ax, theme, (7.2, 4.4), grid="y")
    ends = []
    for number, line in enumerate(data.lines):
        ranks = range(1, len(line.weights) + 1)
        name = " = ".join(line.names)
        color = draw_line(ax, colors, number, name, x=[*ranks], y=line.weights)
        ends.append((name, color, len(line.weights), line.weights[-1]))
    if data.attention:
        ranks_known, shares = zip(*data.attention, strict=True)
        ax.plot(
            ranks_known,
            shares,
            linestyle="none",
            marker="*",
            markersize=13,
            color=colors.ink,
            markeredgecolor=colors.paper,
            label="attention, as textbooks have it",
            zorder=4,
        )
    highest = max([1.0, *(max(line.weights) for line in data.lines)])
    ax.set_ylim(0, highest * 1.05)
    ax.set_xlim(0.7, data.ranks + 0.3)
    if data.ranks <= MOST_TICKS:
        ax.set_xticks(range(1, data.ranks + 1))
    name_axes(ax, colors, title="How much a rank counts", x="rank", y="weight, that of rank 1 is 1")
    if data.attention:
        handles, names = ax.get_legend_handles_labels()
        marks = [*zip(handles, names, strict=True)][len(data.lines) :]
        legend = ax.legend(handles=[handle for handle, _ in marks], loc="upper right")
        dress_legend(legend, colors)
    name_ends(ax, colors, ends)
    return ax
