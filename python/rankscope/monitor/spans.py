"""Spans: which rankings a window of a comparison has."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.monitor.contexts import find_contexts
from rankscope.monitor.events import ENVIRONMENTS
from rankscope.monitor.limits import DAY, HOUR, MINUTE, SECOND
from rankscope.monitor.times import format_time
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankscope.monitor.definition import Definition
    from rankscope.monitor.events import Environment
    from rankscope.monitor.store.chunks import Context
    from rankscope.monitor.store.protocol import Version

WEEK = 7 * DAY


@record(frozen=True, slots=True)
class Span:
    """The rankings of a time, of one version or of all, or a set that was uploaded.

    Args:
        since: From which time on, in microseconds since 1970 in UTC; from the first if `None`.
        until: Up to before which time; to the last if `None`.
        model: The model that ranked; any if `None`.
        version: Its version; any if `None`.
        environment: Where the rankings were made. Of a set all labels count; in production, those
            of rankings whose attribution window is closed.

    Raises:
        UsageError: It is over before it begins, or there is no such environment.

    Examples:
        >>> Span(0, 86_400_000_000, version="4").name
        'version 4, 1970-01-01 00:00 to 1970-01-02 00:00 UTC'
        >>> Span(environment="validation").name
        'validation'
    """

    since: int | None = None
    until: int | None = None
    model: str | None = None
    version: str | None = None
    environment: Environment = "production"

    def __post_init__(self) -> None:
        if self.environment not in ENVIRONMENTS:
            raise UsageError(
                f"expected one of {', '.join(ENVIRONMENTS)}, found {self.environment!r:.120}",
                hint="leave environment out for production",
                code="bad_period",
            )
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise UsageError(
                "expected a span that begins before it is over, found one from "
                f"{_write(self.since)} to {_write(self.until)}",
                hint="exchange since and until",
                code="bad_period",
            )

    @property
    def is_set(self) -> bool:
        """Whether it is a set that was uploaded, whose labels all count."""
        return self.environment != "production"

    @property
    def name(self) -> str:
        """It as people read it."""
        what: list[str] = [self.environment] if self.is_set else []
        what += [f"model {self.model}"] if self.model is not None else []
        what += [f"version {self.version}"] if self.version is not None else []
        if self.since is not None and self.until is not None:
            what.append(f"{_write(self.since)} to {_write(self.until)} UTC")
        elif self.since is not None:
            what.append(f"since {_write(self.since)} UTC")
        elif self.until is not None:
            what.append(f"before {_write(self.until)} UTC")
        return ", ".join(what) or "all of production"

    def choose(self, contexts: Mapping[int, Context]) -> dict[int, Context]:
        """Choose what its rankings may have in common."""
        return find_contexts(contexts, self.environment, self.model, self.version)

    def narrow(self, versions: Iterable[Version]) -> tuple[int, int] | None:
        """Give the time that has to be read for its rankings: from when, and to before when.

        Args:
            versions: The versions that have rankings.

        Returns:
            `None` where it has no rankings.
        """
        mine = [
            each
            for each in versions
            if each.environment == self.environment and each.may_be(self.model, self.version)
        ]
        if not mine:
            return None
        since, until = min(each.first for each in mine), max(each.last for each in mine) + 1
        since = since if self.since is None else max(since, self.since)
        until = until if self.until is None else min(until, self.until)
        return (since, until) if since < until else None

    def to_dict(self) -> dict[str, object]:
        """Give all of it as texts; times as in RFC 3339."""
        return {
            "name": self.name,
            "since": None if self.since is None else format_time(self.since),
            "until": None if self.until is None else format_time(self.until),
            "model": self.model,
            "version": self.version,
            "environment": self.environment,
        }


def suggest_spans(
    versions: Iterable[Version], definition: Definition, now: int
) -> tuple[Span, Span] | None:
    """Suggest what to compare where nobody says.

    The newest version of a model is held against the one before it: its last week, as far as
    attribution windows are closed, against the last week before it came. Where no version is the
    second of its model, the last week is held against the one before; where there are not two
    weeks, the second half of the time that there is against the first.

    Args:
        versions: The versions that have rankings, as `Store.versions` lists them.
        definition: How long labels count.
        now: The moment, in microseconds since 1970 in UTC.

    Returns:
        The span before and the one after; `None` where production has no mature rankings, or none
        but those of one hour.
    """
    closed = now - definition.window * SECOND + 1
    seen = [each for each in versions if each.environment == "production" and each.first < closed]
    listed = [each for each in seen if not each.folded]
    by_age = sorted(listed, key=lambda each: (each.first, each.version))
    for place in range(len(by_age) - 1, 0, -1):
        newest = by_age[place]
        older = [each for each in by_age[:place] if each.model == newest.model]
        if older:
            return _compare_versions(older[-1], newest, closed)
    if not seen:
        return None
    first = _floor(min(each.first for each in seen))
    until = _floor(min(closed, _ceil(max(each.last for each in seen) + 1)))
    length = min(WEEK, _floor((until - first) // 2))
    if length < HOUR:
        return None
    return Span(until - 2 * length, until - length), Span(until - length, until)


def _compare_versions(older: Version, newest: Version, closed: int) -> tuple[Span, Span]:
    came = _floor(newest.first)
    until = min(closed, _ceil(newest.last + 1))
    until = max(_floor(until), min(until, came + HOUR))
    after = Span(max(came, until - WEEK), until, newest.model, newest.version)
    ended = _ceil(min(newest.first, older.last + 1))
    began = max(_floor(older.first), ended - WEEK)
    # Where both came at once, they are held against each other side by side.
    if began >= ended:
        return Span(after.since, after.until, older.model, older.version), after
    return Span(began, ended, older.model, older.version), after


def _floor(time: int) -> int:
    """The beginning of its hour."""
    return time - time % HOUR


def _ceil(time: int) -> int:
    """The end of its hour; the time itself where an hour begins."""
    return -_floor(-time)


def _write(time: int) -> str:
    """Write a time as short as it can be said."""
    day, clock = format_time(time)[:10], format_time(time)[11:-1]
    shown = 5 if time % MINUTE == 0 else 8 if time % SECOND == 0 else len(clock)
    return f"{day} {clock[:shown]}"
