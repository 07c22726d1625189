"""The results of several runs, evaluated with the same judgments."""

from __future__ import annotations

from collections.abc import Mapping

from rankscope.errors import UsageError
from rankscope.names import find_closest
from rankscope.results.printed import Printed
from rankscope.results.table import Table
from rankscope.results.tables import Tabular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankscope.results.evaluation import Evaluation, Names
    from rankscope.results.tables import Held


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
        columns: dict[str, list[str | int | float | None]] = {"run": [*self]}
        for name in next(iter(self.values())):
            columns[name] = [each[name] for each in self.values()]
            if all(name in each.intervals for each in self.values()):
                for at, end in enumerate(("lower", "upper")):
                    columns[f"{name} {end}"] = [each.intervals[name][at] for each in self.values()]
        return Table(columns)

    def means(self, names: Names = "canonical") -> dict[str, dict[str, float]]:
        """Return the mean of each measure for each run, as nested dicts.

        Args:
            names: As in `Evaluation.means`.

        Raises:
            UsageError: `names` isn't one of its choices.
        """
        return {run: each.means(names) for run, each in self.items()}

    def _tabulate(self) -> Mapping[str, Held]:
        return self.table.columns

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
        from rankscope.results.text import remarks  # noqa: PLC0415 - only to print

        lines = {run: remarks(each) for run, each in self.items()}
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
