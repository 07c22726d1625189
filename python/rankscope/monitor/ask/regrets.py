"""What each document of logged rankings costs by its rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope._core import find_regrets as find_core_regrets
from rankscope._evaluate.rankings import Rankings
from rankscope._evaluate.settings import Settings
from rankscope._explain.ledger import take_settings
from rankscope._settings import Policy
from rankscope.measures import CG, DCG, Measure


@dataclass(frozen=True, slots=True)
class FoundRegrets:
    """The regrets of documents with a gain, of rankings that have an ideal.

    Args:
        queries: The place of the ranking of each.
        ranks: Its rank; 0 where it was not retrieved.
        grades: Its grade.
        regrets: What it costs, as a share of the ideal.
    """

    queries: NDArray[np.integer[Any]]
    ranks: NDArray[np.integer[Any]]
    grades: NDArray[np.float64]
    regrets: NDArray[np.float64]


def find_regrets(rankings: Rankings, measure: Measure, policy: Policy) -> FoundRegrets:
    """Find the regret of each document; empty rankings are left out.

    Raises:
        UsageError: The measure's loss is not that of documents.
    """
    summed = take_settings(DCG.row, measure) if measure.row == CG.row else measure
    left_out = replace(policy, empty="skip")
    request = Settings(measures=summed, policy=left_out).request(grades=rankings.grades)
    plan = request.plan(rankings.tie_policy)
    queries, ranks, grade, amounts, units = (
        np.frombuffer(memoryview(column), dtype=np.dtype(column.typecode))
        for column in find_core_regrets(rankings._core, plan)  # noqa: SLF001 - a part of it
    )
    counts = units[queries] > 0
    queries = queries[counts]
    return FoundRegrets(queries, ranks[counts], grade[counts], amounts[counts] / units[queries])
