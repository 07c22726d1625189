"""Values over a whole catalogue, estimated from ranks among sampled candidates.

Krichene and Rendle, *On sampled metrics for item recommendation*, KDD 2020: if m items are drawn at
random beside the relevant one, of n items in all, the rank r of the relevant item among all items
becomes 1 + a binomial count with m trials of probability (r - 1) / (n - 1).
"""

from __future__ import annotations

import math

from rankscope._core import t_quantile
from rankscope.deferred import np
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

EXACT_RANKS = 2000
"""Ranks up to this are all considered; larger ones in bins whose ends are `STEP` times apart."""
STEP = 1.003
RIDGE = 1e-12
ITERATIONS = 200
"""More steps of expectation maximization fit the noise of the sampled ranks."""


@record(frozen=True, slots=True)
class Ranks:
    """Ranks of the relevant item among all items, and how many ranks each stands for.

    Args:
        ranks: float64, the ranks.
        counts: float64, the numbers of ranks.
    """

    ranks: NDArray[np.float64]
    counts: NDArray[np.float64]


def list_ranks(items: int) -> Ranks:
    """Return the ranks from 1 to the number of items, the large ones in narrow bins.

    A bin is so narrow that the probabilities of a sampled rank hardly change within it.
    """
    exact = np.arange(1.0, min(items, EXACT_RANKS) + 1)
    if items <= EXACT_RANKS:
        return Ranks(exact, np.ones(len(exact)))
    steps = math.ceil(math.log(items / EXACT_RANKS) / math.log(STEP))
    ends = np.unique(np.round(np.geomspace(EXACT_RANKS, items, steps + 1)))
    middles, counts = (ends[:-1] + 1 + ends[1:]) / 2, np.diff(ends)
    return Ranks(np.append(exact, middles), np.append(np.ones(len(exact)), counts))


def find_chances(ranks: NDArray[np.float64], sampled: int, items: int) -> NDArray[np.float64]:
    """Return the probability of each sampled rank, [ranks, sampled + 1]."""
    above = np.arange(sampled + 1.0)
    chance = ((ranks - 1) / (items - 1))[:, None]
    ways = np.array(
        [
            math.lgamma(sampled + 1) - math.lgamma(each + 1) - math.lgamma(sampled - each + 1)
            for each in range(sampled + 1)
        ]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        of_above = np.where(above == 0, 0.0, above * np.log(chance))
        of_below = np.where(above == sampled, 0.0, (sampled - above) * np.log1p(-chance))
    return np.asarray(np.exp(ways + of_above + of_below))


def count_ranks(
    first: NDArray[np.int64], last: NDArray[np.int64], sampled: int
) -> NDArray[np.float64]:
    """Return how often each sampled rank occurred; a tie counts as a share of each of its ranks."""
    share = 1 / (last - first + 1)
    starts = np.bincount(first - 1, weights=share, minlength=sampled + 2)
    ends = np.bincount(last, weights=share, minlength=sampled + 2)
    return np.asarray(np.maximum(np.cumsum(starts - ends)[:-1], 0))


def fit_prior(
    known: Ranks, chances: NDArray[np.float64], sampled_ranks: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how likely each rank among all items is, given how often each sampled rank occurred.

    It is fitted by expectation maximization, starting with equally likely ranks (Li et al., *On
    estimating recommendation evaluation metrics under sampling*, AAAI 2021).
    """
    prior = known.counts / known.counts.sum()
    shares = sampled_ranks / sampled_ranks.sum()
    for _ in range(ITERATIONS):
        expected = prior @ chances
        prior = prior * (chances @ (shares / np.where(expected > 0, expected, 1)))
    return np.asarray(prior)


def tune_values(
    values: NDArray[np.float64],
    prior: NDArray[np.float64],
    chances: NDArray[np.float64],
    tradeoff: float,
) -> NDArray[np.float64]:
    """Return the value to give each sampled rank, so that means are close to those over all items.

    The values minimize the expected squared bias + tradeoff x variance. This is the bias-variance
    estimator of Krichene and Rendle.
    """
    weighted = chances * prior[:, None]
    totals = weighted.sum(axis=0)
    # Sampled ranks that the prior excludes have no equation but this, which gives them 0.
    ridge = tradeoff * totals + RIDGE * float(totals.max())
    system = (1 - tradeoff) * (weighted.T @ chances) + np.diag(ridge)
    return np.asarray(np.linalg.solve(system, weighted.T @ values))


@record(frozen=True, slots=True)
class Estimated:
    """A mean over queries with its interval.

    Args:
        value: The mean.
        lower: The lower end of Student's t interval.
        upper: The upper end.
    """

    value: float
    lower: float
    upper: float


def average_over_ranks(
    values: NDArray[np.float64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    level: float,
) -> Estimated:
    """Return the mean of the values at the sampled ranks of queries."""
    sums = np.append(0, np.cumsum(values))
    found = (sums[last] - sums[first - 1]) / (last - first + 1)
    count, mean = len(found), float(found.mean())
    if count < 2:
        return Estimated(mean, math.nan, math.nan)
    half = t_quantile(level, count - 1) * float(found.std(ddof=1)) / math.sqrt(count)
    return Estimated(mean, mean - half, mean + half)
