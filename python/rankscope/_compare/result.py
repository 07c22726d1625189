"""The comparison of two or more runs: means, differences, intervals and p-values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope._compare.layout import describe_paper, lay_out, lay_out_short
from rankscope._compare.pair import Compared, find_other
from rankscope._drawing import ThemeName
from rankscope._evaluate.evaluation import find_name
from rankscope._settings import Policy
from rankscope._show import Documented, Format, Tabular, Written, write
from rankscope._show.diagnostics import Diagnostic, count_codes
from rankscope._show.layout import Layout, Paper
from rankscope._show.table import MISSING, AttributeColumn, name_columns
from rankscope.errors import UsageError
from rankscope.measures import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope._show.table import ColumnValues


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How runs are compared.

    Args:
        test: The test: `"permutation"`, `"t"` or `"wilcoxon"`.
        correction: How p-values are corrected for the number of comparisons: `"holm"`, `"max-t"`,
            `"bonferroni"`, `"bh"` or `"none"`.
        level: The confidence level of intervals. A p-value below 1 - level is significant.
        permutations: The number of random permutations of the test; 0 if it has none.
        is_exact: Whether the test enumerates all permutations.
        seed: The random seed.
        power: The power that the minimum detectable difference is for.
        clusters: The name of what makes queries dependent, such as a user; empty without clusters.
        is_weighted: Whether queries have weights.
        comparisons: The number of comparisons that p-values are corrected for.
    """

    test: str = "permutation"
    correction: str = "holm"
    level: float = 0.95
    permutations: int = 0
    is_exact: bool = False
    seed: int = 0
    power: float = 0.8
    clusters: str = ""
    is_weighted: bool = False
    comparisons: int = 1

    @property
    def alpha(self) -> float:
        """The p-value below which a difference is significant."""
        return round(1 - self.level, 12)

    def to_dict(self) -> dict[str, object]:
        """Return what commands print of them as JSON."""
        return {
            "cluster": self.clusters or None,
            "weighted": self.is_weighted,
            "test": self.test,
            "correction": self.correction,
            "level": self.level,
            "permutations": self.permutations,
            "exact": self.is_exact,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class ComparedPairs:
    """Pairs of runs that were compared, and corrected together.

    Args:
        comparisons: The pairs.
        settings: How they were compared.
        warnings: What the test can't say about these data.
    """

    comparisons: tuple[Compared, ...]
    settings: Settings
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SliceAttribute:
    """The values of slices in one of the attributes that they are made of."""

    column: AttributeColumn
    texts: Mapping[str, str]

    def read(self, slices: Sequence[str | None]) -> ColumnValues:
        """Return the values of slices, with `None` for all queries."""
        return self.column.restore_column(
            [MISSING if name is None else self.texts[name] for name in slices]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Written, Documented, Tabular):
    """Runs compared by measures: means, differences, confidence intervals and p-values.

    It prints as a table of means, in which letters mark the runs that a run is significantly better
    than, and a table of differences for each measure. Exports have one row per pair of runs,
    measure and slice. The column `slice` is empty for all queries. Each attribute of the slices has
    a column of its own besides, with the type of the input. `plot` draws the differences.

    Args:
        runs: The names of the runs.
        measures: The names of the measures.
        means: The mean of each measure, by run.
        comparisons: All comparisons: by measure, then slice (all queries first), then pair of runs.
        baseline: The baseline that all other runs are compared with, or `None` for all pairs.
        by: The attribute of the slices; empty without slices.
        settings: The test, the correction and the level.
        policy: The policy of the evaluation; `None` for values from elsewhere.
        notes: Notes about input that is valid but looks wrong.
        warnings: Sentences about what the test or the intervals can't say about these data.
        asked: The names of the measures by the names that the caller wrote.
        attributes: The values of the slices in the attributes that they are made of.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {f"q{n}": {"a": 1, "b": 0} for n in range(8)}
        >>> old = {query: {"a": 1.0, "b": 2.0} for query in qrels}
        >>> new = {query: {"a": 2.0, "b": 1.0} for query in qrels}
        >>> comparison = rs.compare(qrels, {"old": old, "new": new}, "nDCG@10")
        >>> compared = comparison["nDCG@10", "new"]
        >>> round(compared.difference, 4), compared.wins, compared.p
        (0.3691, 8, 0.0078125)
        >>> compared.better
        'new'
    """

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    means: Mapping[str, Mapping[str, float]]
    comparisons: tuple[Compared, ...]
    baseline: str | None
    by: str
    settings: Settings
    policy: Policy | None
    notes: tuple[Diagnostic, ...] = ()
    warnings: tuple[str, ...] = ()
    asked: Mapping[str, str] | None = None
    attributes: tuple[SliceAttribute, ...] = ()

    def over_all(self, measure: Measure | str) -> list[Compared]:
        """Return the comparisons by a measure over all queries.

        Raises:
            UsageError: The measure was not compared.
        """
        name = self.find_measure(measure)
        return [pair for pair in self.comparisons if pair.measure == name and pair.slice is None]

    def find_beaten(self, measure: str, run: str) -> list[str]:
        """Return the runs that a run is significantly better than, in order."""
        beaten = {find_other(pair, run) for pair in self.over_all(measure) if pair.better == run}
        return [name for name in self.runs if name in beaten]

    def find_best(self, measure: str) -> str | None:
        """Return the run that is significantly better than each other one, or `None`.

        With a baseline, runs other than the baseline aren't compared with each other, so no run is
        the best unless there are two.
        """
        others = len(self.runs) - 1
        return next(
            (run for run in self.runs if len(self.find_beaten(measure, run)) == others), None
        )

    def find(
        self,
        measure: Measure | str,
        run: str,
        baseline: str | None = None,
        slice: str | None = None,  # noqa: A002 - as the field
    ) -> Compared:
        """Return one comparison.

        Args:
            measure: The measure, or any of its names.
            run: The name of the run.
            baseline: The name of the baseline, where there are several pairs with this run.
            slice: The value of the attribute (default: all queries).

        Raises:
            UsageError: There is no such comparison, or there are several.
        """
        name = self.find_measure(measure)
        pairs = [
            pair
            for pair in self.comparisons
            if (pair.measure, pair.run, pair.slice) == (name, run, slice)
            and baseline in {None, pair.baseline}
        ]
        if len(pairs) != 1:
            baselines = ", ".join(pair.baseline for pair in pairs)
            runs = ", ".join(dict.fromkeys(pair.run for pair in self.comparisons))
            raise UsageError(
                f"expected one comparison of {run!r} by {name}, found {len(pairs)}",
                hint=f"use find() and name the baseline, one of: {baselines}"
                if pairs
                else f"the runs that are compared with a baseline are {runs}",
                code="not_compared",
            )
        return pairs[0]

    def __getitem__(self, key: tuple[Measure | str, str]) -> Compared:
        """Return the comparison of a measure and a run over all queries; see `find`.

        Raises:
            UsageError: The key isn't a measure and a run, or there is no such comparison.
        """
        if not isinstance(key, tuple) or len(key) != 2:  # type: ignore[redundant-expr]  # users err
            raise UsageError(
                f"expected a measure and a run, found {key!r}",
                hint=f"write comparison[{self.measures[0]!r}, {self.runs[-1]!r}]",
                code="not_compared",
            )
        return self.find(*key)

    def find_measure(self, measure: Measure | str) -> str:
        """Return the name of one of the measures, `"AP"` for `"map"`.

        Raises:
            UsageError: The measure was not compared.
        """
        name = find_name(measure, self.measures, self.asked or {})
        if name not in self.measures:
            raise UsageError(
                f"{measure} was not compared",
                hint=f"the measures are {', '.join(self.measures)}",
                code="not_compared",
            )
        return name

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists, as `rankscope compare --json` prints it."""
        return {
            "runs": self.means,
            "comparisons": [pair.to_dict() for pair in self.comparisons],
            "policy": self.policy and self.policy.to_dict(),
            "settings": {
                "baseline": self.baseline,
                "by": self.by or None,
                **self.settings.to_dict(),
                "power": self.settings.power,
            },
            "warnings": list(self.warnings),
            "diagnostics": self.diagnostics,
        }

    @property
    def diagnostics(self) -> dict[str, int]:
        """The count of each code in `notes`."""
        return count_codes(self.notes)

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        rows = [pair.to_dict() for pair in self.comparisons]
        slices = [pair.slice for pair in self.comparisons]
        columns: list[tuple[str, ColumnValues]] = []
        for name in rows[0]:
            columns.append((name, [row[name] for row in rows]))
            if name == "slice":
                columns += [(part.column.name, part.read(slices)) for part in self.attributes]
        return name_columns(columns)

    @property
    def small_print(self) -> tuple[str, ...]:
        """How the numbers were made and what they don't say: test, intervals, policy and notes."""
        return lay_out(self).small_print

    def table(self, format: Format = "text") -> str:  # noqa: A002 - what everybody calls it
        """Return the verdicts, the tables of means and of differences, and all of the small print.

        Args:
            format: One of: `"text"`, `"markdown"`, `"html"` (a fragment without styles of its own),
                `"latex"` (needs the package booktabs). For the table of a paper, use
                `to_latex`.

        Raises:
            UsageError: The format is unknown.
        """
        return write(lay_out(self), format)

    def plot(
        self,
        measure: Measure | str | None = None,
        *,
        against: str | None = None,
        ax: Axes | None = None,
        theme: ThemeName = "light",
    ) -> Axes:
        """Draw each difference with its interval; see `rankscope.plots.draw_forest`."""
        from rankscope.plots import draw_forest

        return draw_forest(self, measure, against=against, ax=ax, theme=theme)

    def _describe_paper(self, paper: Paper) -> Layout:
        return describe_paper(self, paper)

    def __str__(self) -> str:
        return write(lay_out_short(self), "text")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from rankscope._show.html import write_result

        return write_result(write(lay_out_short(self), "html"))
