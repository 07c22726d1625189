"""One round of evaluation: what it has done."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.alerts.alert import Alert


@record(frozen=True, slots=True, kw_only=True)
class Round:
    """What one evaluation has done.

    Args:
        as_of: The moment as of which all is up to date, in microseconds since 1970 in UTC.
        seq: The number of the last event that counts.
        hours: How many hours were summed again.
        rankings: How many rankings they have.
        periods: How many periods rules have looked at, counted once for each rule.
        alerts: How the states of rules have changed.
    """

    as_of: int
    seq: int
    hours: int
    rankings: int
    periods: int
    alerts: tuple[Alert, ...]
