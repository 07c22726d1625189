"""When a weekly digest is due: a weekday, a time of day, and a time zone."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from rankscope.errors import UsageError
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.names import quote
from rankscope.records import record

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
FORM = re.compile(r"([a-z]+) ([01]\d|2[0-3]):([0-5]\d)(?: ([A-Za-z0-9_+/-]{1,64}))?", re.ASCII)


@record(frozen=True, slots=True)
class Weekly:
    """A time of each week.

    Args:
        weekday: The day, 0 for Monday.
        hour: The hour.
        minute: The minute.
        zone: The time zone, as IANA names it.
    """

    weekday: int
    hour: int
    minute: int
    zone: str = "UTC"

    def find_last(self, now: int) -> tuple[int, int]:
        """Return the last such time by now, and the one a week before, by the local clock.

        Examples:
            >>> from rankscope.monitor.events.times import describe_time, read_time
            >>> now, _ = read_time("2026-10-26T08:00:00Z", "")
            >>> last = read_weekly("monday 09:00 Europe/Berlin").find_last(now)
            >>> [describe_time(each) for each in last]
            ['26 Oct 2026, 08:00 UTC', '19 Oct 2026, 07:00 UTC']
        """
        local = to_datetime(now).astimezone(ZoneInfo(self.zone))
        day = local.date() - timedelta(days=(local.weekday() - self.weekday) % 7)
        last = self._at(day)
        if last > now:
            day -= timedelta(days=7)
            last = self._at(day)
        return last, self._at(day - timedelta(days=7))

    def _at(self, day: object) -> int:
        moment = datetime.fromisoformat(f"{day}T{self.hour:02}:{self.minute:02}")
        return to_micros(moment.replace(tzinfo=ZoneInfo(self.zone)))


def read_weekly(text: object) -> Weekly:
    """Read a time such as `monday 09:00 Europe/Berlin`; without a time zone it is in UTC."""
    match = FORM.fullmatch(text) if isinstance(text, str) else None
    if match is not None and match[1] in WEEKDAYS:
        zone = match[4] or "UTC"
        try:
            ZoneInfo(zone)
        except (KeyError, ValueError, OSError):
            pass  # no such zone, or a name that is none
        else:
            return Weekly(WEEKDAYS.index(match[1]), int(match[2]), int(match[3]), zone)
    raise UsageError(
        f"expected a weekday, a time and a time zone, found {quote(str(text)[:80])}",
        hint='write "monday 09:00 Europe/Berlin"',
        code="bad_channels",
    )
