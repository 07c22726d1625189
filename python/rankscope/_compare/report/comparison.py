"""The comparison of the runs of a report."""

from __future__ import annotations

from rankscope._compare.layout import name_letters
from rankscope._compare.notes import describe_methods, format_p, name_p
from rankscope._compare.verdict import decide
from rankscope.output.text import format_value
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope._compare.pair import Compared
    from rankscope._compare.result import Comparison
    from rankscope._compare.verdict import Verdict


@record(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """What the table of means says about a run and a measure.

    Args:
        better_than: The letters of the runs that it is significantly better than.
        is_best: Whether it is significantly better than all other runs.
    """

    better_than: tuple[str, ...]
    is_best: bool


@record(frozen=True, slots=True, kw_only=True)
class Difference:
    """A row of the table of differences, and of its chart.

    Args:
        compared: The pair.
        p: The corrected p-value, as text.
        if_unjudged: The range over grades of unjudged documents, as text; empty if not known.
    """

    compared: Compared
    p: str
    if_unjudged: str

    @property
    def value(self) -> float:
        """The difference."""
        return self.compared.difference

    @property
    def lower(self) -> float:
        """The lower end of its interval; NaN if there is none."""
        return self.compared.lower

    @property
    def upper(self) -> float:
        """The upper end."""
        return self.compared.upper


@record(frozen=True, slots=True, kw_only=True)
class ComparedMeasure:
    """The comparison of all runs by one measure.

    Args:
        verdict: Which run is better, or that none is significantly best.
        differences: All pairs of runs.
        runs: For each run, which others it is better than.
        has_unjudged: Whether the differences have ranges over grades of unjudged documents.
    """

    verdict: Verdict
    differences: tuple[Difference, ...]
    runs: Mapping[str, ComparedRun]
    has_unjudged: bool

    @property
    def queries(self) -> int:
        """The number of queries for which all runs have a value."""
        return self.differences[0].compared.n


@record(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """The comparison of the runs of a report.

    Args:
        result: The result of `compare`, or `None` where `refusal` says why.
        refusal: Why the runs aren't compared; empty if they are.
        letters: The letter of each run.
        measures: The comparison by each measure that has a mean over queries.
        notes: The test, the correction, the intervals and their limits, as sentences.
    """

    result: Comparison | None
    refusal: str
    letters: Mapping[str, str]
    measures: Mapping[str, ComparedMeasure]
    notes: tuple[str, ...]

    @property
    def verdict(self) -> Verdict | None:
        """The verdict by the first measure, or `None` if the runs aren't compared."""
        first = next(iter(self.measures.values()), None)
        return None if first is None else first.verdict

    @property
    def p_name(self) -> str:
        """The head of the column of p-values, with the correction."""
        return name_p(() if self.result is None else self.result.comparisons)


def read_comparison(comparison: Comparison | str) -> RunComparison:
    """Read a comparison of all pairs of runs, or the reason why there is none."""
    if isinstance(comparison, str):
        return RunComparison(result=None, refusal=comparison, letters={}, measures={}, notes=())
    letters = name_letters(comparison.runs)
    return RunComparison(
        result=comparison,
        refusal="",
        letters=letters,
        measures={name: _read_measure(comparison, name, letters) for name in comparison.measures},
        notes=tuple(describe_methods(comparison)),
    )


def _read_measure(
    comparison: Comparison, measure: str, letters: Mapping[str, str]
) -> ComparedMeasure:
    pairs = comparison.over_all(measure)
    best = comparison.find_best(measure)
    beaten = {run: comparison.find_beaten(measure, run) for run in comparison.runs}
    return ComparedMeasure(
        verdict=decide(comparison, measure),
        differences=tuple(map(_read_difference, pairs)),
        runs={
            run: ComparedRun(
                better_than=tuple(letters[each] for each in others), is_best=run == best
            )
            for run, others in beaten.items()
        },
        has_unjudged=any(each.unjudged is not None and each.unjudged.documents for each in pairs),
    )


def _read_difference(each: Compared) -> Difference:
    known = each.unjudged
    ends = () if known is None else (known.if_unjudged_lowest, known.if_unjudged_highest)
    return Difference(
        compared=each,
        p=format_p(each.p_corrected),
        if_unjudged=" to ".join(map(format_value, ends)),
    )
