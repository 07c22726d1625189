"""Reads what the columns of Spark data frames hold, and runs the tasks that evaluate them."""

from __future__ import annotations

import pickle
from contextlib import contextmanager, suppress
from functools import reduce
from inspect import signature

from rankscope.deferred import pa
from rankscope.errors import RankscopeError, UsageError
from rankscope.records import record
from rankscope.spark.evaluation import merge_parts, refuse
from rankscope.spark.in_place import MOST_ROWS as MOST_JUDGED
from rankscope.spark.in_place import evaluating_in_place, merge_in_place, order_judgments
from rankscope.spark.packing import PACKED, Buckets, count_buckets
from rankscope.spark.parquet import (
    UnreadableError,
    are_scattered,
    count_rows,
    find_pieces,
    read_whole,
)
from rankscope.spark.selecting import check_columns, select_columns, spell_names
from rankscope.spark.shared_folder import make_folder
from rankscope.spark.tasks import (
    ANSWER,
    ANSWERS,
    ERROR,
    UNREADABLE,
    VALUES,
    Job,
    describe_values,
    evaluating,
    packing,
    unpacking_values,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from rankscope.output.ids import SourceIds
    from rankscope.spark.evaluation import Merged
    from rankscope.spark.in_place import SmallJudgments
    from rankscope.spark.packing import Rows
    from rankscope.spark.parquet import Frame
    from rankscope.spark.shared_folder import SharedFolder
    from rankscope.spark.tasks import Part


READ_ROWS = 1 << 16
"""How many rows Spark sends to Python at once."""
MOVED_ROWS = 1 << 11
"""The same where rows are moved: a row has some 64 kB after packing."""
NAMES = {"joined": "the table", "judged": "qrels", "retrieved": "the run"}
"""What errors call a data frame, by its side."""


@record(frozen=True, slots=True, kw_only=True)
class Answer:
    """What all tasks answered.

    Args:
        merged: What they answered together.
        rows: The values of queries, a row for each.
        kept: The rows of tasks that Spark keeps until they are no longer needed.
        folder: The folder with packed rows, if there is one.
    """

    merged: Merged
    rows: Frame
    kept: Frame
    folder: SharedFolder | None


@record(frozen=True, slots=True, kw_only=True)
class Source:
    """A data frame and what its rows hold.

    Args:
        frame: The data frame, with the columns that are needed.
        rows: What its rows hold.
        ids: The columns of ids and attributes as the data frame has them.
        given: The data frame as it was given.
    """

    frame: Frame
    rows: Rows
    ids: SourceIds
    given: Frame


def check_frame(given: object, name: str) -> None:
    """Raise an error unless an argument is a data frame of Spark."""
    if not hasattr(given, "mapInArrow"):
        raise UsageError(
            f"expected {name} as a Spark DataFrame, found {type(given).__name__}",
            hint="make one with spark.read.parquet or spark.createDataFrame; for other tables, use "
            "the function of the same name in rankscope",
            code="bad_parameter",
        )


def read_source(
    side: str,
    frame: Frame,
    names: Mapping[str, str | None],
    attributes: Sequence[str] = (),
) -> Source:
    """Read the columns of a data frame."""
    check_frame(frame, NAMES[side])
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - only Spark needs it
    from pyspark.sql.types import StructType  # noqa: PLC0415 - as above

    spelled = spell_names(frame.columns, names, attributes)
    check_columns(spelled, attributes)
    frame = frame if spelled == frame.columns else frame.toDF(*spelled)
    # Before 4.3, times are in UTC without being asked.
    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}

    def convert(chosen: list[str]) -> Any:  # noqa: ANN401 - PyArrow has no types
        return to_arrow_schema(StructType([frame.schema[name] for name in chosen]), **zone)

    rows, ids = select_columns(side, spelled, convert, names, attributes)
    return Source(
        # Spark looks columns up again by names, in which dots would mean fields.
        frame=frame.select(
            *(_column(frame, name).alias(f"c{at}") for at, name in enumerate(rows.columns))
        ),
        rows=rows,
        ids=ids,
        given=frame,
    )


def list_grades(source: Source) -> list[float]:
    """Return the different grades of a data frame, ascending, by a query of Spark."""
    name = source.rows.names.get("relevance")
    if name is None:
        return [1.0]
    rows = source.frame.select(f"c{source.rows.columns.index(name)}").distinct().collect()
    grades = {float(row[0]) for row in rows if row[0] is not None}
    return sorted(grade for grade in grades if grade == grade)  # noqa: PLR0124 - NaN alone differs


def are_judged(source: Source, docs: Sequence[str]) -> bool:
    """Check whether judgments have any of some documents, by a query of Spark."""
    name = source.rows.names["doc"]
    column = source.frame[f"c{source.rows.columns.index(name)}"].cast("string")
    return bool(source.frame.where(column.isin(*docs)).limit(1).count())


def run_job(sources: Sequence[Source], job: Job, partitions: int | None) -> Answer:
    """Pack, move and evaluate the rows of data frames."""
    if partitions is None:
        in_place = run_in_place(sources, job)
        if in_place is not None:
            return in_place
    for reads_files in (True, False):
        answer = _run_moving(sources, job, partitions, reads_files=reads_files)
        if answer is not None:
            return answer
    raise TypeError("expected Spark to read")


