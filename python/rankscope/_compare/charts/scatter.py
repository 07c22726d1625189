"""The scatter plot of the values of two runs, query by query."""

from __future__ import annotations

from collections import Counter
from math import fsum, isclose, isfinite, isnan

from rankscope.drawing.axes import dress_legend, fit_names, name_axes, open_axes
from rankscope.errors import MeasureError, UsageError
from rankscope.measures.direction import SIGNS
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope.drawing.palette import Palette, ThemeName
    from rankscope.measures import Measure
    from rankscope.measures.direction import Direction


CLOSE = 1e-9
"""Values that differ by at most this, absolutely or relatively, are equal except for rounding."""


@record(frozen=True, slots=True)
class QueryScatter:
    """The values of two runs for the queries for which both have one.

    Args:
        measure: The measure.
        baseline: The name of the baseline.
        run: The name of the run.
        query_ids: The queries.
        baseline_values: The value of the baseline for each query.
        run_values: The value of the run for each query.
        low: The lowest value that the measure can have, or that a query has if there is no bound.
        high: The highest.
        direction: Which values are better.
    """

    measure: str
    baseline: str
    run: str
    query_ids: tuple[str, ...]
    baseline_values: tuple[float, ...]
    run_values: tuple[float, ...]
    low: float
    high: float
    direction: Direction = "higher"

    @classmethod
    def of(
        cls, evaluations: Mapping[str, Evaluation], measure: Measure | str | None = None
    ) -> QueryScatter:
        """Return the data from the results of two runs.

        Args:
            evaluations: The result of `evaluate` for two runs, the baseline first.
            measure: The measure (default: the first of the first result).

        Raises:
            UsageError: There aren't two results, or they are for different queries.
            MeasureError: A result doesn't have the measure.

        Examples:
            >>> import rankscope as rs
            >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
            >>> old = rs.evaluate(qrels, {"q1": {"a": 2.0}, "q2": {"x": 2.0, "a": 1.0}}, "RR")
            >>> new = rs.evaluate(qrels, {"q1": {"a": 2.0}, "q2": {"a": 2.0}}, "RR")
            >>> found = QueryScatter.of({"old": old, "new": new})
            >>> found.baseline_values, found.run_values, found.signs
            ((1.0, 0.5), (1.0, 1.0), (0, 1))
        """
        if len(evaluations) != 2:
            raise UsageError(
                f"expected the results of two runs, found {len(evaluations)}",
                hint="write {'old': old_result, 'new': new_result}, the baseline first",
                code="bad_parameter",
            )
        (one, baseline), (other, run) = evaluations.items()
        if baseline.query_texts != run.query_texts:
            raise UsageError(
                f"{one} and {other} were evaluated on different queries",
                hint="evaluate both with the same judgments",
                code="not_alike",
            )
        asked = baseline.measures[0].name if measure is None else str(measure)
        found = {each.name: each for each in baseline.measures}.get(asked)
        if found is None or asked not in run:
            raise MeasureError(
                f"not both results have the measure {asked}",
                hint=f"choose one of: {', '.join(baseline)}",
                code="not_evaluated",
            )
        rows = [
            row
            for row in zip(
                baseline.query_texts,
                baseline.per_query_list(found),
                run.per_query_list(found),
                strict=True,
            )
            if not isnan(row[1] + row[2])
        ]
        low, high = found.row.value_range
        values = [value for _, *pair in rows for value in pair]
        return cls(
            asked,
            one,
            other,
            tuple(query for query, _, _ in rows),
            tuple(value for _, value, _ in rows),
            tuple(value for _, _, value in rows),
            low if isfinite(low) else min(values, default=0.0),
            high if isfinite(high) else max(values, default=1.0),
            found.better,
        )

    @property
    def signs(self) -> tuple[int, ...]:
        """For each query, 1 if the run is better, -1 if the baseline is, and 0 if they tie.

        If neither higher nor lower values are better, the higher one counts as better.
        """
        sign = SIGNS[self.direction] or 1
        return tuple(
            0
            if isclose(ours, theirs, rel_tol=CLOSE, abs_tol=CLOSE)
            else sign * (1 if ours > theirs else -1)
            for theirs, ours in zip(self.baseline_values, self.run_values, strict=True)
        )

    @property
    def means(self) -> tuple[float, float]:
        """The mean of the baseline and that of the run; 0 without queries."""
        count = max(len(self.query_ids), 1)
        return fsum(self.baseline_values) / count, fsum(self.run_values) / count


MOST_POINTS = 1000
"""More queries than these are drawn as cells that are darker where there are more queries."""


CELLS = 40
"""The number of cells from left to right."""


AREA = 22
"""The area of the point of one query, in square points."""


ROW = 14
"""The height of a row of the legend, in points."""


LARGEST = 30
"""Points of more queries than these are as large as the point of that many."""


