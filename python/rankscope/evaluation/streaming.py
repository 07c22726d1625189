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
from rankscope.output.ids import TEXT
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from rankscope._inputs.numbers import Scale
    from rankscope._inputs.table_files import TableFile
    from rankscope.engine.memory import Memory
    from rankscope.evaluation.evaluating import Asked
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.measures import Measure
    from rankscope.settings.reading import Reading

    Begin: TypeAlias = Callable[[TableFile], "TableEvaluation"]


def can_stream(measures: list[Measure]) -> bool:
    """Check whether measures can be evaluated without all rows: all grades, or all lists."""
    if any(measure.row.of_items for measure in measures):
        return False
    return not any(callable(value) for measure in measures for value in measure.parameters.values())


def evaluate_file(
    open_file: Callable[[], TableFile],
    begin: Begin,
    memory: Memory,
    *,
    is_once: bool,
    is_grouped: bool,
) -> tuple[Evaluation | None, TableFile | None]:
    """Evaluate a table in files without holding all of its rows.

    If the rows of a query aren't contiguous, or the table can be read only once, but its rows are
    few, the open file is returned instead.
    """
    if not is_once or is_grouped:
        evaluation = evaluate_stream(open_file, begin, memory)
        if evaluation is not None or is_grouped:
            return evaluation, None
    opened = open_file()
    if not opened.exceeds(min(memory.limit, HELD)):
        return None, opened
    return _evaluate_spilled(opened, begin, memory), None


def evaluate_stream(
    open_file: Callable[[], TableFile], begin: Begin, memory: Memory
) -> Evaluation | None:
    """Evaluate a table batch by batch, or return `None` if a query's rows aren't contiguous."""
    with open_file() as file:
        evaluated = begin(file)
        for rows in read_ahead(whole_queries(file, count_rows_at_once(memory.limit))):
            try:
                is_new = evaluated.push(rows)
            except RankscopeError as error:
                raise file.place(error) from None
            if not is_new:
                return None
    return evaluated.finish()


def _evaluate_spilled(opened: TableFile, begin: Begin, memory: Memory) -> Evaluation:
    """Evaluate a table whose rows come in any order, part by part."""

    def check(rows: Any) -> None:  # noqa: ANN401 - of PyArrow
        with rows_of_file(rows):
            begin(file).push(rows)

    with opened as file:
        evaluated = begin(file)
        rows, progress = number(file), evaluated.reading.progress
        order = evaluate_parts(
            rows, file, memory, push=evaluated.push, check=check, progress=progress
        )
    return evaluated.finish(order)


class TableEvaluation:
    """Evaluates the rows of a table, those of some queries at a time.

    Args:
        file: The table.
        asked: What is asked of it.
        reading: How it is read.
        is_grouped: Whether to refuse rows of a query that are not together.
    """

    def __init__(
        self, file: TableFile, *, asked: Asked, reading: Reading, is_grouped: bool
    ) -> None:
        self._file, self._asked, self.reading = file, asked, reading
        self._attributes = asked.list_attributes()
        self._request = asked.request(ties=choose_ties(has_documents="doc" in file.columns))
        ties, duplicates = self._request.ties, reading.duplicates
        self._plan = make_plan(self._request, ties, [], duplicates)
        self._settings = ties, duplicates, is_grouped, reading.threads
        self._stream, self._source = TableStream(), TEXT
        self._rows = 0
        self._scale: Scale | None = None

    def push(self, rows: Any) -> bool:  # noqa: ANN401 - of PyArrow
        """Evaluate all rows of some queries; return whether none of the queries came before."""
        try:
            columns = columns_of(rows, self._file).joined(self._attributes)
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
        answer, ids, attributes = finished
        held = {groups[0]: groups for groups in attributes}

        def read_ids() -> list[str]:
            return ids

        known = self._asked.look_up(read_ids, held.__getitem__)
        if known.weights is not None:
            answer = answer.reweigh(known.weights)
        name, duplicates = self._file.name, self.reading.duplicates
        return make_evaluation(
            answer,
            replace(self._request, scale=self._scale),
            self.reading,
            self._asked,
            known,
            queries=Queries(name, duplicates, read_ids, source=self._source),
            run_name=name,
            run_notes=self._file.notes,
        )
