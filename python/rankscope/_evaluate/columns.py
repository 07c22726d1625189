"""The columns of rankings as NumPy arrays and Python objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rankscope._core import Judgments, Plan, Rankings, RunParts
from rankscope._evaluate.partitions import (
    NUMBER,
    Parted,
    evaluate_parts,
    number,
    read_ahead,
    rows_of_file,
)
from rankscope._evaluate.runs import SHARE_HELD, Evaluated, Memory
from rankscope._inputs.columns import to_array
from rankscope._inputs.reading import Queries, Tell
from rankscope._inputs.recognition import Input
from rankscope._inputs.rows import columns_of, read_whole
from rankscope._inputs.table_files import TableFile
from rankscope._inputs.tabular import open_retrieved
from rankscope._settings import Duplicates, Reading, ScoreType, Ties
from rankscope._show.table import SourceIds
from rankscope.errors import FormatError, InputError, RankscopeError, UsageError

Answer_co = TypeVar("Answer_co", covariant=True)


class Evaluator(Parted, Protocol[Answer_co]):
    """Evaluates the rows of a table, all those of some queries at a time."""

    def finish(self, order: list[int] | None) -> Answer_co:
        """Return the answer, with the queries in an order of their numbers if there is one."""


if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankscope._evaluate.query_values import Groups
    from rankscope._inputs.reading import Note
    from rankscope._show.table import Ids
    from rankscope.typing import Progress


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices with which rankings were made."""

    ties: Ties
    duplicates: Duplicates
    score_type: ScoreType
    has_ideal: bool = False
    """Whether all judged grades were passed beside the rows."""


