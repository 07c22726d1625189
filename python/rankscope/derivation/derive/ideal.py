"""The ideal list of a query: its documents and their order."""

from __future__ import annotations

from rankscope.derivation.explanation import IdealRow
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.derivation.derive.kernels import Kernels
    from rankscope.derivation.derive.query import RankedDocuments, RankedQuery
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy


@record(frozen=True, slots=True)
class JudgedDocument:
    """A document with a gain above 0, which may be in the ideal list.

    Args:
        doc_id: What it is called, or `None`.
        grade: Its grade.
        gain: Its gain.
        rank: Its rank in the list, or `None`.
        is_retrieved: Whether it was retrieved, be it without a rank.
    """

    doc_id: str | None
    grade: float
    gain: float
    rank: int | None
    is_retrieved: bool


def list_judged(
    query: RankedQuery, counted: RankedDocuments, gains: Sequence[float]
) -> list[JudgedDocument]:
    """List the judged documents with a gain above 0: retrieved ones by rank, then others by id."""
    rank_of = {row: rank for rank, row in enumerate(counted.rows, start=1)}
    found: list[tuple[tuple[int, str], JudgedDocument]] = []
    for place, row in enumerate(_find_rows(query)):
        grade, gain = query.judged[place], gains[place]
        if not gain > 0:
            continue
        doc = query.judged_docs[place] if query.judged_docs is not None else None
        if doc is None and row is not None:
            doc = query.name(row)
        rank = None if row is None else rank_of.get(row)
        key = (len(query.grades), doc or "") if row is None else (row, "")
        found.append((key, JudgedDocument(doc, grade, gain, rank, row is not None)))
    return [judged for _, judged in sorted(found, key=lambda pair: pair[0])]


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
    judged: Sequence[JudgedDocument],
    query: RankedQuery,
    counted: RankedDocuments,
    measure: Measure,
    policy: Policy,
) -> list[JudgedDocument]:
    """Sort the documents of the ideal list, without those that have no gain."""
    ideal = measure.parameters["ideal"]
    if ideal == "slots":
        return [JudgedDocument(None, 1.0, 1.0, None, is_retrieved=False)] * (measure.k or 0)
    candidates = list(judged)
    if ideal == "retrieved":
        candidates = [
            JudgedDocument(query.name(row), counted.grades[at], counted.gains[at], at + 1, True)
            for at, row in enumerate(counted.rows)
        ]
    elif policy.unretrieved == "ignore":
        candidates = [each for each in judged if each.is_retrieved]
    candidates.sort(key=lambda each: -each.gain)
    positive = [each for each in candidates if each.gain > 0]
    return positive if ideal == "whole" else positive[: measure.k]


def derive_ideal(
    ranked: Sequence[JudgedDocument], measure: Measure, kernels: Kernels
) -> tuple[IdealRow, ...]:
    """Return what each rank of the ideal list adds."""
    if not ranked:
        return ()
    ranks = range(1, len(ranked) + 1)
    gains = [each.gain for each in ranked]
    discounts = kernels.discounted(measure, [1.0] * len(ranked), ranks)
    contributions = kernels.discounted(measure, gains, ranks)
    sums = kernels.values([measure @ rank for rank in ranks])
    is_slot = measure.parameters["ideal"] == "slots"
    return tuple(
        IdealRow(
            rank=rank,
            doc_id=each.doc_id,
            grade=None if is_slot else each.grade,
            gain=each.gain,
            discount=discount,
            contribution=contribution,
            idcg=total,
            found_at=each.rank,
        )
        for rank, each, discount, contribution, total in zip(
            ranks, ranked, discounts, contributions, sums, strict=True
        )
    )
