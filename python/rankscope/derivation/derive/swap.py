"""Other orders of the same documents: the best swap, the best order and the worst."""

from __future__ import annotations

from rankscope.derivation.explanation import BestSwap, Document, Order
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.derivation.derive.kernels import Kernels
    from rankscope.derivation.derive.query import RankedDocuments
    from rankscope.measures import Measure


@record(frozen=True, slots=True)
class Swap:
    """Two ranks whose documents should change places.

    Args:
        rank: The upper rank, from 1.
        other_rank: The lower rank.
        gained: What the value gains.
    """

    rank: int
    other_rank: int
    gained: float


def find_best_swap(gains: Sequence[float], discounts: Sequence[float]) -> Swap | None:
    """Find the swap of two documents of a list that gains most.

    Two documents of gains g and h at ranks of discounts d and e gain (h - g)(d - e), which
    is the |ΔDCG| of LambdaRank (Burges et al., *Learning to rank with nonsmooth cost functions*,
    2006). It is exact for one swap; what several gain does not add up.

    Examples:
        >>> find_best_swap([0, 3, 2, 3], [1.0, 0.5, 0.25, 0.125])
        Swap(rank=1, other_rank=4, gained=2.625)
        >>> find_best_swap([3, 2, 1], [1.0, 0.5, 0.25]) is None
        True
    """
    # Either partner is worth trying only if none of a better gain stands at as good a discount.
    upper: list[int] = []
    for index in sorted(range(len(gains)), key=lambda index: (gains[index], -discounts[index])):
        if not upper or discounts[index] > discounts[upper[-1]]:
            upper.append(index)
    lower: list[int] = []
    for index in sorted(range(len(gains)), key=lambda index: (-gains[index], discounts[index])):
        if not lower or discounts[index] < discounts[lower[-1]]:
            lower.append(index)
    lower.reverse()

    def gain(one: int, other: int) -> float:
        risen, fallen = gains[other] - gains[one], discounts[one] - discounts[other]
        # Two negative differences are the same swap, named the other way round.
        return (-1 if risen < 0 and fallen < 0 else 1) * risen * fallen

    # Along both, better gains go with better discounts: the partner of a later one is a later one,
    # so that each halving leaves less to try.
    best = Swap(0, 0, 0.0)
    parts = [(0, len(upper), 0, len(lower) - 1)]
    while parts:
        start, end, first, last = parts.pop()
        if start == end or first > last:
            continue
        middle = (start + end) // 2
        one = upper[middle]
        at = max(range(first, last + 1), key=lambda at: gain(one, lower[at]))
        if gain(one, lower[at]) > best.gained:
            best = Swap(one + 1, lower[at] + 1, gain(one, lower[at]))
        parts += [(start, middle, first, at), (middle + 1, end, at, last)]
    return best if best.gained > 0 else None


def find_extremes(
    counted: RankedDocuments, weights: Sequence[float], measure: Measure, kernels: Kernels
) -> tuple[Order, Order]:
    """Find the best and the worst order of the documents."""
    places = sorted(range(len(weights)), key=lambda place: -weights[place])
    removed = [kernels.query.grades[row] for row in counted.removed]

    def arrange(sign: int) -> Order:
        order = sorted(range(len(counted)), key=lambda place: sign * counted.gains[place])
        grades = [0.0] * len(counted)
        for place, document in zip(places, order, strict=True):
            grades[place] = counted.grades[document]
        value = kernels.value_of_order(measure, [*grades, *removed])
        return Order(value, tuple(grades[: measure.k]))

    return arrange(-1), arrange(1)


def find_swap(
    counted: RankedDocuments, weights: Sequence[float], measure: Measure, kernels: Kernels
) -> BestSwap | None:
    """Find the swap of two documents that gains most, if any swap gains."""
    found = find_best_swap(counted.gains, weights)
    if found is None:
        return None
    query, value = kernels.query, kernels.values([measure])[0]
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
