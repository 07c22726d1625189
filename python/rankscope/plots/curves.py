"""The plots of curves: a measure by cutoff, precision by recall, and discounts by rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope._discounts import Discounts
from rankscope._drawing import (
    ABOVE,
    DASHES,
    HATCHES,
    MARKERS,
    TEXT,
    Palette,
    ThemeName,
    add_legend,
    annotate,
    fit_names,
    name_axes,
    name_columns,
    name_rows,
    open_axes,
)
from rankscope._evaluate.evaluation import Evaluation
from rankscope._explain.bounds import Bounds
from rankscope._explain.ledger import Losses
from rankscope.errors import MeasureError, UsageError
from rankscope.measures import IPrec, Measure
from rankscope.measures.parse import read_measure

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

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
        >>> measures = [rs.nDCG @ 1, rs.nDCG @ 2]
        >>> ax = draw_cutoffs(rs.evaluate({"q": {"a": 1}}, {"q": {"b": 2, "a": 1}}, measures))
        >>> ax.lines[0].get_ydata()
        array([0.        , 0.63092975])
    """
    runs = _list_runs(evaluations)
    first = next(iter(runs.values()))
    cut = [of for of in first.measures if of.k is not None]
    name = next(iter(cut), None) if measure is None else read_measure(measure)
    name = name and name(k=None)
    measures = {of.k or 0: of for of in cut if of(k=None) == name}
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
            lower, upper = zip(*(estimate.ends for estimate in estimates), strict=True)
            ax.vlines(x, lower, upper, color=lines[-1].get_color(), linewidth=1.1, alpha=0.75)
            beside = f", with {100 * estimates[0].level:g}% intervals"
    ax.set_xticks(range(len(cutoffs)), map(str, cutoffs))
    ax.set_xlim(-0.35, len(cutoffs) - 0.65)
    ax.margins(y=0.08)
    name_axes(ax, colors, title=f"{name} by cutoff{beside}", x="cutoff k", y=f"{name}@k")
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
    levels = [of for of in first.measures if of.row is IPrec.row]
    measures = {float(str(of.parameters["recall"])): of for of in levels}
    if len(measures) < 2:
        raise MeasureError(
            f"expected interpolated precision at several levels, found {', '.join(first)}",
            hint="evaluate [IPrec @ (tenth / 10) for tenth in range(11)]",
            code="not_evaluated",
        )
    recall = sorted(measures)
    ax, colors = _open_axes(ax, theme)
    # One column for each run.
    precision = [[run[measures[level]] for run in runs.values()] for level in recall]
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
    alike = {name: names for names in discounts.alike for name in names}
    ax, colors = _open_axes(ax, theme)
    lines, names = [], []
    for curve in discounts.curves:
        group = alike.get(curve.name, (curve.name,))
        if curve.name == group[0]:
            weights = curve.weights[:ranks]
            lines += ax.plot(range(1, len(weights) + 1), weights)
            names.append(" = ".join(group))
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


UNDEFINED = "undefined"
"""The part of queries without relevant documents."""
PARTS = ("retrieval", "truncation", "ordering", UNDEFINED)
COLUMNS = 4


