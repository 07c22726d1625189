"""The value of a policy by every estimator, with what limits it."""

from __future__ import annotations

import math

from rankscope.clicks.estimate.estimators import (
    Strata,
    average,
    conclude,
    correct,
    mean_weight,
    normalize,
)
from rankscope.clicks.result import OffPolicyEvaluation
from rankscope.deferred import np
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope.clicks.estimate.estimators import Concluded, Estimator

    Numbers: TypeAlias = NDArray[np.float64]
    Codes: TypeAlias = NDArray[np.int64]

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
    predicted: tuple[Numbers, Numbers] | None
    unsupported: float | None


def evaluate(
    log: Weighted, *, method: str | None, clip: float, level: float, what: str
) -> OffPolicyEvaluation:
    """Return the value of the new policy by every estimator."""
    clipped = np.minimum(log.weights, clip)
    given = log.rewards, log.strata, log.clusters
    logged = average(given[0], np.ones_like(log.weights), *given[1:])
    estimators: dict[str, Estimator] = {
        "ips": average(given[0], log.weights, *given[1:]),
        "clipped": average(given[0], clipped, *given[1:]),
        "snips": normalize(given[0], log.weights, *given[1:]),
    }
    if log.predicted is not None:
        estimators["dr"] = correct(given[0], log.weights, *given[1:], log.predicted)
    if log.rewards.min() < 0:
        del estimators["clipped"]  # it limits the value only if no reward is below 0
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
