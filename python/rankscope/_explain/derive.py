"""Derivations: the terms of a value, computed by the kernels that evaluate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice, pairwise
from operator import add, itemgetter
from typing import Any, NamedTuple

from rankscope._core import EMPTY_VALUES
from rankscope._explain.explanation import Document, Documents, Gap, Order
from rankscope._explain.gains import Between, Explanation, LossSplit, Row
from rankscope._explain.ideal import derive_ideal, find_extremes, find_swap, list_judged, rank_ideal
from rankscope._explain.query import (
    Kernels,
    RankedDocuments,
    RankedQuery,
    count,
    count_gains,
    sibling,
)
from rankscope._explain.relevance import RelevanceExplanation, RelevanceRow
from rankscope._settings import Policy
from rankscope.errors import MeasureError
from rankscope.measures import Measure

LOSSES = ("RetrievalLoss", "TruncationLoss", "OrderingLoss")


class _Family(NamedTuple):
    """The measures of cumulated gain, with the same settings."""

    cg: Measure
    dcg: Measure
    idcg: Measure
    ndcg: Measure


def derive(query: RankedQuery, measure: Measure, policy: Policy, limit: int) -> Explanation:
    """Derive the value of a measure of cumulated gain."""
    family = _Family(*(sibling(name, measure) for name in ("CG", "DCG", "IDCG", "nDCG")))
    kernels = Kernels(query, measure, policy)
    value, cg, dcg, idcg = kernels.values([measure, family.cg, family.dcg, family.idcg])
    counted = count_gains(kernels, family.cg)
    gains = kernels.gains(family.cg, query.judged)
    retrieved, unretrieved = list_judged(kernels, counted, gains)
    ideal = rank_ideal([*retrieved, *unretrieved], query, counted, family.ndcg)
    depth = _find_depth(len(counted), len(ideal), family.ndcg, kernels.policy)
    ranks = _choose_ranks(counted, depth, limit)
    is_of_list = measure.row.name != "IDCG" and len(counted) > 0
    weights = _weigh(len(counted), family.dcg, kernels) if is_of_list else None
    shared = _describe(
        kernels,
        counted,
        value,
        policy=policy,
        unretrieved=unretrieved,
        weights=weights,
        limit=limit,
    )
    return Explanation(
        **shared,
        gaps=_find_gaps(ranks, depth, counted, kernels.policy),
        cg=cg,
        dcg=dcg,
        idcg=idcg,
        gains=_list_gains(counted, ideal, measure.k),
        rows=_derive_rows(counted, family, kernels, ranks),
        ideal_rows=derive_ideal(ideal[:limit], family.idcg, kernels),
        ideal_size=len(ideal),
        losses=_split(kernels),
        observes_retrieval=query.sees_all
        and policy.unretrieved == "count"
        and family.ndcg.parameters["ideal"] != "retrieved",
        swap=find_swap(counted, counted.average(weights), kernels) if weights else None,
        between=_find_between(counted, kernels),
    )


def _describe(
    kernels: Kernels,
    counted: RankedDocuments,
    value: float,
    *,
    policy: Policy,
    unretrieved: Sequence[Document],
    weights: Sequence[float] | None,
    limit: int,
) -> dict[str, Any]:
    """Return what the explanations of all measures have; orders only if ranks have weights."""
    query, measure, size = kernels.query, kernels.measure, len(counted)
    below = [at for at in range(measure.k or size, size) if counted.gains[at] > 0]
    below.sort(key=lambda at: -counted.gains[at])
    shown = [query.document(counted.rows[at], counted.gains[at], at + 1) for at in below[:limit]]
    lacking = sorted(unretrieved, key=lambda document: -document.gain)
    removed = map(query.document, counted.removed[:limit])
    order = best = worst = None
    if weights is not None:
        order = Order(value, tuple(counted.grades[: measure.k]))
        if not math.isnan(value):
            best, worst = find_extremes(counted, weights, kernels)
    return {
        "measure": measure,
        "policy": policy,
        "query_id": query.query_id,
        "value": _apply_policy(value, query, policy),
        "is_undefined": math.isnan(value),
        "is_missing": query.is_missing,
        "retrieved": len(query.grades),
        "below": Documents(tuple(shown), len(below)),
        "unretrieved": Documents(tuple(lacking[:limit]), len(lacking)),
        "removed": Documents(tuple(removed), len(counted.removed)),
        "order": order,
        "best": best,
        "worst": worst,
    }


def _apply_policy(value: float, query: RankedQuery, policy: Policy) -> float:
    """Return what an evaluation returns for a value, NaN if it returns none."""
    if query.is_missing and policy.missing != "zero":
        return math.nan
    return EMPTY_VALUES.get(policy.empty, value) if math.isnan(value) else value


def _find_depth(retrieved: int, ideal: int, measure: Measure, policy: Policy) -> int:
    """Return the number of ranks, with those after the end of the list that count."""
    if policy.missing_gain:
        return measure.k or 0
    if not retrieved:
        return 0
    reach = retrieved if measure.parameters["ideal"] == "whole" else max(retrieved, ideal)
    return min(reach, measure.k or reach)


def _choose_ranks(counted: RankedDocuments, depth: int, limit: int) -> list[int]:
    """Choose the ranks to show: all of them, or the first ones, those with a gain, and the last."""
    if depth <= limit:
        return list(range(1, depth + 1))
    first = limit // 2
    gainful = (
        rank
        for rank in range(first + 1, min(depth, len(counted) + 1))
        if counted.rank_gains[rank - 1] != 0
    )
    return [*range(1, first + 1), *islice(gainful, limit - 1 - first), depth]


def _find_gaps(
    ranks: Sequence[int], depth: int, counted: RankedDocuments, policy: Policy
) -> tuple[Gap, ...]:
    """Find the ranks above the cutoff that aren't shown."""
    gaps = []
    for before, after in pairwise([0, *ranks, depth + 1]):
        first, last = before + 1, after - 1
        if first <= last:
            gains = sum(gain != 0 for gain in counted.rank_gains[before:last])
            if policy.missing_gain:
                gains += max(0, last - max(before, len(counted)))
            gaps.append(Gap(first, last, gains))
    return tuple(gaps)


