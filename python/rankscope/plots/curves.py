"""The plots of curves: a measure by cutoff, precision by recall, and discounts by rank."""

from __future__ import annotations

import numpy as np

from rankscope._evaluate.evaluation import Evaluation
from rankscope.drawing.axes import add_legend, fit_names, name_axes, open_axes
from rankscope.drawing.palette import DASHES, MARKERS
from rankscope.errors import MeasureError
from rankscope.measures import IPrec
from rankscope.measures.reading import read_measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from rankscope.discounts.result import Discounts
    from rankscope.drawing.palette import Palette, ThemeName
    from rankscope.measures import Measure

    Entry = tuple[Artist, str]

LENGTH = 3.5
"""The length of lines in legends, in which their dashes can be seen."""


def _open_axes(ax: Axes | None, theme: ThemeName) -> tuple[Axes, Palette]:
    """Return axes whose lines differ by color, dash pattern and marker."""
    ax, colors = open_axes(ax, theme, (7.2, 4.4), grid="y")
    count = len(colors.run)
    ax.set_prop_cycle(
        color=2 * colors.run,
        linestyle=2 * DASHES,
        linewidth=2 * count * (1.6,),
        marker=2 * MARKERS,
        markersize=2 * count * (4.5,),
        # The second time round, lines of one color differ in their markers.
        markerfacecolor=colors.run + count * (colors.paper,),
    )
    return ax, colors


def _name_lines(
    ax: Axes, theme: Palette, lines: Sequence[Line2D], names: Sequence[str], *others: Entry
) -> None:
    """Name lines beside the plot, in the order in which they end there."""
    ends = [float(np.asarray(line.get_ydata())[-1]) for line in lines]
    order = sorted(range(len(lines)), key=lambda at: -ends[at])
    entries = [(lines[at], names[at]) for at in order]
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    add_legend(ax, theme, [*entries, *others], handlelength=LENGTH, **beside)


def _list_runs(evaluations: Evaluation | Mapping[str, Evaluation]) -> dict[str, Evaluation]:
    return {"run": evaluations} if isinstance(evaluations, Evaluation) else {**evaluations}


