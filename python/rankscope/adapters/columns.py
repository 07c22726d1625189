"""Columns of any library: reads ids and numbers of them, exactly."""

from __future__ import annotations

from rankscope.adapters.arrow import load_arrow
from rankscope.errors import EmptyError, FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Foreign: TypeAlias = Any  # a column of another library
    IdColumn: TypeAlias = NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.uint8]]

MISSING = "<missing>"
"""The value of an attribute that is null."""


def read_ids(column: Foreign, name: str) -> IdColumn:
    """Read a column of identifiers: integers, or texts.

    Raises:
        InputError: There are none, or they are something else.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    column = _plain(column)
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        if column.dtype == np.uint64 and (column > np.iinfo(np.int64).max).any():
            raise _bad_ids(name, "integers of 64 bits with a sign", "larger ones")
        return np.ascontiguousarray(column, dtype=np.int64)
    if isinstance(column, np.ndarray) and column.dtype.kind not in "OUT":
        raise _bad_ids(name, "texts or integers", str(column.dtype))
    return _read_texts(column, name)


def _read_texts(column: Foreign, name: str) -> IdColumn:

    pa = load_arrow()
    try:
        values = column if hasattr(column, "null_count") else pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        raise _bad_ids(name, "texts, or integers", "a mixture") from error
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.null_count:
        row = values.is_null().index(True).as_py()
        raise FormatError(
            f"expected an id in every row of {name}, found none",
            hint="drop the rows without one",
            code="missing_id",
            file="table",
            line=row + 1,
        )
    if pa.types.is_integer(values.type):
        integers: NDArray[np.int64] = values.cast(pa.int64()).to_numpy()
        return integers
    if not (
        pa.types.is_string(values.type)
        or pa.types.is_large_string(values.type)
        or pa.types.is_string_view(values.type)
    ):
        raise _bad_ids(name, "texts or integers", str(values.type))
    return _texts_of(values.cast(pa.large_string()))


def _texts_of(values: Foreign) -> IdColumn:
    """Give the buffers of an Arrow array of large strings."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    _, offsets, texts = values.buffers()
    starts = np.frombuffer(offsets or b"", dtype=np.int64)[values.offset :][: len(values) + 1]
    return starts, np.frombuffer(texts or b"", dtype=np.uint8)


def read_values(column: Foreign, name: str) -> IdColumn:
    """Read a column of whatever values as texts, or as integers; null is a value of its own.

    Raises:
        InputError: They have no text.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    column = _plain(column)
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        return read_ids(column, name)
    pa = load_arrow()
    try:
        values = column if hasattr(column, "null_count") else pa.array(column, from_pandas=True)
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        values = values.cast(pa.large_string()).fill_null(MISSING)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError) as error:
        raise FormatError(
            f"expected {name} to hold texts, numbers, dates or truth values",
            hint="convert the column to text first",
            code="attribute_type",
            file="table",
        ) from error
    return _texts_of(values)


def read_numbers(column: Foreign, name: str, *, allows_null: bool = False) -> NDArray[np.float64]:
    """Read a column of numbers as float64, exactly.

    Args:
        column: The column.
        name: What messages call it.
        allows_null: Whether nulls become NaN; else they are refused.

    Raises:
        InputError: They are something else, or missing.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    from rankscope.adapters.numbers import to_numbers  # noqa: PLC0415 - as NumPy

    column = _plain(column)
    if not isinstance(column, np.ndarray) or column.dtype == object:
        column = _numbers_of_arrow(column, name, allows_null=allows_null)
    numbers = to_numbers(column, name, dimensions=(1,))
    if len(numbers) == 0:
        raise EmptyError(
            "expected rows, found none", hint="is the table empty?", code="empty_input"
        )
    return numbers


def _numbers_of_arrow(column: Foreign, name: str, *, allows_null: bool) -> NDArray[Any]:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    pa = load_arrow()
    try:
        values = column if hasattr(column, "null_count") else pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        raise _bad_numbers(name, "a mixture") from error
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    kind = values.type
    if pa.types.is_null(kind):
        values = values.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise _bad_numbers(name, str(kind))
    if values.null_count and not allows_null:
        row = values.is_null().index(True).as_py()
        raise FormatError(
            f"expected a number in every row of {name}, found none",
            hint="drop the rows without one",
            code="missing_score",
            file="table",
            line=row + 1,
        )
    if values.null_count or pa.types.is_decimal(kind):
        numbers = values.cast(pa.float64(), safe=not pa.types.is_decimal(kind)).to_numpy(
            zero_copy_only=False
        )
        return np.asarray(numbers, dtype=np.float64)
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _plain(column: Foreign) -> Foreign:
    """A NumPy array where the column is one already; an Arrow array or the column itself else."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if isinstance(column, np.ndarray) or (
        hasattr(column, "null_count") and hasattr(column, "type")
    ):
        return column
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind != "O":  # a pandas Series of NumPy's types
        return np.asarray(column)
    if hasattr(column, "array") and hasattr(column.array, "__arrow_array__"):
        return column.array.__arrow_array__()
    if isinstance(column, list | tuple | range):
        array = np.asarray(column)
        return array if array.dtype.kind in "iuf" and array.ndim == 1 else list(column)
    return column


def _bad_ids(name: str, wanted: str, found: str) -> FormatError:
    return FormatError(
        f"expected {name} to hold {wanted}, found {found}",
        hint="ids are text or integers; floats lose digits",
        code="id_type",
        file="table",
    )


def _bad_numbers(name: str, found: str) -> FormatError:
    return FormatError(
        f"expected {name} to hold numbers, found {found}",
        hint="convert the column first",
        code="not_numeric",
        file="table",
    )
