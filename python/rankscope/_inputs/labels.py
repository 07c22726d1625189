"""Converts labels of documents to grades, from Python objects and columns of any library."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope._inputs.attribution import (
    Attribution,
    Combine,
    Labels,
    Positive,
    Repeats,
    Unknown,
    grade_labels,
    read_positive,
)
from rankscope._inputs.columns import (
    as_arrow,
    decode,
    fill_nulls,
    is_list,
    is_null,
    list_cells,
    to_array,
)
from rankscope._inputs.numbers import Foreign
from rankscope.errors import FormatError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What the labels of a document can be in, where there are several.
ROWS = (list, tuple, set, frozenset, np.ndarray)
# What columns have.
WAYS = ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_array__", "dtype")


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


def read_grades(
    labels: object,
    predicted: object = None,
    *,
    positive: Positive | None,
    unlabelled: float | None = 0.0,
    separator: str | None = None,
    **rules: Any,  # noqa: ANN401 - those of `Attribution`
) -> NDArray[np.float64]:
    """Convert a column of labels to grades, as `attribute` describes."""
    grade = float("nan") if unlabelled is None else unlabelled
    attribution = Attribution(read_positive(positive), unlabelled=grade, **rules)
    documents = read_labels(labels, separator=separator)
    if predicted is None:
        return grade_labels(documents, attribution)
    predictions = read_labels(predicted, "predicted")
    rows, count = len(documents.counts), len(predictions.counts)
    if rows != count:
        message = f"expected a predicted label a document, found {count} for {rows} documents"
        hint = "None is no prediction"
        raise FormatError(message, hint=hint, code="length_mismatch", file="predicted")
    for at in np.flatnonzero(predictions.counts > 1)[:1].tolist():
        raise _bad_labels("predicted", "one predicted label a document", "several", at)
    return grade_labels(documents, attribution, predictions)


def read_labels(column: object, name: str = "labels", *, separator: str | None = None) -> Labels:
    """Read a column of labels, one document per row."""
    import pyarrow.compute as pc

    if separator == "" or not isinstance(separator, str | None):
        message = f"expected separator as text, found {separator!r}"
        raise UsageError(message, hint="write separator='|'", code="bad_parameter")
    rows = as_labels(column, name)
    if separator is not None:
        rows = pc.split_pattern(_to_texts(rows, name), separator)
    texts = _to_texts(decode(pc.list_flatten(rows)) if is_list(rows.type) else rows, name)
    if separator is not None:
        texts = pc.utf8_trim_whitespace(texts)
    documents, encoded = encode_texts(rows, texts)
    codes = to_array(encoded.indices).astype(np.int64)
    counts = np.bincount(documents, minlength=len(rows))
    return Labels(encoded.dictionary.to_pylist(), codes, counts)


def encode_texts(rows: Foreign, texts: Foreign) -> tuple[NDArray[np.int64], Foreign]:
    """Return the row of each text that isn't empty, and these texts encoded.

    The rows are the texts, or the lists that the texts come from.
    """
    import pyarrow.compute as pc

    are_texts = pc.not_equal(texts, "")
    # Arrow's own list of parents counts the values below null.
    lengths = fill_nulls(pc.list_value_length(rows), 0) if is_list(rows.type) else 1
    parents = np.repeat(np.arange(len(rows)), lengths)
    return parents[fill_nulls(are_texts, 0) > 0], texts.filter(are_texts).dictionary_encode()


def as_labels(column: Foreign, name: str) -> Foreign:
    """Return a column as an Arrow array of texts, or of lists of texts, so far as it is one."""
    is_column = any(hasattr(column, way) for way in WAYS) and not hasattr(column, "columns")
    if not isinstance(column, list | tuple) and not is_column:
        raise _bad_labels(name, "lists of labels, or a column", type(column).__name__)
    is_array = isinstance(column, np.ndarray) and column.ndim == 1
    cells = column.tolist() if is_array else list_cells(column)
    if cells is None or all(isinstance(cell, str) or is_null(cell) for cell in cells):
        return as_arrow(column, name)
    rows = [[*row] if isinstance(row, ROWS) else [row] for row in cells]
    rows = [[label for label in row if not is_null(label)] for row in rows]
    for at, label in ((at, label) for at, row in enumerate(rows) for label in row):
        if not isinstance(label, str):
            raise _bad_labels(name, "labels that are text", type(label).__name__, at)
    return as_arrow(rows, name)


def _to_texts(values: Foreign, name: str) -> Foreign:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(values.type):
        values = pc.if_else(values.is_null(nan_is_null=True), None, values)
    if values.type != pa.large_string() and values.null_count < len(values):
        raise _bad_labels(name, "labels that are text, or lists of them", str(values.type))
    return values.cast(pa.large_string())


def _bad_labels(name: str, expected: str, kind: str, at: int | None = None) -> FormatError:
    hint = "labels are text, such as 'click'; several of a document are a list or a set"
    line, message = None if at is None else at + 1, f"expected {expected}, found {kind}"
    return FormatError(message, hint=hint, code="label_type", file=name, line=line)
