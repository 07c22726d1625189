"""Evaluates tables in files while they are read, or in parts on disk if they exceed memory."""

from __future__ import annotations

from rankscope._core import TableStream
from rankscope._inputs.numbers import no_judgments, widen_scale
from rankscope._inputs.qrels import Queries
from rankscope._inputs.rows import columns_of
from rankscope.engine.batches import HELD, count_rows_at_once, read_ahead, whole_queries
from rankscope.engine.partitions import evaluate_parts, number, rows_of_file
from rankscope.errors import EmptyError, FormatError, RankscopeError
from rankscope.evaluation.evaluating import choose_ties, make_evaluation, make_plan
from rankscope.evaluation.query_groups import (
    cluster_queries,
    read_by,
    slice_queries,
    weigh_queries,
)
from rankscope.output.ids import TEXT
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._inputs.numbers import Scale
    from rankscope._inputs.table_files import TableFile
    from rankscope.engine.memory import Memory
    from rankscope.engine.requests import Request
    from rankscope.evaluation.evaluating import Asked
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.evaluation.groups import Groups
    from rankscope.measures import Measure
    from rankscope.output.ids import SourceIds
    from rankscope.settings.reading import Reading

    Finished: TypeAlias = tuple[CoreEvaluation, list[str], Sequence[Groups]]


@record(frozen=True, slots=True, kw_only=True)
class TableRequest:
    """What is asked of a table.

    Args:
        asked: What is asked, and how.
        reading: How the table is read.
        is_grouped: Whether to refuse rows of a query that are not together.
    """

    asked: Asked
    reading: Reading
    is_grouped: bool

    @property
    def columns(self) -> list[str]:
        """The columns of attributes, clusters and weights, each once."""
        return self.asked.list_attributes()

    def request(self, *, has_documents: bool) -> Request:
        """Return the measures and the policy."""
        return self.asked.request(ties=choose_ties(has_documents=has_documents))


def can_stream(measures: list[Measure]) -> bool:
    """Check whether measures can be evaluated without all rows: all grades, or all lists."""
    if any(measure.row.of_items for measure in measures):
        return False
    return not any(callable(value) for measure in measures for value in measure.parameters.values())


def evaluate_file(
    open_file: Callable[[], TableFile], asked: TableRequest, memory: Memory, *, is_once: bool
) -> tuple[Evaluation | None, TableFile | None]:
    """Evaluate a table in files without holding all of its rows.

    If the rows of a query aren't contiguous, or the table can be read only once, but its rows are
    few, the open file is returned instead.
    """
    if not is_once or asked.is_grouped:
        evaluation = evaluate_stream(open_file, asked, memory)
        if evaluation is not None or asked.is_grouped:
            return evaluation, None
    opened = open_file()
    if not opened.exceeds(min(memory.limit, HELD)):
        return None, opened
    return _evaluate_spilled(opened, asked, memory), None


def evaluate_stream(
    open_file: Callable[[], TableFile], asked: TableRequest, memory: Memory
) -> Evaluation | None:
    """Evaluate a table batch by batch, or return `None` if a query's rows aren't contiguous."""
    with open_file() as file:
        evaluated = TableEvaluation(file, asked)
        for rows in read_ahead(whole_queries(file, count_rows_at_once(memory.limit))):
            try:
                is_new = evaluated.push(rows)
            except RankscopeError as error:
                raise file.place(error) from None
            if not is_new:
                return None
    return evaluated.finish()


def _evaluate_spilled(opened: TableFile, asked: TableRequest, memory: Memory) -> Evaluation:
    """Evaluate a table whose rows come in any order, part by part."""

    def check(rows: Any) -> None:  # noqa: ANN401 - of PyArrow
        with rows_of_file(rows):
            TableEvaluation(file, asked).push(rows)

    with opened as file:
        evaluated = TableEvaluation(file, asked)
        rows, progress = number(file), asked.reading.progress
        order = evaluate_parts(
            rows, file, memory, push=evaluated.push, check=check, progress=progress
        )
    return evaluated.finish(order)


class TableEvaluation:
    """Evaluates the rows of a table, those of some queries at a time.

    Args:
        file: The table.
        asked: What is asked of it.
    """

    def __init__(self, file: TableFile, asked: TableRequest) -> None:
        self._file, self._asked = file, asked
        self._request = asked.request(has_documents="doc" in file.columns)
        ties, duplicates = self._request.ties, asked.reading.duplicates
        self._plan = make_plan(self._request, ties, [], duplicates)
        self._settings = ties, duplicates, asked.is_grouped, asked.reading.threads
        self._stream, self._source = TableStream(), TEXT
        self._rows = 0
        self._scale: Scale | None = None

    def push(self, rows: Any) -> bool:  # noqa: ANN401 - of PyArrow
        """Evaluate all rows of some queries; return whether none of the queries came before."""
        try:
            columns = columns_of(rows, self._file).joined(self._asked.columns)
        except FormatError as error:
            error.line = error.line and error.line + self._rows
            raise
        is_new = self._stream.push(self._plan, columns.to_core(), *self._settings)
        self._rows, self._source = self._rows + len(rows), columns.source
        self._scale = widen_scale(self._scale, columns.relevance)
        return is_new

    def finish(self, order: list[int] | None = None) -> Evaluation:
        """Return the evaluation of all queries, in an order of their numbers, if there is one."""
        if self._rows and self._scale is None:
            raise no_judgments(self._file.name)
        finished = self._stream.finish(self._plan, order)
        if finished is None:
            raise EmptyError(
                "expected rows, found none",
                hint="is the file empty?",
                code="empty_input",
                file=self._file.name,
            )
        request = replace(self._request, scale=self._scale)
        return _finish(finished, self._file, request, self._asked, self._source)


def _finish(
    finished: Finished,
    file: TableFile,
    request: Request,
    table: TableRequest,
    source: SourceIds,
) -> Evaluation:
    answer, ids, attributes = finished
    asked, held = table.asked, {groups[0]: groups for groups in attributes}

    def read_ids() -> list[str]:
        return ids

    weights = weigh_queries(asked.weights, read_ids, held.__getitem__)
    if weights is not None:
        answer = answer.reweigh(weights)
    clusters = None
    if asked.cluster is not None:
        clusters = cluster_queries(asked.cluster, read_ids, held.__getitem__)
    slices: list[Groups] = []
    if asked.by is not None:
        slices = slice_queries(read_by(asked.by), ids, held.__getitem__)
    return make_evaluation(
        answer,
        request,
        table.reading,
        queries=Queries(file.name, table.reading.duplicates, read_ids, source=source),
        run_name=file.name,
        run_notes=tuple(file.notes),
        interval=asked.interval,
        clusters=clusters,
        attributes=slices,
    )
