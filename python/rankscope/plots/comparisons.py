"""The plots of a comparison: the forest plot, and the critical-difference diagram."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from math import fsum, isnan
from typing import TYPE_CHECKING, Literal

from rankscope._compare.notes import CORRECTIONS, TESTS, format_ends, format_p, format_signed
from rankscope._compare.pair import Compared
from rankscope._compare.result import Comparison
from rankscope._drawing import (
    ThemeName,
    annotate,
    check_word,
    fit_names,
    measure_widest,
    name_axes,
    name_rows,
    open_axes,
)
from rankscope.errors import UsageError
from rankscope.measures import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


WIDEST_PAIR = 38
"""Pairs of names with more characters take two lines."""
COLUMNS = ((8, "left"), (168, "right"), (214, "right"))
"""Where the differences, intervals and p-values beside the plot start or end, in points."""


def draw_forest(
    comparison: Comparison,
    measure: Measure | str | None = None,
    *,
    against: str | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draw the difference of each pair of runs with its confidence interval, one per row.

    The circle of a difference is filled if it is significant after correction. A margin of
    equivalence is a band around 0.

    Args:
        comparison: The result of `compare`.
        measure: The measure (default: the first of the comparison).
        against: A run. Only its pairs are shown, each as the other run minus this one (default: the
            baseline of the comparison, or all pairs if it has none).
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        UsageError: The comparison doesn't have the measure or the run, Matplotlib isn't installed,
            or the theme doesn't exist.

    Examples:
        >>> import rankscope as rs
        >>> values = {"query_id": [*"abcdef"], "old": [0.1, 0.4] * 3, "new": [0.5, 0.6] * 3}
        >>> ax = draw_forest(rs.compare(values, "AP", values=True))
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['new minus old']
    """
    pairs = comparison.over_all(measure or comparison.measures[0])
    name = pairs[0].measure
    short = dict(zip(comparison.runs, fit_names(comparison.runs), strict=True))
    against = comparison.baseline if against is None else against
    if against is None:
        title = f"Differences of {name}"
        both = [(short[pair.run], short[pair.baseline]) for pair in pairs]
        is_wide = any(len(run + baseline) > WIDEST_PAIR for run, baseline in both)
        names = [("\nminus " if is_wide else " minus ").join(pair) for pair in both]
    else:
        title = f"{name}: difference from {short.get(against, against)}"
        pairs = [pair for pair in pairs if against in (pair.run, pair.baseline)]
        pairs = [pair if pair.baseline == against else _turn(pair) for pair in pairs]
        names = [short[pair.run] for pair in pairs]
    if not pairs:
        raise UsageError(
            f"no run is compared with {against!r}",
            hint=f"choose one of: {', '.join(comparison.runs)}",
            code="not_compared",
        )
    return _draw_differences(pairs, names, title, ax, theme)


