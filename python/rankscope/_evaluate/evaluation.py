"""The result of an evaluation: means, values of queries, counts, and exports."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, SupportsIndex, TypeAlias, TypeVar, overload

from rankscope._evaluate.query_values import bad_parameter
from rankscope._names import as_dict, check_choice
from rankscope._settings import Policy
from rankscope._show import Printed, Tabular, Written, to_arrow, to_pandas, to_polars, write_json
from rankscope._show.diagnostics import (
    Diagnostic,
    Estimate,
    count_codes,
    describe_intervals,
    shorten,
)
from rankscope._show.table import Rows, Shape, SourceIds, Table, finish, format_value, lay_out, show
from rankscope.errors import MeasureError, UsageError
from rankscope.measures import Measure, parse

Names: TypeAlias = Literal["canonical", "plain"]


class MeasureMean(Protocol):
    """The mean of a measure."""

    @property
    def measure(self) -> Measure:
        """The measure."""


Mean = TypeVar("Mean", bound=MeasureMean)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rankscope._conventions import Convention
    from rankscope._drawing import ThemeName
    from rankscope._evaluate.query_values import Slices
    from rankscope._evaluate.runs import Evaluated
    from rankscope._evaluate.settings import Request
    from rankscope._inputs.reading import Queries
    from rankscope._show.layout import Layout, Paper
    from rankscope._show.table import ColumnValues, Ids


class Exported(Printed, Written, Tabular):
    """The results of evaluating runs, as frames and documents."""

    @abstractmethod
    def _rows(self, names: Names, shape: Shape | None) -> Mapping[str, ColumnValues]:
        """Return the columns of a frame."""

    @abstractmethod
    def _document(self, *, by_query: bool) -> dict[str, object]:
        """Return what the JSON document holds."""

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self._rows("canonical", None)

    def to_pandas(self, names: Names = "canonical", *, shape: Shape | None = None) -> pd.DataFrame:
        """Return the values of queries, or the means of several runs, as a pandas data frame.

        Args:
            names: `canonical` (`nDCG@10`) or `plain` (`ndcg_at_10`).
            shape: `wide` for one row per query and one column per measure; `long` for one row per
                query and measure, in the columns `measure` and `value`. Several runs have a column
                `run`, and by default one row each, with their means; one run is `wide` by default.
                The column of queries has the name and the type of the input. If you asked for
                slices, their attributes follow.

        Raises:
            UsageError: pandas is not installed, or an argument isn't one of its choices.
        """
        return to_pandas(self._rows(names, shape))

    def to_polars(self, names: Names = "canonical", *, shape: Shape | None = None) -> pl.DataFrame:
        """Return the values of queries, or the means of several runs, as a Polars data frame.

        Args:
            names: As in `to_pandas`.
            shape: As in `to_pandas`.

        Raises:
            UsageError: Polars is not installed, or an argument isn't one of its choices.
        """
        return to_polars(self._rows(names, shape))

    def to_arrow(self, names: Names = "canonical", *, shape: Shape | None = None) -> pa.Table:
        """Return the values of queries, or the means of several runs, as an Arrow table.

        Args:
            names: As in `to_pandas`.
            shape: As in `to_pandas`.

        Raises:
            UsageError: pyarrow is not installed, or an argument isn't one of its choices.
        """
        return to_arrow(self._rows(names, shape))

    def to_json(self, *, per_query: bool = False, indent: int | None = 2) -> str:
        """Return means, counts and settings as JSON, as `rankscope eval --json` prints them.

        Args:
            per_query: Whether to include the values of each query.
            indent: As in other results: the blanks of each level, or `None` for one line.
        """
        return write_json(self._document(by_query=per_query), indent=indent)

    def plot(
        self,
        measure: Measure | str | None = None,
        *,
        ax: Axes | None = None,
        theme: ThemeName = "light",
    ) -> Axes:
        """Draw a measure by cutoff, a line for each run; see `rankscope.plots.draw_cutoffs`."""
        from rankscope.plots import draw_cutoffs

        return draw_cutoffs(self, measure, ax=ax, theme=theme)  # type: ignore[arg-type]  # one of the two

    @abstractmethod
    def __float__(self) -> float:
        """Return the only value."""

    @overload
    def __round__(self, ndigits: None = None) -> int: ...

    @overload
    def __round__(self, ndigits: SupportsIndex) -> float: ...

    def __round__(self, ndigits: SupportsIndex | None = None) -> float:
        """Round the only value.

        Raises:
            UsageError: There are several values.
        """
        return round(float(self), ndigits)

    def __format__(self, spec: str) -> str:
        """Format the only value, such as with `.3f`; without a format, return the text as printed.

        Raises:
            UsageError: There are several values, and a format.
        """
        return format(float(self), spec) if spec else str(self)

    __repr__ = Printed.__str__


class Evaluation(Exported, Mapping[str, float]):
    """The result of evaluating a run: a mapping from canonical measure name to mean.

    You can look up a mean by measure, canonical name or alias, and under a convention also by the
    measure you asked for. Iterating yields canonical names.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
        >>> run = {"q1": {"d2": 0.9, "d1": 0.8}, "q2": {"d3": 0.5}}
        >>> ev = rs.evaluate(qrels, run, [rs.nDCG @ 10, "RR"])
        >>> ev["RR"]
        0.75
        >>> ev.per_query("mrr")
        array([0.5, 1. ])
        >>> ev.counts.queries
        2
        >>> print(ev)
        measure  value   queries
        nDCG@10  0.8155  2 of 2
        RR       0.7500  2 of 2
        policy: ties=doc_id,empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant
    """

    def __init__(
        self,
        request: Request,
        evaluated: Evaluated,
        queries: Queries,
        *,
        counts: Counts,
        notes: Sequence[Diagnostic],
        means: Sequence[float] | None = None,
        estimates: Mapping[str, Estimate] | None = None,
        slices: Slices | None = None,
    ) -> None:
        self._request, self._answer, self._queries = request, evaluated.core, queries
        self._counts, self._notes = counts, tuple(notes)
        self._index = {measure.name: index for index, measure in enumerate(request.measures)}
        self._means = tuple(self._answer.means() if means is None else means)
        self._estimates = dict(estimates or {})
        self._slices, self._run_columns = slices, (evaluated.name, evaluated.columns)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order you asked for them."""
        return tuple(self._request.measures)

    @property
    def policy(self) -> Policy:
        """The policy that the values were computed with."""
        return self._request.policy

    @property
    def convention(self) -> Convention | None:
        """The convention that the values were computed with, if any."""
        return self._request.convention

    @property
    def counts(self) -> Counts:
        """The numbers of queries and documents."""
        return self._counts

    def means(self, names: Names = "canonical") -> dict[str, float]:
        """Return the mean of each measure by its name.

        Args:
            names: `canonical` (`nDCG@10`), or `plain` (`ndcg_at_10`) for tools that accept only
                letters, digits and underscores, such as MLflow and Prometheus. Every measure has a
                plain name of its own, which is also `Measure.plain_name`.

        Raises:
            UsageError: `names` is neither of them.

        Examples:
            >>> import rankscope as rs
            >>> ev = rs.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["nDCG@10", "P(rel=2)@5"])
            >>> ev.means(names="plain")
            {'ndcg_at_10': 1.0, 'p_at_5_rel_2': 0.0}
        """
        return dict(zip(name_measures(self._request.measures, names), self._means, strict=True))

    @property
    def denominators(self) -> dict[str, int]:
        """The number of queries in the mean of each measure."""
        return dict(zip(self._index, self._answer.denominators(), strict=True))

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The lower and upper end of each mean's interval, if you asked for intervals.

        Ends are NaN where there is no interval; `estimates` has the reason.
        """
        return {name: estimate.ends for name, estimate in self._estimates.items()}

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Each mean with its interval, method and sample size, if you asked for intervals."""
        return dict(self._estimates)

    @property
    def slices(self) -> Slices | None:
        """The means of each slice, largest slice first, if you asked for slices.

        The first columns are the slice and its number of `queries`. For each measure there are the
        mean, the number of queries in it (`n`), and the ends of its interval, if you asked for it.
        They are NaN where a slice has too few queries for an interval.
        """
        return self._slices

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """Notes about input that is valid but looks wrong, with code, message and place."""
        return self._notes

    @property
    def diagnostics(self) -> dict[str, int]:
        """The count of each code in `notes`."""
        return count_codes(self._notes)

    @property
    def query_ids(self) -> Ids:
        """The judged queries, in the order of the judgments.

        They are integers or UUIDs if the input has such, else text. CSV files have only text.
        """
        return self._queries.ids

    @property
    def query_texts(self) -> list[str]:
        """The judged queries as text, which is how messages show them."""
        return self._queries.read_ids()

    @property
    def source(self) -> SourceIds:
        """The columns of identifiers as they are in the input."""
        return self._queries.source

    def per_query(self, measure: Measure | str) -> NDArray[np.float64]:
        """Return the value of each query.

        Args:
            measure: One of the evaluated measures.

        Returns:
            A read-only float64 array in the order of `query_ids`, with NaN for queries that the
            policy leaves out.

        Raises:
            MeasureError: The measure was not evaluated, or has one value for all queries together.
        """
        import numpy as np

        column = memoryview(self._answer.values(self._find_values(measure)))
        return np.frombuffer(column, dtype=np.float64)

    def per_query_list(self, measure: Measure | str) -> list[float]:
        """Return the value of each query as a list, without NumPy.

        Raises:
            MeasureError: The measure was not evaluated, or has one value for all queries together.
        """
        column = memoryview(self._answer.values(self._find_values(measure)))
        return [*column.cast("d")]

    def to_dict(self, names: Names = "canonical") -> Rows:
        """Return the value of each measure for each query, as nested dicts.

        Args:
            names: `canonical` (`nDCG@10`) or `plain` (`ndcg_at_10`).
        """
        columns = self._columns(names)
        return {
            query: {name: values[place] for name, values in columns.items()}
            for place, query in enumerate(self.query_ids)
        }

    def __getitem__(self, measure: Measure | str) -> float:
        return self._means[self._find(measure)]

    def __contains__(self, measure: object) -> bool:
        if not isinstance(measure, Measure | str):
            return False
        try:
            self._find(measure)
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __float__(self) -> float:
        """Return the mean of the only measure.

        Raises:
            UsageError: There are several measures.
        """
        if len(self) == 1:
            return self._means[0]
        raise UsageError(
            f"expected one measure to be a number, found {len(self)}: {', '.join(self)}",
            hint=f"name one: evaluation[{next(iter(self))!r}]",
            code="several_values",
        )

    @property
    def small_print(self) -> tuple[str, ...]:
        """The lines with the columns, the convention, the policy, the intervals and the notes.

        The columns are those of tables that were found by their names.
        """
        tables = ((self._queries.name, self.source.usual), self._run_columns)
        columns = (
            f"columns of {table}: {', '.join(f'{role}={name}' for role, name in usual.items())}"
            for table, usual in tables
            if usual
        )
        return (*columns, *self._remarks())

    def _parts(self) -> list[str | Table]:
        columns = {"measure": [*self], "value": [*map(format_value, self.values())]}
        if self._estimates:
            columns["interval"] = [_format_interval(*self.intervals[name]) for name in self]
        total = self.counts.queries
        columns["queries"] = [f"{count} of {total}" for count in self.denominators.values()]
        slices: list[str | Table] = [] if self.slices is None else ["", self.slices, ""]
        remarks = shorten(self._remarks(), self.diagnostics)
        return [Table(columns, numbers=[*columns][1:]), *slices, *remarks]

    def _remarks(self) -> list[str]:
        """Return the lines with the convention, the policy, the intervals and the notes."""
        row = self.convention
        return [
            *([f"convention: {row.address} ({row.verified})"] if row else []),
            f"policy: {self.policy}",
            *describe_intervals(self._estimates),
            *(f"note: {note}" for note in self.notes),
        ]

    def _document(self, *, by_query: bool) -> dict[str, object]:
        return describe_evaluation(self, by_query=by_query)

    def _describe_paper(self, paper: Paper) -> Layout:
        from rankscope._show.layout import Cell, Grid, Layout

        if paper.sort is not None or paper.baseline is not None or paper.relative:
            raise bad_parameter(
                "the result of one run has no order of runs and no baseline",
                "remove sort, baseline and relative, or evaluate several runs: "
                "evaluate(judgments, {'a': …, 'b': …}, measures)",
            )
        paper.check_names([*self])
        digits = paper.places
        rows = [
            [Cell(show(paper.name(name))), Cell(f"{paper.scale(name) * value:.{digits}f}")]
            for name, value in self.items()
        ]
        heads = ["measure", "value"]
        if self._estimates:
            heads.append("interval")
            for row, (name, ends) in zip(rows, self.intervals.items(), strict=True):
                lower, upper = (paper.scale(name) * end for end in ends)
                row.append(Cell(_format_interval(lower, upper, digits)))
        counts = {*self.denominators.values()}
        over = f"{min(counts):,}" if len(counts) == 1 else f"{min(counts):,} to {max(counts):,}"
        over += " query" if counts == {1} else " queries"
        grid = Grid(
            tuple(heads),
            (True, *[False] * (len(heads) - 1)),
            tuple(map(tuple, rows)),
            show(paper.caption or f"{', '.join(map(paper.name, self))} over {over}."),
            (
                *paper.say_percent([*self]),
                f"Means over {over}.",
                *map(finish, describe_intervals(self._estimates)),
            ),
        )
        return Layout(grids=(grid,), label=paper.label)

    def _columns(self, names: Names) -> dict[str, list[float]]:
        measures = [measure for measure in self._request.measures if measure.row.level == "query"]
        columns = map(self.per_query_list, measures)
        return dict(zip(name_measures(measures, names), columns, strict=True))

    def _rows(self, names: Names, shape: Shape | None) -> dict[str, ColumnValues]:
        query = self.source.query
        keys = [(query.name, query.restore_column(self.query_texts)), *self._read_attributes()]
        return lay_out(keys, self._columns(names), shape or "wide")

    def _read_attributes(self) -> Iterator[tuple[str, ColumnValues]]:
        """Return the attributes of the queries whose slices there are."""
        for name, values, codes in self._request.slices:
            texts = [values[code] for code in codes]
            yield name, self.source.attribute(name).restore_column(texts)

    def _find_values(self, measure: Measure | str) -> int:
        """Return the column of a measure that has a value for each query."""
        at = self._find(measure)
        evaluated = self._request.measures[at]
        if evaluated.row.level == "run":
            raise MeasureError(
                f"{evaluated} has no value for a query: it is one value of all lists",
                hint=f"its value is evaluation[{evaluated.name!r}]",
                code="no_query_values",
            )
        return at

    def find_measure(self, measure: Measure | str) -> Measure:
        """Return one of the evaluated measures by any of its names.

        Raises:
            MeasureError: The measure was not evaluated.
        """
        return self._request.measures[self._find(measure)]

    def _find(self, measure: Measure | str) -> int:
        name = find_name(measure, self._index, self._request.names)
        if name in self._index:
            return self._index[name]
        raise NotEvaluatedError(measure, list(self._index))


