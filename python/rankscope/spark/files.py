"""Reads Parquet files in the tasks of Python, where Spark would only scan them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rankscope.errors import FormatError

Frame: TypeAlias = Any
"""A DataFrame of PySpark, classic or of Spark Connect."""
Table: TypeAlias = Any
"""A table, a batch or a schema of PyArrow, which has no types."""

MOST_BYTES_OF_TASK = 1 << 27
MOST_FILES = 10_000
READ_ROWS = 1 << 18
FIRST_ROWS = 1 << 13
"""By how many rows a file is judged."""
PACKAGE = "org.apache.spark.sql.execution.datasources"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some row groups of a file: those of one of so many equal pieces."""

    path: str
    number: int
    pieces: int


class UnreadableError(Exception):
    """A file can't be read, or has other columns than Spark says, so that Spark has to read it."""


def find_pieces(frame: Frame, names: Sequence[str]) -> list[list[Piece]]:
    """Return the pieces of files that each task reads, or nothing if Spark has to read."""
    if not hasattr(frame, "_jdf") or any("." in name for name in names):
        return []
    paths = _find_files(frame)
    sizes = {path: Path(path).stat().st_size for path in paths if Path(path).is_file()}
    if not paths or len(sizes) < len(paths):
        return []
    cores = int(frame.sparkSession.sparkContext.defaultParallelism)
    target = max(1, min(MOST_BYTES_OF_TASK, sum(sizes.values()) // (2 * cores)))
    tasks: list[list[Piece]] = [[]]
    filled = 0
    for path in sorted(paths):
        pieces = max(1, round(sizes[path] / target))
        for number in range(pieces):
            if filled >= target:
                tasks.append([])
                filled = 0
            tasks[-1].append(Piece(path, number, pieces))
            filled += sizes[path] // pieces + 1
    return tasks


def _find_files(frame: Frame) -> list[str]:
    """Return the paths of a plain scan of local files."""
    from py4j.protocol import Py4JError

    try:
        plan = frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 - no other way to the plan
        if not _is_plain_scan(plan):
            return []
        files = [urlparse(uri) for uri in frame.inputFiles()]
    except Py4JError:
        return []
    if len(files) > MOST_FILES or any(uri.scheme != "file" or uri.netloc for uri in files):
        return []
    return [unquote(uri.path) for uri in files]


def _is_plain_scan(plan: Any) -> bool:  # noqa: ANN401 - of Spark
    """Check whether a plan scans files of Parquet, and changes nothing of what it reads.

    Tables of Delta or a catalog have other classes.
    """
    if plan.getClass().getSimpleName() == "Project":
        columns = plan.projectList()
        kinds = {columns.apply(at).getClass().getSimpleName() for at in range(columns.size())}
        if kinds != {"AttributeReference"}:
            return False
        plan = plan.child()
    if plan.getClass().getSimpleName() != "LogicalRelation":
        return False
    relation = plan.relation()
    return (
        _name_class(relation) == f"{PACKAGE}.HadoopFsRelation"
        and _name_class(relation.fileFormat()) == f"{PACKAGE}.parquet.ParquetFileFormat"
        and _name_class(relation.location()) == f"{PACKAGE}.InMemoryFileIndex"
        and relation.partitionSchema().isEmpty()
        and relation.bucketSpec().isEmpty()
        and {*relation.options().keySet().mkString(",").lower().split(",")} <= {"", "path", "paths"}
    )


def _name_class(value: Any) -> str:  # noqa: ANN401 - of Spark
    return str(value.getClass().getName())


@contextmanager
def _open(path: str) -> Iterator[Any]:
    """Open a file; whatever can't be read of it in the block is an `UnreadableError`."""
    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            yield file
    except (OSError, FormatError, pa.ArrowException) as error:
        raise UnreadableError from error


def count_rows(tasks: Sequence[Sequence[Piece]]) -> int:
    """Estimate how many rows pieces of files have, by the rows and the size of the largest file."""
    sizes = {piece.path: Path(piece.path).stat().st_size for task in tasks for piece in task}
    largest = max(sizes, key=lambda path: sizes[path])
    with _open(largest) as file:
        return int(file.metadata.num_rows) * sum(sizes.values()) // max(1, sizes[largest])


def are_scattered(tasks: Sequence[Sequence[Piece]], query: str) -> bool:
    """Check whether the rows of a query are apart where the first file begins."""
    with _open(tasks[0][0].path) as file:
        first = next(file.iter_batches(FIRST_ROWS, columns=[query]), None)
    if first is None or not first.num_columns:  # a name of another case, which Spark reads
        return False
    column = first.column(0)
    changes = pc.not_equal(column[1:], column[:-1])
    return bool((changes.true_count or 0) >= len(column.unique()))


def read_pieces(pieces: Iterable[Piece], schema: Table) -> Iterator[Any]:
    """Read pieces of files as record batches.

    Raises:
        UnreadableError: Spark has to read a file.
    """
    for piece in pieces:
        with _open(piece.path) as file:
            stored = {field.name: field.type for field in file.schema_arrow}
            if any(stored.get(field.name) != field.type for field in schema):
                raise UnreadableError
            starts = [file.num_row_groups * (piece.number + at) // piece.pieces for at in (0, 1)]
            groups = [*range(*starts)]
            if groups:
                for batch in file.iter_batches(READ_ROWS, groups, schema.names, use_threads=False):
                    yield batch.select(schema.names)


def read_assigned(
    batches: Iterable[Any], tasks: Sequence[Sequence[Piece]], schema: Table
) -> Iterable[Any]:
    """Read the pieces of files of the tasks whose numbers a partition has, or else its rows."""
    if not tasks:
        return batches
    numbers = (number for batch in batches for number in batch[0].to_pylist())
    return read_pieces((piece for number in numbers for piece in tasks[number]), schema)
