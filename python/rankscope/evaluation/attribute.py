"""Converts labels such as clicks, favorites and purchases to grades."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from rankscope._inputs.labels import read_grades
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope.settings.attribution import Combine, Positive, Repeats, Unknown


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

    A label that is a positive class counts 1, or its weight. Every other label counts 0. The grade
    of a document is the sum or the maximum over its labels.

    Args:
        labels: The labels of one document, as a list or set of strings, or those of many documents,
            as a sequence of such lists, an array, or a pandas, Polars or Arrow column of labels or
            lists of labels. `None`, NaN and empty strings aren't labels.
        positive: One or more positive classes, or a mapping of class to weight.
            `Policy(negative=...)` says how negative grades count.
        predicted: The predicted label of each document. If given, only labels equal to it count.
        combine: `"sum"` or `"max"`.
        repeats: Whether a repeated label of a document counts `"each"` time or `"once"`.
        unlabelled: The grade of a document without labels. `None` and NaN mean unjudged.
        unknown: How a label that isn't a positive class counts: as `"zero"`, or as an `"error"`.
        separator: The text between labels if those of a document are one string.

    Returns:
        The grade of one document, or an array of grades, shape (documents,).

    Raises:
        UsageError: A positive class, a weight or another setting is invalid.
        InputError: Labels aren't text, are unknown, or don't match the predictions in number.

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
