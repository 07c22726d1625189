"""The bounds of the values of rankings, over all grades that unjudged documents may have."""

from __future__ import annotations

import math

from rankscope._core import Plan, bound_difference
from rankscope._core import bound as bound_each
from rankscope._evaluate.ranked_runs import read_rankings
from rankscope._evaluate.rankings import Rankings
from rankscope._evaluate.refusals import check_averaged, check_judgments, refuse_items
from rankscope._evaluate.settings import Settings, read_policy
from rankscope.bounds.result import BoundedMean, Bounds, Openness
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.measures.reading import read_measure
from rankscope.records import replace
from rankscope.settings.policy import Policy
from rankscope.settings.reading import count_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Unpack

    from numpy.typing import NDArray

    from rankscope._evaluate.question import TableOptions
    from rankscope.measures import Measure
    from rankscope.typing import InputLike

MOST_GRADES = 100
"""Scales that are not given have at most so many grades."""


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
    given = Settings(measures=(), policy=policy)
    rankings, asked, reading = read_rankings(
        "bounds", judgments, run, measure, options, settings=given
    )
    wanted: Any = asked.measures
    other: Any = against
    if against is not None and not isinstance(against, Rankings):
        other, *_ = read_rankings("bounds", judgments, against, wanted, options, settings=given)
    return bound(
        rankings, wanted, scale=scale, against=other, policy=policy, threads=reading.threads
    )


def bound(
    rankings: Rankings,
    measure: Measure | str,
    *,
    scale: Iterable[float] | None,
    against: Rankings | None,
    policy: Policy | str | None,
    threads: int | None,
) -> Bounds:
    """Bound the values of rankings, or their differences; see `Rankings.bounds`."""
    asked = read_measure(measure)
    refuse_items(asked, "bounds")
    chosen = read_policy(policy, Policy(ties=rankings.tie_policy))
    check_averaged(asked, chosen)
    grades = _read_scale(scale, rankings.grades, allows_negative=chosen.negative != "nonrelevant")
    values = rankings.evaluate(asked, policy=chosen, threads=threads).per_query(asked)
    plan = _plan(rankings, asked, chosen, grades)
    workers = count_threads(threads)
    if against is None:
        found = bound_each(rankings._core, plan, grades, workers)  # noqa: SLF001 - a part of it
    else:
        _check_pair(rankings, against)
        other = replace(chosen, ties=against.tie_policy)
        values = values - against.evaluate(asked, policy=other, threads=threads).per_query(asked)
        pair = against._core, rankings._core  # noqa: SLF001 - parts of them
        found = bound_difference(*pair, plan, grades, workers)
    lower, upper, unjudged = (
        np.frombuffer(memoryview(column), dtype=np.dtype(column.typecode)) for column in found[:3]
    )
    is_optional, is_exact = (np.frombuffer(each, dtype=bool) for each in found[3:])
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
        measure=asked,
        policy=chosen,
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
    given: Iterable[float] | None, present: list[float], *, allows_negative: bool
) -> list[float]:
    """Read the grades that unjudged documents may have."""
    if given is None:
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
    several = given if hasattr(given, "__iter__") else ()
    grades = [float(grade) for grade in several if hasattr(grade, "__float__")]
    if not grades or not all(map(math.isfinite, grades)):
        raise UsageError(
            f"expected a scale of finite grades, found {given!r:.120}",
            hint="write scale=[0, 1, 2, 3]",
            code="bad_scale",
        )
    return sorted(set(grades))


def _plan(rankings: Rankings, measure: Measure, policy: Policy, scale: list[float]) -> Plan:
    """Make a plan that includes the gains of all grades of the scale."""
    grades = sorted({*rankings.grades, *scale})
    settings = Settings(measures=measure, policy=policy)
    return settings.request(grades=grades).plan(rankings.tie_policy)


def _check_pair(rankings: Rankings, against: Rankings) -> None:
    """Raise an error for rankings whose unjudged documents can't be compared."""
    check_judgments(rankings, against, "against")
    for each in (rankings, against):
        if len(each.scores) and not each.has_doc_ids:
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
