"""Evaluate a table whose rows hold both scores and grades."""

from __future__ import annotations

from functools import partial

from rankscope._inputs.recognition import find_stream, recognise_table
from rankscope._inputs.tabular import open_joined
from rankscope.engine.memory import read_memory
from rankscope.engine.progress import watch
from rankscope.engine.query_values import refuse_cluster_alone
from rankscope.errors import FormatError, UsageError
from rankscope.evaluation.evaluations import Evaluations
from rankscope.evaluation.question import (
    READ,
    holds,
    refuse_attributes,
    refuse_reading,
    refuse_single_precision,
)
from rankscope.evaluation.rankings import Rankings, evaluate_rankings, rank_rows
from rankscope.evaluation.streaming import TableEvaluation, can_stream, evaluate_file
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rankscope._inputs.qrels import JoinedColumns
    from rankscope._inputs.recognition import Input
    from rankscope._inputs.table_files import TableFile
    from rankscope.evaluation.evaluating import Asked
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.settings.reading import Reading


def evaluate_table(
    table: object,
    asked: Asked,
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
        refuse_reading({**options, "attributes": asked.attributes}, READ)
        if isinstance(table, Rankings):
            return evaluate_rankings(table, asked, reading)
        return Evaluations(
            {name: evaluate_rankings(each, asked, reading) for name, each in table.items()}
        )
    assume_grouped = bool(options.get("assume_grouped"))
    if columns.attributed is not None and assume_grouped:
        raise UsageError(
            "expected assume_grouped or labels, found both",
            hint="a table with labels is held in memory; remove assume_grouped",
            code="bad_parameter",
        )
    refuse_attributes(asked)
    refuse_single_precision(reading)
    refuse_cluster_alone(asked.cluster, asked.interval)
    given = recognise_table(table)
    attributes, measures = asked.list_attributes(), asked.request().measures
    # What a convention refuses, or a function gives, depends on grades: known when all is read.
    needs_all = asked.convention is not None or columns.attributed is not None
    needs_all = needs_all or not can_stream(measures)
    given = _find_stream(given, reading, needs_all=needs_all)
    limit = read_memory(reading.memory, reading.spill_folder)
    evaluation: Evaluation | None = None
    kept: TableFile | None = None
    if given.is_in_files and not needs_all:
        with watch(given, reading.progress) as tell:
            own = replace(columns, attributes=attributes)
            evaluation, kept = evaluate_file(
                partial(open_joined, given, own, reading, tell),
                partial(TableEvaluation, asked=asked, reading=reading, is_grouped=assume_grouped),
                limit,
                is_once=given.is_once,
                is_grouped=assume_grouped,
            )
    if evaluation is None:
        if assume_grouped and given.is_in_files:
            raise _comes_back(given.name)
        own = replace(columns, attributes=attributes)
        ties = asked.choose_ties()
        rankings = rank_rows(
            Rankings, given, own, ties, reading, numbers_docs=needs_all, source=kept
        )
        evaluation = evaluate_rankings(rankings, asked, reading)
    return evaluation


def _find_stream(given: Input, reading: Reading, *, needs_all: bool) -> Input:
    """Return a table as batches, if it can be evaluated so.

    Raises:
        UsageError: There is a memory limit, and all rows are held in memory.
    """
    stream = given if needs_all else find_stream(given)
    if not stream.is_in_files:
        reading.refuse_limits("a table in memory, which needs all rows in memory")
    elif needs_all:
        reading.refuse_limits(
            "labels, a convention, a function or a measure of items, which needs all rows in memory"
        )
    return stream


def _comes_back(name: str) -> FormatError:
    return FormatError(
        "expected the rows of each query together, as assume_grouped says, found a query again",
        hint="sort the file by query, or remove assume_grouped",
        code="query_returns",
        file=name,
    )