def _format_interval(lower: float, upper: float, digits: int = 4) -> str:
    if lower != lower:  # noqa: PLR0124 - NaN alone differs
        return "none"
    return f"{lower:.{digits}f} to {upper:.{digits}f}"


def describe_evaluation(evaluation: Evaluation, *, by_query: bool) -> dict[str, object]:
    """Return the means with all that belongs to them, and the values of queries if requested."""
    document: dict[str, object] = {
        "measures": dict(evaluation),
        "denominators": evaluation.denominators,
        **({"intervals": evaluation.intervals} if evaluation.intervals else {}),
        **({"estimates": _describe(evaluation.estimates)} if evaluation.estimates else {}),
        "counts": evaluation.counts.to_dict(),
        "policy": evaluation.policy.to_dict(),
        **({"convention": evaluation.convention.address} if evaluation.convention else {}),
        "diagnostics": evaluation.diagnostics,
    }
    slices = evaluation.slices
    if slices is not None and len(slices.attributes) == 1:
        document["slices"] = slices.to_dict()
    elif slices is not None:
        rows = write_slices(slices)
        document["slices"] = [dict(zip(slices.names, row, strict=True)) for row in rows]
    if by_query:
        values = evaluation.to_dict().values()
        document["per_query"] = dict(zip(evaluation.query_texts, values, strict=True))
    return document


