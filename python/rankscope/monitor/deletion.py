"""Deletes events that are old, or of some rankings."""

from __future__ import annotations

from collections.abc import Sequence

from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import find_configuration
from rankscope.monitor.events.limits import HOUR, SECOND
from rankscope.monitor.events.times import Time, count_micros, format_time, read_moment, to_micros
from rankscope.monitor.store.records import Chosen, Deleted
from rankscope.monitor.store.store import Store

EVERY = HOUR
"""How often a service tidies a project: retention is by hour."""


def delete_before(store: Store, project: str, time: int, *, now: int) -> Deleted:
    """Delete the events of the hours before a time; see `Monitor.delete_before`."""
    until = time - time % HOUR
    text = store.configuration(project)
    if text is not None:
        configuration = find_configuration(store, project)
        progress = store.progress(project, configuration.digest)
        known = 0 if progress is None else progress.as_of
        if until + configuration.definition.window * SECOND > min(known, now):
            raise UsageError(
                "expected a time whose values were final at the last evaluation, found "
                f"{format_time(time)}",
                hint="evaluate first, or keep events longer: their values would stay as they are "
                "now",
                code="open_windows",
            )
    return store.delete_before(project, until)


def tidy_project(store: Store, project: str, *, now: int) -> None:
    """Delete the events of a project that are older than its retention."""
    retention = find_configuration(store, project).retention
    if retention is not None:
        time = now - count_micros(retention)
        if (store.deleted_before(project) or 0) < time - time % HOUR:
            delete_before(store, project, time, now=now)


class TidySchedule:
    """Says when a service has to tidy a project again.

    Examples:
        >>> schedule = TidySchedule()
        >>> [schedule.is_due("music", now) for now in (0, HOUR - 1, HOUR)]
        [True, False, True]
    """

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def is_due(self, project: str, now: int) -> bool:
        """Return whether to tidy a project now, and note that it is done."""
        if now - self._last.get(project, now - EVERY) < EVERY:
            return False
        self._last[project] = now
        return True


def choose_rankings(
    *,
    user: str | None,
    rankings: str | Sequence[str] | None,
    since: Time | None,
    until: Time | None,
) -> Chosen:
    """Return which rankings are chosen; see `Monitor.delete`.

    Examples:
        >>> choose_rankings(user="u17", rankings="r1", since=None, until=None)
        Chosen(user_id='u17', ranking_ids=('r1',), since=None, until=None)
    """
    ids = (rankings,) if isinstance(rankings, str) else rankings
    chosen = Chosen(
        user_id=user,
        ranking_ids=None if ids is None else tuple(ids),
        since=None if since is None else to_micros(read_moment(since, "since")),
        until=None if until is None else to_micros(read_moment(until, "until")),
    )
    if user == "":
        raise UsageError(
            "the user is empty, which would delete all rankings without a user",
            hint="pass the user_id of the rankings",
            code="usage",
        )
    if chosen == Chosen():
        raise UsageError(
            "nothing says which rankings to delete",
            hint="pass user, rankings, since or until",
            code="usage",
        )
    if chosen.since is not None and chosen.until is not None and chosen.since >= chosen.until:
        raise UsageError(
            "the time range ends before it begins: "
            f"{format_time(chosen.since)} to {format_time(chosen.until)}",
            hint="swap since and until",
            code="bad_period",
        )
    return chosen


def describe_chosen(chosen: Chosen) -> str:
    """Describe which rankings are deleted for the audit log, which isn't to keep a user's ID.

    Examples:
        >>> describe_chosen(Chosen(user_id="u17", since=0))
        'rankings of one user from 1970-01-01T00:00:00.000000Z'
        >>> describe_chosen(Chosen(ranking_ids=("r1", "r2")))
        '2 rankings by ID'
    """
    count = len(chosen.ranking_ids or ())
    parts = [
        "rankings" if chosen.ranking_ids is None else f"{count} ranking{'s'[: count != 1]} by ID",
        "" if chosen.user_id is None else "of one user",
        "" if chosen.since is None else f"from {format_time(chosen.since)}",
        "" if chosen.until is None else f"until {format_time(chosen.until)}",
    ]
    return " ".join(part for part in parts if part)
