"""Estimates how often users look at each rank, from click-through rates."""

from __future__ import annotations

import math

from rankscope._core import merge_sums, round_sums, sum_groups
from rankscope.clicks.examination_result import ExaminationCurve
from rankscope.clicks.harvesting import DEEPEST, Shown, harvest
from rankscope.clicks.log import MOST_RANKS, order_rows, read_clicks, read_log, refuse_clicked_only
from rankscope.clicks.off_policy import check_level, check_ranks, check_rows
from rankscope.clicks.reliability import Reliability, kish
from rankscope.deferred import np
from rankscope.engine.query_values import check_cluster_column
from rankscope.errors import EmptyError, UsageError
from rankscope.output.ids import MISSING
from rankscope.records import record
from rankscope.settings.policy import check_choice
from rankscope.settings.reading import Reading
from rankscope.stats.quantiles import divide, quantile_of, wilson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Literal

    from numpy.typing import NDArray

    from rankscope.clicks.log import Clicks


LARGEST = 1e70
"""Larger weights count as this, so that the sum of their fourth powers is finite."""


EVEN = 1e-9
"""Weights whose effective sample size is this close to the number of impressions are equal."""


@record(frozen=True, slots=True)
class Tallies:
    """Sums over the impressions of each rank, starting with rank 1.

    Args:
        impressions: The number of impressions.
        clicks: The number of impressions that were clicked.
        weights: The sum of the weights of impressions.
        squares: The sum of their squared weights.
        fourths: The sum of their weights to the fourth power.
        clicked: The sum of the weights of clicked impressions.
        clicked_squares: The sum of their squared weights.
        clusters: For each cluster, the sums of weights and of weights of clicked impressions by
            rank, float64 [clusters, 2, ranks]; `None` if impressions are independent.
    """

    impressions: tuple[float, ...]
    clicks: tuple[float, ...]
    weights: tuple[float, ...]
    squares: tuple[float, ...]
    fourths: tuple[float, ...]
    clicked: tuple[float, ...]
    clicked_squares: tuple[float, ...]
    clusters: NDArray[np.float64] | None = None


ADDED: tuple[str, ...] = Tallies.__match_args__[:-1]
"""The sums over impressions, in the order in which they are computed."""


def tally(batches: Iterable[Clicks], ranks: int | None) -> Tallies:
    """Return the sums over impressions by rank."""
    deepest = ranks or MOST_RANKS
    sums: list[bytes] = []
    columns: list[tuple[NDArray[Any], ...]] = []
    known: dict[str, int] = {}
    for batch in batches:
        weights = np.ones_like(batch.clicks) if batch.weights is None else batch.weights
        is_kept = batch.ranks <= deepest
        sums = _merge(sums, _add_up(batch.ranks[is_kept], batch.clicks[is_kept], weights[is_kept]))
        if batch.clusters is not None:
            codes = (known.setdefault(each, len(known)) for each in batch.clusters)
            clusters = np.fromiter(codes, dtype=np.int64)
            columns.append((clusters, batch.ranks, batch.clicks, weights))
    by_rank = zip(*map(round_sums, sums), strict=True) if sums else [()] * len(ADDED)
    return Tallies(
        **dict(zip(ADDED, by_rank, strict=True)),
        clusters=_add_up_clusters([*known], columns, deepest) if columns else None,
    )


def _merge(one: list[bytes], other: list[bytes]) -> list[bytes]:
    """Add sums by rank."""
    short, long = sorted((one, other), key=len)
    both = [merge_sums(*pair, False) for pair in zip(short, long, strict=False)]
    return both + long[len(short) :]


