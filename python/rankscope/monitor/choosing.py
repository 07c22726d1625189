"""Reads which rankings somebody wants to delete."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.monitor.events.times import format_time, read_moment, to_micros
from rankscope.monitor.store.records import Chosen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.events.times import Time


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