def draw_losses(
    losses: Losses | Mapping[str, Losses],
    *,
    by: str | None = None,
    is_over_time: bool = False,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draw losses as stacked bars, horizontal by run or slice, and vertical over time.

    Args:
        losses: The result of `Rankings.losses` for several runs, or that of one run `by` slices.
        by: What a bar is (default: `run`, or the name of the attribute of slices).
        is_over_time: Whether the bars are time spans, which are then sorted by name.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        UsageError: The results are for different measures or stages, the losses have no slices,
            Matplotlib isn't installed, or the theme doesn't exist.

    Examples:
        >>> import rankscope as rs
        >>> rankings = rs.Rankings.from_run({"q": {"a": 1, "b": 1}}, {"q": {"c": 2, "a": 1}})
        >>> ax = draw_losses({"mine": rankings.losses("nDCG@10")})
        >>> [text.get_text() for text in ax.texts]
        ['0.613']
    """
    runs = [*losses.values()] if isinstance(losses, Mapping) else [losses]
    _check_alike(f"losses of {of.measure} by {', '.join([*of.means][1:])}" for of in runs)
    measure, slices, parts = runs[0].measure, runs[0].slices, [*runs[0].means][1:]
    if isinstance(losses, Mapping):
        names, by = [*losses], by or "run"
        sizes = {part: [of.means[part] for of in runs] for part in parts}
    elif slices is not None:
        names, by = [*slices.labels], by or ", ".join(slices.attributes)
        sizes = {part: slices.array(part).tolist() for part in parts}
    else:
        raise UsageError(
            "the losses have no slices",
            hint="write rankings.losses(nDCG @ 10, by='country'), or pass {'my run': losses}",
            code="no_slices",
        )
    count = len(names)
    if is_over_time:
        order = sorted(range(count), key=names.__getitem__)
        names = [names[at] for at in order]
        sizes = {part: [column[at] for at in order] for part, column in sizes.items()}
    size = (7.2, 4.2) if is_over_time else (7.2, 1.6 + 0.42 * count)
    ax, colors = open_axes(ax, theme, size, grid="y" if is_over_time else "x")
    draw = ax.bar if is_over_time else ax.barh
    entries = []
    base = [0.0] * count
    for at, (part, column) in enumerate(sizes.items()):
        is_undefined = part == UNDEFINED
        bars = draw(
            range(count),
            column,
            0.7,
            base,
            color=getattr(colors, part) if part in PARTS else colors.stage[at % len(colors.stage)],
            edgecolor=colors.edge,
            hatch=HATCHES[-1] if is_undefined else HATCHES[at % (len(HATCHES) - 1)],
            linewidth=0.6,
        )
        if any(column):
            entries.append((bars, "no relevant documents" if is_undefined else part))
        base = [before + lost for before, lost in zip(base, column, strict=True)]
    totals = [f"{total:.3f}" for total in base]
    last: Any = ax.containers[-1]
    ax.bar_label(last, totals, padding=3, color=colors.ink, fontsize=TEXT)
    longest, names = max(base, default=1.0) or 1.0, fit_names(names)
    if is_over_time:
        name_columns(ax, names, 45)
        ax.set_ylim(0, longest * 1.12)
    else:
        name_rows(ax, names)
        ax.set_xlim(0, longest * 1.1)
    # Matplotlib fills columns; a legend is read in rows.
    shown = [entry for column in range(COLUMNS) for entry in entries[column::COLUMNS]]
    add_legend(ax, colors, shown, ncols=COLUMNS, handlelength=2.2, handleheight=1.2, **ABOVE)
    is_seen = all(of.observes_retrieval for of in runs)
    unseen = "" if is_seen or "retrieval" not in sizes else "; retrieval not observable"
    axis = f"{measure} lost relative to the ideal order"
    x, y = (by, axis) if is_over_time else (axis, "")
    legend = 17 * ceil(len(shown) / COLUMNS)
    name_axes(ax, colors, title=f"Loss of {measure} by {by}{unseen}", x=x, y=y, legend=legend)
    return ax


def _check_alike(kinds: Iterable[str]) -> None:
    """Raise an error for results of several kinds."""
    first, *others = dict.fromkeys(kinds)
    if others:
        raise UsageError(
            f"expected {first}, found {others[0]}",
            hint="draw them in separate plots",
            code="not_alike",
        )


MOST_NAMES = 30
"""More values than these are columns without names."""


def draw_bounds(
    bounds: Bounds | Mapping[str, Bounds], *, ax: Axes | None = None, theme: ThemeName = "light"
) -> Axes:
    """Draw values with their bounds, as rows with names, or as columns if there are many.

    Args:
        bounds: The result of `Rankings.bounds`, whose queries are drawn, highest value first. Or
            the results of several runs, whose means are drawn in their order.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        UsageError: The results are for different measures, Matplotlib isn't installed, or the theme
            doesn't exist.

    Examples:
        >>> import rankscope as rs
        >>> lists = rs.Rankings.from_lists([[1, float("nan")], [1, 0]])
        >>> ax = draw_bounds(lists.bounds(rs.P @ 2, scale=[0, 1]))
        >>> [text.get_text() for text in ax.texts]
        ['0.500 to 1.000', '0.500 to 0.500']
    """
    if isinstance(bounds, Mapping):
        _check_alike(f"bounds of {_name_measure(of)}" for of in bounds.values())
        means = ((name, of.mean) for name, of in bounds.items())
        rows = [(name, mean.value, mean.lower, mean.upper) for name, mean in means]
        measure, what = _name_measure(next(iter(bounds.values()))), "runs"
    else:
        columns = (bounds.array(name).tolist() for name in ("value", "lower", "upper"))
        cells = zip(map(str, bounds.column("query_id")), *columns, strict=True)
        rows = sorted((row for row in cells if not isnan(row[1])), key=lambda row: -row[1])
        measure, what = _name_measure(bounds), "queries, sorted"
    names, values, lower, upper = zip(*rows, strict=True) if rows else ((), (), (), ())
    count, title = len(rows), f"{measure} with bounds for unjudged documents"
    axis = f"{measure}: value and possible range"
    places, is_named = range(count), count <= MOST_NAMES
    size = (7.2, 1.4 + 0.34 * count if is_named else 4.2)
    ax, colors = open_axes(ax, theme, size, grid="x" if is_named else "y")
    has_sides = min(lower, default=0.0) < 0  # of a difference, it matters on which side of 0 it is
    if is_named:
        ax.hlines(places, lower, upper, color=colors.run[0], linewidth=5)
        (circles,) = ax.plot(values, places, "o", markersize=7, markeredgewidth=1.8)
        for place, (_, _, low, high) in enumerate(rows):
            annotate(ax, f"{low:.3f} to {high:.3f}", (high, place), (8, 0), colors.quiet)
        name_rows(ax, fit_names(names))
        ax.margins(x=0.12)
        name_axes(ax, colors, title=title, x=axis)
    else:
        width = max(0.5, 3 - count / 200)
        ax.vlines(places, lower, upper, color=colors.run[0], linewidth=width, alpha=0.7)
        (circles,) = ax.plot(places, values, "o", markersize=2.5, markeredgewidth=0.8)
        if not has_sides:
            ax.set_ylim(0, max([1.0, *upper]) * 1.02)
        ax.set_xticks([])
        name_axes(ax, colors, title=title, x=f"{count} {what}", y=axis)
    if has_sides:
        (ax.axvline if is_named else ax.axhline)(0, color=colors.ink, linewidth=0.8)
    circles.set(markerfacecolor=colors.paper, markeredgecolor=colors.run[1])
    return ax


def _name_measure(bounds: Bounds) -> str:
    return f"difference of {bounds.measure}" if bounds.is_difference else str(bounds.measure)
