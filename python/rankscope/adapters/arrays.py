"""Arrays: matrices of queries by documents, groups of rows, lists of grades in rank order."""

from __future__ import annotations

from rankscope.errors import EmptyError, FormatError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


LARGEST_EXACT = 2**53
OTHER_LIBRARIES = {"torch", "jax", "jaxlib", "cupy", "tensorflow"}


@record(frozen=True, slots=True)
class Groups:
    """Rows of queries, one query after another.

    Args:
        offsets: Rows of query q are `offsets[q]:offsets[q + 1]`.
        relevance: The grade of each row, NaN where unjudged.
        scores: The score of each row.
        ideal: Offsets and grades of all that is judged, where that is more than the rows.
    """

    offsets: list[int]
    relevance: NDArray[np.float64]
    scores: NDArray[np.float64]
    ideal: tuple[list[int], NDArray[np.float64]] | None = None


def to_numbers(values: ArrayLike, name: str, *, dimensions: tuple[int, ...]) -> NDArray[np.float64]:
    """Read real numbers as float64, exactly; masked ones become NaN.

    Args:
        values: Anything that NumPy reads as an array of numbers.
        name: What messages call it.
        dimensions: How many dimensions it may have.

    Raises:
        FormatError: It is no such array.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if type(values).__module__.partition(".")[0] in OTHER_LIBRARIES:
        values = _to_host(values, name)
    try:
        if np.ma.isMaskedArray(values):
            array = np.ma.filled(np.ma.asarray(values).astype(float), np.nan)
        else:
            array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise FormatError(
            f"expected {name} as an array of numbers, found rows of different lengths",
            hint="ragged lists are what from_lists takes",
            code="not_numeric",
            file=name,
        ) from error
    if array.dtype.kind not in "fiu":
        raise FormatError(
            f"expected {name} as numbers, found {array.dtype}",
            hint="truth values are made numbers by .astype(int)",
            code="not_numeric",
            file=name,
        )
    if array.ndim not in dimensions:
        raise FormatError(
            f"expected {name} with {' or '.join(map(str, dimensions))} dimensions, "
            f"found shape {array.shape}",
            hint="rows are queries, columns are documents; ravel() makes one dimension",
            code="array_shape",
            file=name,
        )
    numbers = np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind in "iu":
        # Integers up to 2^53 are doubles; larger ones only if they come back as they were.
        is_large = (array > LARGEST_EXACT) | (array < -LARGEST_EXACT)
        is_rounded = is_large & (numbers.astype(array.dtype) != array)
    else:
        is_rounded = (numbers != array) & ~np.isnan(numbers)
    if is_rounded.any():
        at = int(np.flatnonzero(is_rounded)[0])
        raise FormatError(
            f"expected numbers in {name} that double precision holds, found {array.ravel()[at]}",
            hint="round them first",
            code="inexact_number",
            file=name,
            line=at + 1,
        )
    return numbers


def _to_host(values: ArrayLike, name: str) -> ArrayLike:
    """Read the array of another library, if it lies in memory that we can read."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    try:
        return np.asarray(values)
    except (TypeError, RuntimeError, ValueError) as error:
        raise FormatError(
            f"expected {name} in main memory, found {type(values).__name__} elsewhere",
            hint="call .detach().cpu() first",
            code="device_array",
            file=name,
        ) from error


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
    offsets = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))])
    if is_there.all():
        return Groups(offsets.tolist(), relevance.ravel(), scores.ravel())
    return Groups(offsets.tolist(), relevance[is_there], scores[is_there])


def from_groups(relevance: ArrayLike, scores: ArrayLike, group_sizes: ArrayLike) -> Groups:
    """Read rows that are together by query.

    Raises:
        InputError: They do not fit.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    grades = to_numbers(relevance, "relevance", dimensions=(1,))
    values = to_numbers(scores, "scores", dimensions=(1,))
    sizes = to_numbers(group_sizes, "group_sizes", dimensions=(1,))
    if (sizes < 0).any() or (sizes != np.floor(sizes)).any() or np.isnan(sizes).any():
        raise FormatError(
            "expected group sizes that are whole numbers, 0 or more",
            hint="group_sizes says how many rows each query has",
            code="group_sizes",
            file="group_sizes",
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
    offsets = np.concatenate([[0], np.cumsum(sizes.astype(np.int64))])
    return Groups(offsets.tolist(), grades, values)


def from_lists(lists: Iterable[Sequence[float]], ideal: Iterable[Sequence[float]] | None) -> Groups:
    """Read lists of grades that are in rank order.

    Raises:
        InputError: They are not lists of numbers.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    offsets, relevance = _join(lists, "lists")
    # Scores that descend from 0 in each list keep its order, without ties.
    lengths = np.diff(offsets)
    scores = np.repeat(np.asarray(offsets[:-1], dtype=np.float64), lengths) - np.arange(
        len(relevance), dtype=np.float64
    )
    given = None if ideal is None else _join(ideal, "ideal")
    if given is not None and len(given[0]) != len(offsets):
        raise FormatError(
            f"expected an ideal a list, found {len(given[0]) - 1} for {len(offsets) - 1} lists",
            hint="ideal has all judged grades of each query",
            code="length_mismatch",
            file="ideal",
        )
    return Groups(offsets, relevance, scores, given)


def _join(lists: Iterable[Sequence[float]], name: str) -> tuple[list[int], NDArray[np.float64]]:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    parts = [to_numbers(one, name, dimensions=(1,)) if len(one) else np.empty(0) for one in lists]
    if not parts:
        raise _no_queries()
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return offsets.astype(int).tolist(), np.concatenate(parts)


def _no_queries() -> EmptyError:
    return EmptyError(
        "expected queries, found none", hint="is the input empty?", code="empty_input"
    )
