"""What runs on executors: packing the rows of a partition, and evaluating its queries."""

from __future__ import annotations

import pickle

from rankscope import engine
from rankscope._core import Rankings, Summary, evaluate_part, summarize, summarize_groups
from rankscope.adapters.arrow import load_arrow
from rankscope.adapters.numbers import is_judged
from rankscope.errors import FormatError, RankscopeError
from rankscope.names import quote
from rankscope.records import record
from rankscope.spark.packing import Columns, Rows, pack, read_packed, unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._core import Plan
    from rankscope.adapters.tables import CoreColumns
    from rankscope.engine import Groups, Request

    Note: TypeAlias = tuple[str, int, int]

AT_ONCE = 1 << 18
"""How many rows are evaluated at once: little memory, and few calls."""
VALUES, ANSWER, ERROR = "values", "answer", "error"
"""What a row of a task holds: the values of a query, the summary of all, or an error."""


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


@record(frozen=True, slots=True, kw_only=True)
class Part:
    """The answer of one task.

    Args:
        summary: The packed summary of its queries; nothing if it had none.
        slices: The packed summary of each slice.
        notes: The code and the count of each note on the judgments.
        has_grades: Whether any document is judged.
        rows: The number of rows of each side.
    """

    summary: bytes | None
    slices: Mapping[tuple[str, ...], bytes]
    notes: tuple[Note, ...]
    has_grades: bool
    rows: Mapping[str, int]


def packing(rows: Rows) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function that packs a partition; its last row is an error if it found one."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        try:
            yield from pack(batches, rows)
        except RankscopeError as error:
            yield _error_row(error, rows)

    return run


def evaluating(job: Job) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function that evaluates a partition of packed rows, sorted by their hashes."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        task = Task(job)
        try:
            for packed in whole_queries(batches):
                yield task.evaluate(packed)
            yield task.finish()
        except RankscopeError as error:
            yield task.make_rows(ERROR, pickle.dumps(error))

    return run


def whole_queries(batches: Iterable[Any]) -> Iterator[Any]:
    """Join batches of rows sorted by hash into tables that have all rows of their queries."""
    pa = load_arrow()
    held: list[Any] = []
    count, last = 0, None
    for batch in batches:
        if batch.num_rows == 0:
            continue
        hashes = batch.column("hash").to_numpy()
        if count >= AT_ONCE and hashes[0] != last:
            yield pa.Table.from_batches(held)
            held, count = [], 0
        cut = int(hashes.searchsorted(hashes[-1]))
        size = int(batch.column("size").to_numpy().sum())
        if count + size >= AT_ONCE and cut > 0:
            yield pa.Table.from_batches([*held, batch.slice(0, cut)])
            batch = batch.slice(cut)  # noqa: PLW2901 - the rest of it
            held, count = [], 0
            size = int(batch.column("size").to_numpy().sum())
        held.append(batch)
        count, last = count + size, hashes[-1]
    if held:
        yield pa.Table.from_batches(held)


