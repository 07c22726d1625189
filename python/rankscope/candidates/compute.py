"""Correct values that were computed among sampled candidates."""

from __future__ import annotations

from collections.abc import Mapping

from rankscope.deferred import np
from rankscope.engine.requests import read_measures
from rankscope.errors import InputError, MeasureError, UsageError
from rankscope.evaluation.rankings import Rankings
from rankscope.inputs.tables import is_table
from rankscope.settings.policy import check_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray

    from rankscope.candidates.result import CorrectedRanks
    from rankscope.engine.requests import Measures
    from rankscope.measures import Measure

    Ranks = tuple[NDArray[np.int64], NDArray[np.int64]]

DEFAULT_MEASURES = ("nDCG@10", "R@10", "RR")
RECIPROCAL = ("AP", "RR")
LONGEST_CUTOFF = 1000
MOST_SAMPLED = 2000
PRIORS = ("fitted", "uniform")


def correct_sampled_ranks(
    ranks: ArrayLike | Rankings,
    *,
    items: int,
    sampled: int | None = None,
    measures: Measures = DEFAULT_MEASURES,
    prior: Literal["fitted", "uniform"] = "fitted",
    tradeoff: float = 0.1,
    level: float = 0.95,
) -> CorrectedRanks:
    """Estimate values over a whole catalogue from ranks among sampled candidates.

    Recommenders are often evaluated by ranking one relevant item among, say, 100 items drawn at
    random. Values of such lists are not those of ranking the whole catalogue, and can order systems
    differently (Krichene and Rendle, *On sampled metrics for item recommendation*, KDD 2020). This
    function gives each sampled rank the value with the smallest squared bias plus `tradeoff` times
    the variance, averaged over the ranks in the catalogue by how likely they are. The estimated
    mean rank is unbiased, the values are not. To be sure, rank all items.

    Args:
        ranks: The rank of the relevant item of each query among the sampled ones, from 1 to
            sampled + 1; or rankings in which each query has the same number of documents, one of
            them relevant.
        items: The number of items in the catalogue.
        sampled: The number of items that were sampled uniformly beside the relevant one (default:
            that of the rankings). Ranks alone don't tell it.
        measures: Measures with a cutoff up to 1,000, and AP and RR.
        prior: How likely each rank in the catalogue is: `"fitted"` to the sampled ranks (Li et al.,
            *On estimating recommendation evaluation metrics under sampling*, AAAI 2021), or
            `"uniform"` as in Krichene and Rendle, which makes good recommenders look worse.
        tradeoff: The weight of the variance, above 0 and up to 1. A small weight needs many
            queries.
        level: The confidence level of the intervals, which are over queries. They don't include
            the remaining bias.

    Raises:
        UsageError: An argument is out of range, or a measure can't be corrected.
        InputError: A rank is out of range, or rankings aren't samples of candidates.

    Examples:
        >>> found = correct_sampled_ranks([1, 3, 1, 12], items=2000, sampled=100, measures="R@10")
        >>> found["R@10"].among_sampled, round(found.mean_rank, 1)
        (0.75, 66.0)
        >>> round(found["R@10"].value, 2)
        0.44
    """
    from rankscope.candidates import estimate as stats  # noqa: PLC0415 - as above
    from rankscope.candidates.result import CorrectedMean, CorrectedRanks  # noqa: PLC0415 - loads late

    asked, _ = read_measures(measures)
    check_choice("prior", prior, PRIORS)
    if not 0 < level < 1:
        raise UsageError(
            f"expected level between 0 and 1, found {level!r}",
            hint="write 0.95 for 95 percent",
            code="bad_interval",
        )
    if not 0 < tradeoff <= 1:
        raise UsageError(
            f"expected tradeoff above 0 and up to 1, found {tradeoff!r}",
            hint="0.1 is the default",
            code="bad_parameter",
        )
    (first, last), size = _read_ranks(ranks, sampled)
    order = np.lexsort((last, first))
    first, last = first[order], last[order]
    if not size < items:
        raise UsageError(
            f"expected more items than the {size} sampled ones, found {items!r}",
            hint="items is the size of the whole catalogue",
            code="bad_parameter",
        )
    known = stats.list_ranks(items)
    chances = stats.find_chances(known.ranks, size, items)
    likely = known.counts / items
    if prior == "fitted":
        likely = stats.fit_prior(known, chances, stats.count_ranks(first, last, size))
    functions = [_find_values(measure) for measure in asked]
    values = np.column_stack([value_at(known.ranks) for value_at in functions])
    tuned = stats.tune_values(values, likely, chances, tradeoff)
    means = []
    for at, (measure, value_at) in enumerate(zip(asked, functions, strict=True)):
        among = value_at(np.arange(1.0, size + 2))
        found = stats.average_over_ranks(tuned[:, at], first, last, level)
        lowest, highest = float(values[:, at].min()), float(values[:, at].max())
        means.append(
            CorrectedMean(
                measure=measure,
                among_sampled=stats.average_over_ranks(among, first, last, level).value,
                value=found.value,
                lower=max(found.lower, lowest),
                upper=min(found.upper, highest),
            )
        )
    unbiased = 1 + (items - 1) * np.arange(size + 1.0) / size
    rank = stats.average_over_ranks(unbiased, first, last, level)
    return CorrectedRanks(
        means=tuple(means),
        mean_rank=rank.value,
        mean_rank_lower=max(rank.lower, 1.0),
        mean_rank_upper=min(rank.upper, float(items)),
        queries=len(first),
        sampled=size,
        items=int(items),
        level=level,
        tradeoff=tradeoff,
    )


