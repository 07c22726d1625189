"""Examination of ranks from documents that were shown at several ranks (intervention harvesting).

Several rankers, or one that changes, show the same document for the same query at different ranks.
Its relevance is the same, so its clicks compare how often users look at these ranks (Agarwal,
Zaitsev, Wang, Li, Najork and Joachims, *Estimating position bias without intrusive interventions*,
WSDM 2019). This is their all-pairs estimator: for each pair of ranks, the documents shown at both
have one mean relevance, and the curve maximizes the likelihood of the clicks of all pairs.

There, each document counts the same in a pair of ranks. Here, it counts as the harmonic mean of its
impressions at both, as in the estimator of Mantel and Haenszel, so that documents with few
impressions add little noise.
"""

from __future__ import annotations

import math

from rankscope.clicks.examination_result import ExaminationCurve
from rankscope.clicks.reliability import Reliability, find_ends, kish
from rankscope.deferred import np
from rankscope.errors import EmptyError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]
    Codes: TypeAlias = NDArray[np.int64]

DEEPEST = 50
"""The largest number of ranks."""
MOST_STEPS = 100
LONGEST_STEP = 1.0
CLOSE = 1e-12


@record(frozen=True, slots=True, kw_only=True)
class Shown:
    """Impressions of documents.

    Args:
        documents: The number of the query and document of each impression, from 0.
        ranks: The rank of each, from 1.
        clicks: 1 where it was clicked, 0 elsewhere.
        clusters: The number of its cluster, from 0, such as that of its query.
    """

    documents: Codes
    ranks: Codes
    clicks: Numbers
    clusters: Codes


@record(frozen=True, slots=True, kw_only=True)
class Swaps:
    """Weighted clicks of the documents that were shown at both of two ranks.

    Args:
        first: The lower number of each pair of ranks, from 0.
        second: The higher number.
        clicks: float64 [2, pairs], the weighted clicks at either rank.
        misses: float64 [2, pairs], the weighted impressions without a click.
        of_clusters: float64 [clusters, 2, 2, pairs], the clicks and misses of each cluster at
            either rank.
    """

    first: Codes
    second: Codes
    clicks: Numbers
    misses: Numbers
    of_clusters: Numbers


def harvest(shown: Shown, level: float) -> ExaminationCurve:
    """Return how often users look at each rank relative to rank 1."""
    depth = int(shown.ranks.max())
    documents = int(shown.documents.max()) + 1
    impressions = np.bincount(
        shown.documents * depth + shown.ranks - 1, minlength=documents * depth
    ).reshape(documents, depth)
    is_swapped = (impressions > 0).sum(axis=1) > 1
    kept = is_swapped[shown.documents]
    swaps = _find_swaps(shown, impressions, kept)
    _refuse_unlinked(swaps, depth)
    logs, relevance = _maximize(swaps, depth)
    influences = _influence(swaps, logs, relevance)
    counts = np.bincount(shown.ranks[kept] - 1, minlength=depth)
    clicks = np.bincount(shown.ranks[kept] - 1, weights=shown.clicks[kept], minlength=depth)
    cells = np.zeros((int(shown.clusters.max()) + 1, depth))
    np.add.at(cells, (shown.clusters[kept], shown.ranks[kept] - 1), 1.0)
    reasons = [""]
    for at in range(1, depth):
        reliability = [
            Reliability(
                n=int(counts[rank]),
                effective=float(counts[rank]),
                heavy=math.inf,
                rewarded=float(min(clicks[rank], counts[rank] - clicks[rank])),
                clusters=kish(cells[:, rank]),
            ).refuse()
            for rank in (0, at)
        ]
        reasons.append(next(filter(None, reliability), ""))
    ends = [(0.0, 0.0)]
    for at in range(1, depth):
        none = math.nan, math.nan
        found = none if reasons[at] else find_ends(logs[at], influences[:, at], None, level)
        ends.append(found)
    return ExaminationCurve(
        {
            "rank": [*range(1, depth + 1)],
            "impressions": counts.tolist(),
            "clicks": [round(count) for count in clicks.tolist()],
            "documents": (impressions[is_swapped] > 0).sum(axis=0).tolist(),
            "weight": np.exp(logs).tolist(),
            "lower": [math.exp(low) for low, _ in ends],
            "upper": [math.exp(high) for _, high in ends],
        },
        level,
        is_weighted=False,
        refused=tuple(reasons),
        clusters=int((cells.sum(axis=1) > 0).sum()),
        method="harvest",
    )


def _find_swaps(shown: Shown, impressions: Codes, kept: NDArray[np.bool_]) -> Swaps:

    depth = impressions.shape[1]
    first, second = np.triu_indices(depth, 1)
    documents, ranks = shown.documents[kept], shown.ranks[kept] - 1
    clicks, clusters = shown.clicks[kept], shown.clusters[kept]
    count = int(shown.clusters.max()) + 1
    counts = impressions[documents].astype(np.float64)
    own = counts[np.arange(len(ranks)), ranks]
    of_clusters = np.zeros((count, 2, 2, len(first)))
    for pair, ends in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        for side, (rank, other) in enumerate((ends, ends[::-1])):
            rows = np.flatnonzero((ranks == rank) & (counts[:, other] > 0))
            # The harmonic weight of the document, spread over its impressions at this rank.
            weights = counts[rows, other] / (own[rows] + counts[rows, other])
            for what, column in enumerate((clicks[rows], 1 - clicks[rows])):
                of_clusters[:, what, side, pair] = np.bincount(
                    clusters[rows], weights=weights * column, minlength=count
                )
    sums = of_clusters.sum(axis=0)
    return Swaps(
        first=first, second=second, clicks=sums[0], misses=sums[1], of_clusters=of_clusters
    )


