"""Estimates of how often users look at each rank, from clicks."""

from __future__ import annotations

from rankscope.errors import EmptyError
from rankscope.records import record
from rankscope.results.examination import ExaminationCurve
from rankscope.stats.proportions import divide, quantile_of, wilson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.adapters.clicks import Clicks


@record(frozen=True, slots=True)
class Tallies:
    """Sums over the impressions of each rank, starting with rank 1.

    Args:
        impressions: The number of impressions.
        clicks: The number of impressions that were clicked.
        weights: The sum of the weights of impressions.
        squares: The sum of their squared weights.
        clicked: The sum of the weights of clicked impressions.
        clicked_squares: The sum of their squared weights.
    """

    impressions: tuple[float, ...]
    clicks: tuple[float, ...]
    weights: tuple[float, ...]
    squares: tuple[float, ...]
    clicked: tuple[float, ...]
    clicked_squares: tuple[float, ...]


def tally(batches: Iterable[Clicks], ranks: int | None) -> Tallies:
    """Return the sums over impressions by rank.

    Args:
        batches: The impressions.
        ranks: The number of ranks; impressions at lower ranks are left out.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    sums = np.zeros((6, 0))
    for batch in batches:
        rank, click, weight = batch.ranks, batch.clicks, batch.weights
        if ranks is not None:
            is_kept = rank <= ranks
            rank, click = rank[is_kept], click[is_kept]
            weight = None if weight is None else weight[is_kept]
        found = _add_up(rank, click, np.ones_like(click) if weight is None else weight)
        length = max(sums.shape[1], found.shape[1])
        sums, found = (
            np.pad(each, ((0, 0), (0, length - each.shape[1]))) for each in (sums, found)
        )
        sums += found
    return Tallies(*map(tuple, sums.tolist()))


def _add_up(
    rank: NDArray[np.int64], click: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    columns = (
        np.ones_like(click),
        click,
        weight,
        weight * weight,
        weight * click,
        weight * weight * click,
    )
    return np.array([np.bincount(rank, weights=column)[1:] for column in columns])


def estimate(found: Tallies, level: float, *, is_weighted: bool) -> ExaminationCurve:
    """Return the examination curve: the click-through rate of each rank relative to rank 1.

    Args:
        found: The sums over impressions.
        level: The confidence level of the intervals.
        is_weighted: Whether impressions have weights.

    Raises:
        EmptyError: There are no impressions, some rank has none, or rank 1 has no click.
    """
    _refuse_gaps(found)
    quantile = quantile_of(level)
    rates = [clicked / weight for clicked, weight in zip(found.clicked, found.weights, strict=True)]
    ends = [
        wilson(rate, _effective_count(found, at, rate), quantile) for at, rate in enumerate(rates)
    ]
    quotients = [
        (1.0, 1.0) if at == 0 else divide(rate, ends[at], rates[0], ends[0])
        for at, rate in enumerate(rates)
    ]
    return ExaminationCurve(
        {
            "rank": [*range(1, len(rates) + 1)],
            "impressions": [round(count) for count in found.impressions],
            "clicks": [round(count) for count in found.clicks],
            "effective": [
                weight * weight / square
                for weight, square in zip(found.weights, found.squares, strict=True)
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
    )


def _effective_count(found: Tallies, at: int, rate: float) -> float:
    """Return the number of impressions with weight 1 that would have the same uncertainty.

    The linearized variance of a weighted rate is the sum of (weight x (click - rate))^2 divided by
    the square of the sum of weights. Without clicks it is 0, so only the weights are used.
    """
    weight, square = found.weights[at], found.squares[at]
    squares = found.clicked_squares[at] * (1 - 2 * rate) + rate * rate * square
    by_weights = weight * weight / square
    if not 0 < rate < 1:
        return by_weights
    return rate * (1 - rate) * weight * weight / squares


def _refuse_gaps(found: Tallies) -> None:
    if not found.impressions:
        raise EmptyError(
            "there are no impressions",
            hint="pass one row for each document that was shown, clicked or not",
            code="empty_input",
        )
    empty = [rank for rank, count in enumerate(found.impressions, start=1) if count == 0]
    if empty:
        raise EmptyError(
            f"expected impressions at every rank down to {len(found.impressions)}, found none at "
            f"rank {empty[0]}",
            hint=f"write ranks={empty[0] - 1}" if empty[0] > 1 else "the first rank is 1",
            code="rank_gap",
        )
    if found.clicked[0] == 0:
        raise EmptyError(
            "there are no clicks at rank 1, with which the other ranks are compared",
            hint="use a longer log",
            code="no_clicks",
        )
