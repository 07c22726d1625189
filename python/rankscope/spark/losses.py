"""The losses of a run that is a data frame of Spark."""

from __future__ import annotations

from contextlib import ExitStack

from rankscope._evaluate.settings import read_policy
from rankscope.losses.compute import evaluate_parts
from rankscope.losses.difference import Accounts, Parts, check_policy, make_ledger
from rankscope.measures.reading import read_measure
from rankscope.spark.evaluate import evaluate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from rankscope.losses.result import Losses
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import ReadingOptions
    from rankscope.spark.evaluation import SparkEvaluation
    from rankscope.spark.parquet import Frame


def losses(
    judgments: Frame,
    run: Frame,
    measure: Measure | str,
    *,
    by: str | Sequence[str] | None = None,
    policy: Policy | str | None = None,
    partitions: int | None = None,
    **options: Unpack[ReadingOptions],
) -> Losses:
    """Split what each query lacks into losses by retrieval, truncation and ordering.

    As `Rankings.losses`, for data frames of Spark. The losses of each query are collected.

    Args:
        judgments: As in `evaluate`.
        run: As in `evaluate`.
        measure: nDCG, DCG or CG.
        by: As in `evaluate`.
        policy: As in `evaluate`.
        partitions: As in `evaluate`.
        **options: As in `evaluate`.

    Raises:
        UsageError: The measure, the policy or another argument is not one.
        InputError: A column is missing or holds invalid values, or there is nothing to evaluate.
    """
    parts = Parts.of(read_measure(measure))
    chosen = read_policy(policy)
    check_policy(chosen)
    with ExitStack() as stack:

        def evaluate_under(measures: Sequence[Measure], under: Policy) -> SparkEvaluation:
            return stack.enter_context(
                evaluate(
                    judgments, run, measures, by=by, policy=under, partitions=partitions, **options
                )
            )

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
