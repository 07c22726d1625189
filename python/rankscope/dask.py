"""Evaluate data frames of Dask.

Each partition is split into groups by a hash of the query, and the rows of each group are evaluated
by one task, as in `rankscope.spark`. Values are those of the local engine to the last bit, whatever
the partitions.
"""

from __future__ import annotations

from functools import partial

from rankscope.errors import FormatError, RankscopeError, UsageError
from rankscope.evaluation.evaluating import Asked
from rankscope.evaluation.query_groups import read_slicing
from rankscope.evaluation.question import split_question
from rankscope.inputs.arrow import load_arrow
from rankscope.settings.reading import Reading
from rankscope.spark.evaluation import (
    MergedAnswer,
    MergedEvaluation,
    make_evaluation,
    merge_parts,
    refuse,
)
from rankscope.spark.jobs import OPTIONS, make_job
from rankscope.spark.packing import Buckets, split
from rankscope.spark.selecting import check_columns, select_columns
from rankscope.spark.tasks import Task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias, Unpack

    from rankscope.conventions import Convention
    from rankscope.engine.requests import Measures
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import ReadingOptions
    from rankscope.spark.packing import Rows
    from rankscope.spark.tasks import Job

    Frame: TypeAlias = Any
    """A DataFrame of Dask."""

MOST_PIECES = 100_000
"""How many pieces of partitions there may be, because Dask has a task for each."""


def evaluate(
    judgments: Frame,
    run: Frame | Measures | None = None,
    measures: Measures | None = None,
    *,
    by: str | Sequence[str] | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    strict: bool = False,
    **options: Unpack[ReadingOptions],
) -> MergedEvaluation:
    """Evaluate a run against judgments, or a table that has both, as data frames of Dask.

    Args:
        judgments: As in `rankscope.spark.evaluate`, as a DataFrame of Dask.
        run: As in `rankscope.spark.evaluate`, as a DataFrame of Dask.
        measures: As in `rankscope.evaluate`.
        by: As in `rankscope.spark.evaluate`.
        policy: As in `rankscope.evaluate`, except `ties="input"`, which needs an order of rows.
        convention: As in `rankscope.evaluate`.
        strict: As in `rankscope.evaluate`.
        **options: The columns, `duplicates` (except `"first"`) and `score_type`, as in
            `rankscope.evaluate`.

    Returns:
        The evaluation. Values of queries are ordered by the text of the queries.

    Raises:
        UsageError: A measure, the policy or another argument is not one.
        InputError: A column is missing or holds invalid values, or there is nothing to evaluate.
    """
    reading = Reading.of("evaluate", options, known=OPTIONS)
    judged, given, wanted = split_question("evaluate", judgments, run, measures)
    slicing = read_slicing(by)
    if judged is None:
        sources = [_Source("joined", given, "the table", reading.columns, slicing)]
    else:
        sources = [
            _Source("judged", judged, "qrels", reading.columns, slicing),
            _Source("retrieved", given, "the run", reading.columns),
        ]
    asked = Asked(measures=wanted, policy=policy, convention=convention)
    return _run(sources, asked, reading, strict=strict)


class _Source:
    """A data frame and what its rows hold."""

    def __init__(
        self,
        side: str,
        frame: Frame,
        name: str,
        given: Mapping[str, str | None],
        attributes: Sequence[str] = (),
    ) -> None:
        if not hasattr(frame, "to_delayed") or not hasattr(frame, "columns"):
            raise UsageError(
                f"expected {name} as a Dask DataFrame, found {type(frame).__name__}",
                hint="make one with dask.dataframe.read_parquet or from_pandas; for other tables, "
                "use the function of the same name in rankscope",
                code="bad_parameter",
            )
        pa = load_arrow()
        check_columns(list(frame.columns), attributes)
        found = pa.Schema.from_pandas(frame._meta, preserve_index=False)  # noqa: SLF001 - the types
        # Pandas has texts as objects, of which Arrow can't say what they are without a value.
        fields = [pa.field(f.name, pa.string()) if pa.types.is_null(f.type) else f for f in found]
        self.rows, self.ids = select_columns(side, pa.schema(fields), given, attributes)
        self.frame = frame

    def list_grades(self) -> list[float]:
        """Return the different grades, ascending."""
        name = self.rows.names.get("relevance")
        return [1.0] if name is None else sorted(self.frame[name].dropna().unique().compute())


def _run(
    sources: Sequence[_Source], asked: Asked, reading: Reading, *, strict: bool
) -> MergedEvaluation:
    from dask import compute, delayed  # noqa: PLC0415 - only Dask needs it

    held = [each.rows for each in sources]
    job = make_job(held, sources[0].list_grades, asked, reading, library="Dask")
    sizes = [each.frame.npartitions for each in sources]
    count = max(1, min(max(sizes), MOST_PIECES // sum(sizes)))
    buckets = Buckets(count=count, by_text=job.by_text)
    moved = {}
    for each in sources:
        split_part = delayed(partial(_split, each.rows, buckets), nout=count)
        parts = each.frame[each.rows.columns].to_delayed()
        moved[each.rows.side] = [list(split_part(part)) for part in parts]
    evaluate_group = delayed(partial(_evaluate, job))
    answers = compute(
        *(
            evaluate_group({side: [part[at] for part in parts] for side, parts in moved.items()})
            for at in range(count)
        )
    )
    refuse([each for each in answers if isinstance(each, RankscopeError)])
    merged = merge_parts([part for part, _ in answers], job)
    values = load_arrow().concat_tables([table for _, tables in answers for table in tables])
    answer = MergedAnswer(merged.summary, sources[0].ids, values)
    return make_evaluation(MergedEvaluation, answer, merged, job, sources[0].ids, strict=strict)


def _split(rows: Rows, buckets: Buckets, part: Any) -> list[Any]:  # noqa: ANN401 - of Pandas
    """Split a partition into the rows of each group, or return the same error for each."""
    pa = load_arrow()
    found: list[Any] = [None] * buckets.count
    try:
        table = pa.Table.from_pandas(part, rows.schema, preserve_index=False)
        for bucket, piece in split(table, rows, buckets) if table.num_rows else ():
            found[bucket] = piece
    except RankscopeError as error:
        return [error] * buckets.count
    except pa.ArrowException as error:
        types = ", ".join(f"{field.name}: {field.type}" for field in rows.schema)
        hint = f"give all partitions the same types: {types}"
        found = [FormatError(f"a partition has other types: {error}", hint=hint, code="columns")]
        return found * buckets.count
    return found


def _evaluate(job: Job, pieces: Mapping[str, Sequence[Any]]) -> Any:  # noqa: ANN401 - or an error
    """Evaluate the rows of a group, and return the answer and the values, or an error."""
    pa, task = load_arrow(), Task(job)
    values: list[Any] = []
    errors = [each for held in pieces.values() for each in held if isinstance(each, RankscopeError)]
    if errors:
        return min(errors, key=str)
    tables = {}
    for side, held in pieces.items():
        schema = job.rows[side].schema
        tables[side] = pa.concat_tables(
            [schema.empty_table(), *(each.cast(schema) for each in held if each is not None)]
        )
    try:
        if any(table.num_rows for table in tables.values()):
            values, _ = task.evaluate_tables(tables)
    except RankscopeError as error:
        return error
    streams = [pa.ipc.open_stream(row["payload"][0].as_buffer()) for row in values]
    return task.make_part(), [stream.read_all() for stream in streams]
