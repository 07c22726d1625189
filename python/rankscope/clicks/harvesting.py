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
    from collections.abc import Sequence
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
    """Impressions of documents, those of a row at one place.

    Args:
        documents: The number of the query and document of each row, from 0.
        places: The number of the place where it was shown, from 0: of its rank, or of its rank and
            of a time.
        impressions: How often it was shown there.
        clicks: How often it was clicked there.
        clusters: The number of its cluster, from 0, such as that of its query.
    """

    documents: Codes
    places: Codes
    impressions: Numbers
    clicks: Numbers
    clusters: Codes


@record(frozen=True, slots=True, kw_only=True)
class Swaps:
    """Weighted clicks of the documents that were shown at both of two places.

    Args:
        first: The lower number of each pair of places, from 0.
        second: The higher number.
        clicks: float64 [2, pairs], the weighted clicks at either place.
        misses: float64 [2, pairs], the weighted impressions without a click.
        of_clusters: float64 [clusters, 2, 2, pairs], the clicks and misses of each cluster at
            either place.
    """

    first: Codes
    second: Codes
    clicks: Numbers
    misses: Numbers
    of_clusters: Numbers


@record(frozen=True, slots=True, kw_only=True)
class Places:
    """How often users look at each place, compared with the places that it is linked with.

    Args:
        groups: The number of the group of places that documents link; -1 for a place without links.
        logs: The logarithm of how often users look there, relative to the first of its group.
        influences: float64 [clusters, places], what each cluster adds to the error of `logs`.
        shown: float64 [clusters, places], how often documents with several places were shown.
        clicks: How often they were clicked at each place.
        documents: How many of them were shown there.
    """

    groups: Codes
    logs: Numbers
    influences: Numbers
    shown: Numbers
    clicks: Numbers
    documents: Codes

    def refuse(self, place: int) -> str:
        """Return why there is too little at a place for an interval; empty if there is enough."""
        count, clicks = float(self.shown[:, place].sum()), float(self.clicks[place])
        return Reliability(
            n=round(count),
            effective=count,
            heavy=math.inf,
            rewarded=min(clicks, count - clicks),
            clusters=kish(self.shown[:, place]),
        ).refuse()

    def contrast(
        self, plus: Sequence[int], minus: Sequence[int], level: float
    ) -> tuple[float, float, float]:
        """Return how often users look at places in proportion to others, with its interval.

        All are NaN where no documents link them, and the interval where there is too little.
        """
        added, removed = ([self.groups[place] for place in places] for places in (plus, minus))
        if sorted(added) != sorted(removed) or -1 in added:
            return math.nan, math.nan, math.nan
        log, influences = (
            each[..., [*plus]].sum(axis=-1) - each[..., [*minus]].sum(axis=-1)
            for each in (self.logs, self.influences)
        )
        ends = math.nan, math.nan
        if not any(map(self.refuse, (*plus, *minus))):
            ends = find_ends(float(log), influences, None, level)
        return math.exp(log), math.exp(ends[0]), math.exp(ends[1])


def harvest(shown: Shown, level: float) -> ExaminationCurve:
    """Return how often users look at each rank relative to rank 1."""
    depth = int(shown.places.max()) + 1
    found = compare_places(shown, depth)
    _refuse_unlinked(found)
    reasons = [""] + [found.refuse(0) or found.refuse(at) for at in range(1, depth)]
    curve = [(1.0, 1.0, 1.0)] + [found.contrast([at], [0], level) for at in range(1, depth)]
    weights, lower, upper = map(list, zip(*curve, strict=True))
    return ExaminationCurve(
        {
            "rank": [*range(1, depth + 1)],
            "impressions": list(map(round, found.shown.sum(axis=0).tolist())),
            "clicks": list(map(round, found.clicks.tolist())),
            "documents": found.documents.tolist(),
            "weight": weights,
            "lower": lower,
            "upper": upper,
        },
        level,
        is_weighted=False,
        refused=tuple(reasons),
        clusters=int(found.shown.any(axis=1).sum()),
        method="harvest",
    )


def compare_places(shown: Shown, count: int) -> Places:
    """Compare how often users look at places, by the documents that were shown at several."""
    documents = int(shown.documents.max(initial=-1)) + 1
    cells = shown.documents * count + shown.places
    impressions = np.bincount(cells, shown.impressions, documents * count).astype(np.float64)
    impressions = impressions.reshape(documents, count)
    is_swapped = (impressions > 0).sum(axis=1) > 1
    kept = is_swapped[shown.documents]
    swaps, groups = _link(_find_swaps(shown, impressions, kept), count)
    try:
        logs, relevance = _maximize(swaps, groups)
        influences = _influence(swaps, logs, relevance, groups)
    except np.linalg.LinAlgError:
        # A few clicks, nearly all of what was shown, fit any curve.
        groups, logs = np.full(count, -1), np.zeros(count)
        influences = np.zeros((len(swaps.of_clusters), count))
    of_clusters = np.zeros((int(shown.clusters.max(initial=-1)) + 1, count))
    at = shown.places[kept]
    np.add.at(of_clusters, (shown.clusters[kept], at), shown.impressions[kept])
    return Places(
        groups=groups,
        logs=logs,
        influences=influences,
        shown=of_clusters,
        clicks=np.bincount(at, shown.clicks[kept], count).astype(np.float64),
        documents=(impressions[is_swapped] > 0).sum(axis=0),
    )


