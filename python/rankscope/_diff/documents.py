"""The documents of a query that moved from one run to the other, and what each move gained."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankscope._diff.difference import DocumentMoves
from rankscope._explain.ledger import take_settings
from rankscope._explain.query import Kernels, RankedDocuments, RankedQuery, count_gains
from rankscope._settings import Policy
from rankscope._show.table import Cell, SourceIds, Table
from rankscope.measures import CG, DCG, IDCG, Measure

SUMS = ("nDCG", "DCG", "CG")
"""Measures whose values are sums over documents."""


@dataclass(frozen=True, slots=True)
class Position:
    """The rank of a document, or the mean of its tie; whether it is shown; what it is worth."""

    rank: float
    is_shown: bool
    worth: float


def list_moves(
    queries: tuple[RankedQuery, RankedQuery],
    measure: Measure,
    policy: Policy,
    values: tuple[float, float],
    source: SourceIds,
) -> DocumentMoves:
    """List the documents at or above the cutoff in either of two runs."""
    is_sum = measure.row.name in SUMS and policy.negative != "minmax"
    (ours, rest), (theirs, other_rest) = (
        _place(query, measure, policy, value, is_sum=is_sum)
        for query, value in zip(queries, values, strict=True)
    )
    rows = []
    for doc in {**ours, **theirs}:
        before, after = ours.get(doc), theirs.get(doc)
        places = [place for place in (before, after) if place]
        if any(place.is_shown for place in places):
            gained = (after.worth if after else 0.0) - (before.worth if before else 0.0)
            key = (-abs(gained), min(place.rank for place in places))
            rows.append((key, doc, before, after, gained))
    rows.sort(key=lambda row: row[0])
    grade_of = {doc: grade for query in queries for doc, grade in _list_grades(query)}
    columns: dict[str, list[Cell]] = {
        "doc_id": [doc for _, doc, *_ in rows],
        "grade": [grade_of.get(doc) for _, doc, *_ in rows],
        "rank_a": [before.rank if before else None for *_, before, _, _ in rows],
        "rank_b": [after.rank if after else None for *_, after, _ in rows],
        "move": [_name_move(before, after) for *_, before, after, _ in rows],
        "gained": [gained for *_, gained in rows],
    }
    if other_rest != rest:
        cells = ("", None, None, None, "no document", other_rest - rest)
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(cell)
    if not is_sum:
        del columns["gained"]
    table = Table(columns, source=source)
    return DocumentMoves(query_id=queries[0].query_id or "", values=values, table=table)


def _list_grades(query: RankedQuery) -> list[tuple[str, float]]:
    """List the documents whose grades are known."""
    judged = zip(query.judged_docs or (), query.judged, strict=False)
    ranked = zip(query.docs or (), query.grades, strict=False)
    return [*judged, *((doc, grade) for doc, grade in ranked if not math.isnan(grade))]


def _place(
    query: RankedQuery, measure: Measure, policy: Policy, value: float, *, is_sum: bool
) -> tuple[dict[str, Position], float]:
    """Return the place of each document, and what ranks without one add to the value."""
    kernels = Kernels(query, measure, policy)
    counted = count_gains(kernels, take_settings(CG.row, measure) if is_sum else CG)
    worths, rest = [0.0] * len(counted), 0.0
    if is_sum:
        own, ideal = kernels.values([measure, take_settings(IDCG.row, measure)])
        if measure.row.name != "nDCG":
            ideal = 1.0
        if math.isnan(own) or math.isnan(value):  # undefined, or left out
            rest = value
        else:
            worths = [worth / ideal for worth in _discount(counted, measure, kernels)]
            rest = _discount_missing(len(counted), measure, kernels) / ideal
    places = {}
    for rank, (doc, worth) in enumerate(zip(counted.docs, worths, strict=True), start=1):
        first, last = counted.ties.get(rank, (rank, rank))
        shown = (first + last) / 2 if query.ties == "average" else rank
        places[doc or ""] = Position(shown, measure.k is None or first <= measure.k, worth)
    return places, rest


def _discount(counted: RankedDocuments, measure: Measure, kernels: Kernels) -> list[float]:
    """Discount the gain of each document by its rank, averaged over the ranks of a tie."""
    size = len(counted)
    reach = min(size, measure.k or size)
    ranks, below = range(1, reach + 1), [0.0] * (size - reach)
    dcg = take_settings(DCG.row, measure)
    weights = counted.average([*kernels.discounted(dcg, [1.0] * reach, ranks), *below])
    worths = [*kernels.discounted(dcg, counted.gains[:reach], ranks), *below]
    for rank in counted.ties:
        worths[rank - 1] = counted.gains[rank - 1] * weights[rank - 1]
    return worths


def _discount_missing(size: int, measure: Measure, kernels: Kernels) -> float:
    """Discount the gain of missing ranks down to the cutoff."""
    missing_gain = kernels.policy.missing_gain
    if not missing_gain or measure.k is None:
        return 0.0
    ranks = range(size + 1, measure.k + 1)
    gains = [float(missing_gain)] * len(ranks)
    return math.fsum(kernels.discounted(take_settings(DCG.row, measure), gains, ranks))


def _name_move(before: Position | None, after: Position | None) -> str:
    if before is None or (after and after.is_shown and not before.is_shown):
        return "entered"
    if after is None or (before.is_shown and not after.is_shown):
        return "left"
    if before.rank == after.rank:
        return "same"
    return "up" if after.rank < before.rank else "down"
