"""Evaluates a new policy from the log of an old one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np

from rankscope._evaluate.grades import dcg
from rankscope._evaluate.query_values import bad_parameter, check_cluster_column
from rankscope._names import check_choice, quote
from rankscope._settings import Reading
from rankscope.clicks.estimators import (
    Codes,
    Ends,
    Estimate,
    Numbers,
    Predicted,
    Strata,
    Weighted,
    average,
    conclude,
    leave_out,
    mean_weight,
    normalize,
)
from rankscope.clicks.log import Log, read_log
from rankscope.clicks.result import OffPolicyEvaluation
from rankscope.errors import FormatError, UsageError

Encoding: TypeAlias = Literal["utf-8", "latin-1"]
Discount: TypeAlias = str | Sequence[float]

METHODS = ("ips", "clipped", "snips", "dr")
MOST_RANKS = 10_000
MOST_OFF = 1e-6
"""How far probabilities may be from a sum of 1."""
WRONG_WEIGHTS = 0.999
"""The level of the interval that refuses weights whose mean isn't 1."""
NEARLY_ONE = 0.01
"""A mean weight this close to 1 is never refused: logged propensities are rounded."""


def evaluate_off_policy(
    log: object,
    *,
    target: str | Mapping[Any, float] | None = None,
    chosen: str | None = None,
    reward: str = "click",
    propensity: str = "propensity",
    item: str | None = None,
    predicted: str | None = None,
    predicted_target: str | None = None,
    method: Literal["ips", "clipped", "snips", "dr"] | None = None,
    clip: float = 10,
    rank: str | None = None,
    discount: Discount | None = None,
    examination: Sequence[float] | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    encoding: Encoding = "utf-8",
) -> OffPolicyEvaluation:
    """Estimate what a new policy would have earned, from the log of an old one.

    The old policy must have chosen at random, with known probabilities (*propensities*). Each row
    is one item that was shown at one position, and counts in proportion to the probability of the
    new policy divided by the propensity. What an item earns must depend only on its position and
    its context, not on the other items of the list (the item-position model).

    There are four estimators: the mean of weighted rewards (`ips`); the same with weights cut at
    `clip`, which is a lower limit (`clipped`, Ionides 2008); the weighted mean (`snips`,
    Swaminathan and Joachims 2015); and predictions corrected by the weighted mean of their errors
    (`dr`, Dudík, Langford and Li 2011), where there are predictions. With a mapping as `target`,
    the predictions are the reward rates of items in all other clusters.

    Intervals are corrected for skewness (Hall 1992). There is none if the log counts as much as
    fewer than 100 rows of equal weight, fewer than 10 rows with (or without) a reward, or fewer
    than 30 clusters, or if the mean weight can't be 1. The `refused` column then says why.

    Args:
        log: A table with one row per item shown: a data frame, an Arrow table, a mapping of column
            name to array, a path, or a `File`.
        target: The column with the probability that the new policy shows this item here. Or a
            mapping from item to probability, if it is the same in all rows.
        chosen: The column with the item that the new policy shows here, if it doesn't choose at
            random. Give either this or `target`.
        reward: The column of rewards: clicks as 0 and 1, or numbers such as revenue.
        propensity: The column with the probability with which the log shows this item here.
        item: The column of items, for `chosen` and a mapping (default: found by its usual names,
            such as `item_id` or `doc_id`).
        predicted: The column with the reward that a model predicts for this item. It must not have
            learned from the log.
        predicted_target: The column with the mean prediction for the choices of the new policy.
        method: The estimator to decide by (default: `"dr"` with predictions, else `"snips"`).
            Choose it before you look at the results.
        clip: The largest weight of `clipped`.
        rank: The column of positions from 1, for `discount` and `examination` (default: found by
            its usual names, such as `position`).
        discount: How much each position counts, such as `"log2"` or `[1, 0.5]`. The value is then
            the discounted sum over the positions of one list, instead of the mean over rows.
        examination: How often users look at each position, to turn clicks into relevance. With
            `discount`, the value is then the DCG of the new policy.
        cluster: The column of users or sessions, whose rows aren't independent.
        level: The confidence level, between 0 and 1.
        encoding: The encoding of text files.

    Returns:
        A table with one row per estimator, and the value of the log.

    Raises:
        UsageError: An argument is invalid.
        InputError: A column is missing or holds invalid values.
        FileError: A file can't be read.

    Examples:
        >>> log = {
        ...     "item": ["a", "b"] * 200,
        ...     "click": [1, 0, 1, 0, 0, 0, 0, 1] * 50,
        ...     "propensity": [0.5] * 400,
        ... }
        >>> result = evaluate_off_policy(log, target={"a": 0.9, "b": 0.1})
        >>> round(result.logged, 3), result.method, round(result.value, 3), round(result.effective)
        (0.375, 'dr', 0.475, 244)
    """
    _check_settings(method, clip, level, cluster)
    _check_target(target, chosen)
    if (predicted is None) != (predicted_target is None):
        raise bad_parameter(
            "expected predicted and predicted_target together, found one of them",
            "predicted= is the prediction for the item of the row, predicted_target= the mean "
            "prediction for the choices of the new policy",
        )
    chances = _read_mapping(target) if isinstance(target, Mapping) else None
    has_positions = discount is not None or examination is not None
    read = read_log(
        log,
        Reading(encoding=encoding),
        ids=({} if chances is None and chosen is None else {"doc": item})
        | ({"rank": rank} if has_positions else {}),
        numbers={
            "reward": reward,
            "propensity": propensity,
            "predicted": predicted,
            "predicted_target": predicted_target,
            "target": target if isinstance(target, str) else None,
        },
        values={"chosen": chosen, "cluster": cluster},
    )
    _check_numbers(read)
    read = read.sort()  # errors name rows as they came
    clusters = read.values["cluster"].separate() if cluster is not None else None
    targets, unsupported = _find_chances(read, chances)
    predictions = None
    if predicted is not None:
        predictions = read.numbers["predicted"], read.numbers["predicted_target"]
    elif chances is not None:
        predictions = _predict(read, chances, clusters)
    elif method == "dr":
        raise bad_parameter(
            "dr needs predictions",
            "pass predicted= and predicted_target=, or target= as a mapping",
        )
    weighted = Weighted(
        rewards=read.numbers["reward"],
        weights=targets / read.numbers["propensity"],
        strata=_stratify(read, discount, examination),
        clusters=clusters,
        predicted=predictions,
        unsupported=unsupported,
    )
    what = f"{reward} per row" if not has_positions else f"{reward} per list"
    if discount is not None:
        what = "DCG" if examination is not None else f"discounted {reward} per list"
    return _evaluate(weighted, method, clip, float(level), what)


