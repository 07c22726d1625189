"""Users whose rate or pattern is unlike people: what is odd about them, for a person to decide."""

from __future__ import annotations

from rankscope import _core
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.monitor.definition.definition import MOST_LEFT_OUT
from rankscope.monitor.evaluate.clusters import list_texts
from rankscope.monitor.evaluate.grades import grade_chunk, read_integers
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import describe_time, to_datetime
from rankscope.monitor.plain import write_record
from rankscope.monitor.sequential.identities import sign_users
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.store.records import Chunk
    from rankscope.monitor.store.store import StoreReader

MOST_DAYS = 31
MOST_RANKINGS = 500_000
"""So many rankings are read, the newest, which takes 100 MB of memory."""
MOST_FOUND = 200
LEAST_RATE, TIMES = 120, 5
"""Rankings in an hour: so many, and so many times as many as 99 % of users have at most."""
MOST_HOURS = 21
"""In so many different hours of one day, nobody uses a service: people sleep."""
STEADY, FEWEST_GAPS = 0.05, 30
"""Times that are regular: their gaps vary by so little, as a part of their mean."""
FEWEST_RANKINGS, MOST_LABELLED = 20, 0.9
"""Labels on everything: on so many of the documents."""
FEWEST_LABELS = 30
"""Labels on a fixed rank, other than the first: so many, without any on another rank."""


@record(frozen=True, slots=True, kw_only=True)
class OddUser:
    """A user who is unlike people.

    Args:
        user_id: Who.
        rankings: How many rankings they have.
        facts: What is odd about them, a sentence each; empty for one who is left out only.
        is_left_out: Whether they are left out.
    """

    user_id: str
    rankings: int
    facts: tuple[str, ...]
    is_left_out: bool


@record(frozen=True, slots=True, kw_only=True)
class BotReport:
    """Users who are unlike people, those with the most facts first.

    Args:
        since: From when rankings were read.
        until: Until when.
        rankings: How many were read, of users with an ID.
        users: How many users they have.
        left_out: How many users are left out.
        left_out_rankings: How many of these rankings are theirs.
        found: The users, 200 at most; those who are left out are among them.
        more: How many more are odd.
    """

    since: datetime
    until: datetime
    rankings: int
    users: int
    left_out: int
    left_out_rankings: int
    found: tuple[OddUser, ...]
    more: int

    def to_dict(self) -> dict[str, Any]:
        """Return the report as dicts and lists, for JSON."""
        return write_record(self)


class _Rankings:
    """The columns of rankings that were read, and the names of their users."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._names = _core.TextCodes()
        self._parts: list[tuple[NDArray[np.int64], ...]] = []
        self.count = 0

    def take(self, chunk: Chunk, wanted: NDArray[np.int64]) -> None:
        """Take the rankings of production that have a user."""
        has_user = np.diff(chunk.user_ids[0]) > 0
        places = np.flatnonzero(np.isin(chunk.contexts, wanted) & has_user)
        if not len(places):
            return
        count, offsets = len(chunk.times), chunk.items.offsets
        whose = np.repeat(np.arange(count), np.diff(offsets))
        graded = grade_chunk(chunk, self._definition)
        labelled = np.flatnonzero((graded.relevance > 0) & graded.is_labelled[whose])
        ranks, rows = chunk.items.ranks[labelled], whose[labelled]
        lowest, highest = np.full(count, NO_RANK), np.zeros(count, dtype=np.int64)
        np.minimum.at(lowest, rows, ranks)
        np.maximum.at(highest, rows, ranks)
        query = read_integers(_core.hash_texts([(b"", chunk.query_keys)], places)) & MASK
        self._parts.append(
            (
                read_integers(self._names.number([(b"", chunk.user_ids)], places)),
                chunk.times[places],
                np.where(np.diff(chunk.query_keys[0])[places] > 0, query, -1),
                np.diff(offsets)[places],
                np.bincount(rows, minlength=count)[places],
                lowest[places],
                highest[places],
            )
        )
        self.count += len(places)

    def finish(self) -> tuple[list[str], list[NDArray[np.int64]]]:
        """Return the users' names, and the columns."""
        names = [name.decode() for name in list_texts(self._names)]
        if not self._parts:
            return names, [np.empty(0, dtype=np.int64) for _ in range(7)]
        return names, [np.concatenate(column) for column in zip(*self._parts, strict=True)]


NO_RANK = 1 << 40
MASK = (1 << 62) - 1


