"""Converts labels of documents to grades, from Python objects and columns of any library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.arrow import fill_nulls
from rankscope._inputs.columns import as_arrow, decode, is_null
from rankscope.deferred import pa, pc
from rankscope.errors import FormatError, UsageError
from rankscope.settings.attribution import Attribution, Labels, grade_labels, read_positive

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.settings.attribution import Combine, Positive, Repeats, Unknown

ROWS = (list, tuple, set, frozenset, np.ndarray)
"""What the labels of a document can be in, where there are several."""
WAYS = ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_array__", "dtype")
"""What columns have."""


def read_grades(
    labels: object,
    predicted: object = None,
    *,
    positive: Positive | None,
    combine: Combine = "sum",
    repeats: Repeats = "each",
    unlabelled: float | None = 0.0,
    unknown: Unknown = "zero",
    separator: str | None = None,
) -> NDArray[np.float64]:
    """Convert a column of labels to grades, as `attribute` describes."""
    grade = float("nan") if unlabelled is None else unlabelled
    attribution = Attribution(read_positive(positive), combine, repeats, grade, unknown)
    documents = read_labels(labels, separator=separator)
    if predicted is None:
        return grade_labels(documents, attribution)
    predictions = read_labels(predicted, "predicted")
    if len(predictions.counts) != len(documents.counts):
        raise FormatError(
            f"expected a predicted label a document, found {len(predictions.counts)} for "
            f"{len(documents.counts)} documents",
            hint="None is no prediction",
            code="length_mismatch",
            file="predicted",
        )
    if (predictions.counts > 1).any():
        at = int(np.argmax(predictions.counts > 1))
        raise _bad_labels("predicted", "one predicted label a document", "several", at)
    return grade_labels(documents, attribution, predictions)


def read_labels(column: object, name: str = "labels", *, separator: str | None = None) -> Labels:
    """Read a column of labels, one document per row."""
    if separator == "" or not isinstance(separator, str | None):
        raise UsageError(
            f"expected separator as text, found {separator!r}",
            hint="write separator='|'",
            code="bad_parameter",
        )
    rows = _to_arrow(column, name)
    if separator is not None:
        rows = pc.split_pattern(_to_texts(rows, name, column), separator)
    if hasattr(rows.type, "value_type"):  # lists
        counts = fill_nulls(pc.list_value_length(rows), 0).astype(np.int64)
        rows = decode(pc.list_flatten(rows))
    else:
        counts = np.ones(len(rows), dtype=np.int64)
    texts = _to_texts(rows, name, column)
    if separator is not None:
        texts = pc.utf8_trim_whitespace(texts)
    encoded = texts.dictionary_encode()
    names = [*encoded.dictionary.to_pylist(), ""]
    codes = fill_nulls(encoded.indices.cast("int64"), len(names) - 1)
    is_label = np.array(names, dtype=bool)[codes]
    documents = np.repeat(np.arange(len(counts)), counts)[is_label]
    return Labels(names, codes[is_label], np.bincount(documents, minlength=len(counts)))


def _to_arrow(column: Any, name: str) -> Any:  # noqa: ANN401 - of a library
    """Return a column as an Arrow array of texts, or of lists of texts, so far as it is one."""
    is_column = any(hasattr(column, way) for way in WAYS) and not hasattr(column, "columns")
    if not isinstance(column, list | tuple) and not is_column:
        raise _bad_labels(name, "lists of labels, or a column", type(column).__name__)
    try:
        return as_arrow(column, name)
    except FormatError as error:
        if error.code != "column_type":
            raise
    rows = [[row] if isinstance(row, str) else row for row in column]
    try:
        return as_arrow([list(row) if isinstance(row, ROWS) else row for row in rows], name)
    except FormatError as error:
        raise _find_mistake(column, name) from error


def _to_texts(values: Any, name: str, column: object) -> Any:  # noqa: ANN401 - as above
    texts = pa.large_string()
    if pa.types.is_floating(values.type):
        values = pc.if_else(values.is_null(nan_is_null=True), None, values)
    if values.type != texts and values.null_count < len(values):
        raise _find_mistake(column, name, str(values.type))
    return values.cast(texts)


def _find_mistake(column: object, name: str, kind: str = "a mixture of types") -> FormatError:
    """Return the error for the first row of a list that has something else than labels."""
    for at, row in enumerate(column if isinstance(column, list | tuple) else ()):
        for label in row if isinstance(row, ROWS) else [row]:
            if not isinstance(label, str) and not is_null(label):
                return _bad_labels(name, "labels that are text", type(label).__name__, at)
    return _bad_labels(name, "labels that are text, or lists of them", kind)


def _bad_labels(name: str, wanted: str, found: str, at: int | None = None) -> FormatError:
    return FormatError(
        f"expected {wanted}, found {found}",
        hint="labels are text, such as 'click'; several of a document are a list or a set",
        code="label_type",
        file=name,
        line=None if at is None else at + 1,
    )
