"""Evaluates tables in files while they are read, or in parts on disk if they exceed memory."""

from __future__ import annotations

from rankscope._core import Plan, SpilledTable, TableStream
from rankscope._inputs.numbers import no_judgments, widen_scale
from rankscope._inputs.qrels import Queries
from rankscope._inputs.rows import columns_of
from rankscope.engine.batches import (
    HELD,
    count_rows_at_once,
    evaluate_parts,
    push_batches,
    read_ahead,
    whole_queries,
)
from rankscope.engine.memory import SpillNotice
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
    from typing import TypeAlias

    from rankscope._core import Evaluation as CoreEvaluation
    from rankscope._inputs.numbers import Scale
    from rankscope._inputs.rows import JoinedRows
    from rankscope._inputs.table_files import TableFile
    from rankscope.engine.memory import Memory
    from rankscope.engine.requests import Request
    from rankscope.evaluation.evaluating import Asked
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.evaluation.groups import Groups
    from rankscope.measures import Measure
    from rankscope.output.ids import SourceIds
    from rankscope.settings.reading import Reading

    Pushed: TypeAlias = tuple[SpilledTable, SourceIds, Scale | None]
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
        request = asked.request(has_documents="doc" in file.columns)
        plan = make_plan(request, request.ties, [], asked.reading.duplicates)
        pushed = _push_batches(file, plan, request, asked, count_rows_at_once(memory.limit))
    if pushed is None:
        return None
    stream, source, scale = pushed
    finished = stream.finish(plan)
    if finished is None:
        raise EmptyError(
            "expected rows, found none",
            hint="is the file empty?",
            code="empty_input",
            file=file.name,
        )
    return _finish(finished, file, replace(request, scale=scale), asked, source)


def _push_batches(
    file: TableFile, plan: Plan, request: Request, asked: TableRequest, rows_at_once: int
) -> tuple[TableStream, SourceIds, Scale | None] | None:
    stream, source = TableStream(), TEXT
    rows, scale = 0, None
    for table in read_ahead(whole_queries(file, rows_at_once)):
        try:
            columns = columns_of(table, file).joined(asked.columns)
        except FormatError as error:
            error.line = error.line and error.line + rows
            raise file.place(error) from None
        try:
            is_new = stream.push(
                plan,
                columns.to_core(),
                request.ties,
                asked.reading.duplicates,
                asked.is_grouped,
                asked.reading.threads,
            )
        except RankscopeError as error:
            raise file.place(error) from None
        if not is_new:
            return None
        rows, source = rows + table.num_rows, columns.source
        scale = widen_scale(scale, columns.relevance)
    if rows > 0 and scale is None:
        raise no_judgments(file.name)
    return stream, source, scale


def _evaluate_spilled(opened: TableFile, asked: TableRequest, memory: Memory) -> Evaluation:
    """Evaluate a table whose rows come in any order, partition by partition.

    Rows are written to temporary files once they exceed an eighth of the memory limit. The files
    have no names: the system removes them when the process ends, however it ends.
    """
    request = asked.request(has_documents="doc" in opened.columns)
    plan = make_plan(request, request.ties, [], asked.reading.duplicates)
    with opened as file:
        notice = SpillNotice(file.name, memory)

        def evaluate(pushed: Pushed) -> tuple[Finished, SourceIds, Scale | None]:
            spilled, source, scale = pushed
            evaluate_parts(
                spilled,
                lambda: spilled.evaluate_next(
                    plan, request.ties, asked.reading.duplicates, asked.reading.threads
                ),
                notice,
                asked.reading.progress,
            )
            return spilled.finish(plan), source, scale

        pushed = _spill(file, asked, memory, notice)
        try:
            evaluated = evaluate(pushed)
        except RankscopeError as error:
            raise file.place(error) from None
    finished, source, scale = evaluated
    return _finish(finished, file, replace(request, scale=scale), asked, source)


def _spill(file: TableFile, asked: TableRequest, memory: Memory, notice: SpillNotice) -> Pushed:
    """Partition the rows of any table."""
    spilled = SpilledTable(memory.folder, memory.limit, file.estimate_memory() or None)
    source, has_rows, scale = TEXT, False, None

    def push(columns: JoinedRows) -> None:
        nonlocal source, has_rows, scale
        source, has_rows = columns.source, len(columns.scores) > 0 or has_rows
        scale = widen_scale(scale, columns.relevance)
        spilled.push(columns.to_core())

    push_batches(file, lambda rows: rows.joined(asked.columns), push, spilled, notice)
    if has_rows and scale is None:
        raise no_judgments(file.name)
    return spilled, source, scale


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
