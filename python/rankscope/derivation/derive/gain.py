"""Derives a value of cumulated gain, term by term."""

from __future__ import annotations

import math
from operator import itemgetter

from rankscope._core import EMPTY_VALUES
from rankscope.derivation.derive.ideal import derive_ideal, list_judged, rank_ideal
from rankscope.derivation.derive.kernels import Family, Kernels, sibling
from rankscope.derivation.derive.query import count
from rankscope.derivation.derive.swap import find_extremes, find_swap
from rankscope.derivation.explanation import (
    Between,
    Document,
    Documents,
    Explanation,
    Gap,
    LossSplit,
    Order,
    Row,
)
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.derivation.derive.ideal import JudgedDocument
    from rankscope.derivation.derive.query import RankedDocuments, RankedQuery
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy

LOSSES = ("RetrievalLoss", "TruncationLoss", "OrderingLoss")


def derive(query: RankedQuery, measure: Measure, policy: Policy, *, limit: int) -> Explanation:
    """Derive the value of a measure of cumulated gain."""
    family = Family.of(measure)
    # To see judged documents only is to remove the others.
    chosen = replace(policy, unjudged="remove") if measure.judged_only else policy
    if measure.k is None:
        chosen = replace(chosen, missing_gain=None)  # a whole list lacks nothing
    kernels = Kernels(query, chosen)
    value = kernels.values([measure])[0]
    counted = count(family.cg, kernels)
    gains = kernels.gains(family.cg, query.judged)
    judged = list_judged(query, counted, gains)
    ideal = rank_ideal(judged, query, counted, family.ndcg, chosen)
    depth = _find_depth(len(counted), len(ideal), family.ndcg, chosen)
    shown = choose_ranks(counted, depth, limit)
    cg, dcg, idcg = kernels.values([family.cg, family.dcg, family.idcg])
    weights = _weigh(counted, family, kernels)
    is_of_list = measure.row.name != "IDCG" and len(counted) > 0
    order = Order(value, tuple(counted.grades[: measure.k])) if is_of_list else None
    best, worst = (
        find_extremes(counted, weights, measure, kernels)
        if is_of_list and not math.isnan(value)
        else (None, None)
    )
    return Explanation(
        measure=measure,
        policy=policy,
        query_id=query.query_id,
        value=apply_policy(value, query, policy),
        is_undefined=math.isnan(value),
        is_missing=query.is_missing,
        retrieved=len(query.grades),
        cg=cg,
        dcg=dcg,
        idcg=idcg,
        gains=_list_gains(counted, ideal, measure.k),
        rows=_derive_rows(counted, family, kernels, shown),
        gaps=tuple(find_gaps(shown, depth, counted, chosen)),
        ideal_rows=derive_ideal(ideal[:limit], _uncut(family.idcg), kernels),
        ideal_size=len(ideal),
        below=list_below(query, counted, measure.k, limit),
        unretrieved=list_unretrieved(judged, chosen, limit),
        removed=list_removed(query, counted, limit),
        order=order,
        best=best,
        worst=worst,
        losses=_split(family, kernels, chosen),
        observes_retrieval=query.sees_all
        and policy.unretrieved == "count"
        and family.ndcg.parameters["ideal"] != "retrieved",
        swap=find_swap(counted, _average(weights, counted), measure, kernels)
        if is_of_list
        else None,
        between=_find_between(counted, family, kernels),
    )


def _uncut(idcg: Measure) -> Measure:
    """Return the measure whose values at cutoffs are the running sums of an ideal list."""
    return idcg(ideal="judged") if idcg.parameters["ideal"] == "whole" else idcg


def _find_depth(retrieved: int, ideal: int, measure: Measure, policy: Policy) -> int:
    """Return the number of ranks, with those after the end of the list that count."""
    k = math.inf if measure.k is None else measure.k
    if not retrieved and not policy.missing_gain:
        return 0
    if policy.missing_gain and measure.k is not None:  # which it has beside such a gain
        return measure.k
    reach = retrieved if measure.parameters["ideal"] == "whole" else max(retrieved, ideal)
    return int(min(k, reach))


def _derive_rows(
    counted: RankedDocuments, family: Family, kernels: Kernels, ranks: list[int]
) -> tuple[Row, ...]:
    if not ranks:
        return ()
    query, size = kernels.query, len(counted)
    missing = float(kernels.policy.missing_gain or 0)
    gains = [counted.rank_gains[rank - 1] if rank <= size else missing for rank in ranks]
    discounts = kernels.discounted(family.dcg, [1.0] * len(ranks), ranks)
    contributions = kernels.discounted(family.dcg, gains, ranks)
    running = (family.cg, family.dcg, family.idcg, family.ndcg)
    values = kernels.values([each @ rank for each in running for rank in ranks])
    columns = [values[at : at + len(ranks)] for at in range(0, len(values), len(ranks))]
    return tuple(
        Row(
            rank=rank,
            doc_id=query.name(counted.rows[rank - 1]) if rank <= size else None,
            grade=counted.grades[rank - 1] if rank <= size else None,
            gain=gains[at],
            discount=discounts[at],
            contribution=contributions[at],
            cg=columns[0][at],
            dcg=columns[1][at],
            idcg=columns[2][at],
            ndcg=columns[3][at],
            tie=counted.ties.get(rank),
        )
        for at, rank in enumerate(ranks)
    )


