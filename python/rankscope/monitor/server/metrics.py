"""Metrics for Prometheus, read from the store on each scrape, so that a restart loses nothing.

Values are those of the newest windows whose attribution windows have closed, with their time. A
label that comes later changes the store, but not what was scraped. What this process has done since
it started comes from its `Telemetry`.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from prometheus_client import ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    StateSetMetricFamily,
)
from starlette.responses import Response

from rankscope import __version__
from rankscope.errors import UsageError
from rankscope.measures import Measure
from rankscope.monitor.ask.series import LENGTHS, SUMMED, find_newest_cells, sum_window
from rankscope.monitor.backups import BackupSchedule
from rankscope.monitor.evaluate.stored_windows import read_rankings, unpack_cell
from rankscope.monitor.events.limits import DAY, SECOND
from rankscope.monitor.events.outcome import OTHER_COUNTERS
from rankscope.monitor.events.times import EPOCH, to_datetime, to_micros
from rankscope.monitor.incidents.incident import LASTING, STATUSES
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import PROBLEMS
from rankscope.monitor.rules.state import STATES
from rankscope.monitor.server.routing.dispatcher import PREFIX
from rankscope.monitor.server.routing.endpoint import Call, Endpoint
from rankscope.monitor.server.routing.pool import MonitorPool
from rankscope.monitor.server.telemetry import Telemetry
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.folding import OTHER, Pair, choose_versions
from rankscope.monitor.store.records import DELIVERIES, CellRow

if TYPE_CHECKING:
    from prometheus_client import Metric


CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8"
LOOKED_BACK = {"hour": DAY, "day": 14 * DAY}
"""How much further back than `LEFT` the newest window of a version may begin."""
LEFT = 14 * DAY
"""After so long without rankings, a version has no metrics any more."""

MANY = 1 << 40
"""More rankings than a window has."""

FAMILIES = ("ndcg", "measure")


def make_endpoint(pool: MonitorPool, telemetry: Telemetry) -> Endpoint:
    """Make the endpoint that Prometheus scrapes."""
    write = partial(write_metrics, telemetry=telemetry)

    async def answer(call: Call) -> Response:
        text = await pool.read(call, write)
        return Response(text, headers={"content-type": CONTENT_TYPE})

    return Endpoint(
        "GET",
        "/metrics",
        "read",
        answer,
        summary="Return the newest values, counters and states, for Prometheus.",
        gives="text/plain",
    )


def write_metrics(monitor: Monitor, telemetry: Telemetry) -> bytes:
    """Return the metrics of a project in the text format of Prometheus."""
    registry: Any = SimpleNamespace(collect=lambda: _collect(monitor, telemetry))
    return generate_latest(registry)


def _collect(monitor: Monitor, telemetry: Telemetry) -> Iterator[Metric]:
    """Read the metrics of a project from its store, and add those of this process."""
    yield InfoMetricFamily(
        "rankscope_build", "The version of rankscope.", value={"version": __version__}
    )
    yield from ProcessCollector(registry=None).collect()
    yield from telemetry.collect(monitor.project)
    yield from _count_events(monitor)
    yield from _count_notifications(monitor)
    yield from _look_at_store(monitor)
    yield from _tell_backups(telemetry.backups)
    try:
        newest = {every: find_windows(monitor, every) for every in LENGTHS}
    except UsageError as error:
        if error.code != "not_configured":
            raise
        return
    measures = monitor.configuration.definition.measures
    yield from _tell_values([window for each in newest.values() for window in each[0]], measures)
    yield from _tell_folded(monitor, newest)
    yield from _tell_baseline(monitor)
    yield from _tell_progress(monitor)
    yield from _tell_rules(monitor)
    yield from _tell_incidents(monitor)


@dataclass(frozen=True, slots=True)
class WindowMetrics:
    """The newest final window of a version, or of all versions without metrics of their own.

    Args:
        place: Its labels: the model and its version, `<other>` where it is one of several, and how
            long it is.
        start: When it begins, in microseconds since 1970 in UTC.
        values: By measure, the columns of `SUMMED`.
    """

    place: list[str]
    start: int
    values: Mapping[str, tuple[Any, ...]]

    def read(self, column: str, measure: str | None = None) -> float:
        """Return a column of a measure; of any measure for columns that all of them share."""
        columns = next(iter(self.values.values())) if measure is None else self.values[measure]
        return float(columns[SUMMED.index(column)])


def find_windows(monitor: Monitor, every: str) -> tuple[list[WindowMetrics], int, int]:
    """Find the newest final window of each version, by one query.

    If there are too many versions, those with the newest windows have metrics of their own, and
    among these the ones with most rankings. The others are summed as of their newest window. How
    many versions have such a window is returned, too, and how many of these are summed.
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
    for (model, version), own in sorted(places.items()):
        start = max(row.start for row in own)
        newest = [unpack_cell(row) for row in own if row.start == start]
        values = sum_window(newest, definition)
        windows.append(WindowMetrics([model, version, every], start, values))
    named = sum(OTHER not in {row.model, row.version} for row in rows)
    return windows, named, folding.folded


