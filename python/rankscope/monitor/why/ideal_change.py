"""Whether a change is due to the ideal rather than the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.why.decomposition import split_change
from rankscope.monitor.why.query_columns import QueryColumns
from rankscope.monitor.why.result import Ends, Fact, IdealChange

NAMES = ("ideal", "relevant", "without relevant", "gained")
CLEAR = 0.01
"""The relative change below which a mean counts as unchanged."""


def take_facts(window: QueryColumns) -> list[NDArray[np.float64]]:
    """Return the columns whose means are the facts, in the order of the names."""
    is_without = (window.ideal <= 0).astype(window.ideal.dtype)
    return [window.ideal, window.relevant, is_without, window.value * window.ideal]


def judge_ideal(
    counts: NDArray[np.float64],
    sums: Sequence[NDArray[np.float64]],
    intervals: Sequence[Ends],
    *,
    sign: float,
    value_interval: Ends,
) -> IdealChange:
    """Return whether the ideal changed."""
    facts = []
    for name, summed, ends in zip(NAMES, sums, intervals, strict=True):
        before, after = (summed.sum(axis=1) / counts.sum(axis=1)).tolist()
        within = float(measure_within(counts, summed))
        least = CLEAR * (1.0 if name == "without relevant" else abs(before))
        has_changed = ends is not None and _leaves_out_zero(ends) and abs(within) >= least
        facts.append(
            Fact(
                name=name,
                before=before,
                after=after,
                within=within,
                interval=ends,
                has_changed=has_changed,
            )
        )
    return IdealChange(facts=tuple(facts), verdict=_decide(facts, sign, value_interval))


def measure_within(counts: NDArray[np.float64], sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the change of a mean without that due to the shares of groups."""
    split = split_change(counts, sums)
    within: NDArray[np.float64] = split.within.sum(axis=-1)
    return within


def _decide(
    facts: Sequence[Fact], sign: float, value_interval: Ends
) -> Literal["unchanged", "ideal", "both", "unclear"]:
    *ideals, gained = facts
    if not any(fact.has_changed for fact in ideals):
        is_clear = value_interval is not None and _leaves_out_zero(value_interval)
        return "unchanged" if is_clear else "unclear"
    return "both" if gained.has_changed and gained.within * sign > 0 else "ideal"


def _leaves_out_zero(ends: tuple[float, float]) -> bool:
    return ends[0] > 0 or ends[1] < 0
