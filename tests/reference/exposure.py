"""All lists together: how many items they show, how evenly, and how much they differ."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from tests.reference.logarithm import log2
from tests.reference.query import Query


def coverage(query: Query, *, k: int | None, normalize: bool) -> float:
    """Return the share of the catalogue that is in the first `k` items of some list."""
    counts = _count_shown(query, k)
    shown = sum(count > 0 for count in counts)
    return shown / len(counts) if normalize else float(shown)


def gini(query: Query, *, k: int | None) -> float:
    """Return the Gini index of how often the items of the catalogue are shown."""
    counts = _count_shown(query, k)
    if sum(counts) == 0:
        return math.nan
    size = len(counts)
    total = sum((2 * place - size - 1) * count for place, count in enumerate(counts, start=1))
    return total / (size * sum(counts))


def entropy(query: Query, *, k: int | None, normalize: bool) -> float:
    """Return the Shannon entropy of how often the items of the catalogue are shown."""
    counts = _count_shown(query, k)
    shown = sum(counts)
    if shown == 0:
        return math.nan
    terms = [count / shown * (log2(shown) - log2(count)) for count in counts if count > 0]
    total = math.fsum(terms)
    if not normalize:
        return total
    return total / log2(len(counts)) if len(counts) > 1 else math.nan


def personalization(query: Query, *, k: int | None) -> float:
    """Return 1 minus the mean cosine similarity of two lists.

    An item that is in the lists of n users is in common to n * (n - 1) / 2 pairs of users.
    """
    lists = [items[:k] for items in query.known.lists if items[:k]]
    if len(lists) < 2:
        return math.nan
    lengths = sorted({len(items) for items in lists})
    counts = {
        length: Counter(item for items in lists if len(items) == length for item in items)
        for length in lengths
    }
    if len(lengths) == 1:
        common = sum(count * count for count in counts[lengths[0]].values()) / lengths[0]
    else:
        weights: defaultdict[str, float] = defaultdict(float)
        for length in lengths:
            for item, count in counts[length].items():
                weights[item] += count / math.sqrt(length)
        common = math.fsum(weight * weight for weight in weights.values())
    return 1 - (common - len(lists)) / (len(lists) * (len(lists) - 1))


def _count_shown(query: Query, k: int | None) -> list[int]:
    """Return how many lists show each item of the catalogue, fewest first."""
    counts = Counter(item for items in query.known.lists for item in items[:k])
    return sorted(counts[item] for item in set(query.known.catalogue))
