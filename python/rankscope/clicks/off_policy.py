"""Evaluates a new policy from the log of an old one."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rankscope._evaluate.grades import dcg
from rankscope._evaluate.query_values import check_cluster_column
from rankscope.clicks.estimators import Strata, Weighted, evaluate, leave_out
from rankscope.clicks.log import MOST_RANKS, order_rows, read_log
from rankscope.deferred import np
from rankscope.errors import FormatError, UsageError
from rankscope.names import check_choice, quote
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal, TypeAlias

    from numpy.typing import NDArray

    from rankscope.clicks.log import Log
    from rankscope.clicks.result import OffPolicyEvaluation

    Numbers: TypeAlias = NDArray[np.float64]
    Encoding: TypeAlias = Literal["utf-8", "latin-1"]
    Discount: TypeAlias = str | Sequence[float]

METHODS = ("ips", "clipped", "snips", "dr")
MOST_OFF = 1e-6
"""How far probabilities may be from a sum of 1."""


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
        >>> found = evaluate_off_policy(log, target={"a": 0.9, "b": 0.1})
        >>> round(found.logged, 3), found.method, round(found.value, 3), round(found.effective)
        (0.375, 'dr', 0.475, 244)
    """
    _check_settings(method, clip, level, cluster)
    _check_target(target, chosen)
    if (predicted is None) != (predicted_target is None):
        raise UsageError(
            "expected predicted and predicted_target together, found one of them",
            hint="predicted= is the prediction for the item of the row, predicted_target= the mean "
            "prediction for the choices of the new policy",
            code="bad_parameter",
        )
    is_mapping = isinstance(target, Mapping)
    needs_item = is_mapping or chosen is not None
    has_positions = discount is not None or examination is not None
    found: dict[str, str | None] = {"doc": item} if needs_item else {}
    if has_positions:
        found["rank"] = rank
    numbers = {"reward": reward, "propensity": propensity}
    optional = {"predicted": predicted, "predicted_target": predicted_target}
    numbers |= {role: name for role, name in optional.items() if name is not None}
    if isinstance(target, str):
        numbers["target"] = target
    values = {"chosen": chosen, "cluster": cluster}
    read = read_log(
        log,
        Reading.read(encoding=encoding),
        numbers=numbers,
        values={role: name for role, name in values.items() if name is not None},
        found=found,
        called={"doc": "item"},
    )
    _check_chances(read, "propensity", "propensities above 0, up to 1", is_above=True)
    if "target" in read.numbers:
        _check_chances(read, "target", "target probabilities from 0 to 1", is_above=False)
    if "rank" in read.numbers:
        _check_ranks(read.numbers["rank"])
    # Errors name rows as they came.
    read = read.take(order_rows(read.columns))
    clusters = read.values["cluster"].separate() if cluster is not None else None
    chances, unsupported = _read_target(read, target)
    held = None
    if predicted is not None:
        held = read.numbers["predicted"], read.numbers["predicted_target"]
    elif is_mapping:
        held = _predict(read, target, clusters)
    if method == "dr" and held is None:
        raise UsageError(
            "dr needs predictions",
            hint="pass predicted= and predicted_target=, or target= as a mapping",
            code="bad_parameter",
        )
    made = Weighted(
        rewards=read.numbers["reward"],
        weights=chances / read.numbers["propensity"],
        strata=_stratify(read, discount, examination),
        clusters=clusters,
        cluster_count=None if clusters is None else int(clusters.max()) + 1,
        predicted=held,
        unsupported=unsupported,
    )
    what = f"{reward} per row" if not has_positions else f"{reward} per list"
    if discount is not None:
        what = "DCG" if examination is not None else f"discounted {reward} per list"
    return evaluate(made, method=method, clip=clip, level=float(level), what=what)


def _check_settings(method: str | None, clip: float, level: float, cluster: str | None) -> None:
    _check_level(level)
    check_cluster_column(cluster)
    if method is not None:
        check_choice(
            "method",
            method,
            METHODS,
            hint="leave it out for dr with predictions, and snips without",
        )
    if not clip > 0:
        raise UsageError(
            f"expected clip above 0, found {clip!r}",
            hint="it is the largest weight, such as 50",
            code="bad_parameter",
        )


