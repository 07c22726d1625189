"""Grades of several judges combined into one grade per document."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.judges.combined_judgments import CombinedJudgments
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias

    from numpy.typing import NDArray

    How: TypeAlias = Literal["mean", "median", "majority"]

HOWS = ("mean", "median", "majority")


@record(frozen=True, slots=True)
class Combined:
    """One grade per item.

    Args:
        grades: The grade of each item, NaN where no judge gave one.
        tied: Whether two or more grades were equally frequent; `majority` takes the lowest of them.
    """

    grades: NDArray[np.float64]
    tied: NDArray[np.bool_]


def combine(grades: NDArray[np.float64], how: How) -> Combined:
    """Combine the grades of each item."""
    is_graded = ~np.isnan(grades)
    counts = is_graded.sum(axis=1)
    tied = np.zeros(len(grades), dtype=bool)
    found = np.full(len(grades), np.nan)
    some = counts > 0
    if how == "mean":
        found[some] = np.where(is_graded, grades, 0)[some].sum(axis=1) / counts[some]
    elif how == "median":
        found[some] = np.nanmedian(grades[some], axis=1)
    else:
        times = _count_equal(grades)
        most = times.max(axis=1)
        is_most = (times == most[:, None]) & is_graded
        lowest = np.where(is_most, grades, np.inf).min(axis=1)
        tied = some & (is_most & (grades > lowest[:, None])).any(axis=1)
        found[some] = lowest[some]
    return Combined(found, tied)


def _count_equal(grades: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many judges gave each item the grade that this judge gave, [items, judges]."""
    times = np.zeros(grades.shape, dtype=np.int64)
    for column in grades.T:
        times += grades == column[:, None]
    return times


def describe_judgments(
    judges: Sequence[str],
    grades: NDArray[np.float64],
    queries: Sequence[str],
    docs: Sequence[str],
    how: How,
) -> CombinedJudgments:
    """Combine the grades of each document, and describe how much its judges disagree."""
    is_kept = ~np.isnan(grades).all(axis=1)
    kept = grades[is_kept]
    combined = combine(kept, how)
    counts = (~np.isnan(kept)).sum(axis=1)
    means = np.nansum(kept, axis=1) / counts
    squares = np.nansum((kept - means[:, None]) ** 2, axis=1)
    alone = counts < 2
    deviations = np.sqrt(squares / np.where(alone, 1, counts - 1))
    deviations[alone] = np.nan
    at = np.flatnonzero(is_kept).tolist()
    return CombinedJudgments(
        {
            "query_id": [queries[each] for each in at],
            "doc_id": [docs[each] for each in at],
            "relevance": combined.grades,
            "judges": counts,
            "deviation": deviations,
            "range": np.nanmax(kept, axis=1) - np.nanmin(kept, axis=1),
            "disagreeing": 1 - _count_equal(kept).max(axis=1) / counts,
        },
        names_of_judges=tuple(judges),
        how=how,
        ties=int(combined.tied.sum()),
        left_out=int(len(grades) - len(kept)),
    )