def _add_up_clusters(
    names: list[str], batches: list[tuple[NDArray[Any], ...]], deepest: int
) -> NDArray[np.float64]:
    """Return the sums by cluster. An impression without a cluster is one of its own."""
    clusters, rank, click, weight = map(np.concatenate, zip(*batches, strict=True))
    places = {name: place for place, name in enumerate(sorted(names))}
    clusters = np.array([places[name] for name in names], dtype=np.int64)[clusters]
    order = order_rows((clusters, rank, click, weight))
    clusters, rank, click, weight = (each[order] for each in (clusters, rank, click, weight))
    alone = clusters == places.get(MISSING, -1)
    clusters[alone] = len(names) + np.arange(alone.sum())
    known, clusters = np.unique(clusters, return_inverse=True)
    kept = rank <= deepest
    clusters, rank, click, weight = (each[kept] for each in (clusters, rank, click, weight))
    count, depth = len(known), int(rank.max(initial=0))
    cells = clusters * depth + rank - 1
    found = [
        np.bincount(cells, weights=column, minlength=count * depth).reshape(count, depth)
        for column in (weight, weight * click)
    ]
    return np.stack(found, axis=1)


def _add_up(
    rank: NDArray[np.int64], click: NDArray[np.float64], weight: NDArray[np.float64]
) -> list[bytes]:
    """Return the exact sums of each rank, packed."""
    weight = np.minimum(weight, LARGEST)
    columns = [
        np.ones_like(click),
        click,
        weight,
        weight * weight,
        weight**4,
        weight * click,
        weight * weight * click,
    ]
    return sum_groups(rank - 1, columns, int(rank.max(initial=0)))


def estimate(tallies: Tallies, level: float, *, is_weighted: bool) -> ExaminationCurve:
    """Return the examination curve: the click-through rate of each rank relative to rank 1."""
    _refuse_gaps(tallies)
    quantile = quantile_of(level)
    rates = [
        clicked / weight for clicked, weight in zip(tallies.clicked, tallies.weights, strict=True)
    ]
    covariances = _covary(tallies, rates)
    reasons = [_refuse_interval(tallies, at, rate) for at, rate in enumerate(rates)]
    ends = [
        (math.nan, math.nan)
        if reasons[at]
        else wilson(rate, _effective_count(tallies, at, rate, covariances), quantile)
        for at, rate in enumerate(rates)
    ]
    if reasons[0]:
        reasons[1:] = [why or f"rank 1 has none: {reasons[0]}" for why in reasons[1:]]
    quotients = [
        (1.0, 1.0)
        if at == 0
        else (math.nan, math.nan)
        if reasons[at]
        else divide(rate, ends[at], rates[0], ends[0], _correlate(covariances, at))
        for at, rate in enumerate(rates)
    ]
    return ExaminationCurve(
        {
            "rank": [*range(1, len(rates) + 1)],
            "impressions": [round(count) for count in tallies.impressions],
            "clicks": [round(count) for count in tallies.clicks],
            "effective": [
                weight * weight / square
                for weight, square in zip(tallies.weights, tallies.squares, strict=True)
            ],
            "rate": rates,
            "rate lower": [low for low, _ in ends],
            "rate upper": [high for _, high in ends],
            "weight": [rate / rates[0] for rate in rates],
            "lower": [low for low, _ in quotients],
            "upper": [high for _, high in quotients],
        },
        level,
        is_weighted=is_weighted,
        refused=tuple(reasons),
        clusters=None if tallies.clusters is None else len(tallies.clusters),
    )


def _refuse_interval(tallies: Tallies, at: int, rate: float) -> str:
    """Return why the rate of a rank has no interval; empty if it has one.

    Wilson's interval holds for any number of independent impressions with equal weights.
    """
    effective = tallies.weights[at] ** 2 / tallies.squares[at]
    is_even = effective > tallies.impressions[at] * (1 - EVEN)
    if is_even and tallies.clusters is None:
        return ""
    squares = tallies.clicked_squares[at]
    clicked = tallies.clicked[at] ** 2 / squares if squares > 0 else 0.0
    return Reliability(
        n=round(tallies.impressions[at]),
        effective=effective,
        heavy=tallies.squares[at] ** 2 / tallies.fourths[at],
        rewarded=min(clicked, effective * rate, effective * (1 - rate)),
        clusters=None if tallies.clusters is None else kish(tallies.clusters[:, 0, at]),
    ).refuse()


def _covary(tallies: Tallies, rates: list[float]) -> NDArray[np.float64] | None:
    """Return the covariances of the rates of ranks over clusters; `None` without clusters."""
    if tallies.clusters is None:
        return None
    count = len(tallies.clusters)
    weights, clicked = tallies.clusters[:, 0], tallies.clusters[:, 1]
    influences = (clicked - np.array(rates) * weights) / weights.sum(axis=0)
    made: NDArray[np.float64] = influences.T @ influences * (count / max(1, count - 1))
    return made