def _refuse_unlinked(swaps: Swaps, depth: int) -> None:
    """Refuse clicks that don't compare each rank with rank 1, directly or by way of others."""
    at_rank = [0.0] * depth
    for pair, ends in enumerate(zip(swaps.first.tolist(), swaps.second.tolist(), strict=True)):
        for side, rank in enumerate(ends):
            at_rank[rank] += float(swaps.clicks[side, pair])
    linked, grown = {0}, True
    pairs = [
        {one, other}
        for one, other, clicks in zip(
            swaps.first.tolist(), swaps.second.tolist(), swaps.clicks.sum(axis=0), strict=True
        )
        if clicks > 0 and at_rank[one] > 0 and at_rank[other] > 0
    ]
    while grown:
        grown = False
        for joined in pairs:
            if joined & linked and not joined <= linked:
                linked |= joined
                grown = True
    lost = [rank for rank in range(depth) if rank not in linked or at_rank[rank] == 0]
    if lost:
        other = "rank 1" if lost[0] else "other ranks"
        raise EmptyError(
            f"no clicked documents link rank {lost[0] + 1} with {other}",
            hint="harvesting needs documents that were shown at several ranks for the same query "
            "and clicked; use a longer log, logs of several rankers, or fewer ranks",
            code="no_swaps",
        )


def _maximize(swaps: Swaps, depth: int) -> tuple[Numbers, Numbers]:
    """Return the logarithms of the examination of ranks and of the relevance of pairs."""
    logs = np.zeros(depth)
    relevance = _fit_relevance(swaps, logs)
    for _ in range(MOST_STEPS):
        slopes, bends = _differentiate(swaps, logs, relevance)
        score, matrix = _profile(swaps, slopes, bends, depth)
        step = np.append(0.0, np.linalg.solve(matrix[1:, 1:], score[1:]))
        largest = float(abs(step).max())
        logs += step * min(1.0, LONGEST_STEP / max(largest, CLOSE))
        relevance = _fit_relevance(swaps, logs)
        if largest < CLOSE:
            break
    return logs, relevance


def _fit_relevance(swaps: Swaps, logs: Numbers) -> Numbers:
    """Return the logarithms of the relevance of pairs that maximize the likelihood."""
    one, other = np.exp(logs[swaps.first]), np.exp(logs[swaps.second])
    clicks, misses = swaps.clicks.sum(axis=0), swaps.misses
    square = one * other * (clicks + misses.sum(axis=0))
    linear = clicks * (one + other) + misses[0] * one + misses[1] * other
    root = np.sqrt(np.maximum(0.0, linear**2 - 4 * square * clicks))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Numbers = np.log(2 * clicks / (linear + root))
    return found


def _differentiate(
    swaps: Swaps, logs: Numbers, relevance: Numbers
) -> tuple[tuple[Numbers, Numbers], Numbers]:
    """Return what a click and a miss add to the slope at each rank of a pair, and the curvature."""
    chances = np.exp(np.stack([logs[swaps.first], logs[swaps.second]]) + relevance)
    chances = np.clip(np.nan_to_num(chances), 0, 1 - CLOSE)
    odds = chances / (1 - chances)
    return (np.ones_like(odds), -odds), swaps.misses * odds / (1 - chances)


def _profile(
    swaps: Swaps, slopes: tuple[Numbers, Numbers], bends: Numbers, depth: int
) -> tuple[Numbers, Numbers]:
    """Return the slope and the curvature of the likelihood with the best relevance of each pair."""
    both = bends.sum(axis=0)
    link = np.divide(bends[0] * bends[1], both, out=np.zeros_like(both), where=both > 0)
    one, other = swaps.clicks * slopes[0] + swaps.misses * slopes[1]
    score = np.zeros(depth)
    np.add.at(score, swaps.first, _share(one, other, bends))
    np.add.at(score, swaps.second, _share(other, one, bends[::-1]))
    matrix = np.zeros((depth, depth))
    for ends in ((swaps.first, swaps.second), (swaps.second, swaps.first)):
        np.add.at(matrix, (ends[0], ends[0]), link)
        np.add.at(matrix, ends, -link)
    return score, matrix


def _share(own: Numbers, other: Numbers, bends: Numbers) -> Numbers:
    """Return the slope at a rank that the relevance of its pair can't take up."""
    both = bends.sum(axis=0)
    left = bends[1] * own - bends[0] * other
    found: Numbers = np.divide(left, both, out=np.zeros_like(left), where=both > 0)
    return found


def _influence(swaps: Swaps, logs: Numbers, relevance: Numbers) -> Numbers:
    """Return what each cluster adds to the error of the logarithm of each rank."""
    depth = len(logs)
    slopes, bends = _differentiate(swaps, logs, relevance)
    _, matrix = _profile(swaps, slopes, bends, depth)
    held = swaps.of_clusters[:, 0] * slopes[0] + swaps.of_clusters[:, 1] * slopes[1]
    scores = np.zeros((len(held), depth))
    for pair, (one, other) in enumerate(
        zip(swaps.first.tolist(), swaps.second.tolist(), strict=True)
    ):
        bent = bends[:, pair]
        scores[:, one] += _share(held[:, 0, pair], held[:, 1, pair], bent[:, None])
        scores[:, other] += _share(held[:, 1, pair], held[:, 0, pair], bent[::-1, None])
    found = np.zeros_like(scores)
    found[:, 1:] = np.linalg.solve(matrix[1:, 1:], scores[:, 1:].T).T
    return found
