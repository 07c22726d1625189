"""Compare runs that are data frames of Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Unpack

import rankscope as rs
from rankscope._compare.result import Comparison
from rankscope._conventions import Convention
from rankscope._evaluate.query_values import list_names, read_slicing
from rankscope._evaluate.settings import read_policy
from rankscope._explain.ledger import Accounts, Losses, Parts, check_policy, make_ledger
from rankscope._explain.losses import evaluate_parts
from rankscope._settings import Policy
from rankscope.errors import UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import Measures, read_measure
from rankscope.spark.evaluation import OPTIONS, SparkEvaluation, evaluate
from rankscope.spark.files import Frame

if TYPE_CHECKING:
    from rankscope._compare.compute import Options
    from rankscope._settings import ReadingOptions


def compare(
    judgments: Frame,
    runs: Mapping[str, Frame],
    measures: Measures,
    *,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    partitions: int | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Compare two or more runs that are data frames of Spark.

    Spark evaluates the runs. The value of each query is then collected, ordered by the text of the
    queries, and `rankscope.compare` tests the differences; so that must fit into the memory of the
    driver: 8 bytes for each query, run and measure.

    Args:
        judgments: As in `evaluate`.
        runs: A mapping of names to runs, each as in `evaluate`.
        measures: One or more measures, or their names.
        by: Columns of `judgments` with attributes of the query: also compare within their values.
        cluster: The column of `judgments` with what queries depend within, such as the user. A
            query whose value is null is a cluster of its own.
        policy: As in `evaluate`. `aggregate` must be `"mean"`.
        convention: As in `evaluate`.
        partitions: As in `evaluate`.
        **options: As in `evaluate`, and those of tests as in `rankscope.compare`.

    Raises:
        UsageError: A measure, the policy or another argument is not one.
        InputError: A column is missing or holds invalid values, or there is nothing to compare.
    """
    named: object = runs
    if not isinstance(named, Mapping) or len(named) < 2:
        problem = f"expected two or more runs by name, found {type(runs).__name__}"
        hint = "write {'bm25': run_a, 'dense': run_b}"
        raise UsageError(problem, hint=hint, code="bad_parameter")
    slicing = read_slicing(by)
    names = list_names(slicing, cluster)
    settings: dict[str, Any] = {"policy": policy, "convention": convention, "by": names}
    settings |= {name: value for name, value in options.items() if name in OPTIONS}
    testing: dict[str, Any] = {k: v for k, v in options.items() if k not in OPTIONS}
    with ExitStack() as stack:
        evaluations: dict[str, Any] = {}
        for name, run in runs.items():
            evaluation = evaluate(judgments, run, measures, partitions=partitions, **settings)
            evaluations[str(name)] = stack.enter_context(evaluation)
        attributes = None
        if names:
            first = next(iter(evaluations.values()))
            attributes = first.to_arrow().select([first.source.query.name, *names])
        return rs.compare(
            evaluations, by=slicing or None, cluster=cluster, attributes=attributes, **testing
        )


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
    policy = read_policy(policy)
    check_policy(policy)
    with ExitStack() as stack:

        def evaluate_under(measures: Sequence[Measure], policy: Policy) -> SparkEvaluation:
            settings: dict[str, Any] = {"by": by, "policy": policy, "partitions": partitions}
            return stack.enter_context(evaluate(judgments, run, measures, **settings, **options))

        values, lost = evaluate_parts(parts, policy, evaluate_under)
        return make_ledger(
            Accounts(
                parts=parts,
                values=values,
                losses=lost,
                stages={},
                observes_retrieval=parts.losses[0].parameters["ideal"] != "retrieved"
                and policy.unretrieved == "count",
            )
        )
