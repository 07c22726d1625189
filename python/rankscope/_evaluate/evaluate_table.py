"""Evaluate a table whose rows hold both scores and grades."""

from __future__ import annotations

from functools import partial

from rankscope._core import TableStream
from rankscope._evaluate.evaluating import make_evaluation
from rankscope._evaluate.evaluations import Evaluations
from rankscope._evaluate.memory import Memory
from rankscope._evaluate.partitions import rows_of_file
from rankscope._evaluate.query_values import refuse_cluster_alone
from rankscope._evaluate.question import (
    READ,
    holds,
    refuse_attributes,
    refuse_reading,
    refuse_single_precision,
    refuse_unused,
)
from rankscope._evaluate.rankings import Rankings, evaluate_rankings, rank_rows
from rankscope._evaluate.settings import choose_ties
from rankscope._evaluate.streaming import evaluate_file
from rankscope._inputs.numbers import no_judgments, widen_scale
from rankscope._inputs.qrels import Queries
from rankscope._inputs.recognition import find_stream, recognise_table
from rankscope._inputs.rows import columns_of
from rankscope._inputs.table_files import TableFile
from rankscope._inputs.tabular import open_joined
from rankscope.errors import EmptyError, InputError
from rankscope.output.ids import TEXT
from rankscope.output.progress import watch
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.settings import Settings
    from rankscope._inputs.numbers import Scale
    from rankscope._inputs.qrels import JoinedColumns
    from rankscope.measures import Measure
    from rankscope.settings.reading import Reading


def evaluate_table(
    table: object,
    settings: Settings,
    columns: JoinedColumns,
    reading: Reading,
    *,
    options: Mapping[str, Any],
) -> Evaluation | Evaluations:
    """Evaluate a table whose rows hold a score, or a rank, and a grade.

    Files, DuckDB relations, lazy frames, and datasets and readers of PyArrow are evaluated while
    they are read, so they can be larger than memory as long as the rows of each query are
    contiguous. If a query reappears, all rows are read, partitioned by query unless they are few,
    and evaluated partition by partition, with the same values. What exceeds the memory limit is
    written to temporary files.
    """
    if isinstance(table, Rankings) or holds(table, Rankings):
        refuse_reading({**options, "attributes": settings.attributes}, READ)
        if isinstance(table, Rankings):
            return evaluate_rankings(table, settings, reading)
        return Evaluations(
            {name: evaluate_rankings(each, settings, reading) for name, each in table.items()}
        )
    refuse_attributes(settings)
    refuse_single_precision(reading)
    refuse_cluster_alone(settings.cluster, settings.interval)
    columns = replace(columns, attributes=settings.list_attributes())
    # What a convention refuses, or a function gives, depends on grades: known when all is read.
    needs_all = settings.convention is not None or columns.attributed is not None
    needs_all = needs_all or not can_stream(settings.request().measures)
    given = recognise_table(table)
    given = given if needs_all else find_stream(given)
    is_grouped = bool(options.get("assume_grouped"))
    found: Evaluation | TableFile | None = None
    if needs_all or not given.is_in_files:
        what = "a table in memory"
        if given.is_in_files:
            what = "labels, a convention, a function or a measure of items"
        what += ", which needs all rows in memory"
        reading.refuse_limits(what)
        refuse_unused({"assume_grouped": is_grouped or None}, what)
    else:
        with watch(given.name, given.find_size, reading.progress) as tell:
            found = evaluate_file(
                partial(open_joined, given, columns, reading, tell),
                partial(TableEvaluator, settings=settings, reading=reading, is_grouped=is_grouped),
                Memory(reading.memory, reading.spill_folder),
                reading.progress,
                is_once=given.is_once,
                is_grouped=is_grouped,
            )
    if found is not None and not isinstance(found, TableFile):
        return found
    rankings = rank_rows(
        Rankings,
        given,
        columns,
        settings.choose_ties(),
        reading,
        numbers_docs=needs_all,
        source=found,
    )
    return evaluate_rankings(rankings, settings, reading)


def can_stream(measures: list[Measure]) -> bool:
    """Check whether measures can be evaluated without all rows: all grades, or all lists."""
    if any(measure.row.of_items or measure.row.of_rows for measure in measures):
        return False
    return not any(callable(value) for measure in measures for value in measure.parameters.values())


class TableEvaluator:
    """Evaluates the rows of a table, those of some queries at a time.

    Args:
        file: The table.
        settings: What is asked of it.
        reading: How it is read.
        is_grouped: Whether to refuse rows of a query that are not together.
    """

    def __init__(
        self, file: TableFile, *, settings: Settings, reading: Reading, is_grouped: bool
    ) -> None:
        self._file, self._asked, self._reading = file, settings, reading
        self._attributes = settings.list_attributes()
        self._request = settings.request(ties=choose_ties(has_documents="doc" in file.columns))
        ties, duplicates = self._request.ties, reading.duplicates
        self._plan = self._request.plan(duplicates=duplicates)
        self._settings = ties, duplicates, is_grouped, reading.threads
        self._stream, self._source = TableStream(), TEXT
        self._rows = 0
        self._scale: Scale | None = None

    def push(self, rows: Any) -> bool:  # noqa: ANN401 - of PyArrow
        """Evaluate all rows of some queries; return whether none of the queries came before."""
        try:
            columns, self._source = columns_of(rows, self._file).joined(self._attributes)
        except InputError as error:
            error.line = error.line and error.line + self._rows
            raise
        is_new = self._stream.push(self._plan, columns, *self._settings)
        self._rows += len(rows)
        self._scale = widen_scale(self._scale, columns.relevance)
        return is_new

    def check(self, rows: Any) -> None:  # noqa: ANN401 - as above
        """Evaluate rows alone, to find the first mistake in them."""
        again = TableEvaluator(
            self._file, settings=self._asked, reading=self._reading, is_grouped=False
        )
        with rows_of_file(rows):
            again.push(rows)

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
        name, duplicates = self._file.name, self._reading.duplicates
        return make_evaluation(
            answer,
            replace(self._request, grades=self._scale or ()),
            self._reading,
            self._asked,
            known,
            queries=Queries(name, duplicates, read_ids, source=self._source),
            run_name=name,
            run_notes=self._file.notes,
        )
