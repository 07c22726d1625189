"""What runs on executors: packing the rows of a partition, and evaluating its queries."""

from __future__ import annotations

import pickle
from collections import Counter, defaultdict
from functools import partial

from rankscope._core import Rankings, Summary, evaluate_part, summarize, summarize_groups
from rankscope._evaluate.query_values import encode, join_groups
from rankscope._inputs.columns import read_typed_values, to_arrow
from rankscope._inputs.list_checks import ListChecks
from rankscope._inputs.numbers import is_judged
from rankscope._inputs.roles import tags_of
from rankscope.deferred import np, pa, pc
from rankscope.errors import FormatError, OutOfMemoryError, RankscopeError
from rankscope.names import quote
from rankscope.records import record
from rankscope.spark.packing import make_packed, pack, unpack, write_table
from rankscope.spark.parquet import UnreadableError, read_assigned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._core import Plan
    from rankscope._evaluate.query_values import Groups
    from rankscope._evaluate.settings import Request
    from rankscope._inputs.columns import IdColumn
    from rankscope.spark.parquet import Piece
    from rankscope.spark.rows import Rows

    Unmatched: TypeAlias = tuple[str, list[str], list[str]]
    """A list without a judged document: its query, documents of its judgments, and of the list."""
    Run: TypeAlias = Callable[[Iterable[Any]], Iterator[Any]]

AT_ONCE = 1 << 18
"""How many rows are evaluated at once: little memory, and few calls."""
VALUES, ANSWER, ERROR = "values", "answer", "error"
"""What a row of a task holds: values of queries, the summary of all, or an error."""
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
    """

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


class Part:
    """What is known of some queries. Parts are merged exactly, in any order.

    Attributes:
        sums: Packed summaries by slice; those of all queries have the key `()`.
        notes: The count of each note on the judgments, by its code.
        rows: The number of rows of each side.
        has_grades: Whether any document is judged.
        checks: What may say that a query has several lists.
        unmatched: Some of the lists without a judged document.
    """

    def __init__(self) -> None:
        self.sums: defaultdict[tuple[str, ...], list[bytes]] = defaultdict(list)
        self.notes: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        self.has_grades = False
        self.checks = ListChecks()
        self.unmatched: list[Unmatched] = []

    def merge(self, other: Part) -> None:
        """Add what is known of other queries."""
        for key, packed in other.sums.items():
            self.sums[key] += packed
        self.notes.update(other.notes)
        self.rows.update(other.rows)
        self.has_grades |= other.has_grades
        self.checks.merge(other.checks)
        self.unmatched += other.unmatched

    def summarize(self) -> dict[tuple[str, ...], Summary]:
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

    return partial(_catching, run, lambda error: make_packed([(0, ERROR, 0, error)]))


def evaluating(job: Job) -> Run:
    """Return the function that evaluates a partition of packed rows, sorted by their buckets."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        task = Task(job)
        for packed in whole_buckets(batches):
            errors = packed.filter(pc.equal(packed["side"], ERROR))["rows"].to_pylist()
            raise_first([pickle.loads(error) for error in errors])  # noqa: S301 - our own rows
            tables = {side: unpack(packed, rows) for side, rows in job.rows.items()}
            yield from task.evaluate(tables)[0]
        yield make_row(ANSWER, pickle.dumps(task.part.shrink()))

    return partial(_catching, run, partial(make_row, ERROR))


