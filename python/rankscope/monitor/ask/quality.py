"""Data quality: which events were discarded, and what is late or pending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from rankscope.monitor.ask.series import COUNTED
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.stored_windows import (
    AGES,
    MaturityCurve,
    StoredCell,
    add_cells,
    count_labels,
    name_place,
    unpack_ages,
    unpack_cells,
    unpack_folded,
)
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.mismatch import PRODUCTION, Mismatch, NameCounts
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.plain import write_record
from rankscope.monitor.store.records import HourRow
from rankscope.monitor.store.store import StoreReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """The quality of the data of a project.

    Args:
        events: By reason, how many events were taken or discarded, ever.
        pending_labels: How many labels wait for a ranking that is not there.
        late: How many labels came after the attribution window of their ranking was closed.
        unshown: How many labels are of documents that their ranking did not show.
        folded: By attribute, how many values have no slice of their own.
        folded_versions: How many versions are summed as `<other>` in the hour with most of them.
        folded_rankings: How many rankings of production are of such versions.
        shown: By what is counted, how many rankings, or documents, of production; those of
            `Series`.
        curve: How soon labels came.
        newest: When the newest hour with rankings of production begins, in UTC; `None` where there
            is none.
        as_of: The time as of which windows are up to date; `None` where they never were.
        behind: How many events came since.
        lost: How many events were acknowledged and are lost, as was accepted.
    """

    events: Mapping[str, int]
    pending_labels: int
    late: int
    unshown: int
    folded: Mapping[str, int]
    folded_versions: int
    folded_rankings: int
    shown: Mapping[str, int]
    curve: MaturityCurve
    newest: datetime | None
    as_of: datetime | None
    behind: int
    lost: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        seconds = [age // timedelta(seconds=1) for age in self.curve.ages]
        counts, shares = list(self.curve.counts), list(self.curve.shares)
        curve = {"ages_seconds": seconds, "counts": counts, "shares": shares}
        return write_record(self) | {"curve": curve}


def inspect_data(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    since: int | None = None,
    until: int | None = None,
) -> Quality:
    """Report on the data of a project."""
    digest = configuration.digest
    progress = store.progress(project, digest)
    cells = _read_cells(store, project, digest, since, until)
    hours = store.hours(project, digest, since, until)
    folded = [unpack_folded(hour) for hour in hours]
    total = add_cells(cells)[0] if cells else None
    newest = _find_newest(store, project, digest, cells, until)
    shown = {name: 0 if total is None else total.tally(name) for name in (*COUNTED, "refused")}
    return Quality(
        events=store.counters(project),
        pending_labels=store.count_pending(project),
        late=sum(hour.late for hour in hours),
        unshown=sum(hour.unshown for hour in hours),
        folded={} if progress is None else dict(Slicing.from_json(progress.slicing).folded),
        folded_versions=max((version.versions for version in folded), default=0),
        folded_rankings=sum(version.rankings for version in folded),
        shown=shown,
        curve=add_ages(hours),
        newest=None if newest is None else to_datetime(newest),
        as_of=None if progress is None else to_datetime(progress.as_of),
        behind=store.last_seq - (0 if progress is None else progress.seq),
        lost=store.lost_events(),
    )


def _read_cells(
    store: StoreReader, project: str, digest: bytes, since: int | None, until: int | None
) -> list[StoredCell]:
    """Read the windows of production, by day where the span consists of days, as they are fewer."""
    has_days = not any(time % DAY for time in (since, until) if time is not None)
    rows = store.cells(
        project, digest, since, until, length=DAY if has_days else HOUR, slice=name_place(())
    )
    return list(unpack_cells(row for row in rows if row.environment == "production"))


def _find_newest(
    store: StoreReader, project: str, digest: bytes, cells: Sequence[StoredCell], until: int | None
) -> int | None:
    """Find the start of the newest hour that has rankings of production."""
    newest = max((cell.key.start for cell in cells), default=None)
    if newest is None:
        return None
    rows = store.cells(project, digest, newest, until, slice=name_place(()))
    return max(row.start for row in rows if row.environment == "production")


def add_ages(hours: Sequence[HourRow]) -> MaturityCurve:
    """Return how long after their rankings the labels of some hours happened."""
    ages = [unpack_ages(hour) for hour in hours] or [(0,) * (len(AGES) + 1)]
    return MaturityCurve(
        tuple(timedelta(microseconds=age) for age in AGES), tuple(map(sum, zip(*ages, strict=True)))
    )


def find_mismatches(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    since: int,
    until: int,
    *,
    hours: Sequence[HourRow],
) -> tuple[Mismatch, ...]:
    """Compare the names in the rankings of a span, and in their labels, with the configuration.

    Args:
        store: The store.
        project: The name of the project.
        configuration: Its configuration.
        since: The first time of a ranking.
        until: The time before which rankings are.
        hours: What is stored of the hours of the span.
    """
    names = NameCounts()
    contexts = store.contexts(project)
    for _, number, count in store.count_by_hour(project, since, until):
        context = contexts.get(number)
        if context is not None and context.environment == PRODUCTION:
            names.add_rankings((name for name, _ in context.attributes), count)
    for kind, number in count_labels(hours).items():
        names.add_labels(kind.labels, number)
    unshown = sum(hour.unshown for hour in hours)
    names.add_placed(max(names.named, unshown), unshown)
    return names.compare(configuration.expected)
