"""The forest plot: differences with their confidence intervals."""

from __future__ import annotations

from math import isnan

from rankscope._compare.notes import CORRECTIONS, format_p, format_signed
from rankscope.drawing.axes import TEXT, fit_names, measure_widest, name_axes, open_axes
from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope._compare.pair import Compared
    from rankscope._compare.result import Comparison
    from rankscope.drawing.palette import Palette, ThemeName
    from rankscope.measures import Measure


def find_measure(comparison: Comparison, measure: Measure | str | None) -> str:
    """Return the name of a measure of a comparison; that of the first for `None`."""
    name = comparison.measures[0] if measure is None else str(measure)
    if name not in comparison.measures:
        raise UsageError(
            f"the comparison has no measure {name}",
            hint=f"choose one of: {', '.join(comparison.measures)}",
            code="not_compared",
        )
    return name


@record(frozen=True, slots=True)
class Effect:
    """A difference with its confidence interval.

    Args:
        name: What the row shows: a run or a slice.
        minus: The run that it is compared with, if that differs between rows; else empty.
        difference: The difference of the means.
        lower: The lower end of its interval; NaN if there is none.
        upper: The upper end.
        p: The corrected p-value; NaN if the data don't allow a test.
        is_significant: Whether the difference is significant after correction.
        queries: The number of queries.
    """

    name: str
    minus: str
    difference: float
    lower: float
    upper: float
    p: float
    is_significant: bool
    queries: int


@record(frozen=True, slots=True)
class Forest:
    """The data of a forest plot.

    Args:
        measure: The measure.
        effects: The differences, in order.
        title: What is compared with what.
        level: The confidence level of the intervals.
        test: The name of the test.
        correction: How p-values are corrected: `"holm"`, `"bh"`, `"max-t"`, `"tukey"` or `"none"`.
        margin: The margin of equivalence, or `None`.
    """

    measure: str
    effects: tuple[Effect, ...]
    title: str
    level: float
    test: str
    correction: str
    margin: float | None = None

    @classmethod
    def of(
        cls,
        comparison: Comparison,
        measure: Measure | str | None = None,
        *,
        against: str | None = None,
    ) -> Forest:
        """Return the data for pairs of runs, over all queries.

        Args:
            comparison: The result of `compare`.
            measure: The measure (default: the first of the comparison).
            against: A run. Only its pairs are shown, each as the other run minus this one (default:
                the baseline of the comparison, or all pairs if it has none).

        Raises:
            UsageError: The comparison doesn't have the measure or the run.

        Examples:
            >>> import rankscope as rs
            >>> values = {"query_id": [*"abcdef"], "old": [0.1, 0.4] * 3, "new": [0.5, 0.6] * 3}
            >>> forest = Forest.of(rs.compare(values, "AP", values=True))
            >>> [(each.name, each.minus, round(each.difference, 4)) for each in forest.effects]
            [('new', 'old', 0.3)]
        """
        name = find_measure(comparison, measure)
        one = comparison.baseline if against is None else against
        pairs = comparison.over_all(name)
        if one is None:
            effects = [_read(each, each.run, each.baseline) for each in pairs]
            title = f"Differences of {name}"
        else:
            effects = [
                _read(each, each.run)
                if each.baseline == one
                else _read(each, each.baseline, is_turned=True)
                for each in pairs
                if one in (each.run, each.baseline)
            ]
            title = f"{name}: difference from {one}"
        if not effects:
            raise UsageError(
                f"no run is compared with {one!r}",
                hint=f"choose one of: {', '.join(comparison.runs)}",
                code="not_compared",
            )
        first = pairs[0]
        return cls(
            name, tuple(effects), title, first.level, first.test, first.correction, first.margin
        )

    @classmethod
    def of_slices(
        cls,
        comparison: Comparison,
        measure: Measure | str | None = None,
        *,
        run: str | None = None,
        baseline: str | None = None,
    ) -> Forest:
        """Return the data for the slices of one pair of runs, all queries first.

        Args:
            comparison: The result of `compare` with `by`.
            measure: The measure (default: the first of the comparison).
            run: The run (default: that of the first pair).
            baseline: The run that it is compared with (default: that of the first pair with `run`).

        Raises:
            UsageError: The comparison doesn't have slices, the measure or the pair.
        """
        name = find_measure(comparison, measure)
        if not comparison.by:
            raise UsageError(
                "the comparison has no slices",
                hint="compare by an attribute of queries: compare(…, by='country')",
                code="no_slices",
            )
        pairs = [
            each
            for each in comparison.over_all(name)
            if (run is None or each.run == run) and (baseline is None or each.baseline == baseline)
        ]
        if not pairs:
            known = ", ".join(
                f"(run={each.run!r}, baseline={each.baseline!r})"
                for each in comparison.over_all(name)
            )
            raise UsageError(
                f"there is no pair with run={run!r} and baseline={baseline!r}",
                hint=f"choose one of: {known}",
                code="not_compared",
            )
        chosen = pairs[0]
        effects = [
            _read(each, "all queries" if each.slice is None else each.slice)
            for each in comparison
            if (each.measure, each.run, each.baseline) == (name, chosen.run, chosen.baseline)
        ]
        title = f"{name}: {chosen.run} minus {chosen.baseline}, by {comparison.by}"
        return cls(
            name, tuple(effects), title, chosen.level, chosen.test, chosen.correction, chosen.margin
        )


def _read(each: Compared, name: str, minus: str = "", *, is_turned: bool = False) -> Effect:
    """Return a pair; turned, as the difference of its baseline from its run."""
    ends = (each.difference, each.lower, each.upper)
    if is_turned:
        ends = (-each.difference, -each.upper, -each.lower)
    return Effect(name, minus, *ends, each.p_corrected, each.is_significant, each.n)


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
