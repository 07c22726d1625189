"""Estimates the DCG of a new ranker from the clicks on the rankings of an old one."""

from __future__ import annotations

import math

from rankscope.clicks.estimators import (
    NEARLY_ONE,
    Estimator,
    Strata,
    conclude,
    find_floor,
    keep_lower,
    mean_weight,
    tabulate,
)
from rankscope.clicks.log import MOST_RANKS, order_rows, read_log, refuse_clicked_only
from rankscope.clicks.off_policy import (
    check_ranks,
    check_rows,
    check_settings,
    weigh,
)
from rankscope.clicks.reliability import assess
from rankscope.clicks.result import OffPolicyEvaluation
from rankscope.deferred import np
from rankscope.errors import FormatError, UsageError
from rankscope.records import record, replace
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias

    from numpy.typing import NDArray

    from rankscope.clicks.estimators import Concluded
    from rankscope.clicks.examination_result import ExaminationCurve
    from rankscope.clicks.log import Log

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


def dcg_from_clicks(
    log: object,
    *,
    examination: ExaminationCurve | Sequence[float],
    new_rank: str = "new_rank",
    rank: str | None = None,
    click: str = "click",
    query: str | None = None,
    discount: str | Sequence[float] | ExaminationCurve = "log2",
    k: int | None = None,
    propensity: str | None = None,
    predicted: str | None = None,
    method: Literal["ips", "clipped", "snips", "dr"] | None = None,
    clip: float = 10,
    cluster: str | None = None,
    level: float = 0.95,
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
) -> OffPolicyEvaluation:
    """Estimate the DCG of a new ranker from the clicks on the rankings of an old one.

    Unlike `evaluate_off_policy`, this doesn't need a log of random choices, but to know how often
    users look at each rank. In the position-based model, a click means that a user looked at a
    relevant document. Each click therefore counts 1 / examination of its rank (Joachims,
    Swaminathan and Schnabel, *Unbiased learning-to-rank with biased feedback*, WSDM 2017), times
    the discount of the document's new rank. With the examination as `discount`, the value is the
    number of clicks that the new ranker would get.

    `ips`, `clipped` and `snips` are as in `evaluate_off_policy`. `dr` adds the predicted relevance,
    and the weighted errors of the prediction (Oosterhuis, *Doubly robust estimation for correcting
    position bias in click feedback for unbiased learning to rank*, TOIS 2023).

    Args:
        log: A table with one row per document of each logged ranking: a data frame, an Arrow table,
            a mapping of column name to array, a path, or a `File`.
        examination: How often users look at each rank, from `estimate_examination` or as numbers.
            If it was estimated, its intervals widen those of the result.
        new_rank: The column of ranks under the new ranker, null for documents it doesn't show.
        rank: The column of logged ranks, null for documents that weren't shown (default: found by
            its usual names, such as `rank` or `position`).
        click: The column of clicks, 0 or 1.
        query: The column that identifies a ranking: a search, not a text that many users search
            for (default: found by its usual names, such as `ranking_id` or `query_id`).
        discount: How much each rank counts: a name such as `"log2"`, or one number for each rank.
        k: The cutoff (default: none).
        propensity: The column with how often users look at the document, averaged over all ranks at
            which the old ranker could have shown it, if it chose at random.
        predicted: The column with the predicted probability of relevance, for `dr`.
        method: The estimator to decide by (default: `"dr"` with predictions, else `"snips"`).
        clip: The largest weight of a click in `clipped`.
        cluster: The column of users, whose rankings aren't independent (default: rankings are).
        level: The confidence level, between 0 and 1.
        encoding: The encoding of text files.

    Returns:
        A table with one row per estimator, and the DCG of the log.

    Raises:
        UsageError: An argument is invalid.
        InputError: A column is missing or holds invalid values.
        FileError: A file can't be read.

    Examples:
        >>> log = {
        ...     "query_id": [number // 2 for number in range(400)],
        ...     "rank": [1, 2] * 200,
        ...     "new_rank": [2, 1] * 200,
        ...     "click": [1, 0, 0, 1] * 100,
        ... }
        >>> found = dcg_from_clicks(log, examination=[1, 0.5])
        >>> round(found.logged, 4), round(found.value, 4), found.change_lower > 0
        (1.1309, 1.3155, True)
    """
    check_settings(method, clip, level, cluster)
    if method == "dr" and predicted is None:
        raise UsageError("dr needs predictions", hint="pass predicted=", code="bad_parameter")
    if k is not None and (k is True or k not in range(1, MOST_RANKS + 1)):
        raise UsageError(
            f"expected a cutoff k from 1 to {MOST_RANKS:,}, found {k!r}",
            hint="write k=10, or leave it out",
            code="bad_parameter",
        )
    optional = {"propensity": propensity, "predicted": predicted}
    read = read_log(
        log,
        Reading.read(encoding=encoding),
        numbers={
            "click": click,
            "new_rank": new_rank,
            **{role: name for role, name in optional.items() if name is not None},
        },
        values={} if cluster is None else {"cluster": cluster},
        found={"rank": rank, "query": query},
        nullable=("rank", "new_rank", "propensity"),
    )
    numbers = read.numbers
    old, new = _read_ranks(numbers["rank"]), _read_ranks(numbers["new_rank"])
    clicks = _read_clicks(numbers["click"], old)
    rankings = read.values["query"].codes
    for which, ranks in (("rank", old), (new_rank, new)):
        _refuse_doubled(read, ranks, which)
    if not old.any():
        raise FormatError(
            "expected documents that were shown, found none with a logged rank",
            hint="name the column of logged ranks: rank='position'",
            code="bad_rank",
        )
    depth = int(max(old.max(), new.max()))
    gains = np.append(0.0, weigh(discount, min(depth, k or depth), "discount"))
    gains = np.pad(gains, (0, depth + 1 - len(gains)))
    looks = _at(weigh(examination, int(old.max()), "examination"), old)
    ends = [
        _at(np.asarray(getattr(examination, end), dtype=np.float64), old)
        if hasattr(examination, "weights")
        else looks
        for end in ("lower", "upper")
    ]
    expected = looks if propensity is None else _read_propensities(numbers["propensity"], old)
    guessed = None if predicted is None else _read_predictions(numbers["predicted"])
    order = order_rows(read.columns)
    rankings = rankings[order]
    clusters = rankings if cluster is None else read.values["cluster"].take(order).separate()
    made = Reranked(
        clicks=clicks[order],
        looks=looks[order],
        looks_lower=ends[0][order],
        looks_upper=ends[1][order],
        expected=expected[order],
        gains=gains[new[order]],
        logged_gains=gains[old[order]],
        rankings=rankings,
        clusters=clusters,
        cluster_count=None if cluster is None else int(clusters.max()) + 1,
        predicted=None if guessed is None else guessed[order],
        has_propensities=propensity is not None,
    )
    return evaluate_rankings(made, method=method, clip=clip, level=float(level))


