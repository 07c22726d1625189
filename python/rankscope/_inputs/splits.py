"""Splits a log of interactions into what a recommender may learn from and what tests it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankscope._inputs.columns import as_arrow, is_null, list_cells, to_arrow
from rankscope._inputs.items import QUERIES
from rankscope._inputs.recognition import is_of
from rankscope._inputs.rows import open_columns
from rankscope._inputs.tables import open_table
from rankscope._names import check_choice, quote
from rankscope._settings import Reading
from rankscope._show import Printed
from rankscope._show.table import Table
from rankscope.errors import EmptyError, FormatError, UsageError

Rows: TypeAlias = NDArray[np.int64]
Foreign: TypeAlias = Any  # a table or a column of a library
Kept: TypeAlias = Literal["new_users", "new_items", "known_pairs"]
Repeats: TypeAlias = Literal["highest", "latest"]
Mask: TypeAlias = NDArray[np.bool_]

if TYPE_CHECKING:
    from rankscope._inputs.columns import IdColumn


NEEDED = ("query", "doc", "time")


@dataclass(frozen=True, slots=True)
class Log:
    """A log of interactions, one per row.

    Args:
        table: The log as a mapping, a data frame of pandas or Polars, or an Arrow table.
        users: The user of each row, as a code from 0.
        items: The item of each row, as a code from 0.
        times: The time of each row: numbers, or `datetime64`, of UTC if the times have a zone.
        has_zone: Whether the times have a zone.
        grades: The grade of each row, or zeros.
        time: The name of the column of times.
    """

    table: Foreign
    users: Rows
    items: Rows
    times: NDArray[Any]
    has_zone: bool
    grades: NDArray[np.float64]
    time: str

    @property
    def pairs(self) -> Rows:
        """One number for each pair of user and item."""
        return self.users * (int(self.items.max()) + 1) + self.items

    @property
    def are_numbers(self) -> bool:
        """Whether the times are numbers, whose unit is unknown."""
        return self.times.dtype.kind != "M"

    def take(self, rows: Rows, *, without: str = "") -> Foreign:
        """Return rows as the same kind of table, with all columns but one."""
        table = self.table
        if isinstance(table, Mapping):
            columns = {name: column for name, column in table.items() if str(name) != without}
            return {name: _take_cells(column, rows) for name, column in columns.items()}
        if hasattr(table, "iloc"):  # of pandas
            return table.iloc[rows, [str(name) != without for name in table.columns]]
        table = table.select([name for name in open_table(table) if name != without])
        return table[rows] if hasattr(table, "get_column") else table.take(rows)

    def spell(self, rows: Rows) -> list[str]:
        """Return rows as texts."""
        columns = open_table(self.take(rows)).items()
        cells = [
            list_cells(column) or as_arrow(column, name).to_pylist() for name, column in columns
        ]
        return list(map(repr, zip(*cells, strict=True)))


def _take_cells(column: Foreign, rows: Rows) -> Foreign:
    if isinstance(column, list | tuple):
        return type(column)([column[row] for row in rows.tolist()])
    if hasattr(column, "iloc"):  # of pandas
        return column.iloc[rows]
    # Columns of Arrow have no index of several places.
    return column.take(rows) if hasattr(column, "to_pylist") else column[rows]


def read_log(log: Foreign, roles: Mapping[str, str | None]) -> Log:
    """Read a log, given the columns by role."""
    log = log.to_native() if hasattr(log, "to_native") else log  # of Narwhals
    log = log.collect() if is_of(log, "polars", "LazyFrame") else log
    with open_columns(log, Reading(), roles, None, required=NEEDED, besides=QUERIES) as columns:
        users, items = _encode(columns.ids("query")), _encode(columns.ids("doc"))
        moment = columns.columns["time"]
        grades = np.zeros(len(users))
        if "relevance" in columns.columns:
            grades = np.asarray(columns.numbers("relevance", allows_null=True), dtype=np.float64)
        is_kept = isinstance(log, Mapping) or hasattr(log, "iloc") or hasattr(log, "get_column")
        table = log if is_kept else pa.table({name: columns.typed(name) for name in columns.names})
        times, has_zone = read_times(columns.typed(moment), moment)
        return Log(table, users, items, times, has_zone, grades, moment)


def _encode(ids: IdColumn) -> Rows:
    """Return ids as codes from 0."""
    return np.asarray(to_arrow(ids).dictionary_encode().indices, dtype=np.int64)


def read_times(column: Foreign, name: str) -> tuple[NDArray[Any], bool]:
    """Read dates, timestamps, ISO text or numbers, and say whether they have a zone."""
    if not len(column):
        return np.zeros(0), False
    _refuse_half_zones(list_cells(column) or (), name)
    values = as_arrow(column, name)
    if values.null_count:
        raise _no_times(name, "none", values.is_null().index(True).as_py(), code="missing_time")
    if values.type == pa.large_string():
        values = _parse(values, name)
    times = values.to_numpy(zero_copy_only=False)
    if times.dtype.kind not in "Miuf":
        raise _no_times(name, str(values.type))
    for at in np.flatnonzero(~np.isfinite(times))[:1].tolist():
        raise _no_times(name, f"{times[at]}", at)
    return times, getattr(values.type, "tz", None) is not None


def _refuse_half_zones(moments: Iterable[object], name: str) -> None:
    """Raise an error for times of Python of which some have a zone."""
    times = [time for time in moments if isinstance(time, datetime) and not is_null(time)]
    if len({time.tzinfo is None for time in times}) > 1:
        raise _no_times(name, "both times with a zone and times without", code="time_zone")


def _parse(texts: Foreign, name: str) -> Foreign:
    """Read text such as 2026-11-21, or 2026-11-21T18:00:00Z, as timestamps."""
    for kind in (pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC")):
        with suppress(pa.ArrowInvalid):
            return texts.cast(kind)
    moments = []
    for at, text in enumerate(texts.to_pylist()):
        try:
            moments.append(datetime.fromisoformat(text))
        except ValueError:
            raise _no_times(name, quote(text), at) from None
    _refuse_half_zones(moments, name)
    return as_arrow(moments, name)


def _no_times(
    name: str, value: str, at: int | None = None, *, code: str = "time_format"
) -> FormatError:
    line = None if at is None else at + 1
    hint = "times are dates, timestamps, numbers, or text such as 2026-11-21T18:00:00Z"
    message = f"expected a time in every row of {name}, found {value}"
    return FormatError(message, hint=hint, code=code, line=line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split(Printed):
    """A log split into a training set and a test set, as `train, test = split(…)`.

    Args:
        train: The interactions that a recommender may learn from: rows of the log, in its order,
            with all columns. It is what `evaluate` takes as `history`.
        test: The interactions that test it: one row per user and item, without the column of times.
            It is what `evaluate` takes as judgments.
        counts: A table with the interactions, users and items of the log, of both sets, and of what
            was dropped for each reason. A row is dropped for the first reason that applies.
        rule: Which interactions belong to the test set, in a sentence.
        dropped: The number of interactions that were dropped, by reason.
    """

    train: Any
    test: Any
    counts: Table
    rule: str
    dropped: dict[str, int]

    def to_dict(self) -> dict[str, object]:
        """Return the rule and the counts as dicts, without the sets."""
        return {"rule": self.rule, "counts": self.counts.to_dict()}

    def __iter__(self) -> Iterator[Any]:
        return iter((self.train, self.test))

    def _parts(self) -> Sequence[str | Table]:
        return [self.counts, "", self.rule]

    __repr__ = Printed.__str__


UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
LENGTH = re.compile(r"([0-9]{1,7})([smhdw])", re.ASCII)

REASONS = {
    "new_users": "user not in train",
    "new_items": "item not in train",
    "known_pairs": "user and item in train",
}
TOGETHER = "interactions at the same time stay together"
BOTH = "set at, last or last_per_user so that both sets have interactions"


def split(
    log: object,
    *,
    at: datetime | date | str | float | None = None,
    last: float | timedelta | str | None = None,
    last_per_user: int | None = None,
    core: int | None = None,
    keep: Kept | Collection[Kept] = (),
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    time: str | None = None,
    repeats: Repeats = "highest",
) -> Split:
    """Split a log of interactions into a training set and a test set for recommenders.

    Give exactly one of `at`, `last` and `last_per_user`. Interactions at the same time are never
    separated, so the result doesn't depend on the order of the rows. With `at` and `last`, the
    whole training set is older than the test set. With `last_per_user`, that holds for each user
    alone: a recommender can learn from what other users did later.

    The test set has one row per user and item: that with the highest grade; of several, the latest.
    By default, it has no users and items without an interaction in the training set, and no pairs
    that are in the training set.

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
        repeats: Which row of a user and item the test set keeps: that with the `"highest"` grade,
            or the `"latest"`. The other decides between equal ones.

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
    choose = _read_way(at, last, last_per_user)
    _check_count("core", core)
    check_choice("repeats", repeats, ("highest", "latest"))
    kept = {*keep} if isinstance(keep, list | tuple | set | frozenset) else {keep}
    for reason in kept.difference(REASONS):
        hint = f"use one or more of: {', '.join(REASONS)}"
        raise _bad(f"unknown value {quote(reason)} of keep", hint)
    read = read_log(log, {"query": query, "doc": doc, "relevance": relevance, "time": time})
    rows = np.arange(len(read.users), dtype=np.int64)
    parts, dropped = {"log": rows}, {}
    if core is not None:
        rows = _find_core(read, rows, core)
        dropped[f"fewer than {core} interactions"] = np.setdiff1d(parts["log"], rows)
        if not len(rows):
            raise _empty(f"no users and items have {core} interactions each", "lower core")
    if not len(rows):
        raise _empty("expected interactions, found none", "is the log empty, or cut off?")
    is_test, rule = choose(read, rows)
    train, test = rows[~is_test], rows[is_test]
    if not len(train) or not len(test):
        name = "test" if len(train) else "training"
        raise _empty(f"the {name} set is empty: {rule[0].lower()}{rule[1:]}", BOTH)
    for reason, key in zip(REASONS, (read.users, read.items, read.pairs), strict=True):
        if reason not in kept:
            is_kept = np.isin(key[test], key[train], invert=reason == "known_pairs")
            dropped[REASONS[reason]] = test[~is_kept]
            test = test[is_kept]
    kept_rows, lost = _keep_once(read, test, repeats)
    dropped |= lost
    dropped = {reason: lost for reason, lost in dropped.items() if len(lost)}
    if not len(kept_rows):
        why = ", ".join(f"{reason}: {len(lost)}" for reason, lost in dropped.items())
        hint = f"keep some of them, such as keep={list(REASONS)!r}, or split elsewhere"
        raise _empty(f"nothing is left of the test set: dropped were {why}", hint)
    parts |= {"train": train, "test": kept_rows}
    parts |= {f"dropped: {reason}": lost for reason, lost in dropped.items()}
    counts: dict[str, list[Any]] = {"part": [*parts], "interactions": [*map(len, parts.values())]}
    for name, codes in (("users", read.users), ("items", read.items)):
        # Several times as fast as a set of the codes.
        counts[name] = [np.count_nonzero(np.bincount(codes[rows])) for rows in parts.values()]
    train, test = read.take(train), read.take(kept_rows, without=read.time)
    dropped_counts = {reason: len(lost) for reason, lost in dropped.items()}
    return Split(train=train, test=test, counts=Table(counts), rule=rule, dropped=dropped_counts)


