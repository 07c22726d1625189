"""What the watches of a project's data remember from one hour to the next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.plain import Stored
from rankscope.monitor.rules.data.counts import Segment
from rankscope.monitor.rules.run import Progress
from rankscope.monitor.rules.state import Kind, StreamKey

SILENT_KINDS = frozenset({"freshness", "versions", "attributes"})
"""The kinds of anomaly that may be that nothing comes."""
KEPT = 40 * DAY
"""How long what is over is remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly(Stored):
    """A stream that is not as usual.

    Args:
        kind: What is wrong.
        segment: Whose it is.
        began: When it seems to have begun, in microseconds since 1970 in UTC.
        found: When it was found.
        ratio: The part of what is usual that came when it was found.
        back: The evidence that it is as usual again.
        reason: One sentence.
        evidence: The numbers.
    """

    kind: Kind
    segment: Segment
    began: int
    found: int
    ratio: float
    back: float = 0.0
    reason: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[Kind, Segment]:
        """What tells it from others."""
        return self.kind, self.segment

    @property
    def is_new(self) -> bool:
        """Whether it is that a value is new."""
        return bool(self.evidence.get("is_new"))

    @property
    def is_silence(self) -> bool:
        """Whether it is that no rankings come at all of a segment."""
        return self.kind in SILENT_KINDS and not (self.is_new or self.segment.is_missing)


@dataclass(frozen=True, slots=True)
class UnusualTime(Stored):
    """A time in which the counts of a segment were not as usual, and nothing is learned from them.

    Args:
        kind: What was wrong.
        segment: The segment.
        since: When it began, in microseconds since 1970 in UTC.
        until: When it ended.
    """

    kind: Kind
    segment: Segment
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Restart(Stored):
    """A time from which on the counts of a segment are what is usual.

    Args:
        kind: The kind of watch.
        segment: The segment.
        since: The time, in microseconds since 1970 in UTC.
    """

    kind: Kind
    segment: Segment
    since: int


@dataclass(frozen=True, slots=True)
class RateDay(Stored):
    """The rankings and labels of a day that is final.

    Args:
        day: When it begins, in microseconds since 1970 in UTC.
        rankings: By model, the number of rankings.
        labelled: By model, how many of them have labels.
        empty: By model, how many of them have no relevant document.
        labels: By model and kind of label, the number of labels.
    """

    day: int
    rankings: Mapping[str, int]
    labelled: Mapping[str, int]
    empty: Mapping[str, int]
    labels: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataProgress(Progress):
    """What a rule about data remembers.

    Args:
        basis: Empty: nothing voids what is known of hours.
        first: When the first hour begins, in microseconds since 1970 in UTC.
        following: When the hour begins that is looked at next.
        counted: What is counted, in short; with another one everything is looked at anew. Empty
            before the first hour.
        since: The end of the first hour that was looked at since then.
        day: The first day that is not final yet.
        rates: The last days that are final.
        anomalies: What is not as usual.
        spans: What was not.
        restarts: What counts as usual from some time on.
        watched: How many streams are compared with what is usual.
        waits: Until when there is too little to compare with; 0 where there is enough.
    """

    basis: str
    first: int
    following: int
    counted: str = ""
    since: int = 0
    day: int = 0
    rates: tuple[RateDay, ...] = ()
    anomalies: tuple[Anomaly, ...] = ()
    spans: tuple[UnusualTime, ...] = ()
    restarts: tuple[Restart, ...] = ()
    watched: int = 0
    waits: int = 0

    @property
    def is_alert(self) -> bool:
        """Whether something is not as usual."""
        return bool(self.anomalies)

    def restart(
        self,
        keys: Collection[StreamKey],
        now: int,
        *,
        is_all: bool,  # noqa: ARG002 - what has no incident is usual already
    ) -> DataProgress:
        """Take what comes from now on for usual in some streams."""
        progress = self
        for kind, model, version, place in keys:
            progress = progress.accept(kind, Segment(model, version, place), -(-now // HOUR) * HOUR)
        return progress

    def find(self, kind: Kind, segment: Segment) -> Anomaly | None:
        """Find what is wrong with a segment."""
        return next((anomaly for anomaly in self.anomalies if anomaly.key == (kind, segment)), None)

    def list_unusual(
        self, concerns: Callable[[Kind, Segment], bool], now: int
    ) -> list[tuple[int, int]]:
        """List from when until when streams were not as usual: until now if that lasts."""
        over = [
            (span.since, span.until) for span in self.spans if concerns(span.kind, span.segment)
        ]
        lasting = [anomaly for anomaly in self.anomalies if concerns(*anomaly.key)]
        return [*over, *((one.began, now) for one in lasting)]

    def find_restart(self, concerns: Callable[[Kind, Segment], bool]) -> int:
        """Return from when on counts of streams are what is usual, as a person has said; else 0."""
        found = (
            restart.since for restart in self.restarts if concerns(restart.kind, restart.segment)
        )
        return max(found, default=0)

    def add(self, anomaly: Anomaly) -> DataProgress:
        """Add an anomaly, or replace the one of its stream."""
        others = [one for one in self.anomalies if one.key != anomaly.key]
        return replace(self, anomalies=tuple(sorted([*others, anomaly], key=lambda one: one.key)))

    def end(self, anomaly: Anomaly, until: int) -> DataProgress:
        """Remove an anomaly that is over; what came while it lasted is not learned from."""
        others = tuple(one for one in self.anomalies if one.key != anomaly.key)
        span = UnusualTime(anomaly.kind, anomaly.segment, anomaly.began, until)
        return replace(self, anomalies=others, spans=(*self.spans, span))

    def accept(self, kind: Kind, segment: Segment, since: int) -> DataProgress:
        """Take what came since a time for usual."""
        anomalies = tuple(anomaly for anomaly in self.anomalies if anomaly.key != (kind, segment))
        others = [
            restart
            for restart in self.restarts
            if (restart.kind, restart.segment) != (kind, segment)
        ]
        made = [*others, Restart(kind, segment, since)]
        return replace(self, anomalies=anomalies, restarts=tuple(made))

    def forget(self, before: int) -> DataProgress:
        """Forget what was over before a time."""
        return replace(
            self,
            spans=tuple(span for span in self.spans if span.until >= before),
            # What match nothing is intended, once a person has said so.
            restarts=tuple(
                restart
                for restart in self.restarts
                if restart.since >= before or restart.kind == "names"
            ),
            rates=tuple(one for one in self.rates if one.day >= before),
        )
