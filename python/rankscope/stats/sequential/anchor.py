"""The anchor: a long-term baseline that releases don't restart."""

from __future__ import annotations

from rankscope.records import record
from rankscope.stats.sequential.observations import DAY

LONGEST = 28 * DAY
"""The anchor is from at most this long."""

LEAST = 14 * DAY
"""It is from at least this long: two of each weekday."""


@record(frozen=True, slots=True)
class Anchor:
    """The time that the long-term baseline is from.

    Args:
        since: When it begins, in microseconds since 1970 in UTC.
        until: When it ends.
    """

    since: int
    until: int


def choose_anchor(first: int, before: int, longest: int = LONGEST) -> Anchor | None:
    """Return the time of the anchor: up to 28 days before the first period compared with it.

    The anchor has the rankings of all versions together. It is chosen once and stays, so that a
    stream that is compared with it finds many small losses that each release alone hides from a
    comparison with the version before. If a team accepts a lower level, a new anchor is chosen: the
    time before that.

    Examples:
        >>> choose_anchor(first=100 * DAY, before=160 * DAY) == Anchor(132 * DAY, 160 * DAY)
        True
        >>> choose_anchor(first=150 * DAY, before=160 * DAY) is None
        True
    """
    if before - first < LEAST:
        return None
    return Anchor(max(before - min(LONGEST, longest), first), before)
