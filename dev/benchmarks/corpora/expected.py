"""The means that every tool must give, computed from the drawn rows and not from the files."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dev.benchmarks.corpora.corpus import Query

CUTOFF = 10


@dataclass(frozen=True, slots=True)
class Expected:
    """The mean of one measure under three orders of documents with equal scores.

    Args:
        doc_id: Ties by document id, descending by bytes (trec_eval).
        worst: Ties by grade, the relevant last: no order gives less.
        best: Ties by grade, the relevant first: no order gives more.
    """

    doc_id: float
    worst: float
    best: float


@dataclass(slots=True)
class Tally:
    """Values of the queries seen so far, by order of ties and measure."""

    _values: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def add(self, query: Query) -> None:
        """Evaluate one query under the three orders.

        Args:
            query: The rows as drawn.
        """
        rows = list(zip(query.scores, query.documents, strict=True))
        grades = query.grades
        orders = {
            "doc_id": sorted(rows, reverse=True),
            "worst": sorted(rows, key=lambda row: (-row[0], grades.get(row[1], 0))),
            "best": sorted(rows, key=lambda row: (-row[0], -grades.get(row[1], 0))),
        }
        ideal = sorted(grades.values(), reverse=True)
        for order, ordered in orders.items():
            ranked = [grades.get(document, 0) for _, document in ordered]
            measured = self._values.setdefault(order, {})
            for measure, value in values_of(ranked, ideal).items():
                measured.setdefault(measure, []).append(value)

    def means(self) -> dict[str, Expected]:
        """Average over the queries.

        Returns:
            The means of each measure, by its canonical name.
        """
        means = {
            order: {measure: math.fsum(values) / len(values) for measure, values in by_name.items()}
            for order, by_name in self._values.items()
        }
        return {
            measure: Expected(**{order: by_name[measure] for order, by_name in means.items()})
            for measure in means["doc_id"]
        }


def values_of(ranked: list[int], ideal: list[int]) -> dict[str, float]:
    """Evaluate one ranked list.

    Args:
        ranked: Grade of each retrieved document, 0 where unjudged, in rank order.
        ideal: All judged grades of the query, largest first.

    Returns:
        nDCG@10 with linear gain, AP and RR; 0 where the query has no relevant document.
    """
    ranks = [rank for rank, grade in enumerate(ranked, 1) if grade > 0]
    relevant_count = sum(grade > 0 for grade in ideal)
    if not relevant_count:
        return {"nDCG@10": 0.0, "AP": 0.0, "RR": 0.0}
    return {
        "nDCG@10": _dcg(ranked) / _dcg(ideal),
        "AP": sum(found / rank for found, rank in enumerate(ranks, 1)) / relevant_count,
        "RR": 1 / ranks[0] if ranks else 0.0,
    }


def _dcg(grades: list[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades[:CUTOFF], 1))
