"""Arrays: matrices of queries by documents, groups of rows, lists of grades in rank order."""

from __future__ import annotations

from rankscope._inputs.alignment import check_alignment
from rankscope._inputs.doubles import place_in
from rankscope._inputs.foreign import check_file
from rankscope._inputs.mistakes import groups_needed, located
from rankscope._inputs.numbers import count_offsets, is_judged, join_lists, no_judgments, to_numbers
from rankscope._inputs.row_groups import read_row_groups
from rankscope.deferred import np
from rankscope.errors import EmptyError, FormatError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Literal, TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from rankscope._inputs.row_groups import GivenGroups

    Padding: TypeAlias = Literal["nan"] | None

PLAIN = ("<f8", "<f4", "<i8", "<i4")
"""The types of matrices that the core reads where they lie."""
SIZES = (
    "group_sizes says how many rows each query has; if you have the query of each row, write "
    "Rankings.from_arrays(relevance, scores, groups=ids)"
)


@record(frozen=True, slots=True, kw_only=True)
class Groups:
    """Rows of queries, one query after another.

    Args:
        offsets: Rows of query q are `offsets[q]:offsets[q + 1]`.
        relevance: The grade of each row, NaN where unjudged.
        scores: The score of each row.
        ideal: Offsets and grades of all that is judged, where that is more than the rows.
        names: What the arrays of grades and of scores are called.
        find: Gives the place of a row in the array of a name, counted from 0.
    """

    offsets: NDArray[np.int64]
    relevance: NDArray[np.float64]
    scores: NDArray[np.float64]
    ideal: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None
    names: tuple[str, str]
    find: Callable[[int, str], tuple[int, ...]]

    def locate(self, error: FormatError) -> FormatError:
        """Return the array and the place of a number that the core refused."""
        if error.code.startswith("score_"):
            is_finite = np.isfinite(self.scores)
            error.file = self.names[1]
            return located(error, self.find(int(np.argmin(is_finite)), error.file))
        if error.code.startswith("rel_"):
            is_infinite = np.isinf(self.relevance)
            if self.ideal is None or is_infinite.any():
                error.file = self.names[0]
                return located(error, self.find(int(np.argmax(is_infinite)), error.file))
            offsets, grades = self.ideal
            error.file = "ideal"
            return located(error, place_in(int(np.argmin(np.isfinite(grades))), offsets))
        return error


def as_matrix(values: object, name: str) -> NDArray[np.number] | None:
    """Return a matrix that the core can read in place, or `None` if it needs converting."""
    # A subclass may mean something else by its numbers, as a masked array does.
    if not isinstance(values, np.ndarray) or type(values) is not np.ndarray or values.ndim != 2:
        return None
    flags = values.flags
    if values.dtype.str not in PLAIN or not (flags.c_contiguous and flags.aligned):
        return None
    check_file(values, name)
    return values


def from_matrices(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    is_reversed: bool = False,
    padding: Padding = "nan",
    dimensions: tuple[int, ...] = (1, 2),
) -> Groups:
    """Read two matrices. A score that is masked means that there is no document."""
    check_alignment(y_true=y_true, y_score=y_score)
    given = {
        "y_true": to_numbers(y_true, "y_true", dimensions=dimensions, are_grades=True),
        "y_score": to_numbers(y_score, "y_score", dimensions=dimensions),
    }
    relevance, scores = map(np.atleast_2d, given.values())
    if relevance.shape != scores.shape:
        raise FormatError(
            f"expected y_true and y_score of one shape, found {relevance.shape} and {scores.shape}",
            hint="both have a row a query and a column a document",
            code="length_mismatch",
            file="y_score",
        )
    if scores.size == 0:
        raise _no_queries("y_true")
    if all(each.ndim == 1 for each in given.values()):
        raise groups_needed("Rankings.from_arrays")
    if padding is None:
        _refuse_nan(given["y_score"], y_score)
    if is_reversed:
        relevance, scores = relevance[:, ::-1], scores[:, ::-1]
    is_there = ~np.isnan(scores)
    is_full = bool(is_there.all())

    def find(row: int, name: str) -> tuple[int, ...]:
        query, column = np.argwhere(is_there)[row].tolist()
        column = scores.shape[1] - 1 - column if is_reversed else column
        return (column,) if given[name].ndim == 1 else (query, column)

    return _judged(
        Groups(
            offsets=count_offsets(is_there.sum(axis=1)),
            relevance=relevance.ravel() if is_full else relevance[is_there],
            scores=scores.ravel() if is_full else scores[is_there],
            names=("y_true", "y_score"),
            find=find,
        )
    )


