"""How likely documents gain something by score and rank, and what that makes of their lists."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.int64]

DEEPEST = 100
"""Documents below this rank are left out of the ideal, which they hardly change."""
BINS = 64
PASSES = 8
MOST_LEVELS = 4
"""The largest number of thresholds between grades."""


@record(frozen=True, slots=True)
class Lists:
    """Lists as they were shown.

    Args:
        offsets: The documents of list `q` are rows `offsets[q]:offsets[q + 1]`.
        ranks: Their ranks as logged.
        scores: Their scores, NaN where there is none; infinite ones count as none.
        hours: The hour of each list, as a number.
        clusters: Whose it is, as a number.
        groups: A row for each list: the numbers of the groups that it is in, -1 for none.
    """

    offsets: Places
    ranks: Places
    scores: Numbers
    hours: Places
    clusters: Places
    groups: Places

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def choose(self, rows: Places) -> tuple[Lists, Places]:
        """Return some of the lists, and the places of their documents."""
        sizes = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        documents = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], sizes)
        chosen = Lists(
            offsets,
            self.ranks[documents],
            self.scores[documents],
            self.hours[rows],
            self.clusters[rows],
            self.groups[rows],
        )
        return chosen, documents


def fit_isotonic(values: Numbers, weights: Numbers) -> Numbers:
    """Return the nondecreasing values that are closest to others (pool adjacent violators).

    Examples:
        >>> import numpy as np
        >>> fit_isotonic(np.array([1.0, 3.0, 2.0, 4.0]), np.array([1.0, 1.0, 3.0, 1.0])).tolist()
        [1.0, 2.25, 2.25, 4.0]
    """
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, size, count = value, weight, 1
        while pools and pools[-1][0] >= mean:
            before, before_size, before_count = pools.pop()
            total = before_size + size
            mean = (before * before_size + mean * size) / total if total else mean
            size, count = total, count + before_count
        pools.append((mean, size, count))
    return np.repeat([mean for mean, _, _ in pools], [count for _, _, count in pools])


@record(frozen=True, slots=True)
class Curve:
    """The probability of a document by its score, times how its rank changes it.

    Args:
        scores: Scores, ascending; empty where none were logged.
        rates: The probability at each of them, nondecreasing.
        unscored: The probability of a document without a score.
        ranks: What each rank, from 1, multiplies it by.
    """

    scores: tuple[float, ...]
    rates: tuple[float, ...]
    unscored: float
    ranks: tuple[float, ...]

    def find(self, scores: Numbers, ranks: Places) -> Numbers:
        """Return the probabilities of documents."""
        rate = np.full(len(scores), self.unscored)
        if self.scores:
            known = np.isfinite(scores)
            rate[known] = np.interp(scores[known], self.scores, self.rates)
        looks = np.array(self.ranks)[np.minimum(ranks, len(self.ranks)) - 1]
        chances: Numbers = np.clip(rate * looks, 0.0, 1.0)
        return chances


def fit_curve(scores: Numbers, ranks: Places, hits: Numbers) -> Curve:
    """Return the curve of documents of which some gained something.

    Score and rank are fitted in turns, each given the other: a click needs a document that is worth
    it, and a rank at which people look. Grades that people gave need the document only, and the
    ranks of their curves multiply by about 1.
    """
    rank = np.minimum(ranks, DEEPEST) - 1
    depth = int(rank.max(initial=0)) + 1
    known = np.isfinite(scores)
    edges: Numbers = np.empty(0)
    if known.any():
        shares = np.linspace(0, 1, BINS + 1)[1:-1]
        edges = np.unique(np.quantile(scores[known], shares))
    bins = np.where(known, np.searchsorted(edges, scores, side="right"), len(edges) + 1)
    size = len(edges) + 2
    of_rank, of_bin = (np.bincount(at, hits, n) for at, n in ((rank, depth), (bins, size)))
    looks, rates = np.ones(depth), np.zeros(size)
    used = np.bincount(bins[known], minlength=size)[:-1] > 0
    for _ in range(PASSES):
        seen = np.bincount(bins, looks[rank], size).astype(np.float64)
        rates = np.divide(of_bin, seen, out=np.zeros(size), where=seen > 0)
        rates[:-1][used] = fit_isotonic(rates[:-1][used], seen[:-1][used])
        # One more that is as expected: a rank with few documents multiplies by about 1.
        looks = (of_rank + 1) / (np.bincount(rank, rates[bins], depth) + 1)
    counts = np.bincount(bins[known], minlength=size)[:-1][used]
    centers = np.bincount(bins[known], scores[known], size)[:-1][used] / counts
    unscored = rates[-1] if not known.all() else hits.sum() / max(looks[rank].sum(), 1)
    return Curve(
        tuple(centers.tolist()),
        tuple(rates[:-1][used].tolist()),
        float(unscored),
        tuple(looks.tolist()),
    )


@record(frozen=True, slots=True)
class Grades:
    """The probabilities of gains: that a document gains at least as much as each threshold.

    Args:
        steps: What each threshold adds to the gain.
        curves: Its probability.
    """

    steps: tuple[float, ...]
    curves: tuple[Curve, ...]


def fit_grades(scores: Numbers, ranks: Places, gains: Numbers) -> Grades:
    """Return the probabilities of the gains of documents."""
    positive = gains[gains > 0]
    levels = np.unique(positive)
    if len(levels) > MOST_LEVELS:
        shares = np.arange(MOST_LEVELS) / MOST_LEVELS
        levels = np.unique(np.quantile(positive, shares, method="lower"))
    steps = np.diff(levels, prepend=0.0)
    curves = [fit_curve(scores, ranks, (gains >= level).astype(np.float64)) for level in levels]
    return Grades(tuple(steps.tolist()), tuple(curves))


def expect_lists(grades: Grades, lists: Lists, discounts: Numbers) -> tuple[Numbers, Numbers]:
    """Return what lists would have if the grades of their documents were independent.

    Args:
        grades: The probabilities of gains.
        lists: The lists.
        discounts: What a gain counts at each rank, from 1, down to the cutoff.

    Returns:
        The expected nDCG of a list that has a relevant document, and the probability that it does.
    """
    sizes = np.diff(lists.offsets)
    depth = min(int(sizes.max(initial=0)), DEEPEST)
    shape = len(sizes), max(depth, 1)
    at = np.arange(len(lists.ranks)) - np.repeat(lists.offsets[:-1], sizes)
    kept = at < depth
    cell = np.repeat(np.arange(len(sizes)), sizes)[kept], at[kept]
    scores, ranks = lists.scores[kept], lists.ranks[kept]
    counted = np.where(ranks <= len(discounts), discounts[np.minimum(ranks, len(discounts)) - 1], 0)
    value, ideal, none = np.zeros(len(sizes)), np.zeros(len(sizes)), np.ones(len(sizes))
    cutoff = min(len(discounts), shape[1])
    for number, (step, curve) in enumerate(zip(grades.steps, grades.curves, strict=True)):
        chances = np.zeros(shape)
        chances[cell] = curve.find(scores, ranks)
        of_rank = np.zeros(shape)
        of_rank[cell] = counted
        value += step * (chances * of_rank).sum(axis=1)
        # The probability of at least r hits, document by document.
        hits = np.zeros((len(sizes), cutoff + 1))
        hits[:, 0] = 1.0
        for column in range(shape[1]):
            hits[:, 1:] += chances[:, column : column + 1] * (hits[:, :-1] - hits[:, 1:])
        ideal += step * (hits[:, 1:] @ discounts[:cutoff])
        if number == 0:
            none = 1.0 - hits[:, 1]
    share = np.divide(value, ideal, out=np.zeros(len(sizes)), where=ideal > 0)
    return share, 1.0 - none
