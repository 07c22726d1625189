"""The order of the documents of a query, with ties broken by a policy, and means over queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A retrieved document; its grade is `None` if it is unjudged."""

    doc_id: str
    score: float
    grade: float | None = None


def rank(documents: Iterable[Retrieved], ties: str = "doc_id") -> list[Retrieved]:
    """Return documents in descending order of score.

    Args:
        documents: The documents, in input order.
        ties: How to order documents with equal scores: `doc_id` puts the largest ID first (compared
            byte by byte), `doc_id_asc` the smallest, `input` keeps the input order, and `best` and
            `worst` put the highest or lowest grade first (unjudged counts as 0), then the largest
            ID.

    Examples:
        >>> tied = [Retrieved("a", 1.0, 2), Retrieved("b", 1.0), Retrieved("c", 3.0)]
        >>> [document.doc_id for document in rank(tied)]
        ['c', 'b', 'a']
        >>> [document.doc_id for document in rank(tied, "best")]
        ['c', 'a', 'b']
    """
    # Sorting is stable, so the last sort has the highest priority.
    ordered = list(documents)
    if ties != "input":
        ordered.sort(key=lambda document: document.doc_id.encode(), reverse=ties != "doc_id_asc")
    if ties in {"best", "worst"}:
        ordered.sort(key=lambda document: document.grade or 0, reverse=ties == "best")
    return sorted(ordered, key=lambda document: document.score, reverse=True)


FLOOR = 0.000_01


def mean(values: Sequence[float], how: str = "mean") -> float:
    """Return the aggregate of the values of queries, with exact sums; NaN for a mean of none."""
    if how == "sum":
        return math.fsum(values)
    if not values:
        return math.nan
    if how == "geometric":
        return math.exp(math.fsum(math.log(max(value, FLOOR)) for value in values) / len(values))
    return math.fsum(values) / len(values)
