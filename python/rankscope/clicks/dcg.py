"""Estimates the DCG of a new ranker from the clicks on the rankings of an old one."""

from __future__ import annotations

from rankscope.clicks.off_policy import (
    check_ranks,
    check_rows,
    check_settings,
    weigh,
)
from rankscope.clicks.swaps import refuse_clicked_only
from rankscope.deferred import np
from rankscope.errors import FormatError, UsageError
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias

    from numpy.typing import NDArray

    from rankscope.clicks.examination_result import ExaminationCurve
    from rankscope.clicks.log import Log
    from rankscope.clicks.result import OffPolicyEvaluation

    Numbers: TypeAlias = NDArray[np.float64]


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
    from rankscope.clicks.estimate.rankings import Reranked, evaluate_rankings  # noqa: PLC0415 - loads late
    from rankscope.clicks.estimate.row_order import order_rows  # noqa: PLC0415 - as above
    from rankscope.clicks.log import read_log  # noqa: PLC0415 - logs alone need it
    from rankscope.clicks.swaps import MOST_RANKS  # noqa: PLC0415 - as above

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
