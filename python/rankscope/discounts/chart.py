"""The plot of discounts, with attention and an estimate from clicks."""

from __future__ import annotations

from rankscope.drawing.axes import TEXT, draw_line, dress_legend, name_axes, name_ends, open_axes
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope.clicks.examination_result import ExaminationCurve
    from rankscope.discounts.result import Curve, Discounts
    from rankscope.drawing.palette import Palette, ThemeName


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
class Examined:
    """How often users look at a rank, estimated from clicks.

    Args:
        rank: The rank.
        value: The estimate, relative to rank 1.
        lower: The lower end of its interval.
        upper: The upper end of its interval.
    """

    rank: int
    value: float
    lower: float
    upper: float


@record(frozen=True, slots=True)
class DiscountCurves:
    """The data of a plot of discounts, with attention and an estimate from clicks.

    Args:
        ranks: The number of ranks.
        lines: The line of each discount.
        attention: The ranks of the table of attention, with their weights relative to rank 1.
        examined: The estimates from clicks; empty without them.
        level: The confidence level of their intervals.
    """

    ranks: int
    lines: tuple[DiscountLine, ...]
    attention: tuple[tuple[int, float], ...] = ()
    examined: tuple[Examined, ...] = ()
    level: float | None = None

    @classmethod
    def of(
        cls, discounts: Discounts, examination: ExaminationCurve | None = None
    ) -> DiscountCurves:
        """Return the data from a table of discounts.

        Args:
            discounts: The result of `tabulate_discounts`.
            examination: The result of `estimate_examination`, to add an estimate from clicks.
        """
        ranks = len(discounts)
        alike = {names[0]: names for names in discounts.alike}
        again = {name for names in discounts.alike for name in names[1:]}
        lines = tuple(
            DiscountLine(alike.get(curve.name, (curve.name,)), curve.weights[:ranks])
            for curve in discounts.curves
            if curve.name not in again and not _is_of(curve, examination)
        )
        attention = tuple(pair for pair in discounts.attention.items() if pair[0] <= ranks)
        if examination is None:
            return cls(ranks, lines, attention)
        examined = tuple(
            Examined(*row)
            for row in zip(
                examination.ranks,
                examination.weights,
                examination.lower,
                examination.upper,
                strict=True,
            )
            if row[0] <= ranks
        )
        return cls(ranks, lines, attention, examined, examination.level)


def _is_of(curve: Curve, examination: ExaminationCurve | None) -> bool:
    """Return whether a discount is the estimate from clicks, which is drawn with intervals."""
    return examination is not None and curve.settings["discount"] == examination.weights


MOST_TICKS = 15


HIGHEST = 1.5
"""The upper limit for intervals. Longer ones are cut and labeled with their end."""


BESIDE = 0.12
"""The horizontal offset of estimates from clicks, so they don't hide the curves."""


def draw_discounts(
    data: DiscountCurves, ax: Axes | None = None, *, theme: ThemeName = "light"
) -> Axes:
    """Draw the weight of each rank under several discounts, with attention and clicks.

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
    if data.examined:
        highest = max(highest, min(HIGHEST, max(each.upper for each in data.examined)))
        _draw_examined(ax, data, colors, highest)
    ax.set_ylim(0, highest * 1.05)
    ax.set_xlim(0.7, data.ranks + 0.3)
    if data.ranks <= MOST_TICKS:
        ax.set_xticks(range(1, data.ranks + 1))
    name_axes(ax, colors, title="How much a rank counts", x="rank", y="weight, that of rank 1 is 1")
    if data.attention or data.examined:
        handles, names = ax.get_legend_handles_labels()
        marks = [*zip(handles, names, strict=True)][len(data.lines) :]
        legend = ax.legend(handles=[handle for handle, _ in marks], loc="upper right")
        dress_legend(legend, colors)
    name_ends(ax, colors, ends)
    return ax


def _draw_examined(ax: Axes, data: DiscountCurves, theme: Palette, highest: float) -> None:
    """Draw the estimates from clicks for the ranks below rank 1."""
    examined = [each for each in data.examined if each.rank > 1]
    level = "" if data.level is None else f", with {data.level:.0%} intervals".replace("%", " %")
    places = [each.rank + BESIDE for each in examined]
    ax.errorbar(
        places,
        [each.value for each in examined],
        yerr=[
            [each.value - each.lower for each in examined],
            [each.upper - each.value for each in examined],
        ],
        fmt="h",
        markersize=7,
        capsize=4,
        color=theme.quiet,
        label=f"clicks by rank{level}",
        zorder=3,
    )
    for place, each in zip(places, examined, strict=True):
        if each.upper > highest:
            ax.annotate(
                f"to {each.upper:.1f}",
                xy=(place, highest),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                color=theme.quiet,
                fontsize=TEXT,
            )
