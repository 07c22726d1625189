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
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rankscope._core import TableStream
from rankscope._inputs.columns import read_ids
from rankscope._inputs.numbers import is_judged
from rankscope.errors import RankscopeError
from rankscope.spark.files import Piece, Table, UnreadableError, read_assigned
from rankscope.spark.frames import Rows
from rankscope.spark.packing import number_queries, write_table
from rankscope.spark.tasks import (
    ANSWER,
    AT_ONCE,
    ERROR,
    Job,
    Part,
    Run,
    Task,
    keep_memory,
    make_row,
)

MOST_AT_EDGE = 1 << 16
"""How many rows of a query go to the driver; those of a larger one are moved."""


class InPlace(NamedTuple):
    """The answer of one task: the results of whole queries, and the rows of the others.

    `queries` has a number for each query that it evaluated, as bytes of int64, and `edges` the rows
    of its first and last query, as Arrow writes them.
    """

    part: Part
    queries: bytes
    edges: bytes


def evaluating_in_place(
    job: Job, tasks: Sequence[Sequence[Piece]] = (), judgments: SmallJudgments | None = None
) -> Run:
    """Return the function that evaluates the queries of a partition."""
    rows = job.last

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        keep_memory()
        task = Task(job)
        try:
            pieces = cut(read_assigned(batches, tasks, rows.schema), rows)
            values, queries, edges = _evaluate(task, job, pieces, judgments)
            yield from values
        except (RankscopeError, UnreadableError, ApartError, MemoryError):
            # Which of several mistakes comes first depends on how rows are spread.
            yield make_row(ERROR, pickle.dumps(None))
            return
        rest = write_table(pa.concat_tables(edges)) if edges else b""
        answer = InPlace(task.part.shrink(), queries.tobytes(), rest)
        yield make_row(ANSWER, pickle.dumps(answer))

    return run


class ApartError(Exception):
    """The rows of a query don't lie together, or are too many for the driver."""


def _evaluate(
    task: Task, job: Job, pieces: Iterable[tuple[Any, bool]], judgments: SmallJudgments | None
) -> tuple[list[Any], NDArray[np.int64], list[Any]]:
    """Evaluate a partition; return rows with values, numbers of their queries, and the edges."""
    values: list[Any] = []
    edges: list[Any] = []
    numbers = [np.zeros(0, np.int64)]
    stream = TableStream()
    for table, is_whole in pieces:
        if not is_whole:
            edges.append(table)
            if table.num_rows > MOST_AT_EDGE:
                raise ApartError
        elif judgments is None:
            columns, _ = job.last.read(table).joined(job.last.attributes)
            if not stream.push(task.plan, columns, job.request.ties, job.duplicates, True, 1):
                raise ApartError
            task.check("joined", table)
            task.part.has_grades |= is_judged(columns.relevance)
        else:
            rows = number_ranked(table, job)
            queries = np.sort(rows[np.append(0, np.flatnonzero(np.diff(rows)) + 1)])
            if _has_equal(queries):
                raise ApartError
            values += task.evaluate({"judged": judgments.pick(queries), "retrieved": table})[0]
            numbers.append(queries)
    finished = stream.finish(task.plan, None) if judgments is None else None
    if finished is not None:
        return task.take(*finished), _number_texts(finished[1], job.last), edges
    return values, np.concatenate(numbers), edges


def cut(batches: Iterable[Any], rows: Rows) -> Iterator[tuple[Any, bool]]:
    """Cut a partition into its first query, whole queries between, and its last query."""
    name = rows.names["query"]
    last = None
    for table in _chunk(batches, rows):
        rest = table
        if last is None:
            column = table.column(name)
            others = _find_rows(pc.not_equal(column, column[0]))
            end = int(others[0]) if len(others) else table.num_rows
            yield table.slice(0, end), False
            rest = table.slice(end)
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
    kept: list[Any] = []
    count = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        kept.append(batch.rename_columns(rows.schema.names))
        count += batch.num_rows
        if count >= AT_ONCE:
            table = pa.Table.from_batches(kept)
            end = _find_last(table, rows.names["query"])
            if end == 0:
                break
            yield table.slice(0, end)
            kept, count = table.slice(end).to_batches(), count - end
    if kept:
        yield pa.Table.from_batches(kept)


def _number_texts(queries: Sequence[str], rows: Rows) -> NDArray[np.int64]:
    """Return a number for each query as text, the same for those that differ only by case."""
    texts = pa.array(queries, pa.string())
    ids = texts.cast(pa.int64()) if rows.ids.query.dtype else texts
    return number_queries(read_ids(ids, rows.names["query"]))


def merge_in_place(
    answers: Sequence[InPlace], job: Job, judgments: SmallJudgments | None
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


def _find_last(table: Table, name: str) -> int:
    """Return the row in which the last query begins."""
    column = table.column(name)
    others = _find_rows(pc.not_equal(column, column[-1]))
    return int(others[-1]) + 1 if len(others) else 0


def _find_rows(condition: Table) -> NDArray[np.uint64]:
    rows: NDArray[np.uint64] = pc.indices_nonzero(pc.fill_null(condition, False)).to_numpy()
    return rows


class SmallJudgments(NamedTuple):
    """All judgments, ordered by the number of their query."""

    table: Table
    numbers: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, job: Job) -> SmallJudgments:
        """Order judgments, which are an Arrow table.

        Raises:
            InputError: One of them isn't valid.
        """
        numbers = number_queries(job.first.read(table).judged()[0], by_text=job.by_text)
        order = np.argsort(numbers, kind="stable")
        return cls(table.combine_chunks().take(pa.array(order)), numbers[order])

    def pick(self, queries: NDArray[np.int64]) -> Table:
        """Return the rows of some queries, which are ascending numbers, each once."""
        starts = self.numbers.searchsorted(queries)
        counts = self.numbers.searchsorted(queries, side="right") - starts
        ends = np.cumsum(counts)
        places = np.repeat(starts - (ends - counts), counts) + np.arange(counts.sum())
        return self.table.take(pa.array(places))

    def drop(self, queries: NDArray[np.int64]) -> Table:
        """Return the rows of all queries but some."""
        rest = np.flatnonzero(~np.isin(self.numbers, queries))
        return self.table.take(pa.array(rest))


def number_ranked(table: Table, job: Job) -> NDArray[np.int64]:
    """Return the number of the query of each row of a run."""
    name = job.last.names["query"]
    return number_queries(read_ids(table.column(name), name), by_text=job.by_text)
