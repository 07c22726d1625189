"""What the overview shows of all there is: a range of time, windows, a version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankscope.errors import UsageError
from rankscope.monitor.ask.series import LENGTHS, Every
from rankscope.monitor.ask.versions import list_versions
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.pages.page import read_configuration
from rankscope.monitor.store.records import Version

RANGES: Mapping[str, tuple[int | None, str]] = {
    "1d": (1, "1 day"),
    "7d": (7, "7 days"),
    "30d": (30, "30 days"),
    "90d": (90, "90 days"),
    "1y": (366, "1 year"),
    "all": (None, "all"),
}
"""How many days a range of time has, and what it is called."""
MOST_HOURS = 90
"""Hours are shown over so many days at most."""
CHOSEN = {
    "range": "The range of time to show.",
    "every": "The length of the windows.",
    "model": "Show only this model.",
    "version": "Show only this version.",
}
"""What addresses of pages say of these."""
WORDS = {"ranges": {name: words for name, (_, words) in RANGES.items()}}
MOST_LINES = 6
FULL = 100
"""An hour of fewer rankings says little on its own."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is asked for.

    Args:
        range: One of `RANGES` (default: chosen from the data).
        every: The length of windows (default: hours for up to a week with enough rankings, else
            days).
        model: Only this model.
        version: Only this version of it.
        measure: The measure whose slices are listed.
    """

    range: str | None = None
    every: Every | None = None
    model: str | None = None
    version: str | None = None
    measure: str | None = None


@dataclass(frozen=True, slots=True)
class Extent:
    """What is shown.

    Args:
        range: One of `RANGES`.
        every: How long windows are.
        since: When it begins, in microseconds since 1970 in UTC.
        until: When it ends.
        model: Only this model; all if `None`.
        version: Only this version of it.
        versions: The versions that were shown then.
    """

    range: str
    every: Every
    since: int
    until: int
    model: str | None
    version: str | None
    versions: tuple[Version, ...]

    @property
    def length(self) -> int:
        """How long windows are, in microseconds."""
        return LENGTHS[self.every]

    @property
    def whole(self) -> tuple[Every, int]:
        """The longest windows that it can be made of, and when the first of them begins.

        Days are 24 times as fast to add up as hours, so that more than two days begin with a whole
        one.
        """
        if self.until - self.since <= 2 * DAY:
            return "hour", self.since
        return "day", self.since - self.since % DAY

    @property
    def has_hours(self) -> bool:
        """Whether hours may be asked for."""
        return self.until - self.since <= (MOST_HOURS + 1) * DAY

    @property
    def lines(self) -> tuple[Version, ...]:
        """The versions that have lines of their own: those shown at a time, if there are several.

        Of too many, those with most rankings.
        """
        listed = [version for version in self.versions if not version.folded]
        ordered = sorted(listed, key=lambda version: version.first)
        is_mixed = any(
            other.first + self.length < version.last
            for at, version in enumerate(ordered)
            for other in ordered[at + 1 :]
        )
        if not is_mixed:
            return ()
        kept = sorted(ordered, key=lambda version: -version.rankings)[:MOST_LINES]
        return tuple(version for version in ordered if version in kept)


def read_extent(
    monitor: Monitor, choice: Choice, now: int
) -> tuple[Configuration | None, tuple[Version, ...], Extent]:
    """Read the configuration and the versions of a project, and choose what is shown of them."""
    configuration = read_configuration(monitor)
    versions = () if configuration is None else list_versions(monitor.store, monitor.project)
    return configuration, versions, choose_extent(choice, versions, now)


def choose_extent(choice: Choice, versions: Sequence[Version], now: int) -> Extent:
    """Choose what is shown: as a rule a week by hours, or a month by days where hours have little.

    All is shown where the last ranking is older.

    Examples:
        >>> extent = choose_extent(Choice("1d"), (), 10 * DAY + 1)
        >>> extent.every, extent.since // HOUR, extent.until // HOUR
        ('hour', 217, 241)
    """
    first = min((version.first for version in versions), default=now)
    last = max((version.last for version in versions), default=now)
    rankings = sum(version.rankings for version in versions)
    has_full_hours = rankings * HOUR >= FULL * (last - first)
    name = choice.range
    if name is None:
        name = "7d" if has_full_hours else "30d"
        if now - last >= (RANGES[name][0] or 0) * DAY:
            name = "all"
    if name not in RANGES:
        raise _bad(f"unknown range {name}; use one of: {', '.join(RANGES)}")
    days, _ = RANGES[name]
    span = max(now - first, DAY) if days is None else days * DAY
    is_short = span <= 7 * DAY and (has_full_hours or span <= DAY)
    every = choice.every or ("hour" if is_short else "day")
    if every not in LENGTHS:
        raise _bad(f"unknown window length {every}; use hour or day")
    if every == "hour" and span > MOST_HOURS * DAY:
        raise _bad(f"hours can be shown for at most {MOST_HOURS} days")
    length = LENGTHS[every]
    until = -(-now // length) * length
    since = (until - span) // length * length
    shown = tuple(
        version
        for version in versions
        if version.last > since
        and version.first < until
        and choice.model in {None, version.model}
        and choice.version in {None, version.version}
    )
    return Extent(name, every, since, until, choice.model, choice.version, shown)


def _bad(message: str) -> UsageError:
    return UsageError(message, hint="use the links above the charts", code="bad_period")
