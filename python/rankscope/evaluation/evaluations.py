"""The results of several runs, evaluated with the same judgments."""

from __future__ import annotations

from collections.abc import Mapping

from rankscope.errors import UsageError
from rankscope.evaluation.evaluation import name_measures
from rankscope.names import find_closest
from rankscope.output import exports as tables
from rankscope.output.exports import Tabular, join
from rankscope.output.printed import Printed
from rankscope.output.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from rankscope.evaluation.evaluation import Evaluation, Names
    from rankscope.output.exports import ColumnValues, Shape


class Evaluations(Printed, Tabular, Mapping[str, "Evaluation"]):
    """The results of several runs: a mapping from run name to `Evaluation`.

    It prints as one table: runs are rows, measures are columns. Exports have the columns `run` and
    one per measure; those of each `Evaluation` have the values of its queries.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {"q1": {"d1": 1, "d2": 0}}
        >>> runs = {"old": {"q1": {"d2": 2.0, "d1": 1.0}}, "new": {"q1": {"d1": 2.0}}}
        >>> found = rs.evaluate(qrels, runs, ["RR", "P@1"])
        >>> found["new"]["RR"]
        1.0
        >>> print(found)
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
            columns[name] = [each[measure] for each in self.values()]
            if all(measure.name in each.intervals for each in self.values()):
                for at, end in enumerate(("lower", "upper")):
                    ends = [each.intervals[measure.name][at] for each in self.values()]
                    columns[f"{name}{gap}{end}"] = [*ends]
        return columns

    def means(self, names: Names = "canonical") -> dict[str, dict[str, float]]:
        """Return the mean of each measure for each run, as nested dicts.

        Args:
            names: As in `Evaluation.means`.

        Raises:
            UsageError: `names` isn't one of its choices.
        """
        return {run: each.means(names) for run, each in self.items()}

    def to_pandas(self, names: Names = "canonical", *, shape: Shape | None = None) -> pd.DataFrame:
        """Return the means of the runs, or the values of their queries, as a pandas data frame.

        Args:
            names: `canonical` (`nDCG@10`) or `plain` (`ndcg_at_10`).
            shape: By default there is one row per run, with its means. `wide` has one row per run
                and query, with a column per measure; `long` has one row per run, query and measure,
                in the columns `measure` and `value`.

        Raises:
            UsageError: pandas is not installed, or an argument isn't one of its choices.
        """
        return tables.to_pandas(self._rows(names, shape))

    def to_polars(self, names: Names = "canonical", *, shape: Shape | None = None) -> pl.DataFrame:
        """Return the means of the runs, or the values of their queries, as a Polars data frame.

        Args:
            names: As in `to_pandas`.
            shape: As in `to_pandas`.

        Raises:
            UsageError: Polars is not installed, or an argument isn't one of its choices.
        """
        return tables.to_polars(self._rows(names, shape))

    def to_arrow(self, names: Names = "canonical", *, shape: Shape | None = None) -> pa.Table:
        """Return the means of the runs, or the values of their queries, as an Arrow table.

        Args:
            names: As in `to_pandas`.
            shape: As in `to_pandas`.

        Raises:
            UsageError: pyarrow is not installed, or an argument isn't one of its choices.
        """
        return tables.to_arrow(self._rows(names, shape))

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self._rows("canonical", None)

    def _rows(self, names: Names, shape: Shape | None) -> Mapping[str, ColumnValues]:
        if shape is None:
            return self._tabulate_means(names)
        parts = [each._rows(names, shape) for each in self.values()]  # noqa: SLF001 - its own part
        sizes = [len(next(iter(part.values()))) for part in parts]
        runs = [run for run, size in zip(self, sizes, strict=True) for _ in range(size)]
        columns = {name: join([part[name] for part in parts]) for name in parts[0]}
        if "run" in columns:
            raise UsageError(
                "expected columns with names of their own, found 'run' twice",
                hint="rename the column in the input",
                code="bad_parameter",
            )
        return {"run": runs, **columns}

    def __getitem__(self, run: str) -> Evaluation:
        if run in self._evaluations:
            return self._evaluations[run]
        closest = find_closest(run, self._evaluations)
        raise NotARunError(run, list(self._evaluations), closest)

    def __iter__(self) -> Iterator[str]:
        return iter(self._evaluations)

    def __len__(self) -> int:
        return len(self._evaluations)

    def _parts(self) -> list[str | Table]:
        return [self.table, *self._remarks()]

    __repr__ = Printed.__str__

    def _remarks(self) -> list[str]:
        lines = {run: each._remarks() for run, each in self.items()}  # noqa: SLF001 - its own part
        shared: dict[str, None] = {}
        others: dict[str, None] = {}
        for run, own in lines.items():
            for line in own:
                if all(line in each for each in lines.values()):
                    shared[line] = None
                else:
                    others[f"{run}: {line}"] = None
        queries = next(iter(self.values())).counts.queries
        counted = "1 query" if queries == 1 else f"{queries} queries"
        return [counted, *shared, *others]


class NotARunError(UsageError, KeyError):
    """The result doesn't contain the run."""

    def __init__(self, run: str, runs: list[str], closest: str | None) -> None:
        super().__init__(
            f"there is no run {run!r}",
            hint=f"did you mean {closest!r}?" if closest else f"the runs are {', '.join(runs)}",
            code="not_evaluated",
        )
