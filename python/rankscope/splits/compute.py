"""Split a log of interactions by time, or by the last interactions of each user."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta
from fractions import Fraction

from rankscope.deferred import np
from rankscope.errors import EmptyError, UsageError
from rankscope.names import quote
from rankscope.output.table import Table
from rankscope.records import record
from rankscope.splits.log import read_log
from rankscope.splits.result import DROPPED, Split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, Literal, TypeAlias

    from numpy.typing import NDArray

    from rankscope._inputs.rows import Rows
    from rankscope._inputs.times import Times
    from rankscope.splits.log import Log

    Moment: TypeAlias = datetime | date | str | int | float
    Length: TypeAlias = timedelta | str
    Kept: TypeAlias = Literal["new_users", "new_items", "known_pairs"]
    Mask: TypeAlias = NDArray[np.bool_]

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
LENGTH = re.compile(r"([0-9]{1,7})([smhdw])", re.ASCII)

REASONS: dict[Kept, str] = {
    "new_users": "user not in train",
    "new_items": "item not in train",
    "known_pairs": "user and item in train",
}
TOGETHER = "interactions at the same time stay together"
BOTH = "set at, last or last_per_user so that both sets have interactions"


def split(
    log: object,
    *,
    at: Moment | None = None,
    last: float | Length | None = None,
    last_per_user: int | None = None,
    core: int | None = None,
    keep: Kept | Collection[Kept] = (),
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    time: str | None = None,
) -> Split:
    """Split a log of interactions into a training set and a test set for recommenders.

    Give exactly one of `at`, `last` and `last_per_user`. Interactions at the same time are never
    separated, so the result doesn't depend on the order of the rows. With `at` and `last`, the
    whole training set is older than the test set. With `last_per_user`, that holds for each user
    alone: a recommender can learn from what other users did later.

    The test set has one row per user and item: the earliest; of several at this time, that with the
    highest grade. By default, it has no users and items without an interaction in the training set,
    and no pairs that are in the training set.

    Args:
        log: A table with one row per interaction: a data frame of pandas or Polars, an Arrow table,
            a DuckDB relation, a mapping of columns, or the path of a file such as Parquet. Times
            are dates, timestamps, ISO text or numbers.
        at: The time at which the test set begins: a `datetime` or `date`, ISO text, or a number if
            the times are numbers.
        last: How much of the end of the log is the test set. A number between 0 and 1 is a share of
            the interactions; it is exceeded where interactions at the same time need it. Text such
            as `"14d"` (units: s, m, h, d, w) or a `timedelta` is a length of time: what is less
            than this older than the latest interaction. So of a log with dates, `"14d"` is 14 days.
        last_per_user: How many of the last interactions of each user are the test set; more where
            interactions at the same time need it.
        core: First keep only users and items with at least so many interactions (rows), again and
            again until all have (k-core). Interactions count on both sides of the split, as in most
            published experiments.
        keep: What to keep in the test set: one or more of `"new_users"`, `"new_items"` and
            `"known_pairs"`.
        query: The column of users (default: found by its usual names, such as `user_id`).
        doc: The column of items (default: found by its usual names, such as `item_id`).
        relevance: The column of grades (default: found by its usual names, such as `rating`). Every
            row is an interaction, whatever its grade.
        time: The column of times (default: found by its usual names, such as `timestamp`).

    Returns:
        The two sets, as the same kind of table as a data frame, an Arrow table or a mapping, and as
        an Arrow table for others, with the numbers of what was dropped and why.

    Raises:
        UsageError: An argument is invalid, or doesn't fit the times.
        InputError: The log doesn't have the expected format, or a set would be empty.
        FileError: A file can't be read.

    Examples:
        >>> log = {
        ...     "user_id": ["ann", "bob", "ann", "bob", "cid", "ann"],
        ...     "item_id": ["a", "b", "b", "a", "a", "c"],
        ...     "date": [
        ...         "2026-11-01",
        ...         "2026-11-02",
        ...         "2026-11-08",
        ...         "2026-11-09",
        ...         "2026-11-09",
        ...         "2026-11-09",
        ...     ],
        ... }
        >>> parts = split(log, last="7d")
        >>> parts
        part                        interactions  users  items
        log                                    6      3      3
        train                                  2      2      2
        test                                   2      2      2
        dropped: user not in train             1      1      1
        dropped: item not in train             1      1      1
        <BLANKLINE>
        The test set is what is later than 2026-11-02.
        >>> train, test = parts
        >>> test
        {'user_id': ['ann', 'bob'], 'item_id': ['b', 'a']}
        >>> from rankscope import evaluate
        >>> ev = evaluate(test, {"ann": ["b"], "bob": ["c", "a"]}, ["RR", "Novelty"], history=train)
        >>> ev["RR"]
        0.75
    """
    way = _Way.read(at=at, last=last, last_per_user=last_per_user)
    _check_count("core", core)
    kept = _read_kept(keep)
    names = {"query": query, "doc": doc, "relevance": relevance}
    read = read_log(log, names, time)
    counts = [("log", _everything(read))]
    rows = _everything(read)
    if core is not None:
        rows = _find_core(read, core)
        is_left = np.zeros(len(read.users), dtype=bool)
        is_left[rows] = True
        counts.append((f"{DROPPED}fewer than {core} interactions", np.flatnonzero(~is_left)))
        if not len(rows):
            raise _empty(f"no users and items have {core} interactions each", "lower core")
    if not len(rows):
        raise _empty("expected interactions, found none", "is the log empty, or cut off?")
    is_test, rule = way.choose(read, rows)
    train, test = rows[~is_test], rows[is_test]
    if not len(train) or not len(test):
        name = "test" if len(train) else "training"
        raise _empty(f"the {name} set is empty: {rule[0].lower()}{rule[1:]}", BOTH)
    dropped: list[tuple[str, Rows]] = []
    for reason, description in REASONS.items():
        if reason not in kept:
            is_dropped = _find_dropped(read, reason, train, test)
            dropped.append((description, test[is_dropped]))
            test = test[~is_dropped]
    first = _keep_first(read, test)
    dropped.append(("user and item earlier in test", np.setdiff1d(test, first)))
    if not len(first):
        why = ", ".join(f"{reason}: {len(lost)}" for reason, lost in dropped if len(lost))
        hint = f"keep some of them, such as keep={list(REASONS)!r}, or split elsewhere"
        raise _empty(f"nothing is left of the test set: dropped were {why}", hint)
    counts += [("train", train), ("test", first)]
    counts += [(DROPPED + reason, lost) for reason, lost in dropped if len(lost)]
    return Split(
        train=read.take(train),
        test=read.take(first, without=read.time),
        counts=_count(read, counts),
        rule=rule,
    )


def _everything(log: Log) -> Rows:
    return np.arange(len(log.users), dtype=np.int64)


def _count(log: Log, parts: list[tuple[str, Rows]]) -> Table:
    return Table(
        {
            "part": [name for name, _ in parts],
            "interactions": [len(rows) for _, rows in parts],
            "users": [_count_codes(log.users[rows]) for _, rows in parts],
            "items": [_count_codes(log.items[rows]) for _, rows in parts],
        }
    )


def _count_codes(codes: Rows) -> int:
    # Several times as fast as a set of the codes.
    return int(np.count_nonzero(np.bincount(codes)))


def _find_core(log: Log, core: int) -> Rows:
    """Return the rows of users and items that have enough interactions among these rows."""
    rows = _everything(log)
    while True:
        users, items = log.users[rows], log.items[rows]
        is_kept = (np.bincount(users)[users] >= core) & (np.bincount(items)[items] >= core)
        if is_kept.all():
            return rows
        rows = rows[is_kept]


def _find_dropped(log: Log, reason: Kept, train: Rows, test: Rows) -> Mask:
    """Return which rows of the test set a reason excludes."""
    if reason == "known_pairs":
        known, pairs = np.sort(log.pairs(train)), log.pairs(test)
        is_known: Mask = known[np.searchsorted(known[:-1], pairs)] == pairs
        return is_known
    codes = log.users if reason == "new_users" else log.items
    is_in_train = np.zeros(int(codes.max()) + 1, dtype=bool)
    is_in_train[codes[train]] = True
    return ~is_in_train[codes[test]]


def _keep_first(log: Log, rows: Rows) -> Rows:
    """Return one row of each pair of user and item, in order.

    It is the earliest; of several at that time, that with the highest grade, then the first by the
    text of its other columns, so that the order of rows doesn't matter.
    """
    if not len(rows):
        return rows
    pairs, times = log.pairs(rows), log.times.values[rows]
    grades = (
        np.zeros(len(rows)) if log.grades is None else np.nan_to_num(-log.grades[rows], nan=np.inf)
    )
    order = np.lexsort((grades, times, pairs))
    rows, pairs, times, grades = rows[order], pairs[order], times[order], grades[order]
    starts = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]]))
    group = np.repeat(starts, np.diff(np.append(starts, len(rows))))
    is_best = (times == times[group]) & (grades == grades[group])
    rows, pairs = rows[is_best], pairs[is_best]
    _, group, sizes = np.unique(pairs, return_inverse=True, return_counts=True)
    tied = rows[sizes[group] > 1]
    chosen = rows[sizes[group] == 1].tolist()
    best: dict[int, tuple[str, int]] = {}
    for pair, text, row in zip(
        log.pairs(tied).tolist(), log.spell(tied), tied.tolist(), strict=True
    ):
        best[pair] = min(best.get(pair, (text, row)), (text, row))
    return np.sort(np.array([*chosen, *(row for _, row in best.values())], dtype=np.int64))


@record(frozen=True, slots=True, kw_only=True)
class _Way:
    """How the rows of the test set are chosen: by one of these.

    Args:
        at: The time at which it begins.
        share: The share of the interactions.
        length: The length of time before the latest interaction.
        per_user: The number of interactions of each user.
    """

    at: Moment | None = None
    share: float | None = None
    length: timedelta | None = None
    per_user: int | None = None

    @classmethod
    def read(cls, *, at: object, last: object, last_per_user: object) -> _Way:
        """Read the arguments of `split`."""
        if sum(given is not None for given in (at, last, last_per_user)) != 1:
            raise _bad(
                "expected exactly one of at, last and last_per_user",
                "write last='14d', last=0.2, at='2026-11-15', or last_per_user=1",
            )
        if last_per_user is not None:
            _check_count("last_per_user", last_per_user)
            return cls(per_user=last_per_user)  # type: ignore[arg-type]  # checked above
        if at is not None:
            if isinstance(at, np.datetime64):
                at = at.astype("datetime64[us]").item()
            if isinstance(at, bool) or not isinstance(at, date | str | int | float | np.number):
                raise _bad(
                    f"expected at to be a time, found {type(at).__name__}",
                    "write at='2026-11-15', or a number if the times are numbers",
                )
            return cls(at=at)  # type: ignore[arg-type]  # checked above
        if isinstance(last, float) and 0 < last < 1:
            return cls(share=last)
        match = LENGTH.fullmatch(last) if isinstance(last, str) else None
        if match is not None:
            last = timedelta(**{UNITS[match[2]]: int(match[1])})
        if isinstance(last, timedelta) and last > timedelta(0):
            return cls(length=last)
        raise _bad(
            f"expected last to be a share between 0 and 1, or a length, found {quote(last)}",
            "write 0.2 for a fifth of the interactions, or '14d' for 14 days",
        )

    def choose(self, log: Log, rows: Rows) -> tuple[Mask, str]:
        """Return which rows belong to the test set, and the rule in a sentence."""
        times = log.times.values[rows]
        if self.per_user is not None:
            several = f"{self.per_user} interactions" if self.per_user > 1 else "interaction"
            return _choose_last(log.users[rows], times, self.per_user), (
                f"The test set is the last {several} of each user; {TOGETHER}."
            )
        if self.share is not None:
            # As written: 0.1 of 30 is 3, though the double 0.1 is more than a tenth.
            wanted = math.ceil(Fraction(repr(self.share)) * len(rows))
            first = np.sort(times)[len(rows) - wanted]
            is_test = times >= first
            return is_test, (
                f"The test set is the last {100 * is_test.mean():.4g}% of the interactions, from "
                f"{_write(first, log.times)} on; {TOGETHER}."
            )
        if self.length is not None:
            if log.times.are_numbers:
                raise _bad(
                    f"the times in {log.time} are numbers, whose unit isn't known",
                    "write at=… with such a number, or make them timestamps: "
                    f"pd.to_datetime(log[{log.time!r}], unit='s')",
                )
            after = times.max() - np.timedelta64(self.length)
            return times > after, f"The test set is what is later than {_write(after, log.times)}."
        start = _read_start(self.at, log.times, log.time)
        return times >= start, f"The test set begins at {_write(start, log.times)}."


def _choose_last(users: Rows, times: NDArray[Any], count: int) -> Mask:
    """Return the last interactions of each user, and all that are at the time of the first."""
    order = np.lexsort((times, users))
    ends = np.cumsum(np.bincount(users))
    sizes = np.bincount(users)
    has_any = sizes > 0
    firsts = np.zeros(len(sizes), dtype=np.int64)
    firsts[has_any] = order[(ends - np.minimum(count, sizes))[has_any]]
    is_last: Mask = times >= times[firsts[users]]
    return is_last


def _read_start(at: object, times: Times, name: str) -> Any:  # noqa: ANN401 - a number or a time
    """Return the time at which the test set begins in the type of the times."""
    if times.are_numbers:
        if isinstance(at, str | date) or not math.isfinite(at):  # type: ignore[arg-type]  # a number
            raise _bad(
                f"the times in {name} are numbers, found at={quote(at)}",
                "write at as such a number",
            )
        return at
    example = "2026-11-15T00:00:00Z" if times.has_zone else "2026-11-15"
    moment: object = at
    if isinstance(at, str):
        try:
            moment = datetime.fromisoformat(at)
        except ValueError:
            moment = None
    if not isinstance(moment, date):
        raise _bad(
            f"the times in {name} are dates or timestamps, found at={quote(at)}",
            f"write at={example!r}",
        )
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 - has no zone
    if (moment.tzinfo is not None) != times.has_zone:
        has = ("have", "has none") if times.has_zone else ("don't have", "has one")
        raise _bad(
            f"the times in {name} {has[0]} a time zone, and at={quote(str(at))} {has[1]}",
            f"write at={example!r}",
        )
    offset = moment.utcoffset() or timedelta(0)
    return np.datetime64(moment.replace(tzinfo=None) - offset)


def _write(moment: Any, times: Times) -> str:  # noqa: ANN401 - a number or a time
    """Write a time as short as it can be."""
    if times.are_numbers:
        return f"{moment}"
    text = re.sub(r"(T00:00(:00)?)?([.]0+)?$", "", str(moment))
    return text + " UTC" * times.has_zone


def _read_kept(keep: object) -> set[Kept]:
    named = [keep] if isinstance(keep, str) else keep
    if not isinstance(named, list | tuple | set | frozenset):
        named = [quote(named)]
    kept = set(map(str, named))
    unknown = sorted(kept - set(REASONS))
    if unknown:
        raise _bad(
            f"unknown value {quote(unknown[0])} of keep",
            f"use one or more of: {', '.join(REASONS)}",
        )
    return kept  # type: ignore[return-value]  # checked above


def _check_count(name: str, given: object) -> None:
    if given is not None and (type(given) is not int or given < 1):
        raise _bad(
            f"expected {name} to be a whole number of 1 or more, found {quote(given)}",
            f"write {name}=5" if name == "core" else f"write {name}=1",
        )


def _bad(message: str, hint: str) -> UsageError:
    return UsageError(message, hint=hint, code="bad_parameter")


def _empty(message: str, hint: str) -> EmptyError:
    return EmptyError(message, hint=hint, code="empty_input")
