"""How good the data is that values are made of: what was discarded, what is late, what is open."""

from __future__ import annotations

from rankscope.monitor.maturity import MaturityCurve
from rankscope.monitor.refreshing import read_slicing
from rankscope.monitor.series import COUNTED
from rankscope.monitor.stored_windows import add_cells, name_place, unpack_ages, unpack_cell
from rankscope.monitor.summing import AGES
from rankscope.monitor.times import format_time
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rankscope.monitor.configuration import Configuration
    from rankscope.monitor.store.protocol import Store
    from rankscope.monitor.store.window_table import HourRow


@record(frozen=True, slots=True, kw_only=True)
class Quality:
    """How good the data of a project is.

    Args:
        events: By reason, how many events were taken or discarded, ever.
        pending_labels: How many labels wait for a ranking that is not there.
        late: How many labels came after the attribution window of their ranking was closed.
        unshown: How many labels are of documents that their ranking did not show.
        folded: By attribute, how many values have no slice of their own.
        shown: By what is counted, how many rankings, or documents, of production; those of
            `Series`.
        curve: How soon labels came.
        newest: When the newest hour with rankings of production begins, in microseconds since 1970
            in UTC; `None` where there is none.
        as_of: As of when windows are up to date; `None` where they never were.
        behind: How many events came since.
        lost: How many events were acknowledged and are lost, as was accepted.
    """

    events: Mapping[str, int]
    pending_labels: int
    late: int
    unshown: int
    folded: Mapping[str, int]
    shown: Mapping[str, int]
    curve: MaturityCurve
    newest: int | None
    as_of: int | None
    behind: int
    lost: int

    def to_dict(self) -> dict[str, Any]:
        """Give what JSON can hold."""
        return {
            "events": dict(self.events),
            "pending_labels": self.pending_labels,
            "late": self.late,
            "unshown": self.unshown,
            "folded": dict(self.folded),
            "shown": dict(self.shown),
            "curve": {
                "ages_seconds": [age // 1_000_000 for age in self.curve.ages],
                "counts": list(self.curve.counts),
                "shares": list(self.curve.shares),
            },
            "newest": None if self.newest is None else format_time(self.newest),
            "as_of": None if self.as_of is None else format_time(self.as_of),
            "behind": self.behind,
            "lost": self.lost,
        }


def look_at_data(
    store: Store,
    project: str,
    configuration: Configuration,
    since: int | None = None,
    until: int | None = None,
) -> Quality:
    """Look at the data of a project.

    Args:
        store: Where events and windows are.
        project: The name of the project.
        configuration: How it is measured.
        since: From which hour on windows count, in microseconds since 1970 in UTC.
        until: Up to before which time.
    """
    digest = configuration.digest
    progress = store.progress(project, digest)
    rows = store.cells(project, digest, since, until, slice=name_place(()))
    cells = [unpack_cell(row) for row in rows if row.environment == "production"]
    hours = store.hours(project, digest, since, until)
    total = add_cells(cells)[0] if cells else None
    shown = {name: 0 if total is None else total.tally(name) for name in (*COUNTED, "refused")}
    return Quality(
        events=store.counters(project),
        pending_labels=store.count_pending(project),
        late=sum(hour.late for hour in hours),
        unshown=sum(hour.unshown for hour in hours),
        folded={} if progress is None else dict(read_slicing(progress.slicing).folded),
        shown=shown,
        curve=add_ages(hours),
        newest=max((one.key.start for one in cells), default=None),
        as_of=None if progress is None else progress.as_of,
        behind=store.last_seq - (0 if progress is None else progress.seq),
        lost=store.lost_events(),
    )


def add_ages(hours: Sequence[HourRow]) -> MaturityCurve:
    """Give how soon the labels of some hours came.

    Args:
        hours: What is kept of the hours.
    """
    ages = [unpack_ages(hour) for hour in hours] or [(0,) * (len(AGES) + 1)]
    return MaturityCurve(AGES, tuple(map(sum, zip(*ages, strict=True))))
