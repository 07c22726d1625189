"""The result of an evaluation whose values stay in Spark until they are asked for."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial, reduce
from itertools import chain
from typing import TYPE_CHECKING, Any, Self, TypeAlias, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankscope._conventions import Convention
from rankscope._evaluate.evaluate_table import can_stream
from rankscope._evaluate.evaluating import (
    FEWEST,
    describe_run,
    no_common_documents,
    refuse_diagnostics,
)
from rankscope._evaluate.evaluation import Evaluation, Names, name_measures
from rankscope._evaluate.query_values import Slices, read_slicing, tabulate_slices
from rankscope._evaluate.runs import Evaluated
from rankscope._evaluate.settings import (
    Settings,
    choose_ties,
    refuse_single_precision,
    split_question,
)
from rankscope._inputs.numbers import no_judgments
from rankscope._inputs.reading import Queries
from rankscope._settings import ROLES, Policy, Reading
from rankscope.errors import EmptyError, FormatError, PolicyError, RankscopeError, UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import Measures, read_measures
from rankscope.spark.files import (
    Frame,
    UnreadableError,
    are_scattered,
    count_rows,
    read_pieces,
)
from rankscope.spark.frames import FILES, Source, are_judged, list_grades, read_source
from rankscope.spark.in_place import ApartError, SmallJudgments, evaluating_in_place, merge_in_place
from rankscope.spark.packing import PACKED, count_buckets
from rankscope.spark.tasks import (
    ANSWER,
    ANSWERS,
    ERROR,
    VALUES,
    Job,
    Part,
    Summaries,
    evaluating,
    packing,
    raise_first,
    unpack_values,
)

if TYPE_CHECKING:
    from rankscope._settings import ReadingOptions
    from rankscope._show.table import ColumnValues

READ_ROWS = 1 << 16
"""How many rows Spark sends to Python at once."""
MOVED_ROWS = 1 << 11
"""The same where rows are moved: a row has some 64 kB after packing."""
MOST_JUDGED = 1 << 22
"""How many rows of judgments go to every task; where there are more, rows are moved."""
SPARK_TYPES = {"int8": "byte", "int16": "short", "int32": "int", "int64": "long"}


class SparkEvaluation(Evaluation):
    """An `Evaluation` whose values of queries stay in Spark.

    Means, counts, slices and notes are here. `to_spark` returns the value of each query as a Spark
    DataFrame. Everything else that has values of queries (`per_query`, `to_pandas`, `to_arrow`,
    `query_ids`, …) collects them when it is first called, ordered by the text of the queries.

    Spark keeps the values, one row per query, until you call `unpersist` or use the result as a
    context manager.
    """

    def __init__(
        self, job: Job, part: Part, summaries: Summaries, rows: Frame, kept: Frame
    ) -> None:
        self._values, self._kept = rows, kept
        self._collected: Any = None
        notes = [(code, count, 0) for code, count in part.notes.items()]
        if "relevance" not in job.first.names:
            notes.insert(0, ("implicit_grades", part.rows["judged"], 0))
        run, ids, summary = FILES[job.last.side], job.first.ids, summaries[()]
        read_ids = self._read_query_ids
        queries = Queries(FILES[job.first.side], job.duplicates, read_ids, tuple(notes), ids)
        seen = part.checks.notes(run, job.last.names["query"])
        evaluated = Evaluated(summary, run, seen)  # type: ignore[arg-type]  # values are read here
        counts, described = describe_run(evaluated, job.request, queries, job.duplicates)
        super().__init__(
            job.request,
            evaluated,
            queries,
            counts=counts,
            # The row where something was first seen depends on how rows are spread.
            notes=[replace(note, line=0) for note in described],
            slices=_make_slices(job, summaries),
        )

    def per_query(self, measure: Measure | str) -> NDArray[np.float64]:  # noqa: D102 - as in the base
        column = self._collect().column(f"m{self._find_values(measure)}").to_numpy()
        return np.frombuffer(column.tobytes())

    def per_query_list(self, measure: Measure | str) -> list[float]:  # noqa: D102 - as in the base
        return [*self.per_query(measure).tolist()]

    def to_spark(self, names: Names = "canonical") -> Frame:
        """Return the value of each query as a Spark DataFrame, in no particular order.

        Args:
            names: `canonical` (`nDCG@10`) or `plain` (`ndcg_at_10`).

        Raises:
            UsageError: `names` is neither of them.
        """
        query, *others = (self._values[name] for name in self._values.columns)
        source = self.source
        attributes = (attribute.name for attribute in source.attributes)
        aliases = (source.query.name, *attributes, *name_measures(self.measures, names))
        columns = (query.cast(SPARK_TYPES.get(source.query.dtype, "string")), *others)
        pairs = zip(columns, aliases, strict=True)
        return self._values.select(*(column.alias(name) for column, name in pairs))

    def unpersist(self) -> None:
        """Let Spark drop the values of queries, which it computes again if they are needed."""
        self._kept.unpersist()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unpersist()

    def __getstate__(self) -> dict[str, object]:
        # Values travel, and the session in which they were computed doesn't.
        self._collect()
        return self.__dict__ | {"_values": None, "_kept": None}

    def _read_attributes(self) -> Iterator[tuple[str, ColumnValues]]:
        for at, attribute in enumerate(self.source.attributes):
            texts = self._collect().column(f"a{at}").to_pylist()
            yield attribute.name, attribute.restore_column(texts)

    def _read_query_ids(self) -> list[str]:
        return list(self._collect().column("query").to_pylist())

    def _collect(self) -> Any:  # noqa: ANN401 - PyArrow has no types
        """Return the values of queries, ordered by the text of the queries."""
        if self._collected is None:
            self._collected = self._values.toArrow().sort_by("query")
        return self._collected


def _make_slices(job: Job, summaries: Summaries) -> Slices | None:
    attributes = job.first.ids.attributes
    if not attributes:
        return None
    slices = {key: summary for key, summary in summaries.items() if key}
    means = [[*zip(of.means(), of.denominators(), strict=True)] for of in slices.values()]
    sizes = [summary.counts().queries for summary in slices.values()]
    measures, keys = job.request.measures, [*slices]
    return tabulate_slices(attributes, measures, keys, sizes, means=[*zip(*means, strict=True)])


def _conclude(
    sources: Sequence[Source], job: Job, part: Part, rows: Frame, kept: Frame, *, strict: bool
) -> SparkEvaluation:
    """Make the result, whose values are in `rows`, for which Spark keeps the rows of tasks.

    Raises:
        InputError: There is nothing to evaluate, or something suspicious, and `strict` is set.
        UsageError: There are too many slices, or one has the name of another column.
    """
    for side in job.rows:
        if not part.rows[side]:
            what = "judgments" if side == "judged" else "retrieved documents"
            problem = f"expected {what}, found none"
            hint = "does the data frame have rows?"
            raise EmptyError(problem, hint=hint, code="empty_input", file=FILES[side])
    if not part.has_grades:
        raise no_judgments("table")
    summaries = part.summarize()
    summary = summaries[()]
    counts = summary.counts()
    if counts.queries == counts.missing:
        problem = "expected queries that are both judged and in the run, found none"
        hint = "do both data frames belong to one collection?"
        raise FormatError(problem, hint=hint, code="no_common_queries")
    docs = [doc for unmatched in part.unmatched for doc in unmatched.retrieved]
    is_apart = FEWEST <= counts.listed == counts.unmatched and docs
    if is_apart and not are_judged(sources[0], docs):
        raise no_common_documents(counts.listed, min(part.unmatched), summary.notes(), "run")
    evaluation = SparkEvaluation(job, part, summaries, rows, kept)
    if strict:
        refuse_diagnostics(evaluation.notes)
    return evaluation


OPTIONS = (*ROLES, "duplicates", "score_type")


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
    reading = Reading.of("evaluate", options, names=OPTIONS)
    if partitions is not None and (isinstance(partitions, bool) or partitions < 1):
        problem = f"expected partitions to be 1 or more, found {partitions!r}"
        hint = "leave it out, and Spark decides"
        raise UsageError(problem, hint=hint, code="bad_parameter")
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
            problem = f"{name}='{refused}' depends on the order of rows, which Spark doesn't keep"
            raise PolicyError(problem, hint=hint, code="row_order")
    rows = {source.rows.side: source.rows for source in sources}
    job = Job(request=request, rows=rows, duplicates=reading.duplicates)
    return _run_job(sources, job, partitions, partial(_conclude, sources, job, strict=strict))


Finish: TypeAlias = Callable[[Part, Frame, Frame], SparkEvaluation]
"""Makes the result, as `_conclude`."""


def _run_job(
    sources: Sequence[Source], job: Job, partitions: int | None, finish: Finish
) -> SparkEvaluation:
    """Evaluate data frames where their rows lie, or else pack, move and evaluate the rows."""
    if partitions is None:
        with suppress(ApartError, UnreadableError):
            return run_in_place(sources, job, finish)
    try:
        return _run_moving(sources, job, partitions, finish, direct=True)
    except UnreadableError:  # Spark has to read the files
        return _run_moving(sources, job, partitions, finish, direct=False)


def _run_moving(
    sources: Sequence[Source], job: Job, partitions: int | None, finish: Finish, *, direct: bool
) -> SparkEvaluation:
    """Pack, move and evaluate the rows.

    Raises:
        UnreadableError: Spark has to read the files.
    """
    pieces = [source.find_pieces() if direct else [] for source in sources]
    rows = sum(map(count_rows, pieces)) if all(pieces) else None
    count = partitions or _choose_partitions(sources[0].frame.sparkSession)
    buckets = count_buckets(rows, count or 1)
    frames = [
        source.run(tasks, packing(source.rows, buckets, tasks, by_text=job.by_text), PACKED)
        for source, tasks in zip(sources, pieces, strict=True)
    ]
    by = ["bucket"] if count is None else [count, "bucket"]
    ordered = reduce(type(frames[0]).unionByName, frames).repartition(*by)
    ordered = ordered.sortWithinPartitions("bucket")
    with _keep(ordered.mapInArrow(evaluating(job), ANSWERS), MOVED_ROWS) as (kept, answers):
        raise_first(answers[ERROR])
        part = Part()
        for other in answers[ANSWER]:
            part.merge(other)
        return finish(part, _unpack(kept, job), kept)


def run_in_place(sources: Sequence[Source], job: Job, finish: Finish) -> SparkEvaluation:
    """Evaluate a table or a run where its rows lie.

    Raises:
        ApartError: They have to be moved.
        UnreadableError: So they have, and Spark has to read a file.
    """
    source = sources[-1]
    tasks = source.find_pieces()
    if tasks and are_scattered(tasks, source.rows.names["query"]):
        raise ApartError
    judgments = _collect_judgments(sources[0], job) if len(sources) > 1 else None
    evaluated = source.run(tasks, evaluating_in_place(job, tasks, judgments), ANSWERS)
    with _keep(evaluated, READ_ROWS) as (kept, answers):
        if answers[ERROR]:
            raise ApartError
        try:
            part, values = merge_in_place(answers[ANSWER], job, judgments)
        except RankscopeError:  # raised again, the same however rows are spread
            raise ApartError from None
        rows = kept
        if values:
            table = pa.Table.from_batches(values)
            rows = kept.unionByName(kept.sparkSession.createDataFrame(table, ANSWERS))
        return finish(part, _unpack(rows, job), kept)


def _unpack(rows: Frame, job: Job) -> Frame:
    """Return a row for each query of the rows of tasks."""
    schema = ", ".join(f"{name} {kind}" for name, kind in job.columns.items())
    return rows.where(f"kind = '{VALUES}'").select("payload").mapInArrow(unpack_values, schema)


@contextmanager
def _keep(evaluated: Frame, rows: int) -> Iterator[tuple[Frame, dict[str, list[Any]]]]:
    """Keep the rows of tasks, unless the block raises, and give what they say but for values.

    Spark sends batches of so many rows to Python. Before each row, it asks how many bytes the batch
    has, at more than the cost of all else, unless there is no limit of bytes.
    """
    kept, conf = evaluated.persist(), evaluated.sparkSession.conf
    limits = {"maxBytesPerBatch": (1 << 31) - 1, "maxRecordsPerBatch": rows}
    answers: dict[str, list[Any]] = {ANSWER: [], ERROR: []}
    try:
        with ExitStack() as stack:
            for limit, value in limits.items():
                name = f"spark.sql.execution.arrow.{limit}"
                before = conf.get(name, None)
                restore = (conf.unset, name) if before is None else (conf.set, name, before)
                stack.callback(*restore)
                conf.set(name, str(value))
            for row in kept.where(f"kind != '{VALUES}'").collect():
                answers[row.kind].append(pickle.loads(row.payload))  # noqa: S301 - of our own tasks
        yield kept, answers
    except BaseException:
        kept.unpersist()
        raise


def _collect_judgments(source: Source, job: Job) -> SmallJudgments:
    """Return all judgments.

    Raises:
        ApartError: There are many, or one of them is invalid.
        UnreadableError: Spark has to read a file.
    """
    if not hasattr(source.frame, "_jdf"):
        raise ApartError  # Spark Connect sends them with every task
    tasks, schema = source.find_pieces(), source.rows.schema
    if tasks and count_rows(tasks) > MOST_JUDGED:
        raise ApartError
    try:
        if tasks:
            table = pa.Table.from_batches(read_pieces(chain(*tasks), schema), schema)
        else:
            table = source.frame.limit(MOST_JUDGED + 1).toArrow().rename_columns(schema.names)
        if table.num_rows > MOST_JUDGED:
            raise ApartError
        return SmallJudgments.of(table, job)
    except RankscopeError:  # as is reported when rows are moved
        raise ApartError from None


def _choose_partitions(session: Any) -> int | None:  # noqa: ANN401 - of Spark
    """Return the number of partitions: two for each core, and no more than Spark is set to make.

    Spark doesn't bring small partitions together in a plan whose result it keeps, and each costs a
    task of Python. Large ones cost no memory, because they are read in pieces.
    """
    context = getattr(session, "sparkContext", None)  # which Spark Connect doesn't have
    if context is None:
        return None
    most = int(session.conf.get("spark.sql.shuffle.partitions"))
    return min(most, 2 * int(context.defaultParallelism))
