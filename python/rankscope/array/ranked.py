"""Padded batches in rank order."""

from __future__ import annotations

import math

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.array.space import Array, Space
    from rankscope.settings.policy import Negative, Ties


@record(frozen=True, slots=True)
class Padded:
    """A batch of lists.

    Args:
        grades: Grades, shape (rows, columns), NaN where unjudged.
        scores: Scores of the same shape.
        is_there: Whether there is a document, or `None` if all are there.
        is_bad: Which rows can't have a value, or `None`.
    """

    grades: Array
    scores: Array
    is_there: Array | None
    is_bad: Array | None


@record(frozen=True, slots=True)
class Values:
    """The values of a measure, one for each row.

    Args:
        values: The values, 0 where there is none.
        is_undefined: For which rows the measure is undefined.
        is_bad: Which rows have no value because of what they contain.
    """

    values: Array
    is_undefined: Array
    is_bad: Array


@record(frozen=True, slots=True)
class Ranked:
    """Lists in rank order.

    Args:
        space: Their library and device.
        real: The type in which numbers are added.
        grades: The grade at each rank, NaN where unjudged, shape (rows, columns).
        places: The columns, counted from 0, shape (1, columns).
        start: The column at which the tie of each rank starts, or `None` without ties.
        end: The column at which it ends.
        retrieved: The number of documents of each row, shape (rows,).
        is_bad: Which rows can't have a value.
        negative: What becomes of negative grades.
    """

    space: Space
    real: Any
    grades: Array
    places: Array
    start: Array | None
    end: Array | None
    retrieved: Array
    is_bad: Array
    negative: Negative

    @property
    def columns(self) -> int:
        """The number of columns."""
        columns: int = self.grades.shape[1]
        return columns

    def number(self, integers: Array) -> Array:
        """Return integers as real numbers."""
        return self.space.cast(integers, self.real)

    def size(self) -> Array | float:
        """Return how many documents the tie of each rank has."""
        if self.start is None or self.end is None:
            return 1.0
        return self.number(self.end - self.start + 1)


def rank_batch(space: Space, batch: Padded, ties: Ties, negative: Negative, real: object) -> Ranked:
    """Put the lists of a batch in rank order, documents that are not there last."""
    xp = space.xp
    grades, scores, is_there = space.cast(batch.grades, real), batch.scores, batch.is_there
    if space.kind(scores) == "integer":
        scores = space.cast(scores, real)
        is_odd = xp.abs(scores) > space.largest_float(scores)
    else:
        if not space.is_wide(scores):
            scores = space.cast(scores, xp.float32)
        is_odd = ~xp.isfinite(scores)
    is_odd = is_odd | xp.isinf(grades)
    if space.kind(batch.grades) == "integer":
        is_odd = is_odd | (xp.abs(grades) > space.largest_float(grades))
    grades = space.where(xp.isinf(grades), 0.0, grades)
    if negative == "error":
        is_odd = is_odd | (grades < 0)
    if is_there is None:
        retrieved = xp.sum(xp.ones_like(grades), axis=-1)
    else:
        is_odd = is_odd & is_there
        retrieved = xp.sum(space.cast(is_there, real), axis=-1)
        grades = space.where(is_there, grades, math.nan)
        # Scores of documents are finite, so that all documents come first.
        scores = space.where(is_there, scores, -math.inf)
    is_bad = xp.any(is_odd, axis=-1)
    if batch.is_bad is not None:
        is_bad = is_bad | batch.is_bad
    order = _order(space, grades, scores, ties)
    places = xp.reshape(space.count_up(scores.shape[1]), (1, -1))
    start, end = None, None
    if ties == "average":
        start, end = _find_ties(space, space.pick(scores, order), places)
    return Ranked(
        space=space,
        real=real,
        grades=space.pick(grades, order),
        places=places,
        start=start,
        end=end,
        retrieved=retrieved,
        is_bad=is_bad,
        negative=negative,
    )


def _order(space: Space, grades: Array, scores: Array, ties: Ties) -> Array:
    if ties not in {"best", "worst"}:
        return space.order(scores, descending=True)
    graded = space.where(space.xp.isnan(grades), 0.0, grades)
    by_grade = space.order(graded, descending=ties == "best")
    by_score = space.order(space.pick(scores, by_grade), descending=True)
    return space.pick(by_grade, by_score)


def _find_ties(space: Space, scores: Array, places: Array) -> tuple[Array, Array]:
    """Return the first and the last column of the tie that each column belongs to."""
    xp = space.xp
    is_new = scores[:, 1:] != scores[:, :-1]
    edge = scores[:, :1] == scores[:, :1]
    places = xp.broadcast_to(places, scores.shape)
    last = places.shape[1] - 1
    firsts = space.where(xp.concat([edge, is_new], axis=-1), places, 0)
    lasts = space.where(xp.concat([is_new, edge], axis=-1), last - places, 0)
    start = space.highest_so_far(firsts)
    end = last - space.reverse(space.highest_so_far(space.reverse(lasts)))
    return start, end
