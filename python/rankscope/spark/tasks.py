"""What runs on executors: packing the rows of a partition, and evaluating its queries."""

from __future__ import annotations

import pickle
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rankscope._core import Evaluation as CoreEvaluation
from rankscope._core import Plan, Rankings, Summary, evaluate_part, summarize, summarize_groups
from rankscope._evaluate.query_values import Groups, encode, join_groups
from rankscope._evaluate.settings import Request
from rankscope._inputs.column_names import tags_of
from rankscope._inputs.columns import read_typed_values, to_arrow
from rankscope._inputs.lists import ListChecks
from rankscope._inputs.numbers import is_judged
from rankscope._names import quote
from rankscope.errors import FormatError, OutOfMemoryError, RankscopeError
from rankscope.spark.files import Piece, Table, UnreadableError, read_assigned
from rankscope.spark.frames import Rows
from rankscope.spark.packing import make_packed, pack, unpack, write_table

if TYPE_CHECKING:
    from rankscope._inputs.columns import IdColumn

Summaries: TypeAlias = dict[tuple[str, ...], Summary]
Run: TypeAlias = Callable[[Iterable[Any]], Iterator[Any]]

AT_ONCE = 1 << 18
"""How many rows are evaluated at once: little memory, and few calls."""
VALUES, ANSWER, ERROR = "values", "answer", "error"
"""What a row of a task holds: values of queries, the summary of all, or an error."""
ANSWERS = "kind string, payload binary"
QUERIES_OF_ROW = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What all tasks evaluate, and what rows hold, by their side."""

    request: Request
    rows: Mapping[str, Rows]
    duplicates: str

    @property
    def first(self) -> Rows:
        """The rows with the judgments, and with what belongs to queries."""
        return next(iter(self.rows.values()))

    @property
    def last(self) -> Rows:
        """The rows with the lists."""
        return [*self.rows.values()][-1]

    @property
    def by_text(self) -> bool:
        """Whether queries are integers on one side and texts on the other."""
        return bool(self.first.ids.query.dtype) != bool(self.last.ids.query.dtype)

    @property
    def columns(self) -> dict[str, str]:
        """The types of the columns of values, as Spark calls them."""
        attributes = {f"a{at}": "string" for at in range(len(self.first.attributes))}
        values = {f"m{at}": "double" for at in range(len(self.request.measures))}
        return {"query": "string", **attributes, **values}


class Unmatched(NamedTuple):
    """A list without a judged document: its query, and documents of both sides."""

    query: str
    judged: list[str]
    retrieved: list[str]


class Part:
    """The results of some queries. Parts are merged exactly, in any order."""

    def __init__(self) -> None:
        self.sums: defaultdict[tuple[str, ...], list[bytes]] = defaultdict(list)
        """Packed summaries by slice; those of all queries have the key `()`."""
        self.notes: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        """How many rows each side has."""
        self.has_grades = False
        self.checks = ListChecks()
        self.unmatched: list[Unmatched] = []

    def merge(self, other: Part) -> None:
        """Add the results of other queries."""
        for key, packed in other.sums.items():
            self.sums[key] += packed
        self.notes.update(other.notes)
        self.rows.update(other.rows)
        self.has_grades |= other.has_grades
        self.checks.merge(other.checks)
        self.unmatched += other.unmatched

    def summarize(self) -> Summaries:
        """Return the summary of each slice."""
        return {key: Summary.merge(packed) for key, packed in self.sums.items()}

    def shrink(self) -> Part:
        """Keep one summary of each slice, and return the part, which is to travel."""
        for key, summary in self.summarize().items():
            self.sums[key] = [summary.pack()]
        return self


def packing(
    rows: Rows, buckets: int, tasks: Sequence[Sequence[Piece]] = (), *, by_text: bool = False
) -> Run:
    """Return the function that packs a partition; its last row is an error if it found one."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        return pack(read_assigned(batches, tasks, rows.schema), rows, buckets, by_text=by_text)

    return partial(_catch, run, lambda error: make_packed([(0, ERROR, 0, error)]))