def _read_ranks(ranks: ArrayLike | Rankings, sampled: int | None) -> tuple[Ranks, int]:
    """Return the first and last rank of each query's relevant item, and the sampled items."""
    if isinstance(ranks, Rankings):
        found, size = _rank_relevant(ranks)
        if sampled not in {None, size}:
            raise UsageError(
                f"expected sampled to be {size}, as in the rankings, found {sampled!r}",
                hint="leave it out",
                code="bad_parameter",
            )
        return found, size
    if is_table(ranks) or isinstance(ranks, Mapping):
        raise UsageError(
            "expected ranks or rankings, found a table",
            hint="pass Rankings.from_table(table)",
            code="input_type",
        )
    if sampled is None or not 1 <= sampled <= MOST_SAMPLED:
        raise UsageError(
            f"expected sampled from 1 to {MOST_SAMPLED:,}, found {sampled!r}",
            hint="it is the number of items drawn beside the relevant one, such as 100",
            code="bad_parameter",
        )
    given = np.asarray(ranks)
    is_good = given.ndim == 1 and given.dtype.kind in "iuf" and len(given) > 0
    if not is_good or not ((given >= 1) & (given <= sampled + 1) & (given % 1 == 0)).all():
        raise InputError(
            f"expected a list of ranks from 1 to {sampled + 1}",
            hint="the best rank is 1; the relevant item itself is ranked among the sampled ones",
            code="bad_rank",
        )
    whole = given.astype(np.int64)
    return (whole, whole), int(sampled)


def _rank_relevant(rankings: Rankings) -> tuple[Ranks, int]:
    """Return the ranks of the relevant documents, and the number of the other ones per query."""
    offsets, grades = rankings.offsets, rankings.relevance
    sizes = np.diff(offsets)
    queries = np.repeat(np.arange(len(sizes)), sizes)
    relevant = np.flatnonzero(grades > 0)
    is_sample = (
        len(sizes) > 0
        and (sizes == sizes[0]).all()
        and 1 < sizes[0] <= MOST_SAMPLED + 1
        and np.array_equal(queries[relevant], np.arange(len(sizes)))
    )
    if not is_sample:
        raise InputError(
            "expected the same number of documents in every query, one of them relevant",
            hint="pass the ranks of the relevant items, and sampled=",
            code="not_sampled",
        )
    size = int(sizes[0])
    first = last = relevant - offsets[:-1] + 1
    if rankings.tie_policy == "average":
        scores = rankings.scores.reshape(-1, size)
        own = rankings.scores[relevant][:, None]
        first = (scores > own).sum(axis=1) + 1
        last = (scores >= own).sum(axis=1)
    return (first, last), size - 1


def _find_values(measure: Measure) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return the function from the rank of a single relevant document to the value."""
    cutoff = measure.k
    if cutoff is None and measure.name in RECIPROCAL:
        return lambda ranks: 1 / ranks
    if cutoff is None or cutoff > LONGEST_CUTOFF:
        raise MeasureError(
            f"cannot correct {measure} for sampled candidates",
            hint=f"use AP, RR, or a measure with a cutoff up to {LONGEST_CUTOFF:,}: nDCG@10",
            code="bad_parameter",
        )
    lists = np.eye(cutoff + 1)
    values = Rankings.from_lists(lists.tolist()).evaluate(measure).per_query(measure)

    def value_at(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
        places = np.minimum(ranks, cutoff + 1).astype(np.int64) - 1
        return np.asarray(values[places])

    return value_at
