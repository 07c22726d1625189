"""Metrics for Prometheus, read from the store on each scrape, so that a restart loses nothing.

Values are those of the newest windows whose attribution windows have closed, with their time. A
label that comes later changes the store, but not what was scraped.
"""

from __future__ import annotations

import math
import shutil

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, StateSetMetricFamily
from starlette.responses import Response

from rankscope.errors import UsageError
from rankscope.monitor.ask.series import SUMMED, find_newest_cells, sum_window
from rankscope.monitor.evaluate.stored_windows import read_rankings, unpack_cell
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.events.outcome import OTHER_COUNTERS
from rankscope.monitor.events.times import EPOCH, to_datetime, to_micros
from rankscope.monitor.incidents.incident import LASTING, STATUSES
from rankscope.monitor.rules.kinds import PROBLEMS
from rankscope.monitor.server.routing.dispatcher import PREFIX
from rankscope.monitor.server.routing.endpoint import Endpoint
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.folding import OTHER, choose_versions
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Literal

    from prometheus_client import Metric

    from rankscope.measures import Measure
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.routing.endpoint import Call
    from rankscope.monitor.server.routing.pool import MonitorPool
    from rankscope.monitor.store.folding import Pair
    from rankscope.monitor.store.records import CellRow

CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8"
LENGTHS: Mapping[Literal["hour", "day"], int] = {"hour": HOUR, "day": DAY}
LOOKED_BACK = {"hour": DAY, "day": 14 * DAY}
"""How much further back than `LEFT` the newest window of a version may begin."""
LEFT = 14 * DAY
"""After so long without rankings, a version has no metrics any more."""

MANY = 1 << 40
"""More rankings than a window has."""

STATES = ("OK", "ALERT", "NO_DATA", "STALE", "INSUFFICIENT")


class Metrics:
    """The endpoint that Prometheus scrapes.

    Args:
        pool: Reads with monitors.
    """

    def __init__(self, pool: MonitorPool) -> None:
        self._pool = pool
        self.endpoints = (
            Endpoint(
                "GET",
                "/metrics",
                "read",
                self.get,
                summary="Return the newest values, counters and states, for Prometheus.",
                gives="text/plain",
            ),
        )

    async def get(self, call: Call) -> Response:
        """Answer with the metrics of a project."""
        text = await self._pool.read(call, write_metrics)
        return Response(text, headers={"content-type": CONTENT_TYPE})


def write_metrics(monitor: Monitor) -> bytes:
    """Return the metrics of a project in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(Collector(monitor))
    return generate_latest(registry)


class Collector:
    """Collects the metrics of a project from its store.

    Args:
        monitor: The monitor of the project.
    """

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor

    def describe(self) -> list[Metric]:
        """Return nothing: metrics are read when they are collected."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Read the metrics."""
        yield from _count_events(self._monitor)
        yield from _look_at_store(self._monitor)
        try:
            found = [find_windows(self._monitor, every) for every in LENGTHS]
        except UsageError as error:
            if error.code != "not_configured":
                raise
            return
        measures = self._monitor.configuration.definition.measures
        yield from _tell_values([one for each in found for one in each.windows], measures)
        yield from _tell_folded(self._monitor, found)
        yield from _tell_baseline(self._monitor)
        yield from _tell_progress(self._monitor)
        yield from _tell_rules(self._monitor)
        yield _tell_incidents(self._monitor)


@record(frozen=True, slots=True)
class WindowMetrics:
    """The newest final window of a version, or of all versions without metrics of their own.

    Args:
        model: The model; `<other>` where it is one of several.
        version: Its version; likewise.
        every: How long windows are.
        start: When it begins, in microseconds since 1970 in UTC.
        values: By measure, the columns of `SUMMED`.
    """

    model: str
    version: str
    every: str
    start: int
    values: Mapping[str, tuple[Any, ...]]

    @property
    def place(self) -> list[str]:
        """The labels of the metrics of a window: model, version, and length."""
        return [self.model, self.version, self.every]

    def read(self, column: str, measure: str | None = None) -> float:
        """Return a column of a measure; of any measure for columns that all of them share."""
        found = next(iter(self.values.values())) if measure is None else self.values[measure]
        return float(found[SUMMED.index(column)])


@record(frozen=True, slots=True)
class NewestWindows:
    """The newest final windows of one length.

    Args:
        every: How long they are.
        windows: One of each version that has metrics of its own, and those of `<other>`.
        versions: How many versions have such a window of their own.
        folded: How many of these are in `<other>`.
    """

    every: str
    windows: tuple[WindowMetrics, ...]
    versions: int
    folded: int