class Task:
    """Evaluates the queries of a partition, a table after the other."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.plan: Plan = engine.make_plan(
            job.request, job.request.ties, list(job.grades), job.duplicates
        )
        self._summaries: list[bytes] = []
        self._slices: dict[tuple[str, ...], list[bytes]] = {}
        self._notes: dict[str, int] = {}
        self._has_grades = False
        self._rows = dict.fromkeys(job.rows, 0)

    def evaluate(self, packed: Any) -> Any:  # noqa: ANN401 - PyArrow has no types
        """Evaluate all rows of some queries, and return the row of each judged query.

        Raises:
            InputError: Rows contradict one another, or the policy refuses them.
        """
        _raise_errors(packed)
        columns = {}
        for side, rows in self._job.rows.items():
            of_side = packed.filter(_equals(packed.column("side"), side))
            columns[side] = unpack(of_side, rows)
            self._rows[side] += len(columns[side].numbers[0])
        if "joined" in columns:
            answer, ids, groups = self._evaluate_joined(columns["joined"])
        else:
            judged = packed.filter(_equals(packed.column("side"), "judged"))
            answer, ids, groups = self._evaluate_pairs(columns, judged)
        return self.take(answer, ids, groups)

    def evaluate_table(self, columns: Columns) -> tuple[Any, list[str]]:
        """Evaluate a table, and return the rows of its queries, and the queries.

        Raises:
            InputError: Rows contradict one another, or the policy refuses them.
        """
        self._rows["joined"] += len(columns.numbers[0])
        answer, ids, groups = self._evaluate_joined(columns)
        return self.take(answer, ids, groups), ids

    def count(self, side: str, rows: int, *, has_grades: bool) -> None:
        """Count rows that were evaluated elsewhere."""
        self._rows[side] += rows
        self._has_grades = self._has_grades or has_grades

    def take(self, answer: CoreEvaluation, ids: list[str], groups: list[Groups]) -> Any:  # noqa: ANN401 - as above
        """Take the answer about some queries, and return the row of each."""
        self._summaries.append(summarize(answer))
        joined = engine.join_groups(groups)
        if joined is not None:
            self._summarize_slices(answer, groups, joined)
        return self._make_values(answer, ids, groups)

    def finish(self) -> Any:  # noqa: ANN401 - as above
        """Return the row that holds the answer about all queries."""
        return self.make_rows(ANSWER, pickle.dumps(self.make_part()))

    def make_part(self) -> Part:
        """Return the answer about all queries."""
        return Part(
            summary=Summary.merge(self._summaries).pack() if self._summaries else None,
            slices={key: Summary.merge(held).pack() for key, held in self._slices.items()},
            notes=tuple((code, count, 0) for code, count in self._notes.items()),
            has_grades=self._has_grades,
            rows=self._rows,
        )

    def make_rows(self, kind: str, payload: bytes) -> Any:  # noqa: ANN401 - as above
        """Return one row that is no query's."""
        pa = load_arrow()
        texts = pa.nulls(1, pa.string())
        arrays = [pa.array([kind]), pa.array([payload], pa.binary()), texts]
        arrays += [texts] * len(self._job.attributes)
        arrays += [pa.nulls(1, pa.float64())] * len(self._job.request.measures)
        return pa.RecordBatch.from_arrays(arrays, name_answers(self._job))

    def _evaluate_joined(self, columns: Columns) -> tuple[CoreEvaluation, list[str], list[Groups]]:
        rows = self._job.rows["joined"]
        self._has_grades = self._has_grades or is_judged(columns.numbers[0])
        rankings = Rankings.from_table(
            list_columns(columns, rows),
            self._job.request.ties,
            self._job.duplicates,
            1,
        )
        groups = []
        for name in rows.attributes:
            values, codes = rankings.attribute(name) or ([], [])
            groups.append((name, values, codes))
        return rankings.evaluate(self.plan, 1), rankings.query_ids(), groups

    def _evaluate_pairs(
        self,
        columns: Mapping[str, Columns],
        packed: Any,  # noqa: ANN401 - as above
    ) -> tuple[CoreEvaluation, list[str], list[Groups]]:
        judged, run = columns["judged"], columns["retrieved"]
        docs, others = judged.docs, run.docs
        if docs is None or others is None:
            raise TypeError("judgments and runs have documents")
        self._has_grades = self._has_grades or len(judged.numbers[0]) > 0
        answer, ids, notes = evaluate_part(
            (judged.queries, docs, judged.numbers[0]),
            (
                run.queries,
                others,
                run.numbers[0],
                "score" not in self._job.rows["retrieved"].names,
            ),
            self.plan,
            self._job.request.ties,
            self._job.duplicates,
            self._job.request.score_type,
            1,
        )
        for code, count, _ in notes:
            self._notes[code] = self._notes.get(code, 0) + count
        names = self._job.rows["judged"].attributes
        texts = read_packed(packed, "query") if names else []
        groups = [
            _group(name, ids, texts, read_packed(packed, f"a{at}")) for at, name in enumerate(names)
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

    def _make_values(self, answer: CoreEvaluation, ids: list[str], groups: list[Groups]) -> Any:  # noqa: ANN401 - as above
        import numpy as np  # noqa: PLC0415 - loads with the first array

        pa = load_arrow()
        arrays = [
            pa.array([VALUES] * len(ids), pa.string()),
            pa.nulls(len(ids), pa.binary()),
            pa.array(ids, pa.string()),
        ]
        arrays += [
            pa.array([values[code] for code in codes], pa.string()) for _, values, codes in groups
        ]
        for at in range(len(self._job.request.measures)):
            column = np.frombuffer(memoryview(answer.values(at)), dtype=np.float64)
            arrays.append(pa.array(column))
        return pa.RecordBatch.from_arrays(arrays, name_answers(self._job))


def list_columns(columns: Columns, rows: Rows) -> CoreColumns:
    """Return the columns of a table in the order of the core's arguments."""
    relevance, scores, *ranks = columns.numbers
    return (
        columns.queries,
        columns.docs,
        relevance,
        scores,
        "score" not in rows.names,
        ranks[0] if ranks else None,
        list(zip(rows.attributes, columns.attributes, strict=True)),
    )


def describe_answers(job: Job) -> str:
    """Return the schema of the rows of tasks, as Spark writes it."""
    kinds = ["string", "binary", "string", *["string"] * len(job.attributes)]
    kinds += ["double"] * len(job.request.measures)
    return ", ".join(f"{name} {kind}" for name, kind in zip(name_answers(job), kinds, strict=True))


def name_answers(job: Job) -> list[str]:
    """Return the names of the columns of the rows of tasks."""
    names = ["kind", "payload", "query", *(f"a{at}" for at in range(len(job.attributes)))]
    return [*names, *(f"m{at}" for at in range(len(job.request.measures)))]


def _group(name: str, ids: list[str], queries: list[str], values: list[str]) -> Groups:
    """Return the value of each judged query.

    Raises:
        FormatError: A query has two.
    """
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


def _equals(column: Any, value: str) -> Any:  # noqa: ANN401 - as above
    return load_arrow("pyarrow.compute").equal(column, value)


def _error_row(error: RankscopeError, rows: Rows) -> Any:  # noqa: ANN401 - as above
    """Return a packed row that carries an error to the task that evaluates."""
    pa = load_arrow()
    columns = {
        "side": pa.array([ERROR]),
        "folded": pa.array([""]),
        "query": pa.array([""]),
        "size": pa.array([0], pa.int32()),
        "lengths": pa.nulls(1, pa.binary()),
        "docs": pa.array([pickle.dumps(error)], pa.binary()),
    }
    columns |= {f"n{at}": pa.nulls(1, pa.binary()) for at in range(3)}
    columns |= {f"a{at}": pa.nulls(1, pa.string()) for at in range(len(rows.attributes))}
    return pa.RecordBatch.from_pydict(columns)


def _raise_errors(packed: Any) -> None:  # noqa: ANN401 - as above
    found = packed.filter(_equals(packed.column("side"), ERROR)).column("docs").to_pylist()
    if found:
        errors = [pickle.loads(each) for each in found]  # noqa: S301 - our own rows
        raise min(errors, key=str)
