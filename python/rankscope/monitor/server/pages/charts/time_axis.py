"""The axis of time under a chart: whole hours, days, months or years in UTC."""

from __future__ import annotations

from datetime import MAXYEAR, UTC, datetime, timedelta

from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import EPOCH, MICROSECOND
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS = (HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY)
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 1200, 12000)
MONTH = 30 * DAY
MOST = 8
"""How many ticks there are at most."""
MONDAY = 4 * DAY
"""The first Monday after the beginning of 1970: weeks are counted from it."""


@record(frozen=True, slots=True)
class Tick:
    """A moment on the axis.

    Args:
        place: Where it lies, from 0 to 100.
        text: What stands below it.
    """

    place: float
    text: str


@record(frozen=True, slots=True)
class TimeAxis:
    """A scale from one moment to another, in microseconds since 1970 in UTC.

    Args:
        since: Its left end.
        until: Its right end.

    Examples:
        >>> axis = TimeAxis(0, 2 * DAY)
        >>> [tick.text for tick in axis.ticks]
        ['1 Jan', '06:00', '12:00', '18:00', '2 Jan', '06:00', '12:00', '18:00', '3 Jan']
        >>> axis.place(DAY)
        50.0
    """

    since: int
    until: int

    def place(self, time: int) -> float:
        """Return the place of a moment on the axis, from 0 to 100."""
        share = (time - self.since) / (self.until - self.since)
        return round(100 * min(max(share, 0.0), 1.0), 3)

    @property
    def step(self) -> int | None:
        """How far ticks are apart, in microseconds; `None` where they are months or years."""
        span = self.until - self.since
        return next((step for step in STEPS if span <= MOST * step), None)

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Round moments on it."""
        step = self.step
        if step is None:
            return tuple(self._list_months(self.until - self.since))
        # Days and less are counted from midnight, weeks from Mondays.
        origin = MONDAY if step % (7 * DAY) == 0 else 0
        first = -(-(self.since - origin) // step) * step + origin
        return tuple(
            Tick(self.place(time), _write(time)) for time in range(first, self.until + 1, step)
        )

    def _list_months(self, span: int) -> Iterator[Tick]:
        step = next(months for months in MONTHS if span <= MOST * months * MONTH)
        start = _read(self.since)
        months = 12 * start.year + start.month - 1
        if start > datetime(start.year, start.month, 1, tzinfo=UTC):
            months += 1
        months = -(-months // step) * step
        while months // 12 <= MAXYEAR:
            at = datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC)
            time = (at - EPOCH) // MICROSECOND
            if time > self.until:
                return
            yield Tick(self.place(time), f"{at:%Y}" if step >= 12 else f"{at:%b %Y}")
            months += step


def _write(time: int) -> str:
    at = _read(time)
    return f"{at:%H:%M}" if time % DAY else f"{at.day} {at:%b}"


def _read(time: int) -> datetime:
    return EPOCH + timedelta(microseconds=time)
