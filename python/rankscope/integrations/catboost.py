"""Measures of rankscope in CatBoost, after each iteration and for early stopping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import rankscope as rs
from rankscope.errors import UsageError
from rankscope.integrations._frames import GroupedMeasures, average_by_query

UNKNOWN = -1.0
"""The value of rows for training that CatBoost has shuffled. It doesn't accept NaN."""

if TYPE_CHECKING:
    import catboost


def make_eval_metric(
    measure: str | rs.Measure,
    pools: Sequence[catboost.Pool],
    *,
    policy: rs.Policy | str | None = None,
    convention: str | None = None,
) -> RankingMetric:
    """Make an `eval_metric` of CatBoost, which stops training and chooses the best model.

    CatBoost passes scores, labels and weights to a custom metric, but not the queries. The metric
    takes these from the pools, and recognizes each pool by its labels. Weights of queries
    (`group_weight`) count, and weights of rows don't, as in CatBoost's own ranking metrics.

    If there are categorical features, CatBoost shuffles the rows for training, and their queries
    are unknown. It then reports -1 for training, and the values for validation.

    Args:
        measure: The measure. CatBoost allows one custom metric.
        pools: The pool for training, then all validation pools, with their `group_id`.
        policy: As in `rankscope.evaluate`.
        convention: As in `rankscope.evaluate`. `"catboost"` gives the numbers of CatBoost's own
            `NDCG`.

    Raises:
        UsageError: The measure or the policy is not one, the measure doesn't say which of two
            rankings is better, a pool has no queries, or it can't tell two pools apart.
    """
    if not isinstance(measure, str | rs.Measure):
        raise UsageError(
            f"expected one measure, found {type(measure).__name__}: CatBoost allows one metric in "
            "Python",
            hint="evaluate other measures with staged_predict after training",
            code="usage",
        )
    if not isinstance(pools, list | tuple) or not pools:
        problem = f"expected a list of pools, found {type(pools).__name__}"
        raise UsageError(problem, hint="pass [pool_for_training, validation_pool]", code="usage")
    measures = GroupedMeasures(measure, policy, convention)
    return _make_metric(measures, [_read_pool(pool) for pool in pools])


@dataclass(frozen=True, slots=True)
class Rows:
    """The labels of a pool, the rows of each query, and whether weights are those of rows."""

    labels: NDArray[np.float32]
    sizes: NDArray[np.int64]
    has_row_weights: bool


class RankingMetric:
    """A custom metric as CatBoost calls it. CatBoost reports it under the name of its class."""

    no_jit = True  # otherwise CatBoost tries to compile it with numba, and warns where that fails

    def __init__(self, measures: GroupedMeasures, pools: list[Rows]) -> None:
        self._measures = measures
        self._pools = pools
        for pool, other in combinations(pools, 2):
            is_same = np.array_equal(pool.labels, other.labels)
            if is_same and not np.array_equal(pool.sizes, other.sizes):
                raise UsageError(
                    "two pools have the same labels, but different queries",
                    hint="CatBoost doesn't say which pool it evaluates, so make a metric for each "
                    "model with the pools of that model only",
                    code="same_labels",
                )

    def is_max_optimal(self) -> bool:
        """Return whether higher values are better."""
        return self._measures.measures[0].better == "higher"

    def evaluate(
        self,
        approxes: Sequence[NDArray[np.float64]],
        target: NDArray[np.float32],
        weight: NDArray[np.float32] | None,
    ) -> tuple[float, float]:
        """Return the mean of the measure over the queries of a pool, with a weight of 1.

        Raises:
            UsageError: The rows are of none of the pools.
        """
        rows = next((pool for pool in self._pools if np.array_equal(pool.labels, target)), None)
        if rows is None:
            if np.array_equal(np.sort(target), np.sort(self._pools[0].labels)):
                return UNKNOWN, 1.0  # the pool for training in another order
            raise UsageError(
                f"CatBoost evaluates {len(target)} rows that are of none of the "
                f"{len(self._pools)} pools of this metric",
                hint="pass the pool for training and then each validation pool to "
                "make_eval_metric, and the same pools to fit",
                code="unknown_pool",
            )
        weights = None
        if weight is not None and not rows.has_row_weights:
            weights = average_by_query(weight, rows.sizes)
        (value,) = self._measures.evaluate(target, approxes[0], rows.sizes, weights)
        return value, 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value from what `evaluate` returns."""
        return error / weight

    def __reduce__(self) -> tuple[object, ...]:
        return _make_metric, (self._measures, self._pools)


def _make_metric(measures: GroupedMeasures, pools: list[Rows]) -> RankingMetric:
    name = measures.measures[0].name
    metric: RankingMetric = type(name, (RankingMetric,), {})(measures, pools)
    return metric


def _read_pool(pool: catboost.Pool) -> Rows:
    groups = np.atleast_1d(pool.get_group_id_hash())
    if len(groups) < pool.num_row():
        problem = f"a pool of {pool.num_row()} rows has no queries"
        hint = "create it with Pool(X, y, group_id=query_ids)"
        raise UsageError(problem, hint=hint, code="no_groups")
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    weights = np.asarray(pool.get_weight())
    return Rows(
        labels=np.asarray(pool.get_label(), dtype=np.float32),
        sizes=np.diff(np.r_[starts, len(groups)]),
        has_row_weights=bool((weights != 1).any()),
    )
