"""What is new in a slice whose mean changed: a version that was rolled out, a page that opened.

Such queries have nothing before to be compared with, so that a search for changed means finds the
slice around them. This says what in it is new.
"""

from __future__ import annotations

from rankscope.results.trace import Arrival
from rankscope.stats.exact_sums import sum_groups

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.results.decomposition import SliceChange
    from rankscope.stats.query_columns import QueryColumns
    from rankscope.stats.shared_slices import Axis

LEAST_PART = 0.5
"""What is new is named where it makes this part of the change of the slice, or more."""
MOST_BEFORE = 0.1
"""A value is new where its share of the slice before is less than this part of its share after."""


def find_arrivals(
    windows: tuple[QueryColumns, QueryColumns],
    axes: Sequence[Axis],
    chosen: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    change: SliceChange,
    support: int,
) -> tuple[Arrival, ...]:
    """Find the values of other attributes that are new in a slice, and make its change.

    Args:
        windows: The queries.
        axes: The attributes.
        chosen: Of each window, which queries are in the slice.
        change: How the slice changed.
        support: How many queries there must be after.

    Returns:
        The values, that which makes most of the change first.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    before, after = change.means
    if before is None or after is None or before == after:
        return ()
    values = windows[1].value[chosen[1]]
    whole = change.queries
    found = []
    for axis in axes:
        if axis.name in dict(change.slice):
            continue
        codes = [axis.codes[at][chosen[at]] for at in range(2)]
        counts = [np.bincount(each, minlength=len(axis.texts)) for each in codes]
        sums = sum_groups(values, codes[1], len(axis.texts))
        shares = [each / number for each, number in zip(counts, whole, strict=True)]
        for at in np.flatnonzero((counts[1] >= support) & (shares[0] < MOST_BEFORE * shares[1])):
            mean, share = float(sums[at] / counts[1][at]), float(shares[1][at])
            part = share * (mean - before) / (after - before)
            if part >= LEAST_PART:
                found.append(
                    Arrival(
                        attribute=axis.name,
                        text=axis.texts[at],
                        share=share,
                        mean=mean,
                        part=part,
                    )
                )
    return tuple(sorted(found, key=lambda each: (-each.part, each.attribute, each.text)))
