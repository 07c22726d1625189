"""Compare runs that are data frames of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

import rankscope as rs
from rankscope._evaluate.query_values import list_names, read_slicing
from rankscope.errors import UsageError
from rankscope.spark.evaluate import OPTIONS, evaluate

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
    named: object = runs
    if not isinstance(named, Mapping) or len(named) < 2:
        raise UsageError(
            f"expected two or more runs by name, found {type(runs).__name__}",
            hint="write {'bm25': run_a, 'dense': run_b}",
            code="bad_parameter",
        )
    slicing = read_slicing(by)
    names = list_names(slicing, cluster)
    reading = {name: value for name, value in options.items() if name in OPTIONS}
    testing: dict[str, Any] = {k: v for k, v in options.items() if k not in reading}
    choices: dict[str, Any] = {"policy": policy, "convention": convention, **reading}
    with ExitStack() as stack:
        evaluations: dict[str, Any] = {}
        for name, run in runs.items():
            evaluation = evaluate(
                judgments, run, measures, by=names, partitions=partitions, **choices
            )
            evaluations[str(name)] = stack.enter_context(evaluation)
        attributes = None
        if names:
            first = next(iter(evaluations.values()))
            attributes = first.to_arrow().select([first.source.query.name, *names])
        return rs.compare(
            evaluations, by=slicing or None, cluster=cluster, attributes=attributes, **testing
        )
