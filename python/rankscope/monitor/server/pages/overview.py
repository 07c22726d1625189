"""The overview page: series, rules, and label delay."""

from __future__ import annotations

import math

from rankscope.monitor.ask.versions import list_versions
from rankscope.monitor.events.times import describe_time, format_time, to_datetime, to_micros
from rankscope.monitor.server.http.query import Parameter
from rankscope.monitor.server.pages.alerts import trace_of
from rankscope.monitor.server.pages.charts.lines import Event, Level, Line, Point, draw_lines
from rankscope.monitor.server.pages.charts.others import draw_maturity
from rankscope.monitor.server.pages.overview_range import LENGTHS, RANGES, Choice, choose_extent
from rankscope.monitor.server.pages.page import Page, list_states, read_configuration
from rankscope.monitor.server.pages.render import make_plain
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from rankscope.monitor.alerts.detect.state import RuleState
    from rankscope.monitor.ask.series import Series
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.evaluate.baseline import Baseline
    from rankscope.monitor.evaluate.stored_windows import MaturityCurve
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.http.endpoint import Asked
    from rankscope.monitor.server.pages.charts.lines import LineChart
    from rankscope.monitor.server.pages.overview_range import Extent
    from rankscope.monitor.store.records import Version
    from rankscope.results.table import Table
    from rankscope.stats.means import Mean

STATES = ("ALERT", "NO_DATA", "INSUFFICIENT", "OK")
"""The states of rules, that which needs most care first."""


SLICE_COLUMNS = (
    "slice",
    "value",
    "rankings",
    "labelled",
    "empty",
    "baseline",
    "difference",
)
MOST_SLICES = 100
MOST_CHOICES = 8
"""Versions that can be chosen by a link."""


@record(frozen=True, slots=True, kw_only=True)
class Window:
    """The newest window that is final, or the newest of all where none is.

    Args:
        start: When it begins, in microseconds since 1970 in UTC.
        value: Its mean; NaN where no ranking has a value.
        lower: The lower end of its interval.
        upper: The upper end.
        is_final: Whether it is final.
        defined: How many rankings have a value.
        rankings: How many rankings there are.
        labelled: How many of them have a label.
        empty: How many have no relevant document.
        documents: How many documents were shown.
        unjudged: How many of them are pending.
    """

    start: int
    value: float
    lower: float
    upper: float
    is_final: bool
    defined: int
    rankings: int
    labelled: int
    empty: int
    documents: int
    unjudged: int


