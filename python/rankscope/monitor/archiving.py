"""Moves hours whose values are final to files, and writes the values to files of their own."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import find_configuration
from rankscope.monitor.evaluate.values_files import write_missing_values
from rankscope.monitor.events.limits import HOUR, SECOND
from rankscope.monitor.events.times import format_time, read_moment, to_micros
from rankscope.monitor.store.records import Chosen
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.events.times import Time
    from rankscope.monitor.store.records import Archived, Deleted
    from rankscope.monitor.store.store import Store


EVERY = HOUR
"""How often a service archives a project, so that late labels do not write files again and again.
"""


def archive_project(store: Store, project: str, *, now: int, older_than: int = 0) -> Archived:
    """Move the hours to files in which the attribution window of every ranking is closed.

    Files with the values of their rankings are written as well, and again for earlier hours if
    the definition has changed.
    """
    definition = find_configuration(store, project).definition
    before = now - definition.window * SECOND
    done = store.archive(project, before - older_than)
    values = write_missing_values(store, project, definition, before=before - HOUR)
    return replace(done, values=values.hours, bytes=done.bytes + values.bytes)


def erase_rankings(store: Store, project: str, chosen: Chosen, *, now: int) -> Deleted:
    """Delete rankings with all their labels, and their values in all files."""
    done = store.erase(project, chosen)
    if done.rankings and store.configuration(project) is not None:
        definition = find_configuration(store, project).definition
        before = now - definition.window * SECOND - HOUR
        write_missing_values(store, project, definition, before=before, is_new=True)
    return done


class ArchiveSchedule:
    """Says when a service has to archive a project again.

    Args:
        older_than: For how long attribution windows have to be closed, in microseconds; `None`
            where nothing is archived.

    Examples:
        >>> schedule = ArchiveSchedule(0)
        >>> [schedule.is_due("music", now) for now in (0, HOUR - 1, HOUR)]
        [True, False, True]
    """

    def __init__(self, older_than: int | None) -> None:
        self.older_than = older_than
        self._last: dict[str, int] = {}

    def is_due(self, project: str, now: int) -> bool:
        """Return whether to archive a project now, and note that it is done."""
        if self.older_than is None or now - self._last.get(project, now - EVERY) < EVERY:
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