def find_windows(monitor: Monitor, every: Literal["hour", "day"]) -> NewestWindows:
    """Find the newest final window of each version, by one query.

    If there are too many versions, those with the newest windows have metrics of their own, and
    among these the ones with most rankings. The others are summed as of their newest window.
    """
    definition, length = monitor.configuration.definition, LENGTHS[every]
    closed = monitor.clock() - definition.window * SECOND - length
    since = closed - LEFT - LOOKED_BACK[every]
    rows = find_newest_cells(
        monitor.store, monitor.project, monitor.configuration.digest, every, since - since % length
    )
    check_deadline()
    # What is newer counts more, however many rankings it has: there are never so many.
    folding = choose_versions(
        {(row.model, row.version): row.start * MANY + read_rankings(row) for row in rows}
    )
    places: dict[Pair, list[CellRow]] = {}
    for row in rows:
        places.setdefault(folding.place(row.model, row.version), []).append(row)
    windows = []
    for (model, version), those in sorted(places.items()):
        start = max(row.start for row in those)
        newest = [unpack_cell(row) for row in those if row.start == start]
        values = sum_window(newest, definition)
        windows.append(WindowMetrics(model, version, every, start, values))
    named = sum(OTHER not in {row.model, row.version} for row in rows)
    return NewestWindows(every, tuple(windows), named, folding.folded)


VALUES = {
    "values": ("", "The mean of the newest final window."),
    "lower": ("_lower", "The lower end of its interval."),
    "upper": ("_upper", "The upper end."),
}
PLACE = ["model", "version", "window"]


def _tell_values(windows: Sequence[WindowMetrics], measures: Sequence[Measure]) -> Iterator[Metric]:
    for family in ("ndcg", "measure"):
        own = [measure for measure in measures if _family(measure) == family]
        for column, (ending, text) in VALUES.items():
            metric = GaugeMetricFamily(
                f"rankscope_{family}{ending}", text, labels=["measure", "k", *PLACE]
            )
            for one in windows:
                for measure in own:
                    labels = [*_names(measure), *one.place]
                    _add(metric, labels, one.read(column, measure.name))
            if metric.samples:
                yield metric
    # The same for all measures, told once.
    counts = GaugeMetricFamily("rankscope_rankings", "Rankings in the window.", labels=PLACE)
    coverage = GaugeMetricFamily(
        "rankscope_label_coverage_ratio", "The share of rankings that have labels.", labels=PLACE
    )
    judged = GaugeMetricFamily(
        "rankscope_judged_ratio", "The share of documents that are not pending.", labels=PLACE
    )
    ends = GaugeMetricFamily(
        "rankscope_window_end_timestamp_seconds", "When the window ended.", labels=PLACE
    )
    for one in windows:
        rankings, documents = one.read("rankings"), one.read("documents")
        _add(counts, one.place, rankings)
        _add(coverage, one.place, _share(one.read("labelled"), rankings))
        _add(judged, one.place, 1 - _share(one.read("unjudged"), documents))
        _add(ends, one.place, (one.start + _length(one.every)) / SECOND)
    yield from (counts, coverage, judged, ends)


def _tell_folded(monitor: Monitor, found: Sequence[NewestWindows]) -> Iterator[Metric]:
    versions = GaugeMetricFamily(
        "rankscope_versions", "Versions with a recent final window.", labels=["window"]
    )
    folded = GaugeMetricFamily(
        "rankscope_versions_folded",
        "Versions among these that have no metrics of their own: <other> has them.",
        labels=["window"],
    )
    for each in found:
        versions.add_metric([each.every], each.versions)
        folded.add_metric([each.every], each.folded)
    yield from (versions, folded)
    yield GaugeMetricFamily(
        "rankscope_hour_versions_folded",
        "The most versions that a recent hour has no windows of: <other> has them.",
        monitor.folded_versions(to_datetime(monitor.clock() - LEFT)),
    )


def _tell_baseline(monitor: Monitor) -> Iterator[Metric]:
    baseline = monitor.baseline()
    if baseline is None:
        return
    for family in ("ndcg", "measure"):
        metric = GaugeMetricFamily(
            f"rankscope_{family}_baseline",
            "What values are held against.",
            labels=["measure", "k", "baseline"],
        )
        for measure in monitor.configuration.definition.measures:
            if _family(measure) == family:
                value = baseline.means[measure.name].value
                _add(metric, [*_names(measure), baseline.of], value)
        if metric.samples:
            yield metric


