"""DCG of a new ranker from the clicks on the rankings of an old one."""

from __future__ import annotations

import math

from rankscope.clicks.estimate.estimators import (
    Estimator,
    Strata,
    conclude,
    find_floor,
    mean_weight,
)
from rankscope.clicks.estimate.policy import NEARLY_ONE, keep_lower, tabulate
from rankscope.clicks.estimate.reliability import assess
from rankscope.clicks.result import OffPolicyEvaluation
from rankscope.deferred import np
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope.clicks.estimate.estimators import Concluded

    Numbers: TypeAlias = NDArray[np.float64]
    Codes: TypeAlias = NDArray[np.int64]

MOST_UNSEEN = 0.05
"""With a larger share of documents that the log doesn't show, assumptions decide the value."""


@record(frozen=True, slots=True, kw_only=True)
class Reranked:
    """The documents of logged rankings, with their places under a new ranker.

    Args:
        clicks: 1 where the document was clicked, 0 elsewhere.
        looks: How often users look at the logged rank; 0 if the document wasn't shown.
        looks_lower: The lower end of the interval of `looks`; `looks` if it is known exactly.
        looks_upper: The upper end.
        expected: How often users look at the document on average over what the old ranker could
            have shown; 0 if it never shows the document.
        gains: The discount of the new rank; 0 if the new ranker doesn't show the document.
        logged_gains: The discount of the logged rank.
        rankings: The number of the ranking of each document, from 0.
        clusters: The number of the cluster of each document, from 0.
        cluster_count: The number of clusters; `None` if rankings are independent.
        predicted: The predicted probability that each document is relevant, if there is one.
        has_propensities: Whether `expected` is given, instead of `looks`.
    """

    clicks: Numbers
    looks: Numbers
    looks_lower: Numbers
    looks_upper: Numbers
    expected: Numbers
    gains: Numbers
    logged_gains: Numbers
    rankings: Codes
    clusters: Codes
    cluster_count: int | None
    predicted: Numbers | None
    has_propensities: bool


def evaluate_rankings(
    log: Reranked, *, method: str | None, clip: float, level: float
) -> OffPolicyEvaluation:
    """Return the DCG of the new ranker by every estimator."""
    count = int(log.rankings.max()) + 1
    inverse = np.zeros_like(log.looks)
    np.divide(1, log.expected, out=inverse, where=log.expected > 0)
    seen = log.looks * inverse
    total = float(log.gains.sum())
    share = float((log.gains * seen).sum()) / total if total > 0 else math.nan
    unseen = float(log.gains[log.expected == 0].sum()) / total if total > 0 else 1.0
    known = np.zeros_like(log.looks)
    np.divide(1, log.looks, out=known, where=log.looks > 0)
    terms = {
        "ips": log.gains * log.clicks * inverse,
        "clipped": log.gains * log.clicks * np.minimum(inverse, clip),
    }
    terms["snips"] = terms["ips"] / share
    if log.predicted is not None:
        corrected = log.predicted + (log.clicks - log.looks * log.predicted) * inverse
        terms["dr"] = log.gains * corrected
    found = {
        name: _estimate(
            log, each, log.gains * np.minimum(inverse, clip if name == "clipped" else np.inf)
        )
        for name, each in terms.items()
    }
    normalized = found["snips"]
    # The share of what is seen is a ratio that varies, too.
    varied = (log.gains * seen - log.gains * share) / total * normalized.value
    found["snips"] = replace(normalized, influences=normalized.influences - varied)
    logged = _estimate(log, log.logged_gains * log.clicks * known, log.logged_gains * known)
    blind = _refuse_unseen(unseen)
    bounds = 0.0, math.inf
    reasons = {name: blind if name in {"snips", "dr"} else "" for name in found}
    concluded = {
        name: _widen(
            log,
            conclude(each, logged, log.clusters, level, bounds=bounds, reason=reasons[name]),
            is_new=True,
        )
        for name, each in found.items()
    }
    for name in ("ips", "clipped"):
        if unseen > 0 or (name == "clipped" and (inverse * (log.gains > 0) > clip).any()):
            concluded[name] = keep_lower(concluded[name])
    of_log = conclude(logged, logged, log.clusters, level, bounds=bounds)
    of_log = _widen(log, of_log, is_new=False)
    mean = (math.nan, math.nan, math.nan)
    notes = [f"the value of the log has no interval: {of_log.reason}"] if of_log.reason else []
    if log.has_propensities:
        weights = (log.gains * seen) * (len(seen) / total)
        value, ends = mean_weight(weights, log.clusters, level)
        mean = (value, *ends)
        if not ends[0] - NEARLY_ONE <= 1 <= ends[1] + NEARLY_ONE:
            notes.append(f"the mean weight is {value:.3f} where 1 is expected; check propensities")
    if unseen > 0:
        notes.append(
            "ips and clipped count documents that the log doesn't show as 0; snips takes them to "
            "be like the others, and dr uses the predictions"
        )
    return OffPolicyEvaluation(
        tabulate(concluded),
        method=method or ("dr" if log.predicted is not None else "snips"),
        level=level,
        what="DCG",
        n=len(log.clicks),
        clusters=count if log.cluster_count is None else log.cluster_count,
        logged=(of_log.value, *of_log.ends),
        mean_weight=mean,
        unsupported=unseen,
        clip=clip,
        notes=tuple(notes),
    )


