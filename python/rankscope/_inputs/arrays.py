"""Arrays: matrices of queries by documents, groups of rows, lists of grades in rank order."""

from __future__ import annotations

import math
import sys

from rankscope._inputs.doubles import is_in_place, locate, refuse
from rankscope._inputs.groups import read_groups, read_sizes
from rankscope._inputs.numbers import (
    check_file,
    count_offsets,
    is_judged,
    join_lists,
    no_judgments,
    to_numbers,
)
from rankscope.deferred import np
from rankscope.errors import FormatError, UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Literal, TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from rankscope._inputs.doubles import Doubles
    from rankscope._inputs.groups import GroupsLike, Order
    from rankscope._inputs.numbers import Dimensions

    Padding: TypeAlias = Literal["nan"] | None

SIZES = (
    "group_sizes says how many rows each query has; if you have the query of each row, write "
    "Rankings.from_arrays(relevance, scores, groups=ids)"
)


@record(frozen=True, slots=True)
class Groups:
    """Rows of queries, one query after another.

    Args:
        names: What the arrays of grades and of scores are called.
        offsets: Rows of query q are `offsets[q]:offsets[q + 1]`.
        relevance: The grade of each row, NaN where unjudged.
        scores: The score of each row.
        shape: The shape of the arrays, or `None` if they are a list for each query.
        order: Which element of the arrays each row is.
        ideal: Offsets and grades of all that is judged, where that is more than the rows.
    """

    names: tuple[str, str]
    offsets: NDArray[np.int64]
    relevance: Doubles
    scores: Doubles
    shape: tuple[int, ...] | None
    order: Order = slice(None)
    ideal: tuple[NDArray[np.int64], Doubles] | None = None

    def locate(self, error: FormatError) -> FormatError:
        """Return the array and the place of a number that the core refused."""
        if not error.code.startswith(("score_", "rel_")):
            return error
        (error.file, _), is_bad = self.names, np.isinf(self.relevance)
        if error.code.startswith("score_"):
            (_, error.file), is_bad = self.names, ~np.isfinite(self.scores)
        elif self.ideal is not None and not is_bad.any():
            error.file, is_bad = "ideal", ~np.isfinite(self.ideal[1])
        row = int(np.argmax(is_bad))
        if self.shape is not None and error.file != "ideal":
            element = np.arange(math.prod(self.shape))[self.order][row]
            return locate(error, np.unravel_index(element, self.shape))
        offsets = self.offsets if self.ideal is None or error.file != "ideal" else self.ideal[0]
        query = int(np.searchsorted(offsets, row, side="right")) - 1
        return locate(error, (query, row - offsets[query]))


def as_matrix(values: Any, name: str) -> NDArray[np.number] | None:  # noqa: ANN401 - anything
    """Return a matrix that the core can read in place, or `None` if it needs converting."""
    if not is_in_place(values) or values.ndim != 2:
        return None
    check_file(values, name)
    return values


def from_rows(
    y_true: ArrayLike,
    y_score: ArrayLike,
    groups: GroupsLike | None = None,
    *,
    is_reversed: bool = False,
    padding: Padding = "nan",
    dimensions: Dimensions = (1, 2),
) -> Groups:
    """Read two matrices, or two columns of rows and which query each row belongs to.

    A score that is masked means that there is no document, and so does NaN if it is padding.
    """
    names, order = ("y_true", "y_score"), slice(None)
    check_order(y_true=y_true, y_score=y_score, groups=groups)
    grades, scores = _read_pair(names, y_true, y_score, dimensions if groups is None else (1,))
    if padding is None:
        _refuse_nan(scores, y_score)
    shape, size = scores.shape, scores.size
    if groups is None and len(shape) == 1:
        raise groups_needed("Rankings.from_arrays")
    if groups is None:
        offsets = np.arange(shape[0] + 1) * shape[1]
    else:
        offsets, order = read_groups(groups, size)
    if is_reversed:
        last = np.repeat(offsets[:-1] + offsets[1:] - 1, np.diff(offsets))
        order = np.arange(size)[order][last - np.arange(size)]
    rows = np.flatnonzero(~np.isnan(scores.ravel()[order]))
    if len(rows) < size:
        offsets, order = np.searchsorted(rows, offsets), np.arange(size)[order][rows]
    grades, scores = grades.ravel()[order], scores.ravel()[order]
    return _judged(Groups(names, offsets, grades, scores, shape, order))


def from_groups(relevance: ArrayLike, scores: ArrayLike, group_sizes: ArrayLike) -> Groups:
    """Read rows that are sorted by query."""
    names = ("relevance", "scores")
    check_order(relevance=relevance, scores=scores)
    grades, values = _read_pair(names, relevance, scores, (1,))
    try:
        sizes = read_sizes(group_sizes, "group_sizes", SIZES)
    except FormatError as error:
        error.hint = SIZES if error.code == "not_numeric" else error.hint
        raise
    if len(grades) != sizes.sum():
        message = f"expected group_sizes for {len(grades)} rows, found {sizes.sum():.0f} in all"
        raise refuse("length_mismatch", "group_sizes", message, hint=SIZES)
    return _judged(Groups(names, count_offsets(sizes), grades, values, grades.shape))


