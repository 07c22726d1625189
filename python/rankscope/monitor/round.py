"""One round of evaluation: windows, baseline and rules of a project."""

from __future__ import annotations

from rankscope.monitor.alerts.advance import advance_rules
from rankscope.monitor.definition.configuration import find_configuration
from rankscope.monitor.evaluate.refresh import refresh
from rankscope.monitor.events.times import to_datetime
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from rankscope.monitor.alerts.notify.alert import Alert
    from rankscope.monitor.store.store import Store


@record(frozen=True, slots=True, kw_only=True)
class Round:
    """What an evaluation has done.

    Args:
        as_of: The time as of which everything is up to date, in UTC.
        seq: The number of the last event that counts.
        hours: How many hours were summed again.
        rankings: How many rankings they have.
        later: How many more hours, none of them final, are to be summed later.
        periods: How many periods rules have looked at, counted once for each rule.
        alerts: How the states of rules have changed.
    """

    as_of: datetime
    seq: int
    hours: int
    rankings: int
    later: int
    periods: int
    alerts: tuple[Alert, ...]


def evaluate_project(
    store: Store,
    project: str,
    *,
    now: int,
    threads: int | None = None,
    is_thorough: bool = True,
) -> Round:
    """Compute the windows and the baseline of a project, and check its rules.

    Args:
        store: Where its events are.
        project: The name of the project.
        now: The current time, in microseconds since 1970 in UTC.
        threads: The number of threads; the result does not depend on it.
        is_thorough: Whether provisional hours are recomputed however large they are.

    Raises:
        UsageError: The project is not configured.
        FileError: The store cannot be written.
    """
    configuration = find_configuration(store, project)
    refreshed = refresh(
        store, project, configuration, now=now, threads=threads, is_thorough=is_thorough
    )
    advanced = advance_rules(
        store, project, configuration, refreshed.slicing, now=now, threads=threads
    )
    return Round(
        as_of=to_datetime(now),
        seq=refreshed.seq,
        hours=refreshed.hours,
        rankings=refreshed.rankings,
        later=refreshed.later,
        periods=advanced.periods,
        alerts=advanced.alerts,
    )
