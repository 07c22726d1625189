"""Documents at the ranks that were logged."""

from __future__ import annotations

from rankscope.adapters.arrays import Groups
from rankscope.monitor.store.packing import offsets_of
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.store.packing import ItemColumns


@record(frozen=True, slots=True)
class Placed:
    """Rankings with a place for each rank, be there a document or not.

    Args:
        groups: The places, those without a document unjudged.
        places: The place of each document, from 1: its rank as logged, down to a depth.
        has_gaps: Whether the ranks of each ranking are not 1, 2, 3, …
    """

    groups: Groups
    places: NDArray[np.int64]
    has_gaps: NDArray[np.bool_]


def place_items(items: ItemColumns, relevance: NDArray[np.float64], depth: int) -> Placed:
    """Put each document at its rank, down to a depth; those below it follow in their order.

    Args:
        items: The documents.
        relevance: Their grades, NaN where there is none.
        depth: The largest cutoff.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    sizes = np.diff(items.offsets)
    rankings = np.repeat(np.arange(len(sizes)), sizes)
    places = np.arange(1, len(rankings) + 1) - items.offsets[rankings]
    of_documents = places
    has_gaps = np.zeros(len(sizes), dtype=np.bool_)
    has_gaps[rankings[items.ranks != places]] = True
    offsets = items.offsets
    if has_gaps.any():
        is_above = items.ranks <= depth
        above = np.bincount(rankings[is_above], minlength=len(sizes))
        of_documents = np.where(is_above, items.ranks, depth + places - above[rankings])
        last = np.zeros(len(sizes), dtype=np.int64)
        np.maximum.at(last, rankings, of_documents)
        offsets = offsets_of(last)
        placed = np.full(int(offsets[-1]), np.nan)
        placed[offsets[rankings] + of_documents - 1] = relevance
        relevance = placed
        rankings = np.repeat(np.arange(len(last)), last)
        places = np.arange(1, len(rankings) + 1) - offsets[rankings]
    groups = Groups(
        offsets=offsets,
        relevance=relevance,
        scores=-places.astype(np.float64),
        names=("relevance", "ranks"),
        find=lambda row, _: (row,),
    )
    return Placed(groups, of_documents, has_gaps)
