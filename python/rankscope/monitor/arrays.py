"""Turns arrays of Arrow into arrays of NumPy and back, without a Python object for a row.

Buffers are shared where Arrow's layout is the one that chunks of rankings have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rankscope._inputs.columns import fill_texts, join, to_array
from rankscope.errors import FormatError

Foreign: TypeAlias = Any  # of PyArrow, which has no types
Texts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint8]]
"""The offsets of texts, from 0, and the texts in UTF-8, end to end."""


def read_texts(column: Foreign, name: str) -> Texts:
    """Read ids or other texts: the offsets of the texts, and the texts in UTF-8, end to end.

    A whole number becomes its digits, and a missing text an empty one. Dictionaries are resolved.
    """
    array = join(column)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if not (_is_text(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        raise FormatError(
            f"expected text or whole numbers in {name}, found {array.type}",
            hint="convert the column to text",
            code="id_type",
            file=name,
        )
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.type != pa.large_string():
        array = array.cast(pa.large_string())
    if array.null_count:
        array = fill_texts(array, "")
    if not len(array):
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    _, starts, text = array.buffers()
    offsets = np.frombuffer(starts, np.int64)[array.offset : array.offset + len(array) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    whole = np.frombuffer(text, np.uint8) if text is not None else np.zeros(0, dtype=np.uint8)
    return offsets - first if first else offsets, whole[first:last]


def write_texts(column: Texts) -> Foreign:
    """Return a column of texts as an array of Arrow, without a copy."""
    starts, text = column
    return pa.LargeStringArray.from_buffers(
        len(starts) - 1, pa.py_buffer(starts), pa.py_buffer(text)
    )


def take_texts(column: Texts, places: NDArray[np.int64]) -> Texts:
    """Return the texts at some places."""
    return read_texts(write_texts(column).take(pa.array(places)), "texts")


def find_texts(column: Texts, wanted: Sequence[str]) -> NDArray[np.bool_]:
    """Return which texts of a column are among some."""
    found = pc.is_in(write_texts(column), pa.array(list(wanted), pa.large_string()))
    return to_array(found)


def to_micros(column: Foreign) -> Foreign:
    """Return timestamps in microseconds; those that don't fit are as far as microseconds go."""
    unit = column.type.unit
    zone = column.type.tz and "UTC"
    kind = pa.timestamp("us", zone)
    try:
        return column.cast(kind, safe=unit != "ns")
    except pa.ArrowInvalid:
        most = np.iinfo(np.int64).max // (1_000_000 if unit == "s" else 1000)
        near = pc.min_element_wise(column.cast(pa.int64()), most, skip_nulls=False)
        near = pc.max_element_wise(near, -most, skip_nulls=False)
        return near.cast(pa.timestamp(unit, zone)).cast(kind)


def to_python(column: Foreign) -> list[Any]:
    """Return the values of an array as Python objects, as `see_value` does each."""
    try:
        return list(column.to_pylist())
    except (ArithmeticError, LookupError, ValueError):
        return list(map(see_value, column))


def see_value(value: Foreign) -> object:
    """Return a value of Arrow; what Python has no type for as one that no reader takes.

    Text that isn't UTF-8 is bytes. A time beyond the years 1 to 9999 is one of NumPy.
    """
    try:
        return value.as_py()
    except (ArithmeticError, LookupError, ValueError):
        if isinstance(value, pa.StructScalar):
            return {name: see_value(part) for name, part in value.items()}
        if isinstance(value, pa.MapScalar):
            return [tuple(map(see_value, pair.values())) for pair in value.values]
        if isinstance(value, pa.ListScalar):
            return to_python(value.values)
        if isinstance(value, pa.TimestampScalar):
            return np.datetime64(value.value, value.type.unit)
        return value.cast(pa.string()).cast(pa.binary()).as_py()


def write_numbers(column: NDArray[np.float64]) -> Foreign:
    """Return numbers as an array of Arrow that has no value where a number is NaN."""
    return pa.array(column, from_pandas=True)


def write_times(column: NDArray[np.int64]) -> Foreign:
    """Return times as an array of Arrow, in UTC."""
    return pa.array(column).cast(pa.timestamp("us", "UTC"))


MOST_COUNTED = 10_000
"""Codes up to this, and up to four for each row, are counted rather than sorted."""


def number_codes(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different codes, ascending, and the place of each."""
    least = int(codes.min()) if len(codes) else 0
    width = int(codes.max()) - least + 1 if len(codes) else 0
    if width > MOST_COUNTED + 4 * len(codes):
        return np.unique(codes, return_inverse=True)
    # Counting takes a tenth of the time of sorting.
    is_used = np.bincount(codes - least, minlength=width) > 0
    used = np.flatnonzero(is_used) + least
    return used, (np.cumsum(is_used) - 1)[codes - least]


def _is_text(kind: Foreign) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )
