"""Reads what the columns of Spark data frames hold, and runs the tasks that evaluate them."""

from __future__ import annotations

import pickle
from contextlib import contextmanager, suppress
from functools import reduce
from inspect import signature
from itertools import chain

from rankscope.deferred import pa
from rankscope.errors import RankscopeError, UsageError
from rankscope.records import record
from rankscope.spark.in_place import (
    ApartError,
    SmallJudgments,
    evaluating_in_place,
    merge_in_place,
)
from rankscope.spark.packing import PACKED, count_buckets
from rankscope.spark.parquet import (
    UnreadableError,
    are_scattered,
    count_rows,
    find_pieces,
    read_pieces,
)
from rankscope.spark.rows import FILES, select_columns, spell_names
from rankscope.spark.tasks import (
    ANSWER,
    ANSWERS,
    ERROR,
    VALUES,
    Part,
    evaluating,
    packing,
    raise_first,
    unpacking_values,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from rankscope.spark.evaluation import SparkEvaluation
    from rankscope.spark.parquet import Frame, Piece
    from rankscope.spark.rows import Rows
    from rankscope.spark.tasks import Job

    Finish: TypeAlias = Callable[[Part, Frame, Frame], SparkEvaluation]
    """Makes the result of what is known of all queries, a row for each with its values, and the
    rows of tasks that Spark keeps for these."""


READ_ROWS = 1 << 16
"""How many rows Spark sends to Python at once."""
MOVED_ROWS = 1 << 11
"""The same where rows are moved: a row has some 64 kB after packing."""
MOST_JUDGED = 1 << 22
"""How many rows of judgments go to every task; where there are more, rows are moved."""


@record(frozen=True, slots=True, kw_only=True)
class Source:
    """A data frame and what its rows hold.

    Args:
        frame: The data frame, with the columns that are needed.
        rows: What its rows hold.
        whole: The data frame with all columns.
    """

    frame: Frame
    rows: Rows
    whole: Frame

    def select(self, role: str) -> Any:  # noqa: ANN401 - of Spark
        """Return the column of a role."""
        return self.frame[f"c{self.rows.columns.index(self.rows.names[role])}"]

    def find_pieces(self) -> list[list[Piece]]:
        """Return the pieces of files that each task reads, or nothing if Spark has to read."""
        return find_pieces(self.whole, self.rows.columns)

    def run(self, tasks: Sequence[Sequence[Piece]], work: Any, schema: str) -> Frame:  # noqa: ANN401 - a function
        """Return the rows that a function makes of the data frame, or of pieces of its files."""
        count = len(tasks)
        # A row with the number of each task that reads files, or else the rows themselves.
        frame = self.frame.sparkSession.range(0, count, 1, count) if tasks else self.frame
        return frame.mapInArrow(work, schema)


def check_frame(frame: object, name: str) -> None:
    """Raise an error unless an argument is a data frame of Spark."""
    if not hasattr(frame, "mapInArrow"):
        raise UsageError(
            f"expected {name} as a Spark DataFrame, found {type(frame).__name__}",
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
    check_frame(frame, "qrels" if side == "judged" else f"the {FILES[side]}")
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - only Spark needs it
    from pyspark.sql.types import StructType  # noqa: PLC0415 - as above

    spelled = spell_names(frame.columns, [*filter(None, names.values()), *attributes])
    frame = frame if spelled == frame.columns else frame.toDF(*spelled)
    # Before 4.3, times are in UTC without being asked.
    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}

    def convert(chosen: Sequence[str]) -> Any:  # noqa: ANN401 - PyArrow has no types
        return to_arrow_schema(StructType([frame.schema[name] for name in chosen]), **zone)

    rows = select_columns(side, spelled, convert, names, attributes)
    # Spark looks columns up again by names, in which dots would mean fields.
    quoted = ("`" + name.replace("`", "``") + "`" for name in rows.columns)
    columns = [frame[name].alias(f"c{at}") for at, name in enumerate(quoted)]
    return Source(frame=frame.select(*columns), rows=rows, whole=frame)


def list_grades(source: Source) -> list[float]:
    """Return the different grades of a data frame, ascending, by a query of Spark."""
    if "relevance" not in source.rows.names:
        return [1.0]
    rows = source.frame.select(source.select("relevance")).distinct().collect()
    grades = {float(row[0]) for row in rows if row[0] is not None}
    return sorted(grade for grade in grades if grade == grade)  # noqa: PLR0124 - NaN alone differs


def are_judged(source: Source, docs: Sequence[str]) -> bool:
    """Check whether judgments have any of some documents, by a query of Spark."""
    column = source.select("doc").cast("string")
    return bool(source.frame.where(column.isin(*docs)).limit(1).count())


def run_job(
    sources: Sequence[Source], job: Job, partitions: int | None, finish: Finish
) -> SparkEvaluation:
    """Evaluate data frames where their rows lie, or else pack, move and evaluate the rows."""
    if partitions is None:
        with suppress(ApartError, UnreadableError):
            return run_in_place(sources, job, finish)
    try:
        pieces = [source.find_pieces() for source in sources]
        return _run_moving(sources, job, partitions, pieces, finish)
    except UnreadableError:  # Spark has to read the files
        return _run_moving(sources, job, partitions, [[] for _ in sources], finish)


def _run_moving(
    sources: Sequence[Source],
    job: Job,
    partitions: int | None,
    pieces: Sequence[Sequence[Sequence[Piece]]],
    finish: Finish,
) -> SparkEvaluation:
    """Pack, move and evaluate the rows.

    Raises:
        UnreadableError: Spark has to read the files.
    """
    known = sum(map(count_rows, pieces)) if all(pieces) else None
    chosen = partitions or _choose_partitions(sources[0].frame.sparkSession)
    buckets = count_buckets(known, chosen or 1)
    frames = [
        source.run(tasks, packing(source.rows, buckets, tasks, by_text=job.by_text), PACKED)
        for source, tasks in zip(sources, pieces, strict=True)
    ]
    packed = reduce(lambda one, other: one.unionByName(other), frames)
    count = [] if chosen is None else [chosen]
    ordered = packed.repartition(*count, "bucket").sortWithinPartitions("bucket")
    with _keep(ordered.mapInArrow(evaluating(job), ANSWERS), MOVED_ROWS) as (kept, answers):
        # Tasks of ours pickled what is here.
        raise_first([pickle.loads(packed) for kind, packed in answers if kind == ERROR])  # noqa: S301
        part = Part()
        for kind, packed in answers:
            if kind == ANSWER:
                part.merge(pickle.loads(packed))  # noqa: S301 - as above
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
    judgments = collect_judgments(sources[0], job) if len(sources) > 1 else None
    evaluated = source.run(tasks, evaluating_in_place(job, tasks, judgments), ANSWERS)
    with _keep(evaluated, READ_ROWS) as (kept, answers):
        if any(kind == ERROR for kind, _ in answers):
            raise ApartError
        # Tasks of ours pickled what is here.
        unpacked = [pickle.loads(packed) for _, packed in answers]  # noqa: S301
        try:
            part, values = merge_in_place(unpacked, job, judgments)
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
    values = rows.where(f"kind = '{VALUES}'").select("payload")
    return values.mapInArrow(unpacking_values(), schema)


@contextmanager
def _keep(evaluated: Frame, rows: int) -> Iterator[tuple[Frame, list[tuple[str, bytes]]]]:
    """Keep the rows of tasks, unless the block raises, and give what they say but for values."""
    kept = evaluated.persist()
    try:
        with batches_of(evaluated.sparkSession, rows):
            answers = kept.where(f"kind != '{VALUES}'").collect()
        yield kept, [(row.kind, row.payload) for row in answers]
    except BaseException:
        kept.unpersist()
        raise


def collect_judgments(source: Source, job: Job) -> SmallJudgments:
    """Return all judgments.

    Raises:
        ApartError: There are many, or one of them is invalid.
        UnreadableError: Spark has to read a file.
    """
    if not hasattr(source.frame, "_jdf"):
        raise ApartError  # Spark Connect sends them with every task
    tasks = source.find_pieces()
    try:
        if not tasks:
            table = source.frame.limit(MOST_JUDGED + 1).toArrow()
            table = table.rename_columns(source.rows.columns)
        elif count_rows(tasks) > MOST_JUDGED:
            raise ApartError
        else:
            schema = source.rows.schema
            table = pa.Table.from_batches(read_pieces(chain(*tasks), schema), schema)
        if table.num_rows > MOST_JUDGED:
            raise ApartError
        return SmallJudgments.of(table, job)
    except RankscopeError:  # as is reported when rows are moved
        raise ApartError from None


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