def _tell_progress(monitor: Monitor) -> Iterator[Metric]:
    quality = monitor.quality(since=to_datetime(monitor.clock()))
    if quality.as_of is not None:
        yield GaugeMetricFamily(
            "rankscope_evaluated_timestamp_seconds",
            "As of when windows are up to date.",
            to_micros(quality.as_of) / SECOND,
        )
    yield GaugeMetricFamily(
        "rankscope_events_not_evaluated", "Events that came since.", quality.behind
    )
    yield GaugeMetricFamily(
        "rankscope_labels_pending", "Labels of rankings that are not there.", quality.pending_labels
    )


def _tell_incidents(monitor: Monitor) -> Metric:
    incidents = GaugeMetricFamily(
        "rankscope_incidents",
        "How many incidents there are that are not resolved.",
        labels=["state", "kind"],
    )
    counted = monitor.store.count_incidents(monitor.project)
    for state in STATUSES:
        for kind in PROBLEMS if state in LASTING else ():
            incidents.add_metric([state, kind], counted.get((state, kind), 0))
    return incidents


def _tell_rules(monitor: Monitor) -> Iterator[Metric]:
    states = StateSetMetricFamily("rankscope_rule_state", "How a rule stands.", labels=["rule"])
    silenced = GaugeMetricFamily(
        "rankscope_rule_silenced", "Whether a rule is silenced.", labels=["rule"]
    )
    late = CounterMetricFamily(
        "rankscope_rule_late_rankings",
        "Rankings that came after a rule had looked at their period.",
        labels=["rule"],
    )
    for one in monitor.check():
        name = [one.rule.name]
        states.add_metric(name, {state: state == one.state for state in STATES})
        silenced.add_metric(name, (one.silenced_until or EPOCH) > to_datetime(monitor.clock()))
        late.add_metric(name, one.late_rankings)
    yield from (states, silenced, late)
    outbox = GaugeMetricFamily(
        "rankscope_outbox", "Notifications, by what became of them.", labels=["status"]
    )
    counts = monitor.store.count_notifications(monitor.project)
    for status, count in sorted(counts.items()):
        outbox.add_metric([status], count)
    yield outbox


def _count_events(monitor: Monitor) -> Iterator[Metric]:
    counted = monitor.store.counters(monitor.project)
    for name, reason, text in (
        ("ingested", "accepted", "Events that were taken."),
        ("duplicate", "duplicate", "Events that were there already."),
        ("conflict", "conflict", "Events whose id was there with other content."),
    ):
        yield CounterMetricFamily(f"rankscope_events_{name}", text, counted.get(reason, 0))
    rejected = CounterMetricFamily(
        "rankscope_events_rejected", "Events that were not taken.", labels=["reason"]
    )
    refused = CounterMetricFamily(
        "rankscope_requests_refused", "Requests with events that were not read.", labels=["reason"]
    )
    for reason, count in sorted(counted.items()):
        if reason.startswith(PREFIX):
            refused.add_metric([reason.removeprefix(PREFIX)], count)
        elif reason not in OTHER_COUNTERS:
            rejected.add_metric([reason], count)
    deleted = CounterMetricFamily(
        "rankscope_events_deleted", "Events that were deleted for their age.", labels=["kind"]
    )
    for kind in ("rankings", "labels"):
        deleted.add_metric([kind], counted.get(f"deleted_{kind}", 0))
    yield from (rejected, refused, deleted)
    yield CounterMetricFamily(
        "rankscope_unknown_fields",
        "Fields of events that nobody knows.",
        counted.get("unknown_field", 0),
    )


def _look_at_store(monitor: Monitor) -> Iterator[Metric]:
    yield CounterMetricFamily(
        "rankscope_events_lost",
        "Events of all projects that were acknowledged and are lost, as was accepted.",
        monitor.store.lost_events(),
    )
    path = getattr(monitor.store, "path", None)
    if path is not None:
        usage = shutil.disk_usage(path.parent)
        yield GaugeMetricFamily(
            "rankscope_disk_free_ratio",
            "The share of the disk that is free.",
            usage.free / usage.total,
        )
        yield GaugeMetricFamily(
            "rankscope_store_bytes", "The size of the store.", path.stat().st_size
        )
    for name, text in (
        ("log_bytes", "The size of its log."),
        ("waiting", "Events that wait to be stored."),
    ):
        value = getattr(monitor.store, name, None)
        if value is not None:
            yield GaugeMetricFamily(f"rankscope_store_{name}", text, value)


def _family(measure: Measure) -> str:
    return "ndcg" if measure.row.name == "nDCG" else "measure"


def _names(measure: Measure) -> list[str]:
    return [measure.name, str(measure.k or "")]


def _length(every: str) -> int:
    return HOUR if every == "hour" else DAY


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _add(metric: Any, labels: list[str], value: float) -> None:  # noqa: ANN401 - of several kinds
    if not math.isnan(value):
        metric.add_metric(labels, value)
