"""How far unjudged documents could change a value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import NDArray

from rankscope._core import bound as bound_each
from rankscope._core import bound_difference
from rankscope._drawing import ThemeName
from rankscope._evaluate.ranked_runs import read_rankings
from rankscope._evaluate.rankings import Rankings
from rankscope._evaluate.refusals import check_averaged, check_judgments, refuse_items
from rankscope._evaluate.settings import Settings, read_policy
from rankscope._settings import Policy, count_threads
from rankscope._show.table import TEXT, MeasuredTable, SourceIds, format_value
from rankscope.errors import UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import Measures, read_measure
from rankscope.typing import InputLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankscope._evaluate.settings import TableOptions
    from rankscope._show.table import Column


@dataclass(frozen=True, slots=True)
class BoundedMean:
    """A mean with its bounds.

    Args:
        value: The mean as evaluated.
        lower: The lowest possible mean.
        upper: The highest possible mean.
        queries: The number of queries in the mean.
    """

    value: float
    lower: float
    upper: float
    queries: int


@dataclass(frozen=True, slots=True)
class Openness:
    """The number of unjudged documents, and of queries they affect.

    Args:
        queries: The number of queries with a value.
        open: The number of these queries that have unjudged documents.
        certain: The number of these queries whose value doesn't depend on unjudged documents.
        unjudged: The total number of unjudged documents.
    """

    queries: int
    open: int
    certain: int
    unjudged: int


class Bounds(MeasuredTable):
    """A table with the lowest and the highest possible value of each query.

    The columns are `query_id`, `value`, `lower`, `upper` and `unjudged`, the number of unjudged
    documents in the list. The bounds are exact: there are grades for which the value reaches them.
    For differences of AP in very long lists they can be wider; see `is_exact`. The value lies
    between the bounds, unless the policy removes unjudged documents or sets a gain for them. `plot`
    draws them.

    Examples:
        >>> import rankscope as rs
        >>> ranked = rs.Rankings.from_lists([[1, float("nan"), 0, float("nan")], [0, 2]])
        >>> bounds = ranked.bounds(rs.nDCG @ 4, scale=[0, 1, 2])
        >>> print(bounds)
        nDCG@4  0.8155  between 0.6692 and 0.8155
        unjudged documents: 2, in 1 of 2 queries; possible grades: 0, 1, 2
        certain despite unjudged documents: 1 of 2 queries
        policy: ties=input,empty=zero,missing=zero,unjudged=nonrelevant,negative=nonrelevant
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        measure: Measure,
        policy: Policy,
        scale: Sequence[float],
        mean: BoundedMean,
        openness: Openness,
        is_difference: bool = False,
        is_exact: bool = True,
        source: SourceIds = TEXT,
    ) -> None:
        super().__init__(columns, measure=measure, policy=policy, source=source)
        self._scale = tuple(scale)
        self._mean = mean
        self._openness = openness
        self._is_difference = is_difference
        self._is_exact = is_exact

    @property
    def scale(self) -> tuple[float, ...]:
        """The grades that unjudged documents can have."""
        return self._scale

    @property
    def mean(self) -> BoundedMean:
        """The mean and its bounds."""
        return self._mean

    @property
    def openness(self) -> Openness:
        """The number of unjudged documents, and of queries they affect."""
        return self._openness

    @property
    def is_difference(self) -> bool:
        """Whether values are differences of two rankings, the first minus the second."""
        return self._is_difference

    @property
    def is_exact(self) -> bool:
        """Whether there are grades for which each query reaches its bounds.

        They always are, except for differences of AP if both lists have several hundred unjudged
        documents in common. The bounds are valid then, but the true ones can be closer together.
        """
        return self._is_exact

    @property
    def verdict(self) -> str:
        """Which of two rankings is better: `"first"`, `"second"`, `"equal"` or `"open"`.

        It is `"open"` if it depends on the unjudged documents, and empty for a single ranking.
        """
        if not self._is_difference:
            return ""
        if self._mean.lower > 0:
            return "first"
        if self._mean.upper < 0:
            return "second"
        return "equal" if self._mean.lower == self._mean.upper == 0 else "open"

    def plot(self, *, ax: Axes | None = None, theme: ThemeName = "light") -> Axes:
        """Draw the value of each query with its bounds; see `rankscope.plots.draw_bounds`."""
        from rankscope.plots import draw_bounds

        return draw_bounds(self, ax=ax, theme=theme)

    def _parts(self) -> list[str]:
        mean, openness = self._mean, self._openness
        what = f"difference of {self._measure}" if self._is_difference else str(self._measure)
        ends = f"between {format_value(mean.lower)} and {format_value(mean.upper)}"
        grades = ", ".join(f"{grade:g}" for grade in self._scale)
        judged = (
            f"unjudged documents: {openness.unjudged}, in {openness.open} of {openness.queries} "
            f"queries; possible grades: {grades}"
        )
        return [
            f"{what}  {format_value(mean.value)}  {ends}",
            *([VERDICTS[self.verdict]] if self._is_difference else []),
            judged,
            f"certain despite unjudged documents: {openness.certain} of {openness.queries} queries",
            f"policy: {self._policy}",
        ]


