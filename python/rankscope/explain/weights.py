"""The weight of each rank, as the kernels have it."""

from __future__ import annotations

from rankscope import engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.measures import Measure

MOST_RANKS = 10_000


def weigh_ranks(measure: Measure, ranks: int) -> tuple[float, ...]:
    """Weigh the first ranks: what a gain of 1 at a rank adds to a discounted gain.

    Args:
        measure: DCG with the discount.
        ranks: How many ranks, from 1 on.

    Raises:
        MeasureError: A table of weights is shorter.
    """
    request = engine.read_request(
        measure @ ranks, None, convention=None, score_type=None, grades=[0.0, 1.0]
    )
    plan = engine.make_plan(request, "input", [0.0, 1.0], "error")
    # Of DCG there always are some.
    return tuple(plan.discounted(0, [1.0] * ranks, [*range(1, ranks + 1)]) or ())
