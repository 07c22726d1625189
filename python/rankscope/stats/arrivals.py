"""What is new in a slice whose mean changed: a version that was rolled out, a page that opened.

Such queries have nothing before to be compared with, so that a search for changed means finds the
slice around them. This says what in it is new, and what of its change that makes, were those
queries as all of the slice was before.
"""

from __future__ import annotations

from rankscope.results.decomposition import LOSSES
from rankscope.results.trace import Arrival
from rankscope.stats.change_split import divide
from rankscope.stats.exact_sums import sum_all, sum_groups

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
RANKERS = ("model", "version")
"""Attributes that say who ranked, not what was searched for: what only one window has of them is
no slice that entered or left, but new in others. Where both are, the last one is named."""
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

    What changed with all of the slice is not made by what is new in it: where the slice has other
    queries after, what is new has to differ from them, too.

    Args:
        windows: The queries.
        axes: The attributes.
        chosen: Of each window, which queries are in the slice.
        change: How the slice changed.
        support: How many queries there must be after.

    Returns:
        The values, that which makes most of the change first; of equal ones a version before a
        model.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    before, after = change.means
    if before is None or after is None or before == after:
        return ()
    values = windows[1].value[chosen[1]]
    whole = change.queries
    total = after * whole[1]
    weight = sum(change.shares) / 2
    found = []
    for axis in axes:
        if axis.name in dict(change.slice):
            continue
        codes = [axis.codes[at][chosen[at]] for at in range(2)]
        counts = [np.bincount(each, minlength=len(axis.texts)) for each in codes]
        sums = sum_groups(values, codes[1], len(axis.texts))
        shares = [each / number for each, number in zip(counts, whole, strict=True)]
        for at in np.flatnonzero((counts[1] >= support) & (shares[0] < MOST_BEFORE * shares[1])):
            number = int(counts[1][at])
            mean, share = float(sums[at] / number), float(shares[1][at])
            part = share * (mean - before) / (after - before)
            others = whole[1] - number
            if part < LEAST_PART or (
                others >= support
                and (mean - (total - float(sums[at])) / others) / (mean - before) < LEAST_PART
            ):
                continue
            found.append(
                Arrival(
                    attribute=axis.name,
                    text=axis.texts[at],
                    queries=number,
                    share=share,
                    mean=mean,
                    part=part,
                    contribution=weight * share * (mean - before),
                    losses=_split_losses(windows, chosen, codes[1] == at, change),
                )
            )
    return tuple(sorted(found, key=_order, reverse=True))


def _order(arrival: Arrival) -> tuple[float, int, str, str]:
    # What replaced all else has a part of 1 but for rounding, be it seen as version or as model.
    known = RANKERS.index(arrival.attribute) if arrival.attribute in RANKERS else -1
    return round(arrival.part, 9), known, arrival.attribute, arrival.text


def _split_losses(
    windows: tuple[QueryColumns, QueryColumns],
    chosen: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    is_new: NDArray[np.bool_],
    change: SliceChange,
) -> dict[str, float | None]:
    """Say what each loss of the new queries adds, held against the slice before."""
    weight = sum(change.shares) / 2
    found: dict[str, float | None] = {}
    for loss in LOSSES:
        columns = [getattr(window, loss) for window in windows]
        if columns[0] is None:
            found[loss] = None
            continue
        before, after = (column[each] for column, each in zip(columns, chosen, strict=True))
        grown = sum_all(after[is_new]) - int(is_new.sum()) * sum_all(before) / len(before)
        found[loss] = 0.0 - weight * grown / len(after)
    return found


def measure_arrival(
    counts: NDArray[np.float64],
    sums: NDArray[np.float64],
    group: int,
    new_counts: NDArray[np.float64],
    new_sums: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Measure what the new queries of a slice add, were they as the slice was before.

    What all values of an attribute add in this way is what the slice adds by its mean.

    Args:
        counts: How many queries each slice has; the last two axes are window and slice.
        sums: What their values add up to.
        group: The slice.
        new_counts: How many of its queries are new, after.
        new_sums: What their values add up to.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    whole = np.maximum(counts.sum(axis=-1), 1)
    weight = (counts[..., group] / whole).mean(axis=-1)
    before = divide(sums[..., 0, group], counts[..., 0, group])
    part = divide(new_sums - new_counts * before, counts[..., 1, group])
    contribution: NDArray[np.float64] = np.where(counts[..., 0, group] > 0, weight * part, 0.0)
    return contribution
