"""Evaluate data frames of Spark."""

from __future__ import annotations

from functools import partial

from rankscope.errors import UsageError
from rankscope.evaluation.evaluate_table import read_slicing
from rankscope.settings.reading import read_columns
from rankscope.spark.evaluation import SparkAnswer, SparkEvaluation, make_evaluation
from rankscope.spark.frames import list_grades, read_source, run_job
from rankscope.spark.jobs import make_job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.conventions import Convention
    from rankscope.engine.requests import Measures
    from rankscope.settings.policy import Duplicates, Policy, ScoreType, Ties
    from rankscope.spark.frames import Source
    from rankscope.spark.parquet import Frame
    from rankscope.spark.tasks import Job


def evaluate(
    qrels: Frame,
    run: Frame,
    measures: Measures,
    *,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    columns: Mapping[str, str] | None = None,
    by: str | Sequence[str] | None = None,
    duplicates: Duplicates = "error",
    score_type: ScoreType | None = None,
    partitions: int | None = None,
    strict: bool = False,
) -> SparkEvaluation:
    """Evaluate a run against judgments, both as data frames of Spark.

    The means, counts and values are those of `rankscope.evaluate` to the last bit, however the rows
    are spread over partitions.

    Args:
        qrels: A DataFrame with one row per judged document: query, document, grade. Columns are
            found by their usual names, as in `rankscope.evaluate`.
        run: A DataFrame with one row per retrieved document: query, document, and score or rank.
        measures: One or more measures, or their names.
        policy: As in `rankscope.evaluate`, except `ties="input"`, which needs an order of rows.
        convention: As in `rankscope.evaluate`.
        columns: As in `rankscope.evaluate`.
        by: One or more columns of `qrels` with attributes of the query. The result has `slices` by
            their values. All rows of a query must agree.
        duplicates: As in `rankscope.evaluate`, except `"first"`.
        score_type: As in `rankscope.evaluate`.
        partitions: The number of partitions to evaluate queries in (default: two for each core).
        strict: As in `rankscope.evaluate`.

    Raises:
        UsageError: A measure, the policy or another argument is not one.
        InputError: A column is missing or holds invalid values, or there is nothing to evaluate.
    """
    named = read_columns(columns)
    judged = read_source("judged", qrels, named, read_slicing(by))
    retrieved = read_source("retrieved", run, named)
    job = make_job(
        [judged.rows, retrieved.rows],
        partial(list_grades, judged),
        measures,
        policy,
        duplicates,
        convention=convention,
        score_type=score_type,
    )
    return _evaluate([judged, retrieved], job, partitions, strict=strict)


def evaluate_table(
    table: Frame,
    measures: Measures,
    *,
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    by: str | Sequence[str] | None = None,
    ties: Ties | None = None,
    policy: Policy | str | None = None,
    duplicates: Duplicates = "error",
    partitions: int | None = None,
    strict: bool = False,
) -> SparkEvaluation:
    """Evaluate a data frame of Spark whose rows hold a score, or a rank, and a grade.

    The means, counts and values are those of `rankscope.evaluate_table` to the last bit, however
    the rows are spread over partitions.

    Args:
        table: The DataFrame. The rows of a query can be in different partitions.
        measures: One or more measures, or their names.
        query: As in `rankscope.evaluate_table`.
        doc: As in `rankscope.evaluate_table`.
        relevance: As in `rankscope.evaluate_table`.
        score: As in `rankscope.evaluate_table`.
        rank: As in `rankscope.evaluate_table`.
        by: As in `rankscope.evaluate_table`.
        ties: As in `rankscope.evaluate_table`, except `"input"`.
        policy: As in `rankscope.evaluate`.
        duplicates: As in `rankscope.evaluate`, except `"first"`.
        partitions: The number of partitions to evaluate queries in (default: two for each core).
        strict: As in `rankscope.evaluate`.

    Raises:
        UsageError: A measure, the policy or another argument is not one.
        InputError: A column is missing or holds invalid values, or there is nothing to evaluate.
    """
    names = {"query": query, "doc": doc, "relevance": relevance, "score": score, "rank": rank}
    joined = read_source("joined", table, names, read_slicing(by))
    job = make_job(
        [joined.rows], partial(list_grades, joined), measures, policy, duplicates, ties=ties
    )
    return _evaluate([joined], job, partitions, strict=strict)


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
    return make_evaluation(
        SparkEvaluation, SparkAnswer(found, source), found.merged, job, source, strict=strict
    )