def write_slices(slices: Slices) -> list[tuple[str | int | float | None, ...]]:
    """Return the rows of slices with their values as text, the same from all formats of files."""
    first = len(slices.attributes)
    pairs = zip(slices.texts(), slices.rows(), strict=True)
    return [(*texts, *row[first:]) for texts, row in pairs]


def _describe(estimates: Mapping[str, Estimate]) -> dict[str, dict[str, object]]:
    """Return how each interval was computed, or why there is none."""
    fields = ("method", "level", "n", "clusters", "effective", "reason")
    return {
        name: {field: getattr(estimate, field) for field in fields}
        for name, estimate in estimates.items()
    }


class NotEvaluatedError(MeasureError, KeyError):
    """The result doesn't contain the measure."""

    def __init__(self, measure: Measure | str, evaluated: list[str]) -> None:
        super().__init__(
            f"{measure} was not evaluated",
            hint=f"the evaluated measures are {', '.join(evaluated)}",
            code="not_evaluated",
        )


def name_measures(measures: Iterable[Measure], names: Names) -> list[str]:
    """Return the canonical or the plain names of measures."""
    check_choice("names", names, ("canonical", "plain"))
    return [measure.plain_name if names == "plain" else measure.name for measure in measures]


def find_name(
    measure: Measure | str, names: Collection[str], requested: Mapping[str, str] | None = None
) -> str:
    """Return the canonical name of a measure, such as `"AP"` for `"map"`."""
    name = measure.name if isinstance(measure, Measure) else measure
    if name not in names and not isinstance(measure, Measure):
        with suppress(MeasureError):
            name = parse(name).name
    # Under a convention, the name of the requested measure works as well.
    return (requested or {}).get(name, name)


