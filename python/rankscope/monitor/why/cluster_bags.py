"""The assignment of clusters to bags, which are resampled and reassigned as a whole.

It only depends on the text of a cluster, and so not on the order of the queries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankscope._stats.sums import below, number_texts, scatter
from rankscope.monitor.why.query_columns import TextColumn

MOST_BAGS = 2000
"""The maximum number of bags. More clusters than this share bags."""
NO_CLUSTER = "\0"
"""The cluster of queries without a cluster."""


@dataclass(frozen=True, slots=True)
class ClusterBags:
    """The bag of each query of two windows.

    Args:
        bags: The bag of each query, by window: a cluster, or several clusters.
        count: The number of bags.
        are_shared: Whether several clusters can be in one bag.
    """

    bags: tuple[NDArray[np.int64], NDArray[np.int64]]
    count: int
    are_shared: bool


def place_clusters(before: TextColumn, after: TextColumn, seed: int) -> ClusterBags:
    """Return the bag of each query of two windows."""
    columns = (before, after)
    texts = [(*column.texts, NO_CLUSTER) for column in columns]
    used = _list_used(columns, texts)
    places = None if used is None else {text: place for place, text in enumerate(sorted(used))}
    bags = []
    for column, known in zip(columns, texts, strict=True):
        if places is None:
            bag = below(scatter(number_texts(known), 3 * seed + 2), MOST_BAGS)
        else:
            bag = np.array([places.get(text, 0) for text in known], dtype=np.int64)
        bags.append(bag[column.codes])
    count = MOST_BAGS if places is None else len(places)
    return ClusterBags((bags[0], bags[1]), count, are_shared=places is None)


def _list_used(
    columns: tuple[TextColumn, TextColumn], texts: list[tuple[str, ...]]
) -> set[str] | None:
    """Return the clusters that have queries, or nothing if there are too many."""
    used: set[str] = set()
    for column, known in zip(columns, texts, strict=True):
        codes = np.flatnonzero(np.bincount(column.codes % len(known), minlength=len(known)))
        if len(codes) > MOST_BAGS:
            return None
        used |= {known[code] for code in codes.tolist()}
    return used if len(used) <= MOST_BAGS else None