VERDICTS = {
    "first": "the first is better, whatever the grades of unjudged documents",
    "second": "the second is better, whatever the grades of unjudged documents",
    "equal": "neither is better, whatever the grades of unjudged documents",
    "open": "which is better depends on the unjudged documents",
}
"""The sentence for each verdict."""


MOST_GRADES = 100
"""The most grades of a scale that isn't an argument."""


def bounds(
    judgments: object,
    run: InputLike | Measure | str | None = None,
    measure: Measure | str | None = None,
    *,
    scale: Iterable[float] | None = None,
    against: InputLike | Rankings | None = None,
    policy: Policy | str | None = None,
    **options: Unpack[TableOptions],
) -> Bounds:
    """Return the lowest and highest values of a run that unjudged documents allow.

    `bounds(judgments, run, measure)` and `bounds(table, measure)` take what `evaluate` takes.

    Args:
        judgments: The judgments, or a table whose rows have both scores and grades, as in
            `evaluate`.
        run: The retrieved documents, as in `evaluate`. They are read into memory.
        measure: As in `Rankings.bounds`.
        scale: The grades that an unjudged document can have, as in `Rankings.bounds`.
        against: Another run with the same judgments. The values are then differences.
        policy: As in `Rankings.bounds`.
        **options: How the inputs are read, as in `evaluate`.

    Raises:
        UsageError: Bounds of the measure aren't known, or the scale is invalid.
        InputError: A query violates the policy, or an input doesn't have the expected format.
        FileError: A file can't be read.

    Examples:
        >>> qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"y": 3, "b": 2, "a": 1}}
        >>> bounds(qrels, run, "nDCG@3").mean
        BoundedMean(value=0.5, lower=0.5, upper=0.9197207891481876, queries=1)
    """
    settings = Settings(measures=(), policy=policy)
    rankings, chosen, reading = read_rankings(
        "bounds", judgments, run, measure, options, settings=settings
    )
    measures, other, threads = chosen.measures, against, reading.threads
    if other is not None and not isinstance(other, Rankings):
        other, *_ = read_rankings("bounds", judgments, other, measures, options, settings=settings)
    return bound(rankings, measures, scale=scale, against=other, policy=policy, threads=threads)