def from_lists(
    lists: Iterable[Sequence[float]] | ArrayLike,
    ideal: Iterable[Sequence[float]] | None,
    name: str = "lists",
    groups: GroupsLike | None = None,
) -> Groups:
    """Read lists of grades that are in rank order, or one column of them and its groups."""
    shape, order = None, slice(None)
    if groups is None:
        offsets, grades = join_lists(lists, name)
    else:
        check_order(**{name: lists, "groups": groups})
        grades = to_numbers(lists, name, dimensions=(1,), are_grades=True)
        shape = grades.shape
        offsets, order = read_groups(groups, len(grades))
        grades = grades[order]
    judged = None if ideal is None else join_lists(ideal, "ideal")
    if judged is not None and len(judged[0]) != len(offsets):
        message = f"expected {len(offsets) - 1} lists in ideal, found {len(judged[0]) - 1}"
        hint = "ideal has all judged grades of each query"
        raise refuse("length_mismatch", "ideal", message, hint=hint)
    # Scores that descend from 0 in each list keep its order, without ties.
    scores = np.repeat(offsets[:-1], np.diff(offsets)) - np.arange(len(grades), dtype=np.float64)
    return _judged(Groups((name, name), offsets, grades, scores, shape, order, judged))


def _read_pair(
    names: tuple[str, str], y_true: ArrayLike, y_score: ArrayLike, dimensions: Dimensions
) -> tuple[Doubles, Doubles]:
    """Read grades and scores of one shape."""
    grades = to_numbers(y_true, names[0], dimensions=dimensions, are_grades=True)
    scores = to_numbers(y_score, names[1], dimensions=dimensions)
    if grades.ndim != scores.ndim:
        grades, scores = np.atleast_2d(grades), np.atleast_2d(scores)
    if grades.shape != scores.shape:
        found = f"{grades.shape} and {scores.shape}"
        message = f"expected {' and '.join(names)} of one shape, found {found}"
        hint = "each document has a grade and a score"
        raise refuse("length_mismatch", names[1], message, hint=hint)
    if scores.size == 0:
        raise no_judgments(names[0], "queries")
    return grades, scores


def _refuse_nan(scores: Doubles, values: object) -> None:
    """Raise an error for a score that is NaN and not masked."""
    is_bad = np.isnan(scores)
    if is_bad.any():
        mask = np.ma.getmask(values)
        if isinstance(values, list | tuple):  # whose rows may be masked
            rows = [np.broadcast_to(np.ma.getmask(row), scores.shape[1:]) for row in values]
            mask = np.array(rows)
        for at in np.argwhere(is_bad & ~mask):
            raise refuse("score_nan", "y_score", "expected a score, found NaN", at=at)


def _judged(groups: Groups) -> Groups:
    name, grades = groups.names[0], groups.relevance
    if groups.ideal is not None:
        name, grades = "ideal", groups.ideal[1]
    if not is_judged(grades):
        raise no_judgments(name)
    return groups


def groups_needed(function: str, more: str = "") -> UsageError:
    """Return the error for rows of grades and scores that don't say their query."""
    return UsageError(
        "expected groups beside one-dimensional y_true and y_score, which may hold the rows of "
        "many queries, found none",
        hint=f"write {function}(y_true, y_score, groups=df['query']), or groups='one' if all rows "
        f"are one query{more}",
        code="groups_needed",
    )


def check_order(**columns: object) -> None:
    """Check that the pandas objects among columns have their rows in one order.

    Columns are read by position. If only one of two columns of a frame was sorted, they have the
    same labels in different orders, and a row would get the grade or the query of another.
    Objects with other labels, such as a Series with a new index, are read by position.
    """
    pandas = sys.modules.get("pandas")
    kinds = () if pandas is None else (pandas.Series, pandas.DataFrame)
    frames: Any = [(name, one) for name, one in columns.items() if isinstance(one, kinds)]
    for name, other in frames[1:]:
        first, leader = frames[0]
        for axis in ("index", "columns")[: min(leader.ndim, other.ndim)]:
            one, two = getattr(leader, axis), getattr(other, axis)
            is_same = len(one) != len(two) or one.equals(two)
            if not is_same and one.isin(two).all() and two.isin(one).all():
                found = "the same labels in different orders"
                message = f"expected {first} and {name} with the same {axis}, found {found}"
                raise refuse("index_order", name, message)


def check_weights(weights: object, y_true: object, groups: Any) -> None:  # noqa: ANN401 - as above
    """Check that weights of queries in a pandas Series are in the order of the queries."""
    pandas = sys.modules.get("pandas")
    if groups is None:
        check_order(y_true=y_true, sample_weight=weights)
    elif pandas is not None and isinstance(groups, pandas.Series):
        queries = pandas.Series(index=groups.unique(), dtype=float)
        check_order(groups=queries, sample_weight=weights)