def draw_cutoffs(
    evaluations: Evaluation | Mapping[str, Evaluation],
    measure: Measure | str | None = None,
    *,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draw a measure by cutoff, with one line per run and with intervals, if any.

    Args:
        evaluations: The result of `evaluate` for one or several runs, with measures such as
            `[nDCG @ 1, nDCG @ 5, nDCG @ 10]`.
        measure: The measure, if the results have several. Its cutoff doesn't matter.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        MeasureError: The first result doesn't have the measure at two cutoffs or more, or another
            result has different ones.
        UsageError: Matplotlib isn't installed, or the theme doesn't exist.

    Examples:
        >>> import rankscope as rs
        >>> wanted = [rs.nDCG @ k for k in (1, 2)]
        >>> ax = draw_cutoffs(rs.evaluate({"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}, wanted))
        >>> ax.lines[0].get_ydata()
        array([0.        , 0.63092975])
    """
    runs = _list_runs(evaluations)
    first = next(iter(runs.values()))
    uncut = {each: each(k=None) for each in first.measures if each.k is not None}
    chosen = next(iter(uncut), None) if measure is None else read_measure(measure)
    wanted = chosen and chosen(k=None)
    measures = {each.k or 0: each for each in uncut if uncut[each] == wanted}
    if len(measures) < 2:
        raise MeasureError(
            f"expected a measure at several cutoffs, found {', '.join(first)}",
            hint="evaluate [nDCG @ k for k in (1, 3, 5, 10)]",
            code="not_evaluated",
        )
    cutoffs = sorted(measures)
    ax, colors = _open_axes(ax, theme)
    lines = []
    beside = ""
    for number, evaluation in enumerate(runs.values()):
        # Cutoffs are spaced evenly: they are usually 1, 3, 5, 10, 20, 100. Runs are offset a
        # little, so that their intervals don't overlap.
        shift = (number - (len(runs) - 1) / 2) * 0.06
        x = [place + shift for place in range(len(cutoffs))]
        lines += ax.plot(x, [evaluation[measures[k]] for k in cutoffs])
        if evaluation.estimates:
            estimates = [evaluation.estimates[measures[k].name] for k in cutoffs]
            lower, upper = zip(*(each.ends for each in estimates), strict=True)
            ax.vlines(x, lower, upper, color=lines[-1].get_color(), linewidth=1.1, alpha=0.75)
            beside = f", with {100 * estimates[0].level:g}% intervals"
    ax.set_xticks(range(len(cutoffs)), map(str, cutoffs))
    ax.set_xlim(-0.35, len(cutoffs) - 0.65)
    ax.margins(y=0.08)
    name_axes(ax, colors, title=f"{wanted} by cutoff{beside}", x="cutoff k", y=f"{wanted}@k")
    _name_lines(ax, colors, lines, fit_names([*runs]))
    return ax


def draw_precision_recall(
    evaluations: Evaluation | Mapping[str, Evaluation],
    *,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draw interpolated precision by recall, with one line per run.

    Args:
        evaluations: The result of `evaluate` for one or several runs, with measures such as
            `[IPrec @ (tenth / 10) for tenth in range(11)]`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        MeasureError: The first result has fewer than two levels, or another lacks one of them.
        UsageError: Matplotlib isn't installed, or the theme doesn't exist.
    """
    runs = _list_runs(evaluations)
    first = next(iter(runs.values()))
    measures = {
        float(str(each.parameters["recall"])): each
        for each in first.measures
        if each.row is IPrec.row
    }
    if len(measures) < 2:
        raise MeasureError(
            f"expected interpolated precision at several levels, found {', '.join(first)}",
            hint="evaluate [IPrec @ (tenth / 10) for tenth in range(11)]",
            code="not_evaluated",
        )
    recall = sorted(measures)
    ax, colors = _open_axes(ax, theme)
    # One column for each run.
    precision = [[each[measures[level]] for each in runs.values()] for level in recall]
    lines = ax.plot(recall, precision)
    ax.set(xlim=(-0.02, 1.02), ylim=(0, 1.02))
    name_axes(ax, colors, title="Precision by recall", x="recall", y="interpolated precision, mean")
    entries = [*zip(lines, fit_names([*runs]), strict=True)]
    add_legend(ax, colors, entries, loc="upper right", handlelength=LENGTH)
    return ax


MOST_TICKS = 15


def draw_discounts(
    discounts: Discounts, *, ax: Axes | None = None, theme: ThemeName = "light"
) -> Axes:
    """Draw the weight of each rank under several discounts, with attention.

    Discounts that only differ by a constant factor share a line.

    Args:
        discounts: The result of `tabulate_discounts`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        UsageError: Matplotlib isn't installed, or the theme doesn't exist.
    """
    ranks = len(discounts)
    alike = {names[0]: names for names in discounts.alike}
    repeated = {name for names in discounts.alike for name in names[1:]}
    curves = [curve for curve in discounts.curves if curve.name not in repeated]
    ax, colors = _open_axes(ax, theme)
    lines = []
    for curve in curves:
        weights = curve.weights[:ranks]
        lines += ax.plot(range(1, len(weights) + 1), weights)
    names = [" = ".join(alike.get(curve.name, (curve.name,))) for curve in curves]
    attention = {rank: share for rank, share in discounts.attention.items() if rank <= ranks}
    x, y = [*attention], [*attention.values()]
    stars = ax.scatter(x, y, 170, marker="*", color=colors.ink, edgecolor=colors.paper, zorder=4)
    ax.set_xlim(0.7, ranks + 0.3)
    ax.set_ylim(0)
    if ranks <= MOST_TICKS:
        ax.set_xticks(range(1, ranks + 1))
    name_axes(ax, colors, title="Weight of each rank", x="rank", y="weight relative to rank 1")
    _name_lines(ax, colors, lines, names, (stars, "attention (from textbooks)"))
    return ax
