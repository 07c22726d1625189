"""The values of one query against preferences, which trec_eval calls `prefs_*`.

A preference for one document over another one is fulfilled if it is ranked above the other one, or
if it was retrieved and the other one was not. Documents are numbered by rank, and those that were
not retrieved follow in the order of their IDs.
"""

from __future__ import annotations

from functools import partial, reduce
from graphlib import CycleError, TopologicalSorter
from itertools import count, groupby, pairwise
from operator import add, itemgetter, or_

import numpy as np

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Literal, TypeAlias

    from numpy.typing import NDArray

    Counts: TypeAlias = NDArray[np.int64]
    """A number for each document, or for each pair of documents."""
    Flags: TypeAlias = NDArray[np.bool_]
    Scope: TypeAlias = Literal["", "_ret", "_imp"]
    """Which preferences count: all, those of retrieved documents, or of at least one of them."""
    Judgment: TypeAlias = tuple[bytes, bytes, float, int]
    """A group of judges, a subgroup, the level that it gave (0 is not relevant), and a document."""

SCOPES: tuple[Scope, ...] = ("", "_ret", "_imp")
PAIRS_AT_ONCE = 1 << 21


class ConflictError(Exception):
    """Preferences of one group contradict each other: the number of a document, and what it is."""


@record(frozen=True, slots=True)
class Group:
    """The preferences of one group.

    Args:
        documents: The numbers of its documents, ascending.
        times: How often each was judged; 1 where documents are compared in subgroups.
        is_relevant: Whether each is relevant.
        is_preferred: Whether each, in rows, is preferred to each one, in columns.
        compares_all: Whether it compares any two documents of different levels.
    """

    documents: Counts
    times: Counts
    is_relevant: Flags
    is_preferred: Flags
    compares_all: bool

    def find(self, numbers: range) -> slice:
        """Return which of its documents have these numbers."""
        start, stop = np.searchsorted(self.documents, (numbers.start, numbers.stop))
        return slice(int(start), int(stop))

    def table(self, rows: slice, columns: slice) -> Counts:
        """Return how many preferences there are for each document over each other one."""
        times = np.outer(self.times[rows], self.times[columns])
        return times * self.is_preferred[rows, columns]


def find_values(
    judgments: Iterable[Judgment], documents: int, retrieved: int
) -> Mapping[str, float]:
    """Return the values of all measures, by name.

    Examples:
        >>> better, worse = (b"u", b"s", 2, 0), (b"u", b"s", 1, 1)
        >>> find_values([better, worse], documents=2, retrieved=1)["prefs_simp"]
        1.0
    """
    groups = [_join(list(some)) for _, some in groupby(sorted(judgments), key=itemgetter(0))]
    shown = [group.find(range(retrieved)).stop for group in groups]
    counts = map(_count, groups, shown)
    values: dict[str, float] = {}
    for scope, counted in zip(SCOPES, zip(*counts, strict=True), strict=True):
        fulfilled, possible = map(sum, zip(*counted, strict=True))
        # There are more of these than trec_eval prints.
        values[f"prefs_num_prefs_poss{scope}"] = possible
        values[f"prefs_num_prefs_ful{scope}"] = fulfilled
        if scope != "_imp":
            balanced = [*map(partial(_balance, scope), groups, shown, counted)]
            values[f"prefs_avgjg_Rnonrel{scope}"] = _average(balanced, np.nan)
        values[f"prefs_simp{scope}"] = fulfilled / possible if possible else 0.0
        values[f"prefs_avgjg{scope}"] = _average(counted, 0.0)
    return values | _share_pairs(groups, documents, retrieved)


def _join(judgments: Sequence[Judgment]) -> Group:
    """Return the preferences of a group, whose judgments are sorted by subgroup and level."""
    _, subgroups, levels, numbers = zip(*judgments, strict=True)
    documents, places = np.unique(numbers, return_inverse=True)
    compares_all = subgroups[0] == subgroups[-1]
    stated = np.array(levels) if compares_all else np.array(levels) > 0
    chosen = np.empty(len(documents), stated.dtype)
    chosen[places] = stated
    conflicting = places[chosen[places] != stated]
    if len(conflicting):
        several, both = "has several levels in one subgroup", "is relevant and not relevant"
        raise ConflictError(int(documents[conflicting.min()]), several if compares_all else both)
    judged = zip(subgroups, levels, places.tolist(), strict=True)
    compared = [
        [{place for *_, place in of_level} for _, of_level in groupby(some, key=itemgetter(1))]
        for _, some in groupby(judged, key=itemgetter(0))
    ]
    try:
        is_preferred = _close(compared, len(documents))
    except CycleError as error:
        first = min(node for node in error.args[1] if node >= 0)
        what = "is preferred to a document that is preferred to it"
        raise ConflictError(int(documents[first]), what) from None
    times = np.bincount(places) if compares_all else np.ones_like(documents)
    return Group(documents, times, chosen > 0, is_preferred, compares_all)


