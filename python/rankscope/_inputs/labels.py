"""Converts labels of documents to grades, from Python objects and columns of any library."""

from __future__ import annotations

from itertools import chain

from rankscope._inputs.arrow import check_whole, fill_nulls, load_arrow
from rankscope._inputs.open_column import decode, is_null
from rankscope.deferred import np
from rankscope.errors import FormatError, UsageError
from rankscope.settings.attribution import Attribution, Labels, grade_labels, read_positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope.settings.attribution import Combine, Positive, Repeats, Unknown

    Foreign: TypeAlias = Any  # an array of Arrow
    Part: TypeAlias = tuple[list[object], NDArray[np.int64], NDArray[np.int64]]


LISTS = (list, tuple, set, frozenset)


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
    weights = read_positive(positive)
    grade = float("nan") if unlabelled is None else unlabelled
    attribution = Attribution(weights, combine, repeats, grade, unknown)
    held = read_labels(labels, separator=separator)
    match = None if predicted is None else read_predicted(predicted)
    if match is not None and len(match.counts) != len(held.counts):
        raise FormatError(
            f"expected a predicted label a document, found {len(match.counts)} for "
            f"{len(held.counts)} documents",
            hint="None is no prediction",
            code="length_mismatch",
            file="predicted",
        )
    return grade_labels(held, attribution, match)


def read_labels(column: object, name: str = "labels", *, separator: str | None = None) -> Labels:
    """Read a column of labels, one document per row."""
    if separator == "" or not isinstance(separator, str | None):
        raise UsageError(
            f"expected separator as text, found {separator!r}",
            hint="write separator='|'",
            code="bad_parameter",
        )
    if isinstance(column, list | tuple):
        parts = [_encode_rows(column, name, separator)]
    elif isinstance(getattr(column, "dtype", None), np.dtype):
        if np.ndim(column) == 0:  # type: ignore[arg-type]  # an array, or a Series of pandas
            raise _bad_labels(name, "labels of documents", "a single value")
        rows = column.tolist()  # type: ignore[attr-defined]  # an array, or a Series of pandas
        parts = [_encode_rows(rows, name, separator)]
    else:
        parts = [_encode_chunk(chunk, name, separator) for chunk in _read_chunks(column, name)]
    return _join(parts, strips=separator is not None)


def read_predicted(column: object, name: str = "predicted") -> Labels:
    """Read a column of predicted labels, at most one per document."""
    predicted = read_labels(column, name)
    if (predicted.counts > 1).any():
        at = int(np.argmax(predicted.counts > 1))
        raise _bad_labels(name, "one predicted label a document", "several", at)
    return predicted


def _encode_rows(rows: Sequence[Foreign], name: str, separator: str | None) -> Part:
    """Encode rows of Python objects as names, codes and counts."""
    lists = [_split_row(row, at, name, separator) for at, row in enumerate(rows)]
    counts = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    codes = _Codes()
    try:
        found = [codes[label] for label in chain.from_iterable(lists)]
    except TypeError as error:  # it cannot be looked up
        raise _bad_labels(name, "labels that are text", "something else") from error
    for label in codes:
        if not isinstance(label, str) and not is_null(label):
            at = next(at for at, labels in enumerate(lists) if label in labels)
            raise _bad_labels(name, "labels that are text", type(label).__name__, at)
    return list(codes), np.array(found, dtype=np.int64), counts


class _Codes(dict[object, int]):
    """Assigns a code to each new key."""

    def __missing__(self, label: object) -> int:
        self[label] = code = len(self)
        return code


def _split_row(row: Foreign, at: int, name: str, separator: str | None) -> Collection[object]:
    """Return the labels of a row."""
    if isinstance(row, str):
        return (row,) if separator is None else row.split(separator)
    if separator is None:
        if isinstance(row, LISTS):
            return row
        if getattr(row, "ndim", 0) == 1:  # from a column of lists
            return row.tolist()  # type: ignore[no-any-return]  # of an array
    if is_null(row):
        return ()
    wanted = "labels, or lists of them" if separator is None else "texts to be split"
    raise _bad_labels(name, wanted, type(row).__name__, at)


def _read_chunks(column: Foreign, name: str) -> Iterable[Foreign]:
    """Return the chunks of a column as Arrow arrays."""
    # The last is for categories of pandas before 3.
    ways = ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_array__", "dtype")
    way = next((way for way in ways if hasattr(column, way)), None)
    if way is None:
        raise FormatError(
            f"expected {name} as lists of labels, or a column, found {type(column).__name__}",
            hint="write ['click', 'buy'] for one document, [['click'], []] for two",
            code="input_type",
            file=name,
        )
    pa = load_arrow()
    try:
        chunked = pa.chunked_array(column) if way == "__arrow_c_stream__" else None
        values = pa.array(column, from_pandas=True) if chunked is None else chunked
        check_whole(values, name)
        return values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    except (pa.ArrowException, TypeError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise _bad_labels(name, "a column of labels", type(column).__name__) from error


def _encode_chunk(chunk: Foreign, name: str, separator: str | None) -> Part:
    """Encode an Arrow array as names, codes and counts."""
    pa, compute = load_arrow(), load_arrow("pyarrow.compute")
    if separator is not None:
        chunk = compute.split_pattern(_to_texts(chunk, name), separator)
    if isinstance(chunk, pa.ListArray | pa.LargeListArray | pa.FixedSizeListArray):
        counts = fill_nulls(compute.list_value_length(chunk), 0)
        values = compute.list_flatten(chunk)
    else:
        counts, values = np.ones(len(chunk), dtype=np.int64), chunk
    if not pa.types.is_dictionary(values.type):
        values = _to_texts(values, name).dictionary_encode()
    names = [*_to_texts(values.dictionary, name).to_pylist(), None]
    codes = fill_nulls(values.indices.cast(pa.int64()), len(names) - 1)
    return names, codes, counts.astype(np.int64)


def _to_texts(values: Foreign, name: str) -> Foreign:
    pa = load_arrow()
    texts = decode(values)
    if pa.types.is_large_string(texts.type):
        return texts
    if texts.null_count == len(texts):
        return texts.cast(pa.large_string())
    raise _bad_labels(name, "labels that are text, or lists of them", str(values.type))


def _join(parts: list[Part], *, strips: bool) -> Labels:
    """Concatenate encoded parts, without nulls."""
    names: list[str] = []
    codes: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    counts: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    for found, of_labels, of_rows in parts:
        texts = [name if isinstance(name, str) else "" for name in found]
        codes.append(of_labels + len(names))
        counts.append(of_rows)
        names += [text.strip() for text in texts] if strips else texts
    code, count = np.concatenate(codes), np.concatenate(counts)
    is_label = np.array([bool(name) for name in names], dtype=bool)
    if not is_label.all():
        kept = is_label[code]
        rows = np.repeat(np.arange(len(count)), count)[kept]
        code, count = code[kept], np.bincount(rows, minlength=len(count))
    return Labels(names, code, count)


def _bad_labels(name: str, wanted: str, found: str, at: int | None = None) -> FormatError:
    return FormatError(
        f"expected {wanted}, found {found}",
        hint="labels are text, such as 'click'; several of a document are a list or a set",
        code="label_type",
        file=name,
        line=None if at is None else at + 1,
    )
