"""Numbers of any library as NumPy arrays, without trusting what they say about their memory."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import chain

from rankscope._inputs.arrow import check_inside
from rankscope._inputs.doubles import (
    bad_shape,
    is_decimal,
    is_short,
    not_numbers,
    read_python,
    refuse,
    to_doubles,
)
from rankscope.deferred import np
from rankscope.errors import EmptyError, FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any, TypeAlias

    from rankscope._inputs.doubles import Array, Doubles, Foreign, Offsets

    Scale: TypeAlias = tuple[float, float]
    Dims: TypeAlias = Collection[int]


def to_numbers(values: Foreign, name: str, dimensions: Dims, are_grades: bool = False) -> Doubles:
    """Read real numbers as float64 without rounding. Masked values become NaN."""
    if 0 in dimensions and is_number(type(values), are_grades=are_grades):
        return read_python([values], name).reshape(())
    array = open_array(values, name, max(dimensions), are_grades=are_grades)
    if array.ndim not in dimensions:
        raise bad_shape(name, dimensions, array.shape)
    return to_doubles(array, name, are_grades=are_grades)


def open_array(values: Foreign, name: str, depth: int, *, are_grades: bool = False) -> Array:
    """Convert anything to an array of the same dimensions, masked where it has nulls."""
    if not isinstance(values, list | tuple | range):
        array = see_array(values, name)
        if array.dtype != object or array.ndim == 0:
            return array
        values = np.ma.filled(array, math.nan).tolist()
    if depth < 1:
        raise refuse("array_shape", name, f"expected {name} as lists of numbers, found lists in it")
    if all(is_number(kind, are_grades=are_grades) for kind in set(map(type, values))):
        return read_python(values, name)
    flat = _join_alike(values, name)
    if flat is not None and len(set(map(len, values))) == 1:
        return flat.reshape(len(values), -1)
    rows = _read_each(values, name, range(depth), are_grades)
    if len({row.shape for row in rows}) > 1:
        hint = "ragged lists are what from_lists takes; NaN pads the rows of a matrix"
        raise refuse("not_numeric", name, "expected rows of one length, found several", hint=hint)
    return np.stack(rows)


def _join_alike(lists: Sequence[Any], name: str) -> Doubles | None:
    """Read lists of plain numbers, or arrays of one type, end to end; `None` for anything else."""
    kinds = set(map(type, lists))
    with suppress(FormatError):  # found again, with its place, where each list is read alone
        if kinds <= {list, tuple}:
            flat = list(chain.from_iterable(lists))
            return read_python(flat, name) if set(map(type, flat)) <= {int, float} else None
        if kinds == {np.ndarray} and {(a.ndim, a.dtype) for a in lists} == {(1, lists[0].dtype)}:
            return to_doubles(np.concatenate([check_file(array, name) for array in lists]), name)
    return None


def _read_each(values: Foreign, name: str, dimensions: Dims, are_grades: bool) -> list[Doubles]:
    """Read elements one by one, and add the place to a mistake in one of them."""
    rows = []
    for at, value in enumerate(values):
        try:
            rows.append(to_numbers(value, name, dimensions, are_grades))
        except FormatError as error:
            error.line, error.column = at + 1, error.line
            raise
    return rows


def see_array(values: Foreign, name: str) -> Array:
    """Convert anything but a list to an array, which may hold objects.

    Memory is taken from nobody else's word: what only describes where its numbers lie
    (`__array_interface__`) could describe anything. The capsule of DLPack is made by the library
    that owns the memory, and keeps it alive.
    """
    buffer = values
    if not isinstance(values, np.ndarray | np.generic | bytes | bytearray):
        with suppress(TypeError, ValueError, BufferError):
            buffer = np.asarray(memoryview(values))
    if isinstance(buffer, np.ndarray):
        return check_file(buffer, name)
    ways = ("__array__", "__dlpack__", "__cuda_array_interface__")
    if isinstance(values, np.generic) or not any(hasattr(values, way) for way in ways):
        raise not_numbers(name, type(values).__name__)
    check_inside(values, name)
    try:
        array: Array = _export(values)
    except MemoryError:
        raise
    except Exception as error:
        found = f"{type(values).__name__} elsewhere: {str(error).partition(chr(10))[0][:120]}"
        message = f"expected {name} in main memory, found {found}"
        raise refuse("device_array", name, message) from error
    if not isinstance(array, np.ndarray):
        raise not_numbers(name, f"{type(values).__name__} whose __array__ gives none")
    if array.dtype == object and hasattr(values, "isna"):  # the nulls of pandas
        array = np.ma.array(array, mask=np.asarray(values.isna(), dtype=bool))
    return array


def _export(values: Foreign) -> Foreign:
    """Let a library convert its array to one of NumPy."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor) and values.device.type == "cpu":
        # A measure has no gradient, and NumPy lacks most floats of 8 and 16 bits.
        values = values.detach().resolve_conj().resolve_neg()
        is_narrow = values.dtype.is_floating_point and values.dtype.itemsize < 4
        values = values.float() if is_narrow else values
    return values.__array__() if hasattr(values, "__array__") else np.from_dlpack(values)


