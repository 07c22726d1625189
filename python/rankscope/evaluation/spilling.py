"""Evaluates tables in files that are larger than memory: rows are partitioned by query on disk."""

from __future__ import annotations

from rankscope._core import SpilledTable
from rankscope.engine.batches import evaluate_parts, push_batches
from rankscope.engine.memory import SpillNotice
from rankscope.engine.weights import read_weights
from rankscope.errors import RankscopeError
from rankscope.evaluation.evaluating import make_evaluation, make_plan
from rankscope.evaluation.streaming import number_stream_clusters
from rankscope.inputs import tables
from rankscope.inputs.column_names import SYNONYMS
from rankscope.inputs.numbers import no_judgments, widen_scale
from rankscope.inputs.qrels import Queries
from rankscope.output.ids import TEXT
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.engine.memory import Memory
    from rankscope.engine.requests import Request
    from rankscope.engine.weights import Weights
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.evaluation.streaming import StreamSettings
    from rankscope.inputs.files.table import TableFile
    from rankscope.inputs.tables import TableColumns
    from rankscope.settings.interval import Interval
    from rankscope.typing import Progress


def evaluate_spilled(
    opened: TableFile,
    request: Request,
    reading: StreamSettings,
    memory: Memory,
    *,
    interval: Interval | None,
    weights: Weights | None,
    progress: Progress = None,
) -> Evaluation:
    """Evaluate a table whose rows come in any order, within a memory limit.

    Rows are written to temporary files once they exceed an eighth of the limit. The files have no
    names: the system removes them when the process ends, however it ends.
    """
    plan = make_plan(request, reading.ties, [], reading.duplicates)
    names = {role: opened.columns.get(role) for role in SYNONYMS}
    source, has_rows, scale = TEXT, False, None
    with opened as file:
        spilled = SpilledTable(memory.folder, memory.limit, file.estimate_memory() or None)

        def read(table: object) -> TableColumns:
            return tables.read_table(table, names, reading.columns, ids=file.describe_ids())

        def push(columns: TableColumns) -> None:
            nonlocal source, has_rows, scale
            source, has_rows = columns.source, len(columns.scores) > 0 or has_rows
            scale = widen_scale(scale, columns.relevance)
            spilled.push(columns.to_core())

        notice = SpillNotice(file.name, memory)
        push_batches(file, read, push, spilled, notice)
        if has_rows and scale is None:
            raise no_judgments(file.name)
        notes = tuple(file.notes)
        try:
            evaluate_parts(
                spilled,
                lambda: spilled.evaluate_next(
                    plan, reading.ties, reading.duplicates, reading.threads
                ),
                notice,
                progress,
            )
            answer, ids, attributes = spilled.finish(plan)
        except RankscopeError as error:
            raise file.place(error) from None
    if weights is not None:
        answer = answer.reweigh(read_weights(weights, lambda: ids) or [])
    return make_evaluation(
        answer,
        replace(request, scale=scale),
        queries=Queries(file.name, reading.duplicates, lambda: ids, source=source),
        run_name=file.name,
        run_notes=notes,
        duplicates=reading.duplicates,
        interval=interval,
        clusters=number_stream_clusters(attributes, reading.cluster),
        attributes=attributes[: len(reading.attributes)],
        threads=reading.threads,
    )
