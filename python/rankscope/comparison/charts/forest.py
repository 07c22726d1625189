"""The data of a forest plot: differences with their confidence intervals."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.comparison.pair import Compared
    from rankscope.comparison.result import Comparison
    from rankscope.measures import Measure


def find_measure(comparison: Comparison, measure: Measure | str | None) -> str:
    """Return the name of a measure of a comparison; that of the first for `None`."""
    name = comparison.measures[0] if measure is None else str(measure)
    if name not in comparison.measures:
        raise UsageError(
            f"the comparison has no measure {name}",
            hint=f"choose one of: {', '.join(comparison.measures)}",
            code="not_compared",
        )
    return name


@record(frozen=True, slots=True)
class Effect:
    """A difference with its confidence interval.

    Args:
        name: What the row shows: a run or a slice.
        minus: The run that it is compared with, if that differs between rows; else empty.
        difference: The difference of the means.
        lower: The lower end of its interval; NaN if there is none.
        upper: The upper end.
        p: The corrected p-value; NaN if the data don't allow a test.
        is_significant: Whether the difference is significant after correction.
        queries: The number of queries.
    """

    name: str
    minus: str
    difference: float
    lower: float
    upper: float
    p: float
    is_significant: bool
    queries: int


@record(frozen=True, slots=True)
class Forest:
    """The data of a forest plot.

    Args:
        measure: The measure.
        effects: The differences, in order.
        title: What is compared with what.
        level: The confidence level of the intervals.
        test: The name of the test.
        correction: How p-values are corrected: `"holm"`, `"bh"`, `"max-t"`, `"tukey"` or `"none"`.
        margin: The margin of equivalence, or `None`.
    """

    measure: str
    effects: tuple[Effect, ...]
    title: str
    level: float
    test: str
    correction: str
    margin: float | None = None

    @classmethod
    def of(
        cls,
        comparison: Comparison,
        measure: Measure | str | None = None,
        *,
        against: str | None = None,
    ) -> Forest:
        """Return the data for pairs of runs, over all queries.

        Args:
            comparison: The result of `compare`.
            measure: The measure (default: the first of the comparison).
            against: A run. Only its pairs are shown, each as the other run minus this one (default:
                the baseline of the comparison, or all pairs if it has none).

        Raises:
            UsageError: The comparison doesn't have the measure or the run.

        Examples:
            >>> import rankscope as rs
            >>> values = {"query_id": [*"abcdef"], "old": [0.1, 0.4] * 3, "new": [0.5, 0.6] * 3}
            >>> forest = Forest.of(rs.compare_values(values, measure="AP"))
            >>> [(each.name, each.minus, round(each.difference, 4)) for each in forest.effects]
            [('new', 'old', 0.3)]
        """
        name = find_measure(comparison, measure)
        one = comparison.baseline if against is None else against
        pairs = comparison.over_all(name)
        if one is None:
            effects = [_read(each, each.run, each.baseline) for each in pairs]
            title = f"Differences of {name}"
        else:
            effects = [
                _read(each, each.run)
                if each.baseline == one
                else _read(each, each.baseline, is_turned=True)
                for each in pairs
                if one in (each.run, each.baseline)
            ]
            title = f"{name}: difference from {one}"
        if not effects:
            raise UsageError(
                f"no run is compared with {one!r}",
                hint=f"choose one of: {', '.join(comparison.runs)}",
                code="not_compared",
            )
        first = pairs[0]
        return cls(
            name, tuple(effects), title, first.level, first.test, first.correction, first.margin
        )

    @classmethod
    def of_slices(
        cls,
        comparison: Comparison,
        measure: Measure | str | None = None,
        *,
        run: str | None = None,
        baseline: str | None = None,
    ) -> Forest:
        """Return the data for the slices of one pair of runs, all queries first.

        Args:
            comparison: The result of `compare` with `by`.
            measure: The measure (default: the first of the comparison).
            run: The run (default: that of the first pair).
            baseline: The run that it is compared with (default: that of the first pair with `run`).

        Raises:
            UsageError: The comparison doesn't have slices, the measure or the pair.
        """
        name = find_measure(comparison, measure)
        if not comparison.by:
            raise UsageError(
                "the comparison has no slices",
                hint="compare by an attribute of queries: compare(…, by='country')",
                code="no_slices",
            )
        pairs = [
            each
            for each in comparison.over_all(name)
            if (run is None or each.run == run) and (baseline is None or each.baseline == baseline)
        ]
        if not pairs:
            known = ", ".join(
                f"(run={each.run!r}, baseline={each.baseline!r})"
                for each in comparison.over_all(name)
            )
            raise UsageError(
                f"there is no pair with run={run!r} and baseline={baseline!r}",
                hint=f"choose one of: {known}",
                code="not_compared",
            )
        chosen = pairs[0]
        effects = [
            _read(each, "all queries" if each.slice is None else each.slice)
            for each in comparison
            if (each.measure, each.run, each.baseline) == (name, chosen.run, chosen.baseline)
        ]
        title = f"{name}: {chosen.run} minus {chosen.baseline}, by {comparison.by}"
        return cls(
            name, tuple(effects), title, chosen.level, chosen.test, chosen.correction, chosen.margin
        )


def _read(each: Compared, name: str, minus: str = "", *, is_turned: bool = False) -> Effect:
    """Return a pair; turned, as the difference of its baseline from its run."""
    ends = (each.difference, each.lower, each.upper)
    if is_turned:
        ends = (-each.difference, -each.upper, -each.lower)
    return Effect(name, minus, *ends, each.p_corrected, each.is_significant, each.n)
