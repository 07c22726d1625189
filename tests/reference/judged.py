"""Measures for incomplete judgments: unjudged differs from judged not relevant.

As in trec_eval, a negative grade means that a document was pooled but not judged.
"""

from __future__ import annotations

from tests.reference.binary import share
from tests.reference.query import Query

SMOOTHING = 0.000_01


def bpref(query: Query, *, rel: float) -> float:
    """Return how rarely documents judged not relevant rank above relevant ones."""
    relevant = query.relevant(rel)
    nonrelevant = query.relevant(0) - relevant
    above = 0
    total = 0.0
    for grade in query.ranking:
        if grade is None or grade < 0:
            continue
        if grade < rel:
            above += 1
        elif above == 0:
            total += 1
        else:
            total += 1 - min(above, relevant) / min(nonrelevant, relevant)
    return share(total, relevant)


def infap(query: Query, *, rel: float) -> float:
    """Return the mean of the precision estimated at the ranks of the relevant documents."""
    found = nonrelevant = pooled = 0
    total = 0.0
    for above, grade in enumerate(query.ranking):
        if grade is None:
            continue
        if grade < 0:
            pooled += 1
        elif grade < rel:
            nonrelevant += 1
        else:
            rank = above + 1
            if above == 0:
                total += 1
            else:
                in_pool = (found + nonrelevant + pooled) / above
                in_judged = (found + SMOOTHING) / (found + nonrelevant + 2 * SMOOTHING)
                total += 1 / rank + (above / rank) * in_pool * in_judged
            found += 1
    return share(total, query.relevant(rel))


def judged(query: Query, *, k: int | None) -> float:
    """Return the share of the first `k` documents that are judged."""
    shown = query.ranking[:k]
    return sum(grade is not None for grade in shown) / len(shown) if shown else 0.0


def unjudged(query: Query, *, k: int, denominator: str) -> float:
    """Return the share of the first `k` ranks that have a document without a judgment."""
    shown = query.ranking[:k]
    number = k if denominator == "cutoff" else len(shown)
    return sum(grade is None or grade < 0 for grade in shown) / number if number else 0.0
