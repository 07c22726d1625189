"""The result of an evaluation whose values stay in Spark until they are asked for."""

from __future__ import annotations

from rankscope._evaluate.evaluating import (
    FEWEST,
    describe_answer,
    no_common_documents,
    refuse_diagnostics,
)
from rankscope._evaluate.evaluation import Evaluation, name_measures
from rankscope._evaluate.slices import tabulate_slices
from rankscope._inputs.numbers import no_judgments
from rankscope._inputs.qrels import Queries
from rankscope.deferred import np
from rankscope.errors import EmptyError, FormatError
from rankscope.records import replace
from rankscope.spark.frames import are_judged
from rankscope.spark.rows import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Self

    from numpy.typing import NDArray

    from rankscope._core import Summary
    from rankscope._evaluate.exports import Names
    from rankscope._evaluate.slices import Slices
    from rankscope.measures import Measure
    from rankscope.output.exports import ColumnValues
    from rankscope.spark.frames import Source
    from rankscope.spark.parquet import Frame
    from rankscope.spark.tasks import Job, Part

TYPES = {"int8": "byte", "int16": "short", "int32": "int", "int64": "long"}
"""What Spark calls the types of integers."""


class SparkEvaluation(Evaluation):
    """An `Evaluation` whose values of queries stay in Spark.

    Means, counts, slices and notes are here. `to_spark` returns the value of each query as a Spark
    DataFrame. Everything else that has values of queries (`per_query`, `to_pandas`, `to_arrow`,
    `query_ids`, …) collects them when it is first called, ordered by the text of the queries.

    Spark keeps the values, one row per query, until you call `unpersist` or use the result as a
    context manager.
    """

    def __init__(
        self,
        job: Job,
        part: Part,
        summaries: Mapping[tuple[str, ...], Summary],
        rows: Frame,
        kept: Frame,
    ) -> None:
        self._values, self._kept = rows, kept
        self._collected: Any = None
        notes = [(code, count, 0) for code, count in part.notes.items()]
        if "relevance" not in job.first.names:
            notes.insert(0, ("implicit_grades", part.rows["judged"], 0))
        run, ids, summary = FILES[job.last.side], job.first.ids, summaries[()]
        read_ids = self._read_query_ids
        queries = Queries(FILES[job.first.side], job.duplicates, read_ids, tuple(notes), ids)
        counts, described = describe_answer(
            summary,
            job.request,
            queries=queries,
            run_name=run,
            run_notes=part.checks.notes(run, job.last.names["query"]),
            duplicates=job.duplicates,
        )
        super().__init__(
            job.request,
            summary,  # type: ignore[arg-type]  # has the means, and values are read here
            queries,
            counts=counts,
            # The row where something was first seen depends on how rows are spread.
            notes=[replace(note, line=0) for note in described],
            slices=_make_slices(job, summaries),
        )

    def per_query(self, measure: Measure | str) -> NDArray[np.float64]:  # noqa: D102 - as in the base
        column = self._collect().column(f"m{self._find_values(measure)}").to_numpy()
        return np.frombuffer(column.tobytes())

    def per_query_list(self, measure: Measure | str) -> list[float]:  # noqa: D102 - as in the base
        values: list[float] = self.per_query(measure).tolist()
        return values

    def to_spark(self, names: Names = "canonical") -> Frame:
        """Return the value of each query as a Spark DataFrame, in no particular order.

        Args:
            names: `canonical` (`nDCG@10`) or `plain` (`ndcg_at_10`).

        Raises:
            UsageError: `names` is neither of them.
        """
        query, *others = (self._values[name] for name in self._values.columns)
        column = self.source.query
        attributes = (attribute.name for attribute in self.source.attributes)
        names_of = (column.name, *attributes, *name_measures(self.measures, names))
        columns = (query.cast(TYPES.get(column.dtype, "string")), *others)
        return self._values.select(
            *(column.alias(name) for column, name in zip(columns, names_of, strict=True))
        )

    def unpersist(self) -> None:
        """Let Spark drop the values of queries, which it computes again if they are needed."""
        self._kept.unpersist()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unpersist()

    def __getstate__(self) -> dict[str, object]:
        # Values travel, and the session in which they were computed doesn't.
        self._collect()
        return self.__dict__ | {"_values": None, "_kept": None}

    def _read_attributes(self) -> Iterator[tuple[str, ColumnValues]]:
        for at, attribute in enumerate(self.source.attributes):
            texts = self._collect().column(f"a{at}").to_pylist()
            yield attribute.name, attribute.restore_column(texts)

    def _read_query_ids(self) -> list[str]:
        return list(self._collect().column("query").to_pylist())

    def _collect(self) -> Any:  # noqa: ANN401 - PyArrow has no types
        """Return the values of queries, ordered by the text of the queries."""
        if self._collected is None:
            self._collected = self._values.toArrow().sort_by("query")
        return self._collected


def _make_slices(job: Job, summaries: Mapping[tuple[str, ...], Summary]) -> Slices | None:
    attributes = job.first.ids.attributes
    if not attributes:
        return None
    keys = [key for key in summaries if key]
    slices = [summaries[key] for key in keys]
    means = [list(zip(of.means(), of.denominators(), strict=True)) for of in slices]
    return tabulate_slices(
        attributes,
        job.request.measures,
        keys,
        [of.counts()[0] for of in slices],
        means=list(zip(*means, strict=True)),
    )


def conclude(
    sources: Sequence[Source], job: Job, part: Part, rows: Frame, kept: Frame, *, strict: bool
) -> SparkEvaluation:
    """Make the result of what is known of all queries.

    Args:
        sources: The data frames.
        job: What was evaluated.
        part: What is known of all queries.
        rows: A row for each query with its values.
        kept: The rows of tasks that Spark keeps for these.
        strict: As in `rankscope.evaluate`.

    Raises:
        InputError: There is nothing to evaluate, or something suspicious, and `strict` is set.
        UsageError: There are too many slices, or one has the name of another column.
    """
    for side in job.rows:
        if not part.rows[side]:
            what = "judgments" if side == "judged" else "retrieved documents"
            raise EmptyError(
                f"expected {what}, found none",
                hint="does the data frame have rows?",
                code="empty_input",
                file=FILES[side],
            )
    if not part.has_grades:
        raise no_judgments("table")
    summaries = part.summarize()
    summary = summaries[()]
    judged, _, _, missing, *_, listed, unmatched = summary.counts()
    if judged == missing:
        raise FormatError(
            "expected queries that are both judged and in the run, found none",
            hint="do both data frames belong to one collection?",
            code="no_common_queries",
        )
    docs = [doc for *_, few in part.unmatched for doc in few]
    if FEWEST <= listed == unmatched and docs and not are_judged(sources[0], docs):
        raise no_common_documents(listed, min(part.unmatched), summary.notes(), "run")
    evaluation = SparkEvaluation(job, part, summaries, rows, kept)
    if strict:
        refuse_diagnostics(evaluation.notes)
    return evaluation
