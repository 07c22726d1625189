"""Finds the files of a data frame that is Parquet files and nothing else.

Spark turns what it reads into rows, and the rows into Arrow, at twice the cost of evaluating them.
Where a data frame is a plain scan of local Parquet files, each task reads its pieces itself.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlparse

from rankscope.deferred import pa, pc, pq
from rankscope.errors import FormatError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, TypeAlias

    Frame: TypeAlias = Any
    """A DataFrame of PySpark, classic or of Spark Connect."""


MOST_BYTES = 1 << 27
"""The most bytes that a task reads, as Spark has it."""
MOST_FILES = 10_000
READ_ROWS = 1 << 18
"""How many rows are read at once."""
FIRST_ROWS = 1 << 13
"""By how many rows a file is judged."""
PACKAGE = "org.apache.spark.sql"
SCAN = {
    "relation": f"{PACKAGE}.execution.datasources.HadoopFsRelation",
    "format": f"{PACKAGE}.execution.datasources.parquet.ParquetFileFormat",
    "location": f"{PACKAGE}.execution.datasources.InMemoryFileIndex",
}
"""The classes of a plain scan. Tables of Delta or a catalog have others."""


@record(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some row groups of a file.

    Args:
        path: The file.
        number: Which of the equal pieces of the file it is.
        of: How many pieces the file has.
    """

    path: str
    number: int
    of: int


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
    target = max(1, min(MOST_BYTES, sum(sizes.values()) // (2 * cores)))
    tasks: list[list[Piece]] = [[]]
    filled = 0
    for path in sorted(paths):
        of = max(1, round(sizes[path] / target))
        for number in range(of):
            if filled >= target:
                tasks.append([])
                filled = 0
            tasks[-1].append(Piece(path=path, number=number, of=of))
            filled += sizes[path] // of + 1
    return tasks


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


def read_pieces(pieces: Iterable[Piece], schema: Any) -> Iterator[Any]:  # noqa: ANN401 - PyArrow has no types
    """Read pieces of files as record batches.

    Raises:
        UnreadableError: Spark has to read a file.
    """
    for piece in pieces:
        with _open(piece.path) as file:
            for field in schema:
                place = file.schema_arrow.get_field_index(field.name)
                if place < 0 or file.schema_arrow.field(place).type != field.type:
                    raise UnreadableError
            count = file.num_row_groups
            groups = range(count * piece.number // piece.of, count * (piece.number + 1) // piece.of)
            if len(groups) > 0:
                for batch in file.iter_batches(
                    READ_ROWS, list(groups), schema.names, use_threads=False
                ):
                    yield batch.select(schema.names)


def read_assigned(
    batches: Iterable[Any],
    tasks: Sequence[Sequence[Piece]],
    schema: Any,  # noqa: ANN401 - PyArrow has no types
) -> Iterable[Any]:
    """Read the pieces of files of the tasks whose numbers a partition has, or else its rows."""
    if not tasks:
        return batches
    numbers = (number for batch in batches for number in batch[0].to_pylist())
    return read_pieces((piece for number in numbers for piece in tasks[number]), schema)


def _find_files(frame: Frame) -> list[str]:
    """Return the paths of a plain scan of local files."""
    from py4j.protocol import Py4JError  # noqa: PLC0415 - only classic Spark has it

    try:
        plan = frame._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 - no other way to the plan
        relation = _find_relation(plan)
        if relation is None:
            return []
        files = [urlparse(uri) for uri in frame.inputFiles()]
    except Py4JError:
        return []
    if len(files) > MOST_FILES or any(uri.scheme != "file" or uri.netloc for uri in files):
        return []
    return [unquote(uri.path) for uri in files]


def _find_relation(plan: Any) -> Any:  # noqa: ANN401 - of Spark
    """Return the relation that a plan scans without changing anything."""
    logical = plan
    if logical.getClass().getSimpleName() == "Project":
        chosen = logical.projectList()
        kinds = {chosen.apply(at).getClass().getSimpleName() for at in range(chosen.size())}
        if kinds != {"AttributeReference"}:
            return None
        logical = logical.child()
    if logical.getClass().getSimpleName() != "LogicalRelation":
        return None
    relation = logical.relation()
    if relation.getClass().getName() != SCAN["relation"]:
        return None
    plain = (
        relation.fileFormat().getClass().getName() == SCAN["format"]
        and relation.location().getClass().getName() == SCAN["location"]
        and relation.partitionSchema().isEmpty()
        and relation.bucketSpec().isEmpty()
        and set(map(str.lower, _list_keys(relation.options()))) <= {"path", "paths"}
    )
    return relation if plain else None


def _list_keys(options: Any) -> list[str]:  # noqa: ANN401 - of Scala
    keys, found = options.keysIterator(), []
    while keys.hasNext():
        found.append(str(keys.next()))
    return found