def _catching(run: Run, write: Callable[[bytes], Any], batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of a task; the last one says what was wrong, if something was."""
    keep_memory()
    try:
        yield from run(batches)
    except (RankscopeError, UnreadableError, MemoryError) as error:
        yield write(pickle.dumps(describe_memory(error)))


def describe_memory(error: Exception) -> Exception:
    """Return the error for a task that ran out of memory, and any other error unchanged."""
    if isinstance(error, RankscopeError) or not isinstance(error, MemoryError):
        return error
    return OutOfMemoryError(
        "a worker has too little memory for the rows of a bucket, or of the largest query",
        hint="give workers more memory, such as with spark.executor.pyspark.memory, or run fewer "
        "tasks at once with spark.executor.cores",
        code="memory",
    )


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
    """Evaluates the queries of a partition, some at a time.

    Args:
        job: What is evaluated.

    Attributes:
        plan: The plan that the core evaluates.
        part: What is known of the queries so far.
    """

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
        if "joined" in tables:
            answer, ids, groups = self._evaluate_joined(tables["joined"])
        else:
            answer, ids, groups = self._evaluate_pairs(tables["judged"], tables["retrieved"])
        return self.take(answer, ids, groups), ids

    def check(self, side: str, table: Any) -> None:  # noqa: ANN401 - PyArrow has no types
        """Count rows, all of their queries, and note what may say that these have several lists."""
        rows = self._job.rows[side]
        self.part.rows[side] += table.num_rows
        self.part.checks.take_tags(table, tags_of(rows.checks))
        self.part.checks.note_splits(table, {**rows.checks, "query": rows.names["query"]})

    def take(self, answer: CoreEvaluation, ids: list[str], groups: list[Groups]) -> list[Any]:
        """Take the answer about some queries, and return the rows with their values."""
        self.part.sums[()].append(summarize(answer))
        texts = [[values[code] for code in codes] for _, values, codes in groups]
        joined = join_groups(groups)
        if joined is not None:
            _, values, codes = joined
            packed = summarize_groups(answer, codes, len(values))
            keys = dict(zip(codes, zip(*texts, strict=True), strict=True))
            for code, key in keys.items():
                self.part.sums[key].append(packed[code])
        arrays = [pa.array(column, pa.string()) for column in (ids, *texts)]
        for at in range(len(self._job.request.measures)):
            column = np.frombuffer(memoryview(answer.values(at)), dtype=np.float64)
            arrays.append(pa.array(column))
        table = pa.table(arrays, [*self._job.columns])
        return [
            make_row(VALUES, write_table(table.slice(start, VALUES_AT_ONCE)))
            for start in range(0, table.num_rows, VALUES_AT_ONCE)
        ]

    def _evaluate_joined(self, table: Any) -> tuple[CoreEvaluation, list[str], list[Groups]]:  # noqa: ANN401 - as above
        job, rows = self._job, self._job.first
        columns, _ = rows.read(table).joined(rows.attributes)
        self.part.has_grades |= is_judged(columns.relevance)
        rankings = Rankings.from_table(columns, job.request.ties, job.duplicates, False, 1)
        groups = [(name, *(rankings.attribute(name) or ([], []))) for name in rows.attributes]
        return rankings.evaluate(self.plan, 1), rankings.query_ids(), groups

    def _evaluate_pairs(
        self,
        judged: Any,  # noqa: ANN401 - as above
        retrieved: Any,  # noqa: ANN401 - as above
    ) -> tuple[CoreEvaluation, list[str], list[Groups]]:
        job, names, part = self._job, self._job.first.attributes, self.part
        attributes = [read_typed_values(judged.column(name), name)[0] for name in names]
        queries, docs, grades = job.first.read(judged).judged()
        part.has_grades |= len(grades) > 0
        answer, ids, notes = evaluate_part(
            (queries, docs, grades),
            job.last.read(retrieved).retrieved(),
            self.plan,
            job.request.ties,
            job.duplicates,
            job.request.score_type,
            1,
        )
        for code, count, _ in notes:
            part.notes[code] += count
        unmatched = None if part.unmatched else answer.unmatched()
        if unmatched is not None:
            query = ids[unmatched[0]]
            of_query = pc.equal(to_arrow(queries).cast(pa.large_string()), query)
            texts = to_arrow(docs).cast(pa.large_string()).filter(of_query)
            part.unmatched = [(query, sorted(texts.to_pylist())[:2], unmatched[1])]
        groups = [
            encode(name, _find_values(name, ids, queries, values))
            for name, values in zip(names, attributes, strict=True)
        ]
        return answer, ids, groups


def unpacking_values() -> Run:
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


def _find_values(name: str, ids: list[str], queries: IdColumn, values: IdColumn) -> list[str]:
    """Return the value of each judged query."""
    texts = [to_arrow(column).cast(pa.string()) for column in (queries, values)]
    pairs = pa.table(texts, ["query", "value"]).group_by(["query", "value"]).aggregate([])
    found: dict[str, str] = {}
    for query, value in zip(*(pairs[at].to_pylist() for at in ("query", "value")), strict=True):
        if found.setdefault(query, value) != value:
            pair = " and ".join(sorted((quote(value), quote(found[query]))))
            raise FormatError(
                f"expected one {name} in all rows of query {quote(query)}, found {pair}",
                hint="an attribute belongs to the query, not to the document",
                code="attribute_conflict",
            )
    return [found[query] for query in ids]


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
