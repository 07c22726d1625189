"""Evaluates tables in files that are larger than memory: rows are partitioned by query on disk."""

from __future__ import annotations

from contextlib import contextmanager

from rankscope._core import SpilledTable
from rankscope.adapters import tables
from rankscope.adapters.arrow import load_arrow
from rankscope.adapters.column_names import SYNONYMS
from rankscope.adapters.numbers import is_judged, no_judgments
from rankscope.data.ids import TEXT
from rankscope.data.qrels import Queries
from rankscope.engine.evaluating import make_evaluation, make_plan
from rankscope.engine.memory import SpillNotice
from rankscope.engine.progress import ProgressBar
from rankscope.engine.streaming import number_stream_clusters
from rankscope.engine.weights import read_weights
from rankscope.errors import FormatError, RankscopeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from rankscope.adapters.files.table import TableFile
    from rankscope.data.ids import SourceIds
    from rankscope.data.interval import Interval
    from rankscope.engine.memory import Memory
    from rankscope.engine.requests import Request
    from rankscope.engine.streaming import StreamSettings
    from rankscope.engine.weights import Weights
    from rankscope.results import Evaluation
    from rankscope.typing import Progress


def exceeds(open_file: Callable[[], TableFile], memory: Memory) -> bool:
    """Estimate whether a table in files needs more memory than it may use.

    Raises:
        InputError: The table is not of the format, or a column is missing.
        FileError: A file can't be read.
    """
    with open_file() as file:
        return file.estimate_memory() > memory.limit


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

    Args:
        opened: The table, which is closed in the end.
        request: What to evaluate.
        reading: How to read the rows.
        memory: The limit, and the folder for temporary files.
        interval: As in `evaluate`.
        weights: As in `evaluate`.
        progress: As in `evaluate`.

    Raises:
        InputError: The table is not of the format, or a column is missing, or the policy refuses
            a query.
        FileError: A file can't be read or written, or the disk is full.
        OutOfMemoryError: A single query needs more memory than there may be used.
    """
    plan = make_plan(request, reading.ties, [], reading.duplicates)
    with opened as file:
        notice = SpillNotice(file.name, memory)
        spilled = SpilledTable(memory.folder, memory.limit, file.estimate_memory() or None)
        source = _push_batches(file, spilled, reading, notice)
        notes = tuple(file.notes)
        try:
            with _show_parts(progress) as bar:
                while spilled.evaluate_next(
                    plan, reading.ties, reading.duplicates, reading.threads
                ):
                    bar(*spilled.progress())
            notice.finish(spilled.written())
            answer, ids, attributes = spilled.finish(plan)
        except RankscopeError as error:
            raise file.place(error) from None
    if weights is not None:
        answer = answer.reweigh(read_weights(weights, lambda: ids) or [])
    return make_evaluation(
        answer,
        request,
        queries=Queries(file.name, reading.duplicates, lambda: ids, source=source),
        run_name=file.name,
        run_notes=notes,
        duplicates=reading.duplicates,
        interval=interval,
        clusters=number_stream_clusters(attributes, reading.cluster),
        attributes=attributes[: len(reading.attributes)],
        threads=reading.threads,
    )


def _push_batches(
    file: TableFile, spilled: SpilledTable, reading: StreamSettings, notice: SpillNotice
) -> SourceIds:
    """Read all rows, and return the columns of ids as the file has them.

    Raises:
        InputError: A row is invalid, or none is judged.
    """
    table_of = load_arrow().Table.from_batches
    names = {role: file.columns.get(role) for role in SYNONYMS}
    invalid: list[tuple[int, Any]] = []
    rows, has_grades, source = 0, False, TEXT
    for batch in file:
        table = table_of([batch])
        try:
            columns = tables.read_table(table, names, reading.columns, ids=file.describe_ids())
        except FormatError as error:
            if error.line is None:
                raise file.place(error) from None
            # A table in memory is checked column by column, so a later row can come first.
            invalid.append((rows + error.line, table.slice(error.line - 1, 1)))
        else:
            source = columns.source
            has_grades = has_grades or is_judged(columns.relevance)
            if not invalid:
                spilled.push(columns.to_core())
                notice.begin(spilled.written())
        rows += table.num_rows
    if invalid:
        raise file.place(_first_mistake(invalid, names, reading))
    if rows > 0 and not has_grades:
        raise no_judgments(file.name)
    return source


def _first_mistake(
    invalid: list[tuple[int, Any]], names: dict[str, str | None], reading: StreamSettings
) -> RankscopeError:
    """Return the mistake that a table in memory would be refused for."""
    witnesses = load_arrow().concat_tables([table for _, table in invalid])
    try:
        tables.read_table(witnesses, names, reading.columns)
    except FormatError as error:
        error.line = error.line and invalid[error.line - 1][0]
        return error
    raise AssertionError  # each of the rows was refused


@contextmanager
def _show_parts(progress: Progress) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows how many rows are evaluated, if progress is shown as a bar."""
    if progress is not True and not isinstance(progress, ProgressBar):
        yield lambda _done, _total: None
        return
    with ProgressBar("evaluate rows", counts_steps=True) as bar:
        yield bar