def _estimate(log: Reranked, terms: Numbers, weights: Numbers) -> Estimator:
    """Return the mean over rankings of the sum of their terms."""
    lengths = np.bincount(log.rankings).astype(np.float64)
    count = len(lengths)
    value = float(terms.sum()) / count
    # Ranks have different click rates, which are no uncertainty.
    _, codes = np.unique(log.looks, return_inverse=True)
    strata = Strata(
        codes=codes,
        counts=np.bincount(codes).astype(np.float64),
        shares=np.bincount(codes, weights=weights) / count,
    )
    return Estimator(
        value=value,
        influences=(terms - value / lengths[log.rankings]) / count,
        floor=find_floor(log.clicks, weights, strata),
        reliability=assess(weights, log.clicks, log.clusters),
    )


def _refuse_unseen(share: float) -> str:
    if share <= MOST_UNSEEN:
        return ""
    return (
        f"{100 * share:.1f}% of what the new ranker shows, weighted by the discount, isn't in the "
        f"log, and an interval needs at most {100 * MOST_UNSEEN:g}%"
    )


def _widen(log: Reranked, made: Concluded, *, is_new: bool) -> Concluded:
    """Widen intervals by what the uncertainty of the examination adds, if it was estimated."""
    if made.reason or log.has_propensities or (log.looks_lower == log.looks_upper).all():
        return made
    shown = (log.looks > 0) & (log.clicks > 0)
    if not np.isfinite(log.looks_lower[shown]).all() or not log.looks_lower[shown].all():
        none = (math.nan, math.nan)
        why = "the examination of a rank has no interval"
        return replace(made, ends=none, change_ends=none, reason=why)
    count = int(log.rankings.max()) + 1
    more, less = (
        (1 / ends[shown] - 1 / log.looks[shown]) * log.clicks[shown] / count
        for ends in (log.looks_lower, log.looks_upper)
    )
    gains = log.gains[shown] if is_new else log.logged_gains[shown]
    changes = gains - log.logged_gains[shown]
    # The examination is one number for each rank, so the rows of a rank move together.
    _, ranks = np.unique(log.looks[shown], return_inverse=True)
    up, down = (np.bincount(ranks, weights=changes * each) for each in (more, less))
    return replace(
        made,
        ends=(
            max(0.0, made.ends[0] + float((gains * less).sum())),
            made.ends[1] + float((gains * more).sum()),
        ),
        change_ends=(
            made.change_ends[0] + float(np.minimum(up, down).sum()),
            made.change_ends[1] + float(np.maximum(up, down).sum()),
        ),
    )
