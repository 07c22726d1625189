"""Compare runs that are data frames of Spark."""

from __future__ import annotations

from collections.abc import Mapping

import rankscope as rs
from rankscope._evaluate.query_values import read_slicing
from rankscope.errors import UsageError
from rankscope.spark.evaluate import evaluate
from rankscope.spark.jobs import OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Unpack

    from rankscope._compare.compute import Options
    from rankscope._compare.result import Comparison
    from rankscope.conventions import Convention
    from rankscope.measures.reading import Measures
    from rankscope.settings.policy import Policy
    from rankscope.spark.parquet import Frame


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
    held: object = runs
    if not isinstance(held, Mapping) or len(held) < 2:
        raise UsageError(
            f"expected two or more runs by name, found {type(runs).__name__}",
            hint="write {'bm25': run_a, 'dense': run_b}",
            code="bad_parameter",
        )
    slicing = read_slicing(by)
    reading = {name: value for name, value in options.items() if name in OPTIONS}
    testing: dict[str, Any] = {k: v for k, v in options.items() if k not in reading}
    wanted = list(dict.fromkeys([*slicing, *([cluster] if cluster is not None else [])]))
    evaluations = {
        str(name): evaluate(
            judgments,
            run,
            measures,
            policy=policy,
            convention=convention,
            by=wanted,
            partitions=partitions,
            **reading,  # type: ignore[arg-type]  # some of `options`
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
