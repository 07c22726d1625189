"""Evaluations in the trials of an Optuna study: means as attributes, and pruning by query."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import rankscope as rs
from rankscope.errors import UsageError

if TYPE_CHECKING:
    import optuna


def record_means(trial: optuna.Trial, evaluation: rs.Evaluation) -> None:
    """Record the mean of each measure as a user attribute of a trial, under its plain name.

    They are in `trial.user_attrs` and in the columns `user_attrs_ndcg_at_10` and so on of
    `study.trials_dataframe()`. The attribute `rankscope_policy` says how they were computed.

    Args:
        trial: The trial.
        evaluation: The evaluation, with any number of measures.
    """
    for name, value in evaluation.means(names="plain").items():
        trial.set_user_attr(name, value)
    trial.set_user_attr("rankscope_policy", str(evaluation.policy))


def report_queries(
    trial: optuna.Trial,
    evaluation: rs.Evaluation,
    measure: str | rs.Measure,
    *,
    queries: Iterable[object],
) -> bool:
    """Report the value of each query to the pruner, and return whether the trial is to stop.

    `optuna.pruners.WilcoxonPruner` then compares the trial with the best one query by query, so
    that easy and hard queries don't matter. Evaluate a batch of queries, or a fold, at a time. To
    stop a trial, return the mean so far: Optuna doesn't know the value of a trial that raises
    `TrialPruned`.

    Args:
        trial: The trial.
        evaluation: The evaluation of some of the queries.
        measure: The measure that the study optimizes.
        queries: All queries of the study, in an order that is the same in every trial. Optuna
            knows a query by its place.

    Raises:
        UsageError: The study goes in the wrong direction for the measure, or a query isn't one of
            `queries`.
    """
    measure = rs.parse(measure)
    _check_direction(trial, measure)
    places = {str(query): place for place, query in enumerate(queries)}
    values = evaluation.per_query(measure)
    for query, value in zip(evaluation.query_ids, values, strict=True):
        place = places.get(str(query))
        if place is None:
            problem = f"query {query!r} isn't one of the {len(places)} queries of the study"
            hint = "pass the queries of all folds or batches, in the same order in every trial"
            raise UsageError(problem, hint=hint, code="unknown_query")
        if not math.isnan(value):  # which the pruner can't compare
            trial.report(float(value), place)
    return bool(trial.should_prune())


def _check_direction(trial: optuna.Trial, measure: rs.Measure) -> None:
    study = getattr(trial, "study", None)  # a FixedTrial has none
    expected = {"higher": "maximize", "lower": "minimize"}.get(measure.better)
    if study is None or expected is None:
        return
    direction = study.direction.name.lower()
    if direction != expected:
        raise UsageError(
            f"the study would {direction} {measure}, of which {measure.better} values are better",
            hint=f'create_study(direction="{expected}")',
            code="wrong_direction",
        )
