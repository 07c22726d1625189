"""Estimates how often users look at each rank."""

from __future__ import annotations

from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from rankscope.results.examination import ExaminationCurve


def estimate_examination(
    log: object,
    *,
    rank: str | None = None,
    click: str = "click",
    propensity: str | None = None,
    ranks: int | None = None,
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

    Args:
        log: A table with one row per document shown: a data frame, an Arrow table, a mapping of
            column name to array, a path, or a `File`.
        rank: The column of ranks, starting at 1 (default: found by its usual names, such as `rank`
            or `position`).
        click: The column of clicks, 0 or 1.
        propensity: The column of probabilities with which the policy put the document at the rank.
        ranks: The number of ranks (default: all).
        cluster: The column of users or sessions, whose impressions aren't independent (default: all
            impressions are independent).
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
    from rankscope.adapters.clicks import MOST_RANKS, read_clicks  # noqa: PLC0415 - logs alone need it
    from rankscope.stats.examination import estimate, tally  # noqa: PLC0415 - as above

    if not 0 < level < 1:
        raise UsageError(
            f"expected level between 0 and 1, found {level!r}",
            hint="write 0.95 for 95 percent",
            code="bad_interval",
        )
    if ranks is not None and ranks not in range(1, MOST_RANKS + 1):
        raise UsageError(
            f"expected ranks from 1 to {MOST_RANKS:,}, found {ranks!r}",
            hint="leave it out for all that there are",
            code="bad_parameter",
        )
    names = {"rank": rank, "click": click, "propensity": propensity, "cluster": cluster}
    found = tally(read_clicks(log, names, encoding=encoding), ranks)
    return estimate(found, float(level), is_weighted=propensity is not None)