def find_bots(
    store: StoreReader, project: str, configuration: Configuration, *, now: int, days: int
) -> BotReport:
    """Find the users of the last days who are unlike people."""
    if not 1 <= days <= MOST_DAYS:
        raise UsageError(
            f"expected from 1 to {MOST_DAYS} days, found {days}",
            hint="people and bots differ within a week",
            code="bad_days",
        )
    definition = replace(configuration.definition, left_out=())
    wanted = np.array(
        [at for at, one in store.contexts(project).items() if one.environment == "production"],
        dtype=np.int64,
    )
    rankings = _Rankings(definition)
    until = -(-now // HOUR) * HOUR
    since = until
    for start in range(until - HOUR, until - days * DAY - 1, -HOUR):
        if rankings.count >= MOST_RANKINGS:
            break
        since = start
        for chunk in store.read(project, start, start + HOUR):
            rankings.take(chunk, wanted)
    names, columns = rankings.finish()
    facts = _list_facts(columns, len(names))
    left = set(configuration.definition.left_out)
    counts = np.bincount(columns[0], minlength=len(names)).tolist()
    found = [
        OddUser(user_id=name, rankings=count, facts=tuple(told), is_left_out=name in left)
        for name, count, told in zip(names, counts, facts, strict=True)
        if told or name in left
    ]
    known = {one.user_id for one in found}
    found += [
        OddUser(user_id=name, rankings=0, facts=(), is_left_out=True) for name in left - known
    ]
    found.sort(key=lambda one: (not one.is_left_out, -len(one.facts), -one.rankings, one.user_id))
    return BotReport(
        since=to_datetime(since),
        until=to_datetime(until),
        rankings=rankings.count,
        users=len(names),
        left_out=len(left),
        left_out_rankings=sum(one.rankings for one in found if one.is_left_out),
        found=tuple(found[: MOST_FOUND + len(left)]),
        more=max(len(found) - MOST_FOUND - len(left), 0),
    )


def _list_facts(columns: list[NDArray[np.int64]], users: int) -> list[list[str]]:
    """List what is odd about each user."""
    facts: list[list[str]] = [[] for _ in range(users)]
    if users:
        for find in (_find_rates, _find_days, _find_steady, _find_alike, _find_labels):
            for user, told in find(columns, users):
                facts[user].append(told)
    return facts


def _find_rates(columns: list[NDArray[np.int64]], users: int) -> Iterator[tuple[int, str]]:
    user, time = columns[:2]
    hour = time // HOUR
    pairs, counts = np.unique(np.stack([user, hour]), axis=1, return_counts=True)
    most = np.zeros(users, dtype=np.int64)
    np.maximum.at(most, pairs[0], counts)
    limit = max(LEAST_RATE, TIMES * float(np.quantile(most, 0.99, method="lower")))
    # One who is among a few users is their own quantile.
    limit = LEAST_RATE if users * 0.01 < 1 else limit
    for at in np.flatnonzero(most >= limit).tolist():
        yield at, f"{most[at]:,} rankings in one hour; most users have {int(np.median(most)):,}"


def _find_days(columns: list[NDArray[np.int64]], _users: int) -> Iterator[tuple[int, str]]:
    user, time = columns[:2]
    pairs = np.unique(np.stack([user, time // HOUR]), axis=1)
    days, counts = np.unique(np.stack([pairs[0], pairs[1] // 24]), axis=1, return_counts=True)
    for at in np.flatnonzero(counts >= MOST_HOURS).tolist()[::-1]:
        who, day = int(days[0, at]), int(days[1, at])
        if at + 1 < len(counts) and days[0, at + 1] == who and counts[at + 1] >= MOST_HOURS:
            continue  # a later day says the same
        yield who, f"rankings in {counts[at]} of 24 hours on {describe_time(day * DAY)}"


def _find_steady(columns: list[NDArray[np.int64]], users: int) -> Iterator[tuple[int, str]]:
    order = np.lexsort((columns[1], columns[0]))
    user, time = columns[0][order], columns[1][order]
    is_same = user[1:] == user[:-1]
    gap, whose = np.diff(time)[is_same] / 1e6, user[1:][is_same]
    count = np.bincount(whose, minlength=users)
    mean = np.bincount(whose, gap, users) / np.maximum(count, 1)
    spread = np.bincount(whose, (gap - mean[whose]) ** 2, users) / np.maximum(count, 1)
    is_steady = (count >= FEWEST_GAPS) & (mean > 0) & (np.sqrt(spread) <= STEADY * mean)
    for at in np.flatnonzero(is_steady).tolist():
        yield at, f"one ranking every {mean[at]:,.0f} seconds, {count[at] + 1:,} times"


def _find_alike(columns: list[NDArray[np.int64]], _users: int) -> Iterator[tuple[int, str]]:
    signed, codes = sign_users(*columns[:3])
    alike = np.bincount(codes[codes >= 0])
    for who, code in zip(signed.tolist(), codes.tolist(), strict=True):
        if code >= 0:
            yield who, f"the same queries in the same order as {alike[code] - 1:,} other users"


def _find_labels(columns: list[NDArray[np.int64]], users: int) -> Iterator[tuple[int, str]]:
    user, _, _, documents, labels, low, high = columns
    shown = np.bincount(user, documents, users)
    given = np.bincount(user, labels, users)
    rankings = np.bincount(user, minlength=users)
    lowest, highest = np.full(users, NO_RANK), np.zeros(users, dtype=np.int64)
    np.minimum.at(lowest, user, low)
    np.maximum.at(highest, user, high)
    is_all = (rankings >= FEWEST_RANKINGS) & (given >= MOST_LABELLED * np.maximum(shown, 1))
    for at in np.flatnonzero(is_all & (shown >= 2 * rankings)).tolist():
        yield at, f"labels on {given[at]:,.0f} of {shown[at]:,.0f} documents"
    is_fixed = (given >= FEWEST_LABELS) & (lowest == highest) & (lowest >= 2)
    for at in np.flatnonzero(is_fixed).tolist():
        yield at, f"all of {given[at]:,.0f} labels are at rank {lowest[at]:,}"


def change_left_out(
    configuration: Configuration, leave: Collection[str], take_back: Collection[str]
) -> Configuration:
    """Return a configuration in which some users are left out, and others count again."""
    definition = configuration.definition
    users = (set(definition.left_out) | set(leave)) - set(take_back)
    if len(users) > MOST_LEFT_OUT:
        raise UsageError(
            f"expected at most {MOST_LEFT_OUT:,} users that are left out, found {len(users):,}",
            hint="stop logging what bots see",
            code="bad_definition",
        )
    return replace(configuration, definition=replace(definition, left_out=tuple(users)))