def _weigh(size: int, dcg: Measure, kernels: Kernels) -> list[float]:
    """Return the worth of a gain of 1 at each rank."""
    reach = min(size, dcg.k or size)
    weights = [1.0] * reach
    if kernels.measure.row.name != "CG":
        weights = kernels.discounted(dcg, weights, range(1, reach + 1))
    return [*weights, *[0.0] * (size - reach)]


def _derive_rows(
    counted: RankedDocuments, family: _Family, kernels: Kernels, ranks: list[int]
) -> tuple[Row, ...]:
    if not ranks:
        return ()
    size, width = len(counted), len(ranks)
    missing = float(kernels.policy.missing_gain or 0)
    gains = [counted.rank_gains[rank - 1] if rank <= size else missing for rank in ranks]
    discounts = kernels.discounted(family.dcg, [1.0] * width, ranks)
    contributions = kernels.discounted(family.dcg, gains, ranks)
    values = kernels.values([measure @ rank for measure in family for rank in ranks])
    return tuple(
        Row(
            rank=rank,
            doc_id=counted.docs[rank - 1] if rank <= size else None,
            grade=counted.grades[rank - 1] if rank <= size else None,
            gain=gains[at],
            discount=discounts[at],
            contribution=contributions[at],
            cg=values[at],
            dcg=values[at + width],
            idcg=values[at + 2 * width],
            ndcg=values[at + 3 * width],
            tie=counted.ties.get(rank),
        )
        for at, rank in enumerate(ranks)
    )


def _list_gains(
    counted: RankedDocuments, ideal: Sequence[Document], k: int | None
) -> tuple[tuple[float, float], ...]:
    pairs = dict(zip(counted.grades[:k], counted.gains[:k], strict=True))
    pairs |= {document.grade: document.gain for document in ideal}
    judged = (pair for pair in pairs.items() if not math.isnan(pair[0]))
    return tuple(sorted(judged, reverse=True))


def _split(kernels: Kernels) -> LossSplit | None:
    """Split the loss into retrieval, truncation and ordering, where that is defined."""
    measure = kernels.measure
    is_sum = kernels.policy.negative != "minmax" and measure.parameters.get("ideal") != "slots"
    if measure.row.name != "nDCG" or not is_sum:
        return None
    losses = kernels.values([sibling(name, measure) for name in LOSSES])
    return None if any(map(math.isnan, losses)) else LossSplit(*losses)


def _find_between(counted: RankedDocuments, kernels: Kernels) -> Between | None:
    """Find the sums of the worst and the best order, between which minmax normalizes."""
    query, measure, policy = kernels.query, kernels.measure, kernels.policy
    if policy.negative != "minmax" or measure.row.name != "nDCG":
        return None
    grades = list(query.judged)
    if measure.parameters["ideal"] == "retrieved":
        # Documents without a judgment are of the orders only where the policy gives them a gain.
        pairs = zip(counted.gains, counted.grades, strict=True)
        grades = [grade for gain, grade in pairs if gain or not math.isnan(grade)]
    elif policy.unretrieved == "ignore":
        grades = [grade for grade in query.grades if not math.isnan(grade)]
    plain = sibling("DCG", measure)(judged_only=False)
    weighed = sorted(zip(kernels.gains(plain, grades), grades, strict=True), key=itemgetter(0))
    order = [grade for _, grade in weighed]
    return Between(*(kernels.sum_of_order(plain, grades) for grades in (order, order[::-1])))