VALUES = {
    "values": ("", "The mean of the newest final window."),
    "lower": ("_lower", "The lower end of the interval of that mean."),
    "upper": ("_upper", "The upper end of the interval of that mean."),
}
PLACE = ["model", "version", "window"]


def _tell_values(windows: Sequence[WindowMetrics], measures: Sequence[Measure]) -> Iterator[Metric]:
    for family in FAMILIES:
        own = [measure for measure in measures if _family(measure) == family]
        for column, (ending, text) in VALUES.items():
            rows = (
                ([*_names(measure), *window.place], window.read(column, measure.name))
                for window in windows
                for measure in own
            )
            yield from _gauge(f"{family}{ending}", text, ["measure", "k", *PLACE], rows)
    # The same for all measures, told once.
    for name, (text, read) in SHARED.items():
        rows = ((window.place, read(window)) for window in windows)
        yield from _gauge(name, text, PLACE, rows, is_optional=False)


def _tell_folded(
    monitor: Monitor, newest: Mapping[str, tuple[object, int, int]]
) -> Iterator[Metric]:
    for name, at, text in (
        ("versions", 1, "Versions with a recent final window."),
        (
            "versions_folded",
            2,
            "Versions among these that have no metrics of their own: <other> has them.",
        ),
    ):
        rows = [([every], float(each[at])) for every, each in newest.items()]  # type: ignore[arg-type]  # a number
        yield from _gauge(name, text, ["window"], rows)
    yield GaugeMetricFamily(
        "rankscope_hour_versions_folded",
        "The most versions that a recent hour has no windows of: <other> has them.",
        monitor.folded_versions(to_datetime(monitor.clock() - LEFT)),
    )


def _tell_baseline(monitor: Monitor) -> Iterator[Metric]:
    baseline = monitor.baseline()
    if baseline is None:
        return
    for family in FAMILIES:
        rows = (
            ([*_names(measure), baseline.of], baseline.means[measure.name].value)
            for measure in monitor.configuration.definition.measures
            if _family(measure) == family
        )
        text = "The baseline that values are compared with."
        yield from _gauge(f"{family}_baseline", text, ["measure", "k", "baseline"], rows)


def _tell_progress(monitor: Monitor) -> Iterator[Metric]:
    quality = monitor.quality(since=to_datetime(monitor.clock()))
    as_of = None if quality.as_of is None else to_micros(quality.as_of) / SECOND
    for name, text, value in (
        ("evaluated_timestamp_seconds", "When windows were evaluated last.", as_of),
        ("events_not_evaluated", "Events that arrived since.", quality.behind),
        ("labels_pending", "Labels that wait for their ranking.", quality.pending_labels),
    ):
        if value is not None:
            yield GaugeMetricFamily(f"rankscope_{name}", text, value)


def _tell_incidents(monitor: Monitor) -> Iterator[Metric]:
    counted = monitor.store.count_incidents(monitor.project)
    text = "Incidents that are not resolved."
    places = ([state, kind] for state in STATUSES if state in LASTING for kind in PROBLEMS)
    rows = ((place, counted.get((place[0], place[1]), 0)) for place in places)
    yield from _gauge("incidents", text, ["state", "kind"], rows)


def _tell_rules(monitor: Monitor) -> Iterator[Metric]:
    states = StateSetMetricFamily("rankscope_rule_state", "The state of a rule.", labels=["rule"])
    silenced = GaugeMetricFamily(
        "rankscope_rule_silenced", "Whether a rule is silenced.", labels=["rule"]
    )
    late = CounterMetricFamily(
        "rankscope_rule_late_rankings",
        "Rankings that arrived after a rule had judged their period.",
        labels=["rule"],
    )
    for rule in monitor.check():
        name = [rule.rule.name]
        states.add_metric(name, {state: state == rule.state for state in STATES})
        silenced.add_metric(name, (rule.silenced_until or EPOCH) > to_datetime(monitor.clock()))
        late.add_metric(name, rule.late_rankings)
    yield from (states, silenced, late)


