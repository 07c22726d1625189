"""Measures of the retrieved documents as a set, regardless of their order."""

from __future__ import annotations

import math

from tests.reference.binary import harmonic, share
from tests.reference.query import Query


def set_precision(query: Query, *, k: int | None, rel: float, relative: bool) -> float:
    """Return the share of the retrieved documents that are relevant, or 0 without any."""
    relevant = query.relevant(rel)
    if relevant == 0:
        return math.nan
    retrieved = len(query.ranking[:k])
    most = min(retrieved, relevant) if relative else retrieved
    return len(query.relevant_ranks(rel, k)) / most if most else 0.0


def set_recall(query: Query, *, k: int | None, rel: float) -> float:
    """Return the share of the relevant documents that were retrieved."""
    return share(len(query.relevant_ranks(rel, k)), query.relevant(rel))


def set_f(query: Query, *, rel: float, beta: float) -> float:
    """Return the weighted harmonic mean of set precision and set recall."""
    precision = set_precision(query, k=None, rel=rel, relative=False)
    return harmonic(precision, set_recall(query, k=None, rel=rel), beta)


def set_ap(query: Query, *, rel: float) -> float:
    """Return set precision times set recall, with a single division like trec_eval."""
    if query.relevant(rel) == 0:
        return math.nan
    found, retrieved = len(query.relevant_ranks(rel)), len(query.ranking)
    return found * found / (retrieved * query.relevant(rel)) if retrieved else 0.0


def utility(
    query: Query,
    *,
    hit: float,
    false_alarm: float,
    miss: float,
    rejection: float,
    documents: float,
    rel: float,
) -> float:
    """Return what the four kinds of documents are worth together."""
    found, retrieved = len(query.relevant_ranks(rel)), len(query.ranking)
    relevant = query.relevant(rel)
    neither = documents + found - retrieved - relevant
    return (
        hit * found
        + false_alarm * (retrieved - found)
        + miss * (relevant - found)
        + rejection * neither
    )
