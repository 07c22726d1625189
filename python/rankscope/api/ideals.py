"""Ideals that are given beside the lists: refuses those that lack what their list has."""

from __future__ import annotations

from itertools import zip_longest

from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope.api.rankings import Rankings
    from rankscope.results import Evaluation


def refuse_beaten_ideals(rankings: Rankings, evaluation: Evaluation) -> None:
    """Refuse a list that is better than its ideal, which lacks grades of the list.

    An ideal may be shorter than its list, as long as no list is better than its ideal.

    Raises:
        FormatError: There is such a list; the line is its number.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    # A list cannot be divided by an ideal without relevant grades: it has no value above 1.
    relevant = np.concatenate([[0], np.cumsum(rankings.ideal > 0)])[rankings.ideal_offsets]
    is_empty = np.diff(relevant) == 0
    for measure in evaluation.measures:
        if measure.row.value_range[1] != 1:
            continue
        is_suspect = is_empty | (evaluation.per_query(measure) > 1)
        for query in np.flatnonzero(is_suspect).tolist():
            found = _of_query(rankings.relevance, rankings.offsets, query)[: measure.k]
            if _lacks(_of_query(rankings.ideal, rankings.ideal_offsets, query), found):
                raise FormatError(
                    f"expected an ideal with the grades of its list, found a list that is better "
                    f"by {measure}",
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