def _find_swaps(shown: Shown, impressions: Numbers, kept: NDArray[np.bool_]) -> Swaps:

    places = impressions.shape[1]
    first, second = np.triu_indices(places, 1)
    count = int(shown.clusters.max(initial=-1)) + 1
    of_clusters = np.zeros((count, 2, 2, len(first)))
    rows_at = [np.flatnonzero(kept & (shown.places == place)) for place in range(places)]
    for pair, ends in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        for side, (place, other) in enumerate((ends, ends[::-1])):
            beside = impressions[shown.documents[rows_at[place]], other]
            rows, beside = rows_at[place][beside > 0], beside[beside > 0]
            # The harmonic weight of the document, spread over its impressions at this place.
            weights = beside / (impressions[shown.documents[rows], place] + beside)
            misses = shown.impressions[rows] - shown.clicks[rows]
            for what, column in enumerate((shown.clicks[rows], misses)):
                of_clusters[:, what, side, pair] = np.bincount(
                    shown.clusters[rows], weights=weights * column, minlength=count
                )
    sums = of_clusters.sum(axis=0)
    return Swaps(
        first=first, second=second, clicks=sums[0], misses=sums[1], of_clusters=of_clusters
    )


def _link(swaps: Swaps, count: int) -> tuple[Swaps, Codes]:
    """Return the pairs of places whose clicks compare them, and the groups that these make."""
    at_place = np.zeros(count)
    for side, places in enumerate((swaps.first, swaps.second)):
        np.add.at(at_place, places, swaps.clicks[side])
    has_clicks = at_place > 0
    is_linked = (swaps.clicks.sum(axis=0) > 0) & (swaps.misses > 0).all(axis=0)
    is_linked &= has_clicks[swaps.first] & has_clicks[swaps.second]
    groups = np.arange(count)
    for one, other in zip(swaps.first[is_linked], swaps.second[is_linked], strict=True):
        low, high = sorted((groups[one], groups[other]))
        groups[groups == high] = low
    groups[np.bincount(groups, minlength=count)[groups] == 1] = -1
    kept = Swaps(
        first=swaps.first[is_linked],
        second=swaps.second[is_linked],
        clicks=swaps.clicks[:, is_linked],
        misses=swaps.misses[:, is_linked],
        of_clusters=swaps.of_clusters[..., is_linked],
    )
    return kept, groups


def _refuse_unlinked(found: Places) -> None:
    """Refuse clicks that don't compare each rank with rank 1, directly or by way of others."""
    lost = np.flatnonzero((found.groups < 0) | (found.groups != found.groups[0]))
    if len(lost):
        other = "rank 1" if lost[0] else "other ranks"
        raise EmptyError(
            f"no clicked documents link rank {lost[0] + 1} with {other}",
            hint="harvesting needs documents that were shown at several ranks for the same query "
            "and clicked; use a longer log, logs of several rankers, or fewer ranks",
            code="no_swaps",
        )


def _find_free(groups: Codes) -> Codes:
    """Return the places that are compared with another one, the first of their group."""
    return np.flatnonzero((groups >= 0) & (groups != np.arange(len(groups))))


def _maximize(swaps: Swaps, groups: Codes) -> tuple[Numbers, Numbers]:
    """Return the logarithms of the examination of places and of the relevance of pairs."""
    free = _find_free(groups)
    logs = np.zeros(len(groups))
    relevance = _fit_relevance(swaps, logs)
    for _ in range(MOST_STEPS):
        slopes, bends = _differentiate(swaps, logs, relevance)
        score, matrix = _profile(swaps, slopes, bends, len(groups))
        step = np.zeros(len(groups))
        step[free] = np.linalg.solve(matrix[np.ix_(free, free)], score[free])
        largest = float(abs(step).max(initial=0.0))
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
    """Return what a click and a miss add to the slope at each place of a pair, and the bend."""
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
    """Return the slope at a place that the relevance of its pair can't take up."""
    both = bends.sum(axis=0)
    left = bends[1] * own - bends[0] * other
    found: Numbers = np.divide(left, both, out=np.zeros_like(left), where=both > 0)
    return found


def _influence(swaps: Swaps, logs: Numbers, relevance: Numbers, groups: Codes) -> Numbers:
    """Return what each cluster adds to the error of the logarithm of each place."""
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
    free = _find_free(groups)
    found[:, free] = np.linalg.solve(matrix[np.ix_(free, free)], scores[:, free].T).T
    return found