def find_mean(means: Sequence[Mean], measure: Measure | str) -> Mean:
    """Return the mean of a measure, which can be named by an alias."""
    by_name = {mean.measure.name: mean for mean in means}
    name = find_name(measure, by_name)
    if name in by_name:
        return by_name[name]
    raise NotEvaluatedError(measure, list(by_name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The numbers of queries and documents in an evaluation.

    Args:
        queries: The judged queries.
        evaluated: The judged queries whose values are included in means, if defined.
        empty: The judged queries without a document with a grade above 0.
        missing: The judged queries that are not in the run.
        run_only: The queries of the run that are not judged, which are in no mean.
        tied: The queries in which a judged document has the same score as another document, so
            that the policy `ties` can change values.
        retrieved_at_k: The retrieved documents up to each cutoff (`None` for whole lists).
        unjudged_at_k: The unjudged documents among them.
    """

    queries: int
    evaluated: int
    empty: int
    missing: int
    run_only: int
    tied: int
    retrieved_at_k: dict[int | None, int]
    unjudged_at_k: dict[int | None, int]

    def to_dict(self) -> dict[str, int | dict[str, int]]:
        """Return the counts by name, with `all` for the cutoff of whole lists."""
        return {
            name: {"all" if k is None else str(k): count for k, count in value.items()}
            if isinstance(value, dict)
            else value
            for name, value in as_dict(self).items()
        }