def _close(compared: Iterable[Iterable[set[int]]], documents: int) -> Flags:
    """Return which documents each is preferred to, also by what follows; low levels are first."""
    needed: dict[int, list[int]] = {}
    numbers = count(-1, -1)
    for levels in compared:
        below: list[int] = []
        for lower, upper in pairwise(levels):
            # A node below 0 stands for all documents under a level, so that edges are few.
            node = next(numbers)
            needed[node] = [*lower, *below]
            for document in upper:
                needed.setdefault(document, []).append(node)
            if len(both := lower & upper) == 1:  # which trec_eval accepts
                needed[min(both)][-1:] = [*lower - both, *below]
            below = [node]
    reached: dict[int, int] = {}
    for node in TopologicalSorter(needed).static_order():
        own = 1 << node if node >= 0 else 0
        reached[node] = reduce(or_, map(reached.__getitem__, needed.get(node, ())), own)
    rows = (reached.get(document, 1 << document) ^ 1 << document for document in range(documents))
    width = -(-documents // 8)
    text = b"".join(row.to_bytes(width, "little") for row in rows)
    bits = np.frombuffer(text, np.uint8).reshape(documents, width)
    return np.unpackbits(bits, axis=1, count=documents, bitorder="little").view(np.bool_)


def _count(
    group: Group, shown: int, weights: tuple[Counts, Counts, Counts] | None = None
) -> list[list[int]]:
    """Return how many preferences are fulfilled and how many there are, by scope.

    They count by the weights of their documents in rows and in columns; those over documents with
    a third weight count for each other document.
    """
    rows, columns, added = weights or (group.times, group.times, np.zeros_like(group.times))
    counts = np.zeros((3, 2), np.int64)
    size = len(group.documents)
    for some in _cut(range(size), size):
        part = slice(some.start, some.stop)
        table = rows[part, None] * (group.is_preferred[part] * columns + added)
        rest = max(shown - some.start, 0)
        fulfilled = np.triu(table[:rest], some.start + 1)
        of_all = fulfilled.sum(), table.sum()
        of_retrieved = fulfilled[:, :shown].sum(), table[:rest, :shown].sum()
        counts += of_all, of_retrieved, (of_all[0], of_all[1] - table[rest:, shown:].sum())
    return counts.tolist()


def _balance(scope: Scope, group: Group, shown: int, counted: Sequence[int]) -> Sequence[int]:
    """Count preferences as if there were as many documents that aren't relevant as are."""
    seen = shown if scope == "_ret" else len(group.documents)
    relevant, other = group.times * group.is_relevant, group.times * ~group.is_relevant
    most, more = int(relevant[:seen].sum()), int((relevant - other)[:seen].sum())
    if more >= 0:
        fulfilled, possible = counted
        found, all_relevant = int(relevant[:shown].sum()), int(relevant.sum())
        return fulfilled + found * more, possible + all_relevant * more
    if group.compares_all:
        first = np.diff(np.minimum(np.cumsum(other), most), prepend=0)
        # trec_eval compares the others with these, too.
        weights = group.times, relevant, first
    else:
        # trec_eval counts as many of the others as there are relevant documents, retrieved or not.
        kept = group.is_relevant | (np.cumsum(other) <= relevant.sum())
        weights = kept, kept, np.zeros_like(kept)
    return _count(group, shown, weights)[SCOPES.index(scope)]


def _average(counted: Sequence[Sequence[int]], empty: float) -> float:
    """Return the mean share, added up in order; 0 where trec_eval would divide 0 by 0."""
    total = reduce(add, (good / most if most else empty for good, most in counted))
    return total / len(counted) if total > 0 else 0.0


def _share_pairs(groups: Sequence[Group], documents: int, retrieved: int) -> dict[str, float]:
    """Return the mean over pairs of documents of their share of fulfilled preferences."""
    shown, rest = range(retrieved), range(retrieved, documents)
    total, pairs = 0.0, 0
    values = {}
    for scope, above, below in (("_ret", shown, shown), ("_imp", shown, rest), ("", rest, rest)):
        for rows in _cut(above, len(below)):
            columns = range(max(rows.start, below.start), below.stop)
            won, lost = np.zeros((2, len(rows), len(columns)), np.int64)
            for group in groups:
                here, there = group.find(rows), group.find(columns)
                if here.start < here.stop and there.start < there.stop:
                    place = np.ix_(
                        group.documents[here] - rows.start, group.documents[there] - columns.start
                    )
                    won[place] += group.table(here, there)
                    lost[place] += group.table(there, here).T
            either = won + lost
            is_compared = np.triu(either > 0, rows.start - columns.start + 1)
            shares = won[is_compared] / either[is_compared]
            pairs += len(shares)
            if scope:  # trec_eval adds them up in this order
                total = float(np.cumsum(np.concatenate([[total], shares]))[-1])
        values[f"prefs_pair{scope}"] = total / pairs if pairs else 0.0
    return values


def _cut(numbers: range, width: int) -> Iterator[range]:
    """Yield so many rows of a table of this width that few pairs are in memory at a time."""
    step = max(1, PAIRS_AT_ONCE // max(width, 1))
    for start in range(0, len(numbers), step):
        yield numbers[start : start + step]