def draw_scatter(data: QueryScatter, ax: Axes | None = None, *, theme: ThemeName = "light") -> Axes:
    """Draw the values of a run against those of a baseline, one point per query.

    Above the diagonal, the value of the run is higher. Queries with the same values share a larger
    point. More than 1,000 queries are counted in hexagonal cells. Dashed lines mark the means.

    Args:
        data: The values, from `QueryScatter`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Returns:
        The axes.

    Raises:
        UsageError: Matplotlib is not installed, or the theme doesn't exist.
    """
    ax, colors = open_axes(ax, theme, (5.4, 5.8))
    margin = 0.03 * ((data.high - data.low) or 1.0)
    limits = (data.low - margin, data.high + margin)
    ax.set_xlim(*limits)
    ax.set_ylim(*limits)
    ax.set_aspect("equal")
    ax.plot(limits, limits, color=colors.ink, linewidth=0.9, zorder=1)
    one, other = fit_names([data.baseline, data.run])
    signs = Counter(data.signs)
    what = "higher" if data.direction == "neither" else "better"
    kinds = (
        (1, f"{other} {what}: {signs[1]:,}", colors.better),
        (-1, f"{one} {what}: {signs[-1]:,}", colors.worse),
        (0, f"equal: {signs[0]:,}", colors.quiet),
    )
    pairs = [*zip(data.baseline_values, data.run_values, data.signs, strict=True)]
    is_dense = len(pairs) > MOST_POINTS
    cells = []
    for sign, _, color in kinds:
        points = [(x, y) for x, y, each in pairs if each == sign]
        if points and is_dense:
            cells.append(_draw_cells(ax, colors, data, points, color))
        elif points:
            _draw_points(ax, colors, points, color)
    _share_scale(cells)
    x, y = data.means
    for draw, mean in ((ax.axvline, x), (ax.axhline, y)):
        draw(mean, color=colors.quiet, linewidth=1.2, linestyle=(0, (4, 2)), zorder=2.5)
    below = "\nstronger color: more queries" if is_dense else ""
    name_axes(
        ax,
        colors,
        title=f"{data.measure} of {len(pairs):,} queries",
        x=f"{one}, mean {x:.4f}{below}",
        y=f"{other}, mean {y:.4f}",
    )
    _add_legend(ax, colors, [(text, color) for sign, text, color in kinds if signs[sign]])
    return ax


def _draw_points(ax: Axes, theme: Palette, points: list[tuple[float, float]], color: str) -> None:
    counted = Counter(points)
    ax.scatter(
        [x for x, _ in counted],
        [y for _, y in counted],
        s=[AREA * min(count, LARGEST) for count in counted.values()],
        color=color,
        alpha=0.75,
        edgecolors=theme.paper,
        linewidths=0.5,
        zorder=3,
    )


def _draw_cells(
    ax: Axes,
    theme: Palette,
    data: QueryScatter,
    points: list[tuple[float, float]],
    color: str,
) -> PolyCollection:
    from matplotlib.colors import (  # noqa: PLC0415 - loads Matplotlib
        LinearSegmentedColormap,
        LogNorm,
    )

    return ax.hexbin(
        [x for x, _ in points],
        [y for _, y in points],
        gridsize=CELLS,
        extent=(data.low, data.high, data.low, data.high),
        mincnt=1,
        norm=LogNorm(vmin=1),
        cmap=LinearSegmentedColormap.from_list("", [_mix(theme.paper, color), color]),
        linewidths=0.2,
        edgecolors=theme.paper,
        zorder=2,
    )


def _mix(paper: str, color: str, share: float = 0.25) -> str:
    """Return a color between that of the paper and another."""
    channels = [
        round((1 - share) * int(paper[at : at + 2], 16) + share * int(color[at : at + 2], 16))
        for at in (1, 3, 5)
    ]
    return "#" + "".join(f"{channel:02X}" for channel in channels)


def _share_scale(cells: Sequence[PolyCollection]) -> None:
    """Let one color strength stand for the same number of queries in all cells."""
    most = max((float(each.get_array().max()) for each in cells), default=1.0)  # type: ignore[union-attr]  # the counts of hexbin
    for each in cells:
        each.set_clim(1, max(most, 2))


def _add_legend(ax: Axes, theme: Palette, entries: Sequence[tuple[str, str]]) -> None:
    """Name the colors between the title and the plot, one in a row."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - loads Matplotlib

    handles = [
        Line2D([], [], linestyle="none", marker="o", color=color, label=text.replace("$", r"\$"))
        for text, color in entries
    ]
    legend = ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        handletextpad=0.2,
        borderaxespad=0.1,
        borderpad=0.1,
    )
    dress_legend(legend, theme)
    ax.set_title(ax.get_title(loc="left"), loc="left", pad=10 + ROW * len(entries))
