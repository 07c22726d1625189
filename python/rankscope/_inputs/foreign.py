"""Arrays of other libraries as NumPy arrays, without trusting what they say about their memory."""

from __future__ import annotations

import sys
from itertools import chain

from rankscope._inputs.arrow import check_inside
from rankscope._inputs.doubles import is_decimal, is_short, read_python, to_doubles
from rankscope._inputs.mistakes import bad_shape, elsewhere, not_numbers, placed, too_deep
from rankscope.deferred import np
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray


EXPORT_ERRORS = (
    TypeError,
    RuntimeError,
    ValueError,
    BufferError,
    AttributeError,
    OverflowError,
)
"""What libraries raise if they can't give an array of NumPy."""


def open_array(values: object, name: str, depth: int, *, are_grades: bool = False) -> NDArray[Any]:
    """Convert anything to an array of the same dimensions, masked where it has nulls."""
    if isinstance(values, list | tuple):
        return _of_list(values, name, depth, are_grades=are_grades)
    array = see_array(values, name)
    if array.dtype == object:
        return _of_objects(array, name, depth, are_grades=are_grades)
    return array


def see_array(values: object, name: str) -> NDArray[Any]:
    """Convert anything but a list to an array, which may hold objects."""
    if isinstance(values, np.ndarray):
        check_file(values, name)
        return values
    if isinstance(values, range):
        return np.asarray(values, dtype=np.float64 if len(values) == 0 else None)
    if isinstance(values, str | bytes | bytearray):
        raise not_numbers(name, type(values).__name__)
    try:
        buffer = np.asarray(memoryview(values))  # type: ignore[arg-type]  # others follow
    except (TypeError, ValueError, BufferError):
        return _of_library(values, name)
    check_file(buffer, name)
    return buffer


def _of_library(values: object, name: str) -> NDArray[Any]:
    """Get a copy or view in main memory from another library's array.

    Memory is taken from nobody else's word: what only describes where its numbers lie
    (`__array_interface__`) could describe anything. The capsule of DLPack is made by the library
    that owns the memory, and keeps it alive.
    """
    if not hasattr(values, "__array__") and not hasattr(values, "__dlpack__"):
        if hasattr(values, "__cuda_array_interface__"):
            raise elsewhere(name, values, "it gives no NumPy array")
        raise not_numbers(name, type(values).__name__)
    check_inside(values, name)
    try:
        array: NDArray[Any] = _export(values)
    except EXPORT_ERRORS as error:
        raise elsewhere(name, values, str(error)) from error
    if not isinstance(array, np.ndarray):
        raise not_numbers(name, f"{type(values).__name__} whose __array__ gives none")
    if array.dtype == object and hasattr(values, "isna"):  # the nulls of pandas
        array = np.ma.array(array, mask=np.asarray(values.isna(), dtype=bool))
    return array


