"""What runs on executors: packing the rows of a partition, and evaluating its queries."""

from __future__ import annotations

import pickle
from contextlib import nullcontext
from functools import partial

from rankscope._core import Rankings, Summary, evaluate_part, summarize, summarize_groups
from rankscope._evaluate.query_values import join_groups
from rankscope._inputs.columns import read_typed_values, to_arrow
from rankscope._inputs.list_checks import ListChecks
from rankscope._inputs.numbers import is_judged
from rankscope._inputs.roles import tags_of
from rankscope.deferred import np, pa, pc
from rankscope.errors import FormatError, OutOfMemoryError, RankscopeError
from rankscope.names import quote
from rankscope.records import record
from rankscope.spark.packing import find_columns, pack, unpack
from rankscope.spark.parquet import UnreadableError, read_assigned
from rankscope.spark.shared_folder import PieceFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._core import Plan
    from rankscope._evaluate.query_values import Groups
    from rankscope._evaluate.settings import Request
    from rankscope._inputs.columns import IdColumn
    from rankscope.spark.packing import Buckets, Rows
    from rankscope.spark.parquet import Piece

    Note: TypeAlias = tuple[str, int, int]
    Unmatched: TypeAlias = tuple[str, list[str], list[str]]

AT_ONCE = 1 << 18
"""How many rows are evaluated at once: little memory, and few calls."""
VALUES, ANSWER, ERROR, UNREADABLE = "values", "answer", "error", "unreadable"
"""What a row of a task holds: values of queries, the summary of all, an error, or that a file isn't
as Spark says."""
ANSWERS = "kind string, payload binary"
"""The schema of the rows of tasks, as Spark writes it."""
VALUES_AT_ONCE = 1 << 20
"""The values of how many queries become one row."""


