"""Measures over time: charts, the newest value, and what values stand on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from rankscope.monitor.ask.series import Series
from rankscope.monitor.ask.signals import SignalSeries
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.evaluate.baseline import Baseline
from rankscope.monitor.evaluate.means import Mean
from rankscope.monitor.events.times import describe_time, format_time, to_datetime, to_micros
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.plain import make_plain
from rankscope.monitor.rules.state import RuleState
from rankscope.monitor.rules.stream import Stream
from rankscope.monitor.server.pages.charts.lines import (
    Episode,
    Event,
    Level,
    Line,
    LineChart,
    Point,
    draw_lines,
)
from rankscope.monitor.server.pages.groups import Group, list_episodes, list_periods
from rankscope.monitor.server.pages.overview_range import Extent
from rankscope.monitor.store.records import Version

AnySeries: TypeAlias = Series | SignalSeries


MOST_CHOICES = 8
"""Versions that can be chosen by a link."""


NEWEST = (
    *("value", "lower", "upper", "is_final", "defined", "rankings", "labelled", "empty"),
    *("documents", "unjudged"),
)
"""What is said of the newest window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureView:
    """A measure over time.

    Args:
        measure: The measure.
        newest: The newest window that is final and has a value, or else the newest: when it
            begins, in microseconds since 1970 in UTC, and `NEWEST`; `None` where there is none in
            the range.
        baseline: What it is held against.
        series: All rankings together first, then versions that have lines of their own.
        chart: The lines.
    """

    measure: str
    newest: Mapping[str, Any] | None
    baseline: Mean | None
    series: tuple[Series, ...]
    chart: LineChart

    @property
    def difference(self) -> float:
        """The newest value less the baseline; NaN where one is missing."""
        if self.newest is None or self.baseline is None:
            return math.nan
        return float(self.newest["value"] - self.baseline.value)

    @property
    def description(self) -> str:
        """The chart in words, for screen readers."""
        text = describe_values(self.series[0], "{:.4f}".format)
        if self.baseline is not None and not math.isnan(self.baseline.value):
            text += f" The baseline is {self.baseline.value:.4f}."
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return the view as dicts and lists, for JSON."""
        newest = self.newest
        return {
            "measure": self.measure,
            "newest": newest and make_plain(newest) | {"start": format_time(newest["start"])},
            "baseline": make_plain(self.baseline),
            "difference": make_plain(self.difference),
            "series": [series.to_dict() for series in self.series],
        }


def describe_values(series: AnySeries, write: Callable[[float], str]) -> str:
    """Describe the values of a chart, for who does not see it."""
    known = [
        (value, start)
        for value, start in zip(series.values, series.times, strict=True)
        if not math.isnan(value)
    ]
    if not known:
        return f"There is no {series.every} with a value."
    (least, when), (most, _) = min(known), max(known)
    text = f"{len(known)} {series.every}s with a value, from {write(least)} to {write(most)}. "
    return f"{text}The lowest is at {describe_time(when)}."


class OverTime:
    """What pages about measures over time share."""

    __slots__ = ()
    extent: Extent
    versions: tuple[Version, ...]
    measures: tuple[MeasureView, ...]

    @property
    def has_rankings(self) -> bool:
        """Whether there are rankings in the range."""
        return bool(self.measures) and len(self.measures[0].series[0]) > 0

    @property
    def lines(self) -> tuple[str, ...]:
        """The names of the lines of the charts; one without a name where all are together."""
        return tuple(name_version(line.model, line.version) for line in self.extent.lines) or ("",)

    @property
    def newest_versions(self) -> tuple[Version, ...]:
        """The versions that can be chosen: those that came last."""
        return tuple(version for version in self.versions if not version.folded)[-MOST_CHOICES:]


def name_version(model: str | None, version: str | None) -> str:
    """Name a version of a model as people do; nothing where all are meant.

    Examples:
        >>> name_version("search", "4"), name_version("", "4"), name_version(None, None)
        ('search 4', '4', '')
    """
    if model is None and version is None:
        return ""
    return " ".join(filter(None, (model, version))) or "unknown version"


WORDS = {"name_version": name_version}


def view_measures(
    monitor: Monitor,
    extent: Extent,
    *,
    baseline: Baseline | None,
    groups: Sequence[Group],
    rules: Iterable[RuleState],
    slice: Slice = (),  # noqa: A002 - the word for it
) -> tuple[MeasureView, ...]:
    """Look at all measures over time, with what happened meanwhile."""
    definition = monitor.configuration.definition
    periods = list_periods(monitor.configuration.calendar, extent.since, extent.until)
    parts = [(extent.model, extent.version)]
    parts += [(line.model, line.version) for line in extent.lines]
    since, until = to_datetime(extent.since), to_datetime(extent.until)
    read = monitor.all_series(parts, every=extent.every, since=since, until=until, slice=slice)
    streams = [
        (state.rule.subject, stream)
        for state in rules
        for stream in state.streams
        if stream.slice == slice and stream.floor is not None
    ]
    return tuple(
        _view_measure(
            tuple(part[name] for part in read),
            definition,
            extent,
            mean=_find_mean(baseline, definition, name, slice),
            floor=_find_floor([stream for of, stream in streams if of == name], extent),
            episodes=[*periods, *list_episodes(groups, name)],
        )
        for name in monitor.measures
    )


def _view_measure(
    series: tuple[Series, ...],
    definition: Definition,
    extent: Extent,
    *,
    mean: Mean | None,
    floor: float | None,
    episodes: Sequence[Episode],
) -> MeasureView:
    [defined] = definition.only(series[0].measure).measures
    known = mean is not None and not math.isnan(mean.value)
    chart = draw_series(
        series,
        extent,
        take_values,
        level=Level("baseline", mean.value, mean.lower, mean.upper) if mean and known else None,
        floor=floor,
        episodes=episodes,
        within=defined.row.value_range,
    )
    return MeasureView(
        measure=series[0].measure,
        newest=_find_newest(series[0]),
        baseline=mean,
        series=series,
        chart=chart,
    )


def _find_mean(
    baseline: Baseline | None, definition: Definition, measure: str, slice_: Slice
) -> Mean | None:
    if baseline is None:
        return None
    if not slice_:
        return baseline.find(measure, definition)
    held = baseline.slices.get(slice_)
    if held is None:
        return None
    number = [each.name for each in definition.measures].index(measure)
    return Mean(
        value=held[number], lower=math.nan, upper=math.nan, level=0.0, clusters=0, rankings=0
    )


def _find_floor(streams: Iterable[Stream], extent: Extent) -> float | None:
    """Find the floor of the stream that was checked last."""
    checked = [
        (stream.at, stream.floor)
        for stream in streams
        if stream.at is not None
        and extent.model in {None, stream.model}
        and extent.version in {None, stream.version}
    ]
    return max(checked, key=lambda each: each[0])[1] if checked else None


def draw_counts(measures: Sequence[MeasureView], extent: Extent) -> dict[str, LineChart]:
    """Draw what values stand on: counts of rankings over time, or shares of them, by name."""
    if not measures:
        return {}
    counted = measures[0].series
    return {
        name: draw_series(counted, extent, take, shows, is_share=take is not take_rankings)
        for name, take, shows in COUNTS
    }


def _find_newest(series: Series) -> Mapping[str, Any] | None:
    """Find the newest window that is final and has a value, else the newest."""
    final = [at for at, is_final in enumerate(series.is_final) if is_final]
    known = [at for at in final if not math.isnan(series.values[at])]
    at = max(known, default=len(series) - 1)
    if at < 0:
        return None
    columns = {name: getattr(series, name)[at] for name in NEWEST[1:]}
    return {"start": to_micros(series.times[at]), "value": series.values[at], **columns}


def _start(series: AnySeries) -> list[int]:
    """Return when windows begin, as charts count time."""
    return [*map(to_micros, series.times)]


def take_values(series: AnySeries) -> list[Point]:
    """Return values as points."""
    columns = (_start(series), series.values, series.lower, series.upper, series.is_final)
    return [Point(*row) for row in zip(*columns, strict=True)]


def take_share(series: Series, counted: str, of: str = "rankings") -> list[Point]:
    """Return which share of something was counted, as points; NaN where there is nothing."""
    rows = zip(
        _start(series),
        getattr(series, counted),
        getattr(series, of),
        series.is_final,
        strict=True,
    )
    return [
        Point(start, count / total if total else math.nan, is_final=is_final)
        for start, count, total, is_final in rows
    ]


def take_rankings(series: Series) -> list[Point]:
    """Return numbers of rankings as points; they don't wait for labels."""
    return [Point(*row) for row in zip(_start(series), series.rankings, strict=True)]