def _export(values: Any) -> Any:  # noqa: ANN401 - an array of any library
    """Let a library convert its array to one of NumPy."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor) and values.device.type == "cpu":
        # A measure has no gradient, and NumPy lacks most floats of 8 and 16 bits.
        values = values.detach().resolve_conj().resolve_neg()
        is_short = values.dtype.is_floating_point and values.dtype.itemsize < 4
        values = values.float() if is_short else values
    return values.__array__() if hasattr(values, "__array__") else np.from_dlpack(values)


def _of_objects(array: NDArray[Any], name: str, depth: int, *, are_grades: bool) -> NDArray[Any]:
    if array.ndim == 0:
        raise bad_shape(name, tuple(range(1, depth + 1)), ())
    mask = np.ma.getmask(array)
    if not mask.any():  # pandas: rows without nulls can be lists, which have more dimensions
        return _of_list(np.ma.getdata(array).tolist(), name, depth, are_grades=are_grades)
    plain = np.where(mask, 0, np.ma.getdata(array))
    numbers = _of_list(plain.tolist(), name, depth, are_grades=are_grades)
    return np.ma.array(numbers, mask=mask)


def _of_list(values: Sequence[Any], name: str, depth: int, *, are_grades: bool) -> NDArray[Any]:
    if depth < 1:
        raise too_deep(name)
    kinds = set(map(type, values))
    numbers = {kind for kind in kinds if is_number(kind) or (are_grades and is_truth(kind))}
    if numbers == kinds:
        return read_python(values, name)
    odd = {kind for kind in kinds - numbers if not is_row(kind)}
    if odd:
        at = next(at for at, value in enumerate(values) if type(value) in odd)
        raise not_numbers(name, type(values[at]).__name__, (at,))
    if is_plain(values, kinds) and len(set(map(len, values))) == 1:
        shape = len(values), len(values[0])
        offsets = np.arange(shape[0] + 1) * shape[1]
        return read_python(list(chain.from_iterable(values)), name, offsets).reshape(shape)
    rows = []
    for at, value in enumerate(values):
        try:
            row = (
                open_array(value, name, depth - 1, are_grades=are_grades)
                if is_row(type(value))
                else np.array(value)
            )
            rows.append(to_doubles(row, name, are_grades=are_grades))
        except FormatError as error:
            raise placed(error, at) from error
    if len({row.shape for row in rows}) > 1:
        raise FormatError(
            f"expected {name} as an array of numbers, found rows of different lengths",
            hint="ragged lists are what from_lists takes; NaN pads the rows of a matrix",
            code="not_numeric",
            file=name,
        )
    return np.stack(rows)


def is_plain(lists: Sequence[Any], kinds: set[type]) -> bool:
    """Check whether a value consists of lists of plain Python numbers only."""
    return kinds <= {list, tuple} and set(map(type, chain.from_iterable(lists))) <= {int, float}


def is_number(kind: type) -> bool:
    """Check whether a type holds real numbers. Decimals count, booleans and durations don't."""
    is_other = issubclass(kind, bool | np.complexfloating | np.timedelta64)
    is_usual = issubclass(kind, int | float | np.number) and not is_other
    return is_usual or is_decimal(kind) or is_short(kind)


def is_truth(kind: type) -> bool:
    """Check whether a type holds truth values."""
    return issubclass(kind, bool | np.bool_)


def is_integer(kind: type) -> bool:
    """Check whether a type holds integers."""
    if kind.__module__ == "builtins":  # which needs no NumPy
        return kind is int
    return issubclass(kind, int | np.integer) and is_number(kind)


def is_row(kind: type) -> bool:
    """Check whether a type is an ordered sequence."""
    if issubclass(kind, np.generic | str | bytes | bytearray):
        return False
    is_sequence = issubclass(kind, list | tuple | range | memoryview)
    is_array = hasattr(kind, "__array__") or hasattr(kind, "__dlpack__")
    return is_sequence or is_array or kind.__module__ == "array"


def is_column(value: object) -> bool:
    """Check by its attributes whether a value is a column, or a table, of a data frame library."""
    # pandas arrays have nothing else that arrays of other libraries lack.
    names = ("to_frame", "isna", "__arrow_c_array__", "__arrow_c_stream__")
    return any(hasattr(value, name) for name in names)


def check_file(array: NDArray[Any], name: str) -> None:
    """Raise an error for a memory-mapped array whose file is gone or truncated."""
    import mmap  # noqa: PLC0415 - NumPy has loaded it
    from pathlib import Path  # noqa: PLC0415 - as mmap

    base: object = array
    while isinstance(base, np.ndarray | memoryview | mmap.mmap):
        path = getattr(base, "filename", None)
        is_gone = path is not None and not Path(path).exists()
        if is_gone or (isinstance(base, mmap.mmap) and base.size() < len(base)):
            raise FormatError(
                f"expected the file behind {name} as long as when it was mapped, "
                f"found it {'gone' if is_gone else 'cut'}",
                hint="load it into memory: numpy.load without mmap_mode",
                code="changed_while_reading",
                file=name,
            )
        # A map of NumPy's holds a map of Python's, which is the last.
        base = getattr(base, "obj" if isinstance(base, memoryview) else "base", None)
