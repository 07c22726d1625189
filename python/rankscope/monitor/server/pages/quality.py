"""The data quality page."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rankscope.monitor.ask.quality import Quality
from rankscope.monitor.ask.series import LENGTHS, Series
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.doctor import CLOCK
from rankscope.monitor.events.outcome import OTHER_COUNTERS
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.api.fields import make_query
from rankscope.monitor.server.pages.charts.lines import Line, LineChart, Point, draw_lines
from rankscope.monitor.server.pages.measure_view import take_share
from rankscope.monitor.server.pages.overview_range import RANGES, Choice, Extent, read_extent
from rankscope.monitor.server.pages.page import Page

TAKEN = {
    "accepted": "accepted",
    "duplicate": "duplicates, counted once",
    "conflict": "conflicts: same id as an earlier event, which is kept",
}
BESIDES = {
    "unknown_field": "unknown fields, ignored",
    "deleted_rankings": "old rankings deleted",
    "deleted_labels": "old labels deleted",
}
SHARES = (
    ("labelled", "rankings", "Rankings with labels"),
    ("empty", "rankings", "Rankings without relevant documents"),
    ("missing", "rankings", "Empty rankings"),
    ("tied", "rankings", "Rankings with tied scores"),
    ("gaps", "rankings", "Rankings with gaps in their ranks"),
    ("unjudged", "documents", "Documents without a grade yet"),
)
"""What is counted, of how many, and what that is called."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the rankings, or of the documents.

    Args:
        name: What it is called.
        count: How many there are.
        of: Of how many.
        chart: The share over time.
    """

    name: str
    count: int
    of: int
    chart: LineChart


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityView:
    """The data of a project.

    Args:
        configuration: How the project is measured; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        extent: The range of time that shares are of.
        quality: What is known of the data; `None` where the project is not configured.
        room: The bytes of the store and of its log, and the share of the disk that is free; `None`
            where the store is in no file.
        series: The counts over time.
        shares: Shares of rankings and documents.
    """

    configuration: Configuration | None
    now: int
    extent: Extent
    quality: Quality | None
    room: Mapping[str, float] | None
    series: Series | None
    shares: tuple[Share, ...]

    @property
    def events(self) -> Mapping[str, int]:
        """The counters of events."""
        return {} if self.quality is None else self.quality.events

    @property
    def taken(self) -> list[tuple[str, int]]:
        """What became of the events that could be read."""
        return [(words, self.events.get(name, 0)) for name, words in TAKEN.items()]

    @property
    def rejected(self) -> list[tuple[str, int]]:
        """How many events were rejected, by the code of the reason, most first."""
        counts = {name: count for name, count in self.events.items() if name not in OTHER_COUNTERS}
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

    @property
    def besides(self) -> list[tuple[str, int]]:
        """What else was counted, where there was any."""
        if self.quality is None:
            return []
        quality = self.quality
        counts = [(words, quality.events.get(name, 0)) for name, words in BESIDES.items()]
        skewed = sum(quality.events.get(name, 0) for name in CLOCK)
        counts += [
            ("times out of range: check the clocks of the senders", skewed),
            ("labels waiting for their ranking", quality.pending_labels),
            ("labels after the attribution window", quality.late),
            ("labels of documents that were not shown", quality.unshown),
            ("versions summed as <other>, most in one hour", quality.folded_versions),
            ("rankings of versions summed as <other>", quality.folded_rankings),
        ]
        counts += [
            (f"values of {name} summed as <other>", count) for name, count in quality.folded.items()
        ]
        return counts


def view_quality(monitor: Monitor, choice: Choice) -> QualityView:
    """Look at the data of a project."""
    now = monitor.clock()
    configuration, _, extent = read_extent(monitor, choice, now)
    quality = series = None
    shares: tuple[Share, ...] = ()
    if configuration is not None:
        since, until = to_datetime(extent.since), to_datetime(extent.until)
        quality = monitor.quality(since, until)
        series = monitor.series(monitor.measures[0], every=extent.every, since=since, until=until)
        if len(series):
            shares = tuple(
                Share(
                    words,
                    quality.shown.get(name, 0),
                    quality.shown.get(of, 0),
                    _draw(series, extent, name, of),
                )
                for name, of, words in SHARES
            )
    return QualityView(
        configuration=configuration,
        now=now,
        extent=extent,
        quality=quality,
        room=_measure_room(monitor),
        series=series,
        shares=shares,
    )


def _measure_room(monitor: Monitor) -> Mapping[str, float] | None:
    path: Path | None = getattr(monitor.store, "path", None)
    if path is None:
        return None
    disk = shutil.disk_usage(path.parent)
    log = path.with_name(f"{path.name}-wal")
    size = log.stat().st_size if log.exists() else 0
    return {"store": path.stat().st_size, "log": size, "free": disk.free / disk.total}


def _draw(series: Series, extent: Extent, name: str, of: str) -> LineChart:
    points = (Point(point.start, point.value) for point in take_share(series, name, of))
    return draw_lines(
        [Line("", tuple(points))],
        since=extent.since,
        until=extent.until,
        length=extent.length,
        within=(0.0, 1.0),
        with_values=(0.0,),
        is_share=True,
    )


QUALITY = Page(
    path="/quality",
    place=6,
    here="Data quality",
    template="quality.html.j2",
    summary="Accepted, rejected, late and missing events.",
    view=lambda monitor, call: view_quality(monitor, Choice(**call.query)),
    query=make_query(
        "QualityQuery",
        {"range": "The range of time to show.", "every": "The length of the windows."},
        range=tuple(RANGES),
        every=tuple(LENGTHS),
    ),
)
PAGES = (QUALITY,)
