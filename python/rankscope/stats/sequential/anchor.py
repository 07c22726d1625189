"""The anchor: a long-term baseline that releases don't restart."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DAYS = 28
"""The anchor is measured over so many days with data."""

FEWEST_DAYS = 7
"""With fewer days, there is no anchor yet."""


@record(frozen=True, slots=True)
class Anchor:
    """The days that are the long-term baseline.

    Args:
        first: The first day, counted from 1970 in UTC.
        until: The day after the last.
    """

    first: int
    until: int


def choose_anchor(rankings: Mapping[int, int], before: int, since: int = 0) -> Anchor | None:
    """Return the days of the anchor: the first 28 days with data of all versions together.

    The anchor is chosen once and stays. A stream that is compared with it finds many small losses
    that each release alone hides from a comparison with the version before. If a team accepts a
    lower level, it sets a new anchor: the days since then.

    Args:
        rankings: The number of rankings by day, counted from 1970 in UTC.
        before: The day before which the days of the anchor have to end, because what comes from
            then on is compared with it.
        since: The first day that may be in the anchor, such as the day on which a lower level was
            accepted.

    Returns:
        The days, or `None` if there are fewer than 7 with data.

    Raises:
        UsageError: The anchor would end before it begins.

    Examples:
        >>> choose_anchor({day: 100 for day in range(100, 160)}, before=160)
        Anchor(first=100, until=128)
        >>> choose_anchor({100: 100}, before=160) is None
        True
    """
    if before < since:
        raise UsageError(
            f"the anchor can't begin on day {since} and end before day {before}",
            hint="choose an earlier beginning",
            code="bad_anchor",
        )
    days = sorted(day for day, count in rankings.items() if count > 0 and since <= day < before)
    if len(days) < FEWEST_DAYS:
        return None
    last = days[min(len(days), DAYS) - 1]
    return Anchor(days[0], last + 1)