def draw_slices(
    comparison: Comparison,
    measure: Measure | str | None = None,
    *,
    run: str | None = None,
    baseline: str | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draw the difference of one pair of runs for all queries and in each slice, as `draw_forest`.

    Args:
        comparison: The result of `compare` with `by`.
        measure: The measure (default: the first of the comparison).
        run: The run (default: that of the first pair).
        baseline: The run that it is compared with, where there are several.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        UsageError: The comparison doesn't have slices, the measure or the pair, Matplotlib isn't
            installed, or the theme doesn't exist.
    """
    if not comparison.by:
        raise UsageError(
            "the comparison has no slices",
            hint="compare by an attribute of queries: compare(…, by='country')",
            code="no_slices",
        )
    first = comparison.over_all(measure or comparison.measures[0])[0]
    whole = comparison.find(first.measure, run or first.run, baseline)
    key = (whole.measure, whole.run, whole.baseline)
    rows = [pair for pair in comparison if (pair.measure, pair.run, pair.baseline) == key]
    names = fit_names(["all queries" if row.slice is None else row.slice for row in rows])
    between = " minus ".join(fit_names([whole.run, whole.baseline]))
    title = f"{whole.measure}: {between}, by {comparison.by}"
    return _draw_differences(rows, names, title, ax, theme)


def _turn(pair: Compared) -> Compared:
    """Return the difference of the baseline from the run."""
    return replace(
        pair,
        run=pair.baseline,
        baseline=pair.run,
        difference=-pair.difference,
        lower=-pair.upper,
        upper=-pair.lower,
    )


def _draw_differences(
    pairs: Sequence[Compared], names: Sequence[str], title: str, ax: Axes | None, theme: ThemeName
) -> Axes:
    first = pairs[0]
    row = 0.44 if any("\n" in name for name in names) else 0.32
    size = (6.4 + measure_widest(names), 1.5 + row * len(pairs))
    ax, colors = open_axes(ax, theme, size, grid="x")
    if first.margin is not None:
        ax.axvspan(-first.margin, first.margin, color=colors.faint, linewidth=0, zorder=0)
    ax.axvline(0, color=colors.ink, linewidth=0.9, zorder=1)
    texts = [(-0.8, ("", f"{100 * first.level:g}% interval", "p"), colors.quiet)]
    for place, pair in enumerate(pairs):
        color = colors.run[0] if pair.is_significant else colors.quiet
        if not isnan(pair.lower):
            ax.hlines(place, pair.lower, pair.upper, color=color, linewidth=2.2, zorder=2)
        fill = color if pair.is_significant else colors.paper
        (circle,) = ax.plot(pair.difference, place, "o", color=color, markersize=7, zorder=3)
        circle.set(markerfacecolor=fill, markeredgewidth=1.6)
        ends = format_ends(pair.lower, pair.upper)
        numbers = (format_signed(pair.difference), ends, format_p(pair.p_corrected))
        texts.append((place, numbers, colors.ink))
    beside = ax.get_yaxis_transform()
    for height, cells, color in texts:
        for cell, (offset, side) in zip(cells, COLUMNS, strict=True):
            annotate(ax, cell, (1, height), (offset, 0), color, beside, ha=side)
    name_rows(ax, names, top=-1.0)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.margins(x=0.06)
    ax.locator_params(axis="x", nbins=5)
    correction = CORRECTIONS[first.correction]
    corrected = correction if first.correction == "none" else f"after correction ({correction})"
    band = "" if first.margin is None else f"; band: ±{first.margin:g}"
    filled = f"filled: p < {1 - first.level:.2g} {corrected}{band}"
    name_axes(ax, colors, title=title, x=f"difference of {first.measure}; {filled}")
    return ax


BAR = 0.55
"""The height of a level of bars in a critical-difference diagram, in rows of names."""
SAME = (
    "Runs with a dot on the same bar don't differ significantly in any pair. Groups follow from "
    "the p-value of each pair, not from one critical difference."
)


def draw_critical_differences(
    comparison: Comparison,
    measure: Measure | str | None = None,
    *,
    axis: Literal["mean", "rank"] = "mean",
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draw runs on an axis, the best at the right, and join those that don't differ significantly.

    A bar joins the runs that have a dot on it. No two of them differ significantly. A bar can pass
    a run without a dot, which isn't part of its group.

    The diagram is that of Demšar, *Statistical comparisons of classifiers over multiple data sets*,
    2006. There, one critical difference holds for all pairs. Here, groups follow from the corrected
    p-value of each pair, so they need not be contiguous on the axis.

    Args:
        comparison: The result of `compare` without a baseline.
        measure: The measure (default: the first of the comparison).
        axis: One of: `"mean"`, or `"rank"` for the average rank of a run among all runs by query,
            where 1 is the best.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Raises:
        UsageError: Not all pairs of runs are compared, the comparison doesn't have the measure,
            Matplotlib isn't installed, or the axis or the theme is unknown.
    """
    check_word("axis", axis, ("mean", "rank"))
    pairs = comparison.over_all(measure or comparison.measures[0])
    if comparison.baseline is not None and len(comparison.runs) > 2:
        raise UsageError(
            "the comparison has a baseline, so runs aren't compared with each other",
            hint="compare without a baseline, or draw a forest plot",
            code="not_compared",
        )
    name = pairs[0].measure
    places = {run: comparison.means[run][name] for run in comparison.runs}
    title, digits = f"Runs by {name}", 4
    if axis == "rank":
        places = _average_ranks(pairs)
        title, digits = f"Runs by average rank by {name}", 2
    is_lower_better = axis == "rank" or pairs[0].direction == "lower"
    order = sorted(comparison.runs, key=places.__getitem__, reverse=is_lower_better)
    values = [places[run] for run in order]
    groups = _find_groups(order, pairs)
    levels = _stack(groups)
    count = len(order)
    left = (count + 1) // 2
    short = zip(fit_names(order), values, strict=True)
    names = [f"{run}  {value:.{digits}f}" for run, value in short]
    depth = BAR * (max(levels, default=-1) + 1) + 0.6
    rows = depth + left
    size = (5.0 + 2 * measure_widest(names), 1.25 + 0.25 * rows)
    ax, colors = open_axes(ax, theme, size)
    ax.grid(visible=False)
    margin = 0.06 * ((values[-1] - values[0]) or abs(values[0]) or 1.0)
    ends = (values[0] - margin, values[-1] + margin)
    ax.set(xlim=ends, ylim=(rows, 0))
    ax.xaxis.tick_top()
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.spines["top"].set_visible(True)
    for at, (text, value) in enumerate(zip(names, values, strict=True)):
        is_left = at < left
        height = depth + (at if is_left else count - 1 - at) + 0.5
        edge, offset, side = (ends[0], -4, "right") if is_left else (ends[1], 4, "left")
        ax.plot([value, value, edge], [0, height, height], color=colors.quiet, linewidth=0.9)
        annotate(ax, text, (edge, height), (offset, 0), colors.ink, ha=side)
    for group, level in zip(groups, levels, strict=True):
        x, y = [values[at] for at in group], [BAR * level + 0.55] * len(group)
        ax.plot(x, y, "o-", color=colors.run[0], linewidth=2.6, markersize=6, zorder=3)
    test, correction = TESTS[comparison.settings.test], CORRECTIONS[pairs[0].correction]
    alpha, queries = comparison.settings.alpha, pairs[0].n
    caption = (
        f"{SAME if groups else 'All pairs of runs differ significantly.'} "
        f"Test: {test}, {correction}, p < {alpha:g}, {queries:,} queries."
    )
    name_axes(ax, colors, title=title, x=textwrap.fill(caption, 105))
    return ax


def _average_ranks(pairs: Sequence[Compared]) -> dict[str, float]:
    """Return the average rank of each run; runs with equal values share the mean of their ranks.

    In a query, the rank of a run is 1, plus 1 for each run that beats it, plus a half for each that
    ties with it. Its average is therefore a sum over the losses and ties of pairs.
    """
    parts: dict[str, list[float]] = {}
    for pair in pairs:
        for run, losses in ((pair.run, pair.losses), (pair.baseline, pair.wins)):
            parts.setdefault(run, [1.0]).append((losses + pair.ties / 2) / pair.n)
    return {run: fsum(terms) for run, terms in parts.items()}


def _find_groups(runs: Sequence[str], pairs: Sequence[Compared]) -> list[tuple[int, ...]]:
    """Return the largest groups of runs of which no two differ significantly, as places.

    They are the maximal cliques of two or more (Bron and Kerbosch, 1973).
    """
    same = {frozenset((pair.run, pair.baseline)) for pair in pairs if not pair.is_significant}
    places = range(len(runs))
    alike = [{at for at in places if frozenset((run, runs[at])) in same} for run in runs]
    groups: list[tuple[int, ...]] = []

    def extend(group: set[int], candidates: set[int], done: set[int]) -> None:
        if not candidates and not done:
            if len(group) > 1:
                groups.append(tuple(sorted(group)))
            return
        pivot = max(candidates | done, key=lambda node: len(alike[node] & candidates))
        for node in sorted(candidates - alike[pivot]):
            extend(group | {node}, candidates & alike[node], done & alike[node])
            candidates, done = candidates - {node}, done | {node}

    extend(set(), set(places), set())
    return sorted(groups)


def _stack(groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the level of each bar, so that bars at one level don't touch."""
    ends: list[int] = []
    levels = []
    for group in groups:
        level = next((at for at, end in enumerate(ends) if end < group[0]), len(ends))
        ends[level : level + 1] = [group[-1]]
        levels.append(level)
    return levels
