"""The result of an evaluation whose values stay in Spark until they are asked for."""

from __future__ import annotations

from rankscope._core import Summary
from rankscope._evaluate.evaluating import (
    FEWEST,
    describe_answer,
    no_common_documents,
    refuse_diagnostics,
)
from rankscope._evaluate.evaluation import Evaluation, name_measures
from rankscope._evaluate.slices import Slices
from rankscope._inputs.list_checks import ListChecks
from rankscope._inputs.numbers import no_judgments
from rankscope._inputs.qrels import Queries
from rankscope.errors import EmptyError, FormatError, LimitError, RankscopeError, UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, Self

    from rankscope._evaluate.exports import Names
    from rankscope.measures import Measure
    from rankscope.output.exports import ColumnValues
    from rankscope.output.ids import SourceIds
    from rankscope.spark.frames import Answer
    from rankscope.spark.parquet import Frame
    from rankscope.spark.tasks import Job, Note, Part, Unmatched

MOST_SLICES = 100_000


class SparkEvaluation(Evaluation):
    """An `Evaluation` whose values of queries stay in Spark.

    Means, counts, slices and notes are here. `to_spark` returns the value of each query as a Spark
    DataFrame. Everything else that has values of queries (`per_query`, `to_pandas`, `to_arrow`,
    `query_ids`, …) collects them when it is first called, ordered by the text of the queries.

    Spark keeps the values, one row per query, until you call `unpersist` or use the result as a
    context manager.
    """

    _answer: SparkAnswer  # type: ignore[assignment]  # has what a result reads of an answer

    def to_spark(self, names: Names = "canonical") -> Frame:
        """Return the value of each query as a Spark DataFrame, in no particular order.

        Args:
            names: `canonical` (`nDCG@10`) or `plain` (`ndcg_at_10`).

        Raises:
            UsageError: `names` is neither of them.
        """
        return self._answer.select(name_measures(self.measures, names))

    def unpersist(self) -> None:
        """Let Spark drop the values of queries, which it computes again if they are needed."""
        self._answer.kept.unpersist()
        if self._answer.folder is not None:
            self._answer.folder.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unpersist()

    def _read_attributes(self) -> Iterator[tuple[str, ColumnValues]]:
        for attribute in self.source.attributes:
            yield attribute.name, attribute.restore_column(self._answer.read(attribute.name))


class SparkAnswer:
    """What tasks answered, in the form in which results read an answer of the core.

    Args:
        answer: The answer.
        source: The columns of ids and attributes as the data frames have them.
    """

    def __init__(self, answer: Answer, source: SourceIds) -> None:
        self.summary = answer.merged.summary
        self.rows = answer.rows
        self.kept = answer.kept
        self.folder = answer.folder
        self._source = source
        self._collected: Any = None

    def means(self) -> list[float]:
        """Return the aggregate of each measure."""
        return self.summary.means()

    def denominators(self) -> list[int]:
        """Return the number of queries in the aggregate of each measure."""
        return self.summary.denominators()

    def counts(self) -> list[int]:
        """Return the numbers of queries, as the core does."""
        return self.summary.counts()

    def at_cutoffs(self) -> list[tuple[int, int]]:
        """Return retrieved and unjudged documents by cutoff."""
        return self.summary.at_cutoffs()

    def notes(self) -> list[tuple[str, int, int]]:
        """Return the notes without their rows, which depend on how rows are spread."""
        return [(code, count, 0) for code, count, _ in self.summary.notes()]

    def values(self, measure: int) -> memoryview:
        """Return the bytes of the value of each query, as float64."""
        column = self._collect().column(f"m{measure}").to_numpy()
        return memoryview(column.tobytes())

    def read(self, attribute: str) -> list[str]:
        """Return an attribute of each query as text."""
        names = [each.name for each in self._source.attributes]
        return list(self._collect().column(f"a{names.index(attribute)}").to_pylist())

    def query_ids(self) -> list[str]:
        """Return the queries as text."""
        return list(self._collect().column("query").to_pylist())

    def select(self, measures: Sequence[str]) -> Frame:
        """Return the value of each query as a Spark DataFrame."""
        query = self._source.query
        kinds = {"int8": "byte", "int16": "short", "int32": "int", "int64": "long"}
        rows = self.rows
        kind = kinds.get(query.dtype)
        column = rows["query"] if kind is None else rows["query"].cast(kind)
        columns = [column.alias(query.name)]
        for at, attribute in enumerate(self._source.attributes):
            columns.append(rows[f"a{at}"].alias(attribute.name))
        columns += [rows[f"m{at}"].alias(name) for at, name in enumerate(measures)]
        return rows.select(*columns)

    def _collect(self) -> Any:  # noqa: ANN401 - PyArrow has no types
        """Return the values of queries, ordered by the text of the queries."""
        if self._collected is None:
            self._collected = self.rows.toArrow().sort_by("query")
        return self._collected

    def __getstate__(self) -> dict[str, object]:
        # Values travel, and the session in which they were computed doesn't.
        self._collect()
        return self.__dict__ | {"rows": None, "kept": None, "folder": None}


