"""Evaluate with several judges, and intervals that include them."""

from __future__ import annotations

import math

from rankscope._core import t_quantile
from rankscope._evaluate.evaluation import find_mean
from rankscope._evaluate.judgments import load_qrels
from rankscope._evaluate.query_values import order_queries
from rankscope.deferred import np
from rankscope.errors import InputError
from rankscope.judges.combination import HOWS, combine
from rankscope.judges.judged_runs import JudgedRuns
from rankscope.judges.model_judge import find_range, notes_of_grades
from rankscope.judges.model_judged import EstimatedMeans, join_ends
from rankscope.judges.reading import read_judges
from rankscope.names import check_choice
from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.output.text import format_share
from rankscope.records import record, replace
from rankscope.settings.interval import read_interval
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Unpack

    from numpy.typing import NDArray

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope.judges.reading import JudgedItems
    from rankscope.measures import Measure
    from rankscope.measures.reading import Measures
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.settings.interval import Interval
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import InputLike


MOST_GROUPS = 50
"""More judges than this are left out in groups."""


def group_judges(judges: int) -> list[list[int]]:
    """Return the judges to leave out together: each alone, or in `MOST_GROUPS` groups."""
    return [[*range(first, judges, MOST_GROUPS)] for first in range(min(judges, MOST_GROUPS))]


def estimate_crossed(
    measure: Measure,
    values: NDArray[np.float64],
    without: NDArray[np.float64],
    *,
    level: float,
    limits: tuple[float, float],
) -> JudgedMean:
    """Estimate a mean over queries whose documents were judged by a sample of judges.

    The variance is the sum of two components, as in Cameron, Gelbach and Miller, *Robust inference
    with multiway clustering*, 2011: that over queries, and that over judges from a jackknife that
    leaves out one judge at a time (Efron and Stein, 1981), less the part that both contain. Each
    has a t quantile of its own (Zou and Donner, *Construction of confidence limits about effect
    measures*, 2008), because there are usually few judges.
    """
    groups, count = without.shape
    value = float(values.mean())
    share = half = half_queries = math.nan
    if count >= 2:
        of_queries = float(values.var(ddof=1)) / count
        factor = (groups - 1) / groups
        means = without.mean(axis=1)
        of_judges = factor * float(((means - means.mean()) ** 2).sum())
        of_both = factor * float(((without - without.mean(axis=0)) ** 2).sum()) / count**2
        own = max(of_judges - of_both, 0.0)
        half_queries = t_quantile(level, count - 1) * math.sqrt(of_queries)
        half = math.hypot(half_queries, t_quantile(level, groups - 1) * math.sqrt(own))
        share = own / (of_queries + own) if of_queries + own > 0 else 0.0
    low, high = limits
    return JudgedMean(
        measure=measure,
        value=value,
        lower=max(value - half, low),
        upper=min(value + half, high),
        lower_queries=max(value - half_queries, low),
        upper_queries=min(value + half_queries, high),
        judge_share=share,
        queries=count,
    )


@record(frozen=True, slots=True, kw_only=True)
class JudgedMean:
    """The mean of a measure, or a difference of two means, by several judges.

    Args:
        measure: The measure.
        value: The mean over queries, by the combined grades of all judges.
        lower: The lower end of the interval for new queries and as many new judges.
        upper: The upper end of this interval.
        lower_queries: The lower end of the interval for new queries and the same judges.
        upper_queries: The upper end of this interval.
        judge_share: The share of the variance that comes from the choice of judges.
        queries: The number of queries.
    """

    measure: Measure
    value: float
    lower: float
    upper: float
    lower_queries: float
    upper_queries: float
    judge_share: float
    queries: int


@record(frozen=True, slots=True, kw_only=True)
class JudgedEvaluation(EstimatedMeans):
    """Means with intervals that include the judges; as a table, one row per measure.

    Args:
        means: The mean of each measure.
        judges: The names of the judges.
        how: How grades were combined.
        level: The confidence level of the intervals.
        policy: The policy.
        is_difference: Whether values are differences: those of the run minus those of the baseline.
        alone: The number of documents with one grade. How much judges would disagree on them is
            unknown, so they make the intervals too narrow.
        notes: Notes about the grades.
    """

    means: tuple[JudgedMean, ...]
    judges: tuple[str, ...]
    how: Literal["mean", "median", "majority"]
    level: float
    policy: Policy
    is_difference: bool
    alone: int
    notes: tuple[Diagnostic, ...] = ()

    def __getitem__(self, measure: Measure | str) -> JudgedMean:
        return find_mean(self.means, measure)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "measures": self._list_means(),
            "judges": list(self.judges),
            "how": self.how,
            "level": self.level,
            "is_difference": self.is_difference,
            "alone": self.alone,
            "policy": self.policy.to_dict(),
        }

    def _parts(self) -> list[str | Table]:
        what = "differences" if self.is_difference else "means"
        table = Table(
            {
                "measure": [mean.measure.name for mean in self.means],
                "value": [mean.value for mean in self.means],
                "new queries, same judges": [
                    join_ends(mean.lower_queries, mean.upper_queries) for mean in self.means
                ],
                "new queries and judges": [
                    join_ends(mean.lower, mean.upper) for mean in self.means
                ],
                "due to judges": [format_share(mean.judge_share) for mean in self.means],
            },
            numbers=("new queries, same judges", "new queries and judges", "due to judges"),
        )
        judged = f"{self.means[0].queries} queries, by the {self.how} of {len(self.judges)} judges"
        alone = f"documents with one grade, of unknown disagreement: {self.alone}"
        return [
            f"{what} over {judged}, with {100 * self.level:g}% intervals",
            "",
            table,
            "",
            *([alone] if self.alone else []),
            *self._describe_policy(),
        ]

    __repr__ = Printed.__str__


