"""Pairs of a relevant and a nonrelevant document that are in the right order."""

from __future__ import annotations

import math

from tests.reference.query import Query


def auc(query: Query, *, k: int | None, rel: float) -> float:
    """Return the share of pairs with one of the first `k` nonrelevant documents."""
    ranks = query.relevant_ranks(rel)
    negatives = len(query.ranking) - len(ranks) if k is None else k
    return _share_of_pairs(ranks, negatives, query.relevant(rel))


def pap(query: Query, *, k: int, rel: float) -> float:
    """Return the same share, with the first `k` relevant documents only."""
    return _share_of_pairs(query.relevant_ranks(rel)[:k], k, min(k, query.relevant(rel)))


def _share_of_pairs(ranks: list[int], negatives: int, relevant: int) -> float:
    if relevant == 0 or negatives == 0:
        return math.nan
    pairs = 0
    for found, rank in enumerate(ranks, start=1):
        nonrelevant_above = rank - found
        pairs += max(0, negatives - nonrelevant_above)
    return pairs / (negatives * relevant)