@record(frozen=True, slots=True, kw_only=True)
class Job:
    """What all tasks evaluate.

    Args:
        request: The measures and the policy.
        rows: What rows hold, by their side.
        duplicates: What to do with a document that occurs twice in a query.
        grades: The different grades, where a measure needs to know them.
    """

    request: Request
    rows: Mapping[str, Rows]
    duplicates: str
    grades: tuple[float, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of what belongs to the query."""
        return next((rows.attributes for rows in self.rows.values() if rows.attributes), ())

    @property
    def by_text(self) -> bool:
        """Whether queries are integers on one side and texts on the other."""
        return len({rows.has_integer_queries for rows in self.rows.values()}) > 1


@record(frozen=True, slots=True, kw_only=True)
class Part:
    """The answer of one task.

    Args:
        summary: The packed summary of its queries; nothing if it had none.
        slices: The packed summary of each slice.
        notes: The code and the count of each note on the judgments.
        has_grades: Whether any document is judged.
        rows: The number of rows of each side.
        checks: What may say that a query has several lists.
        unmatched: A list without a judged document: its query, two documents of its judgments, and
            two of the list.
    """

    summary: bytes | None
    slices: Mapping[tuple[str, ...], bytes]
    notes: tuple[Note, ...]
    has_grades: bool
    rows: Mapping[str, int]
    checks: ListChecks
    unmatched: Unmatched | None


def packing(
    rows: Rows,
    buckets: Buckets,
    tasks: Sequence[Sequence[Piece]] = (),
    folder: str | None = None,
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function that packs a partition; its last row is an error if it found one."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        given = read_assigned(batches, tasks, rows.schema) if tasks else batches
        with nullcontext() if folder is None else PieceFile(folder) as file:
            yield from pack(given, rows, buckets, file)

    return partial(_catching, run, _error_row)


def evaluating(job: Job, *, in_files: bool = False) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function that evaluates a partition of packed rows, sorted by their buckets."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        task = Task(job)
        for packed in whole_buckets(batches):
            yield from task.evaluate(packed, in_files=in_files)
        yield make_row(ANSWER, pickle.dumps(task.make_part()))

    return partial(_catching, run, make_row)


def _catching(
    run: Callable[[Iterable[Any]], Iterator[Any]],
    write: Callable[[str, bytes], Any],
    batches: Iterable[Any],
) -> Iterator[Any]:
    """Yield the rows of a task; the last one says what was wrong, if something was."""
    keep_memory()
    try:
        yield from run(batches)
    except MemoryError as error:
        yield write(ERROR, pickle.dumps(describe_memory(error)))
    except RankscopeError as error:
        yield write(ERROR, pickle.dumps(error))
    except UnreadableError:
        yield write(UNREADABLE, b"")


def describe_memory(error: MemoryError) -> OutOfMemoryError:
    """Return the error for a task whose memory isn't enough, whoever noticed it."""
    if isinstance(error, OutOfMemoryError):
        return error
    return OutOfMemoryError(
        "a worker has too little memory for the rows of a bucket, or of the largest query",
        hint="give workers more memory, such as with spark.executor.pyspark.memory, or run fewer "
        "tasks at once with spark.executor.cores",
        code="memory",
    )


def whole_buckets(batches: Iterable[Any]) -> Iterator[Any]:
    """Join batches of rows sorted by bucket into tables that have all rows of some buckets."""
    held: list[Any] = []
    count, last = 0, None
    for batch in batches:
        numbers = batch.column("bucket").to_numpy()
        sizes = batch.column("size").to_numpy()
        start = 0
        # A bucket ends where the next begins, which may be in another batch.
        for end in [*(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist(), len(numbers)]:
            if count >= AT_ONCE and numbers[start] != last:
                yield pa.Table.from_batches(held)
                held, count = [], 0
            held.append(batch.slice(start, end - start))
            count, last = count + int(sizes[start:end].sum()), numbers[start]
            start = end
    if held:
        yield pa.Table.from_batches(held)


class Task:
    """Evaluates the queries of a partition, a table after the other."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.plan: Plan = job.request.plan(duplicates=job.duplicates)
        self._summaries: list[bytes] = []
        self._slices: dict[tuple[str, ...], list[bytes]] = {}
        self._notes: dict[str, int] = {}
        self._has_grades = False
        self._rows = dict.fromkeys(job.rows, 0)
        self._checks = ListChecks()
        self._unmatched: Unmatched | None = None

    def evaluate(self, packed: Any, *, in_files: bool) -> list[Any]:  # noqa: ANN401 - PyArrow has no types
        """Evaluate all rows of some queries, and return the rows with their values.

        Raises:
            InputError: Rows contradict one another, or the policy refuses them.
            UnreadableError: A file isn't as Spark says.
        """
        _raise_errors(packed)
        return self.evaluate_tables(
            {side: unpack(packed, rows, in_files=in_files) for side, rows in self._job.rows.items()}
        )[0]

    def evaluate_tables(self, given: Mapping[str, Any]) -> tuple[list[Any], list[str]]:
        """Evaluate Arrow tables by side, and return the rows with their values, and the queries.

        Raises:
            InputError: Rows contradict one another, or the policy refuses them.
        """
        for side, table in given.items():
            self._rows[side] += table.num_rows
            self.check(side, table)
        if "joined" in given:
            answer, ids, groups = self._evaluate_joined(given["joined"])
        else:
            answer, ids, groups = self._evaluate_pairs(given["judged"], given["retrieved"])
        return self.take(answer, ids, groups), ids

    def check(self, side: str, table: Any) -> None:  # noqa: ANN401 - PyArrow has no types
        """Note what may say that queries, all rows of which are here, have several lists."""
        rows = self._job.rows[side]
        self._checks.take_tags(table, tags_of(rows.checks))
        self._checks.note_splits(table, {**rows.checks, "query": rows.names["query"]})

    def count(self, side: str, rows: int, *, has_grades: bool) -> None:
        """Count rows that were evaluated elsewhere."""
        self._rows[side] += rows
        self._has_grades = self._has_grades or has_grades

    def take(self, answer: CoreEvaluation, ids: list[str], groups: list[Groups]) -> list[Any]:
        """Take the answer about some queries, and return the rows with their values."""
        self._summaries.append(summarize(answer))
        joined = join_groups(groups)
        if joined is not None:
            self._summarize_slices(answer, groups, joined)
        return self._make_values(answer, ids, groups)

    def make_part(self) -> Part:
        """Return the answer about all queries."""
        return Part(
            summary=Summary.merge(self._summaries).pack() if self._summaries else None,
            slices={key: Summary.merge(held).pack() for key, held in self._slices.items()},
            notes=tuple((code, count, 0) for code, count in self._notes.items()),
            has_grades=self._has_grades,
            rows=self._rows,
            checks=self._checks,
            unmatched=self._unmatched,
        )

    def _evaluate_joined(self, table: Any) -> tuple[CoreEvaluation, list[str], list[Groups]]:  # noqa: ANN401 - as above
        rows = self._job.rows["joined"]
        columns, _ = find_columns(table, rows).joined(rows.attributes)
        self._has_grades = self._has_grades or is_judged(columns.relevance)
        rankings = Rankings.from_table(
            columns,
            self._job.request.ties,
            self._job.duplicates,
            False,
            1,
        )
        groups = []
        for name in rows.attributes:
            values, codes = rankings.attribute(name) or ([], [])
            groups.append((name, values, codes))
        return rankings.evaluate(self.plan, 1), rankings.query_ids(), groups

    def _evaluate_pairs(
        self,
        judged: Any,  # noqa: ANN401 - as above
        retrieved: Any,  # noqa: ANN401 - as above
    ) -> tuple[CoreEvaluation, list[str], list[Groups]]:
        names = self._job.rows["judged"].attributes
        attributes = [read_typed_values(judged.column(name), name)[0] for name in names]
        queries, docs, grades = find_columns(judged, self._job.rows["judged"]).judged()
        self._has_grades = self._has_grades or len(grades) > 0
        answer, ids, notes = evaluate_part(
            (queries, docs, grades),
            find_columns(retrieved, self._job.rows["retrieved"]).retrieved(),
            self.plan,
            self._job.request.ties,
            self._job.duplicates,
            self._job.request.score_type,
            1,
        )
        for code, count, _ in notes:
            self._notes[code] = self._notes.get(code, 0) + count
        unmatched = None if self._unmatched else answer.unmatched()
        if unmatched is not None:
            query = ids[unmatched[0]]
            of_query = pc.equal(to_arrow(queries).cast(pa.large_string()), query)
            texts = to_arrow(docs).cast(pa.large_string()).filter(of_query)
            self._unmatched = query, sorted(texts.to_pylist())[:2], unmatched[1]
        groups = [
            _group(name, ids, *_list_pairs(queries, values))
            for name, values in zip(names, attributes, strict=True)
        ]
        return answer, ids, groups

    def _summarize_slices(
        self, answer: CoreEvaluation, groups: Sequence[Groups], joined: Groups
    ) -> None:
        _, values, codes = joined
        queries = dict(zip(reversed(codes), reversed(range(len(codes))), strict=True))
        packed = summarize_groups(answer, codes, len(values))
        for group, summary in enumerate(packed):
            query = queries.get(group)
            if query is not None:
                key = tuple(words[numbers[query]] for _, words, numbers in groups)
                self._slices.setdefault(key, []).append(summary)

    def _make_values(
        self, answer: CoreEvaluation, ids: list[str], groups: list[Groups]
    ) -> list[Any]:

        arrays = [pa.array(ids, pa.string())]
        arrays += [
            pa.array([values[code] for code in codes], pa.string()) for _, values, codes in groups
        ]
        for at in range(len(self._job.request.measures)):
            column = np.frombuffer(memoryview(answer.values(at)), dtype=np.float64)
            arrays.append(pa.array(column))
        table = pa.table(arrays, name_values(self._job))
        return [
            make_row(VALUES, write_table(table.slice(start, VALUES_AT_ONCE)))
            for start in range(0, table.num_rows, VALUES_AT_ONCE)
        ]


def unpacking_values() -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function that makes a row for each query of the rows of tasks."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for payload in batch.column("payload"):
                yield from pa.ipc.open_stream(payload.as_buffer())

    return run


def make_row(kind: str, payload: bytes) -> Any:  # noqa: ANN401 - as above
    """Return a row of a task."""
    columns = [pa.array([kind]), pa.array([payload], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, ["kind", "payload"])


def write_table(table: Any) -> bytes:  # noqa: ANN401 - as above
    """Return a table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def describe_values(job: Job) -> str:
    """Return the schema of the values of queries, as Spark writes it."""
    kinds = ["string", *["string"] * len(job.attributes)]
    kinds += ["double"] * len(job.request.measures)
    return ", ".join(f"{name} {kind}" for name, kind in zip(name_values(job), kinds, strict=True))


def name_values(job: Job) -> list[str]:
    """Return the names of the columns of the values of queries."""
    names = ["query", *(f"a{at}" for at in range(len(job.attributes)))]
    return [*names, *(f"m{at}" for at in range(len(job.request.measures)))]


def _list_pairs(queries: IdColumn, values: IdColumn) -> tuple[list[str], list[str]]:
    """Return each different pair of a query and a value, as texts."""
    texts = [to_arrow(ids).cast(pa.string()) for ids in (queries, values)]
    pairs = pa.table(texts, ["query", "value"]).group_by(["query", "value"]).aggregate([])
    return pairs.column("query").to_pylist(), pairs.column("value").to_pylist()


def _group(name: str, ids: list[str], queries: list[str], values: list[str]) -> Groups:
    """Return the value of each judged query."""
    held = dict(zip(queries, values, strict=True))
    for query, value in zip(queries, values, strict=True):
        if held[query] != value:
            found = " and ".join(sorted((quote(value), quote(held[query]))))
            raise FormatError(
                f"expected one {name} in all rows of query {quote(query)}, found {found}",
                hint="an attribute belongs to the query, not to the document",
                code="attribute_conflict",
            )
    codes: dict[str, int] = {}
    of_queries = [codes.setdefault(held[query], len(codes)) for query in ids]
    return name, list(codes), of_queries


def _error_row(kind: str, payload: bytes) -> Any:  # noqa: ANN401 - as above
    """Return a packed row that carries an error to the task that evaluates."""
    columns = {
        "bucket": pa.array([0], pa.int32()),
        "side": pa.array([kind]),
        "size": pa.array([0], pa.int32()),
        "rows": pa.array([payload], pa.binary()),
    }
    return pa.RecordBatch.from_pydict(columns)


def _raise_errors(packed: Any) -> None:  # noqa: ANN401 - as above
    sides = packed.column("side")
    if pc.any(pc.equal(sides, UNREADABLE)).as_py():
        raise UnreadableError
    found = packed.filter(pc.equal(sides, ERROR)).column("rows").to_pylist()
    if found:
        errors = [pickle.loads(each) for each in found]  # noqa: S301 - our own rows
        raise min(errors, key=str)


MOST_FROM_HEAP = 1 << 26
"""Arrays of up to so many bytes come from memory that was used before."""
MOST_KEPT = 1 << 27
"""How many free bytes a worker keeps."""


def keep_memory() -> None:
    """Let the allocator of the C library keep memory that is freed, where it has such settings.

    Otherwise the system takes back each large array, and clears its pages for the next one, at a
    quarter of the cost of evaluating rows. No value depends on this.
    """
    import ctypes  # noqa: PLC0415 - only workers need it

    adjust = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc
    if adjust is not None:
        adjust(-3, MOST_FROM_HEAP)  # M_MMAP_THRESHOLD
        adjust(-1, MOST_KEPT)  # M_TRIM_THRESHOLD
