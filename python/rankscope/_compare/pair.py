"""A run compared with a baseline: the record that all comparisons share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope._names import as_dict
from rankscope.measures.spec import Direction, find_gain

if TYPE_CHECKING:
    from rankscope._compare.ranges import Reach

NOT_WRITTEN = {"interval_note", "answered", "unjudged", "tied"}
"""The fields of a pair that are no columns of its table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A run compared with a baseline by one measure, over all queries or a slice of them.

    Args:
        measure: The name of the measure.
        baseline: The name of the baseline.
        run: The name of the run.
        slice: The value of the attribute, or `None` for all queries.
        n: The number of queries for which both have a value.
        clusters: The number of clusters, or `None` without clusters.
        baseline_mean: The mean of the baseline.
        run_mean: The mean of the run.
        difference: The mean of the run minus that of the baseline.
        relative: The difference divided by the mean of the baseline; NaN if that is 0.
        lower: The lower end of the difference's confidence interval; NaN if there is none. It
            excludes 0 exactly if the corrected p-value is below 1 - level, except that of a
            Wilcoxon test.
        upper: The upper end.
        level: The confidence level at which the intervals of all comparisons hold at once, as far
            as the correction promises so.
        interval_method: How the interval was computed: `"dense"`, `"bounded"` or `"t"`; empty if
            there is none.
        interval_note: Why there is no interval; else empty.
        bounded_lower: The lower end of the interval that holds for every distribution of
            differences; NaN if the measure has no limits.
        bounded_upper: Its upper end.
        test: The test: `"permutation"`, `"t"`, `"wilcoxon"`, or `"bounded"` where the p-value is
            that of the bounded interval.
        statistic: Its statistic.
        p: The two-sided p-value, uncorrected; NaN if the data don't allow a test.
        smallest_p: The smallest p-value that these data can give, whatever the values are.
        correction: How `p_corrected` is corrected, over all comparisons of the result.
        p_corrected: The corrected p-value.
        wins: The number of queries in which the run has the better value; the higher one if neither
            higher nor lower values are better.
        ties: The number of queries with equal values, except for rounding.
        losses: The same of the baseline.
        has_large: Whether a query differs by half of what there can be, so that rare, large
            differences are in the reach of these data.
        minimum_detectable: The difference that a t test at 1 - level detects in 80 % of samples of
            this size (Sakai, *Topic set size design*, 2016); NaN if it would be larger than any
            difference that there can be, or if all differences are equal.
        queries_needed: The number of queries (clusters, if there are any) with which a t test
            detects a difference of this size in 80 % of samples; `None` if it isn't known.
        margin: The margin of equivalence, or `None`.
        p_not_worse: The one-sided p-value against the hypothesis that the run is worse by the
            margin or more, by the promise of the interval. NaN if neither higher nor lower values
            are better.
        p_equivalent: The p-value against the hypothesis that the difference, in either direction,
            is the margin or more: the larger of two one-sided ones (TOST; Schuirmann, 1987).
        answered: The same over the queries for which both runs have a list, where one has none and
            that counts; else `None`.
        unjudged: What unjudged documents could change, or `None` if that isn't known.
        tied: What the order of tied documents could change, or `None`.
        direction: Which values of the measure are better: `"higher"`, `"lower"` or `"neither"`.
    """

    measure: str
    direction: Direction = "higher"
    baseline: str
    run: str
    slice: str | None
    n: int
    clusters: int | None
    baseline_mean: float
    run_mean: float
    difference: float
    relative: float
    lower: float = math.nan
    upper: float = math.nan
    level: float
    interval_method: str = ""
    bounded_lower: float = math.nan
    bounded_upper: float = math.nan
    test: str
    statistic: float
    p: float
    smallest_p: float
    correction: str
    p_corrected: float
    wins: int
    ties: int
    losses: int
    has_large: bool
    minimum_detectable: float = math.nan
    queries_needed: int | None = None
    margin: float | None = None
    p_not_worse: float | None = None
    p_equivalent: float | None = None
    interval_note: str = ""
    answered: Compared | None = None
    unjudged: Reach | None = None
    tied: Reach | None = None

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p-value is below 1 - level."""
        return self.p_corrected < round(1 - self.level, 12)

    @property
    def is_bounded_apart(self) -> bool:
        """Whether the bounded interval excludes 0, whatever rare differences are missing."""
        return self.bounded_lower > 0 or self.bounded_upper < 0

    @property
    def is_not_worse(self) -> bool:
        """Whether the interval excludes that the run is worse by the margin or more."""
        if self.margin is None or self.direction == "neither":
            return False
        return self.lower > -self.margin if self.direction == "higher" else self.upper < self.margin

    @property
    def is_equivalent(self) -> bool:
        """Whether the interval is within the margin in both directions."""
        return self.margin is not None and -self.margin < self.lower <= self.upper < self.margin

    @property
    def better(self) -> str | None:
        """The name of the run that is significantly better, or `None`.

        By a measure of which lower values are better, it is the run with the lower mean. It is
        `None` if neither higher nor lower values are better.
        """
        return self._name_winner(find_gain(self.difference, self.direction))

    @property
    def higher(self) -> str | None:
        """The name of the run whose mean is significantly higher, or `None`."""
        return self._name_winner(self.difference)

    def _name_winner(self, lead: float) -> str | None:
        if not self.is_significant or lead == 0:
            return None
        return self.run if lead > 0 else self.baseline

    def to_dict(self) -> dict[str, object]:
        """Return the fields as a dict, with those of both ranges if they are known."""
        columns = {name: value for name, value in as_dict(self).items() if name not in NOT_WRITTEN}
        for cause, reach in (("unjudged", self.unjudged), ("ties", self.tied)):
            columns[f"if_{cause}_lowest"] = reach and reach.lowest
            columns[f"if_{cause}_highest"] = reach and reach.highest
            columns[f"winner_certain_despite_{cause}"] = reach and reach.is_certain
        return columns


def find_other(pair: Compared, run: str) -> str:
    """Return the other run of a pair."""
    return pair.baseline if pair.run == run else pair.run