@record(frozen=True, slots=True, kw_only=True)
class MeasureView:
    """A measure over time.

    Args:
        measure: The measure.
        newest: The newest window; `None` where there is none in the range.
        baseline: What it is held against.
        series: All rankings together first, then versions that have lines of their own.
        chart: The lines.
    """

    measure: str
    newest: Window | None
    baseline: Mean | None
    series: tuple[Series, ...]
    chart: LineChart

    @property
    def difference(self) -> float:
        """The newest value less the baseline; NaN where one is missing."""
        if self.newest is None or self.baseline is None:
            return math.nan
        return self.newest.value - self.baseline.value

    @property
    def description(self) -> str:
        """The chart in words, for screen readers."""
        whole = self.series[0]
        known = [
            (value, start)
            for value, start in zip(whole.values, whole.times, strict=True)
            if not math.isnan(value)
        ]
        if not known:
            return f"There is no {whole.every} with a value."
        (least, when), (most, _) = min(known), max(known)
        text = f"{len(known)} {whole.every}s with a value, from {least:.4f} to {most:.4f}. "
        text += f"The lowest is at {describe_time(when)}."
        if self.baseline is not None and not math.isnan(self.baseline.value):
            text += f" The baseline is {self.baseline.value:.4f}."
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return the view as dicts and lists, for JSON."""
        newest = self.newest
        return {
            "measure": self.measure,
            "newest": newest and make_plain(newest) | {"start": format_time(newest.start)},
            "baseline": make_plain(self.baseline),
            "difference": make_plain(self.difference),
            "series": [series.to_dict() for series in self.series],
        }


@record(frozen=True, slots=True)
class Counted:
    """A count of rankings over time, or the share of rankings that it is.

    Args:
        name: What is counted.
        chart: The lines.
    """

    name: str
    chart: LineChart


@record(frozen=True, slots=True, kw_only=True)
class Overview:
    """All that the overview shows.

    Args:
        project: The project.
        now: As of when, in microseconds since 1970 in UTC.
        configuration: How the project is measured; `None` where it is not.
        extent: The range of time, and what is shown of it.
        versions: The versions in production, those that are not listed as `<other>`.
        rules: The states of the rules.
        measures: The measures.
        counts: What values stand on.
        baseline: What values are held against.
        maturity: How soon labels come; `None` where nothing is measured.
        sliced: The measure whose slices are listed; empty where there are none.
        slices: Its slices.
    """

    project: str
    now: int
    configuration: Configuration | None
    extent: Extent
    versions: tuple[Version, ...]
    rules: tuple[RuleState, ...]
    measures: tuple[MeasureView, ...]
    counts: tuple[Counted, ...]
    baseline: Baseline | None
    maturity: MaturityCurve | None
    sliced: str
    slices: Table | None

    @property
    def newest_versions(self) -> tuple[Version, ...]:
        """The versions that can be chosen: those that came last."""
        return tuple(one for one in self.versions if not one.folded)[-MOST_CHOICES:]

    @property
    def folded_versions(self) -> int:
        """How many versions are not listed."""
        return sum(one.folded for one in self.versions)

    @property
    def has_rankings(self) -> bool:
        """Whether there are rankings in the range."""
        return bool(self.measures) and len(self.measures[0].series[0]) > 0

    @property
    def has_labels(self) -> bool:
        """Whether any ranking of the range has a label."""
        return self.has_rankings and any(self.measures[0].series[0].labelled)

    @property
    def lines(self) -> tuple[str, ...]:
        """The names of the lines of the charts; one without a name where all are together."""
        return tuple(name_version(one.model, one.version) for one in self.extent.lines) or ("",)

    @property
    def slice_rows(self) -> list[tuple[Any, ...]]:
        """The slices that are lowest against the baseline."""
        if self.slices is None:
            return []
        return list(zip(*map(self.slices.column, SLICE_COLUMNS), strict=True))[:MOST_SLICES]

    @property
    def worst(self) -> str:
        """The state of the rules that needs most care; empty where there are no rules."""
        found = {one.state for one in self.rules}
        return next((state for state in STATES if state in found), "")

    @property
    def newest(self) -> int | None:
        """When the newest hour with rankings ends; `None` where there never were any."""
        return max((one.last for one in self.versions), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the view as dicts and lists, for JSON."""
        extent, baseline, maturity = self.extent, self.baseline, self.maturity
        return {
            "project": self.project,
            "now": format_time(self.now),
            "configuration": self.configuration and self.configuration.to_dict(),
            "range": extent.range,
            "every": extent.every,
            "since": format_time(extent.since),
            "until": format_time(extent.until),
            "model": extent.model,
            "version": extent.version,
            "versions": [
                make_plain(one) | {"first": format_time(one.first), "last": format_time(one.last)}
                for one in self.versions
            ],
            "rules": [make_plain(one) for one in self.rules],
            "measures": [one.to_dict() for one in self.measures],
            "baseline": None
            if baseline is None
            else {
                "kind": baseline.kind,
                "of": baseline.of,
                "definition": baseline.definition.hash,
                "rankings": baseline.rankings,
            },
            "maturity": None
            if maturity is None
            else make_plain(maturity) | {"shares": list(maturity.shares)},
            "sliced": self.sliced,
            "slices": make_plain(self.slices),
        }


def view_overview(monitor: Monitor, choice: Choice | None = None) -> Overview:
    """Look at a project.

    Args:
        monitor: The monitor of the project.
        choice: What is shown.

    Raises:
        UsageError: There is no such range, or there are too many windows in it.
    """
    choice = choice or Choice()
    now = monitor.clock()
    configuration = read_configuration(monitor)
    versions = () if configuration is None else list_versions(monitor.store, monitor.project)
    extent = choose_extent(choice, versions, now)
    measures: tuple[MeasureView, ...] = ()
    baseline = None
    if configuration is not None:
        baseline = monitor.baseline()
        since, until = to_datetime(extent.since), to_datetime(extent.until)
        parts = [(extent.model, extent.version)]
        parts += [(one.model, one.version) for one in extent.lines]
        read = monitor.all_series(parts, every=extent.every, since=since, until=until)
        measures = tuple(
            _view_measure(
                tuple(part[measure] for part in read), configuration.definition, extent, baseline
            )
            for measure in monitor.measures
        )
    counted = measures[0].series if measures else ()
    sliced = ""
    if configuration is not None and configuration.attributes and counted and len(counted[0]):
        sliced = choice.measure or monitor.measures[-1]
    return Overview(
        project=monitor.project,
        now=now,
        configuration=configuration,
        extent=extent,
        versions=versions,
        rules=() if configuration is None else list_states(monitor),
        measures=measures,
        counts=tuple(
            Counted(name, _draw(counted, extent, take, shows, is_share=take is not _take_rankings))
            for name, take, shows in COUNTS
        )
        if counted
        else (),
        baseline=baseline,
        maturity=None
        if configuration is None
        else monitor.maturity(to_datetime(extent.since), to_datetime(extent.until)),
        sliced=sliced,
        slices=_tabulate(monitor, sliced, extent) if sliced else None,
    )


def name_version(model: str | None, version: str | None) -> str:
    """Name a version of a model as people do; nothing where all are meant.

    Examples:
        >>> name_version("search", "4"), name_version("", "4"), name_version(None, None)
        ('search 4', '4', '')
    """
    if model is None and version is None:
        return ""
    return " ".join(filter(None, (model, version))) or "unknown version"