def _evaluate(
    log: Weighted, method: str | None, clip: float, level: float, what: str
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
    wrong, bounds = _refuse_weights(log), _find_bounds(log)
    estimates = {
        name: conclude(estimator, logged, log.clusters, level, bounds=bounds, reason=wrong)
        for name, estimator in estimators.items()
    }
    if (clipped < log.weights).any() and "clipped" in estimates:
        # What clipping cut off could add any reward.
        (low, _), (low_change, _) = estimates["clipped"].ends, estimates["clipped"].change_ends
        estimates["clipped"] = replace(
            estimates["clipped"], ends=(low, math.nan), change_ends=(low_change, math.nan)
        )
    of_log = conclude(logged, logged, log.clusters, level, bounds=bounds)
    return OffPolicyEvaluation(
        estimates,
        method=method or ("dr" if log.predicted is not None else "snips"),
        level=level,
        what=what,
        n=len(log.rewards),
        clusters=None if log.clusters is None else int(log.clusters.max()) + 1,
        logged=of_log,
        mean_weight=mean_weight(log.weights, log.clusters, level),
        unsupported=log.unsupported,
        clip=clip,
        notes=_list_notes(log, clipped, of_log, wrong),
    )


def _check_settings(method: str | None, clip: float, level: float, cluster: str | None) -> None:
    if not 0 < level < 1:
        raise UsageError(
            f"expected level between 0 and 1, found {level!r}",
            hint="write 0.95 for 95 percent",
            code="bad_interval",
        )
    check_cluster_column(cluster)
    if method is not None:
        hint = "leave it out for dr with predictions, and snips without"
        check_choice("method", method, METHODS, hint=hint)
    if not clip > 0:
        raise bad_parameter(
            f"expected clip above 0, found {clip!r}", "it is the largest weight, such as 50"
        )


def _check_target(target: object, chosen: str | None) -> None:
    if (target is None) == (chosen is None):
        raise bad_parameter(
            f"expected either target or chosen, found {'neither' if target is None else 'both'}",
            "target= names the column with the new policy's probability of the row's item, "
            "chosen= the column with the item that it shows",
        )
    if target is not None and not isinstance(target, str | Mapping):
        raise bad_parameter(
            f"expected target as the name of a column or a mapping, found {type(target).__name__}",
            "write target.to_dict() for the probabilities of items, or add those of the rows to "
            "the table as a column",
        )


def _check_numbers(read: Log) -> None:
    """Raise an error about the first row with an invalid probability or rank."""
    hint = "it is the probability with which the {} shows this item here"
    shown = "; an item that was shown had one above 0"
    for role, low, high, expected, advice in (
        (
            "propensity",
            math.ulp(0.0),
            1,
            "propensities above 0, up to 1",
            hint.format("log") + shown,
        ),
        ("target", 0, 1, "target probabilities from 0 to 1", hint.format("new policy")),
        ("rank", 1, MOST_RANKS, f"ranks from 1 to {MOST_RANKS:,}", "the first rank is 1"),
    ):
        values = read.numbers.get(role, np.ones(1))
        is_good = (values >= low) & (values <= high)
        is_good &= (role != "rank") | (values == np.floor(values))
        for at in np.flatnonzero(~is_good)[:1].tolist():
            raise FormatError(
                f"expected {expected}, found {values[at]:g} in row {at + 1:,}",
                hint=advice,
                code="bad_rank" if role == "rank" else "bad_propensity",
            )


def _find_chances(read: Log, chances: Mapping[str, float] | None) -> tuple[Numbers, float | None]:
    """Return the probability of each row under the new policy, and what the log never shows."""
    if "target" in read.numbers:
        return read.numbers["target"], None
    items = read.values["doc"]
    if chances is None:
        chosen = read.values["chosen"]
        places = {text: code for code, text in enumerate(items.texts)}
        codes = np.array([places.get(text, -1) for text in chosen.texts])[chosen.codes]
        return (codes == items.codes).astype(np.float64), float((codes < 0).mean())
    of_items = np.array([chances.get(text, 0.0) for text in items.texts])
    never = 1.0 - float(of_items.sum())
    return of_items[items.codes], never if never > MOST_OFF else 0.0


def _read_mapping(target: Mapping[Any, float]) -> dict[str, float]:
    chances = {str(key): float(value) for key, value in target.items()}
    for key, chance in chances.items():
        if not chance >= 0 or chance == math.inf:
            raise FormatError(
                f"expected probabilities of items from 0 to 1, found {chance:g} of {quote(key)}",
                hint="it is the probability with which the new policy shows this item",
                code="bad_propensity",
            )
    total = math.fsum(chances.values())
    if abs(total - 1) > MOST_OFF:
        raise FormatError(
            f"expected probabilities of items that sum up to 1, found a sum of {total:g}",
            hint="divide them by their sum",
            code="bad_propensity",
        )
    return chances


def _predict(read: Log, chances: Mapping[str, float], clusters: Codes | None) -> Predicted:
    """Return the reward rates of items in other clusters as predictions."""
    items = read.values["doc"]
    # Items that the log never shows are predicted to earn as much as all others.
    texts = [*items.texts, *sorted(chances.keys() - set(items.texts))]
    return leave_out(
        read.numbers["reward"],
        items.codes,
        np.array([chances.get(text, 0.0) for text in texts]),
        np.arange(len(read)) if clusters is None else clusters,
    )


def _stratify(read: Log, discount: Discount | None, examination: Sequence[float] | None) -> Strata:
    """Return the positions with what each counts; one position of all rows without discounts."""
    count = len(read)
    if "rank" not in read.numbers:
        codes = np.zeros(count, dtype=np.int64)
        return Strata(codes=codes, counts=np.array([float(count)]), shares=np.ones(1))
    codes = read.numbers["rank"].astype(np.int64) - 1
    counts = np.bincount(codes).astype(np.float64)
    if not counts.all():
        raise FormatError(
            f"expected rows at every position down to {len(counts)}, found none at position "
            f"{int(np.argmin(counts)) + 1}",
            hint="the first position is 1; drop the rows below the gap",
            code="rank_gap",
        )
    shares = np.ones(len(counts)) if discount is None else _weigh(discount, len(counts), "discount")
    if examination is not None:
        shares = shares / _weigh(examination, len(counts), "examination")
    return Strata(codes=codes, counts=counts, shares=shares)


def _weigh(weighting: Discount, count: int, name: str) -> Numbers:
    """Return the weights of the first ranks under a discount or an examination."""
    if isinstance(weighting, Mapping):
        raise bad_parameter(
            f"expected {name} as a list by rank, found {type(weighting).__name__}",
            f"write [{name}[rank] for rank in sorted({name})]",
        )
    if isinstance(weighting, str):
        # DCG of one document at each rank.
        weights = np.asarray(dcg(np.eye(count), k=count, discount=weighting), dtype=np.float64)
    else:
        weights = np.asarray(weighting, dtype=np.float64)
    is_list = weights.ndim == 1 and len(weights) >= count
    if not is_list or not (np.isfinite(weights[:count]) & (weights[:count] >= 0)).all():
        raise bad_parameter(
            f"expected {name} with a weight of 0 or more for each of {count} ranks, found "
            f"{weighting!r:.120}",
            "write the name of a discount such as 'log2', or one number for each rank",
        )
    if name == "examination" and not weights[:count].all():
        raise bad_parameter(
            "expected users to look at every rank, found an examination of 0",
            "leave out the ranks that nobody looks at",
        )
    if name == "examination" and weights[0] > 1:
        raise bad_parameter(
            f"expected the share of users who look at rank 1, at most 1, found {weights[0]:g}",
            "divide percentages by 100",
        )
    return weights[:count]


def _refuse_weights(log: Weighted) -> str:
    """Return why weights whose mean isn't 1 give no interval; empty if the mean can be 1."""
    mean, (low, high) = mean_weight(log.weights, log.clusters, WRONG_WEIGHTS)
    if math.isnan(low) or low - NEARLY_ONE <= 1 <= high + NEARLY_ONE:
        return ""
    return (
        f"the mean weight is {mean:.3f} where 1 is expected, so the propensities or the new "
        "policy's probabilities are wrong, or the log never shows some of its choices"
    )


def _find_bounds(log: Weighted) -> Ends:
    """Return the limits of the value: those of a rate if all rewards are in them."""
    low, high = float(log.rewards.min()), float(log.rewards.max())
    is_rate = low >= 0 and high <= 1 and len(log.strata.counts) == 1
    return 0.0 if low >= 0 else -math.inf, 1.0 if is_rate else math.inf


def _list_notes(log: Weighted, clipped: Numbers, of_log: Estimate, wrong: str) -> tuple[str, ...]:
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
