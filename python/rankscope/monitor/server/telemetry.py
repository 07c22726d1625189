"""What this process has done since it started: the requests and rounds of each project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram

from rankscope.monitor.backups import BackupSchedule

if TYPE_CHECKING:
    from prometheus_client import Metric


REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120)
"""Up to the longest that a trace may take."""
ROUND_SECONDS = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000)


class Telemetry:
    """Counts and times requests and rounds by project, as no project sees what others do.

    Labels are those of the table of routes, so that clients can't make new ones.

    Attributes:
        backups: What makes backups of the store, `None` where nothing does.

    Examples:
        >>> telemetry = Telemetry()
        >>> telemetry.note_request("music", "GET", "/v1/series", 200, 0.02)
        >>> [sample.value for metric in telemetry.collect("music") for sample in metric.samples][0]
        1.0
        >>> telemetry.collect("films")
        []
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._projects: dict[str, _ProjectTelemetry] = {}
        self.backups: BackupSchedule | None = None

    def note_request(
        self, project: str, method: str, route: str, status: int, seconds: float
    ) -> None:
        """Note a request of an authenticated caller, by the template of its route."""
        metrics = self._find(project)
        metrics.requests.labels(method, route, str(status)).inc()
        metrics.request_seconds.labels(method, route).observe(seconds)

    def note_round(self, project: str, seconds: float, *, has_failed: bool) -> None:
        """Note that the windows and rules of a project were evaluated, or could not be."""
        metrics = self._find(project)
        metrics.round_seconds.observe(seconds)
        metrics.round_failures.inc(has_failed)

    def collect(self, project: str) -> list[Metric]:
        """Return the metrics of a project; none before anything was noted."""
        metrics = self._projects.get(project)
        return [] if metrics is None else list(_drop_creation(metrics.registry.collect()))

    def _find(self, project: str) -> _ProjectTelemetry:
        metrics = self._projects.get(project)
        if metrics is None:
            with self._lock:
                metrics = self._projects.setdefault(project, _make_metrics())
        return metrics


@dataclass(frozen=True, slots=True)
class _ProjectTelemetry:
    """The metrics of one project."""

    registry: CollectorRegistry
    requests: Counter
    request_seconds: Histogram
    round_seconds: Histogram
    round_failures: Counter


def _make_metrics() -> _ProjectTelemetry:
    registry = CollectorRegistry()
    return _ProjectTelemetry(
        registry,
        Counter(
            "rankscope_http_requests",
            "Requests with a key or a session of the project.",
            ["method", "route", "status"],
            registry=registry,
        ),
        Histogram(
            "rankscope_http_request_duration_seconds",
            "Time from the head of a request to the end of its answer.",
            ["method", "route"],
            buckets=REQUEST_SECONDS,
            registry=registry,
        ),
        Histogram(
            "rankscope_round_duration_seconds",
            "Time to evaluate the windows and rules of the project once.",
            buckets=ROUND_SECONDS,
            registry=registry,
        ),
        Counter(
            "rankscope_round_failures",
            "Rounds in which the project could not be evaluated.",
            registry=registry,
        ),
    )


def _drop_creation(metrics: Iterable[Metric]) -> Iterator[Metric]:
    """Leave out when each series was created, which would double the number of counters."""
    for metric in metrics:
        metric.samples = [one for one in metric.samples if not one.name.endswith("_created")]
        yield metric
