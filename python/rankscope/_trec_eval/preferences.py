"""Evaluates a run against preferences between documents: `-R prefs` and `-R qrels_prefs`."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from graphlib import CycleError, TopologicalSorter
from itertools import count, groupby, pairwise
from operator import add, itemgetter, or_
from typing import TYPE_CHECKING, Literal, TypeAlias

import rankscope as rs
from rankscope._file import File
from rankscope._inputs.reading import Qrels
from rankscope._names import quote
from rankscope._trec_eval.columns import Evaluated
from rankscope._trec_eval.evaluating import Source, read_lines, stand_in
from rankscope._trec_eval.requests import Options, Requested
from rankscope.errors import FormatError

Line: TypeAlias = tuple[bytes, bytes, float, bytes]
"""The group of the judge, the subgroup, and the level of a document."""
Scope: TypeAlias = Literal["", "_ret", "_imp"]
"""Which preferences count: all, those of retrieved documents, or of at least one of them."""
Judgment: TypeAlias = tuple[bytes, bytes, float, int]
"""A group of judges, a subgroup, the level that it gave (0 is not relevant), and a document."""

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts: TypeAlias = NDArray[np.int64]
    """A number for each document, or for each pair of documents."""
    Flags: TypeAlias = NDArray[np.bool_]


FIELDS = {
    "prefs": ("query", "group", "subgroup", "document", "level"),
    "qrels_prefs": ("query", "group", "document", "level"),
}
"""The fields of a line, by format. In the second, a group has one subgroup."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """The lines and the documents of each query."""

    path: str
    qrels: Qrels
    """Judgments whose grades are the places of documents in `documents`."""
    lines: Sequence[Sequence[Line]]
    documents: Sequence[Sequence[bytes]]


def read_preferences(path: str, form: str, *, has_comments: bool) -> Preferences:
    """Read preferences."""
    lines: dict[bytes, list[Line]] = {}
    for number, fields in read_lines(path, FIELDS[form], has_comments=has_comments):
        query, group, *subgroup, document, level = fields
        try:
            value = float(level)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise FormatError(
                f"expected a level of 0 or more, found {quote(level.decode(errors='replace'))}",
                hint="the level of a document that isn't relevant is 0",
                code="rel_not_number",
                file=path,
                line=number,
            )
        lines.setdefault(query, []).append((group, b"".join(subgroup), value, document))
    documents = [sorted({line[-1] for line in some}) for some in lines.values()]
    texts = [
        b"%b 0 %b %d" % (query, document, number)
        for query, of_query in zip(lines, documents, strict=True)
        for number, document in enumerate(of_query)
    ]
    qrels = rs.read_qrels(File(b"\n".join(texts), "trec"))
    return Preferences(path, qrels, list(lines.values()), documents)


def evaluate_preferences(
    requests: Sequence[Requested], preferences: Preferences, source: Source, options: Options
) -> tuple[list[Evaluated], Sequence[int]]:
    """Evaluate measures against preferences."""
    # Reading judgments needs no NumPy.

    def rank(run: File) -> rs.Rankings:
        return rs.Rankings.from_run(
            preferences.qrels,
            run,
            # trec_eval sorts other judgments by descending IDs.
            ties="doc_id_asc",
            score_type=options.score_type,
        )

    try:
        rankings = source.read(rank)
    except FormatError as error:
        if not options.fills_missing or error.code != "no_common_queries":
            raise
        rankings = rank(stand_in(preferences.qrels.query_texts))
    entries = [request.entry for request in requests if request.entry.format == "prefs"]
    present = bytearray()
    rows: list[Mapping[str, float]] = []
    for query, (start, end) in enumerate(pairwise(rankings.offsets.tolist())):
        present.append(start < end)
        names = preferences.documents[query]
        shown = rankings.relevance[start:end][: options.depth].tolist()
        # The grades of the judged documents are their numbers.
        judged = [int(number) for number in shown if not math.isnan(number)]
        ranked = [names[number] for number in dict.fromkeys([*judged, *range(len(names))])]
        places = {name: place for place, name in enumerate(ranked)}
        judgments = [
            (group, subgroup, level, places[name])
            for group, subgroup, level, name in preferences.lines[query]
        ]
        try:
            is_counted = options.fills_missing or start < end
            rows.append(find_values(judgments, len(names), len(judged)) if is_counted else {})
        except ConflictError as conflict:
            number, what = conflict.args
            shown = quote(ranked[number].decode("utf-8", "replace"))
            raise FormatError(
                f"expected preferences that agree within a group, but in query "
                f"{quote(preferences.qrels.query_texts[query])} the document {shown} {what}",
                hint="give judges who disagree different groups",
                code="conflicting_preferences",
                file=preferences.path,
            ) from None
    return [
        Evaluated(entry, entry.name, [array("d", [row.get(entry.name, 0.0) for row in rows])])
        for entry in entries
    ], present


SCOPES: tuple[Scope, ...] = ("", "_ret", "_imp")
PAIRS_AT_ONCE = 1 << 21


class ConflictError(Exception):
    """Preferences of one group contradict each other: the number of a document, and what it is."""


@dataclass(frozen=True, slots=True)
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
        import numpy as np

        start, stop = np.searchsorted(self.documents, (numbers.start, numbers.stop))
        return slice(int(start), int(stop))

    def table(self, rows: slice, columns: slice) -> Counts:
        """Return how many preferences there are for each document over each other one."""
        import numpy as np

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
    import numpy as np

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
    import numpy as np

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
    import numpy as np

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
    import numpy as np

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
    import numpy as np

    seen = shown if scope == "_ret" else len(group.documents)
    relevant, other = group.times * group.is_relevant, group.times * ~group.is_relevant
    most, more = int(relevant[:seen].sum()), int((relevant - other)[:seen].sum())
    if more >= 0:
        fulfilled, possible = counted
        retrieved, all_relevant = int(relevant[:shown].sum()), int(relevant.sum())
        return fulfilled + retrieved * more, possible + all_relevant * more
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
    import numpy as np

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
