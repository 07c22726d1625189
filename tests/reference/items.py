"""Recommended items of each user: novelty, popularity, diversity, serendipity and calibration."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from tests.reference.logarithm import add, log2
from tests.reference.query import Query


def novelty(query: Query, *, k: int | None, share: str, normalize: bool) -> float:
    """Return the mean self-information of the first `k` items."""
    items = query.documents[:k]
    if not items:
        return math.nan
    users = _count_users(query)
    whole = log2(len(query.known.history) if share == "users" else sum(users.values()))
    value = add(whole - log2(max(1, users[item])) for item in items) / len(items)
    if not normalize:
        return value
    return value / whole if whole else math.nan


def popularity(query: Query, *, k: int | None, normalize: bool) -> float:
    """Return the mean number of users who had each of the first `k` items."""
    items = query.documents[:k]
    if not items:
        return math.nan
    users = _count_users(query)
    value = add(users[item] for item in items) / len(items)
    return value / sum(users.values()) if normalize else value


def ild(query: Query, *, k: int | None, distance: str) -> float:
    """Return the mean distance of two of the first `k` items."""
    vectors = _vectors(query)
    known = [vectors[item] for item in query.documents[:k] if item in vectors]
    distances = [_distance(one, other, distance) for one, other in combinations(known, 2)]
    return add(distances) / len(distances) if distances else math.nan


def serendipity(query: Query, *, k: int | None, rel: float) -> float:
    """Return how far the first `k` items rank relevant ones above their popularity."""
    items = query.documents[:k]
    if not items:
        return math.nan
    users = _count_users(query)
    levels = sorted(set(users.values()), reverse=True)
    size = len(query.known.catalogue)
    total = 0.0
    for rank in query.relevant_ranks(rel, len(items)):
        item = items[rank - 1]
        for_user = (size + 1 - rank) / size
        for_anybody = 0.0
        if item in users:
            for_anybody = (size + 1 - (levels.index(users[item]) + 1)) / size
        total += max(for_user - for_anybody, 0.0)
    return total / len(items)


def miscalibration(query: Query, *, k: int | None, alpha: float) -> float:
    """Return the divergence of the categories of the list from those of the history."""
    wanted = _shares(query, query.known.history.get(query.user, ()))
    found = _shares(query, query.documents[:k])
    if not wanted or not found:
        return math.nan
    total = 0.0
    for category, share in sorted(wanted.items()):
        mixed = (1 - alpha) * found.get(category, 0.0) + alpha * share
        total += share * math.log(share / mixed)
    return total


def awrf(
    query: Query, *, k: int | None, attention: str, p: float, target: str, rel: float
) -> float:
    """Return how close the attention that groups get is to what they should get."""
    described = {item: _group_shares(of) for item, of in query.known.attributes.items()}
    groups = sorted({group for shares in described.values() for group in shares})
    found = dict.fromkeys(groups, 0.0)
    reads_on = 1.0
    for rank, item in enumerate(query.documents[:k], start=1):
        weight = reads_on if attention == "geometric" else 1 / max(1.0, log2(rank))
        reads_on *= p
        for group, share in sorted(described.get(item, {}).items()):
            found[group] += weight * share
    total = add(found.values())
    if total == 0:
        return math.nan
    judged = query.known.judged.get(query.user, {})
    members = {
        "catalogue": sorted(set(query.known.catalogue)),
        "relevant": [item for item, grade in judged.items() if grade >= rel],
    }
    if target == "uniform":
        wanted = dict.fromkeys(groups, 1 / len(groups))
    else:
        wanted = _mean_shares([described.get(item, {}) for item in members[target]], groups)
    if not wanted:
        return math.nan
    divergence = 0.0
    for group in groups:
        pair = (found[group] / total, wanted[group])
        for share in pair:
            if share > 0:
                divergence += share * math.log(share / ((pair[0] + pair[1]) / 2))
    return 1 - divergence / 2


def _group_shares(attributes: Sequence[float] | Sequence[str]) -> dict[str, float]:
    """Return the share of an item in each group: equal ones of categories, or numbers."""
    numbers = [each for each in attributes if not isinstance(each, str)]
    if not numbers:
        names = {each for each in attributes if isinstance(each, str)}
        return dict.fromkeys(names, 1 / len(names)) if names else {}
    total = add(numbers)
    names_of = [f"{number:09}" for number in range(len(numbers))]
    shares = zip(names_of, numbers, strict=True)
    return {name: number / total for name, number in shares} if total > 0 else {}


def _mean_shares(shares: Sequence[Mapping[str, float]], groups: Sequence[str]) -> dict[str, float]:
    known = [each for each in shares if each]
    if not known:
        return {}
    return {
        group: math.fsum(each.get(group, 0.0) for each in known) / len(known) for group in groups
    }


def _count_users(query: Query) -> Counter[str]:
    """Return how many users had each item."""
    history = query.known.history.values()
    return Counter(item for items in history for item in set(items))


def _vectors(query: Query) -> dict[str, Sequence[float]]:
    """Return the vector of each item: 1 for each of its categories and else 0, or its numbers."""
    described = {item: of for item, of in query.known.attributes.items() if of}
    every = sorted({each for of in described.values() for each in of if isinstance(each, str)})
    if not every:
        return {item: [float(each) for each in of] for item, of in described.items()}
    return {item: [float(each in of) for each in every] for item, of in described.items()}


def _distance(one: Sequence[float], other: Sequence[float], distance: str) -> float:
    pairs = list(zip(one, other, strict=True))
    if distance == "hamming":
        return float(sum(a != b for a, b in pairs))
    if distance == "euclidean":
        return math.sqrt(add((a - b) * (a - b) for a, b in pairs))
    if distance == "jaccard":
        either = sum(a != 0 or b != 0 for a, b in pairs)
        both = sum(a != 0 and b != 0 for a, b in pairs)
        return 1 - both / either if either else 0.0
    lengths = [math.sqrt(add(a * a for a in vector)) for vector in (one, other)]
    if 0 in lengths:
        return 1.0
    return 1 - add(a * b for a, b in pairs) / (lengths[0] * lengths[1])


def _shares(query: Query, items: Iterable[str]) -> dict[str, float]:
    """Return the share of each category; an item has equal shares of all its categories."""
    described = [query.known.attributes.get(item) or () for item in items]
    held = [sorted(map(str, set(categories))) for categories in described if categories]
    sizes: dict[str, list[int]] = {}
    for categories in held:
        for category in categories:
            sizes.setdefault(category, []).append(len(categories))
    shares = {}
    for category, of_items in sizes.items():
        parts = sorted(Counter(of_items).items())
        shares[category] = add(count / size for size, count in parts) / len(held)
    return shares