def evaluate_judges(
    table: object,
    run: InputLike,
    measures: Measures,
    *,
    judges: Sequence[str] | None = None,
    judge: str | None = None,
    how: Literal["mean", "median", "majority"] = "mean",
    baseline: InputLike | None = None,
    interval: float | Interval = 0.95,
    policy: Policy | str | None = None,
    **options: Unpack[ReadingOptions],
) -> JudgedEvaluation:
    """Evaluate a run by the combined grades of several judges, with intervals that include them.

    A usual interval is for new queries that the same people would judge. If some judges are more
    generous than others, other judges would give another mean, however many queries there are. The
    interval here is for new queries and as many new judges. It is the sum of two components of
    variance: over queries, and over judges from a jackknife that leaves out one judge at a time
    (Cameron, Gelbach and Miller, *Robust inference with multiway clustering*, 2011). With two or
    three judges it is wide, because little is known about the others.

    Args:
        table: The judgments, as in `combine_judges`.
        run: The retrieved documents, as in `evaluate`. It is read several times, so it can't be
            standard input.
        measures: As in `evaluate`.
        judges: The columns of grades, as in `judge_agreement`.
        judge: The column of judges, as in `judge_agreement`.
        how: How grades are combined, as in `combine_judges`.
        baseline: Another run. The values are then differences: those of the run minus those of the
            baseline.
        interval: The confidence level; of an `Interval`, only its level is used.
        policy: As in `evaluate`. `aggregate` must be `"mean"`.
        **options: How the inputs are read, as in `evaluate`.

    Raises:
        UsageError: An argument is invalid.
        InputError: The input doesn't have the expected format, or there is only one judge.
        FileError: A file can't be read.

    Examples:
        >>> table = {"query": [f"q{n}" for n in range(30)] * 2, "doc": ["a"] * 30 + ["b"] * 30}
        >>> table["ann"] = [n % 3 for n in range(60)]
        >>> table["bob"] = [min(n % 3 + (n % 5 == 0), 2) for n in range(60)]
        >>> run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(30)}
        >>> found = evaluate_judges(table, run, "DCG@2", judges=["ann", "bob"])
        >>> mean = found["DCG@2"]
        >>> mean.lower < mean.lower_queries < mean.value < mean.upper_queries < mean.upper
        True
    """
    check_choice("how", how, HOWS)
    settings = read_interval(interval)
    reading = Reading.of("evaluate_judges", options)
    level = 0.95 if settings is None else settings.level
    items = read_judges(table, judges, judge, reading.columns, reading, needs_ids=True)
    if len(items.judges) < 2:
        raise InputError(
            f"expected two or more judges, found {len(items.judges)}",
            hint="with one judge, use evaluate",
            code="too_few_judges",
        )
    runs = JudgedRuns.hold(run, baseline, reading)

    def evaluate(left_out: Sequence[int]) -> list[Evaluation]:
        held = load_qrels(_combine_without(items, left_out, how), replace(reading, columns={}))
        return runs.evaluate(held, measures, policy)

    whole = evaluate([])
    others = [evaluate(group) for group in group_judges(len(items.judges))]

    order = order_queries(whole[0].query_texts)

    def values_of(evaluations: Sequence[Evaluation], name: str) -> NDArray[np.float64]:
        values = evaluations[0].per_query(name)[order]
        return values if len(evaluations) == 1 else values - evaluations[1].per_query(name)[order]

    means = []
    for measure in whole[0].measures:
        values = values_of(whole, measure.name)
        without = np.array([values_of(each, measure.name) for each in others])
        is_defined = ~np.isnan(values) & ~np.isnan(without).any(axis=0)
        if not is_defined.any():
            raise InputError(
                f"no query has a value of {measure} by every judge",
                hint="set policy='empty=zero', or remove judges with few grades",
                code="empty_input",
            )
        limits = find_range(measure, values[is_defined], is_difference=runs.is_difference)
        means.append(
            estimate_crossed(
                measure, values[is_defined], without[:, is_defined], level=level, limits=limits
            )
        )
    return JudgedEvaluation(
        means=tuple(means),
        judges=items.judges,
        how=how,
        level=level,
        policy=whole[0].policy,
        is_difference=runs.is_difference,
        alone=int(((~np.isnan(items.grades)).sum(axis=1) == 1).sum()),
        notes=notes_of_grades(whole),
    )


def _combine_without(
    items: JudgedItems, left_out: Sequence[int], how: Literal["mean", "median", "majority"]
) -> dict[str, dict[str, float]]:
    """Return the combined grades without some judges, except where no other judge gave one."""
    grades = items.grades.copy()
    grades[:, list(left_out)] = np.nan
    is_lost = np.isnan(grades).all(axis=1)
    grades[is_lost] = items.grades[is_lost]
    found: dict[str, dict[str, float]] = {}
    rows = zip(items.queries, items.docs, combine(grades, how)[0].tolist(), strict=True)
    for query, doc, grade in rows:
        if grade == grade:  # noqa: PLR0124 - NaN, which no judge gave, alone differs
            found.setdefault(query, {})[doc] = grade
    return found
