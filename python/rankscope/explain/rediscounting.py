"""What becomes of runs when the discount is another one."""

from __future__ import annotations

from rankscope.errors import MeasureError
from rankscope.explain.orders import correlate_orders, find_exchanged, order
from rankscope.measures import DCG, nDCG
from rankscope.results.discount_comparison import Disagreement, DiscountComparison, Exchange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankscope.explain.discounts import Settings
    from rankscope.measures import Measure
    from rankscope.results import Evaluation

    Pairs = Mapping[str, tuple[Measure, Measure]]
    Values = dict[str, dict[str, float]]


def pair_measures(
    measure: Measure, discounts: Mapping[str, Settings]
) -> dict[str, tuple[Measure, Measure]]:
    """Give nDCG and DCG under each discount.

    Args:
        measure: nDCG, whose discount is exchanged.
        discounts: The discounts by name.

    Raises:
        MeasureError: It is another measure, or has a discount of its own.
    """
    if measure.row is not nDCG.row or {"discount", "base", "s"} & measure.settings.keys():
        raise MeasureError(
            f"expected nDCG without a discount of its own, found {measure}",
            hint="write nDCG @ 10; the discounts are compared by themselves",
            code="bad_parameter",
        )
    given = measure.settings
    shared = {name: given[name] for name in given if name != "ideal"}
    return {
        name: (nDCG(**given, **settings), DCG(**shared, **settings))
        for name, settings in discounts.items()
    }


def compare(
    measure: Measure, pairs: Pairs, evaluations: Mapping[str, Evaluation]
) -> DiscountComparison:
    """Compare runs under each discount.

    Args:
        measure: nDCG as it was asked for.
        pairs: By discount, nDCG and DCG.
        evaluations: By run, the values of all of them.
    """
    ndcg, dcg = (
        {
            name: {run: evaluation[pair[at]] for run, evaluation in evaluations.items()}
            for name, pair in pairs.items()
        }
        for at in (0, 1)
    )
    _, plain = next(iter(pairs.values()))
    return DiscountComparison(
        (str(measure), str(plain)),
        ndcg,
        dcg,
        orders={name: order(values) for name, values in ndcg.items()},
        tau={
            one: {other: correlate_orders(ndcg[one], ndcg[other]) for other in ndcg} for one in ndcg
        },
        exchanges=[*_find_exchanges(ndcg)],
        disagreements=[*_find_disagreements(ndcg, dcg)],
        notes=[*dict.fromkeys(note for each in evaluations.values() for note in each.notes)],
    )


def _find_exchanges(ndcg: Values) -> Iterator[Exchange]:
    first = next(iter(ndcg.values()))
    for name, values in ndcg.items():
        for better, worse in find_exchanged(first, values):
            gap, former = (of[better] - of[worse] for of in (values, first))
            yield Exchange(name, better, worse, gap, former)


def _find_disagreements(ndcg: Values, dcg: Values) -> Iterator[Disagreement]:
    for name, values in ndcg.items():
        by_ndcg, by_dcg = order(values)[0], order(dcg[name])[0]
        if set(by_ndcg).isdisjoint(by_dcg):
            yield Disagreement(name, by_ndcg, by_dcg)