def _find_core(log: Log, rows: Rows, core: int) -> Rows:
    """Return the rows of users and items that have enough interactions among these rows."""
    while True:
        users, items = log.users[rows], log.items[rows]
        is_kept = (np.bincount(users)[users] >= core) & (np.bincount(items)[items] >= core)
        if is_kept.all():
            return rows
        rows = rows[is_kept]


def _keep_once(log: Log, rows: Rows, repeats: Repeats) -> tuple[Rows, dict[str, Rows]]:
    """Return one row of each pair of user and item, in order, and the others by why they aren't it.

    Between rows of the same grade and time, the text of their other columns decides, so that the
    order of rows doesn't matter.
    """
    keys = {
        "user and item with a higher grade in test": np.nan_to_num(log.grades, nan=-np.inf)[rows],
        "user and item later in test": log.times[rows],
    }
    reasons = [*keys] if repeats == "highest" else [*keys][::-1]
    pairs, ranks = np.unique(log.pairs[rows], return_inverse=True)[1], {}
    for reason in reasons:
        ranks[reason] = -np.unique(keys[reason], return_inverse=True)[1]
    sorting = (*(ranks[reason] for reason in reversed(reasons)), pairs)
    order = np.lexsort(sorting)
    are_equal = np.all([key[order][1:] == key[order][:-1] for key in sorting], axis=0)
    above = np.flatnonzero(are_equal)
    tied = order[np.union1d(above, above + 1)]
    places = np.zeros(len(rows), dtype=np.int64)
    places[tied] = np.unique(np.array(log.spell(rows[tied]), dtype=object), return_inverse=True)[1]
    order = np.lexsort((places, *sorting))
    kept = order[np.unique(pairs[order], return_index=True)[1]]
    rest, lost = np.setdiff1d(np.arange(len(rows)), kept), {}
    for reason in reasons:
        is_below = ranks[reason][rest] > ranks[reason][kept[pairs[rest]]]
        lost[reason], rest = rows[rest[is_below]], rest[~is_below]
    return np.sort(rows[kept]), lost | {"user and item again in test": rows[rest]}


