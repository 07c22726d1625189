"""The results of several runs, evaluated with the same judgments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rankscope._evaluate.evaluation import (
    Evaluation,
    Exported,
    Names,
    describe_evaluation,
    name_measures,
)
from rankscope._evaluate.query_values import bad_parameter
from rankscope._names import find_closest
from rankscope._show.diagnostics import shorten
from rankscope._show.table import Shape, Table, join
from rankscope.errors import MeasureError, UsageError
from rankscope.measures import Measure

if TYPE_CHECKING:
    from rankscope._show.layout import Layout, Paper
    from rankscope._show.table import ColumnValues


class Evaluations(Exported, Mapping[str, "Evaluation"]):
    """The results of several runs: a mapping from run name to `Evaluation`.

    It prints as one table: runs are rows, measures are columns. Exports have the columns `run` and
    one per measure; those of each `Evaluation` have the values of its queries.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {"q1": {"d1": 1, "d2": 0}}
        >>> runs = {"old": {"q1": {"d2": 2.0, "d1": 1.0}}, "new": {"q1": {"d1": 2.0}}}
        >>> evaluations = rs.evaluate(qrels, runs, ["RR", "P@1"])
        >>> evaluations["new"]["RR"]
        1.0
        >>> print(evaluations)
        run      RR     P@1
        old  0.5000  0.0000
        new  1.0000  1.0000
        1 query
        policy: ties=doc_id,empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant
    """

    def __init__(self, evaluations: Mapping[str, Evaluation]) -> None:
        self._evaluations = dict(evaluations)

    @property
    def table(self) -> Table:
        """The means: one row per run, one column per measure, with the ends of intervals if any."""
        return Table(self._tabulate_means("canonical"))

    def _tabulate_means(self, names: Names) -> dict[str, list[str | int | float | None]]:
        columns: dict[str, list[str | int | float | None]] = {"run": [*self]}
        measures = next(iter(self.values())).measures
        gap = "_" if names == "plain" else " "
        for measure, name in zip(measures, name_measures(measures, names), strict=True):
            columns[name] = [evaluation[measure] for evaluation in self.values()]
            if all(measure.name in evaluation.intervals for evaluation in self.values()):
                for at, end in enumerate(("lower", "upper")):
                    ends = [evaluation.intervals[measure.name][at] for evaluation in self.values()]
                    columns[f"{name}{gap}{end}"] = [*ends]
        return columns

    def best(self, measure: Measure | str | None = None) -> str:
        """Return the name of the run with the best mean: the lowest where lower values are better.

        Of runs with equal means it is the first. The best mean may be best by chance: `compare` and
        `leaderboard` say how sure a difference is.

        Args:
            measure: One of the evaluated measures, or any of its names (default: the first).

        Raises:
            MeasureError: The measure was not evaluated, neither higher nor lower values are better,
                or no run has a value.
        """
        evaluated = self._find(measure)
        if evaluated.better == "neither":
            raise MeasureError(
                f"no run is the best by {evaluated}: neither higher nor lower values are better",
                hint="choose a measure of quality, such as nDCG@10",
                code="no_direction",
            )
        best = self._order(evaluated)[0]
        if math.isnan(self[best][evaluated]):
            raise MeasureError(
                f"no run has a value of {evaluated}",
                hint="keep queries without a value: policy='empty=zero'",
                code="no_value",
            )
        return best

    def _order(self, measure: Measure) -> list[str]:
        """Return the names of the runs, the best one first."""
        from rankscope._show.layout import order_runs

        values = [evaluation[measure] for evaluation in self.values()]
        names = [*self]
        return [names[place] for place in order_runs(values, measure.better)]

    def _find(self, measure: Measure | str | None) -> Measure:
        """Return one of the measures; the first for `None`."""
        first = next(iter(self.values()))
        return first.measures[0] if measure is None else first.find_measure(measure)

    def __float__(self) -> float:
        """Return the mean of the only measure of the only run.

        Raises:
            UsageError: There are several runs or measures.
        """
        if len(self) == 1:
            return float(next(iter(self.values())))
        first = next(iter(self))
        raise UsageError(
            f"expected one run to be a number, found {len(self)}: {', '.join(self)}",
            hint=f"name one: evaluations[{first!r}][{next(iter(self[first]))!r}]",
            code="several_values",
        )

    def means(self, names: Names = "canonical") -> dict[str, dict[str, float]]:
        """Return the mean of each measure for each run, as nested dicts.

        Args:
            names: As in `Evaluation.means`.

        Raises:
            UsageError: `names` isn't one of its choices.
        """
        return {run: evaluation.means(names) for run, evaluation in self.items()}

    def _rows(self, names: Names, shape: Shape | None) -> Mapping[str, ColumnValues]:
        if shape is None:
            return self._tabulate_means(names)
        parts = [evaluation._rows(names, shape) for evaluation in self.values()]  # noqa: SLF001 - its own part
        sizes = [len(next(iter(part.values()))) for part in parts]
        runs = [run for run, size in zip(self, sizes, strict=True) for _ in range(size)]
        columns = {name: join([part[name] for part in parts]) for name in parts[0]}
        if "run" in columns:
            raise bad_parameter(
                "expected columns with names of their own, found 'run' twice",
                "rename the column in the input",
            )
        return {"run": runs, **columns}

    def __getitem__(self, run: str) -> Evaluation:
        if run in self._evaluations:
            return self._evaluations[run]
        raise NotARunError(run, list(self._evaluations))

    def __iter__(self) -> Iterator[str]:
        return iter(self._evaluations)

    def __len__(self) -> int:
        return len(self._evaluations)

    def _document(self, *, by_query: bool) -> dict[str, object]:
        return {
            "runs": [
                {"run": run} | describe_evaluation(evaluation, by_query=by_query)
                for run, evaluation in self.items()
            ]
        }

    def _describe_paper(self, paper: Paper) -> Layout:
        from rankscope._show.layout import MeasureColumn, lay_out_paper

        if paper.baseline is not None:
            raise UsageError(
                "runs that were only evaluated have no tests against a baseline",
                hint="write compare(judgments, runs, measures).to_latex(baseline=…), or "
                "leaderboard(evaluations, baseline=…).to_latex()",
                code="not_compared",
            )
        first = next(iter(self.values()))
        runs = [*self] if paper.sort is None else self._order(self._find(paper.sort))
        columns = [
            MeasureColumn(
                name=measure.name,
                direction=measure.better,
                values=[self[run][measure] for run in runs],
            )
            for measure in first.measures
        ]
        over = "1 query" if first.counts.queries == 1 else f"{first.counts.queries:,} queries"
        return lay_out_paper(
            paper,
            [("run", runs, True)],
            columns,
            title=f"Mean {', '.join(map(paper.name, first))} over {over}.",
            notes=[f"Means over {over}."],
        )

    @property
    def small_print(self) -> tuple[str, ...]:
        """The number of queries, the policy, the intervals and the notes, as lines."""
        return tuple(self._remarks())

    def _parts(self) -> list[str | Table]:
        codes = {
            code: count
            for evaluation in self.values()
            for code, count in evaluation.diagnostics.items()
        }
        return [self.table, *shorten(self._remarks(), codes)]

    def _remarks(self) -> list[str]:
        lines = {run: evaluation._remarks() for run, evaluation in self.items()}  # noqa: SLF001 - its own part
        first = next(iter(lines.values()))
        shared = [line for line in first if all(line in remarks for remarks in lines.values())]
        others = [
            f"{run}: {line}"
            for run, remarks in lines.items()
            for line in remarks
            if line not in shared
        ]
        queries = next(iter(self.values())).counts.queries
        counted = "1 query" if queries == 1 else f"{queries} queries"
        return [*dict.fromkeys([counted, *shared, *others])]


class NotARunError(UsageError, KeyError):
    """The result doesn't contain the run."""

    def __init__(self, run: str, runs: list[str]) -> None:
        closest = find_closest(run, runs)
        super().__init__(
            f"there is no run {run!r}",
            hint=f"did you mean {closest!r}?" if closest else f"the runs are {', '.join(runs)}",
            code="not_evaluated",
        )