def _weigh(counted: RankedDocuments, family: Family, kernels: Kernels) -> list[float]:
    """Return the worth of a gain of 1 at each rank."""
    size = len(counted)
    reach = size if family.own.k is None else min(size, family.own.k)
    ranks = range(1, reach + 1)
    is_discounted = family.own.row.name != "CG"
    within = (
        kernels.discounted(family.dcg, [1.0] * reach, ranks) if is_discounted else [1.0] * reach
    )
    return [*within, *[0.0] * (size - reach)]


def _average(weights: Sequence[float], counted: RankedDocuments) -> list[float]:
    """Return the worth of a gain of 1 for each document, averaged over the ranks of its tie."""
    averaged = [*weights]
    for first, last in set(counted.ties.values()):
        mean = sum(weights[first - 1 : last]) / (last - first + 1)
        averaged[first - 1 : last] = [mean] * (last - first + 1)
    return averaged


def _list_gains(
    counted: RankedDocuments, ideal: Sequence[JudgedDocument], k: int | None
) -> tuple[tuple[float, float], ...]:
    pairs = dict(zip(counted.grades[:k], counted.gains[:k], strict=True))
    pairs |= {each.grade: each.gain for each in ideal}
    return tuple(sorted((pair for pair in pairs.items() if pair[0] == pair[0]), reverse=True))


def _split(family: Family, kernels: Kernels, policy: Policy) -> LossSplit | None:
    """Split the loss into retrieval, truncation and ordering, where that is defined."""
    is_share = policy.negative != "minmax" and family.ndcg.parameters["ideal"] != "slots"
    if family.own.row.name != "nDCG" or not is_share:
        return None
    found = kernels.values([sibling(name, family.own) for name in LOSSES])
    return None if any(map(math.isnan, found)) else LossSplit(*found)


def _find_between(counted: RankedDocuments, family: Family, kernels: Kernels) -> Between | None:
    """Find the sums of the worst and the best order, between which minmax normalizes."""
    query, policy = kernels.query, kernels.policy
    if policy.negative != "minmax" or family.own.row.name != "nDCG":
        return None
    grades = list(query.judged)
    if family.own.parameters["ideal"] == "retrieved":
        # Documents without a judgment are of the orders only where the policy gives them a gain.
        listed = zip(counted.gains, counted.grades, strict=True)
        grades = [grade for gain, grade in listed if gain or not math.isnan(grade)]
    elif policy.unretrieved == "ignore":
        grades = [grade for grade in query.grades if not math.isnan(grade)]
    plain = sibling("DCG", family.own)(judged_only=False)
    pairs = sorted(zip(kernels.gains(plain, grades), grades, strict=True), key=itemgetter(0))
    order = [grade for _, grade in pairs]
    worst, best = (kernels.sum_of_order(plain, each) for each in (order, order[::-1]))
    return Between(worst, best)


def choose_ranks(counted: RankedDocuments, depth: int, limit: int) -> list[int]:
    """Choose the ranks to show: all of them, or the first ones, those with a gain, and the last."""
    if depth <= limit:
        return list(range(1, depth + 1))
    chosen = list(range(1, limit // 2 + 1))
    for rank in range(limit // 2 + 1, min(depth, len(counted) + 1)):
        if len(chosen) == limit - 1:
            break
        if counted.rank_gains[rank - 1] != 0:
            chosen.append(rank)
    return [*chosen, depth]


def find_gaps(shown: list[int], depth: int, counted: RankedDocuments, policy: Policy) -> list[Gap]:
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


def list_below(
    query: RankedQuery, counted: RankedDocuments, k: int | None, limit: int
) -> Documents:
    """List the documents with a gain below the cutoff, those with the largest gains first."""
    places = range(len(counted) if k is None else k, len(counted))
    found = [at for at in places if counted.gains[at] > 0]
    found.sort(key=lambda at: -counted.gains[at])
    shown = [
        Document(query.name(counted.rows[at]), counted.grades[at], counted.gains[at], at + 1)
        for at in found[:limit]
    ]
    return Documents(tuple(shown), len(found))


def list_unretrieved(judged: Sequence[JudgedDocument], policy: Policy, limit: int) -> Documents:
    """List the judged documents that weren't retrieved, those with the largest gains first."""
    if policy.unretrieved == "ignore":
        return Documents((), 0)
    lacking = [each for each in judged if not each.is_retrieved]
    lacking.sort(key=lambda each: -each.gain)
    shown = [Document(each.doc_id, each.grade, each.gain, None) for each in lacking[:limit]]
    return Documents(tuple(shown), len(lacking))


def list_removed(query: RankedQuery, counted: RankedDocuments, limit: int) -> Documents:
    """List the documents without a rank."""
    shown = [
        Document(query.name(row), query.grades[row], 0.0, row + 1)
        for row in counted.removed[:limit]
    ]
    return Documents(tuple(shown), len(counted.removed))


def apply_policy(value: float, query: RankedQuery, policy: Policy) -> float:
    """Return what an evaluation returns for a value, NaN if it returns none."""
    if query.is_missing and policy.missing != "zero":
        return math.nan
    return EMPTY_VALUES.get(policy.empty, value) if math.isnan(value) else value