def _correlate(covariances: NDArray[np.float64] | None, at: int) -> float:
    """Return the correlation of the rates of a rank and of rank 1."""
    if covariances is None:
        return 0.0
    both = math.sqrt(float(covariances[0, 0] * covariances[at, at]))
    return float(covariances[0, at]) / both if both > 0 else 0.0


def _effective_count(
    tallies: Tallies, at: int, rate: float, covariances: NDArray[np.float64] | None
) -> float:
    """Return the number of impressions with weight 1 that would have the same uncertainty.

    The linearized variance of a weighted rate is the sum of (weight x (click - rate))^2 divided by
    the square of the sum of weights; with clusters, that of their sums. The number is at most the
    effective sample size of the weights: a few impressions with large weights that happen to have
    no click would otherwise make the rate look certain.
    """
    weight, square = tallies.weights[at], tallies.squares[at]
    by_weights = weight * weight / square
    if not 0 < rate < 1:
        return by_weights
    if covariances is None:
        squares = tallies.clicked_squares[at] * (1 - 2 * rate) + rate * rate * square
        variance = squares / (weight * weight)
    else:
        variance = float(covariances[at, at])
    return min(by_weights, rate * (1 - rate) / variance) if variance > 0 else by_weights


def _refuse_gaps(tallies: Tallies) -> None:
    if not tallies.impressions:
        raise EmptyError(
            "there are no impressions",
            hint="pass one row for each document that was shown, clicked or not",
            code="empty_input",
        )
    empty = [rank for rank, count in enumerate(tallies.impressions, start=1) if count == 0]
    if empty:
        raise EmptyError(
            f"expected impressions at every rank down to {len(tallies.impressions)}, found none at "
            f"rank {empty[0]}",
            hint=f"write ranks={empty[0] - 1}" if empty[0] > 1 else "the first rank is 1",
            code="rank_gap",
        )
    refuse_clicked_only(sum(tallies.clicks), sum(tallies.impressions))
    if tallies.clicked[0] == 0:
        raise EmptyError(
            "there are no clicks at rank 1, with which the other ranks are compared",
            hint="use a longer log",
            code="no_clicks",
        )


METHODS = ("rates", "harvest")


