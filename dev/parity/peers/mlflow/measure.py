"""Ask MLflow: `… -m dev.parity.peers.mlflow.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
from mlflow.metrics import ndcg_at_k, precision_at_k, recall_at_k

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mlflow.models import EvaluationMetric

    from dev.parity.answers import Found
    from dev.parity.cases import Case

CUTOFFS = (1, 3, 5, 10)
METRICS = {"nDCG": ndcg_at_k, "P": precision_at_k, "R": recall_at_k}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for its metrics of retrieval, a row for each judged query."""
    answers = Answers(
        "mlflow",
        "mlflow",
        "metrics.ndcg_at_k(k).eval_fn(predictions, targets), the documents with a grade above 0 as "
        "targets",
    )
    for case in cases:
        predictions = pd.Series([case.ranked(query) for query in case.qrels])
        targets = pd.Series([case.relevant(query) for query in case.qrels])
        for name, metric in METRICS.items():
            for k in CUTOFFS:
                rows = partial(evaluate, case, at(name, k), metric(k), predictions, targets)
                answers.ask_at_once(case, [at(name, k)], rows)
    yield answers


def evaluate(
    case: Case, name: str, metric: EvaluationMetric, predictions: pd.Series, targets: pd.Series
) -> Found:
    """Evaluate one metric: its mean, and its values by row."""
    value = metric.eval_fn(predictions, targets)
    values = dict(zip(case.qrels, value.scores, strict=True))
    return {name: (value.aggregate_results["mean"], values)}


if __name__ == "__main__":
    publish(measure)
