"""The values of one query against preferences, which trec_eval calls `prefs_*`.

A preference for one document over another one is fulfilled if it is ranked above the other one, or
if it was retrieved and the other one was not. Documents are numbered by rank, and those that were
not retrieved follow in the order of their IDs.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter

import numpy as np

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Literal, TypeAlias

    from numpy.typing import NDArray

    Counts: TypeAlias = NDArray[np.int64]
    """A number for each document."""
    Table: TypeAlias = NDArray[np.int64]
    """How many preferences there are for each document (row) over each other one (column)."""
    Scope: TypeAlias = Literal["", "_ret", "_imp"]
    """Which preferences count: all, those of retrieved documents, or of at least one of them."""


class ConflictError(Exception):
    """Preferences of one group contradict each other.

    Args:
        document: The number of a document that they are about.
        what: What they say about it.
    """

    def __init__(self, document: int, what: str) -> None:
        super().__init__(what)
        self.document = document
        self.what = what


@record(frozen=True, slots=True)
class Judgment:
    """A level that a judge gave a document.

    Args:
        group: The name of the group of the judge.
        subgroup: The name of the subgroup.
        level: The level; 0 is not relevant.
        document: The number of the document.
    """

    group: bytes
    subgroup: bytes
    level: float
    document: int


@record(frozen=True, slots=True)
class Group:
    """The preferences of one group.

    Args:
        table: Its preferences.
        relevant: How often each document is relevant.
        other: How often each document isn't.
        keep: Returns the preferences among relevant documents, and over the first of the others.
    """

    table: Table
    relevant: Counts
    other: Counts
    keep: Callable[[int, int], Table]


def find_values(
    judgments: Iterable[Judgment], documents: int, retrieved: int
) -> Mapping[str, float]:
    """Return the values of all measures, by name.

    Examples:
        >>> better, worse = Judgment(b"u", b"s", 2, 0), Judgment(b"u", b"s", 1, 1)
        >>> find_values([better, worse], documents=2, retrieved=1)["prefs_simp"]
        1.0
    """
    ordered = sorted(judgments, key=attrgetter("group"))
    groups = [_join(list(some), documents) for _, some in groupby(ordered, key=attrgetter("group"))]
    values: dict[str, float] = {}
    scopes: tuple[Scope, ...] = ("", "_ret", "_imp")
    for scope in scopes:
        counted = [_count(group.table, retrieved, scope) for group in groups]
        fulfilled, possible = map(sum, zip(*counted, strict=True))
        if scope != "_imp":
            values[f"prefs_num_prefs_ful{scope}"] = fulfilled
            values[f"prefs_avgjg_Rnonrel{scope}"] = _average(
                [_share(*_balance(group, retrieved, scope)) for group in groups]
            )
        if scope == "":
            values["prefs_num_prefs_poss"] = possible
        values[f"prefs_simp{scope}"] = fulfilled / possible if possible else 0.0
        shares = [_share(*each) if each[1] else 0.0 for each in counted]
        values[f"prefs_avgjg{scope}"] = _average(shares)
    total = sum((group.table for group in groups), np.zeros((documents, documents), np.int64))
    return values | _share_pairs(total, retrieved)


def _join(judgments: Sequence[Judgment], documents: int) -> Group:
    """Return the preferences of a group."""
    ordered = sorted(judgments, key=lambda one: (one.subgroup, -one.level, one.document))
    subgroups = [
        [
            (level, np.bincount([one.document for one in of_level], minlength=documents))
            for level, of_level in groupby(of_subgroup, key=attrgetter("level"))
        ]
        for _, of_subgroup in groupby(ordered, key=attrgetter("subgroup"))
    ]
    if len(subgroups) == 1:
        return _join_levels(subgroups[0], documents)
    levels = np.full(documents, -1.0)
    for one in ordered:
        before = levels[one.document]
        if before >= 0 and (before > 0) != (one.level > 0):
            raise ConflictError(one.document, "is relevant and not relevant")
        levels[one.document] = one.level
    compared = [_compare([counts for _, counts in some], documents) for some in subgroups]
    table = _close(sum(compared, np.zeros((documents, documents), np.int64)))

    def keep(_first: int, retrieved: int) -> Table:
        others = np.flatnonzero(levels[:retrieved] == 0)
        kept = table.copy()
        # trec_eval counts as many of the others as there are relevant documents, retrieved or not.
        most = int((levels > 0).sum())
        for document in others[most:]:
            kept[document] = kept[:, document] = 0
        return kept

    return Group(table, (levels > 0).astype(np.int64), (levels == 0).astype(np.int64), keep)


def _join_levels(levels: Sequence[tuple[float, Counts]], documents: int) -> Group:
    """Return the preferences of a group that compares any two of its documents."""
    counts = [count for _, count in levels]
    twice = np.flatnonzero(sum(count > 0 for count in counts) > 1)
    if len(twice):
        raise ConflictError(int(twice[0]), "has several levels in one subgroup")
    zeros = np.zeros(documents, np.int64)
    relevant = sum((count for level, count in levels if level > 0), zeros)
    other = sum((count for level, count in levels if level == 0), zeros)

    def keep(first: int, _retrieved: int) -> Table:
        numbers = np.repeat(np.arange(documents), other)[:first]
        some = np.bincount(numbers, minlength=documents)
        # trec_eval compares the others with these, too.
        return _compare(counts[:-1], documents) + np.outer(sum(counts, zeros), some)

    return Group(_compare(counts, documents), relevant, other, keep)


def _compare(levels: Sequence[Counts], documents: int) -> Table:
    """Return the preferences for documents over those of lower levels; the highest is first."""
    table = np.zeros((documents, documents), np.int64)
    below = np.zeros(documents, np.int64)
    for counts in reversed(levels):
        table += np.outer(counts, below)
        below = below + counts
    return table


def _close(table: Table) -> Table:
    """Return the preferences with those that follow from them, each once."""
    reached = (table > 0).astype(np.float32)
    np.fill_diagonal(reached, 1)
    while True:
        further = (reached @ reached > 0).astype(np.float32)
        if np.array_equal(further, reached):
            break
        reached = further
    np.fill_diagonal(reached, 0)
    both = np.argwhere((reached > 0) & (reached.T > 0))
    if len(both):
        raise ConflictError(int(both[0][0]), "is preferred to a document that is preferred to it")
    return reached.astype(np.int64)


def _count(table: Table, retrieved: int, scope: Scope) -> tuple[int, int]:
    """Return how many preferences are fulfilled, and how many there are."""
    if scope == "_ret":
        table = table[:retrieved, :retrieved]
    possible = int(table.sum())
    if scope == "_imp":
        possible -= int(table[retrieved:, retrieved:].sum())
    return int(np.triu(table[:retrieved], 1).sum()), possible


def _balance(group: Group, retrieved: int, scope: Scope) -> tuple[int, int]:
    """Count preferences as if there were as many documents that aren't relevant as are."""
    shown = retrieved if scope == "_ret" else len(group.table)
    relevant, other = int(group.relevant[:shown].sum()), int(group.other[:shown].sum())
    if relevant < other:
        return _count(group.keep(relevant, shown), retrieved, scope)
    fulfilled, possible = _count(group.table, retrieved, scope)
    added = relevant - other
    found = int(group.relevant[:retrieved].sum())
    return fulfilled + found * added, possible + int(group.relevant.sum()) * added


