"""Arrays: matrices of queries by documents, groups of rows, lists of grades in rank order."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from rankscope._inputs.numbers import (
    HINTS,
    Dims,
    Foreign,
    check_file,
    count_offsets,
    is_in_place,
    is_judged,
    join_lists,
    no_judgments,
    refuse,
    refuse_where,
    to_numbers,
)
from rankscope.errors import InputError, UsageError

Padding: TypeAlias = Literal["nan"] | None

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rankscope._inputs.numbers import Doubles, Offsets

    GroupsLike: TypeAlias = ArrayLike | Literal["one"]


GROUPED = "write {}(y_true, y_score, groups=df['query']), or groups='one' if all rows are one query"
EXAMPLE = "write groups=df['query'] with the query of each row, or groups='one' for a single query"


@dataclass(frozen=True, slots=True)
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
    return check_file(values, name) if is_in_place(values) and values.ndim == 2 else None


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
    import numpy as np

    check_order(y_true=y_true, y_score=y_score, groups=groups)
    dimensions = (1, 2) if groups is None else (1,)
    grades, scores = _read_pair(dimensions, y_true=y_true, y_score=y_score)
    if groups is None and scores.ndim == 1:
        message = "expected groups beside one-dimensional y_true and y_score, found none"
        raise UsageError(message, hint=hint, code="groups_needed")
    if padding is None:
        refuse_where(np.isnan(scores) & ~np.ma.getmask(y_score), scores, "score_nan", "y_score")
    if groups is None:
        offsets, order = np.arange(len(scores) + 1) * scores.shape[1], slice(None)
    else:
        offsets, order = read_groups(groups, scores.size, y_true)
    grades, scores = grades.ravel()[order], scores.ravel()[order]
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
    import numpy as np

    check_order(relevance=relevance, scores=scores)
    grades, numbers = _read_pair((1,), relevance=relevance, scores=scores)
    refuse_where(np.isnan(numbers), numbers, "score_nan", "scores")
    sizes = read_sizes(group_sizes, "group_sizes")
    if len(grades) != sizes.sum():
        message = f"expected group_sizes for {len(grades)} rows, found {sizes.sum():.0f} in all"
        raise refuse("length_mismatch", "group_sizes", message, hint=HINTS["group_sizes"])
    _check_labels("group_sizes", group_sizes, relevance)
    return _judged("relevance", Groups(count_offsets(sizes), grades, numbers))


def from_lists(lists: Foreign, ideal: Foreign, name: str, groups: Foreign = None) -> Groups:
    """Read lists of grades that are in rank order, or one column of them and its groups."""
    import numpy as np

    if groups is None:
        offsets, grades = join_lists(lists, name)
    else:
        check_order(**{name: lists, "groups": groups})
        grades = to_numbers(lists, name, dimensions=(1,), are_grades=True)
        refuse_where(np.isinf(grades), grades, "rel_out_of_range", name)
        offsets, order = read_groups(groups, len(grades), lists)
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
    import numpy as np

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


def read_groups(groups: GroupsLike, rows: int, column: Foreign) -> tuple[Offsets, Foreign]:
    """Return the offsets of queries, and the order that brings the rows of each one together.

    As many entries as rows are ids, and anything else must be sizes that add up to the rows. Where
    both readings are possible, such as `[1, 1, 1]` for three rows, the caller has to decide.
    """
    import numpy as np

    if isinstance(groups, str):
        if groups != "one":
            message = f"expected a column, sizes or 'one' as groups, found the text {groups!r:.120}"
            raise UsageError(message, hint=EXAMPLE, code="bad_parameter")
        return np.array([0, rows], dtype=np.int64), slice(None)
    if len(shape := tuple(getattr(groups, "shape", (0,)))) != 1:
        message = f"expected groups as one column, such as ngroup() makes, found shape {shape}"
        raise refuse("array_shape", "groups", message, hint=EXAMPLE)
    sizes = None
    with suppress(InputError):
        sizes = read_sizes(groups, "groups")
    if sizes is not None and sizes.sum() == rows:
        if len(sizes) != rows:
            _check_labels("groups", groups, column)
            return count_offsets(sizes), slice(None)
        if rows > 1:
            message = f"expected groups as ids or sizes, found {rows} numbers that could be either"
            raise UsageError(message, hint=HINTS["ambiguous_groups"], code="ambiguous_groups")
    codes = sizes if sizes is not None and len(sizes) != rows else _number_ids(groups)
    if len(codes) != rows:
        message = f"expected {rows} ids, or sizes that add up to {rows}, found {len(codes)} values"
        raise refuse("length_mismatch", "groups", message, hint=EXAMPLE)
    return count_offsets(np.bincount(codes)), np.argsort(codes, kind="stable")


def read_sizes(values: ArrayLike, name: str) -> Doubles:
    """Read whole numbers of 0 or more."""
    import numpy as np

    sizes = to_numbers(values, name, dimensions=(1,))
    is_size = (sizes >= 0) & (sizes < np.inf) & (sizes == np.floor(sizes))
    if not is_size.all():
        message = f"expected {name} as whole numbers, 0 or more, found {sizes[~is_size][0]}"
        raise refuse("group_sizes", name, message, [np.argmin(is_size)])
    return sizes


def _number_ids(ids: Foreign) -> Offsets:
    """Number ids from 0, in the order in which they first appear."""
    import numpy as np

    from rankscope._inputs.columns import read_ids, to_array, to_arrow

    try:
        column = to_arrow(read_ids(ids, "groups"))
    except InputError as error:
        error.file = "groups"
        raise
    return to_array(column.dictionary_encode().indices).astype(np.int64)


def check_order(**columns: Foreign) -> None:
    """Check that the pandas objects among columns have their rows in one order.

    Columns are read by position. If only one of two columns of a frame was sorted, they have the
    same labels in different orders, and a row would get the grade or the query of another.
    Objects with other labels, such as a Series with a new index, are read by position.
    """
    frames = [(name, column) for name, column in columns.items() if _is_of_pandas(column)]
    for name, other in frames[1:]:
        first, leader = frames[0]
        for axis in ("index", "columns")[: min(leader.ndim, other.ndim)]:
            labels, others = getattr(leader, axis), getattr(other, axis)
            is_other_order = len(labels) == len(others) and set(labels) == set(others)
            if is_other_order and not labels.equals(others):
                message = f"expected {first} and {name} with one {axis}, found different orders"
                raise refuse("index_order", name, message)


def _check_labels(name: str, sizes: Foreign, column: Foreign) -> None:
    """Check that sizes in a pandas Series, whose index names the queries, are in their order.

    It is known where a level of the index of the rows names the queries, too. Else the only order
    that is taken for theirs is the ascending one, as `groupby` makes it.
    """
    if not _is_of_pandas(sizes):
        return
    labels = sizes.index
    named = _is_of_pandas(column) and labels.name is not None and labels.name in column.index.names
    if named:
        is_right = labels.equals(column.index.unique(labels.name))
    else:
        is_right = labels.is_monotonic_increasing
    if not is_right:
        message = f"expected {name} in the order of the rows, found an index in another order"
        raise refuse("index_order", name, message, hint=HINTS["size_order"])


def check_weights(weights: Foreign, y_true: Foreign, groups: Foreign) -> None:
    """Check that weights of queries in a pandas Series are in the order of the queries."""
    if groups is None:
        check_order(y_true=y_true, sample_weight=weights)
    elif _is_of_pandas(groups) and groups.ndim == 1:
        queries = type(groups)(index=groups.unique(), dtype=float)
        check_order(groups=queries, sample_weight=weights)


def _is_of_pandas(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "iloc")
