"""Derives a value of AP, RR, P or R, document by document."""

from __future__ import annotations

import math

from rankscope.derivation.derive.gain import (
    apply_policy,
    choose_ranks,
    find_gaps,
    list_below,
    list_removed,
    list_unretrieved,
)
from rankscope.derivation.derive.ideal import list_judged
from rankscope.derivation.derive.kernels import Kernels, sibling
from rankscope.derivation.derive.query import RankedDocuments, find_ties, take_ranks
from rankscope.derivation.derive.swap import find_extremes
from rankscope.derivation.explanation import Order, RelevanceExplanation, RelevanceRow
from rankscope.errors import MeasureError
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.derivation.derive.query import RankedQuery
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy


def derive_relevance(
    query: RankedQuery, measure: Measure, policy: Policy, *, limit: int
) -> RelevanceExplanation:
    """Derive the value of a measure that counts documents as relevant or not."""
    chosen = replace(policy, missing_gain=None)  # which relevance has none of
    if measure.judged_only:
        chosen = replace(chosen, unjudged="remove")
    kernels = Kernels(query, chosen)
    value, relevant = kernels.values([measure, sibling("NumRel", measure)])
    rel = _read_rel(measure)
    counted = _count(query, measure, chosen, rel)
    depth = min(math.inf if measure.k is None else measure.k, len(counted))
    k = int(depth)
    if measure.row.name in {"AP", "RR"}:
        _refuse_mixed_ties(measure, counted, k)
    added = _list_added(measure, counted, k)
    shown = choose_ranks(counted, k, limit)
    judged = list_judged(query, counted, [float(grade >= rel) for grade in query.judged])
    order = best = worst = None
    if len(counted) > 0 and not math.isnan(value):
        weights = [-float(at) for at in range(len(counted))]
        best, worst = find_extremes(counted, weights, measure, kernels)
        order = Order(value, tuple(counted.grades[: measure.k]))
    return RelevanceExplanation(
        measure=measure,
        policy=policy,
        query_id=query.query_id,
        value=apply_policy(value, query, policy),
        is_undefined=math.isnan(value),
        is_missing=query.is_missing,
        retrieved=len(query.grades),
        relevant=int(relevant),
        rel=rel,
        total=_add(added, counted, k, measure),
        denominator=_find_denominator(measure, int(relevant), counted, k),
        rows=_derive_rows(counted, measure, kernels, ranks=shown, added=added),
        gaps=tuple(find_gaps(shown, k, counted, chosen)),
        below=list_below(query, counted, k, limit),
        unretrieved=list_unretrieved(judged, chosen, limit),
        removed=list_removed(query, counted, limit),
        order=order,
        best=best,
        worst=worst,
    )


def _read_rel(measure: Measure) -> float:
    rel = measure.parameters["rel"]
    return rel if isinstance(rel, float) else 1.0


def _count(query: RankedQuery, measure: Measure, policy: Policy, rel: float) -> RankedDocuments:
    """Return which documents have ranks, with relevance as their gain."""
    rows, removed = take_ranks(query, measure, policy)
    grades = [query.grades[row] for row in rows]
    relevance = [float(grade >= rel) for grade in grades]
    shares = [*relevance]
    ties: dict[int, tuple[int, int]] = {}
    for first, last in find_ties(query, rows) if query.ties == "average" else []:
        size = last - first + 1
        shares[first - 1 : last] = [sum(relevance[first - 1 : last]) / size] * size
        ties |= dict.fromkeys(range(first, last + 1), (first, last))
    return RankedDocuments(rows, grades, relevance, shares, ties, removed)


def _refuse_mixed_ties(measure: Measure, counted: RankedDocuments, k: int) -> None:
    """Raise an error for ties whose order matters, because their terms depend on each other."""
    for first, last in sorted(set(counted.ties.values())):
        if first <= k and 0 < counted.rank_gains[first - 1] < 1:
            raise MeasureError(
                f"expected documents of different scores, or all relevant or none, to explain "
                f"{measure} over the orders of ties, found ranks {first} to {last} of one score",
                hint="choose an order: --policy ties=doc_id, or ties='doc_id' where rankings are "
                "made",
                code="not_explained",
            )


def _list_added(measure: Measure, counted: RankedDocuments, k: int) -> list[float]:
    """List what each rank adds to the sum that is divided."""
    name = measure.row.name
    added = []
    found = 0.0
    for rank, share in enumerate(counted.rank_gains[:k], start=1):
        is_first = share > 0 and found == 0
        found += share
        if name == "AP":
            added.append(found / rank if share else 0.0)
        elif name == "RR":
            added.append(1 / rank if is_first else 0.0)
        else:
            added.append(share)
    return added


def _add(added: Sequence[float], counted: RankedDocuments, k: int, measure: Measure) -> float:
    """Add up the terms of the ranks, by tie for P and R, so that nothing is rounded."""
    if measure.row.name in {"AP", "RR"} or not counted.ties:
        total = 0.0
        for one in added:
            total += one
        return total
    found = 0.0
    rank = 1
    while rank <= k:
        first, last = counted.ties.get(rank, (rank, rank))
        count = sum(counted.gains[first - 1 : last])
        within = min(last, k) - first + 1
        size = last - first + 1
        found += count if within == size else count * within / size
        rank = last + 1
    return found


def _find_denominator(measure: Measure, relevant: int, counted: RankedDocuments, k: int) -> int:
    """Return what the sum is divided by."""
    cutoff = measure.k
    reachable = relevant if cutoff is None else min(relevant, cutoff)
    known = {
        "relevant": relevant,
        "reachable": reachable,
        "cutoff": cutoff or 0,
        "retrieved": k,
        "found": int(sum(counted.gains[:k])),
    }
    # One divided by a rank is divided by nothing else.
    return (
        known[str(measure.parameters.get("denominator", "relevant"))] if cutoff or relevant else 0
    )


def _derive_rows(
    counted: RankedDocuments,
    measure: Measure,
    kernels: Kernels,
    *,
    ranks: Sequence[int],
    added: Sequence[float],
) -> tuple[RelevanceRow, ...]:
    if not ranks:
        return ()
    plain = {name: measure.parameters[name] for name in ("rel", "judged_only")}
    precision = sibling("P", measure)(denominator="cutoff", **plain)
    recall = sibling("R", measure)(denominator="relevant", **plain)
    values = kernels.values([each @ rank for each in (precision, recall) for rank in ranks])
    return tuple(
        RelevanceRow(
            rank=rank,
            doc_id=kernels.query.name(counted.rows[rank - 1]),
            grade=counted.grades[rank - 1],
            relevant=counted.rank_gains[rank - 1],
            precision=values[at],
            recall=values[at + len(ranks)],
            contribution=added[rank - 1],
            tie=counted.ties.get(rank),
        )
        for at, rank in enumerate(ranks)
    )