def check_file(array: Array, name: str) -> Array:
    """Return an array, unless it is memory-mapped and its file was truncated."""
    import mmap  # noqa: PLC0415 - NumPy has loaded it

    base: object = array
    while isinstance(base, np.ndarray | memoryview):
        base = base.obj if isinstance(base, memoryview) else base.base
    if isinstance(base, mmap.mmap) and base.size() < len(base):
        message = f"expected the file behind {name} as long as when it was mapped, found it cut"
        raise refuse("changed_while_reading", name, message)
    return array


def refuse_where(bad: Array, numbers: Doubles, code: str, name: str, offsets: Any = None) -> None:  # noqa: ANN401 - an array
    """Raise an error for the first bad number of an array, or of lists with these offsets."""
    for place in np.argwhere(bad)[:1].tolist():
        message = f"expected finite numbers, found {numbers[tuple(place)]}"
        if offsets is not None:
            query = np.searchsorted(offsets, place[0], side="right") - 1
            place[:] = [query, place[0] - offsets[query]]
        raise refuse(code, name, message, place)


def join_lists(lists: Foreign, name: str) -> tuple[Offsets, Doubles]:
    """Concatenate lists of grades of any length, and return the offsets and the grades."""
    if not hasattr(lists, "__iter__") and hasattr(lists, "to_list"):  # TensorFlow's ragged tensors
        lists = lists.to_list()
    first = lists[0] if isinstance(lists, list | tuple) and lists else ()
    is_flat = not (is_row(type(first)) or hasattr(first, "__len__") or hasattr(first, "__iter__"))
    if isinstance(lists, Mapping | AbstractSet) or not hasattr(lists, "__iter__") or is_flat:
        error = not_numbers(name, type(first if is_flat else lists).__name__)
        error.hint = "write a list of grades for each query: [[3, 2, 0], [1, 0]]"
        raise error
    if isinstance(lists, np.ndarray | memoryview) and lists.ndim != 1:
        lists = to_numbers(lists, name, dimensions=(2,), are_grades=True)
        grades = lists.ravel()
    else:
        lists = list(lists)
        grades = _join_alike(lists, name)
    if grades is None:
        lists = _read_each(lists, name, (1,), are_grades=True)
        grades = np.concatenate(lists)
    offsets = count_offsets(np.fromiter(map(len, lists), dtype=np.int64))
    if len(grades) != offsets[-1]:
        raise RuntimeError(f"{name} changed size while being read")
    refuse_where(np.isinf(grades), grades, "rel_out_of_range", name, offsets)
    return offsets, grades


def split_lists(values: Foreign, name: str) -> tuple[Iterable[Any], bool]:
    """Return a list of lists of numbers, and whether the input was a single list."""
    lists = values
    if not isinstance(values, list | tuple | range):
        array = see_array(values, name)
        if array.ndim == 2:
            return array, False
        lists = np.ma.getdata(array).ravel().tolist() if array.dtype == object else []
    is_one = not lists or not is_row(type(lists[0])) or getattr(lists[0], "ndim", 1) == 0
    return ([values] if is_one else lists), is_one


def is_number(kind: type, *, are_grades: bool = False) -> bool:
    """Check whether a type holds real numbers. Truth values are grades, and durations nothing."""
    if issubclass(kind, bool | np.bool_):
        return are_grades
    is_real = issubclass(kind, int | float | np.integer | np.floating)
    return (is_real or is_decimal(kind) or is_short(kind)) and not issubclass(kind, np.timedelta64)


def is_integer(kind: type) -> bool:
    """Check whether a type holds integers."""
    is_plain = kind.__module__ == "builtins"  # which needs no NumPy
    return kind is int if is_plain else issubclass(kind, int | np.integer) and is_number(kind)


def is_row(kind: type) -> bool:
    """Check whether a type is an ordered sequence."""
    is_sequence = issubclass(kind, list | tuple | range | memoryview) or kind.__module__ == "array"
    is_array = hasattr(kind, "__array__") or hasattr(kind, "__dlpack__")
    return is_sequence or (is_array and not issubclass(kind, np.generic))


def is_column(value: object) -> bool:
    """Check by its attributes whether a value is a column, or a table, of a data frame library."""
    # pandas arrays have nothing else that arrays of other libraries lack.
    names = ("to_frame", "isna", "__arrow_c_array__", "__arrow_c_stream__")
    return any(hasattr(value, name) for name in names)


def is_judged(grades: Doubles) -> bool:
    """Check whether any grade is known."""
    return len(grades) > 0 and not (np.isnan(grades[0]) and np.isnan(grades).all())


def widen_scale(scale: Scale | None, grades: Array) -> Scale | None:
    """Return the lowest and the highest grade of a scale and of more grades, NaN where unknown."""
    if not is_judged(grades):
        return scale
    ends = [*(scale or ()), float(np.fmin.reduce(grades)), float(np.fmax.reduce(grades))]
    return min(ends), max(ends)


def no_judgments(file: str | None) -> EmptyError:
    """Return the error for rows without any judged document, or for no rows."""
    hint = "give each query at least the grades that are known"
    return EmptyError("expected judgments, found none", hint=hint, code="empty_input", file=file)


def count_offsets(lengths: Array) -> Offsets:
    """Return the offsets of concatenated lists of given lengths."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
