"""Evaluates a table or a run where its rows lie, if the rows of each query lie together.

Moving rows between partitions costs several times what evaluating them does. So each task evaluates
the queries of its partition in one pass, on the assumption that no other task has rows of them. It
returns a number for each query, by which the driver verifies that; equal numbers of different
queries only cost time. The first and the last query of a partition often go on in another. Their
rows are few, and the driver evaluates them. Where anything is different, all is evaluated again
after moving rows, which also reports mistakes the same way however rows are spread.
"""

from __future__ import annotations

import pickle
from typing import NamedTuple

from rankscope._core import TableStream
from rankscope._inputs.columns import read_ids
from rankscope._inputs.numbers import is_judged
from rankscope.deferred import np, pa, pc
from rankscope.errors import RankscopeError
from rankscope.spark.packing import number_queries, write_table
from rankscope.spark.parquet import UnreadableError, read_assigned
from rankscope.spark.tasks import ANSWER, AT_ONCE, ERROR, Part, Task, keep_memory, make_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.spark.parquet import Piece
    from rankscope.spark.rows import Rows
    from rankscope.spark.tasks import Job


MOST_AT_EDGE = 1 << 16
"""How many rows of a query go to the driver; those of a larger one are moved."""


class InPlace(NamedTuple):
    """The answer of one task about its partition.

    Args:
        part: What is known of the queries that it evaluated.
        queries: A number for each query that it has rows of but those two, as bytes of int64.
        edges: The rows of its first and last query, as Arrow writes them.
    """

    part: Part
    queries: bytes
    edges: bytes


