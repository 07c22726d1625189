"""The causes of a change: slices whose quality changed, with their new values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.why.arrivals import RANKERS, find_arrivals
from rankscope.monitor.why.decomposition import ChangeSplit, decompose_groups
from rankscope.monitor.why.decomposition_result import SliceChange
from rankscope.monitor.why.document_regrets import Codes
from rankscope.monitor.why.query_columns import QueryColumns
from rankscope.monitor.why.result import Arrival, Cause, Ends
from rankscope.monitor.why.shared_slices import SliceAxis
from rankscope.monitor.why.slice_search import By, Candidate


@dataclass(frozen=True, slots=True)
class FoundCause:
    """A confirmed slice.

    Args:
        group: The number of its group.
        by: Whether it was found because of its mean or its share.
        is_steady: Whether both windows have enough queries for a mean.
        change: Its contribution.
        arrivals: Its new values.
        is_new: Which queries of the second window have the first new value.
    """

    group: int
    by: By
    is_steady: bool
    change: SliceChange
    arrivals: tuple[Arrival, ...]
    is_new: NDArray[np.bool_]

    def measured(self, around: Ends) -> Cause:
        """Return the cause, with the interval of its contribution or that of its new value."""
        found = self.arrivals
        return Cause(
            change=self.change,
            by=self.by,
            contribution=found[0].contribution if found else self._take_whole(),
            interval=around,
            arrivals=found,
        )

    def _take_whole(self) -> float:
        """Return its contribution through what it was found for, over all queries."""
        if self.by == "within":
            return self.change.within
        return self.change.mix if self.is_steady else self.change.total

    def take_contribution(self, split: ChangeSplit) -> NDArray[np.float64]:
        """Return the same contribution in a split of the change."""
        if self.by == "within":
            return split.within[..., self.group]
        if self.is_steady:
            return split.mix[..., self.group]
        parts = split.mix + split.within + split.entered + split.left
        contribution: NDArray[np.float64] = parts[..., self.group]
        return contribution


def find_causes(
    windows: tuple[QueryColumns, QueryColumns],
    axes: Sequence[SliceAxis],
    groups: tuple[Codes, Codes],
    found: Sequence[tuple[int, Candidate, SliceChange]],
    support: int,
) -> list[FoundCause]:
    """Return the slices that were found, with their new values."""
    rankers = [axis for axis in axes if axis.name in RANKERS]
    causes = []
    for group, candidate, change in found:
        chosen = groups[0] == group, groups[1] == group
        arrivals: tuple[Arrival, ...] = ()
        if candidate.by == "within":
            # If everything changed, a new version may be the reason, but not a new country.
            searched = axes if candidate.place else rankers
            arrivals = find_arrivals(windows, searched, chosen, change, support)
        is_new = np.zeros(len(groups[1]), dtype=np.bool_)
        for new in arrivals[:1]:
            axis = next(axis for axis in axes if axis.name == new.attribute)
            is_new = chosen[1] & (axis.codes[1] == axis.texts.index(new.text))
        causes.append(
            FoundCause(group, candidate.by, candidate.is_steady, change, arrivals, is_new)
        )
    return causes


def find_rollout(
    windows: tuple[QueryColumns, QueryColumns], axes: Sequence[SliceAxis], support: int
) -> tuple[Arrival, NDArray[np.bool_]] | None:
    """Find a new version or model that causes at least half of the whole change.

    The search for slices is then limited to its queries, because a slice that it ranks worse would
    stand out less among queries that were ranked as before.
    """
    whole = (
        np.zeros(len(windows[0]), dtype=np.int32),
        np.zeros(len(windows[1]), dtype=np.int32),
    )
    (change,) = decompose_groups(*windows, [()], whole).slices
    rankers = [axis for axis in axes if axis.name in RANKERS]
    chosen = whole[0] == 0, whole[1] == 0
    for new in find_arrivals(windows, rankers, chosen, change, support)[:1]:
        axis = next(axis for axis in axes if axis.name == new.attribute)
        return new, axis.codes[1] == axis.texts.index(new.text)
    return None


def leave_out_known(groups: Codes, causes: Sequence[FoundCause]) -> Codes:
    """Return the groups without queries that don't have the new value of theirs (-1)."""
    kept = groups.copy()
    for cause in causes:
        if cause.arrivals:
            kept[(groups == cause.group) & ~cause.is_new] = -1
    return kept