def _read_way(at: Any, last: Any, last_per_user: Any) -> Way:  # noqa: ANN401 - checked here
    """Read the arguments of `split`, of which one says how the test set is chosen."""
    if sum(argument is not None for argument in (at, last, last_per_user)) != 1:
        hint = "write last='14d', last=0.2, at='2026-11-15', or last_per_user=1"
        raise _bad("expected exactly one of at, last and last_per_user", hint)
    if last_per_user is not None:
        _check_count("last_per_user", last_per_user)
        return partial(_choose_last, last_per_user)
    if at is not None:
        return partial(_choose_later, at)
    match = LENGTH.fullmatch(last) if isinstance(last, str) else None
    if match:
        last = timedelta(**{UNITS[match[2]]: int(match[1])})
    is_length = isinstance(last, timedelta) and last > timedelta(0)
    if not is_length and not (isinstance(last, float) and 0 < last < 1):
        message = f"expected last to be a share between 0 and 1, or a length, found {quote(last)}"
        raise _bad(message, "write 0.2 for a fifth of the interactions, or '14d' for 14 days")
    return partial(_choose_latest, last)


def _choose_last(count: int, log: Log, rows: Rows) -> tuple[Mask, str]:
    """Choose the last interactions of each user, and all that are at the time of the first."""
    times = log.times[rows]
    _, users, sizes = np.unique(log.users[rows], return_inverse=True, return_counts=True)
    order = np.lexsort((times, users))
    firsts = order[np.cumsum(sizes) - np.minimum(count, sizes)]
    several = f"{count} interactions" if count > 1 else "interaction"
    rule = f"The test set is the last {several} of each user; {TOGETHER}."
    return times >= times[firsts[users]], rule


