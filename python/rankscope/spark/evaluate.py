"""Evaluate data frames of Spark."""

from __future__ import annotations

from functools import partial

from rankscope._evaluate.evaluate_table import can_stream
from rankscope._evaluate.query_values import read_slicing
from rankscope._evaluate.question import refuse_single_precision, split_question
from rankscope._evaluate.settings import Settings, choose_ties
from rankscope.errors import PolicyError, UsageError
from rankscope.measures.reading import read_measures
from rankscope.settings.reading import ROLES, Reading
from rankscope.spark.evaluation import conclude
from rankscope.spark.frames import list_grades, read_source, run_job
from rankscope.spark.tasks import Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from rankscope.conventions import Convention
    from rankscope.measures.reading import Measures
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import ReadingOptions
    from rankscope.spark.evaluation import SparkEvaluation
    from rankscope.spark.parquet import Frame

OPTIONS = (*ROLES, "duplicates", "score_type")
"""How data frames can be read."""


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
    if partitions is not None and (isinstance(partitions, bool) or partitions < 1):
        raise UsageError(
            f"expected partitions to be 1 or more, found {partitions!r}",
            hint="leave it out, and Spark decides",
            code="bad_parameter",
        )
    judged, retrieved, measures = split_question("evaluate", judgments, run, measures)
    slicing = read_slicing(by)
    if judged is None:
        sources = [read_source("joined", retrieved, reading.columns, slicing)]
        refuse_single_precision(reading)
    else:
        sources = [
            read_source("judged", judged, reading.columns, slicing),
            read_source("retrieved", retrieved, reading.columns),
        ]
    settings = Settings(measures=measures, policy=policy, convention=convention)
    needs_grades = convention is not None or not can_stream(read_measures(measures)[0])
    request = settings.request(
        ties=choose_ties(has_documents="doc" in sources[0].rows.names) if judged is None else None,
        grades=list_grades(sources[0]) if needs_grades else [],
        score_type=reading.score_type,
    )
    for name, value, refused, hint in (
        ("ties", request.ties, "input", "order by ids with ties='doc_id', or take ties='average'"),
        ("duplicates", reading.duplicates, "first", "keep the larger number with duplicates='max'"),
    ):
        if value == refused:
            raise PolicyError(
                f"{name}='{refused}' depends on the order of rows, which Spark doesn't keep",
                hint=hint,
                code="row_order",
            )
    job = Job(
        request=request,
        rows={source.rows.side: source.rows for source in sources},
        duplicates=reading.duplicates,
    )
    return run_job(sources, job, partitions, partial(conclude, sources, job, strict=strict))
