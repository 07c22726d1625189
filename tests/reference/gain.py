"""Measures that add up the gains of documents, mostly discounted by rank."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tests.reference.logarithm import add, log2
from tests.reference.query import Query

Gain: TypeAlias = str | Sequence[Sequence[float]]
Discount: TypeAlias = Mapping[str, str | float | Sequence[float]]


def cg(query: Query, *, k: int | None, gain: Gain) -> float:
    """Return the sum of the gains of the first `k` documents."""
    return add(gain_of(query, grade, gain) for grade in query.ranking[:k])


def dcg(query: Query, *, k: int | None, gain: Gain, discount: Discount) -> float:
    """Return the sum of the discounted gains of the first `k` documents."""
    gains = [gain_of(query, grade, gain) for grade in query.ranking[:k]]
    return add(discounted(value, rank, discount) for rank, value in enumerate(gains, 1) if value)


def idcg(query: Query, *, k: int | None, gain: Gain, discount: Discount, ideal: str) -> float:
    """Return the sum of the discounted gains of the ideal list."""
    gains = ideal_gains(query, k, gain, ideal)
    return add(discounted(value, rank, discount) for rank, value in enumerate(gains, start=1))


def ndcg(query: Query, *, k: int | None, gain: Gain, discount: Discount, ideal: str) -> float:
    """Return the discounted gain of the list divided by that of the ideal list."""
    if ideal == "slots" and all(gain_of(query, grade, gain) <= 0 for grade in query.judged):
        return math.nan
    best = idcg(query, k=k, gain=gain, discount=discount, ideal=ideal)
    return dcg(query, k=k, gain=gain, discount=discount) / best if best > 0 else math.nan


def q(query: Query, *, k: int | None, rel: float, gain: Gain, beta: float) -> float:
    """Return Q-measure: the mean blend of precision and cumulated gain at the relevant ranks."""
    relevant = query.relevant(rel)
    if relevant == 0:
        return math.nan
    best = sorted((gain_of(query, one, gain) for one in query.judged if one >= rel), reverse=True)
    total = found = 0.0
    for count, rank in enumerate(query.relevant_ranks(rel, k), start=1):
        found += gain_of(query, query.ranking[rank - 1], gain)
        total += (count + beta * found) / (rank + beta * add(best[:rank]))
    return total / relevant


def ideal_gains(query: Query, k: int | None, gain: Gain, ideal: str) -> list[float]:
    """Return the gains above 0 of the ideal list, largest first."""
    if ideal == "slots":
        return [1.0] * (k or 0)
    grades = query.ranking if ideal == "retrieved" else query.judged
    gains = sorted((gain_of(query, grade, gain) for grade in grades), reverse=True)
    positive = [value for value in gains if value > 0]
    return positive if ideal == "whole" else positive[:k]


def gain_of(query: Query, grade: float | None, gain: Gain) -> float:
    """Return the gain of a grade, which is 0 for unjudged documents."""
    if grade is None or (grade < 0 and not query.negative_gain):
        return 0.0
    if gain == "binary":
        return float(grade > 0)
    if isinstance(gain, str):
        return grade if gain == "linear" else math.exp2(grade) - 1
    table = {pair[0]: pair[1] for pair in gain}
    return table[grade]


def discounted(gain: float, rank: int, discount: Discount) -> float:
    """Return a gain discounted by its rank."""
    match discount:
        case {"kind": "log2"}:
            return gain / log2(rank + 1)
        case {"kind": "log", "base": float(base)}:
            return gain / (log2(rank + 1) / log2(base))
        case {"kind": "jk", "base": float(base)}:
            return gain / max(1.0, log2(rank) / log2(base))
        case {"kind": "reciprocal"}:
            return gain / rank
        case {"kind": "linear"}:
            return gain / (rank + 1)
        case {"kind": "zipf", "s": float(power)}:
            return gain / math.pow(rank, power)
        case {"kind": "table", "weights": [*weights]}:
            return gain * weights[rank - 1]
    raise ValueError(discount)
