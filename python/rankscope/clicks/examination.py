"""Estimates how often users look at each rank."""

from __future__ import annotations

from rankscope.clicks.off_policy import check_level, check_ranks, check_rows
from rankscope.clicks.swaps import refuse_clicked_only
from rankscope.deferred import np
from rankscope.engine.query_values import check_cluster_column
from rankscope.errors import UsageError
from rankscope.settings.policy import check_choice
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from rankscope.clicks.estimate.harvesting import Shown
    from rankscope.clicks.examination_result import ExaminationCurve

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
    from rankscope.clicks.examination_model import estimate, tally  # noqa: PLC0415 - as above
    from rankscope.clicks.swaps import MOST_RANKS, read_clicks  # noqa: PLC0415 - logs alone need it

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
        from rankscope.clicks.estimate.harvesting import harvest  # noqa: PLC0415 - as above

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
    from rankscope.clicks.estimate.harvesting import DEEPEST, Shown  # noqa: PLC0415 - loads late
    from rankscope.clicks.estimate.row_order import order_rows  # noqa: PLC0415 - as above
    from rankscope.clicks.log import read_log  # noqa: PLC0415 - logs alone need it

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
        ranks=read.numbers["rank"][kept].astype(np.int64),
        clicks=read.numbers["click"][kept],
        clusters=np.unique(clusters, return_inverse=True)[1],
    )
