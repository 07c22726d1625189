"""One column of any library, as a NumPy array, an Arrow array, or a list."""

from __future__ import annotations

import math

from rankscope._inputs.arrow import check_whole, load_arrow
from rankscope._inputs.doubles import bad_shape
from rankscope._inputs.numbers import check_file, open_array
from rankscope.deferred import np
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Foreign: TypeAlias = Any  # a column of another library


def open_column(column: Foreign, name: str, refuse: Callable[[str], FormatError]) -> Foreign:
    """Convert a column to a NumPy array, an Arrow array, or a list."""
    if isinstance(column, list | tuple):
        return list(column)
    if _is_of_objects(column):
        return column.to_list()
    if isinstance(column, np.ndarray) or _is_of_numpy(column):
        array = column if isinstance(column, np.ndarray) else np.asarray(column)
        check_file(array, name)
        if array.ndim != 1:
            raise bad_shape(name, (1,), array.shape)
        return _of_objects(array) if array.dtype.kind in "OUT" else array
    try:
        values = _to_arrow(column)
        if values is not None:
            check_whole(values, name)
            return _join(values)
    except (TypeError, ValueError, NotImplementedError) as error:  # Arrow's errors are of these
        if isinstance(error, FormatError):
            raise
        raise refuse(str(getattr(column, "dtype", type(column).__name__))) from error
    try:
        return open_array(column, name, 1)
    except FormatError as error:
        if error.code == "not_numeric":
            raise refuse(type(column).__name__) from error
        raise


def find_arrow(column: Foreign) -> Foreign:
    """Return a column as Arrow has it, perhaps in pieces, unchecked; `None` if it has none."""
    is_other = isinstance(column, list | tuple | np.ndarray) or _is_of_numpy(column)
    if is_other or _is_of_objects(column):
        return None
    try:
        return _to_arrow(column)
    except (TypeError, ValueError, NotImplementedError):
        return None


def find_texts(column: Foreign) -> list[Foreign] | None:
    """Return the pieces of a column of texts of Arrow, none of which is missing, if it is that.

    Nothing is checked but types.
    """
    values = find_arrow(column)
    kinds, kind = load_arrow().types, getattr(values, "type", None)
    if kind is None or not (kinds.is_string(kind) or kinds.is_large_string(kind)):
        return None
    pieces = getattr(values, "chunks", [values])
    has_all = all(piece.buffers()[0] is None for piece in pieces)
    return pieces if has_all and len(values) else None


def _of_objects(array: Foreign) -> Foreign:
    """Convert objects that are all text to Arrow, anything else to a list."""
    if len(array) == 0 or np.ma.isMaskedArray(array) or not isinstance(array[0], str):
        return array.tolist()
    pa = load_arrow()
    try:
        texts = pa.array(array)
    except (TypeError, ValueError):  # a mixture, or half characters
        return array.tolist()
    return (
        array.tolist() if texts.null_count or not pa.types.is_string(texts.type) else _join(texts)
    )


def is_null(value: object) -> bool:
    """Check whether a Python object stands for a missing value."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan or is_null_type(type(value))


def is_null_type(kind: type) -> bool:
    """Check whether a type holds only nulls."""
    # Those of pandas answer no question about themselves, so they are known by their types.
    return kind.__name__ in {"NoneType", "NAType", "NaTType"}


def _library_of(column: Foreign) -> str:
    return type(column).__module__.partition(".")[0]


def _is_of_objects(column: Foreign) -> bool:
    """Check whether a column holds objects of Polars, of which Arrow is given the addresses."""
    return _library_of(column) == "polars" and str(column.dtype) == "Object"


def _is_of_numpy(column: Foreign) -> bool:
    """Check whether a pandas column is backed by NumPy, or sparse."""
    dtype = getattr(column, "dtype", None)
    is_known = isinstance(dtype, np.dtype) or type(dtype).__name__ == "SparseDtype"
    return _library_of(column) == "pandas" and is_known


def _to_arrow(column: Foreign) -> Foreign:
    """Return the Arrow array of a library's column, in one or more chunks, if it has one."""
    if _library_of(column) == "pandas":
        return load_arrow().array(getattr(column, "array", column), from_pandas=True)
    if hasattr(column, "__arrow_c_stream__"):
        # Polars makes texts of its views faster than PyArrow checks and copies them.
        is_view = _library_of(column) == "polars" and str(column.dtype) == "String"
        kind = load_arrow().large_string() if is_view else None
        return load_arrow().chunked_array(column, type=kind)
    if hasattr(column, "__arrow_c_array__"):
        return load_arrow().array(column)
    return None


def _join(values: Foreign) -> Foreign:
    """Concatenate the decoded chunks of an array."""
    pa = load_arrow()
    if not isinstance(values, pa.ChunkedArray):
        return decode(values)
    if values.num_chunks == 1:
        return decode(values.chunk(0))
    pieces = [decode(piece) for piece in values.chunks]
    return pa.concat_arrays(pieces) if pieces else pa.nulls(0, values.type)


def is_uuid_type(kind: Foreign) -> bool:
    """Check whether a type is Arrow's type of UUIDs."""
    return getattr(kind, "extension_name", "") == "arrow.uuid"


def _spell_uuids(values: Foreign) -> Foreign:
    """Return UUIDs as texts in their usual form, with hyphens."""
    pa = load_arrow()
    count, stored = len(values), values.storage
    held = np.frombuffer(stored.buffers()[1] or b"", dtype=np.uint8)
    numbers = held[16 * stored.offset :][: 16 * count].reshape(count, 16)
    digits = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
    texts = np.full((count, 36), ord("-"), dtype=np.uint8)
    hyphens = [8, 13, 18, 23]
    texts[:, np.delete(np.arange(36), hyphens)] = np.stack(
        [digits[numbers >> 4], digits[numbers & 15]], axis=2
    ).reshape(count, 32)
    ends = np.arange(count + 1, dtype=np.int64) * 36
    made = pa.LargeStringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(texts))
    compute = load_arrow("pyarrow.compute")
    return compute.if_else(stored.is_valid(), made, pa.nulls(1, pa.large_string())[0])


def decode(values: Foreign) -> Foreign:
    """Decode dictionaries, runs and UUIDs, and use 64-bit offsets for text and bytes."""
    pa = load_arrow()
    kinds, kind = pa.types, values.type
    if is_uuid_type(kind):
        return _spell_uuids(values)
    if kinds.is_run_end_encoded(kind):
        return decode(load_arrow("pyarrow.compute").run_end_decode(values))
    if kinds.is_dictionary(kind):
        return decode(values.dictionary).take(values.indices)
    if kinds.is_string(kind) or kinds.is_string_view(kind):
        return values.cast(pa.large_string())
    if kinds.is_binary(kind) or kinds.is_binary_view(kind):
        return values.cast(pa.large_binary())
    return values


def read_utf8(values: Foreign, name: str) -> Foreign:
    """Read an array of bytes as text."""
    pa = load_arrow()
    try:
        return values.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        rows = enumerate(values.to_pylist(), start=1)
        row, value = next(pair for pair in rows if pair[1] is not None and not _is_utf8(pair[1]))
        raise FormatError(
            f"expected {name} in UTF-8, found {value!r:.120}",
            hint="decode the column first, or turn ids into text",
            code="encoding",
            line=row,
        ) from error


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
