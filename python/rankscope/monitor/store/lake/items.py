"""Checks the documents of many rankings at once, and puts them into rank order."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.inputs.arrow import load_arrow
from rankscope.monitor.store.lake.cells import (
    code_values,
    make_keys,
    read_numbers,
    read_texts,
    spread,
    take,
)
from rankscope.monitor.store.tables.documents import offsets_of
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankscope.monitor.events.limits import Limits
    from rankscope.monitor.store.lake.cells import Foreign, Marks


@record(frozen=True, slots=True, kw_only=True)
class CheckedItems:
    """The documents of rankings in rank order, and what was found about the rankings.

    Args:
        offsets: The documents of ranking `q` are rows `offsets[q]:offsets[q + 1]`.
        doc_ids: Texts of Arrow.
        ranks: Their ranks, from 1.
        scores: Their scores, NaN for none.
        relevance: Their grades, likewise.
        marks: Which rankings need a closer look.
        notes: By code, which rankings have something suspicious but legal.
    """

    offsets: NDArray[np.int64]
    doc_ids: Foreign
    ranks: NDArray[np.int64]
    scores: NDArray[np.float64]
    relevance: NDArray[np.float64]
    marks: Marks
    notes: dict[str, Marks]


def check_items(
    sizes: NDArray[np.int64],
    columns: Mapping[str, tuple[Foreign, Marks]],
    limits: Limits,
    *,
    is_plain: bool = False,
) -> CheckedItems:
    """Check the documents of rankings."""
    offsets = offsets_of(sizes)
    count = len(sizes)
    of_document = np.repeat(np.arange(count), sizes)
    given_ids, _ = columns["doc_id"]
    doc_ids, wrong = read_texts(given_ids, limits.id_bytes, fewest=1)
    if not is_plain:
        wrong = wrong | _find_repeated(doc_ids, offsets)
    # Columns that nobody logged share one array, because new memory takes time.
    numbers = dict.fromkeys(("rank", "score", "relevance"), np.full(len(of_document), np.nan))
    for role in numbers.keys() & columns.keys():
        flat, has = columns[role]
        found, marks = read_numbers(flat)
        if has.all():
            numbers[role] = found
            wrong |= marks
        else:
            is_there = has[of_document]
            numbers[role] = np.full(len(of_document), np.nan)
            numbers[role][is_there] = found
            wrong[is_there] |= marks
    places = np.arange(1, len(of_document) + 1) - offsets[of_document]
    ranks, has_ranks = places, np.zeros(count, dtype=np.bool_)
    is_based_0 = has_ranks
    if "rank" in columns:
        has_ranks = columns["rank"][1]
        ranks, is_based_0, bad_ranks = _read_ranks(
            numbers["rank"], has_ranks, places, of_document, limits.rank
        )
        wrong |= bad_ranks
        if ((ranks[1:] <= ranks[:-1]) & (of_document[1:] == of_document[:-1])).any():
            order = np.lexsort((ranks, of_document))
            ranks, doc_ids = ranks[order], take(doc_ids, order)
            numbers = {role: column[order] for role, column in numbers.items()}
            wrong = wrong[order]
            wrong[1:] |= (ranks[1:] == ranks[:-1]) & (of_document[1:] == of_document[:-1])
    marks = sizes > limits.items
    marks[of_document[np.flatnonzero(wrong)]] = True
    has_gaps = np.zeros(count, dtype=np.bool_)
    filled = np.flatnonzero(sizes)
    has_gaps[filled] = ranks[offsets[1:][filled] - 1] != sizes[filled]
    is_integer = load_arrow().types.is_integer(given_ids.type)
    disagrees = np.zeros(count, dtype=np.bool_)
    if "score" in columns:
        # Where there are no ranks, the order is all that was logged.
        disagrees = has_ranks & _find_disagreement(numbers["score"], of_document, count)
    return CheckedItems(
        offsets=offsets,
        doc_ids=doc_ids,
        ranks=ranks,
        scores=numbers["score"],
        relevance=numbers["relevance"],
        marks=marks,
        notes={
            "empty_ranking": sizes == 0,
            "int_ids": (sizes > 0) & is_integer,
            "zero_based_ranks": is_based_0,
            "rank_gaps": has_gaps,
            "rank_score_disagree": disagrees,
        },
    )


def _find_repeated(doc_ids: Foreign, offsets: NDArray[np.int64]) -> Marks:
    """Mark the documents of rankings that show one twice."""
    marks = np.zeros(len(doc_ids), dtype=np.bool_)
    # Equal ids have equal keys, so that almost all rankings are seen to be good by sorting theirs.
    keys = make_keys(doc_ids)
    sizes = np.diff(offsets)
    suspects = []
    for size in np.unique(sizes[sizes > 1]).tolist():
        rankings = np.flatnonzero(sizes == size)
        square = keys[offsets[rankings][:, np.newaxis] + np.arange(size)]
        square.sort(axis=1)
        suspects.append(rankings[(square[:, 1:] == square[:, :-1]).any(axis=1)])
    chosen = np.concatenate(suspects) if suspects else np.zeros(0, dtype=np.int64)
    if not len(chosen):
        return marks
    rows = spread(offsets, chosen)
    codes, values = code_values(take(doc_ids, rows))
    exact = np.repeat(chosen, sizes[chosen]) * len(values) + codes
    _, of_key, counts = np.unique(exact, return_inverse=True, return_counts=True)
    marks[rows] = counts[of_key] > 1
    return marks


def _read_ranks(
    given: NDArray[np.float64],
    has_ranks: Marks,
    places: NDArray[np.int64],
    of_document: NDArray[np.int64],
    most: int,
) -> tuple[NDArray[np.int64], Marks, Marks]:
    """Return ranks from 1, which rankings count from 0, and the documents with a bad rank."""
    count = len(has_ranks)
    is_given = has_ranks[of_document]
    is_good = is_given & (given >= 0) & (given <= most) & (np.floor(given) == given)
    is_based_0 = np.bincount(of_document[is_good & (given == 0)], minlength=count) > 0
    ranks = places.copy()
    ranks[is_good] = given[is_good].astype(np.int64) + is_based_0[of_document[is_good]]
    return ranks, is_based_0, is_given & ~is_good


def _find_disagreement(
    scores: NDArray[np.float64], of_document: NDArray[np.int64], count: int
) -> Marks:
    """Mark the rankings whose scores don't descend."""
    known = np.flatnonzero(~np.isnan(scores))
    found, rankings = scores[known], of_document[known]
    rises = (found[1:] > found[:-1]) & (rankings[1:] == rankings[:-1])
    return np.asarray(np.bincount(rankings[1:][rises], minlength=count) > 0)
