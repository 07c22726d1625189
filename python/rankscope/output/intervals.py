"""Sentences about the intervals of a result: their method, and what limits them."""

from __future__ import annotations

from rankscope.settings.interval import METHODS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.output.estimate import Estimate

LEAST_EFFECTIVE = 0.8
"""Weights are noted if the effective sample size is a smaller share of the queries."""


def describe_intervals(estimates: Mapping[str, Estimate]) -> list[str]:
    """Return a line with the level, the method and the clusters, and a line for each limitation."""
    if not estimates:
        return []
    methods: dict[str, list[str]] = {}
    reasons: dict[str, list[str]] = {}
    for name, estimate in estimates.items():
        if estimate.reason:
            reasons.setdefault(estimate.reason, []).append(name)
        else:
            methods.setdefault(METHODS[estimate.method], []).append(name)
    level = next(iter(estimates.values())).level
    is_one = len(methods) == 1 and not reasons
    told = [
        method if is_one else f"{method} ({', '.join(names)})" for method, names in methods.items()
    ]
    lines = [
        *([f"intervals: {100 * level:g}%, {'; '.join(told)}{_over(estimates)}"] if told else []),
        *(f"no interval of {', '.join(names)}: {reason}" for reason, names in reasons.items()),
    ]
    return [*lines, *_note_weights(estimates)]


def _over(estimates: Mapping[str, Estimate]) -> str:
    """Return how many clusters there are, if queries are clustered."""
    counts = {each.clusters for each in estimates.values() if each.clusters is not None}
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    if low == high:
        return f", over {low:,} cluster{'s' * (low != 1)}"
    return f", over {low:,} to {high:,} clusters"


def _note_weights(estimates: Mapping[str, Estimate]) -> list[str]:
    """Return a line if a few queries have most of the weight."""
    heavy = [each for each in estimates.values() if each.effective < LEAST_EFFECTIVE * each.n]
    if not heavy:
        return []
    worst = min(heavy, key=lambda each: each.effective / each.n)
    alike = f"{worst.effective:,.1f} with equal weights"
    return [f"weights: {worst.n:,} weighted queries count as much as {alike}"]
