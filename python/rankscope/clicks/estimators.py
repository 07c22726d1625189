"""The value of a policy from the log of another, by IPS, clipped IPS, SNIPS and DR."""

from __future__ import annotations

import math

from rankscope.clicks.reliability import Reliability, add_up, assess, find_ends
from rankscope.clicks.result import OffPolicyEvaluation
from rankscope.deferred import np
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]
    Codes: TypeAlias = NDArray[np.int64]
    Predicted: TypeAlias = tuple[Numbers, Numbers]
    """The predictions of the rewards of each row's item, and of the new policy's choice there."""

ROUNDING = 1e-12
"""An error this small, relative to the value, is due to rounding."""


TINY = 1e-300
"""Keeps 0 from dividing."""


@record(frozen=True, slots=True, kw_only=True)
class Strata:
    """The rows by position, and how much each position counts.

    Args:
        codes: The number of the position of each row, from 0.
        counts: The number of rows of each position.
        shares: How much the mean of each position counts in the value.
    """

    codes: Codes
    counts: Numbers
    shares: Numbers

    def average(self, column: Numbers) -> Numbers:
        """Return the mean of a column at each position."""
        return np.bincount(self.codes, weights=column, minlength=len(self.counts)) / self.counts

    @property
    def scale(self) -> Numbers:
        """What a row adds to the value for each unit of its own."""
        return (self.shares / self.counts)[self.codes]


@record(frozen=True, slots=True, kw_only=True)
class Estimator:
    """A value as a sum over rows.

    Args:
        value: The estimate.
        influences: What each row adds to the error of the estimate.
        floor: The smallest variance that the estimate can have: that of as many rows of equal
            weight as the effective sample size. Without it, a few large weights that have no
            reward yet would make the estimate look precise.
        reliability: How much the weights and rewards are worth.
    """

    value: float
    influences: Numbers
    floor: float
    reliability: Reliability


def average(log: Weighted, weights: Numbers, predicted: Predicted | None = None) -> Estimator:
    """Return inverse propensity scoring (IPS): the mean of weighted rewards.

    With predictions, it is the doubly robust estimate: predictions plus the weighted mean of their
    errors. It is right if either the propensities or the predictions are (Dudík, Langford and Li,
    *Doubly robust policy evaluation and learning*, ICML 2011).
    """
    of_row, of_policy = predicted or (np.zeros(1), np.zeros(1))
    strata, errors = log.strata, log.rewards - of_row
    terms = of_policy + weights * errors
    means = strata.average(terms)
    return Estimator(
        value=float(strata.shares @ means),
        influences=strata.scale * (terms - means[strata.codes]),
        floor=find_floor(errors, weights, strata),
        reliability=assess(strata.scale * weights, log.rewards, log.clusters),
    )


