"""Arrays: matrices of queries by documents, groups of rows, lists of grades in rank order."""

from __future__ import annotations

import sys

from rankscope._inputs.doubles import HINTS, is_in_place, refuse
from rankscope._inputs.groups import read_groups, read_sizes
from rankscope._inputs.numbers import (
    check_file,
    count_offsets,
    is_judged,
    join_lists,
    no_judgments,
    refuse_where,
    to_numbers,
)
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from rankscope._inputs.doubles import Doubles, Offsets
    from rankscope._inputs.numbers import Dims, Foreign

    Padding: TypeAlias = Literal["nan"] | None

GROUPED = "write {}(y_true, y_score, groups=df['query']), or groups='one' if all rows are one query"


@record(frozen=True, slots=True)
class Groups:
    """Rows of queries, one query after another.

    Args:
        offsets: Rows of query q are `offsets[q]:offsets[q + 1]`.
        relevance: The grade of each row, NaN where unjudged.
        scores: The score of each row.
        ideal: Offsets and grades of all that is judged, where that is more than the rows.
    """

    offsets: Offsets
    relevance: Doubles
    scores: Doubles
    ideal: tuple[Offsets, Doubles] | None = None


def as_matrix(values: Foreign, name: str) -> Foreign:
    """Return a matrix that the core can read in place, or `None` if it needs converting."""
    if not is_in_place(values) or values.ndim != 2:
        return None
    check_file(values, name)
    return values


def from_rows(
    y_true: Foreign,
    y_score: Foreign,
    groups: Foreign = None,
    *,
    hint: str = GROUPED.format("Rankings.from_arrays"),
    padding: Padding = "nan",
    is_reversed: bool = False,
) -> Groups:
    """Read two matrices, or two columns of rows and which query each row belongs to.

    A score that is masked means that there is no document, and so does NaN if it is padding.
    """
    check_order(y_true=y_true, y_score=y_score, groups=groups)
    dimensions = (1, 2) if groups is None else (1,)
    grades, scores = _read_pair(dimensions, y_true=y_true, y_score=y_score)
    if groups is None and scores.ndim == 1:
        message = "expected groups beside one-dimensional y_true and y_score, found none"
        raise UsageError(message, hint=hint, code="groups_needed")
    if padding is None:
        refuse_where(np.isnan(scores) & ~np.ma.getmask(y_score), scores, "score_nan", "y_score")
    if groups is None:
        offsets = np.arange(len(scores) + 1) * scores.shape[1]
        grades, scores = grades.ravel(), scores.ravel()
    else:
        offsets, order = read_groups(groups, scores.size)
        grades, scores = grades[order], scores[order]
    if is_reversed:
        ends = np.repeat(offsets[:-1] + offsets[1:] - 1, np.diff(offsets))
        last = ends - np.arange(len(ends))
        grades, scores = grades[last], scores[last]
    rows = np.flatnonzero(~np.isnan(scores))
    if len(rows) < len(scores):
        offsets, grades, scores = np.searchsorted(rows, offsets), grades[rows], scores[rows]
    return _judged("y_true", Groups(offsets, grades, scores))


def from_groups(relevance: Foreign, scores: Foreign, group_sizes: Foreign) -> Groups:
    """Read rows that are sorted by query."""
    check_order(relevance=relevance, scores=scores)
    grades, numbers = _read_pair((1,), relevance=relevance, scores=scores)
    refuse_where(np.isnan(numbers), numbers, "score_nan", "scores")
    sizes = read_sizes(group_sizes, "group_sizes")
    if len(grades) != sizes.sum():
        message = f"expected group_sizes for {len(grades)} rows, found {sizes.sum():.0f} in all"
        raise refuse("length_mismatch", "group_sizes", message, hint=HINTS["group_sizes"])
    return _judged("relevance", Groups(count_offsets(sizes), grades, numbers))


def from_lists(lists: Foreign, ideal: Foreign, name: str, groups: Foreign = None) -> Groups:
    """Read lists of grades that are in rank order, or one column of them and its groups."""
    if groups is None:
        offsets, grades = join_lists(lists, name)
    else:
        check_order(**{name: lists, "groups": groups})
        grades = to_numbers(lists, name, dimensions=(1,), are_grades=True)
        refuse_where(np.isinf(grades), grades, "rel_out_of_range", name)
        offsets, order = read_groups(groups, len(grades))
        grades = grades[order]
    judged = None
    if ideal is not None:
        judged = join_lists(ideal, "ideal")
        refuse_where(np.isnan(judged[1]), judged[1], "rel_not_number", "ideal", judged[0])
        if len(judged[0]) != len(offsets):
            message = f"expected {len(offsets) - 1} lists in ideal, found {len(judged[0]) - 1}"
            raise refuse("length_mismatch", "ideal", message)
    # Scores that descend from 0 in each list keep its order, without ties.
    scores = np.repeat(offsets[:-1], np.diff(offsets)) - np.arange(len(grades), dtype=np.float64)
    return _judged(name, Groups(offsets, grades, scores, judged))


def _read_pair(dimensions: Dims, **pair: Foreign) -> tuple[Doubles, Doubles]:
    """Read grades and scores of one shape."""
    (first, y_true), (second, y_score) = pair.items()
    grades = to_numbers(y_true, first, dimensions=dimensions, are_grades=True)
    scores = to_numbers(y_score, second, dimensions=dimensions)
    if grades.shape != scores.shape:
        message = f"expected {second} of shape {grades.shape} as {first}, found {scores.shape}"
        raise refuse("length_mismatch", second, message)
    if scores.size == 0:
        raise no_judgments(first)
    refuse_where(np.isinf(scores), scores, "score_overflow", second)
    refuse_where(np.isinf(grades) & ~np.isnan(scores), grades, "rel_out_of_range", first)
    return grades, scores


def _judged(name: str, groups: Groups) -> Groups:
    grades = groups.relevance if groups.ideal is None else groups.ideal[1]
    if not is_judged(grades):
        raise no_judgments(name if groups.ideal is None else "ideal")
    return groups


def check_order(**columns: Foreign) -> None:
    """Check that the pandas objects among columns have their rows in one order.

    Columns are read by position. If only one of two columns of a frame was sorted, they have the
    same labels in different orders, and a row would get the grade or the query of another.
    Objects with other labels, such as a Series with a new index, are read by position.
    """
    pandas = sys.modules.get("pandas")
    kinds = () if pandas is None else (pandas.Series, pandas.DataFrame)
    frames = [(name, one) for name, one in columns.items() if isinstance(one, kinds)]
    for name, other in frames[1:]:
        first, leader = frames[0]
        for axis in ("index", "columns")[: min(leader.ndim, other.ndim)]:
            one, two = getattr(leader, axis), getattr(other, axis)
            if not one.equals(two) and len(one) == len(two) and set(one) == set(two):
                message = f"expected {first} and {name} with one {axis}, found different orders"
                raise refuse("index_order", name, message)


def check_weights(weights: Foreign, y_true: Foreign, groups: Foreign) -> None:
    """Check that weights of queries in a pandas Series are in the order of the queries."""
    pandas = sys.modules.get("pandas")
    if groups is None:
        check_order(y_true=y_true, sample_weight=weights)
    elif pandas is not None and isinstance(groups, pandas.Series):
        queries = pandas.Series(index=groups.unique(), dtype=float)
        check_order(groups=queries, sample_weight=weights)
