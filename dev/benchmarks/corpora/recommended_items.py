"""Recommendations with what is known of items: who had them before, and what they are like."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dev.benchmarks.corpora import recommendations
from dev.benchmarks.corpora.recommendations import ITEMS, POPULARITY, SHARE_OF_HITS

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from dev.benchmarks.corpora.corpus import Corpus

FLAGS = 12
SHARE_OF_FLAGS = 0.2


def draw(corpus: Corpus, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Draw the tables.

    Args:
        corpus: Queries are users, the depth is the number of recommendations of each, and
            judgments are the interactions before the recommendations.
        rng: Source of chance.

    Returns:
        Those of `recommendations`, of which `user` and `item` are the history; `chosen_user` and
        `chosen_item` of what users chose later, one or two items each; and `flags` of all items.
    """
    arrays = recommendations.draw(corpus, rng)
    lists = arrays["recommended_item"].reshape(corpus.queries, corpus.depth)
    users = arrays["recommended_user"][:: corpus.depth]
    every = np.arange(corpus.queries)
    taken = lists[every, (corpus.depth ** rng.random(corpus.queries)).astype(np.int64) - 1]
    drawn = (ITEMS * rng.random((2, corpus.queries)) ** POPULARITY).astype(np.int64)
    first = np.where(rng.random(corpus.queries) < SHARE_OF_HITS, taken, drawn[0])
    pairs = np.unique(np.concatenate([every, every]) * ITEMS + np.concatenate([first, drawn[1]]))
    return arrays | {
        "chosen_user": users[pairs // ITEMS],
        "chosen_item": pairs % ITEMS,
        "flags": (rng.random((ITEMS, FLAGS)) < SHARE_OF_FLAGS).astype(np.int64),
    }


def evaluate(arrays: dict[str, NDArray[Any]]) -> dict[str, float]:
    """Count the users of each item, and average over lists.

    Args:
        arrays: As drawn; all ranks of a user are there, and in order.

    Returns:
        The means of five measures at the last rank, as RecTools defines them.
    """
    depth = int(arrays["rank"].max())
    lists = arrays["recommended_item"].reshape(-1, depth)
    users_of = np.bincount(arrays["item"], minlength=ITEMS)
    users = len(np.unique(arrays["user"]))
    novelty = (np.log2(users) - np.log2(np.maximum(users_of, 1)))[lists]
    # Of two items, a flag differs in as many pairs as there are items with it times others.
    having = arrays["flags"][lists].sum(axis=1)
    pairs = depth * (depth - 1) / 2
    levels = np.unique(users_of[users_of > 0])
    place = len(levels) - np.searchsorted(levels, users_of)
    expected = np.where(users_of > 0, (ITEMS + 1 - place) / ITEMS, 0.0)[lists]
    offered = (ITEMS + 1 - np.arange(1, depth + 1)) / ITEMS
    chosen = arrays["chosen_user"] * ITEMS + arrays["chosen_item"]
    hits = np.isin(arrays["recommended_user"] * ITEMS + arrays["recommended_item"], chosen)
    surprise = hits.reshape(-1, depth) * np.maximum(offered - expected, 0.0)
    values = {
        "Novelty": novelty.mean(axis=1),
        "AvgPopularity": users_of[lists].mean(axis=1),
        "ILD": (having * (depth - having)).sum(axis=1) / pairs,
        "Serendipity": surprise.mean(axis=1),
        "Coverage": np.array([len(np.unique(lists)) / ITEMS]),
    }
    return {f"{name}@{depth}": math.fsum(of) / len(of) for name, of in values.items()}
