"""The picture of a leaderboard: the runs by one measure, their groups, and the baselines."""

from __future__ import annotations

import math

from rankscope.drawing.axes import (
    TEXT,
    fit_names,
    measure_widest,
    name_axes,
    open_axes,
)
from rankscope.drawing.palette import MARKERS
from rankscope.errors import EmptyError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope._compare.leaderboard.result import Leaderboard
    from rankscope.drawing.palette import ThemeName
    from rankscope.measures import Measure


@record(frozen=True, slots=True)
class Standing:
    """A run of the picture.

    Args:
        run: Its name.
        value: Its value.
        group: Its group by the measure that the leaderboard is sorted by; empty without groups.
        is_baseline: Whether others are tested against it.
    """

    run: str
    value: float
    group: str
    is_baseline: bool


@record(frozen=True, slots=True)
class Standings:
    """The data of a picture of a leaderboard.

    Args:
        measure: The measure.
        grouped_by: The measure that groups are by; empty without groups.
        runs: The runs that have a value, in the order of the leaderboard.
    """

    measure: str
    grouped_by: str
    runs: tuple[Standing, ...]

    @classmethod
    def of(cls, board: Leaderboard, measure: Measure | str | None = None) -> Standings:
        """Return the data from a leaderboard, for the runs that it shows.

        Args:
            board: The result of `leaderboard`.
            measure: The measure (default: the one that runs are sorted by).

        Raises:
            UsageError: The leaderboard doesn't have the measure.
            EmptyError: No run has a value.

        Examples:
            >>> import rankscope as rs
            >>> runs = {"old": {"q": ["b", "a"]}, "new": {"q": ["a", "b"]}}
            >>> standings = Standings.of(rs.leaderboard({"q": ["a"]}, runs, "RR"))
            >>> [(each.run, each.value) for each in standings.runs]
            [('new', 1.0), ('old', 0.5)]
        """
        name = board.sort if measure is None else board.find_measure(measure)
        runs = tuple(
            Standing(entry.run, entry.values[name], entry.group, entry.run in board.baselines)
            for entry in board.shown
            if not math.isnan(entry.values[name])
        )
        if not runs:
            raise EmptyError(
                f"no run has a value of {name}",
                hint="keep queries without a value: policy='empty=zero'",
                code="no_value",
            )
        return cls(name, "" if board.groups is None else board.sort, runs)


ROW = 0.24
"""The height of a row, in inches."""
PLOT = 4.6
"""The width of what is right of the names, in inches."""


def draw_standings(data: Standings, ax: Axes | None = None, *, theme: ThemeName = "light") -> Axes:
    """Draw the value of each run as a mark, best run at the top, with the letter of its group.

    Marks change with each group. A dashed line goes through the value of each baseline.

    Args:
        data: The runs, from `Standings`.
        ax: The axes to draw on (default: axes of a new figure).
        theme: `light` or `dark` background.

    Returns:
        The axes.

    Raises:
        UsageError: Matplotlib is not installed, or the theme doesn't exist.
    """
    names = fit_names([each.run for each in data.runs])
    size = (PLOT + measure_widest(names) + 1.0, 1.2 + ROW * len(names))
    ax, colors = open_axes(ax, theme, size, grid="x")
    for each in data.runs:
        if each.is_baseline:
            ax.axvline(each.value, color=colors.quiet, linewidth=1, linestyle=(0, (4, 2)), zorder=1)
    for number, group in enumerate(dict.fromkeys(each.group for each in data.runs)):
        places = [at for at, each in enumerate(data.runs) if each.group == group]
        ax.plot(
            [data.runs[at].value for at in places],
            places,
            linestyle="none",
            marker=MARKERS[number % 2],
            color=colors.run[number % 2],
            markersize=6,
            zorder=3,
        )
    for at, each in enumerate(data.runs):
        ax.annotate(
            f"{each.value:.4f}  {each.group}".rstrip(),
            xy=(1, at),
            xycoords=ax.get_yaxis_transform(),
            xytext=(5, 0),
            textcoords="offset points",
            color=colors.ink,
            fontsize=TEXT - 1,
            va="center",
            annotation_clip=False,
        )
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.margins(x=0.06)
    title = f"Runs by {data.measure}"
    if data.grouped_by:
        title += f", with groups by {data.grouped_by}"
    label = data.measure
    if any(each.is_baseline for each in data.runs):
        label += "; dashed: baselines"
    name_axes(ax, colors, title=title, x=label, y="")
    return ax
