"""Converts labels such as clicks, favorites and purchases to grades."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from rankscope.adapters.labels import read_grades
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope.data.attribution import Combine, Positive, Repeats, Unknown


def attribute(
    labels: object,
    *,
    positive: Positive,
    predicted: object = None,
    combine: Combine = "sum",
    repeats: Repeats = "each",
    unlabelled: float | None = 0.0,
    unknown: Unknown = "zero",
    separator: str | None = None,
) -> float | NDArray[np.float64]:
    """Turn relevance labels, such as implicit feedback, into grades.

    A label that is a positive class counts 1, or its weight; every other label counts 0; the grade
    of a document is the sum, or the maximum, over its labels.

    Args:
        labels: The labels of one document, as a list or set of texts; or those of many, as a
            sequence of such lists, an array, or a column of pandas, Polars or Arrow with lists of
            labels or single labels. None, NaN and empty text are no label.
        positive: The positive class, several of them, or a mapping of class to weight; a weight
            below 0 makes a grade that `Policy(negative=...)` speaks of.
        predicted: The label predicted for the document, or for each: where it is given, only the
            labels that equal it count.
        combine: `"sum"`, or `"max"`.
        repeats: Whether a label that a document has several times counts `"each"` time or
            `"once"`.
        unlabelled: The grade of a document without any label; None and NaN are unjudged.
        unknown: What a label is that is no positive class: `"zero"`, or an `"error"`.
        separator: What is between labels, where those of a document are one text.

    Returns:
        A grade for one document; an array of grades, shape (documents,), for many.

    Raises:
        UsageError: A positive class, a weight or another setting is not one.
        InputError: Labels are no text, or unknown, or do not fit the predictions.

    Examples:
        >>> attribute(["click", "favorite", "buy"], positive="click")
        1.0
        >>> log = [["click"], ["click", "buy"], [], None]
        >>> attribute(log, positive={"click": 1, "buy": 5})
        array([1., 6., 0., 0.])
        >>> attribute(log, positive=["click", "buy"], predicted=["buy", "buy", "buy", "buy"])
        array([0., 1., 0., 0.])
    """
    is_one = _is_one_document(labels, splits=separator is not None)
    grades = read_grades(
        [labels] if is_one else labels,
        [predicted] if is_one and predicted is not None else predicted,
        positive=positive,
        combine=combine,
        repeats=repeats,
        unlabelled=unlabelled,
        unknown=unknown,
        separator=separator,
    )
    return float(grades[0]) if is_one else grades


def _is_one_document(labels: object, *, splits: bool) -> bool:
    if splits:
        return isinstance(labels, str)
    if isinstance(labels, AbstractSet):
        return True
    if not isinstance(labels, list | tuple):
        return False
    texts = sum(isinstance(label, str) for label in labels)
    if texts == len(labels):
        return True
    if texts or all(label is None for label in labels):
        raise FormatError(
            "expected the labels of one document, or a list of such lists; found neither clearly",
            hint="write [['click'], []] for two documents; leave None out for one",
            code="label_type",
            file="labels",
        )
    return False
