"""The two documents of a list that would gain most if they changed places."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@record(frozen=True, slots=True)
class Swap:
    """Two ranks whose documents had better change places.

    Args:
        rank: The upper rank, from 1.
        other_rank: The lower rank.
        gained: What the value gains.
    """

    rank: int
    other_rank: int
    gained: float


def find_best_swap(
    gains: Sequence[float], discounts: Sequence[float], ideal: float = 1.0
) -> Swap | None:
    """Find the swap of two documents of a list that gains most.

    Two documents of gains g and h at ranks of discounts d and e gain (h - g)(d - e) / ideal, which
    is the |ΔnDCG| of LambdaRank (Burges et al., *Learning to rank with nonsmooth cost functions*,
    2006). It is exact for one swap; what several gain does not add up.

    Args:
        gains: The gain of each document of the whole list, in rank order.
        discounts: What a gain of 1 is worth at each of these ranks; 0 below the cutoff.
        ideal: What the value is divided by, such as IDCG.

    Returns:
        The swap, or one of several that gain the same; None where no swap gains anything.

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
        return (-1 if risen < 0 and fallen < 0 else 1) * risen * fallen / ideal

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