class Columns:
    """Ragged columns on a query axis, over the core's memory; immutable."""

    def __init__(
        self,
        queries: Queries,
        core: Rankings,
        name: str,
        choices: Choices,
        *,
        notes: Sequence[Note] = (),
        judgments: Judgments | None = None,
    ) -> None:
        self._queries = queries
        self._core = core
        self._name = name
        self._choices = choices
        self._notes = notes
        self._judgments = judgments

    @property
    def query_ids(self) -> Ids:
        """The identifiers of the judged queries, in first-seen order.

        They are integers if the input has integers, else text.
        """
        return self._queries.ids

    @property
    def query_texts(self) -> list[str]:
        """The identifiers of the judged queries as text, which is how messages show them."""
        return self._queries.read_ids()

    @property
    def source(self) -> SourceIds:
        """The columns of identifiers as they are in the input."""
        return self._queries.source

    @property
    def tie_policy(self) -> Ties:
        """How equal scores are ordered."""
        return self._choices.ties

    @property
    def score_type(self) -> ScoreType:
        """How scores are compared."""
        return self._choices.score_type

    @property
    def knows_unretrieved(self) -> bool:
        """Whether judged documents that weren't retrieved are known. Rows alone don't have them."""
        return self._judgments is not None or self._choices.has_ideal

    @property
    def has_doc_ids(self) -> bool:
        """Whether the documents have identifiers."""
        return len(self._column("doc_codes")) > 0

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the rows of each query begin, and the last ones end. Shape (queries + 1,)."""
        return self._column("offsets")

    @property
    def relevance(self) -> NDArray[np.float64]:
        """The grade of each row, NaN where the document is unjudged."""
        return self._column("relevance")

    @property
    def scores(self) -> NDArray[np.float64]:
        """The score of each row."""
        return self._column("scores")

    @property
    def grades(self) -> list[float]:
        """The distinct grades of the judged documents, ascending."""
        return self._core.grades()

    @property
    def ideal_offsets(self) -> NDArray[np.int64]:
        """Where the judged grades of each query begin in `ideal`. Shape (queries + 1,)."""
        return self._column("ideal_offsets")

    @property
    def ideal(self) -> NDArray[np.float64]:
        """All judged grades of each query, largest first."""
        return self._column("ideal")

    def doc_ids(self, query: str | int) -> Ids:
        """Return the documents retrieved for a query, in rank order.

        Their identifiers are integers if the input has integers, else text.

        Raises:
            KeyError: The query is not judged.
        """
        return self.source.doc.restore(self.doc_texts(query))

    def doc_texts(self, query: str | int) -> list[str]:
        """Return the documents retrieved for a query as text, in rank order.

        Raises:
            KeyError: The query is not judged.
        """
        try:
            index = self._core.find(str(query))
        except UnicodeEncodeError:  # a lone surrogate, which is in no id
            index = None
        if index is None:
            raise KeyError(query)
        return self._core.doc_ids(index)

    @property
    def attributes(self) -> list[str]:
        """The names of the attributes of queries."""
        return self._core.attributes()

    def attribute(self, name: str) -> list[str]:
        """Return an attribute of each query, as text.

        Raises:
            UsageError: The rankings have no such attribute.
        """
        _, values, codes = self._read_attribute(name)
        return [values[code] for code in codes]

    def _read_attribute(self, name: str) -> Groups:
        attribute = self._core.attribute(name)
        if attribute is None:
            names = ", ".join(self._core.attributes()) or "none"
            raise UsageError(
                f"expected an attribute of the rankings, found {name!r}; there are {names}",
                hint=f"name the column where they are made: attributes=[{name!r}]",
                code="unknown_attribute",
            )
        return name, *attribute

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        rows = len(self.relevance)
        return f"Rankings({len(self)} queries, {rows} documents, ties={self._choices.ties!r})"

    def _column(self, name: str) -> NDArray[Any]:
        column = self._core.column(name)
        kind: np.dtype[Any] = np.dtype(column.typecode)
        return np.frombuffer(memoryview(column), dtype=kind)


AT_ONCE = 1 << 16
"""The rows that are evaluated at once: enough for several threads, few enough for their caches."""
MOST_OF_ROW = 256
"""The memory that evaluating a row takes at most, if its texts are short."""
HELD = 1 << 27
"""Rows that take more bytes are partitioned by query, which takes less time and memory."""


def evaluate_file(
    open_file: Callable[[], TableFile],
    begin: Callable[[TableFile], Evaluator[Answer_co]],
    memory: Memory,
    progress: Progress,
    *,
    is_once: bool,
    is_grouped: bool = False,
) -> Answer_co | TableFile:
    """Evaluate a table in files without holding all of its rows.

    If the rows of a query aren't together, they are partitioned by query. All ways give the same
    answer. The open file is returned instead if its rows are few.

    Raises:
        FormatError: They should be together (`is_grouped`), and aren't.
    """
    if not is_once or is_grouped:
        with open_file() as file:
            evaluator = begin(file)
            is_done = _push_all(file, evaluator, memory)
        if is_done:
            return evaluator.finish(None)
        if is_grouped:
            raise FormatError(
                "expected the rows of each query together, as assume_grouped says, found a query "
                "again",
                hint="sort the file by query, or remove assume_grouped",
                code="query_returns",
                file=file.name,
            )
    file = open_file()
    if not file.exceeds(min(memory.limit, HELD)):
        return file
    with file:
        evaluator = begin(file)
        order = evaluate_parts(number(file), file, evaluator, memory, progress)
    return evaluator.finish(order)


def _push_all(file: TableFile, evaluator: Parted, memory: Memory) -> bool:
    """Evaluate all rows; return whether those of each query were together."""
    at_once = SHARE_HELD * memory.harmless // MOST_OF_ROW
    for rows in read_ahead(whole_queries(file, max(1, min(AT_ONCE, at_once)))):
        try:
            if not evaluator.push(rows):
                return False
        except RankscopeError as error:
            raise file.place(error) from None
    return True


def whole_queries(file: TableFile, rows_at_once: int) -> Iterator[Any]:
    """Rearrange batches so that each has so many rows, and ends with the last row of a query."""
    carried: list[Any] = []
    query = file.columns.get("query")
    count, least = 0, rows_at_once
    for batch in file:
        carried.append(batch)
        count += batch.num_rows
        if query is None or count < least:
            continue
        rows = pa.Table.from_batches(carried).combine_chunks()
        column = rows.column(query)
        if not column[-1].is_valid:
            # It is refused where it is read, so the rows after it don't matter.
            yield rows
            carried, count = [], 0
            continue
        others = pc.indices_nonzero(pc.not_equal(column, column[-1]))
        if len(others) > 0:
            cut = others[-1].as_py() + 1
            yield rows.slice(0, cut)
            rows = rows.slice(cut)
        carried, count = rows.to_batches(), rows.num_rows
        # A query of many batches isn't joined anew with each of them.
        least = max(rows_at_once, 2 * count)
    if carried:
        yield pa.Table.from_batches(carried).combine_chunks()


class RunEvaluator:
    """Evaluates the rows of a run."""

    def __init__(self, file: TableFile, judgments: Judgments, plan: Plan, threads: int) -> None:
        self._file, self._judgments, self._plan = file, judgments, plan
        self._threads, self._parts = threads, RunParts(judgments)

    def push(self, rows: Any) -> bool:  # noqa: ANN401 - of PyArrow
        """Evaluate all rows of some queries; return whether none of the queries came before."""
        numbers = to_array(rows.column(NUMBER)) if NUMBER in rows.column_names else None
        try:
            columns = columns_of(rows, self._file).retrieved()
            return self._parts.push(self._plan, columns, self._threads, numbers)
        except InputError:
            if numbers is not None:
                raise
            return False  # the first mistake of a run is known when all of it was read

    def check(self, rows: Any) -> None:  # noqa: ANN401 - as above
        """Evaluate rows alone, to find the first mistake in them."""
        with rows_of_file(rows):
            RunEvaluator(self._file, self._judgments, self._plan, self._threads).push(rows)

    def hold(self) -> None:
        """Evaluate all rows of the file at once."""
        with read_whole(self._file) as rows:
            self._parts.push(self._plan, rows.retrieved(), self._threads, None)

    def finish(self, _: object = None) -> Evaluated:
        """Return the evaluation of all rows."""
        file = self._file
        try:
            values = self._parts.finish(self._plan)
            return Evaluated(values, file.name, file.notes, file.describe_ids().usual)
        except RankscopeError as error:
            error.file = file.name
            raise


def evaluate_columns(
    judgments: Judgments, plan: Plan, run: Input, reading: Reading, tell: Tell
) -> Evaluated:
    """Evaluate a run in columns of memory or of files, such as Parquet or CSV."""
    open_file = partial(open_retrieved, run, reading, tell)
    begin = partial(RunEvaluator, judgments=judgments, plan=plan, threads=reading.threads)
    if run.is_in_files:
        memory = Memory(reading.memory, reading.spill_folder)
        file = evaluate_file(open_file, begin, memory, reading.progress, is_once=run.is_once)
        if isinstance(file, Evaluated):
            return file
    else:
        file = open_file()
    evaluator = begin(file)
    evaluator.hold()
    return evaluator.finish()