def evaluating_in_place(
    job: Job, tasks: Sequence[Sequence[Piece]] = (), judgments: SmallJudgments | None = None
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function that evaluates the queries of a partition."""
    rows = job.last

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        keep_memory()
        task = Task(job)
        edges: list[Any] = []
        try:
            tables = _take_edges(cut(read_assigned(batches, tasks, rows.schema), rows), edges)
            if judgments is None:
                values, queries = _evaluate_joined(task, job, tables)
            else:
                values, queries = _evaluate_retrieved(task, job, tables, judgments)
            yield from values
        except (RankscopeError, UnreadableError, ApartError, MemoryError):
            # Which of several mistakes comes first depends on how rows are spread.
            yield make_row(ERROR, b"")
            return
        rest = write_table(pa.concat_tables(edges)) if edges else b""
        answer = InPlace(task.part.shrink(), queries.tobytes(), rest)
        yield make_row(ANSWER, pickle.dumps(answer))

    return run


class ApartError(Exception):
    """The rows of a query don't lie together, or are too many for the driver."""


def _take_edges(pieces: Iterable[tuple[Any, bool]], edges: list[Any]) -> Iterator[Any]:
    """Yield the tables whose queries are whole, and add the others to a list."""
    for table, is_whole in pieces:
        if is_whole:
            yield table
            continue
        edges.append(table)
        if table.num_rows > MOST_AT_EDGE:
            raise ApartError


def _evaluate_joined(
    task: Task, job: Job, tables: Iterable[Any]
) -> tuple[list[Any], NDArray[np.int64]]:
    """Evaluate tables, and return the rows with values and the numbers of their queries."""
    stream = TableStream()
    for table in tables:
        columns, _ = job.last.read(table).joined(job.last.attributes)
        if not stream.push(task.plan, columns, job.request.ties, job.duplicates, True, 1):
            raise ApartError
        task.check("joined", table)
        task.part.has_grades |= is_judged(columns.relevance)
    finished = stream.finish(task.plan, None)
    if finished is None:
        return [], np.zeros(0, np.int64)
    return task.take(*finished), _number_texts(finished[1], job.last)


def _evaluate_retrieved(
    task: Task, job: Job, tables: Iterable[Any], judgments: SmallJudgments
) -> tuple[list[Any], NDArray[np.int64]]:
    """Evaluate tables of a run, as `_evaluate_joined` does."""
    values: list[Any] = []
    numbers = [np.zeros(0, np.int64)]
    for table in tables:
        queries = number_ranked(table, job)
        firsts = queries[np.append(0, np.flatnonzero(queries[1:] != queries[:-1]) + 1)]
        queries = np.sort(firsts)
        if _has_equal(queries):
            raise ApartError
        values += task.evaluate({"judged": judgments.pick(queries), "retrieved": table})[0]
        numbers.append(queries)
    return values, np.concatenate(numbers)


def cut(batches: Iterable[Any], rows: Rows) -> Iterator[tuple[Any, bool]]:
    """Cut a partition into its first query, whole queries between, and its last query."""
    name = rows.names["query"]
    last = None
    for table in _chunk(batches, rows):
        rest = table
        if last is None:
            column = table.column(name)
            end = _find_other(pc.not_equal(column, column[0]), 0)
            yield table.slice(0, end), False
            rest = table.slice(table.num_rows if end is None else end)
        elif last.num_rows > 0:
            yield last, True
        last = rest
    if last is not None and last.num_rows > 0:
        end = _find_last(last, name)
        if end > 0:
            yield last.slice(0, end), True
        yield last.slice(end), False


def _chunk(batches: Iterable[Any], rows: Rows) -> Iterator[Any]:
    """Join batches into tables of about as many rows as are evaluated at once.

    Each but the last ends with the last row of a query. Stops at a query that is larger than that.
    """
    held: list[Any] = []
    count = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        held.append(batch.rename_columns(rows.columns))
        count += batch.num_rows
        if count >= AT_ONCE:
            table = pa.Table.from_batches(held)
            end = _find_last(table, rows.names["query"])
            if end == 0:
                break
            yield table.slice(0, end)
            held, count = table.slice(end).to_batches(), count - end
    if held:
        yield pa.Table.from_batches(held)


def _number_texts(queries: Sequence[str], rows: Rows) -> NDArray[np.int64]:
    """Return a number for each query as text, the same for those that differ only by case."""
    texts = pa.array(queries, pa.string())
    ids = texts.cast(pa.int64()) if rows.ids.query.dtype else texts
    return number_queries(read_ids(ids, rows.names["query"]))


def merge_in_place(
    answers: Sequence[InPlace], job: Job, judgments: SmallJudgments | None = None
) -> tuple[Part, list[Any]]:
    """Evaluate the rows at the edges of partitions, and verify that no query is in two places.

    Raises:
        ApartError: A query is.
        RankscopeError: Something is wrong with the rows.
    """
    task, part = Task(job), Part()
    numbers = [np.frombuffer(answer.queries, dtype=np.int64) for answer in answers]
    edges = [pa.ipc.open_stream(answer.edges).read_all() for answer in answers if answer.edges]
    values: list[Any] = []
    if judgments is not None:
        table = pa.concat_tables(edges) if edges else job.last.schema.empty_table()
        # Judgments whose query is at an edge, or that have no rows.
        judged = judgments.drop(np.concatenate(numbers or [np.zeros(0, np.int64)]))
        numbers.append(np.unique(number_ranked(table, job)))
        values, _ = task.evaluate({"judged": judged, "retrieved": table})
    elif edges:
        values, queries = task.evaluate({"joined": pa.concat_tables(edges)})
        numbers.append(_number_texts(queries, job.last))
    if numbers and _has_equal(np.sort(np.concatenate(numbers))):
        raise ApartError
    for answer in answers:
        part.merge(answer.part)
    part.merge(task.part)
    return part, values


def _has_equal(numbers: NDArray[np.int64]) -> bool:
    """Check whether two of ascending numbers are equal."""
    return bool(np.any(numbers[1:] == numbers[:-1]))


def _find_last(table: Any, name: str) -> int:  # noqa: ANN401 - PyArrow has no types
    """Return the row in which the last query begins."""
    column = table.column(name)
    found = _find_other(pc.not_equal(column, column[-1]), -1)
    return 0 if found is None else found + 1


def _find_other(differs: Any, place: int) -> int | None:  # noqa: ANN401 - as above
    """Return the first or the last row that differs, if one does."""
    found = pc.indices_nonzero(pc.fill_null(differs, False))
    return found[place].as_py() if len(found) > 0 else None


class SmallJudgments(NamedTuple):
    """All judgments, ordered by the number of their query.

    Args:
        table: The rows, as an Arrow table.
        numbers: The number of the query of each row, ascending.
    """

    table: Any
    numbers: NDArray[np.int64]

    @classmethod
    def of(cls, table: Any, job: Job) -> SmallJudgments:  # noqa: ANN401 - PyArrow has no types
        """Order judgments, which are an Arrow table.

        Raises:
            InputError: One of them isn't valid.
        """
        numbers = number_queries(job.first.read(table).judged()[0], by_text=job.by_text)
        order = np.argsort(numbers, kind="stable")
        return cls(table.combine_chunks().take(pa.array(order)), numbers[order])

    def pick(self, queries: NDArray[np.int64]) -> Any:  # noqa: ANN401 - as above
        """Return the rows of some queries, which are ascending numbers, each once."""
        starts = self.numbers.searchsorted(queries)
        counts = self.numbers.searchsorted(queries, side="right") - starts
        ends = np.cumsum(counts)
        places = np.repeat(starts - (ends - counts), counts) + np.arange(counts.sum())
        return self.table.take(pa.array(places))

    def drop(self, queries: NDArray[np.int64]) -> Any:  # noqa: ANN401 - as above
        """Return the rows of all queries but some."""
        rest = np.flatnonzero(~np.isin(self.numbers, queries))
        return self.table.take(pa.array(rest))


def number_ranked(table: Any, job: Job) -> NDArray[np.int64]:  # noqa: ANN401 - as above
    """Return the number of the query of each row of a run."""
    name = job.last.names["query"]
    return number_queries(read_ids(table.column(name), name), by_text=job.by_text)
