"""Compare runs that are data frames of Spark."""

from __future__ import annotations

from collections.abc import Mapping

import rankscope as rs
from rankscope.errors import UsageError
from rankscope.evaluation.evaluate_table import read_slicing
from rankscope.spark.evaluate import evaluate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from rankscope.comparison.compute import Testing
    from rankscope.comparison.result import Comparison
    from rankscope.conventions import Convention
    from rankscope.engine.requests import Measures
    from rankscope.settings.policy import Duplicates, Policy, ScoreType
    from rankscope.spark.parquet import Frame


def compare(
    qrels: Frame,
    runs: Mapping[str, Frame],
    measures: Measures,
    *,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    columns: Mapping[str, str] | None = None,
    duplicates: Duplicates = "error",
    score_type: ScoreType | None = None,
    partitions: int | None = None,
    **testing: Unpack[Testing],
) -> Comparison:
    """Compare two or more runs that are data frames of Spark.

    Spark evaluates the runs. The value of each query is then collected, ordered by the text of the
    queries, and `rankscope.compare` tests the differences; so that must fit into the memory of the
    driver: 8 bytes for each query, run and measure.

    Args:
        qrels: As in `evaluate`.
        runs: A mapping of names to runs, each as in `evaluate`.
        measures: One or more measures, or their names.
        by: Columns of `qrels` with attributes of the query: also compare within their values.
        cluster: The column of `qrels` with what queries depend within, such as the user. A query
            whose value is null is a cluster of its own.
        policy: As in `evaluate`. `aggregate` must be `"mean"`.
        convention: As in `evaluate`.
        columns: As in `evaluate`.
        duplicates: As in `evaluate`.
        score_type: As in `evaluate`.
        partitions: As in `evaluate`.
        **testing: As in `rankscope.compare`.

    Raises:
        UsageError: A measure, the policy or another argument is not one.
        InputError: A column is missing or holds invalid values, or there is nothing to compare.
    """
    held: object = runs
    if not isinstance(held, Mapping) or len(held) < 2:
        raise UsageError(
            f"expected two or more runs by name, found {type(runs).__name__}",
            hint="write {'bm25': run_a, 'dense': run_b}",
            code="bad_parameter",
        )
    slicing = read_slicing(by)
    wanted = list(dict.fromkeys([*slicing, *([cluster] if cluster is not None else [])]))
    evaluations = {
        str(name): evaluate(
            qrels,
            run,
            measures,
            policy=policy,
            convention=convention,
            columns=columns,
            by=wanted,
            duplicates=duplicates,
            score_type=score_type,
            partitions=partitions,
        )
        for name, run in runs.items()
    }
    try:
        first = next(iter(evaluations.values()))
        attributes = None
        if wanted:
            rows = first.to_arrow()
            attributes = rows.select([first.source.query.name, *wanted])
        return rs.compare(
            dict(evaluations), by=slicing or None, cluster=cluster, attributes=attributes, **testing
        )
    finally:
        for each in evaluations.values():
            each.unpersist()
