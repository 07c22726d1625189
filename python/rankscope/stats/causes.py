"""What made a change: the slices that are confirmed, and what is new in each."""

from __future__ import annotations

from rankscope.records import record
from rankscope.results.trace import Cause
from rankscope.stats.arrivals import RANKERS, find_arrivals
from rankscope.stats.confirmation import contribution_of
from rankscope.stats.decomposition import decompose_groups
from rankscope.stats.slice_search import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.results.decomposition import SliceChange
    from rankscope.results.trace import Arrival, Ends
    from rankscope.stats.query_columns import QueryColumns
    from rankscope.stats.shared_slices import Axis, Codes

EVERYWHERE = Candidate((), "within", is_steady=True, excess=0.0)
"""All queries that no slice has."""


@record(frozen=True, slots=True)
class FoundCause:
    """A slice that is confirmed.

    Args:
        group: Its number.
        candidate: What it was found for.
        change: What it adds.
        arrivals: What is new in it.
        is_new: Of the second window, which queries have the first of that.
    """

    group: int
    candidate: Candidate
    change: SliceChange
    arrivals: tuple[Arrival, ...]
    is_new: NDArray[np.bool_]

    def measured(self, around: Ends) -> Cause:
        """Say what it adds, or what is new in it, with an interval around that."""
        found = self.arrivals
        return Cause(
            change=self.change,
            by=self.candidate.by,
            contribution=(
                found[0].contribution if found else contribution_of(self.change, self.candidate)
            ),
            interval=around,
            arrivals=found,
        )


def find_causes(
    windows: tuple[QueryColumns, QueryColumns],
    axes: Sequence[Axis],
    groups: tuple[Codes, Codes],
    confirmed: Sequence[tuple[Candidate, SliceChange]],
    support: int,
) -> list[FoundCause]:
    """List the slices that are confirmed, with what is new in each.

    Args:
        windows: The queries.
        axes: The attributes.
        groups: Of each window, the group of each query.
        confirmed: What each group was found for and adds; all queries, where nothing is confirmed:
            a version may be new that makes the change of all slices alike.
        support: How many queries there must be of what is new.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    rankers = [axis for axis in axes if axis.name in RANKERS]
    causes = []
    for group, (candidate, change) in enumerate(confirmed):
        chosen = groups[0] == group, groups[1] == group
        arrivals: tuple[Arrival, ...] = ()
        if candidate.by == "within":
            searched = axes if candidate.place else rankers
            arrivals = find_arrivals(windows, searched, chosen, change, support)
        is_new = np.zeros(len(groups[1]), dtype=np.bool_)
        for new in arrivals[:1]:
            axis = next(axis for axis in axes if axis.name == new.attribute)
            is_new = chosen[1] & (axis.codes[1] == axis.texts.index(new.text))
        if candidate.place or arrivals:
            causes.append(FoundCause(group, candidate, change, arrivals, is_new))
    return causes


def find_rollout(
    windows: tuple[QueryColumns, QueryColumns], axes: Sequence[Axis], support: int
) -> tuple[Arrival, NDArray[np.bool_]] | None:
    """Find the version or model that is new, and makes half of the whole change or more.

    Slices are then searched for among its queries: beside those that were ranked as before, a slice
    that it ranks worse would stand out less.

    Args:
        windows: The queries.
        axes: The attributes.
        support: How many queries it must have.

    Returns:
        What is new, and which queries of the second window have it; `None` where nothing is new.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    whole = (
        np.zeros(len(windows[0]), dtype=np.int32),
        np.zeros(len(windows[1]), dtype=np.int32),
    )
    (change,) = decompose_groups(*windows, [()], whole).slices
    found = find_causes(windows, axes, whole, [(EVERYWHERE, change)], support)
    return (found[0].arrivals[0], found[0].is_new) if found else None


def leave_out_known(groups: Codes, causes: Sequence[FoundCause]) -> Codes:
    """Take queries out of their group (-1) that are not what is new in it."""
    kept = groups.copy()
    for cause in causes:
        if cause.arrivals:
            kept[(groups == cause.group) & ~cause.is_new] = -1
    return kept
