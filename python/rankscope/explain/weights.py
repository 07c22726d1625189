"""The weight of each rank, as the kernels have it."""

from __future__ import annotations

from rankscope import _core, engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.measures import Measure

MOST_RANKS = 2_000


def weigh_ranks(measure: Measure, ranks: int) -> tuple[float, ...]:
    """Weigh the first ranks: what a gain of 1 at a rank adds to a discounted gain.

    Args:
        measure: DCG with the discount.
        ranks: How many ranks, from 1 on.

    Raises:
        MeasureError: A table of weights is shorter.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    request = engine.read_request(
        measure @ ranks, None, convention=None, score_type=None, grades=[0.0, 1.0]
    )
    # A list a rank, with a document of gain 1 at that rank and none of gain above it.
    sizes = np.arange(1, ranks + 1)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    grades = np.zeros(int(offsets[-1]))
    grades[offsets[1:] - 1] = 1.0
    lists = _core.Rankings.from_groups(offsets, grades, np.zeros_like(grades), None, "input", 1)
    plan = engine.make_plan(request, "input", [0.0, 1.0], "error")
    return tuple(memoryview(lists.evaluate(plan, 1).values(0)).cast("d"))
