"""Evaluate a table whose rows hold both scores and grades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from rankscope._core import TableStream
from rankscope._evaluate.columns import evaluate_file
from rankscope._evaluate.evaluating import make_evaluation
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.evaluations import Evaluations
from rankscope._evaluate.partitions import rows_of_file
from rankscope._evaluate.query_values import refuse_cluster_alone
from rankscope._evaluate.rankings import Rankings, evaluate_rankings, rank_rows
from rankscope._evaluate.runs import Evaluated, Memory
from rankscope._evaluate.settings import (
    READ,
    Settings,
    choose_ties,
    holds,
    refuse_attributes,
    refuse_reading,
    refuse_single_precision,
    refuse_unused,
)
from rankscope._inputs.numbers import Scale, no_judgments, widen_scale
from rankscope._inputs.reading import JoinedColumns, Queries
from rankscope._inputs.recognition import find_stream, recognise_table
from rankscope._inputs.rows import columns_of
from rankscope._inputs.table_files import TableFile
from rankscope._inputs.tabular import open_joined
from rankscope._settings import Reading
from rankscope._show.progress import watch
from rankscope._show.table import TEXT
from rankscope.errors import EmptyError, InputError
from rankscope.measures import Measure


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
    if isinstance(table, Rankings):
        refuse_reading({**options, "attributes": settings.attributes}, READ)
        return evaluate_rankings(table, settings, reading)
    if holds(table, Rankings):
        refuse_reading({**options, "attributes": settings.attributes}, READ)
        return Evaluations(
            {name: evaluate_rankings(run, settings, reading) for name, run in table.items()}
        )
    refuse_attributes(settings)
    refuse_single_precision(reading)
    refuse_cluster_alone(settings.cluster, settings.interval)
    columns = replace(columns, attributes=settings.list_attributes())
    # What a convention refuses, or a function gives, depends on grades: known when all is read.
    needs_all = settings.convention is not None or columns.attributed is not None
    needs_all = needs_all or not can_stream(settings.request().measures)
    source = recognise_table(table)
    source = source if needs_all else find_stream(source)
    file: TableFile | None = None
    if needs_all or not source.is_in_files:
        what = "labels, a convention, a function or a measure of items"
        what = what if source.is_in_files else "a table in memory"
        what += ", which needs all rows in memory"
        reading.refuse_limits(what)
        refuse_unused({"assume_grouped": options.get("assume_grouped")}, what)
    else:
        is_grouped = bool(options.get("assume_grouped"))
        with watch(source.name, source.find_size, reading.progress) as tell:
            evaluation = evaluate_file(
                partial(open_joined, source, columns, reading, tell),
                partial(TableEvaluator, settings=settings, reading=reading, is_grouped=is_grouped),
                Memory(reading.memory, reading.spill_folder),
                reading.progress,
                is_once=source.is_once,
                is_grouped=is_grouped,
            )
        if isinstance(evaluation, Evaluation):
            return evaluation
        file = evaluation
    ties = settings.choose_ties()
    rankings = rank_rows(
        Rankings, source, columns, ties, reading, numbers_docs=needs_all, file=file
    )
    return evaluate_rankings(rankings, settings, reading)


def can_stream(measures: list[Measure]) -> bool:
    """Check whether measures can be evaluated without all rows: all grades, or all lists."""
    if any(measure.row.of_items or measure.row.of_rows for measure in measures):
        return False
    return not any(callable(value) for measure in measures for value in measure.parameters.values())


class TableEvaluator:
    """Evaluates the rows of a table, those of some queries at a time."""

    def __init__(
        self, file: TableFile, *, settings: Settings, reading: Reading, is_grouped: bool
    ) -> None:
        self._file, self._settings, self._reading = file, settings, reading
        self._is_grouped, self._attributes = is_grouped, settings.list_attributes()
        self._request = settings.request(ties=choose_ties(has_documents="doc" in file.columns))
        self._plan = self._request.plan(duplicates=reading.duplicates)
        self._stream, self._source, self._rows = TableStream(), TEXT, 0
        self._scale: Scale | None = None

    def push(self, rows: Any) -> bool:  # noqa: ANN401 - of PyArrow
        """Evaluate all rows of some queries; return whether none of the queries came before."""
        try:
            columns, self._source = columns_of(rows, self._file).joined(self._attributes)
        except InputError as error:
            error.line = error.line and error.line + self._rows
            raise
        ties, reading = self._request.ties, self._reading
        is_new = self._stream.push(
            self._plan, columns, ties, reading.duplicates, self._is_grouped, reading.threads
        )
        self._rows += len(rows)
        self._scale = widen_scale(self._scale, columns.relevance)
        return is_new

    def check(self, rows: Any) -> None:  # noqa: ANN401 - as above
        """Evaluate rows alone, to find the first mistake in them."""
        file, settings, reading = self._file, self._settings, self._reading
        alone = TableEvaluator(file, settings=settings, reading=reading, is_grouped=False)
        with rows_of_file(rows):
            alone.push(rows)

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
        values, ids, attributes = finished
        groups = {name: (name, texts, codes) for name, texts, codes in attributes}
        request = replace(self._request, grades=self._scale or ())
        request = self._settings.look_up(request, lambda: ids, groups.__getitem__)
        if request.weights is not None:
            values = values.reweigh(request.weights)
        name, duplicates = self._file.name, self._reading.duplicates
        queries = Queries(name, duplicates, lambda: ids, source=self._source)
        evaluated = Evaluated(values, name, self._file.notes)
        return make_evaluation(evaluated, request, self._settings, self._reading, queries)
