"""Evaluate data frames of Spark."""

from __future__ import annotations

from rankscope import engine
from rankscope.data.policy import Policy
from rankscope.data.qrels import Queries
from rankscope.errors import UsageError
from rankscope.spark.evaluation import SparkAnswer, SparkEvaluation, tabulate_slices
from rankscope.spark.frames import (
    check_order,
    list_grades,
    read_joined,
    read_judged,
    read_retrieved,
    run_job,
)
from rankscope.spark.tasks import Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.conventions import Convention
    from rankscope.data.policy import Duplicates, ScoreType, Ties
    from rankscope.engine import Measures, Request
    from rankscope.spark.frames import Frame, Source


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
    check_order(None, duplicates)
    named = engine.read_columns(columns)
    judged = read_judged(qrels, named, read_slicing(by))
    retrieved = read_retrieved(run, named)
    asked, _ = engine.read_measures(measures)
    grades = []
    if convention is not None or not engine.can_stream(asked):
        grades = list_grades(judged)
    request = engine.read_request(
        measures, policy, convention=convention, score_type=score_type, grades=grades
    )
    job = _make_job([judged, retrieved], request, duplicates, grades)
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
    check_order(ties, duplicates)
    names = {"query": query, "doc": doc, "relevance": relevance, "score": score, "rank": rank}
    joined = read_joined(table, names, read_slicing(by))
    asked, _ = engine.read_measures(measures)
    grades = [] if engine.can_stream(asked) else list_grades(joined)
    request = engine.read_request(
        measures,
        policy,
        default=Policy(ties=ties or "average"),
        convention=None,
        score_type=None,
        grades=grades,
    )
    job = _make_job([joined], request, duplicates, grades)
    return _evaluate([joined], job, partitions, strict=strict)


def _make_job(
    sources: Sequence[Source], request: Request, duplicates: Duplicates, grades: Sequence[float]
) -> Job:
    check_order(request.ties, duplicates)
    return Job(
        request=request,
        rows={source.rows.side: source.rows for source in sources},
        duplicates=duplicates,
        grades=tuple(grades),
    )


def _evaluate(
    sources: Sequence[Source], job: Job, partitions: int | None, *, strict: bool
) -> SparkEvaluation:
    if partitions is not None and (isinstance(partitions, bool) or partitions < 1):
        raise UsageError(
            f"expected partitions to be 1 or more, found {partitions!r}",
            hint="leave it out, and Spark decides",
            code="bad_parameter",
        )
    request, source = job.request, sources[0].ids
    found = run_job(sources, job, partitions)
    answer = SparkAnswer(found.summary, found.rows, found.kept, found.folder, source)
    notes = found.notes
    if "relevance" not in sources[0].rows.names:
        notes = (("implicit_grades", found.sizes["judged"], 0), *notes)
    judged, run = ("table", "table") if "joined" in job.rows else ("qrels", "run")
    queries = Queries(judged, job.duplicates, answer.query_ids, notes, source)
    counts, described = engine.describe_answer(
        answer, request, queries=queries, run_name=run, duplicates=job.duplicates
    )
    evaluation = SparkEvaluation(
        measures=request.measures,
        policy=request.policy,
        counts=counts,
        notes=described,
        queries=queries,
        answer=answer,  # type: ignore[arg-type]  # has what a result reads of it
        convention=request.convention,
        names=request.names,
        slices=tabulate_slices(found.slices, request.measures, source),
    )
    if strict:
        engine.refuse_diagnostics(evaluation.notes)
    return evaluation


def read_slicing(by: object) -> list[str]:
    """Return the columns to group by.

    Raises:
        UsageError: They are no names.
    """
    names = [by] if isinstance(by, str) else [] if by is None else by
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"expected by as the names of columns, found {type(by).__name__}",
            hint="write by='country', or by=['country', 'device']",
            code="bad_parameter",
        )
    return list(dict.fromkeys(names))
