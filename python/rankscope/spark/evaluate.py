"""Evaluate data frames of Spark."""

from __future__ import annotations

from functools import partial

from rankscope._evaluate.query_values import read_slicing
from rankscope._evaluate.question import split_question
from rankscope._evaluate.settings import Settings
from rankscope.errors import RankscopeError, UsageError
from rankscope.settings.reading import Reading
from rankscope.spark.evaluation import (
    SparkAnswer,
    SparkEvaluation,
    make_evaluation,
    refuse_unmatched,
)
from rankscope.spark.frames import are_judged, list_grades, read_source, run_job
from rankscope.spark.jobs import OPTIONS, make_job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from rankscope.conventions import Convention
    from rankscope.measures.reading import Measures
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import ReadingOptions
    from rankscope.spark.frames import Source
    from rankscope.spark.parquet import Frame
    from rankscope.spark.tasks import Job


def evaluate(
    judgments: Frame,
    run: Frame | Measures | None = None,
    measures: Measures | None = None,
    *,
    by: str | Sequence[str] | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    partitions: int | None = None,
    strict: bool = False,
    **options: Unpack[ReadingOptions],
) -> SparkEvaluation:
    """Evaluate a run against judgments, or a table that has both, as data frames of Spark.

    The means, counts and values are those of `rankscope.evaluate` to the last bit, however the rows
    are spread over partitions.

    Args:
        judgments: A DataFrame with one row per judged document: query, document, grade. Columns are
            found by their usual names, as in `rankscope.evaluate`. Or a DataFrame whose rows have a
            grade and a score or a rank, followed by the measures. The rows of a query can be in
            different partitions.
        run: A DataFrame with one row per retrieved document: query, document, and score or rank.
        measures: One or more measures, or their names.
        by: One or more columns of `judgments` with attributes of the query. The result has `slices`
            by their values. All rows of a query must agree.
        policy: As in `rankscope.evaluate`, except `ties="input"`, which needs an order of rows.
        convention: As in `rankscope.evaluate`, but means are exact sums, also with trec_eval's.
        partitions: The number of partitions to evaluate queries in (default: two for each core).
        strict: As in `rankscope.evaluate`.
        **options: The columns, `duplicates` (except `"first"`) and `score_type`, as in
            `rankscope.evaluate`.

    Raises:
        UsageError: A measure, the policy or another argument is not one.
        InputError: A column is missing or holds invalid values, or there is nothing to evaluate.
    """
    reading = Reading.of("evaluate", options, known=OPTIONS)
    judged, given, wanted = split_question("evaluate", judgments, run, measures)
    slicing = read_slicing(by)
    if judged is None:
        sources = [read_source("joined", given, reading.columns, slicing)]
    else:
        sources = [
            read_source("judged", judged, reading.columns, slicing),
            read_source("retrieved", given, reading.columns),
        ]
    asked = Settings(measures=wanted, policy=policy, convention=convention)
    job = make_job(
        [each.rows for each in sources], partial(list_grades, sources[0]), asked, reading
    )
    return _evaluate(sources, job, partitions, strict=strict)


def _evaluate(
    sources: Sequence[Source], job: Job, partitions: int | None, *, strict: bool
) -> SparkEvaluation:
    if partitions is not None and (isinstance(partitions, bool) or partitions < 1):
        raise UsageError(
            f"expected partitions to be 1 or more, found {partitions!r}",
            hint="leave it out, and Spark decides",
            code="bad_parameter",
        )
    found, source = run_job(sources, job, partitions), sources[0].ids
    answer = SparkAnswer(found, source)
    try:
        if len(sources) > 1:
            refuse_unmatched(answer, found.merged, partial(are_judged, sources[0]))
        return make_evaluation(answer, found.merged, job, source, strict=strict)
    except RankscopeError:
        found.kept.unpersist()
        raise