def normalize(log: Weighted) -> Estimator:
    """Return self-normalized IPS: the weighted mean of rewards (Swaminathan and Joachims, 2015).

    Positions at which all weights are 0 have no weighted mean; the value is NaN.
    """
    rewards, weights, strata = log.rewards, log.weights, log.strata
    totals = strata.average(weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = strata.average(rewards * weights) / totals
        influences = (
            strata.scale * (weights * (rewards - means[strata.codes])) / totals[strata.codes]
        )
    return Estimator(
        value=float(strata.shares @ means),
        influences=influences,
        floor=find_floor(rewards, weights, strata),
        reliability=assess(strata.scale * weights, rewards, log.clusters),
    )


def leave_out(
    rewards: Numbers, items: Codes, chances: Numbers, clusters: Codes
) -> tuple[Numbers, Numbers]:
    """Return the reward rate of each row's item, and of the new policy, without its own cluster.

    A model that has seen a row predicts it too well, which biases the doubly robust estimate.
    Leaving out the row's cluster is cross-fitting with as many folds as there are clusters, and
    doesn't depend on the order of rows.
    """
    count = len(chances)
    total, size = rewards.sum(), len(rewards)
    own_sum = np.bincount(clusters, weights=rewards)
    own_size = np.bincount(clusters)
    # The rate of all items, which counts as one more row of each.
    rest = np.maximum(size - own_size, 1)
    prior = (total - own_sum) / rest
    sums = np.bincount(items, weights=rewards, minlength=count)
    sizes = np.bincount(items, minlength=count)
    cells, places = np.unique(clusters * count + items, return_inverse=True)
    cell_sum = np.bincount(places, weights=rewards)
    cell_size = np.bincount(places)
    cluster, item = cells // count, cells % count
    without = (sums[item] - cell_sum + prior[cluster]) / (sizes[item] - cell_size + 1)
    with_all = (sums[item] + prior[cluster]) / (sizes[item] + 1)
    base = (chances * sums / (sizes + 1)).sum() + prior * (chances / (sizes + 1)).sum()
    of_cluster = base + np.bincount(
        cluster, weights=chances[item] * (without - with_all), minlength=len(prior)
    )
    return without[places], of_cluster[clusters]


def find_floor(errors: Numbers, weights: Numbers, strata: Strata) -> float:
    """Return the variance of weighted errors in a sample of the effective size."""
    total = strata.average(weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = strata.average(weights * errors) / total
        spread = strata.average(weights * (errors - means[strata.codes]) ** 2) / total
        effective = strata.counts * total**2 / strata.average(weights * weights)
        found = strata.shares**2 * spread / effective
    return float(np.nansum(found))


@record(frozen=True, slots=True, kw_only=True)
class Concluded:
    """An estimate with its intervals.

    Args:
        value: The estimate.
        ends: Its interval; NaN if there is none.
        change: The difference from the value of the log.
        change_ends: The interval of the difference; NaN if there is none.
        reason: Why there is no interval; empty if there is one.
        reliability: How much the weights and rewards are worth.
    """

    value: float
    ends: tuple[float, float]
    change: float
    change_ends: tuple[float, float]
    reason: str
    reliability: Reliability


def conclude(
    estimator: Estimator,
    logged: Estimator,
    clusters: Codes | None,
    level: float,
    *,
    bounds: tuple[float, float],
    reason: str = "",
) -> Concluded:
    """Return an estimate with its intervals, or without if the log is too small for them."""
    refused = reason or estimator.reliability.refuse()
    rounding = (ROUNDING * estimator.value) ** 2
    if not refused and not _add_squares(estimator.influences, clusters) > rounding:
        refused = "all rows or lists have the same value, which doesn't show how much they vary"
    change = estimator.value - logged.value
    ends = change_ends = (math.nan, math.nan)
    if not refused:
        variance = _add_squares(estimator.influences, clusters)
        # Rows of a cluster that are alike make the variance of weighted errors larger, too.
        alike = variance / max(_add_squares(estimator.influences, None), TINY)
        floor = estimator.floor * max(1.0, alike)
        low, high = find_ends(estimator.value, estimator.influences, clusters, level, floor=floor)
        ends = max(bounds[0], low), min(bounds[1], high)
        # What the floor adds to the variance of the value, it adds to that of the difference.
        of_change = estimator.influences - logged.influences
        missing = max(0.0, floor - variance)
        floor = _add_squares(of_change, clusters) + missing
        change_ends = find_ends(change, of_change, clusters, level, floor=floor)
    return Concluded(
        value=estimator.value,
        ends=ends,
        change=change,
        change_ends=change_ends,
        reason=refused,
        reliability=estimator.reliability,
    )


def _add_squares(influences: Numbers, clusters: Codes | None) -> float:
    return float((add_up(influences, clusters) ** 2).sum())


def mean_weight(
    weights: Numbers, clusters: Codes | None, level: float
) -> tuple[float, tuple[float, float]]:
    """Return the mean weight with its interval. It is 1 if the propensities are right."""
    mean = float(weights.mean())
    return mean, find_ends(mean, (weights - mean) / len(weights), clusters, level)


WRONG_WEIGHTS = 0.999
"""The level of the interval that refuses weights whose mean isn't 1."""


NEARLY_ONE = 0.01
"""A mean weight this close to 1 is never refused: logged propensities are rounded."""


@record(frozen=True, slots=True, kw_only=True)
class Weighted:
    """A log whose rows are weighted as the new policy would have chosen them.

    Args:
        rewards: The reward of each row.
        weights: The probability of each row under the new policy divided by the logged one.
        strata: The positions, and how much they count.
        clusters: The number of the cluster of each row, from 0; `None` if rows are independent.
        cluster_count: The number of clusters; `None` if rows are independent.
        predicted: The predicted rewards of the rows and of the new policy's choices.
        unsupported: The share of the new policy's choices that the log never shows, if known.
    """

    rewards: Numbers
    weights: Numbers
    strata: Strata
    clusters: Codes | None
    cluster_count: int | None
    predicted: Predicted | None
    unsupported: float | None


def evaluate(
    log: Weighted, *, method: str | None, clip: float, level: float, what: str
) -> OffPolicyEvaluation:
    """Return the value of the new policy by every estimator."""
    clipped = np.minimum(log.weights, clip)
    logged = average(log, np.ones_like(log.weights))
    estimators = {"ips": average(log, log.weights)}
    if log.rewards.min() >= 0:  # else it doesn't limit the value
        estimators["clipped"] = average(log, clipped)
    estimators["snips"] = normalize(log)
    if log.predicted is not None:
        estimators["dr"] = average(log, log.weights, log.predicted)
    wrong = _refuse_weights(log)
    bounds = _find_bounds(log)
    concluded = {
        name: conclude(each, logged, log.clusters, level, bounds=bounds, reason=wrong)
        for name, each in estimators.items()
    }
    is_cut = bool((clipped < log.weights).any())
    if is_cut and "clipped" in concluded:
        concluded["clipped"] = keep_lower(concluded["clipped"])
    of_log = conclude(logged, logged, log.clusters, level, bounds=bounds)
    mean, ends = mean_weight(log.weights, log.clusters, level)
    return OffPolicyEvaluation(
        tabulate(concluded),
        method=method or ("dr" if log.predicted is not None else "snips"),
        level=level,
        what=what,
        n=len(log.rewards),
        clusters=log.cluster_count,
        logged=(of_log.value, *of_log.ends),
        mean_weight=(mean, *ends),
        unsupported=log.unsupported,
        clip=clip,
        notes=_list_notes(log, clipped, of_log, wrong),
    )


def keep_lower(concluded: Concluded) -> Concluded:
    """Return an estimate without upper ends: what clipping cut off could add any reward."""
    return replace(
        concluded,
        ends=(concluded.ends[0], math.nan),
        change_ends=(concluded.change_ends[0], math.nan),
    )


def tabulate(concluded: dict[str, Concluded]) -> dict[str, list[str | float]]:
    """Return the columns of a result, with one row per estimator."""
    rows = [*concluded.values()]
    return {
        "estimator": [*concluded],
        "value": [row.value for row in rows],
        "lower": [row.ends[0] for row in rows],
        "upper": [row.ends[1] for row in rows],
        "change": [row.change for row in rows],
        "change lower": [row.change_ends[0] for row in rows],
        "change upper": [row.change_ends[1] for row in rows],
        "effective": [row.reliability.effective for row in rows],
        "rewarded": [row.reliability.rewarded for row in rows],
        "largest share": [row.reliability.largest_share for row in rows],
        "refused": [row.reason for row in rows],
    }


def _refuse_weights(log: Weighted) -> str:
    """Return why weights whose mean isn't 1 give no interval; empty if the mean can be 1."""
    mean, (low, high) = mean_weight(log.weights, log.clusters, WRONG_WEIGHTS)
    if math.isnan(low) or low - NEARLY_ONE <= 1 <= high + NEARLY_ONE:
        return ""
    return (
        f"the mean weight is {mean:.3f} where 1 is expected, so the propensities or the new "
        "policy's probabilities are wrong, or the log never shows some of its choices"
    )


def _find_bounds(log: Weighted) -> tuple[float, float]:
    """Return the limits of the value: those of a rate if all rewards are in them."""
    low, high = float(log.rewards.min()), float(log.rewards.max())
    is_rate = low >= 0 and high <= 1 and len(log.strata.counts) == 1
    return 0.0 if low >= 0 else -math.inf, 1.0 if is_rate else math.inf


def _list_notes(log: Weighted, clipped: Numbers, of_log: Concluded, wrong: str) -> tuple[str, ...]:
    notes = []
    cut = 1 - float(clipped.sum()) / max(float(log.weights.sum()), 1e-300)
    if (clipped < log.weights).any() and log.rewards.min() >= 0:
        notes.append(
            f"clipping takes away {100 * cut:.1f}% of the weight, so clipped is a lower limit"
        )
    mean, (low, high) = mean_weight(log.weights, log.clusters, 0.95)
    is_off = not low <= 1 <= high and abs(mean - 1) > NEARLY_ONE
    if is_off and not wrong and not math.isnan(low):
        notes.append(
            f"the mean weight is {mean:.3f} where 1 is expected, a difference that chance "
            "makes in fewer than 5% of logs; check the propensities and the new policy's "
            "probabilities"
        )
    if log.unsupported:
        notes.append(
            "ips and clipped count choices that the log never shows as 0; snips takes them to be "
            "like the others"
        )
    if of_log.reason:
        notes.append(f"the value of the log has no interval: {of_log.reason}")
    return tuple(notes)
