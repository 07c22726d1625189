"""The clusters of two windows: which are searched, and which are drawn together.

Both are told by the text of a cluster alone, so that they do not depend on the order of queries.
"""

from __future__ import annotations

from rankscope.records import record
from rankscope.stats.scatter import below, number_texts, scatter

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope.stats.query_columns import TextColumn

MOST_BAGS = 2000
"""Up to so many clusters are drawn each by itself, more in so many bags of clusters."""
NO_CLUSTER = "\0"
"""Queries without a cluster are together in one."""


@record(frozen=True, slots=True)
class ClusterBags:
    """Where the queries of two windows are put by their clusters.

    Args:
        is_searched: Of each window, whether a query is in the half that is searched.
        bags: Of each window, the bag of each query: a cluster, or some clusters together. A bag is
            not in both halves where bags are clusters.
        count: How many bags there are.
    """

    is_searched: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    bags: tuple[NDArray[np.int64], NDArray[np.int64]]
    count: int


def place_clusters(before: TextColumn, after: TextColumn, seed: int) -> ClusterBags:
    """Put the clusters of two windows in halves and in bags.

    Args:
        before: The clusters of the first window.
        after: Those of the second.
        seed: What numbers are drawn from.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    columns = (before, after)
    texts = [(*column.texts, NO_CLUSTER) for column in columns]
    used = _list_used(columns, texts)
    places = None if used is None else {text: place for place, text in enumerate(sorted(used))}
    halves, bags = [], []
    for column, known in zip(columns, texts, strict=True):
        numbers = number_texts(known)
        half = (scatter(numbers, 3 * seed + 1) & np.uint64(1)).astype(bool)
        if places is None:
            bag = below(scatter(numbers, 3 * seed + 2), MOST_BAGS)
        else:
            bag = np.array([places.get(text, 0) for text in known], dtype=np.int64)
        halves.append(half[column.codes])
        bags.append(bag[column.codes])
    count = MOST_BAGS if places is None else len(places)
    return ClusterBags((halves[0], halves[1]), (bags[0], bags[1]), count)


def _list_used(
    columns: tuple[TextColumn, TextColumn], texts: list[tuple[str, ...]]
) -> set[str] | None:
    """List the clusters that have queries; nothing where they are too many."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    used: set[str] = set()
    for column, known in zip(columns, texts, strict=True):
        codes = np.flatnonzero(np.bincount(column.codes % len(known), minlength=len(known)))
        if len(codes) > MOST_BAGS:
            return None
        used |= {known[code] for code in codes.tolist()}
    return used if len(used) <= MOST_BAGS else None
