"""Measures between average precision and nDCG that trec_eval calls experimental."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.reference.gain import Gain, discounted, gain_of, ideal_gains
from tests.reference.logarithm import add, log2
from tests.reference.query import Query

LOG2 = {"kind": "log2"}


def bin_g(query: Query, *, rel: float) -> float:
    """Return the mean discount of relevant documents by the documents above that are not."""
    relevant = query.relevant(rel)
    if relevant == 0:
        return math.nan
    ranks = enumerate(query.relevant_ranks(rel), start=1)
    return add(1 / log2(2 + rank - found) for found, rank in ranks) / relevant


def g(query: Query, *, gain: Gain) -> float:
    """Return the gains, each discounted by how far the list is behind, divided by all gains."""
    ideal = ideal_gains(query, None, gain, "judged")
    if not ideal:
        return math.nan
    behind = 2.0
    cost = gained = total = 0.0
    for place, grade in enumerate(query.ranking):
        cost += max(ideal[place], 1.0) if place < len(ideal) else 1.0
        value = gain_of(query, grade, gain)
        gained += value
        behind = max(2 + cost - gained, 2.0)
        if value != 0:
            total += value / log2(behind)
    return total / add(ideal)


def ndcg_rel(query: Query, *, gain: Gain) -> float:
    """Return the mean nDCG at the ranks of the documents with a gain."""
    ideal = ideal_gains(query, None, gain, "judged")
    if not ideal:
        return math.nan
    dcg = total = 0.0
    found = 0
    for rank, grade in enumerate(query.ranking, start=1):
        value = gain_of(query, grade, gain)
        if value != 0:
            dcg += discounted(value, rank, LOG2)
        if value > 0:
            total += dcg / dcg_of(ideal[:rank])
            found += 1
    total += (len(ideal) - found) * dcg / dcg_of(ideal)
    return total / len(ideal) if total > 0 else 0.0


def rndcg(query: Query, *, gain: Gain) -> float:
    """Return the mean nDCG at the ranks at which the gain of the ideal list falls."""
    ideal = ideal_gains(query, None, gain, "judged")
    if not ideal:
        return math.nan
    cutoffs = [at for at in range(1, len(ideal) + 1) if ideal[at - 1 : at] != ideal[at : at + 1]]
    if len(query.ranking) > len(ideal) + 1:
        cutoffs.append(len(query.ranking))
    total = 0.0
    for cutoff in cutoffs:
        gains = [gain_of(query, grade, gain) for grade in query.ranking[:cutoff]]
        total += dcg_of(gains) / dcg_of(ideal[:cutoff])
    return total / len(cutoffs)


def dcg_of(gains: Sequence[float]) -> float:
    """Return the sum of discounted gains."""
    return add(discounted(value, rank, LOG2) for rank, value in enumerate(gains, start=1) if value)