def estimate_examination(
    log: object,
    *,
    rank: str | None = None,
    click: str = "click",
    propensity: str | None = None,
    ranks: int | None = None,
    method: Literal["rates", "harvest"] = "rates",
    query: str | None = None,
    doc: str | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
) -> ExaminationCurve:
    """Estimate from clicks how often users look at each rank, relative to rank 1.

    In the position-based model (Craswell et al., *An experimental comparison of click position-bias
    models*, WSDM 2008), users click a document if they look at it, which depends on the rank, and
    find it worth a click. If documents were ranked at random, all ranks have equally good
    documents, and click-through rates are proportional to how often users look. If a policy chose
    the documents, its propensities correct for that: each impression counts 1 / propensity. Without
    either, the curve mixes attention with the skill of the ranker.

    Rates have Wilson intervals (1927), with the effective number of impressions if there are
    weights. Intervals of quotients are derived from them (MOVER-R, Donner and Zou, 2012). With
    propensities or clusters, a rank has no interval if its impressions count as much as fewer than
    100 of equal weight, 10 clicked ones, or 30 clusters.

    If several rankers served the same queries, or one that changed, `method="harvest"` needs
    neither. It uses the documents that were shown at several ranks for the same query, whose
    relevance is the same at each (intervention harvesting: Agarwal et al., *Estimating position
    bias without intrusive interventions*, WSDM 2019, with all pairs of ranks). Which ranker served
    must be random. Documents count by the harmonic mean of their impressions at both ranks.
    Intervals are over queries, or clusters.

    Args:
        log: A table with one row per document shown: a data frame, an Arrow table, a mapping of
            column name to array, a path, or a `File`.
        rank: The column of ranks, starting at 1 (default: found by its usual names, such as `rank`
            or `position`).
        click: The column of clicks, 0 or 1.
        propensity: The column of probabilities with which the policy put the document at the rank.
        ranks: The number of ranks (default: all).
        method: `"rates"` compares click-through rates. `"harvest"` uses documents that were shown
            at several ranks.
        query: The column of queries, for `"harvest"`: the text or id of what was searched for, the
            same in all searches (default: found by its usual names, such as `query_id`).
        doc: The column of documents, for `"harvest"` (default: found by its usual names).
        cluster: The column of users or sessions, whose impressions aren't independent (default: all
            impressions are independent; for `"harvest"`, queries are).
        level: The confidence level of intervals, between 0 and 1.
        encoding: The encoding of text files.

    Returns:
        A table with one row per rank, whose `weights` are a discount.

    Raises:
        UsageError: An argument is out of range.
        InputError: A column is missing or holds invalid values, or a rank has no impressions.
        FileError: A file can't be read.

    Examples:
        >>> shown = [1] * 400 + [2] * 400
        >>> clicked = [1] * 100 + [0] * 300 + [1] * 60 + [0] * 340
        >>> curve = estimate_examination({"position": shown, "click": clicked})
        >>> [round(number, 3) for number in (curve.weights[1], curve.lower[1], curve.upper[1])]
        [0.6, 0.45, 0.799]
    """
    check_level(level)
    if ranks is not None and ranks not in range(1, MOST_RANKS + 1):
        raise UsageError(
            f"expected ranks from 1 to {MOST_RANKS:,}, found {ranks!r}",
            hint="omit it to use all of them",
            code="bad_parameter",
        )
    check_choice("method", method, METHODS)
    check_cluster_column(cluster)
    reading = Reading.read(encoding=encoding)
    if method == "harvest":
        if propensity is not None:
            raise UsageError(
                "harvesting needs no propensities",
                hint='remove propensity, or method="harvest"',
                code="bad_parameter",
            )
        found = {"rank": rank, "query": query, "doc": doc}
        shown = _read_shown(log, reading, click, found, cluster=cluster, ranks=ranks)
        return harvest(shown, float(level))
    if query is not None or doc is not None:
        raise UsageError(
            "query and doc have no effect on click-through rates",
            hint='add method="harvest", or remove them',
            code="bad_parameter",
        )
    names = {"rank": rank, "click": click, "propensity": propensity, "cluster": cluster}
    tallies = tally(read_clicks(log, names, reading), ranks)
    return estimate(tallies, float(level), is_weighted=propensity is not None)


def _read_shown(
    log: object,
    reading: Reading,
    click: str,
    found: Mapping[str, str | None],
    *,
    cluster: str | None,
    ranks: int | None,
) -> Shown:
    """Read the documents of each query, with the ranks at which they were shown."""
    read = read_log(
        log,
        reading,
        numbers={"click": click},
        values={} if cluster is None else {"cluster": cluster},
        found=found,
    )
    clicks = read.numbers["click"]
    places = check_ranks(read.numbers["rank"])
    deepest = int(places.max()) if ranks is None else ranks
    if deepest > DEEPEST:
        raise UsageError(
            f"harvesting is for at most {DEEPEST} ranks, found {deepest:,}",
            hint="write ranks=10",
            code="bad_parameter",
        )
    is_click = (clicks == 0) | (clicks == 1)
    check_rows(
        is_click, clicks, "clicks as 0 or 1", "a row is one document, shown once", "bad_click"
    )
    refuse_clicked_only(clicks.sum(), len(clicks))
    read = read.take(order_rows(read.columns))
    kept = read.numbers["rank"] <= deepest
    queries = read.values["query"].codes[kept]
    documents = queries * len(read.values["doc"].texts) + read.values["doc"].codes[kept]
    clusters = queries if cluster is None else read.values["cluster"].separate()[kept]
    return Shown(
        documents=np.unique(documents, return_inverse=True)[1],
        places=read.numbers["rank"][kept].astype(np.int64) - 1,
        impressions=np.ones(int(kept.sum())),
        clicks=read.numbers["click"][kept],
        clusters=np.unique(clusters, return_inverse=True)[1],
    )
