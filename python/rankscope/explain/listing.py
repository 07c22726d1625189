"""What is shown of a list: its ranks, and the documents that its sum lacks."""

from __future__ import annotations

import math

from rankscope.explain.explanation import Document, Documents, Gap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.data.policy import Policy
    from rankscope.explain.counted import Counted
    from rankscope.explain.ideal import Judged
    from rankscope.explain.ranked import RankedQuery


def choose_ranks(counted: Counted, depth: int, limit: int) -> list[int]:
    """Choose the ranks to show: all, or the first ones, those with a gain, and the last one."""
    if depth <= limit:
        return list(range(1, depth + 1))
    chosen = list(range(1, limit // 2 + 1))
    for rank in range(limit // 2 + 1, min(depth, len(counted) + 1)):
        if len(chosen) == limit - 1:
            break
        if counted.rank_gains[rank - 1] != 0:
            chosen.append(rank)
    return [*chosen, depth]


def find_gaps(shown: list[int], depth: int, counted: Counted, policy: Policy) -> list[Gap]:
    """Find the ranks above the cutoff that are not shown."""
    gaps = []
    for before, after in zip([0, *shown], [*shown, depth + 1], strict=True):
        first, last = before + 1, after - 1
        if first <= last:
            gains = sum(gain != 0 for gain in counted.rank_gains[first - 1 : last])
            if policy.missing_gain:
                gains += max(0, last - max(first - 1, len(counted)))
            gaps.append(Gap(first, last, gains))
    return gaps


def list_below(query: RankedQuery, counted: Counted, k: int | None, limit: int) -> Documents:
    """List the documents with a gain below the cutoff, those of the largest gains first."""
    places = range(len(counted) if k is None else k, len(counted))
    found = [at for at in places if counted.gains[at] > 0]
    found.sort(key=lambda at: -counted.gains[at])
    shown = [
        Document(query.name(counted.rows[at]), counted.grades[at], counted.gains[at], at + 1)
        for at in found[:limit]
    ]
    return Documents(tuple(shown), len(found))


def list_unretrieved(judged: Sequence[Judged], policy: Policy, limit: int) -> Documents:
    """List the judged documents that were not retrieved, those of the largest gains first."""
    if policy.unretrieved == "ignore":
        return Documents((), 0)
    lacking = [each for each in judged if not each.is_retrieved]
    lacking.sort(key=lambda each: -each.gain)
    shown = [Document(each.doc_id, each.grade, each.gain, None) for each in lacking[:limit]]
    return Documents(tuple(shown), len(lacking))


def list_removed(query: RankedQuery, counted: Counted, limit: int) -> Documents:
    """List the documents that have no rank."""
    shown = [
        Document(query.name(row), query.grades[row], 0.0, row + 1)
        for row in counted.removed[:limit]
    ]
    return Documents(tuple(shown), len(counted.removed))


def apply_policy(value: float, query: RankedQuery, policy: Policy) -> float:
    """Give what an evaluation gives for a value; where it gives none, NaN."""
    if query.is_missing and policy.missing != "zero":
        return math.nan
    return {"zero": 0.0, "one": 1.0}.get(policy.empty, value) if math.isnan(value) else value
