"""The plot of the difference between two runs for each query."""

from __future__ import annotations

from math import fsum, isnan

from rankscope.drawing.axes import TEXT, name_axes, open_axes
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope.difference.result import RunDifference
    from rankscope.drawing.palette import ThemeName
    from rankscope.measures.direction import Direction


@record(frozen=True, slots=True)
class QueryDifferences:
    """The data of a plot of the difference between two runs for each query, largest first.

    Args:
        measure: The measure.
        one: The name of the first run.
        other: The name of the second run.
        query_ids: The queries.
        differences: The value of `other` minus the value of `one`, for each query.
        wins: The number of queries for which `other` is better, or has the higher value if neither
            higher nor lower values are better.
        losses: The same of `one`.
        direction: Which values are better.
    """

    measure: str
    one: str
    other: str
    query_ids: tuple[str, ...]
    differences: tuple[float, ...]
    wins: int
    losses: int
    direction: Direction = "higher"

    @classmethod
    def of(cls, difference: RunDifference) -> QueryDifferences:
        """Return the data from the difference between two runs.

        Args:
            difference: The result of `diff`.

        Examples:
            >>> import rankscope as rs
            >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
            >>> old = {"q1": {"a": 2.0}, "q2": {"x": 2.0, "a": 1.0}}
            >>> new = {"q1": {"x": 2.0, "a": 1.0}, "q2": {"a": 2.0}}
            >>> found = QueryDifferences.of(rs.diff(qrels, old, new, "RR"))
            >>> found.query_ids, found.differences
            (('q2', 'q1'), (0.5, -0.5))
        """
        queries = difference.queries
        values = queries.array("difference").tolist()
        known = [
            item
            for item in zip(map(str, queries.column("query_id")), values, strict=True)
            if not isnan(item[1])
        ]
        known.sort(key=lambda item: -item[1])
        return cls(
            str(difference.measure),
            *difference.names,
            tuple(query for query, _ in known),
            tuple(value for _, value in known),
            difference.wins,
            difference.losses,
            difference.measure.better,
        )

    @property
    def ties(self) -> int:
        """The number of queries with equal values, except for rounding."""
        return len(self.differences) - self.wins - self.losses

    @property
    def mean(self) -> float:
        """The mean of the differences, or 0 if there are none."""
        return fsum(self.differences) / max(len(self.differences), 1)


MOST_NAMES = 30


def draw_differences(
    data: QueryDifferences, ax: Axes | None = None, *, theme: ThemeName = "light"
) -> Axes:
    """Draw the difference of each query as a bar, largest first.

    Args:
        data: The differences, from `QueryDifferences`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Returns:
        The axes.

    Raises:
        UsageError: Matplotlib is not installed, or the theme doesn't exist.
    """
    ax, colors = open_axes(ax, theme, (7.2, 4.0), grid="y")
    places = [*range(len(data.differences))]
    what = "higher" if data.direction == "neither" else "better"
    top = (f"{data.other} {what}: {data.wins}", colors.better)
    bottom = (f"{data.one} {what}: {data.losses}", colors.worse)
    if data.direction == "lower":  # positive differences are queries that the first run wins
        top, bottom = bottom, top
    up, down = top[1], bottom[1]
    ax.bar(
        places,
        data.differences,
        width=1.0 if len(places) > MOST_NAMES else 0.8,
        color=[up if difference > 0 else down for difference in data.differences],
        linewidth=0,
    )
    ax.axhline(0, color=colors.ink, linewidth=0.8)
    ax.axhline(data.mean, color=colors.quiet, linewidth=1.2, linestyle=(0, (4, 2)))
    reach = max(map(abs, data.differences), default=1.0) or 1.0
    ax.set_ylim(-1.15 * reach, 1.15 * reach)
    ax.set_xlim(-0.8, max(len(places) - 0.2, 1))
    for (text, color), y, va in ((top, 0.97, "top"), (bottom, 0.03, "bottom")):
        ax.text(
            0.985 if va == "top" else 0.015,
            y,
            text,
            transform=ax.transAxes,
            ha="right" if va == "top" else "left",
            va=va,
            color=colors.ink,
            fontsize=TEXT,
            bbox={"facecolor": colors.paper, "edgecolor": color, "boxstyle": "round,pad=0.3"},
        )
    ax.annotate(
        f"mean {data.mean:+.4f}",
        xy=(1, data.mean),
        xycoords=ax.get_yaxis_transform(),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        color=colors.quiet,
        fontsize=TEXT,
        annotation_clip=False,
    )
    if len(places) <= MOST_NAMES:
        ax.set_xticks(places, data.query_ids, rotation=90 if len(places) > 8 else 0)
    else:
        ax.set_xticks([])
    count = len(places)
    equal = f", {data.ties} of them equal" if data.ties else ""
    name_axes(
        ax,
        colors,
        title=f"{data.other} against {data.one}, query by query",
        x=f"{count} queries{equal}, sorted",
        y=f"difference of {data.measure}",
    )
    return ax