def from_rows(
    y_true: ArrayLike,
    y_score: ArrayLike,
    groups: GivenGroups,
    *,
    is_reversed: bool = False,
    padding: Padding = "nan",
) -> Groups:
    """Read two columns of rows, and which query each row belongs to."""
    check_alignment(y_true=y_true, y_score=y_score, groups=groups)
    grades = to_numbers(y_true, "y_true", dimensions=(1,), are_grades=True)
    values = to_numbers(y_score, "y_score", dimensions=(1,))
    if len(grades) != len(values):
        raise FormatError(
            f"expected as many scores as grades, found {len(values)} for {len(grades)}",
            hint="both have a value a row",
            code="length_mismatch",
            file="y_score",
        )
    if len(grades) == 0:
        raise _no_queries("y_true")
    if padding is None:
        _refuse_nan(values, y_score)
    rows = read_row_groups(groups, len(grades))
    if is_reversed:
        rows = rows.reverse()
    grades, values = rows.take(grades), rows.take(values)
    places = np.flatnonzero(~np.isnan(values))
    return _judged(
        Groups(
            offsets=np.searchsorted(places, rows.offsets),
            relevance=grades[places],
            scores=values[places],
            names=("y_true", "y_score"),
            find=lambda row, _: (rows.find(int(places[row])),),
        )
    )


def _refuse_nan(numbers: NDArray[np.float64], given: object) -> None:
    """Raise an error for a score that is NaN and not masked."""
    is_nan = np.isnan(numbers)
    if not is_nan.any():
        return
    is_bad = is_nan & ~_find_masked(given, numbers.shape)
    if is_bad.any():
        error = FormatError(
            "expected a score for every document, found NaN",
            hint="if NaN fills up the rows of shorter lists, say so: padding='nan'",
            code="score_nan",
            file="y_score",
        )
        raise located(error, tuple(np.argwhere(is_bad)[0].tolist()))


def _find_masked(given: object, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return where an array, or the rows of a list, are masked."""
    if isinstance(given, np.ma.MaskedArray):
        return np.asarray(np.ma.getmaskarray(given))
    is_masked = np.zeros(shape, dtype=bool)
    for at, row in enumerate(given if isinstance(given, list | tuple) else ()):
        if isinstance(row, np.ma.MaskedArray):
            is_masked[at] = np.ma.getmaskarray(row)
    return is_masked


def from_groups(relevance: ArrayLike, scores: ArrayLike, group_sizes: ArrayLike) -> Groups:
    """Read rows that are sorted by query."""
    check_alignment(relevance=relevance, scores=scores)
    grades = to_numbers(relevance, "relevance", dimensions=(1,), are_grades=True)
    values = to_numbers(scores, "scores", dimensions=(1,))
    try:
        sizes = to_numbers(group_sizes, "group_sizes", dimensions=(1,))
    except FormatError as error:
        error.hint = SIZES if error.code == "not_numeric" else error.hint
        raise
    is_size = np.isfinite(sizes) & (sizes >= 0) & (sizes == np.floor(sizes))
    if not is_size.all():
        raise FormatError(
            "expected group sizes that are whole numbers, 0 or more",
            hint=SIZES,
            code="group_sizes",
            file="group_sizes",
            line=int(np.argmin(is_size)) + 1,
        )
    if not len(grades) == len(values) == sizes.sum():
        raise FormatError(
            f"expected as many rows as the groups have, found {len(grades)} grades and "
            f"{len(values)} scores for groups of {int(sizes.sum())} in all",
            hint=SIZES,
            code="length_mismatch",
            file="group_sizes",
        )
    if len(sizes) == 0:
        raise _no_queries("group_sizes")
    return _judged(
        Groups(
            offsets=count_offsets(sizes.astype(np.int64)),
            relevance=grades,
            scores=values,
            names=("relevance", "scores"),
            find=lambda row, _: (row,),
        )
    )


def from_lists(
    lists: Iterable[Sequence[float]],
    ideal: Iterable[Sequence[float]] | None,
    name: str = "lists",
) -> Groups:
    """Read lists of grades that are in rank order."""
    offsets, relevance = join_lists(lists, name)
    if len(offsets) == 1:
        raise _no_queries(name)
    return _in_rank_order(offsets, relevance, ideal, name, lambda row: place_in(row, offsets))


def from_ranked_rows(
    grades: ArrayLike,
    groups: GivenGroups,
    ideal: Iterable[Sequence[float]] | None,
    name: str = "rel",
) -> Groups:
    """Read one column of grades in which the rows of each query are in rank order."""
    check_alignment(**{name: grades}, groups=groups)
    relevance = to_numbers(grades, name, dimensions=(1,), are_grades=True)
    rows = read_row_groups(groups, len(relevance))
    if len(rows.offsets) == 1:
        raise _no_queries(name)
    relevance = rows.take(relevance)
    return _in_rank_order(rows.offsets, relevance, ideal, name, lambda row: (rows.find(row),))


def _in_rank_order(
    offsets: NDArray[np.int64],
    relevance: NDArray[np.float64],
    ideal: Iterable[Sequence[float]] | None,
    name: str,
    find: Callable[[int], tuple[int, ...]],
) -> Groups:

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
    return _judged(
        Groups(
            offsets=offsets,
            relevance=relevance,
            scores=scores,
            ideal=given,
            names=(name, name),
            find=lambda row, _: find(row),
        )
    )


def _judged(groups: Groups) -> Groups:
    grades, name = groups.relevance, groups.names[0]
    if groups.ideal is not None:
        grades, name = groups.ideal[1], "ideal"
    if not is_judged(grades):
        raise no_judgments(name)
    return groups


def _no_queries(name: str) -> EmptyError:
    return EmptyError(
        "expected queries, found none", hint="is the input empty?", code="empty_input", file=name
    )
