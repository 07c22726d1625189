"""Measures of rankscope in XGBoost, after each round and for early stopping."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from numpy.typing import ArrayLike

import rankscope as rs
from rankscope.errors import UsageError
from rankscope.integrations._frames import GroupedMeasures, average_by_query, require

if TYPE_CHECKING:
    import xgboost


def make_train_arguments(
    measures: str | rs.Measure | Sequence[str | rs.Measure],
    *,
    policy: rs.Policy | str | None = None,
    convention: str | None = None,
) -> TrainArguments:
    """Make the arguments `custom_metric` and `maximize` of `xgboost.train` and `xgboost.cv`.

    XGBoost minimizes a custom metric unless `maximize=True` says otherwise, so pass both:
    `xgboost.train(…, early_stopping_rounds=10, **make_train_arguments("nDCG@10"))`. Weights of
    queries count as in XGBoost's own metrics.

    Args:
        measures: One or more measures, such as `["nDCG@10", "AP@10"]`. The first one decides when
            to stop; it is reported last, because that is the metric that XGBoost stops by.
        policy: As in `rankscope.evaluate`.
        convention: As in `rankscope.evaluate`. `"xgboost"` gives the numbers of XGBoost's own
            metrics.

    Raises:
        UsageError: A measure or the policy is not one, or a measure doesn't say which of two
            rankings is better.

    Examples:
        >>> make_train_arguments("nDCG@10")["maximize"]
        True
        >>> make_train_arguments("OrderingLoss@10")["maximize"]
        False
    """
    metric = RankingMetric(GroupedMeasures(measures, policy, convention))
    return {"custom_metric": metric, "maximize": metric.maximize}


def make_callback(
    measures: str | rs.Measure | Sequence[str | rs.Measure],
    validation: xgboost.DMatrix,
    *,
    rounds: int,
    save_best: bool = False,
    policy: rs.Policy | str | None = None,
    convention: str | None = None,
) -> xgboost.callback.EarlyStopping:
    """Make a callback for `XGBRanker` that evaluates after each round and stops early.

    `XGBRanker` calls its `eval_metric` with one query at a time and weights the values by the
    number of documents, so a measure can't be passed there. Pass this callback as
    `XGBRanker(callbacks=[callback])`, without `early_stopping_rounds`. Its `history` has the
    values of each measure by name. Make a new callback for each call of `fit`.

    Args:
        measures: One or more measures. The first one decides when to stop.
        validation: The data to evaluate, with `qid` or `group`.
        rounds: The number of rounds without improvement after which training stops.
        save_best: Whether to keep only the rounds up to the best one.
        policy: As in `rankscope.evaluate`.
        convention: As in `rankscope.evaluate`.

    Raises:
        UsageError: XGBoost is not installed, a measure or the policy is not one, or a measure
            doesn't say which of two rankings is better.
    """
    early_stopping = require("xgboost.callback").EarlyStopping
    metric = RankingMetric(GroupedMeasures(measures, policy, convention))

    class EvaluateRanking(early_stopping):  # type: ignore[misc, valid-type] # loaded when used
        """Evaluates the model, and lets XGBoost's own callback decide whether to stop."""

        def __init__(self) -> None:
            super().__init__(
                rounds=rounds,
                metric_name=metric.names[0],
                data_name="validation",
                maximize=metric.maximize,
                save_best=save_best,
            )
            self.history: dict[str, list[float]] = {}

        def after_iteration(self, model: xgboost.Booster, epoch: int, evals_log: object) -> bool:  # noqa: ARG002 - it has no values of ours
            scores = model.predict(validation, output_margin=True)
            for name, value in reversed(metric(scores, validation)):
                self.history.setdefault(name, []).append(value)
            return bool(super().after_iteration(model, epoch, {"validation": self.history}))

    return EvaluateRanking()


class RankingMetric:
    """A custom metric as XGBoost calls it."""

    def __init__(self, measures: GroupedMeasures) -> None:
        self._measures = measures
        self.__name__ = "rankscope"  # which XGBRanker asks for
        self.names = [_name(measure) for measure in measures.measures]
        self.maximize = measures.measures[0].better == "higher"

    def __call__(self, scores: ArrayLike, matrix: xgboost.DMatrix) -> list[tuple[str, float]]:
        """Return the name and the value of each measure, the first one last.

        Raises:
            UsageError: `XGBRanker` calls this for a single query, or the data have no queries.
        """
        if not hasattr(matrix, "get_label"):
            raise UsageError(
                "XGBRanker evaluates eval_metric for each query alone, and weights the values by "
                "the number of documents",
                hint="pass XGBRanker(callbacks=[make_callback(…)]) instead of eval_metric, or use "
                "xgboost.train",
                code="one_query",
            )
        sizes = matrix.get_group()
        rows = matrix.get_weight()
        weights = None
        if len(rows):
            # XGBoost has one weight per query here, unless they were set row by row.
            by_row = len(rows) != len(sizes)
            weights = average_by_query(rows, sizes) if by_row else rows.tolist()
        values = self._measures.evaluate(matrix.get_label(), scores, sizes, weights)
        return [*zip(self.names, values, strict=True)][::-1]


def _name(measure: rs.Measure) -> str:
    """Return a name that survives the lines of text in which XGBoost passes values on."""
    return measure.plain_name if re.search(r"[\s:]", measure.name) else measure.name


class TrainArguments(TypedDict):
    """The arguments of `xgboost.train` that evaluate a measure and say which way it goes."""

    custom_metric: RankingMetric
    maximize: bool