def make_evaluation(
    answer: SparkAnswer, merged: Merged, job: Job, source: SourceIds, *, strict: bool
) -> SparkEvaluation:
    """Make the result of the answers of all tasks.

    Args:
        answer: The answer as the result reads it.
        merged: What all tasks answered.
        job: What they evaluated.
        source: The columns of ids and attributes as the data frames have them.
        strict: As in `rankscope.evaluate`.

    Raises:
        InputError: There is something suspicious, and `strict` is set.
        UsageError: There are too many slices, or one has the name of another column.
    """
    request, notes = job.request, merged.notes
    if "relevance" not in next(iter(job.rows.values())).names:
        notes = (("implicit_grades", merged.sizes["judged"], 0), *notes)
    *_, rows = job.rows.values()
    judged, run = ("table", "table") if "joined" in job.rows else ("qrels", "run")
    queries = Queries(judged, job.duplicates, answer.query_ids, notes, source)
    counts, described = describe_answer(
        answer,
        request,
        queries=queries,
        run_name=run,
        run_notes=merged.checks.notes(run, rows.names["query"]),
        duplicates=job.duplicates,
    )
    evaluation = SparkEvaluation(
        request,
        answer,  # type: ignore[arg-type]  # has what a result reads of it
        queries,
        counts=counts,
        notes=described,
        slices=tabulate_slices(merged.slices, request.measures, source),
    )
    if strict:
        refuse_diagnostics(evaluation.notes)
    return evaluation


def refuse_unmatched(
    answer: SparkAnswer, merged: Merged, are_judged: Callable[[list[str]], bool]
) -> None:
    """Raise an error if no list of a run has a judged document, as the local engine does.

    Args:
        answer: The answer as the result reads it.
        merged: What all tasks answered.
        are_judged: Returns whether any of some documents is judged for whatever query.
    """
    *_, listed, unmatched = answer.counts()
    if not FEWEST <= listed == unmatched:
        return
    if not are_judged([doc for *_, docs in merged.unmatched for doc in docs]):
        raise no_common_documents(listed, merged.unmatched[0], answer.notes(), "run")


def tabulate_slices(
    slices: Mapping[tuple[str, ...], Summary], measures: Sequence[Measure], source: SourceIds
) -> Slices | None:
    """Make the table of measures by slice, the largest slice first."""
    if not source.attributes:
        return None
    names = [attribute.name for attribute in source.attributes]
    taken = {"queries", *(measure.name for measure in measures)}
    for name in names:
        if name in taken:
            raise UsageError(
                f"expected an attribute with a name of its own, found {name!r}",
                hint="rename the attribute: the table of slices has a column of this name",
                code="bad_parameter",
            )
    if len(slices) > MOST_SLICES:
        raise LimitError(
            f"expected at most {MOST_SLICES} slices, found {len(slices)} values of "
            f"{', '.join(names)}",
            hint="slice by something with fewer values",
            code="slices",
        )
    sizes = {key: summary.counts()[0] for key, summary in slices.items()}
    order = sorted(slices, key=lambda key: (-sizes[key], key))
    columns: dict[str, list[str | int | float]] = {
        name: [key[at] for key in order] for at, name in enumerate(names)
    }
    columns["queries"] = [sizes[key] for key in order]
    means = {key: summary.means() for key, summary in slices.items()}
    counts = {key: summary.denominators() for key, summary in slices.items()}
    for at, measure in enumerate(measures):
        columns[measure.name] = [means[key][at] for key in order]
        columns[f"{measure.name} n"] = [counts[key][at] for key in order]
    return Slices(list(source.attributes), columns)


@record(frozen=True, slots=True, kw_only=True)
class Merged:
    """What all tasks answered together.

    Args:
        summary: The summary of all queries.
        slices: The summary of each slice.
        notes: The code and the count of each note on the judgments.
        sizes: The number of rows of each side.
        checks: What may say that a query has several lists.
        unmatched: Lists without a judged document, one of each task, if no list has one.
    """

    summary: Summary
    slices: Mapping[tuple[str, ...], Summary]
    notes: tuple[Note, ...]
    sizes: Mapping[str, int]
    checks: ListChecks
    unmatched: tuple[Unmatched, ...]


def merge_parts(parts: Sequence[Part], job: Job) -> Merged:
    """Merge the answers of all tasks.

    Raises:
        EmptyError: There is nothing to evaluate.
        FormatError: No query is both judged and in the run.
    """
    counts = {side: sum(part.rows.get(side, 0) for part in parts) for side in job.rows}
    if "joined" in counts and counts["joined"] == 0:
        raise _empty("retrieved documents", "table")
    if "joined" not in counts and counts["judged"] == 0:
        raise _empty("judgments", "qrels")
    if "joined" not in counts and counts["retrieved"] == 0:
        raise _empty("retrieved documents", "run")
    if not any(part.has_grades for part in parts):
        raise no_judgments("table")
    summary = Summary.merge([part.summary for part in parts if part.summary is not None])
    judged, _, _, missing, *_ = summary.counts()
    if judged == missing:
        raise FormatError(
            "expected queries that are both judged and in the run, found none",
            hint="do both data frames belong to one collection?",
            code="no_common_queries",
        )
    slices: dict[tuple[str, ...], list[bytes]] = {}
    notes: dict[str, int] = {}
    checks = ListChecks()
    for part in parts:
        checks.merge(part.checks)
        for key, packed in part.slices.items():
            slices.setdefault(key, []).append(packed)
        for code, count, _ in part.notes:
            notes[code] = notes.get(code, 0) + count
    return Merged(
        summary=summary,
        slices={key: Summary.merge(held) for key, held in slices.items()},
        notes=tuple((code, count, 0) for code, count in notes.items()),
        sizes=counts,
        checks=checks,
        unmatched=tuple(sorted(part.unmatched for part in parts if part.unmatched is not None)),
    )


def refuse(errors: Sequence[RankscopeError]) -> None:
    """Raise the same error however rows are spread, without its row, which depends on that.

    Raises:
        RankscopeError: There is one.
    """
    for error in errors:
        error.line = None
    if errors:
        raise min(errors, key=str)


def _empty(what: str, name: str) -> EmptyError:
    return EmptyError(
        f"expected {what}, found none",
        hint="does the data frame have rows?",
        code="empty_input",
        file=name,
    )
