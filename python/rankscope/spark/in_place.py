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

from rankscope._core import TableStream
from rankscope._inputs.columns import read_ids
from rankscope._inputs.numbers import is_judged
from rankscope.deferred import np, pa, pc
from rankscope.errors import RankscopeError
from rankscope.records import record
from rankscope.spark.packing import find_columns, number_queries
from rankscope.spark.parquet import UnreadableError, read_assigned
from rankscope.spark.tasks import (
    ANSWER,
    AT_ONCE,
    ERROR,
    Task,
    keep_memory,
    make_row,
    write_table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.spark.packing import Rows
    from rankscope.spark.parquet import Piece
    from rankscope.spark.tasks import Job, Part


MOST_AT_EDGE = 1 << 16
"""How many rows of a query go to the driver; those of a larger one are moved."""


@record(frozen=True, slots=True, kw_only=True)
class InPlace:
    """The answer of one task about its partition.

    Args:
        part: The answer about the queries that it evaluated.
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
    rows = job.rows["joined" if judgments is None else "retrieved"]

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        keep_memory()
        task = Task(job)
        edges: list[Any] = []
        try:
            given = read_assigned(batches, tasks, rows.schema) if tasks else batches
            pieces = _take_edges(cut(given, rows), edges)
            if judgments is None:
                values, queries = _evaluate_joined(task, job, pieces)
            else:
                values, queries = _evaluate_retrieved(task, job, pieces, judgments)
            yield from values
        except (RankscopeError, UnreadableError, ApartError, MemoryError):
            # Which of several mistakes comes first depends on how rows are spread.
            yield make_row(ERROR, b"")
            return
        rest = write_table(pa.concat_tables(edges)) if edges else b""
        answer = InPlace(part=task.make_part(), queries=queries.tobytes(), edges=rest)
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
    task: Task, job: Job, pieces: Iterable[Any]
) -> tuple[list[Any], NDArray[np.int64]]:
    """Evaluate tables, and return the rows with values and the numbers of their queries."""
    rows, stream, count, has_grades = job.rows["joined"], TableStream(), 0, False
    for table in pieces:
        columns, _ = find_columns(table, rows).joined(rows.attributes)
        if not stream.push(task.plan, columns, job.request.ties, job.duplicates, True, 1):
            raise ApartError
        count += table.num_rows
        task.check("joined", table)
        has_grades = has_grades or is_judged(columns.relevance)
    finished = stream.finish(task.plan, None)
    if finished is None:
        return [], np.zeros(0, np.int64)
    task.count("joined", count, has_grades=has_grades)
    return task.take(*finished), _number_texts(finished[1], rows)


def _evaluate_retrieved(
    task: Task, job: Job, pieces: Iterable[Any], judgments: SmallJudgments
) -> tuple[list[Any], NDArray[np.int64]]:
    """Evaluate tables of a run, as `_evaluate_joined` does."""
    values: list[Any] = []
    numbers = [np.zeros(0, np.int64)]
    for table in pieces:
        queries = number_ranked(table, job.rows["retrieved"], by_text=job.by_text)
        if queries is None:
            raise ApartError
        values += task.evaluate_tables({"judged": judgments.pick(queries), "retrieved": table})[0]
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
    ids = texts.cast(pa.int64()) if rows.has_integer_queries else texts
    return number_queries(read_ids(ids, rows.names["query"]))


def merge_in_place(
    answers: Sequence[InPlace], job: Job, judgments: SmallJudgments | None = None
) -> tuple[list[Part], list[Any]] | None:
    """Evaluate the rows at the edges of partitions, and verify that no query is in two places."""
    task = Task(job)
    numbers = [np.zeros(0, np.int64)]
    numbers += [np.frombuffer(answer.queries, dtype=np.int64) for answer in answers]
    held = [pa.ipc.open_stream(answer.edges).read_all() for answer in answers if answer.edges]
    edges = pa.concat_tables(held) if held else None
    values: list[Any] = []
    if judgments is None and edges is not None:
        values, queries = task.evaluate_tables({"joined": edges})
        numbers.append(_number_texts(queries, job.rows["joined"]))
    elif judgments is not None:
        rows = job.rows["retrieved"]
        if edges is None:
            edges = rows.schema.empty_table()
        name = rows.names["query"]
        numbers.append(
            np.unique(number_queries(read_ids(edges.column(name), name), by_text=job.by_text))
        )
        # Judgments whose query is at an edge, or that have no rows.
        judged = judgments.drop(np.concatenate(numbers[:-1]))
        values, _ = task.evaluate_tables({"judged": judged, "retrieved": edges})
    found = np.sort(np.concatenate(numbers))
    if np.any(found[1:] == found[:-1]):
        return None
    return [*(answer.part for answer in answers), task.make_part()], values


def _find_last(table: Any, name: str) -> int:  # noqa: ANN401 - PyArrow has no types
    """Return the row in which the last query begins."""
    column = table.column(name)
    found = _find_other(pc.not_equal(column, column[-1]), -1)
    return 0 if found is None else found + 1


def _find_other(differs: Any, place: int) -> int | None:  # noqa: ANN401 - as above
    """Return the first or the last row that differs, if one does."""
    found = pc.indices_nonzero(pc.fill_null(differs, False))
    return found[place].as_py() if len(found) > 0 else None


MOST_ROWS = 1 << 22
"""How many rows of judgments go to every task; where there are more, rows are moved."""


@record(frozen=True, slots=True, kw_only=True)
class SmallJudgments:
    """All judgments, ordered by the number of their query.

    Args:
        table: The rows, as an Arrow table.
        numbers: The number of the query of each row, ascending.
    """

    table: Any
    numbers: NDArray[np.int64]

    def pick(self, queries: NDArray[np.int64]) -> Any:  # noqa: ANN401 - PyArrow has no types
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


def order_judgments(table: Any, rows: Rows, *, by_text: bool) -> SmallJudgments:  # noqa: ANN401 - as above
    """Order judgments, which are an Arrow table, by the number of their query."""
    numbers = number_queries(find_columns(table, rows).judged()[0], by_text=by_text)
    order = np.argsort(numbers, kind="stable")
    ordered = table.combine_chunks().take(pa.array(order))
    return SmallJudgments(table=ordered, numbers=numbers[order])


def number_ranked(table: Any, rows: Rows, *, by_text: bool) -> NDArray[np.int64] | None:  # noqa: ANN401 - as above
    """Return the numbers of the queries of a run, ascending."""
    name = rows.names["query"]
    numbers = number_queries(read_ids(table.column(name), name), by_text=by_text)
    starts = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    found = np.sort(numbers[np.append(0, starts)])
    return None if np.any(found[1:] == found[:-1]) else found
