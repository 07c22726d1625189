"""The comparison of two or more runs: means, differences, intervals and p-values."""

from __future__ import annotations

from rankscope._compare.layout import describe_paper, lay_out, lay_out_short
from rankscope._compare.pair import NAMES, RANGES
from rankscope._evaluate.evaluation import find_name
from rankscope.errors import UsageError
from rankscope.output.diagnostics import count_codes
from rankscope.output.documents import Documented
from rankscope.output.exports import Tabular, name_columns
from rankscope.output.ids import MISSING
from rankscope.output.layout.writers import Written, write
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankscope._compare.pair import Compared
    from rankscope.measures import Measure
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.output.exports import ColumnValues
    from rankscope.output.ids import AttributeColumn
    from rankscope.output.layout.description import Layout, Paper
    from rankscope.output.layout.writers import Format
    from rankscope.settings.policy import Policy


@record(frozen=True, slots=True, kw_only=True)
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


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
class SliceAttribute:
    """The values of slices in one of the attributes that they are made of.

    Args:
        column: The column of the attribute as the caller has it.
        texts: By slice, its value as text.
    """

    column: AttributeColumn
    texts: Mapping[str, str]

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.column.name

    def read(self, slices: Sequence[str | None]) -> ColumnValues:
        """Return the values of slices, with `None` for all queries."""
        texts = [MISSING if each is None else self.texts[each] for each in slices]
        return self.column.restore_column(texts)


@record(frozen=True, slots=True, kw_only=True)
class Comparison(Written, Documented, Tabular):
    """Runs compared by measures: means, differences, confidence intervals and p-values.

    It prints as a table of means, in which letters mark the runs that a run is significantly better
    than, and a table of differences for each measure. Exports have one row per pair of runs,
    measure and slice. The column `slice` is empty for all queries. Each attribute of the slices has
    a column of its own besides, with the type of the input.

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
        >>> found = rs.compare(qrels, {"old": old, "new": new}, "nDCG@10")
        >>> compared = found["nDCG@10", "new"]
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
        name = self._name(measure)
        return [each for each in self.comparisons if each.measure == name and each.slice is None]

    def find_beaten(self, measure: str, run: str) -> list[str]:
        """Return the runs that a run is significantly better than, in order."""
        beaten = {
            each.baseline if each.run == run else each.run
            for each in self.over_all(measure)
            if each.better == run
        }
        return [each for each in self.runs if each in beaten]

    def find_best(self, measure: str) -> str | None:
        """Return the run that is significantly better than each other one, or `None`.

        With a baseline, runs other than the baseline aren't compared with each other, so no run is
        the best unless there are two.
        """
        for run in self.runs:
            if len(self.find_beaten(measure, run)) == len(self.runs) - 1:
                return run
        return None

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
        name = self._name(measure)
        found = [
            each
            for each in self.comparisons
            if each.measure == name
            and each.run == run
            and baseline in {None, each.baseline}
            and each.slice == slice
        ]
        if len(found) != 1:
            known = ", ".join(each.baseline for each in found)
            runs = ", ".join(dict.fromkeys(each.run for each in self.comparisons))
            raise UsageError(
                f"expected one comparison of {run!r} by {name}, found {len(found)}",
                hint=f"use find() and name the baseline, one of: {known}"
                if found
                else f"the runs that are compared with a baseline are {runs}",
                code="not_compared",
            )
        return found[0]

    def __getitem__(self, key: tuple[Measure | str, str]) -> Compared:
        """Return the comparison of a measure and a run over all queries; see `find`.

        Raises:
            UsageError: The key isn't a measure and a run, or there is no such comparison.
        """
        if not isinstance(key, tuple) or len(key) != 2:  # type: ignore[redundant-expr]  # users err
            raise UsageError(
                f"expected a measure and a run, found {key!r}",
                hint=f"write found[{self.measures[0]!r}, {self.runs[-1]!r}]",
                code="not_compared",
            )
        measure, run = key
        return self.find(measure, run)

    def _name(self, measure: Measure | str) -> str:
        """Return the name of a measure in this result: `"AP"` for `"map"`."""
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
        settings = self.settings
        return {
            "runs": self.means,
            "comparisons": [each.to_dict() for each in self.comparisons],
            "policy": None if self.policy is None else self.policy.to_dict(),
            "settings": {
                "baseline": self.baseline,
                "by": self.by or None,
                "cluster": settings.clusters or None,
                "weighted": settings.is_weighted,
                "test": settings.test,
                "correction": settings.correction,
                "level": settings.level,
                "permutations": settings.permutations,
                "exact": settings.is_exact,
                "seed": settings.seed,
                "power": settings.power,
            },
            "warnings": list(self.warnings),
            "diagnostics": self.diagnostics,
        }

    @property
    def diagnostics(self) -> dict[str, int]:
        """The count of each code in `notes`."""
        return count_codes(self.notes)

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        fields: list[tuple[str, ColumnValues]] = [
            (name, [getattr(each, name) for each in self.comparisons]) for name in NAMES
        ]
        slices = [each.slice for each in self.comparisons]
        after = NAMES.index("slice") + 1
        fields[after:after] = [(each.name, each.read(slices)) for each in self.attributes]
        ranges = [each.ranges() for each in self.comparisons]
        fields += [(name, [each[name] for each in ranges]) for name in RANGES]
        return name_columns(fields)

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

    def _describe_paper(self, paper: Paper) -> Layout:
        return describe_paper(self, paper)

    def __str__(self) -> str:
        return write(lay_out_short(self), "text")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from rankscope.output.html import write_result  # noqa: PLC0415 - loads late

        return write_result(write(lay_out_short(self), "html"))
