"""Other orders than that of a list: the ideal list, the best and the worst order, the best swap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankscope._explain.explanation import Document, Order
from rankscope._explain.gains import BestSwap, IdealRow
from rankscope._explain.query import Kernels, RankedDocuments, RankedQuery
from rankscope.measures import Measure


def list_judged(
    kernels: Kernels, counted: RankedDocuments, gains: Sequence[float]
) -> tuple[list[Document], list[Document]]:
    """List the judged documents with a gain: those in the list by rank, and the others by id."""
    query, ignores = kernels.query, kernels.policy.unretrieved == "ignore"
    rank_of = {row: rank for rank, row in enumerate(counted.rows, start=1)}
    retrieved: list[tuple[int, Document]] = []
    unretrieved: list[Document] = []
    docs: Sequence[str | None] = query.judged_docs or [None] * len(query.judged)
    for row, doc, grade, gain in zip(_find_rows(query), docs, query.judged, gains, strict=True):
        if not gain > 0 or (row is None and ignores):
            continue
        if row is None:
            unretrieved.append(Document(doc, grade, gain, None))
        else:
            doc_id = query.docs[row] if doc is None and query.docs is not None else doc
            retrieved.append((row, Document(doc_id, grade, gain, rank_of.get(row))))
    retrieved.sort(key=lambda pair: pair[0])
    unretrieved.sort(key=lambda document: document.doc_id or "")
    return [document for _, document in retrieved], unretrieved


def _find_rows(query: RankedQuery) -> list[int | None]:
    """Find the row of each judged document by its id, or by its grade without ids."""
    if query.judged_docs is not None and query.docs is not None:
        row_of = {doc: row for row, doc in enumerate(query.docs)}
        return [row_of.get(doc) for doc in query.judged_docs]
    rows: dict[float, list[int]] = {}
    for row in range(len(query.grades) - 1, -1, -1):
        rows.setdefault(query.grades[row], []).append(row)
    return [rows[grade].pop() if rows.get(grade) else None for grade in query.judged]


def rank_ideal(
    judged: Sequence[Document], query: RankedQuery, counted: RankedDocuments, measure: Measure
) -> list[Document]:
    """Sort the documents of the ideal list, without those that have no gain."""
    ideal = measure.parameters["ideal"]
    if ideal == "slots":
        return [Document(None, 1.0, 1.0, None)] * (measure.k or 0)
    if ideal == "retrieved":
        ranked = enumerate(zip(counted.rows, counted.gains, strict=True), start=1)
        judged = [query.document(row, gain, rank) for rank, (row, gain) in ranked]
    positive = [document for document in judged if document.gain > 0]
    positive.sort(key=lambda document: -document.gain)
    return positive if ideal == "whole" else positive[: measure.k]


def derive_ideal(
    ranked: Sequence[Document], measure: Measure, kernels: Kernels
) -> tuple[IdealRow, ...]:
    """Return what each rank of the ideal list adds."""
    if not ranked:
        return ()
    has_docs = measure.parameters["ideal"] != "slots"
    if measure.parameters["ideal"] == "whole":  # cut, its values are the running sums
        measure = measure(ideal="judged")
    ranks = range(1, len(ranked) + 1)
    discounts = kernels.discounted(measure, [1.0] * len(ranked), ranks)
    contributions = kernels.discounted(measure, [document.gain for document in ranked], ranks)
    sums = kernels.values([measure @ rank for rank in ranks])
    return tuple(
        IdealRow(
            rank=rank,
            doc_id=document.doc_id,
            grade=document.grade if has_docs else None,
            gain=document.gain,
            discount=discounts[rank - 1],
            contribution=contributions[rank - 1],
            idcg=sums[rank - 1],
            found_at=document.rank,
        )
        for rank, document in zip(ranks, ranked, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Swap:
    """Two ranks, from 1, whose documents should change places, and what the value gains."""

    rank: int
    other_rank: int
    gained: float


def find_best_swap(gains: Sequence[float], discounts: Sequence[float]) -> Swap | None:
    """Find the swap of two documents of a list that gains most.

    Two documents of gains g and h at ranks of discounts d and e gain (h - g)(d - e), which
    is the |ΔDCG| of LambdaRank (Burges et al., *Learning to rank with nonsmooth cost functions*,
    2006). It is exact for one swap; what several gain does not add up.

    Examples:
        >>> find_best_swap([0, 3, 2, 3], [1.0, 0.5, 0.25, 0.125])
        Swap(rank=1, other_rank=4, gained=2.625)
        >>> find_best_swap([3, 2, 1], [1.0, 0.5, 0.25]) is None
        True
    """
    # Either partner is worth trying only if none of a better gain stands at as good a discount.
    upper: list[int] = []
    for index in sorted(range(len(gains)), key=lambda index: (gains[index], -discounts[index])):
        if not upper or discounts[index] > discounts[upper[-1]]:
            upper.append(index)
    lower: list[int] = []
    for index in sorted(range(len(gains)), key=lambda index: (-gains[index], discounts[index])):
        if not lower or discounts[index] < discounts[lower[-1]]:
            lower.append(index)
    lower.reverse()

    def gain(one: int, other: int) -> float:
        risen, fallen = gains[other] - gains[one], discounts[one] - discounts[other]
        # Two negative differences are the same swap, named the other way round.
        return (-1 if risen < 0 and fallen < 0 else 1) * risen * fallen

    # Along both, better gains go with better discounts: the partner of a later one is a later one,
    # so that each halving leaves less to try.
    best = Swap(0, 0, 0.0)
    parts = [(0, len(upper), 0, len(lower) - 1)]
    while parts:
        start, end, first, last = parts.pop()
        if start == end or first > last:
            continue
        middle = (start + end) // 2
        one = upper[middle]
        at = max(range(first, last + 1), key=lambda at: gain(one, lower[at]))
        if gain(one, lower[at]) > best.gained:
            best = Swap(one + 1, lower[at] + 1, gain(one, lower[at]))
        parts += [(start, middle, first, at), (middle + 1, end, at, last)]
    return best if best.gained > 0 else None


def find_extremes(
    counted: RankedDocuments, weights: Sequence[float], kernels: Kernels
) -> tuple[Order, Order]:
    """Find the best and the worst order of the documents."""
    places = sorted(range(len(weights)), key=lambda place: -weights[place])
    removed = [kernels.query.grades[row] for row in counted.removed]

    def arrange(sign: int) -> Order:
        order = sorted(range(len(counted)), key=lambda place: sign * counted.gains[place])
        grades = [0.0] * len(counted)
        for place, document in zip(places, order, strict=True):
            grades[place] = counted.grades[document]
        value = kernels.value_of_order(kernels.measure, [*grades, *removed])
        return Order(value, tuple(grades[: kernels.measure.k]))

    return arrange(-1), arrange(1)


def find_swap(
    counted: RankedDocuments, weights: Sequence[float], kernels: Kernels
) -> BestSwap | None:
    """Find the swap of two documents that gains most, if any swap gains."""
    swap = find_best_swap(counted.gains, weights)
    if swap is None:
        return None
    query, value = kernels.query, kernels.values([kernels.measure])[0]
    ranks = swap.rank, swap.other_rank
    upper, lower = (counted.rows[rank - 1] for rank in ranks)
    grades = [*query.grades]
    grades[upper], grades[lower] = grades[lower], grades[upper]
    after = kernels.value_of_grades(kernels.measure, grades)
    if not after > value:
        return None
    one, other = (
        query.document(counted.rows[rank - 1], counted.gains[rank - 1], rank) for rank in ranks
    )
    return BestSwap(one, other, after, after - value)
