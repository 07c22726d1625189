"""Measures estimated from judgments of a random sample of each stratum."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TypeAlias

from tests.reference.logarithm import add, log2
from tests.reference.query import Query

Pool: TypeAlias = list[tuple[str, float]]
"""The stratum and the grade of documents."""


def infndcg(query: Query, *, k: int | None) -> float:
    """Return the estimated DCG of the list divided by that of the best list."""
    ideal = _ideal(query, k)
    if ideal == 0:
        return math.nan
    found: Pool = []
    sums: defaultdict[str, float] = defaultdict(float)
    for rank, stratum, grade in _listed(query, k):
        found.append((stratum, grade))
        if grade > 0:
            sums[stratum] += grade / log2(rank + 1)
    docs, judged = _count_docs(found), _count_judged(found)
    return add(docs[each] / judged[each] * sums[each] for each in sorted(judged)) / ideal


def xinfap(query: Query, *, k: int | None, rel: float) -> float:
    """Return the estimated mean of the precision at relevant documents."""
    pool = _pool(query)
    found: Pool = []
    sums: defaultdict[str, float] = defaultdict(float)
    for rank, stratum, grade in _listed(query, k):
        if grade >= rel:
            sums[stratum] += 1 / rank + len(found) / rank * _relevant_above(found, rel)
        found.append((stratum, grade))
    docs, judged, relevant = _count_docs(pool), _count_judged(pool), _count_relevant(pool, rel)
    total = estimated = 0.0
    for stratum in sorted(relevant):
        estimate = relevant[stratum] * (docs[stratum] / judged[stratum])
        total += estimate * (sums[stratum] / relevant[stratum])
        estimated += estimate
    return total / estimated if estimated else math.nan


def _ideal(query: Query, k: int | None) -> float:
    """Return the DCG of the best list of as many documents as there are estimated to be."""
    pool = _pool(query)
    docs, judged = _count_docs(pool), _count_judged(pool)
    positive = Counter((grade, stratum) for stratum, grade in pool if grade > 0)
    ideal = 0.0
    rank = 0
    for grade in sorted({grade for grade, _ in positive}, reverse=True):
        estimate = add(
            positive[grade, stratum] * docs[stratum] / judged[stratum] for stratum in sorted(judged)
        )
        for _ in range(int(estimate + 0.5)):
            if k is None or rank < k:
                rank += 1
                ideal += grade / log2(rank + 1)
    return ideal


def _relevant_above(found: Pool, rel: float) -> float:
    """Return the expected share of relevant documents among those of the pool."""
    docs, judged, relevant = _count_docs(found), _count_judged(found), _count_relevant(found, rel)
    share = 0.0
    for stratum in sorted(docs):
        rate = (relevant[stratum] + 0.00001) / (judged[stratum] + 0.00003)
        share += docs[stratum] / len(found) * rate
    return share


def _pool(query: Query) -> Pool:
    return [pair for strata in query.subtopics.values() for pair in strata.items()]


def _listed(query: Query, k: int | None) -> list[tuple[int, str, float]]:
    """Return rank, stratum and grade of the documents of the pool in the first `k`."""
    return [
        (rank, stratum, grade)
        for rank, document in enumerate(query.documents[:k], start=1)
        for stratum, grade in query.subtopics.get(document, {}).items()
    ]


def _count_docs(pool: Pool) -> Counter[str]:
    return Counter(stratum for stratum, _ in pool)


def _count_judged(pool: Pool) -> Counter[str]:
    return Counter(stratum for stratum, grade in pool if grade >= 0)


def _count_relevant(pool: Pool, rel: float) -> Counter[str]:
    return Counter(stratum for stratum, grade in pool if grade >= rel)
