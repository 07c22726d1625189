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
    level: float = 0.95,
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
) -> ExaminationCurve:
    """Estimate from clicks how often users look at each rank, relative to rank 1.

    In the position-based model (Craswell et al., *An experimental comparison of click
    position-bias models*, WSDM 2008) a click needs a look, which the rank decides, and a document
    worth it. Where documents were put at ranks at random, those of one rank are as good as those of
    another, so that the click-through rates of ranks are to each other as the looks. If a policy
    chose them, its propensities undo that: each impression counts 1 / propensity, and rates are
    those of documents chosen evenly. Without either, the curve mixes up the looks and the skill of
    the ranker.

    Intervals of rates are Wilson's (1927); with weights, for as many impressions as leave the rate
    as uncertain. Those of quotients are recovered from them (MOVER-R, Donner and Zou, 2012). All
    take impressions as independent.

    Args:
        log: One row for each document that was shown: a data frame, an Arrow table, a mapping of
            column name to array, or a path or `File` of a table.
        rank: The column of ranks, from 1 on; found by its usual names, such as `rank` or
            `position`, if left out.
        click: The column of clicks, 0 or 1.
        propensity: The column of the probability with which the policy put the document there.
        ranks: How many ranks; all if left out.
        level: The probability with which intervals cover, between 0 and 1.
        encoding: How files of text are encoded.

    Returns:
        A table of a row a rank, whose `weights` are a discount.

    Raises:
        UsageError: An argument is outside its range.
        InputError: A column is missing or holds something else, or a rank has no impressions.
        FileError: A file cannot be read.

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
    names = {"rank": rank, "click": click, "propensity": propensity}
    found = tally(read_clicks(log, names, encoding=encoding), ranks)
    return estimate(found, float(level), is_weighted=propensity is not None)