def _view_measure(
    series: tuple[Series, ...], definition: Definition, extent: Extent, baseline: Baseline | None
) -> MeasureView:
    measure = series[0].measure
    mean = None
    level = None
    if baseline is not None:
        mean = baseline.find(measure, definition)
        if not math.isnan(mean.value):
            level = Level(baseline.of, mean.value, mean.lower, mean.upper)
    [defined] = definition.only(measure).measures
    chart = _draw(series, extent, _take_values, level=level, within=defined.row.value_range)
    return MeasureView(
        measure=measure,
        newest=_find_newest(series[0]),
        baseline=mean,
        series=series,
        chart=chart,
    )


def _tabulate(monitor: Monitor, measure: str, extent: Extent) -> Table:
    every, since = extent.whole
    return monitor.slices(
        measure,
        every=every,
        since=to_datetime(since),
        until=to_datetime(extent.until),
        model=extent.model,
        version=extent.version,
    )


def _find_newest(series: Series) -> Window | None:
    """Find the newest window that is final and has a value, else the newest."""
    final = [at for at, is_final in enumerate(series.is_final) if is_final]
    known = [at for at in final if not math.isnan(series.values[at])]
    at = max(known, default=len(series) - 1)
    if at < 0:
        return None
    return Window(
        start=to_micros(series.times[at]),
        value=series.values[at],
        lower=series.lower[at],
        upper=series.upper[at],
        is_final=series.is_final[at],
        defined=series.defined[at],
        rankings=series.rankings[at],
        labelled=series.labelled[at],
        empty=series.empty[at],
        documents=series.documents[at],
        unjudged=series.unjudged[at],
    )


def _start(series: Series) -> list[int]:
    """Return when windows begin, as charts count time."""
    return [*map(to_micros, series.times)]


def _take_values(series: Series) -> list[Point]:
    columns = (_start(series), series.values, series.lower, series.upper, series.is_final)
    return [Point(*row) for row in zip(*columns, strict=True)]


def _take_share(name: str) -> Callable[[Series], list[Point]]:
    def take(series: Series) -> list[Point]:
        rows = zip(
            _start(series), getattr(series, name), series.rankings, series.is_final, strict=True
        )
        return [
            Point(start, count / total if total else math.nan, is_final=is_final)
            for start, count, total, is_final in rows
        ]

    return take


def _take_rankings(series: Series) -> list[Point]:
    rows = zip(_start(series), series.rankings, strict=True)
    # A number of rankings does not wait for labels.
    return [Point(start, count) for start, count in rows]


COUNTS: tuple[tuple[str, Callable[[Series], list[Point]], tuple[float, ...]], ...] = (
    ("Rankings without relevant documents", _take_share("empty"), (0.0,)),
    ("Rankings with labels", _take_share("labelled"), (0.0, 1.0)),
    ("Rankings", _take_rankings, (0.0,)),
)
"""What values stand on: what is counted, how, and what the axis always shows."""


def _draw(
    series: Sequence[Series],
    extent: Extent,
    take: Callable[[Series], list[Point]],
    with_values: tuple[float, ...] = (),
    *,
    level: Level | None = None,
    within: tuple[float, float] = (0.0, math.inf),
    is_share: bool = False,
) -> LineChart:
    """Draw versions shown at a time as a line each, and otherwise mark where they begin."""
    drawn = series[1:] or series[:1]
    lines = [
        Line(name_version(one.model, one.version) if len(series) > 1 else "", tuple(take(one)))
        for one in drawn
    ]
    listed = [one for one in extent.versions if not one.folded]
    events = [
        Event(one.first, name_version(one.model, one.version))
        for one in sorted(listed, key=lambda one: one.first)[1:]
        if len(series) == 1
    ]
    return draw_lines(
        lines,
        since=extent.since,
        until=extent.until,
        length=extent.length,
        level=level,
        events=events,
        within=(0.0, 1.0) if is_share else within,
        with_values=with_values,
        is_share=is_share,
    )


SAID = {
    "1d": "1 day",
    "7d": "7 days",
    "30d": "30 days",
    "90d": "90 days",
    "1y": "1 year",
    "all": "all",
}


def _view(monitor: Monitor, asked: Asked) -> Overview:
    return view_overview(monitor, Choice(**asked.query))


def _extras(view: Overview) -> dict[str, object]:
    return {
        "ranges": SAID,
        "name_version": name_version,
        "trace_of": trace_of,
        "maturity": None if view.maturity is None else draw_maturity(view.maturity),
    }


OVERVIEW = Page(
    path="/",
    twin="/overview.json",
    here="Overview",
    template="overview.html.j2",
    summary="Values now and over time, compared with the baseline.",
    view=_view,
    parameters=(
        Parameter(
            "range", "The range of time to show.", schema={"type": "string", "enum": list(RANGES)}
        ),
        Parameter(
            "every", "The length of the windows.", schema={"type": "string", "enum": list(LENGTHS)}
        ),
        Parameter("model", "Show only this model."),
        Parameter("version", "Show only this version."),
        Parameter("measure", "The measure of the slices."),
    ),
    extras=_extras,
)
