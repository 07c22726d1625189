"""Other orders of the same documents: the best, the worst, and the best swap."""

from __future__ import annotations

from rankscope.derivation.derive.swap import find_best_swap
from rankscope.derivation.explanation import BestSwap, Document, Order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.derivation.derive.counted import RankedDocuments
    from rankscope.derivation.derive.kernels import Kernels
    from rankscope.derivation.derive.query import RankedQuery
    from rankscope.measures import Measure


def find_extremes(
    query: RankedQuery,
    counted: RankedDocuments,
    weights: Sequence[float],
    measure: Measure,
    kernels: Kernels,
) -> tuple[Order, Order]:
    """Find the best and the worst order of the documents."""
    places = sorted(range(len(weights)), key=lambda place: -weights[place])
    removed = [query.grades[row] for row in counted.removed]

    def arrange(sign: int) -> Order:
        order = sorted(range(len(counted)), key=lambda place: sign * counted.gains[place])
        grades = [0.0] * len(counted)
        for place, document in zip(places, order, strict=True):
            grades[place] = counted.grades[document]
        value = kernels.value_of_order(measure, [*grades, *removed])
        return Order(value, tuple(grades[: measure.k]))

    return arrange(-1), arrange(1)


def find_swap(
    query: RankedQuery,
    counted: RankedDocuments,
    weights: Sequence[float],
    measure: Measure,
    kernels: Kernels,
    *,
    value: float,
) -> BestSwap | None:
    """Find the swap of two documents that gains most, if any swap gains."""
    found = find_best_swap(counted.gains, weights)
    if found is None:
        return None
    places = found.rank - 1, found.other_rank - 1
    upper, lower = (counted.rows[place] for place in places)
    grades = [*query.grades]
    grades[upper], grades[lower] = grades[lower], grades[upper]
    after = kernels.value_of_grades(measure, grades)
    if not after > value:
        return None
    documents = [
        Document(query.name(row), query.grades[row], counted.gains[place], place + 1)
        for row, place in zip((upper, lower), places, strict=True)
    ]
    return BestSwap(documents[0], documents[1], after, after - value)