def _read_ranks(given: Numbers) -> NDArray[np.int64]:
    """Return ranks as integers, 0 where there is none."""
    is_missing = np.isnan(given)
    ranks = check_ranks(np.where(is_missing, 1.0, given))
    return np.where(is_missing, 0, ranks)


def _at(weights: Numbers, ranks: NDArray[np.int64]) -> Numbers:
    """Return the weights of ranks, 0 where there is none."""
    found: Numbers = np.append(0.0, weights)[ranks]
    return found


def _read_clicks(clicks: Numbers, ranks: NDArray[np.int64]) -> Numbers:

    is_good = (clicks == 0) | ((clicks == 1) & (ranks > 0))
    if not is_good.all():
        at = int(np.argmin(is_good))
        where = "" if ranks[at] or clicks[at] != 1 else " of a document without a logged rank"
        raise FormatError(
            f"expected clicks as 0 or 1, found {clicks[at]:g}{where} in row {at + 1:,}",
            hint="a row is one document of one ranking; only shown documents can be clicked",
            code="bad_click",
        )
    refuse_clicked_only(clicks.sum(), (ranks > 0).sum())
    return clicks


def _read_propensities(given: Numbers, ranks: NDArray[np.int64]) -> Numbers:

    known = np.nan_to_num(given)
    is_good = (known <= 1) & ((known > 0) | ((known == 0) & (ranks == 0)))
    check_rows(
        is_good,
        given,
        "propensities above 0, up to 1, of shown documents",
        "it is how often users look at the document, averaged over the ranks at which the old "
        "ranker could have shown it",
        "bad_propensity",
    )
    return known


def _read_predictions(given: Numbers) -> Numbers:

    hint = "predict the probability that a user who looks at the document clicks it"
    is_good = (given >= 0) & (given <= 1)
    check_rows(is_good, given, "predicted probabilities from 0 to 1", hint, "bad_propensity")
    return given


def _refuse_doubled(read: Log, ranks: NDArray[np.int64], name: str) -> None:
    """Refuse two documents at one rank of a ranking, as where an id stands for many searches."""
    rankings = read.values["query"]
    shown = np.flatnonzero(ranks)
    cells = rankings.codes[shown] * (int(ranks.max()) + 1) + ranks[shown]
    _, first = np.unique(cells, return_index=True)
    if len(first) < len(cells):
        again = np.ones(len(cells), dtype=np.bool_)
        again[first] = False
        at = shown[int(np.argmax(again))]
        raise FormatError(
            f"expected one document at each {name} of a ranking, found two at {ranks[at]} in "
            f"ranking {rankings.texts[rankings.codes[at]]!r:.120} (row {at + 1:,})",
            hint="give each search an id of its own, and name its column: query='search_id'",
            code="bad_rank",
        )