def evaluating(job: Job) -> Run:
    """Return the function that evaluates a partition of packed rows, sorted by their buckets."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        task = Task(job)
        for packed in _join_buckets(batches):
            errors = packed.filter(pc.equal(packed["side"], ERROR))["rows"].to_pylist()
            raise_first([pickle.loads(error) for error in errors])  # noqa: S301 - our own rows
            tables = {side: unpack(packed, rows) for side, rows in job.rows.items()}
            yield from task.evaluate(tables)[0]
        yield make_row(ANSWER, pickle.dumps(task.part.shrink()))

    return partial(_catch, run, partial(make_row, ERROR))


def _catch(run: Run, write: Callable[[bytes], Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of a task; the last one says what was wrong, if something was."""
    keep_memory()
    try:
        yield from run(batches)
    except (RankscopeError, UnreadableError) as error:
        yield write(pickle.dumps(error))
    except MemoryError:
        problem = "a worker has too little memory for the rows of a bucket, or of the largest query"
        hint = (
            "give workers more memory, such as with spark.executor.pyspark.memory, or run fewer "
            "tasks at once with spark.executor.cores"
        )
        yield write(pickle.dumps(OutOfMemoryError(problem, hint=hint, code="memory")))


def raise_first(errors: Sequence[Exception]) -> None:
    """Raise the same error however rows are spread, without its row, which depends on that.

    Raises:
        UnreadableError: Spark has to read a file.
        RankscopeError: There is one.
    """
    for error in errors:
        if isinstance(error, UnreadableError):
            raise error
        error.line = None  # type: ignore[attr-defined]  # of errors of ours
    if errors:
        raise min(errors, key=str)