def _count_events(monitor: Monitor) -> Iterator[Metric]:
    counted = monitor.store.counters(monitor.project)
    reasons = sorted(reason for reason in counted if reason not in OTHER_COUNTERS)
    tables: tuple[tuple[str, str, str, Mapping[str, str]], ...] = (
        ("events_ingested", "", "Events that were accepted.", {"": "accepted"}),
        ("events_duplicate", "", "Events that were stored already.", {"": "duplicate"}),
        ("events_conflict", "", "Events whose ID is stored with other content.", {"": "conflict"}),
        (
            "events_rejected",
            "reason",
            "Events that were rejected.",
            {reason: reason for reason in reasons if not reason.startswith(PREFIX)},
        ),
        (
            "requests_refused",
            "reason",
            "Requests with events that were refused as a whole.",
            {code.removeprefix(PREFIX): code for code in reasons if code.startswith(PREFIX)},
        ),
        (
            "events_deleted",
            "kind",
            "Events that were deleted because of their age.",
            {kind: f"deleted_{kind}" for kind in ("rankings", "labels")},
        ),
        ("unknown_fields", "", "Unknown fields of events.", {"": "unknown_field"}),
    )
    for name, label, text, counters in tables:
        metric = CounterMetricFamily(f"rankscope_{name}", text, labels=[label] if label else [])
        for value, counter in counters.items():
            metric.add_metric([value] if label else [], counted.get(counter, 0))
        yield metric


def _count_notifications(monitor: Monitor) -> Iterator[Metric]:
    counts = monitor.store.count_notifications(monitor.project)
    text = "Notifications in the store, by what became of them; those that are waiting are queued."
    rows = (([status], counts.get(status, 0)) for status in DELIVERIES)
    yield from _gauge("notifications", text, ["status"], rows)


def _look_at_store(monitor: Monitor) -> Iterator[Metric]:
    yield CounterMetricFamily(
        "rankscope_events_lost",
        "Acknowledged events of all projects that were lost, as the operator accepted.",
        monitor.store.lost_events(),
    )
    store = monitor.store
    path = getattr(store, "path", None)
    usage: Any = path and shutil.disk_usage(path.parent)
    newest = store.find_newest_time(monitor.project)
    for name, text, value in (
        (
            "newest_ranking_timestamp_seconds",
            "The time of the newest ranking in production that was accepted.",
            None if newest is None else newest / SECOND,
        ),
        (
            "disk_free_ratio",
            "The share of the disk that is free.",
            usage and usage.free / usage.total,
        ),
        ("store_bytes", "The size of the database file.", path and path.stat().st_size),
        ("store_log_bytes", "The size of the write-ahead log.", getattr(store, "log_bytes", None)),
        ("store_waiting", "Events that wait to be stored.", getattr(store, "waiting", None)),
    ):
        if value is not None:
            yield GaugeMetricFamily(f"rankscope_{name}", text, value)


def _tell_backups(schedule: BackupSchedule | None) -> Iterator[Metric]:
    if schedule is None:
        return
    last = schedule.last
    for name, text, value in (
        ("interval_seconds", "The time from one backup to the next.", schedule.plan.every / SECOND),
        (
            "last_success_timestamp_seconds",
            "When the last backup was made; 0 if none was.",
            0 if last is None else last.time / SECOND,
        ),
        ("last_success_bytes", "The size of the last backup.", 0 if last is None else last.size),
    ):
        yield GaugeMetricFamily(f"rankscope_backup_{name}", text, value)


def _family(measure: Measure) -> str:
    return "ndcg" if measure.row.name == "nDCG" else "measure"


def _names(measure: Measure) -> list[str]:
    return [measure.name, str(measure.k or "")]


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _gauge(
    name: str,
    text: str,
    labels: Sequence[str],
    rows: Iterable[tuple[Sequence[str], float]],
    *,
    is_optional: bool = True,
) -> Iterator[Metric]:
    """Yield a metric of the values of rows that are numbers; by default not one without values."""
    metric = GaugeMetricFamily(f"rankscope_{name}", text, labels=labels)
    for place, value in rows:
        if not math.isnan(value):
            metric.add_metric(place, value)
    if metric.samples or not is_optional:
        yield metric


SHARED: Mapping[str, tuple[str, Callable[[WindowMetrics], float]]] = {
    "rankings": ("Rankings in the window.", lambda window: window.read("rankings")),
    "label_coverage_ratio": (
        "The share of rankings that have labels.",
        lambda window: _share(window.read("labelled"), window.read("rankings")),
    ),
    "judged_ratio": (
        "The share of documents that are not pending.",
        lambda window: 1 - _share(window.read("unjudged"), window.read("documents")),
    ),
    "window_end_timestamp_seconds": (
        "When the window ended.",
        lambda window: (window.start + LENGTHS[window.place[2]]) / SECOND,
    ),
}
"""Metrics of a window that all measures share: what they mean, and their values."""
