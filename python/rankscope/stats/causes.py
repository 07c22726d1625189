"""The causes of a change: confirmed slices and their new values."""

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
    from rankscope.stats.shared_slices import Codes, SliceAxis

EVERYWHERE = Candidate((), "within", is_steady=True, excess=0.0)
"""All queries that are in no slice."""


@record(frozen=True, slots=True)
class FoundCause:
    """A confirmed slice.

    Args:
        group: The number of its group.
        candidate: The candidate from the search.
        change: Its contribution.
        arrivals: Its new values.
        is_new: Which queries of the second window have the first new value.
    """

    group: int
    candidate: Candidate
    change: SliceChange
    arrivals: tuple[Arrival, ...]
    is_new: NDArray[np.bool_]

    def measured(self, around: Ends) -> Cause:
        """Return the cause, with the interval of its contribution or that of its new value."""
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
    axes: Sequence[SliceAxis],
    groups: tuple[Codes, Codes],
    confirmed: Sequence[tuple[Candidate, SliceChange]],
    support: int,
) -> list[FoundCause]:
    """Return the confirmed slices with their new values.

    Args:
        windows: The queries.
        axes: The attributes.
        groups: The group of each query, by window.
        confirmed: The candidate and contribution of each group. If nothing is confirmed, all
            queries, since a new version may cause the change of all slices.
        support: The number of queries that a new value must have.
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
    windows: tuple[QueryColumns, QueryColumns], axes: Sequence[SliceAxis], support: int
) -> tuple[Arrival, NDArray[np.bool_]] | None:
    """Find a new version or model that causes at least half of the whole change.

    The search for slices is then limited to its queries, because a slice that it ranks worse would
    stand out less among queries that were ranked as before.

    Args:
        windows: The queries.
        axes: The attributes.
        support: The number of queries that it must have.

    Returns:
        The new value, and which queries of the second window have it; `None` if there is none.
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
    """Return the groups without queries that don't have the new value of theirs (-1)."""
    kept = groups.copy()
    for cause in causes:
        if cause.arrivals:
            kept[(groups == cause.group) & ~cause.is_new] = -1
    return kept
