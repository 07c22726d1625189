"""Measures of the retrieved documents as a set, regardless of their order."""

from __future__ import annotations

import math

from rankscope.reference.binary import harmonic, share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.reference.query import Query


def set_precision(query: Query, *, rel: float) -> float:
    """Return the share of the retrieved documents that are relevant, or 0 without any."""
    if query.relevant(rel) == 0:
        return math.nan
    return len(query.relevant_ranks(rel)) / len(query.ranking) if query.ranking else 0.0


def set_recall(query: Query, *, rel: float) -> float:
    """Return the share of the relevant documents that were retrieved."""
    return share(len(query.relevant_ranks(rel)), query.relevant(rel))


def set_f(query: Query, *, rel: float, beta: float) -> float:
    """Return the weighted harmonic mean of set precision and set recall."""
    return harmonic(set_precision(query, rel=rel), set_recall(query, rel=rel), beta)


def set_ap(query: Query, *, rel: float) -> float:
    """Return set precision times set recall, with a single division like trec_eval."""
    if query.relevant(rel) == 0:
        return math.nan
    found, retrieved = len(query.relevant_ranks(rel)), len(query.ranking)
    return found * found / (retrieved * query.relevant(rel)) if retrieved else 0.0
