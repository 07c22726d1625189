"""The retrieved documents as a set, in whatever order."""

from __future__ import annotations

import math

from rankscope.reference.binary import harmonic, share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.reference.query import Query


def set_precision(query: Query, *, rel: float) -> float:
    """Divide the relevant retrieved documents by the retrieved ones; 0 if there are none."""
    if query.relevant(rel) == 0:
        return math.nan
    return len(query.relevant_ranks(rel)) / len(query.ranking) if query.ranking else 0.0


def set_recall(query: Query, *, rel: float) -> float:
    """Divide the relevant retrieved documents by the relevant ones."""
    return share(len(query.relevant_ranks(rel)), query.relevant(rel))


def set_f(query: Query, *, rel: float, beta: float) -> float:
    """Take the weighted harmonic mean of both."""
    return harmonic(set_precision(query, rel=rel), set_recall(query, rel=rel), beta)


def set_ap(query: Query, *, rel: float) -> float:
    """Multiply both; with one division, as trec_eval rounds it."""
    if query.relevant(rel) == 0:
        return math.nan
    found, retrieved = len(query.relevant_ranks(rel)), len(query.ranking)
    return found * found / (retrieved * query.relevant(rel)) if retrieved else 0.0