def _check_target(target: object, chosen: str | None) -> None:
    if (target is None) == (chosen is None):
        raise UsageError(
            f"expected either target or chosen, found {'neither' if target is None else 'both'}",
            hint="target= names the column with the new policy's probability of the row's item, "
            "chosen= the column with the item that it shows",
            code="bad_parameter",
        )
    if target is not None and not isinstance(target, str | Mapping):
        raise UsageError(
            f"expected target as the name of a column or a mapping, found {type(target).__name__}",
            hint="write target.to_dict() for the probabilities of items, or add those of the rows "
            "to the table as a column",
            code="bad_parameter",
        )


def _check_level(level: float) -> None:
    """Raise an error for a confidence level that isn't between 0 and 1."""
    if not 0 < level < 1:
        raise UsageError(
            f"expected level between 0 and 1, found {level!r}",
            hint="write 0.95 for 95 percent",
            code="bad_interval",
        )


def _check_chances(read: Log, role: str, wanted: str, *, is_above: bool) -> None:

    chances = read.numbers[role]
    what = "new policy" if role == "target" else "log"
    hint = f"it is the probability with which the {what} shows this item here"
    if is_above:
        hint += "; an item that was shown had one above 0"
    is_good = (chances > 0 if is_above else chances >= 0) & (chances <= 1)
    _check_rows(is_good, chances, wanted, hint, "bad_propensity")


def _check_rows(
    is_good: NDArray[np.bool_], values: Numbers, wanted: str, hint: str, code: str
) -> None:
    """Raise an error about the first row of a log whose value is not good."""
    if not is_good.all():
        at = int(np.argmin(is_good))
        raise FormatError(
            f"expected {wanted}, found {values[at]:g} in row {at + 1:,}", hint=hint, code=code
        )


def _read_target(read: Log, target: object) -> tuple[Numbers, float | None]:
    """Return the probability of each row under the new policy, and what the log never shows."""
    if "target" in read.numbers:
        return read.numbers["target"], None
    items = read.values["doc"]
    if "chosen" in read.values:
        chosen = read.values["chosen"]
        places = {text: code for code, text in enumerate(items.texts)}
        wanted = np.array([places.get(text, -1) for text in chosen.texts])[chosen.codes]
        return (wanted == items.codes).astype(np.float64), float((wanted < 0).mean())
    chances = _read_mapping(target)
    of_items = np.array([chances.get(text, 0.0) for text in items.texts])
    never = 1.0 - float(of_items.sum())
    return of_items[items.codes], never if never > MOST_OFF else 0.0


def _read_mapping(target: Any) -> dict[str, float]:  # noqa: ANN401 - a mapping of the caller
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


def _predict(
    read: Log, target: object, clusters: NDArray[np.int64] | None
) -> tuple[Numbers, Numbers]:
    """Return the reward rates of items in other clusters as predictions."""
    items = read.values["doc"]
    chances = _read_mapping(target)
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


def _check_ranks(ranks: Numbers) -> None:
    is_rank = (ranks >= 1) & (ranks <= MOST_RANKS) & (ranks == np.floor(ranks))
    _check_rows(
        is_rank, ranks, f"ranks from 1 to {MOST_RANKS:,}", "the first rank is 1", "bad_rank"
    )


def _weigh(given: Discount, count: int, name: str) -> Numbers:
    """Return the weights of the first ranks under a discount or an examination."""
    if isinstance(given, Mapping):
        raise UsageError(
            f"expected {name} as a list by rank, found {type(given).__name__}",
            hint=f"write [{name}[rank] for rank in sorted({name})]",
            code="bad_parameter",
        )
    if isinstance(given, str):
        # DCG of one document at each rank.
        weights = np.asarray(dcg(np.eye(count), k=count, discount=given), dtype=np.float64)
    else:
        weights = np.asarray(given, dtype=np.float64)
    is_good = weights.ndim == 1 and len(weights) >= count
    if not is_good or not (np.isfinite(weights[:count]) & (weights[:count] >= 0)).all():
        raise UsageError(
            f"expected {name} with a weight of 0 or more for each of {count} ranks, found "
            f"{given!r:.120}",
            hint="write the name of a discount such as 'log2', or one number for each rank",
            code="bad_parameter",
        )
    if name == "examination" and not weights[:count].all():
        raise UsageError(
            "expected users to look at every rank, found an examination of 0",
            hint="leave out the ranks that nobody looks at",
            code="bad_parameter",
        )
    if name == "examination" and weights[0] > 1:
        raise UsageError(
            f"expected the share of users who look at rank 1, at most 1, found {weights[0]:g}",
            hint="divide percentages by 100",
            code="bad_parameter",
        )
    return weights[:count]