def _share(fulfilled: int, possible: int) -> float:
    return fulfilled / possible if possible else float("nan")


def _average(shares: Sequence[float]) -> float:
    """Return the mean, added up in order; 0 where trec_eval would divide 0 by 0."""
    total = 0.0
    for share in shares:
        total += share
    return total / len(shares) if total > 0 else 0.0


def _share_pairs(table: Table, retrieved: int) -> dict[str, float]:
    """Return the mean over pairs of documents of their share of fulfilled preferences."""
    either = table + table.T
    found = np.triu(np.ones_like(either, dtype=bool), 1) & (either > 0)
    total, pairs = 0.0, 0
    values = {}
    parts: tuple[tuple[Scope, slice], ...] = (
        ("_ret", slice(0, retrieved)),
        ("_imp", slice(retrieved, None)),
    )
    for scope, columns in parts:
        where = found[:retrieved, columns]
        shares = table[:retrieved, columns][where] / either[:retrieved, columns][where]
        # trec_eval adds them up in this order.
        total = float(np.cumsum(np.concatenate([[total], shares]))[-1])
        pairs += len(shares)
        values[f"prefs_pair{scope}"] = total / pairs if pairs else 0.0
    pairs += int(found[retrieved:].sum())
    return {**values, "prefs_pair": total / pairs if pairs else 0.0}