COUNTS: tuple[tuple[str, Callable[[Series], list[Point]], tuple[float, ...]], ...] = (
    ("Rankings without relevant documents", partial(take_share, counted="empty"), (0.0,)),
    ("Rankings with labels", partial(take_share, counted="labelled"), (0.0, 1.0)),
    ("Rankings", take_rankings, (0.0,)),
)
"""What values stand on: what is counted, how, and what the axis always shows."""


def draw_series(
    series: Sequence[AnySeries],
    extent: Extent,
    take: Callable[[Any], list[Point]],
    with_values: tuple[float, ...] = (),
    *,
    level: Level | None = None,
    floor: float | None = None,
    episodes: Sequence[Episode] = (),
    within: tuple[float, float] = (0.0, math.inf),
    is_share: bool = False,
    beside: Sequence[Line] = (),
) -> LineChart:
    """Draw versions shown at a time as a line each, and otherwise mark where they begin."""
    drawn = series[1:] or series[:1]
    lines = [
        Line(name_version(one.model, one.version) if len(series) > 1 else "", tuple(take(one)))
        for one in drawn
    ]
    lines += beside
    listed = [version for version in extent.versions if not version.folded]
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
        floor=floor,
        events=events,
        episodes=episodes,
        within=(0.0, 1.0) if is_share else within,
        with_values=with_values,
        is_share=is_share,
    )