def _choose_latest(last: float | timedelta, log: Log, rows: Rows) -> tuple[Mask, str]:
    """Choose the last share of the interactions, or what is less old than the latest of them."""
    times = log.times[rows]
    if isinstance(last, float):
        # As written: 0.1 of 30 is 3, though the double 0.1 is more than a tenth.
        first = np.sort(times)[len(times) - math.ceil(Fraction(repr(last)) * len(times))]
        share = f"{100 * (times >= first).mean():.4g}% of the interactions"
        rule = f"The test set is the last {share}, from {_write(first, log)} on; {TOGETHER}."
        return times >= first, rule
    if log.are_numbers:
        timestamps = f"make them timestamps: pd.to_datetime(log[{log.time!r}], unit='s')"
        hint = f"write at=… with such a number, or {timestamps}"
        raise _bad(f"the times in {log.time} are numbers, whose unit isn't known", hint)
    after = times.max() - np.timedelta64(last)
    return times > after, f"The test set is what is later than {_write(after, log)}."


def _choose_later(at: Any, log: Log, rows: Rows) -> tuple[Mask, str]:  # noqa: ANN401 - a number or a time
    what, example = "numbers", "3"
    if not log.are_numbers:
        what, example = "dates or timestamps without a time zone", "'2026-11-15'"
    if log.has_zone:
        what, example = "timestamps with a time zone", "'2026-11-15T00:00:00Z'"
    start, has_zone = None, False
    with suppress(FormatError):
        moment = np.array([at]) if isinstance(at, np.generic) else [at]
        (start,), has_zone = read_times(moment, "at")
    is_time = start is not None and start.dtype.kind == "M"
    if start is None or is_time == log.are_numbers or has_zone != log.has_zone:
        message = f"the times in {log.time} are {what}, found at={quote(str(at))}"
        raise _bad(message, f"write at={example}")
    return log.times[rows] >= start, f"The test set begins at {_write(start, log)}."


def _write(moment: object, log: Log) -> str:
    """Write a time as short as it can be."""
    return re.sub(r"(T00:00(:00)?)?([.]0+)?$", "", str(moment)) + " UTC" * log.has_zone


def _check_count(name: str, count: object) -> None:
    if count is not None and (type(count) is not int or count < 1):
        message = f"expected {name} to be a whole number of 1 or more, found {quote(count)}"
        raise _bad(message, f"write {name}=1")


def _bad(message: str, hint: str) -> UsageError:
    return UsageError(message, hint=hint, code="bad_parameter")


def _empty(message: str, hint: str) -> EmptyError:
    return EmptyError(message, hint=hint, code="empty_input")


# Returns which rows belong to the test set, and the rule in a sentence.
Way: TypeAlias = Callable[["Log", Rows], tuple[Mask, str]]
