"""Arrays: matrices of queries by documents, groups of rows, lists of grades in rank order."""

from __future__ import annotations

from rankscope.adapters.foreign import check_file
from rankscope.adapters.numbers import (
    count_offsets,
    join_lists,
    refuse_unjudged,
    to_numbers,
)
from rankscope.errors import EmptyError, FormatError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


PLAIN = ("<f8", "<f4", "<i8", "<i4")
"""The types of matrices that the core reads where they lie."""


@record(frozen=True, slots=True)
class Groups:
    """Rows of queries, one query after another.

    Args:
        offsets: Rows of query q are `offsets[q]:offsets[q + 1]`.
        relevance: The grade of each row, NaN where unjudged.
        scores: The score of each row.
        ideal: Offsets and grades of all that is judged, where that is more than the rows.
    """

    offsets: NDArray[np.int64]
    relevance: NDArray[np.float64]
    scores: NDArray[np.float64]
    ideal: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None


def as_matrix(values: object, name: str) -> NDArray[np.number] | None:
    """Give a matrix that the core reads where it lies; nothing if it has to be read otherwise.

    Raises:
        FormatError: It lies in a file that is gone.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    # A subclass may mean something else by its numbers, as a masked array does.
    if not isinstance(values, np.ndarray) or type(values) is not np.ndarray or values.ndim != 2:
        return None
    flags = values.flags
    if values.dtype.str not in PLAIN or not (flags.c_contiguous and flags.aligned):
        return None
    check_file(values, name)
    return values


def from_matrices(y_true: ArrayLike, y_score: ArrayLike) -> Groups:
    """Read two matrices; a score that is NaN or masked means that there is no document.

    Raises:
        InputError: They do not fit.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    relevance = np.atleast_2d(to_numbers(y_true, "y_true", dimensions=(1, 2)))
    scores = np.atleast_2d(to_numbers(y_score, "y_score", dimensions=(1, 2)))
    if relevance.shape != scores.shape:
        raise FormatError(
            f"expected y_true and y_score of one shape, found {relevance.shape} and {scores.shape}",
            hint="both have a row a query and a column a document",
            code="length_mismatch",
            file="y_score",
        )
    if scores.shape[0] == 0:
        raise _no_queries()
    is_there = ~np.isnan(scores)
    offsets = count_offsets(is_there.sum(axis=1))
    if is_there.all():
        return _judged(Groups(offsets, relevance.ravel(), scores.ravel()))
    return _judged(Groups(offsets, relevance[is_there], scores[is_there]))


def from_groups(relevance: ArrayLike, scores: ArrayLike, group_sizes: ArrayLike) -> Groups:
    """Read rows that are together by query.

    Raises:
        InputError: They do not fit.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    grades = to_numbers(relevance, "relevance", dimensions=(1,))
    values = to_numbers(scores, "scores", dimensions=(1,))
    sizes = to_numbers(group_sizes, "group_sizes", dimensions=(1,))
    is_size = np.isfinite(sizes) & (sizes >= 0) & (sizes == np.floor(sizes))
    if not is_size.all():
        raise FormatError(
            "expected group sizes that are whole numbers, 0 or more",
            hint="group_sizes says how many rows each query has",
            code="group_sizes",
            file="group_sizes",
            line=int(np.argmin(is_size)) + 1,
        )
    if not len(grades) == len(values) == sizes.sum():
        raise FormatError(
            f"expected as many rows as the groups have, found {len(grades)} grades and "
            f"{len(values)} scores for groups of {int(sizes.sum())} in all",
            hint="group_sizes says how many rows each query has",
            code="length_mismatch",
            file="group_sizes",
        )
    if len(sizes) == 0:
        raise _no_queries()
    offsets = count_offsets(sizes.astype(np.int64))
    return _judged(Groups(offsets, grades, values))


def from_lists(lists: Iterable[Sequence[float]], ideal: Iterable[Sequence[float]] | None) -> Groups:
    """Read lists of grades that are in rank order.

    Raises:
        InputError: They are not lists of numbers.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    offsets, relevance = join_lists(lists, "lists")
    if len(offsets) == 1:
        raise _no_queries()
    # Scores that descend from 0 in each list keep its order, without ties.
    lengths = np.diff(offsets)
    scores = np.repeat(offsets[:-1], lengths).astype(np.float64) - np.arange(len(relevance))
    given = None if ideal is None else join_lists(ideal, "ideal")
    if given is not None and len(given[0]) != len(offsets):
        raise FormatError(
            f"expected an ideal a list, found {len(given[0]) - 1} for {len(offsets) - 1} lists",
            hint="ideal has all judged grades of each query",
            code="length_mismatch",
            file="ideal",
        )
    return _judged(Groups(offsets, relevance, scores, given))


def _judged(groups: Groups) -> Groups:
    refuse_unjudged(groups.relevance if groups.ideal is None else groups.ideal[1])
    return groups


def _no_queries() -> EmptyError:
    return EmptyError(
        "expected queries, found none", hint="is the input empty?", code="empty_input"
    )
