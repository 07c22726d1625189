"""The losses of a run that is a data frame of Spark."""

from __future__ import annotations

from rankscope.engine.requests import read_measure, read_policy
from rankscope.losses.compute import evaluate_parts
from rankscope.losses.difference import Accounts, Parts, check_policy, make_ledger
from rankscope.spark.evaluate import evaluate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.losses.result import Losses
    from rankscope.measures import Measure
    from rankscope.settings.policy import Duplicates, Policy, ScoreType
    from rankscope.spark.evaluation import SparkEvaluation
    from rankscope.spark.parquet import Frame


def losses(
    qrels: Frame,
    run: Frame,
    measure: Measure | str,
    *,
    policy: Policy | str | None = None,
    columns: Mapping[str, str] | None = None,
    by: str | Sequence[str] | None = None,
    duplicates: Duplicates = "error",
    score_type: ScoreType | None = None,
    partitions: int | None = None,
) -> Losses:
    """Split what each query lacks into losses by retrieval, truncation and ordering.

    As `Rankings.losses`, for data frames of Spark. The losses of each query are collected.

    Args:
        qrels: As in `evaluate`.
        run: As in `evaluate`.
        measure: nDCG, DCG or CG.
        policy: As in `evaluate`.
        columns: As in `evaluate`.
        by: As in `evaluate`.
        duplicates: As in `evaluate`.
        score_type: As in `evaluate`.
        partitions: As in `evaluate`.

    Raises:
        UsageError: The measure, the policy or another argument is not one.
        InputError: A column is missing or holds invalid values, or there is nothing to evaluate.
    """
    parts = Parts.of(read_measure(measure))
    chosen = read_policy(policy)
    check_policy(chosen)
    made: list[SparkEvaluation] = []

    def evaluate_under(measures: Sequence[Measure], under: Policy) -> SparkEvaluation:
        made.append(
            evaluate(
                qrels,
                run,
                measures,
                policy=under,
                columns=columns,
                by=by,
                duplicates=duplicates,
                score_type=score_type,
                partitions=partitions,
            )
        )
        return made[-1]

    try:
        values, lost = evaluate_parts(parts, chosen, evaluate_under)
        return make_ledger(
            Accounts(
                parts=parts,
                values=values,
                losses=lost,
                stages={},
                observes_retrieval=parts.losses[0].parameters["ideal"] != "retrieved"
                and chosen.unretrieved == "count",
            )
        )
    finally:
        for each in made:
            each.unpersist()