def bound(
    rankings: Rankings,
    measure: Measures,
    *,
    scale: Iterable[float] | None,
    against: Rankings | None,
    policy: Policy | str | None,
    threads: int | None,
) -> Bounds:
    """Bound the values of rankings, or their differences; see `Rankings.bounds`."""
    measure = read_measure(measure)
    refuse_items(measure, "bounds")
    policy = read_policy(policy, Policy(ties=rankings.tie_policy))
    check_averaged(measure, policy)
    grades = _read_scale(scale, rankings.grades, allows_negative=policy.negative != "nonrelevant")
    values = rankings.evaluate(measure, policy=policy, threads=threads).per_query(measure)
    settings = Settings(measures=measure, policy=policy)
    request = settings.request(grades=sorted({*rankings.grades, *grades}))
    plan, workers = request.plan(rankings.tie_policy), count_threads(threads)
    if against is None:
        columns = bound_each(rankings._core, plan, grades, workers)  # noqa: SLF001 - a part of it
    else:
        _check_pair(rankings, against)
        other = replace(policy, ties=against.tie_policy)
        theirs = against.evaluate(measure, policy=other, threads=threads)
        values = values - theirs.per_query(measure)
        pair = against._core, rankings._core  # noqa: SLF001 - parts of them
        columns = bound_difference(*pair, plan, grades, workers)
    lower, upper, unjudged = (
        np.frombuffer(memoryview(column), dtype=np.dtype(column.typecode)) for column in columns[:3]
    )
    is_optional, is_exact = (np.frombuffer(column, dtype=bool) for column in columns[3:])
    counted = values[~np.isnan(values)]
    mean = BoundedMean(
        math.fsum(counted.tolist()) / len(counted) if len(counted) else math.nan,
        0.0 - _bound_mean(-lower, is_optional),
        _bound_mean(upper, is_optional),
        len(counted),
    )
    is_open = (unjudged > 0) & ~np.isnan(lower)
    return Bounds(
        {
            "query_id": lambda: rankings.query_texts,
            "value": values,
            "lower": lower,
            "upper": upper,
            "unjudged": unjudged,
        },
        measure=measure,
        policy=policy,
        scale=grades,
        mean=mean,
        openness=Openness(
            queries=int((~np.isnan(lower)).sum()),
            open=int(is_open.sum()),
            certain=int((lower == upper).sum()),
            unjudged=int(unjudged.sum()),
        ),
        is_difference=against is not None,
        source=rankings.source,
        is_exact=bool(is_exact.all()),
    )


def _read_scale(
    scale: Iterable[float] | None, present: list[float], *, allows_negative: bool
) -> list[float]:
    """Read the grades that unjudged documents may have."""
    if scale is None:
        least = min([0.0, *present]) if allows_negative else 0.0
        most = max([1.0, *present])
        is_whole = all(grade == int(grade) for grade in present)
        if not is_whole or most - least >= MOST_GRADES:
            raise UsageError(
                "expected the scale of the grades, which are not whole numbers or too many, found "
                "none",
                hint="name them: scale=[0, 0.5, 1]",
                code="bad_scale",
            )
        return [float(grade) for grade in range(int(least), int(most) + 1)]
    several = scale if hasattr(scale, "__iter__") else ()
    grades = [float(grade) for grade in several if hasattr(grade, "__float__")]
    if not grades or not all(map(math.isfinite, grades)):
        raise UsageError(
            f"expected a scale of finite grades, found {scale!r:.120}",
            hint="write scale=[0, 1, 2, 3]",
            code="bad_scale",
        )
    return sorted(set(grades))


def _check_pair(rankings: Rankings, against: Rankings) -> None:
    """Raise an error for rankings whose unjudged documents can't be compared."""
    check_judgments(rankings, against, "against")
    for ranked in (rankings, against):
        if len(ranked.scores) and not ranked.has_doc_ids:
            raise UsageError(
                "bounds of a difference need document IDs, to recognize an unjudged document in "
                "both rankings",
                hint="make both with Rankings.from_run, or name the column of IDs",
                code="ids_needed",
            )


def _bound_mean(upper: NDArray[np.float64], is_optional: NDArray[np.bool_]) -> float:
    """Return the upper bound of a mean from which queries may be excluded."""
    is_there = ~np.isnan(upper)
    sure = upper[is_there & ~is_optional].tolist()
    total, count = math.fsum(sure), len(sure)
    for value in sorted(upper[is_there & is_optional].tolist(), reverse=True):
        if count and value * count <= total:
            break
        total, count = total + value, count + 1
    return total / count if count else math.nan
