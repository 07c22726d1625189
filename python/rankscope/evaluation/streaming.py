"""Evaluates files batch by batch if the rows of each query are contiguous."""

from __future__ import annotations

from rankscope._core import Plan, TableStream
from rankscope.engine.batches import count_rows_at_once, whole_queries
from rankscope.engine.clusters import number_clusters
from rankscope.engine.weights import read_weights
from rankscope.errors import EmptyError, FormatError, RankscopeError
from rankscope.evaluation.evaluating import make_evaluation, make_plan
from rankscope.inputs import tables
from rankscope.inputs.column_names import SYNONYMS
from rankscope.inputs.numbers import no_judgments, widen_scale
from rankscope.inputs.qrels import Queries
from rankscope.output.ids import TEXT
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankscope.engine.requests import Request
    from rankscope.engine.weights import Weights
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.evaluation.groups import Groups
    from rankscope.inputs.files.table import TableFile
    from rankscope.inputs.numbers import Scale
    from rankscope.measures import Measure
    from rankscope.output.ids import SourceIds
    from rankscope.settings.interval import Interval


@record(frozen=True, slots=True, kw_only=True)
class StreamSettings:
    """How the batches of a table are read.

    Args:
        attributes: The columns of what belongs to the query, to slice by.
        cluster: The column of the clusters of queries, if any.
        ties: What decides between equal scores.
        duplicates: What to do with a document that occurs twice in a query, as in `evaluate`.
        is_grouped: Whether to refuse rows of a query that are not together.
        threads: How many threads to use.
        memory: How many bytes of memory to use.
    """

    attributes: Sequence[str]
    cluster: str | None
    ties: str
    duplicates: str
    is_grouped: bool
    threads: int
    memory: int

    @property
    def rows_at_once(self) -> int:
        """How many rows to evaluate at once."""
        return count_rows_at_once(self.memory)

    @property
    def columns(self) -> list[str]:
        """The columns of attributes and clusters, each once."""
        return list(dict.fromkeys([*self.attributes, *([self.cluster] if self.cluster else [])]))


def can_stream(measures: list[Measure]) -> bool:
    """Check whether measures can be evaluated without all rows: all grades, or all lists."""
    if any(measure.row.of_items for measure in measures):
        return False
    return not any(callable(value) for measure in measures for value in measure.parameters.values())


def evaluate_stream(
    open_file: Callable[[], TableFile],
    request: Request,
    reading: StreamSettings,
    interval: Interval | None,
    weights: Weights | None,
) -> Evaluation | None:
    """Evaluate a table batch by batch, or return `None` if a query's rows aren't contiguous."""
    plan = make_plan(request, reading.ties, [], reading.duplicates)
    with open_file() as file:
        pushed = _push_batches(file, plan, reading)
        notes = tuple(file.notes)
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
    answer, ids, attributes = finished
    if weights is not None:
        answer = answer.reweigh(read_weights(weights, lambda: ids) or [])
    return make_evaluation(
        answer,
        replace(request, scale=scale),
        queries=Queries(file.name, reading.duplicates, lambda: ids, notes, source),
        run_name=file.name,
        duplicates=reading.duplicates,
        interval=interval,
        clusters=number_stream_clusters(attributes, reading.cluster),
        attributes=attributes[: len(reading.attributes)],
        threads=reading.threads,
    )


def _push_batches(
    file: TableFile, plan: Plan, reading: StreamSettings
) -> tuple[TableStream, SourceIds, Scale | None] | None:
    stream, source = TableStream(), TEXT
    names = {role: file.columns.get(role) for role in SYNONYMS}
    rows, scale = 0, None
    for table in whole_queries(file, names["query"], reading.rows_at_once):
        try:
            columns = tables.read_table(table, names, reading.columns, ids=file.describe_ids())
        except FormatError as error:
            error.line = error.line and error.line + rows
            raise file.place(error) from None
        try:
            is_new = stream.push(
                plan,
                columns.to_core(),
                reading.ties,
                reading.duplicates,
                reading.is_grouped,
                reading.threads,
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


def number_stream_clusters(attributes: Sequence[Groups], name: str | None) -> list[int] | None:
    """Return the number of the cluster of each query, if there are clusters."""
    for attribute, values, codes in attributes:
        if attribute == name:
            return number_clusters(values[code] for code in codes)
    return None