def derive_relevance(
    query: RankedQuery, measure: Measure, policy: Policy, limit: int
) -> RelevanceExplanation:
    """Derive the value of a measure that counts documents as relevant or not."""
    kernels = Kernels(query, measure, replace(policy, missing_gain=None))  # which has no relevance
    value, relevant = kernels.values([measure, sibling("NumRel", measure)])
    setting = measure.parameters["rel"]
    rel = setting if isinstance(setting, float) else 1.0
    counted = count(
        kernels,
        lambda grades: [float(grade >= rel) for grade in grades],
        lambda ties: [sum(grade >= rel for grade in tie) / len(tie) for tie in ties],
    )
    depth = min(len(counted), measure.k or len(counted))
    if measure.row.name in {"AP", "RR"}:
        _refuse_mixed_ties(measure, counted, depth)
    added = _list_added(measure, counted, depth)
    ranks = _choose_ranks(counted, depth, limit)
    _, unretrieved = list_judged(kernels, counted, [float(grade >= rel) for grade in query.judged])
    has_orders = len(counted) > 0 and not math.isnan(value)
    weights = range(0, -len(counted), -1) if has_orders else None
    shared = _describe(
        kernels,
        counted,
        value,
        policy=policy,
        unretrieved=unretrieved,
        weights=weights,
        limit=limit,
    )
    return RelevanceExplanation(
        **shared,
        gaps=_find_gaps(ranks, depth, counted, kernels.policy),
        relevant=int(relevant),
        rel=rel,
        total=_add(added, counted, depth, measure),
        denominator=_find_denominator(measure, int(relevant), counted, depth),
        rows=_derive_relevance_rows(counted, kernels, ranks, added),
    )


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
    name, added, relevant = measure.row.name, [], 0.0
    for rank, share in enumerate(counted.rank_gains[:k], start=1):
        relevant += share
        if name == "AP":
            added.append(relevant / rank if share else 0.0)
        elif name == "RR":
            added.append(1 / rank if share and relevant == share else 0.0)  # the first
        else:
            added.append(share)
    return added


def _add(added: Sequence[float], counted: RankedDocuments, k: int, measure: Measure) -> float:
    """Add up the terms of the ranks, by tie for P and R, so that nothing is rounded."""
    if measure.row.name in {"AP", "RR"} or not counted.ties:
        return reduce(add, added, 0.0)
    total = 0.0
    rank = 1
    while rank <= k:
        first, last = counted.ties.get(rank, (rank, rank))
        relevant = sum(counted.gains[first - 1 : last])
        within, size = min(last, k) - first + 1, last - first + 1
        total += relevant if within == size else relevant * within / size
        rank = last + 1
    return total


def _find_denominator(measure: Measure, relevant: int, counted: RankedDocuments, k: int) -> int:
    """Return what the sum is divided by."""
    cutoff = measure.k
    if not cutoff and not relevant:
        return 0
    denominators = {
        "relevant": relevant,
        "reachable": relevant if cutoff is None else min(relevant, cutoff),
        "cutoff": cutoff or 0,
        "retrieved": k,
        "found": int(sum(counted.gains[:k])),
    }
    # One divided by a rank is divided by nothing else.
    return denominators[str(measure.parameters.get("denominator", "relevant"))]


def _derive_relevance_rows(
    counted: RankedDocuments, kernels: Kernels, ranks: Sequence[int], added: Sequence[float]
) -> tuple[RelevanceRow, ...]:
    if not ranks:
        return ()
    measure = kernels.measure
    plain = {name: measure.parameters[name] for name in ("rel", "judged_only")}
    precision = sibling("P", measure)(denominator="cutoff", **plain)
    recall = sibling("R", measure)(denominator="relevant", **plain)
    values = kernels.values([of @ rank for of in (precision, recall) for rank in ranks])
    return tuple(
        RelevanceRow(
            rank=rank,
            doc_id=counted.docs[rank - 1],
            grade=counted.grades[rank - 1],
            relevant=counted.rank_gains[rank - 1],
            precision=values[at],
            recall=values[at + len(ranks)],
            contribution=added[rank - 1],
            tie=counted.ties.get(rank),
        )
        for at, rank in enumerate(ranks)
    )
