"""Whether a fall is one of all users, or is made by one of them or by a group that is alike."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankscope._core import t_quantile
from rankscope.monitor.sequential.baseline import Baseline
from rankscope.monitor.sequential.observations import DAY, FIRST_WEEKDAY, HOUR, WEEK, Observations

LEVEL = 0.005
"""The probability that users whose quality wanders confirm a fall, at most, at one moment."""
WITHOUT_LEVEL = 0.01
"""The same without the group that contributes most, where a fall must also be half as large."""
KEPT = 0.5
MOST_GROUPS = 5
"""So many groups, those that contribute most, are looked at."""
HOURS = 24
FEWEST = 3
"""With fewer users than this, nobody can say whether a fall is one of all."""
RETURNING = 0.5
"""Users who were in the baseline have this share of the rankings, for others to be newcomers."""
NOBODY, NEWCOMERS = -1, -2


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What each user adds up to, in the order of their numbers.

    Args:
        user: The numbers of the users, ascending, each once.
        count: By user, for how many days they count, or how much.
        gap: By user, the sum of the gaps between what was expected and what was seen.
    """

    user: NDArray[np.int64]
    count: NDArray[np.float64]
    gap: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a fall is one of all users.

    Args:
        state: `confirmed`; `group` where users who are alike make it, or one user does; `few` where
            users vary too much to tell yet.
        fall: By how much all of them fell, since the baseline.
        error: Its standard error over users.
        users: How many users the group has that makes the fall.
        group: Which one: the number of a signature, `NEWCOMERS`, or `NOBODY` for one user.
        without: By how much the others fell; NaN where there is no such group.
    """

    state: Literal["confirmed", "group", "few"]
    fall: float
    error: float
    users: int = 0
    group: int = NOBODY
    without: float = math.nan


def add_days(user: NDArray[np.int64], day: NDArray[np.int64], gap: NDArray[np.float64]) -> Totals:
    """Add up the gaps of rankings by user: all rankings of a user on a day count as one."""
    kept = ~np.isnan(gap)
    user, day, gap = user[kept], day[kept], gap[kept]
    order = np.lexsort((gap, day, user))
    user, day, gap = user[order], day[order], gap[order]
    if not len(user):
        return Totals(user=user, count=np.zeros(0), gap=np.zeros(0))
    starts = np.flatnonzero(np.r_[True, (user[1:] != user[:-1]) | (day[1:] != day[:-1])])
    means = np.add.reduceat(gap, starts) / np.diff(starts, append=len(gap))
    users, places = np.unique(user[starts], return_inverse=True)
    return Totals(
        user=users,
        count=np.bincount(places).astype(np.float64),
        gap=np.bincount(places, means).astype(np.float64),
    )


def confirm_fall(
    before: Totals, since: Totals, signature: NDArray[np.int64] | None = None
) -> Verdict:
    """Confirm a fall with users as units, over the whole time since it began.

    A user's part is their own change: what they contribute to the mean since, less what they do to
    that of the baseline. So users who differ, but stay as they are, add no error, and users who
    wander add theirs once, however many days they come.

    Args:
        before: What the users of the baseline add up to.
        since: What the users since the fall began add up to.
        signature: By user of `since`, a number that users with one pattern share, or `NOBODY`.

    Examples:
        >>> import numpy as np
        >>> users, draw = np.arange(100), np.random.default_rng(1)
        >>> def add(gap):
        ...     return Totals(user=users, count=np.full(100, 9.0), gap=9 * gap)
        >>> usual = draw.normal(0, 0.05, 100)
        >>> confirm_fall(add(usual), add(usual + draw.normal(0.05, 0.02, 100))).state
        'confirmed'
        >>> bots = np.where(users < 40, 0.2, 0.0)
        >>> signature = np.where(users < 40, 7, NOBODY)
        >>> found = confirm_fall(add(usual), add(usual + bots), signature)
        >>> found.state, found.users, found.group
        ('group', 40, 7)
    """
    fall, error, bound = _estimate(before, since, LEVEL)
    if not fall > bound:
        return Verdict(state="few", fall=fall, error=error)
    codes = np.full(len(since.user), NOBODY) if signature is None else signature
    is_known = np.isin(since.user, before.user)
    total = since.count.sum()
    groups = [(int(code), codes == code) for code in np.unique(codes[codes >= 0])]
    if since.count[is_known].sum() >= RETURNING * total:
        groups.append((NEWCOMERS, ~is_known))
    groups.append((NOBODY, np.arange(len(since.user)) == int(np.argmax(since.gap))))
    groups = [(code, is_in) for code, is_in in groups if 0 < since.count[is_in].sum() < total]
    groups.sort(key=lambda one: -float(since.gap[one[1]].sum()))
    for code, is_in in groups[:MOST_GROUPS]:
        others = _without(since, is_in)
        gone = since.user[is_in]
        rest = _without(before, np.isin(before.user, gone))
        left, _, needed = _estimate(rest, others, WITHOUT_LEVEL)
        if not (left > needed and left >= KEPT * fall):
            return Verdict(
                state="group",
                fall=fall,
                error=error,
                users=int(is_in.sum()),
                group=code,
                without=left,
            )
    return Verdict(state="confirmed", fall=fall, error=error)


def _without(totals: Totals, is_gone: NDArray[np.bool_]) -> Totals:
    kept = ~is_gone
    return Totals(user=totals.user[kept], count=totals.count[kept], gap=totals.gap[kept])


def _estimate(before: Totals, since: Totals, level: float) -> tuple[float, float, float]:
    """Return the fall, its error over users, and what it must exceed to be one."""
    if len(since.user) < FEWEST:
        return math.nan, math.nan, math.inf
    users = np.union1d(before.user, since.user)
    parts = np.zeros(len(users))
    means = [0.0, 0.0]
    for at, (totals, sign) in enumerate(((since, 1.0), (before, -1.0))):
        if not len(totals.user):
            # The log has the baseline no more: what was expected is taken for known.
            continue
        size = totals.count.sum()
        mean = float(totals.gap.sum() / size)
        means[at] = mean
        parts[np.searchsorted(users, totals.user)] += (
            sign * (totals.gap - mean * totals.count) / size
        )
    squares = parts**2
    error = math.sqrt(float(squares.sum()) * len(users) / (len(users) - 1))
    # A few users with most of the variance are few users.
    free = float(squares.sum()) ** 2 / float((squares**2).sum()) if error else math.inf
    free = max(min(free, len(users) - 1), 1.0)
    return means[0] - means[1], error, t_quantile(1 - 2 * level, int(free)) * error


def expect(baseline: Baseline, seen: Observations) -> NDArray[np.float64]:
    """Return what a baseline expects of each ranking."""
    expected = baseline.cells.expect(seen.cells)[seen.cell]
    if baseline.weekdays:
        weekday = (seen.time // DAY + FIRST_WEEKDAY) % WEEK
        expected = expected + np.array(baseline.weekdays)[weekday]
    if baseline.hours:
        expected = expected + np.array(baseline.hours)[seen.time // HOUR % HOURS]
    return np.clip(expected, 0.0, 1.0)


SEQUENCE = 5
"""Users have one pattern if their first so many queries are the same, in the same order."""
DIFFERENT = 3
"""So many of these queries are different ones: many people have no other query than one."""
FEWEST_ALIKE = 3


def sign_users(
    user: NDArray[np.int64], time: NDArray[np.int64], query: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the users, ascending, and for each the number of its pattern, or `NOBODY` for none.

    Args:
        user: By ranking, whose it is.
        time: By ranking, when it was shown.
        query: By ranking, a number of its query; negative where it has none.

    Examples:
        >>> user = np.repeat(np.arange(4), 6)
        >>> query = np.tile([1, 2, 3, 4, 5, 6], 4)
        >>> query[18:] = [6, 5, 4, 3, 2, 1]
        >>> sign_users(user, np.arange(24), query)[1].tolist()
        [0, 0, 0, -1]
    """
    order = np.lexsort((query, time, user))
    user, query = user[order], query[order]
    users, starts, counts = np.unique(user, return_index=True, return_counts=True)
    signed = np.full(len(users), NOBODY)
    long = np.flatnonzero(counts >= SEQUENCE)
    if not len(long):
        return users, signed
    first = query[starts[long][:, None] + np.arange(SEQUENCE)]
    ordered = np.sort(first, axis=1)
    different = 1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    is_pattern = (different >= DIFFERENT) & (ordered[:, 0] >= 0)
    _, code, alike = np.unique(first, axis=0, return_inverse=True, return_counts=True)
    code = code.reshape(-1)
    signed[long] = np.where(is_pattern & (alike[code] >= FEWEST_ALIKE), code, NOBODY)
    return users, signed
