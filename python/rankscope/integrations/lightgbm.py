"""Measures of rankscope in LightGBM, after each round and for early stopping.

The same object is `feval` of `lightgbm.train` and `lightgbm.cv`, and `eval_metric` of
`LGBMRanker.fit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rankscope as rs
from rankscope.integrations._frames import GroupedMeasures, average_by_query


def make_feval(
    measures: str | rs.Measure | Sequence[str | rs.Measure],
    *,
    policy: rs.Policy | str | None = None,
    convention: str | None = None,
) -> RankingMetric:
    """Make a metric for `feval` of `lightgbm.train` and `eval_metric` of `LGBMRanker.fit`.

    Rows with weights weigh their query by their mean, as in LightGBM's own metrics.

    Args:
        measures: One or more measures, such as `["nDCG@10", "AP@10"]`. Early stopping with
            `first_metric_only=True` looks at the first.
        policy: As in `rankscope.evaluate`.
        convention: As in `rankscope.evaluate`. `"lightgbm"` gives the numbers of LightGBM's own
            metrics.

    Raises:
        UsageError: A measure or the policy is not one, or a measure doesn't say which of two
            rankings is better.

    Examples:
        >>> metric = make_feval(["nDCG@10", "RR"])
        >>> metric([2, 0, 1], [0.3, 0.9, 0.1], None, [3])  # as LGBMRanker calls it
        [('nDCG@10', 0.66967181649423, True), ('RR', 0.5, True)]
    """
    return RankingMetric(GroupedMeasures(measures, policy, convention))


class RankingMetric:
    """A metric as LightGBM calls it, with two arguments when training and four in `LGBMRanker`."""

    def __init__(self, measures: GroupedMeasures) -> None:
        self._measures = measures

    def __call__(
        self, first: Any, second: Any, weight: Any = None, group: Any = None
    ) -> list[tuple[str, float, bool]]:
        """Return name, value and whether higher is better for each measure.

        Args:
            first: The scores from `lightgbm.train`, the grades from `LGBMRanker`.
            second: The dataset from `lightgbm.train`, the scores from `LGBMRanker`.
            weight: The weights of rows, from `LGBMRanker`.
            group: The number of rows of each query, from `LGBMRanker`.
        """
        grades, scores = first, second
        if hasattr(second, "get_label"):
            grades, scores = second.get_label(), first
            weight, group = second.get_weight(), second.get_group()
        weights = None if weight is None or group is None else average_by_query(weight, group)
        values = self._measures.evaluate(grades, scores, group, weights)
        return [
            (measure.name, value, measure.better == "higher")
            for measure, value in zip(self._measures.measures, values, strict=True)
        ]