def _join_buckets(batches: Iterable[Any]) -> Iterator[Any]:
    """Join batches of rows sorted by bucket into tables that have all rows of some buckets."""
    kept: list[Any] = []
    count, last = 0, None
    for batch in batches:
        numbers = batch.column("bucket").to_numpy()
        sizes = batch.column("size").to_numpy()
        start = 0
        # A bucket ends where the next begins, which may be in another batch.
        for end in [*(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist(), len(numbers)]:
            if count >= AT_ONCE and numbers[start] != last:
                yield pa.Table.from_batches(kept)
                kept, count = [], 0
            kept.append(batch.slice(start, end - start))
            count, last = count + int(sizes[start:end].sum()), numbers[start]
            start = end
    if kept:
        yield pa.Table.from_batches(kept)


class Task:
    """Evaluates the queries of a partition, some at a time."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.plan: Plan = job.request.plan(duplicates=job.duplicates)
        self.part = Part()

    def evaluate(self, tables: Mapping[str, Any]) -> tuple[list[Any], list[str]]:
        """Evaluate Arrow tables by side, and return the rows with their values, and the queries.

        Raises:
            InputError: Rows contradict one another, or the policy refuses them.
        """
        for side, table in tables.items():
            self.check(side, table)
        evaluate = self._evaluate_joined if "joined" in tables else self._evaluate_pairs
        evaluated, ids, groups = evaluate(**tables)
        return self.take(evaluated, ids, groups), ids

    def check(self, side: str, table: Table) -> None:
        """Count rows, all of their queries, and note what may say that these have several lists."""
        rows = self._job.rows[side]
        self.part.rows[side] += table.num_rows
        self.part.checks.take_tags(table, tags_of(rows.checks))
        self.part.checks.note_splits(table, {**rows.checks, "query": rows.names["query"]})

    def take(self, evaluated: CoreEvaluation, ids: list[str], groups: list[Groups]) -> list[Any]:
        """Take the values of some queries, and return the rows with them."""
        self.part.sums[()].append(summarize(evaluated))
        texts = [[values[code] for code in codes] for _, values, codes in groups]
        joined = join_groups(groups)
        if joined is not None:
            _, values, codes = joined
            packed = summarize_groups(evaluated, codes, len(values))
            keys = dict(zip(codes, zip(*texts, strict=True), strict=True))
            for code, key in keys.items():
                self.part.sums[key].append(packed[code])
        arrays = [pa.array(column, pa.string()) for column in (ids, *texts)]
        for at in range(len(self._job.request.measures)):
            column = np.frombuffer(memoryview(evaluated.values(at)), np.float64)
            arrays.append(pa.array(column))
        table = pa.table(arrays, [*self._job.columns])
        return [
            make_row(VALUES, write_table(table.slice(start, QUERIES_OF_ROW)))
            for start in range(0, table.num_rows, QUERIES_OF_ROW)
        ]

    def _evaluate_joined(self, joined: Table) -> tuple[CoreEvaluation, list[str], list[Groups]]:
        job, rows = self._job, self._job.first
        columns, _ = rows.read(joined).joined(rows.attributes)
        self.part.has_grades |= is_judged(columns.relevance)
        rankings = Rankings.from_table(columns, job.request.ties, job.duplicates, False, 1)
        groups = [(name, *(rankings.attribute(name) or ([], []))) for name in rows.attributes]
        return rankings.evaluate(self.plan, 1), rankings.query_ids(), groups

    def _evaluate_pairs(
        self, judged: Table, retrieved: Table
    ) -> tuple[CoreEvaluation, list[str], list[Groups]]:
        job, request, part = self._job, self._job.request, self.part
        queries, docs, grades = job.first.read(judged).judged()
        part.has_grades |= len(grades) > 0
        lists = job.last.read(retrieved).retrieved()
        settings = (self.plan, request.ties, job.duplicates, request.score_type, 1)
        evaluated, ids, notes = evaluate_part((queries, docs, grades), lists, *settings)
        for code, count, _ in notes:
            part.notes[code] += count
        unmatched = None if part.unmatched else evaluated.unmatched()
        if unmatched is not None:
            query = ids[unmatched[0]]
            of_query = pc.equal(to_arrow(queries).cast(pa.large_string()), query)
            texts = to_arrow(docs).cast(pa.large_string()).filter(of_query)
            part.unmatched = [Unmatched(query, sorted(texts.to_pylist())[:2], unmatched[1])]
        groups = []
        for name in job.first.attributes:
            values = read_typed_values(judged.column(name), name)[0]
            groups.append(encode(name, _find_values(name, ids, queries, values)))
        return evaluated, ids, groups


def unpack_values(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield a row for each query of the rows of tasks."""
    for batch in batches:
        for payload in batch.column("payload"):
            yield from pa.ipc.open_stream(payload.as_buffer())


def make_row(kind: str, payload: bytes) -> Table:
    """Return a row of a task."""
    columns = [pa.array([kind]), pa.array([payload], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, ["kind", "payload"])


def _find_values(name: str, ids: list[str], queries: IdColumn, values: IdColumn) -> list[str]:
    """Return the value of each judged query."""
    texts = [to_arrow(column).cast(pa.string()) for column in (queries, values)]
    pairs = pa.table(texts, ["query", "value"]).group_by(["query", "value"]).aggregate([])
    by_query: dict[str, str] = {}
    for query, value in zip(*(column.to_pylist() for column in pairs.columns), strict=True):
        if by_query.setdefault(query, value) != value:
            pair = " and ".join(sorted((quote(value), quote(by_query[query]))))
            problem = f"expected one {name} in all rows of query {quote(query)}, found {pair}"
            hint = "an attribute belongs to the query, not to the document"
            raise FormatError(problem, hint=hint, code="attribute_conflict")
    return [by_query[query] for query in ids]


def keep_memory() -> None:
    """Let the allocator of the C library keep memory that is freed, where it has such settings.

    Otherwise the system takes back each large array, and clears its pages for the next one, at a
    quarter of the cost of evaluating rows. No value depends on this.
    """
    import ctypes

    adjust = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc
    if adjust is not None:
        adjust(-3, 1 << 26)  # M_MMAP_THRESHOLD: larger arrays come from the system
        adjust(-1, 1 << 27)  # M_TRIM_THRESHOLD: so many free bytes are kept