def _run_moving(
    sources: Sequence[Source], job: Job, partitions: int | None, *, reads_files: bool
) -> Answer | None:
    """Pack, move and evaluate the rows, or return `None` if Spark has to read the files."""
    session = sources[0].frame.sparkSession
    pieces = [find_pieces(each.given, each.rows.columns) if reads_files else [] for each in sources]
    sizes = [count_rows(tasks) if tasks else None for tasks in pieces]
    known = None if None in sizes else sum(size or 0 for size in sizes)
    chosen = partitions or _choose_partitions(session)
    buckets = Buckets(count=count_buckets(known, chosen or 1), by_text=job.by_text)
    folder = make_folder(session)
    path = None if folder is None else folder.path
    frames = [
        _assign(source, tasks).mapInArrow(packing(source.rows, buckets, tasks, path), PACKED)
        for source, tasks in zip(sources, pieces, strict=True)
    ]
    packed = reduce(lambda one, other: one.unionByName(other), frames)
    count = [] if chosen is None else [chosen]
    ordered = packed.repartition(*count, "bucket").sortWithinPartitions("bucket")
    evaluated = ordered.mapInArrow(evaluating(job, in_files=path is not None), ANSWERS)
    with _keep(evaluated, MOVED_ROWS) as (kept, told):
        if any(kind == UNREADABLE for kind, _ in told):
            kept.unpersist()
            return None
        # Tasks of ours pickled what is here.
        refuse([pickle.loads(held) for kind, held in told if kind == ERROR])  # noqa: S301
        parts = [pickle.loads(held) for kind, held in told if kind == ANSWER]  # noqa: S301
        return _merge(parts, job, kept, kept, folder)


def run_in_place(sources: Sequence[Source], job: Job) -> Answer | None:
    """Evaluate a table or a run where its rows lie, or return `None` if they have to be moved."""
    source = sources[-1]
    session = source.frame.sparkSession
    tasks = find_pieces(source.given, source.rows.columns)
    if tasks and are_scattered(tasks, source.rows.names["query"]):
        return None
    judgments = None
    if len(sources) > 1:
        judgments = collect_judgments(sources[0], job)
        if judgments is None:
            return None
    evaluated = _assign(source, tasks).mapInArrow(
        evaluating_in_place(job, tasks, judgments), ANSWERS
    )
    with _keep(evaluated, READ_ROWS) as (kept, told):
        merged = None
        if all(kind != ERROR for kind, _ in told):
            # Tasks of ours pickled what is here.
            answers = [pickle.loads(held) for _, held in told]  # noqa: S301
            with suppress(RankscopeError):  # raised again, the same however rows are spread
                merged = merge_in_place(answers, job, judgments)
        if merged is None:
            kept.unpersist()
            return None
        parts, values = merged
        rows = kept
        if values:
            table = pa.Table.from_batches(values)
            rows = kept.unionByName(session.createDataFrame(table, ANSWERS))
        return _merge(parts, job, rows, kept)


def _assign(source: Source, tasks: Sequence[object]) -> Frame:
    """Return a row with the number of each task that reads files, or else the rows themselves."""
    count = len(tasks)
    return source.frame.sparkSession.range(0, count, 1, count) if tasks else source.frame


@contextmanager
def _keep(evaluated: Frame, rows: int) -> Iterator[tuple[Frame, list[tuple[str, bytes]]]]:
    """Keep the rows of tasks, unless the block raises, and give what they say but for values."""
    kept = evaluated.persist()
    try:
        with batches_of(evaluated.sparkSession, rows):
            told = kept.where(f"kind != '{VALUES}'").collect()
        yield kept, [(row.kind, row.payload) for row in told]
    except BaseException:
        kept.unpersist()
        raise


def collect_judgments(source: Source, job: Job) -> SmallJudgments | None:
    """Return all judgments if there are few, and none of them is invalid."""
    if not hasattr(source.frame, "_jdf"):
        return None  # Spark Connect sends them with every task
    tasks = find_pieces(source.given, source.rows.columns)
    size = count_rows(tasks) if tasks else None
    if size is not None and size > MOST_JUDGED:
        return None
    try:
        if tasks:
            table = read_whole(tasks, source.rows.schema)
        else:
            table = source.frame.limit(MOST_JUDGED + 1).toArrow()
            table = table.rename_columns(source.rows.columns)
        if table.num_rows > MOST_JUDGED:
            return None
        return order_judgments(table, source.rows, by_text=job.by_text)
    except (RankscopeError, UnreadableError):  # as is reported when rows are moved
        return None


@contextmanager
def batches_of(session: Any, rows: int) -> Iterator[None]:  # noqa: ANN401 - of Spark
    """Let Spark send batches of so many rows to Python.

    Before each row, Spark asks how many bytes the batch has, at more than the cost of all else,
    unless there is no limit of bytes.
    """
    settings = {
        "spark.sql.execution.arrow.maxBytesPerBatch": str((1 << 31) - 1),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(rows),
    }
    before = {name: session.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, held in before.items():
            if held is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, held)


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


def _merge(
    parts: list[Part], job: Job, rows: Frame, kept: Frame, folder: SharedFolder | None = None
) -> Answer:
    """Merge the answers of all tasks."""
    return Answer(
        merged=merge_parts(parts, job),
        rows=rows.where(f"kind = '{VALUES}'")
        .select("payload")
        .mapInArrow(unpacking_values(), describe_values(job)),
        kept=kept,
        folder=folder,
    )


def _column(frame: Frame, name: str) -> Any:  # noqa: ANN401 - of Spark
    """Return a column by its exact name, which may have dots."""
    return frame["`" + name.replace("`", "``") + "`"]
