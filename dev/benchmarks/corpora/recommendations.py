"""Recommendations, and what users then did, as a recommender is evaluated on a test period."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dev.benchmarks.corpora.distinct import draw_distinct

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from dev.benchmarks.corpora.corpus import Corpus

ITEMS = 30_000
LARGEST_USER_ID = 2_000_000
# The larger, the more often the few popular items occur.
POPULARITY = 3
SHARE_OF_HITS = 0.15
# Interactions drawn for each that is wanted, since some are drawn twice.
SURPLUS = 1.5


def draw(corpus: Corpus, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Draw the two tables.

    Args:
        corpus: Queries are users, the depth is the number of recommendations of each, and
            judgments are interactions.
        rng: Source of chance.

    Returns:
        `recommended_user`, `recommended_item` and `rank`, user by user; `user` and `item` of the
        interactions in no order, each pair once.
    """

    def draw_items(*shape: int) -> NDArray[np.int64]:
        return (ITEMS * rng.random(shape) ** POPULARITY).astype(np.int64)

    users = 1 + rng.permutation(LARGEST_USER_ID)[: corpus.queries]
    lists = draw_distinct(lambda count: draw_items(count, corpus.depth), corpus.queries)
    number = int(SURPLUS * corpus.judgments)
    user = rng.integers(corpus.queries, size=number)
    # Ranks are spread log-uniformly: the first recommendations are taken most often.
    taken = lists[user, (corpus.depth ** rng.random(number)).astype(np.int64) - 1]
    item = np.where(rng.random(number) < SHARE_OF_HITS, taken, draw_items(number))
    pairs = rng.permutation(np.unique(user * ITEMS + item))[: corpus.judgments]
    if len(pairs) < corpus.judgments:
        raise ValueError(f"Expected {corpus.judgments} different pairs, drew {len(pairs)}.")
    return {
        "recommended_user": np.repeat(users, corpus.depth),
        "recommended_item": lists.ravel(),
        "rank": np.tile(np.arange(1, corpus.depth + 1), corpus.queries),
        "user": users[pairs // ITEMS],
        "item": pairs % ITEMS,
    }


def evaluate(arrays: dict[str, NDArray[Any]]) -> dict[str, float]:
    """Look every recommendation up among the interactions, and average over the users of these.

    Args:
        arrays: As drawn; all ranks of a user are there, and in order.

    Returns:
        The means of five measures at the last rank, as RecTools defines them.
    """
    depth = int(arrays["rank"].max())
    users = arrays["recommended_user"][::depth]
    pairs = arrays["user"] * ITEMS + arrays["item"]
    found = np.isin(arrays["recommended_user"] * ITEMS + arrays["recommended_item"], pairs)
    hits = found.reshape(len(users), depth)
    with_interactions, counts = np.unique(arrays["user"], return_counts=True)
    order = np.argsort(users)
    hits = hits[order][np.isin(users[order], with_interactions)]
    ranks = np.arange(1, depth + 1)
    discounts = 1 / np.log2(ranks + 1)
    values = {
        "P": hits.sum(axis=1) / depth,
        "R": hits.sum(axis=1) / counts,
        "AP": (hits * hits.cumsum(axis=1) / ranks).sum(axis=1) / counts,
        "nDCG": (hits * discounts).sum(axis=1) / discounts.sum(),
        "RR": (hits / ranks).max(axis=1),
    }
    return {f"{name}@{depth}": math.fsum(of) / len(of) for name, of in values.items()}
