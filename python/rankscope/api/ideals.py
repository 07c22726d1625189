"""Ideals that are given beside the lists: refuses those that lack what their list has."""

from __future__ import annotations

from bisect import bisect_left
from itertools import zip_longest

from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope.api.rankings import Rankings
    from rankscope.measures import Measure
    from rankscope.results import Evaluation


def refuse_beaten_ideals(rankings: Rankings, evaluation: Evaluation) -> None:
    """Refuse a list that is better than its ideal, which lacks grades of the list.

    An ideal may be shorter than its list, as long as no list is better than its ideal.

    Raises:
        FormatError: There is such a list; the line is its number.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    is_empty = _are_empty(rankings)
    for measure in evaluation.measures:
        if measure.row.value_range[1] != 1:
            continue
        is_suspect = is_empty | (evaluation.per_query(measure) > 1)
        for query in np.flatnonzero(is_suspect).tolist():
            found = _of_query(rankings.relevance, rankings.offsets, query)[: measure.k]
            if _lacks(_of_query(rankings.ideal, rankings.ideal_offsets, query), found):
                raise _beaten(measure, query)


def refuse_ideals_beaten_at(
    rankings: Rankings, base: Measure, cutoffs: list[int], values: NDArray[np.float64]
) -> None:
    """Refuse a list that is better than its ideal at one of many cutoffs.

    Args:
        rankings: The lists.
        base: The measure, without a cutoff.
        cutoffs: The cutoffs, which ascend.
        values: The values, of shape (queries, cutoffs).

    Raises:
        FormatError: There is such a list; the line is its number.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if not rankings._choices.has_ideal or base.row.value_range[1] != 1:  # noqa: SLF001 - a part of it
        return
    is_suspect = _are_empty(rankings)[:, np.newaxis] | (values > 1)
    first: tuple[int, int] | None = None
    for query in np.flatnonzero(is_suspect.any(axis=1)).tolist():
        found = _of_query(rankings.relevance, rankings.offsets, query)
        ideal = _of_query(rankings.ideal, rankings.ideal_offsets, query)
        # What an ideal lacks at one cutoff, it lacks at all larger ones.
        start = bisect_left(cutoffs, True, key=lambda k: _lacks(ideal, found[:k]))
        at = np.flatnonzero(is_suspect[query, start:])[:1].tolist()
        if at and (first is None or start + at[0] < first[0]):
            first = start + at[0], query
    if first is not None:
        raise _beaten(base @ cutoffs[first[0]], first[1])


def _are_empty(rankings: Rankings) -> NDArray[np.bool_]:
    """Whether each ideal has no relevant grades: no list, divided by it, has a value above 1."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    relevant = np.concatenate([[0], np.cumsum(rankings.ideal > 0)])[rankings.ideal_offsets]
    is_empty: NDArray[np.bool_] = np.diff(relevant) == 0
    return is_empty


def _beaten(measure: Measure, query: int) -> FormatError:
    return FormatError(
        f"expected an ideal with the grades of its list, found a list that is better by {measure}",
        hint="give all judged grades, those of the list among them",
        code="ideal_mismatch",
        file="ideal",
        line=query + 1,
    )


def _of_query(column: NDArray[np.float64], offsets: NDArray[np.int64], query: int) -> list[float]:
    grades: list[float] = column[offsets[query] : offsets[query + 1]].tolist()
    return grades


def _lacks(ideal: list[float], found: list[float]) -> bool:
    """Whether an ideal, largest grade first, has not all grades above 0 of a list."""
    best = sorted((grade for grade in found if grade > 0), reverse=True)
    pairs = zip_longest(best, ideal[: len(best)], fillvalue=0.0)
    return any(grade > of_ideal for grade, of_ideal in pairs)
