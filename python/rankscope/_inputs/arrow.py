"""PyArrow, imported with the first table that needs it."""

from __future__ import annotations

import sys

from rankscope.deferred import np, pa, pc
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


def join(column: Any) -> Any:  # noqa: ANN401 - as above
    """Return one array of a column that may be in pieces."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.combine_chunks() if column.num_chunks else pa.nulls(0, column.type)


# PyArrow's own ways to and from NumPy, and its `scalar` and `fill_null`, load pandas where it is
# installed. That takes longer than to import everything else.


def to_array(column: Any) -> NDArray[Any]:  # noqa: ANN401 - as above
    """Return the numbers or truth values of an array of Arrow, none of which is missing."""
    joined = join(column)
    if pa.types.is_boolean(joined.type):
        return np.from_dlpack(joined.cast("uint8")).view(np.bool_)
    return np.from_dlpack(joined)


def fill_nulls(column: Any, value: float) -> NDArray[Any]:  # noqa: ANN401 - as above
    """Return the numbers of an array, with a value where one is missing."""
    array = join(column)
    if array.null_count:
        array = pc.coalesce(array, of_array(np.full(len(array), value)).cast(array.type))
    return to_array(array)


def fill_texts(texts: Any, text: str) -> Any:  # noqa: ANN401 - as above
    """Return large texts with another one where one is missing."""
    held = text.encode()
    buffers = pa.py_buffer(np.array([0, len(held)], dtype=np.int64)), pa.py_buffer(held)
    (filler,) = pa.LargeStringArray.from_buffers(1, *buffers)
    return pc.fill_null(texts, filler)


def of_array(numbers: NDArray[Any]) -> Any:  # noqa: ANN401 - as above
    """Return numbers as an array of Arrow, without a copy if they lie end to end."""
    buffer = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, buffer])


def check_whole(values: Any, name: str) -> None:  # noqa: ANN401 - as above
    """Raise an error for an Arrow array whose offsets, views or indices point outside its buffers.

    PyArrow follows them wherever they point, and ends the process.
    """
    try:
        values.validate(full=True)
    except (pa.ArrowException, LookupError, OverflowError) as error:
        raise FormatError(
            f"expected a valid Arrow column in {name}, found a damaged one "
            f"({str(error).splitlines()[0]:.200})",
            hint="the library that made the column describes its memory wrongly: make it again",
            code="column_damaged",
            file=name,
        ) from error


def check_batch(batch: Any) -> None:  # noqa: ANN401 - as above
    """Check the columns of a batch as `check_whole` does; the error is that of PyArrow."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            raise pa.ArrowInvalid(f"in column {name}: {error}") from error


def check_inside(values: object, name: str) -> None:
    """Check a PyArrow column, or a pandas column that wraps one, with `check_whole`."""
    inner = getattr(values, "array", values)
    if "Arrow" in type(inner).__name__ and hasattr(inner, "__arrow_array__"):
        inner = inner.__arrow_array__()
    if sys.modules.get("pyarrow") and isinstance(inner, pa.Array | pa.ChunkedArray):
        check_whole(inner, name)
