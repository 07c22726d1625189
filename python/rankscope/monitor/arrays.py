"""Turns arrays of Arrow into arrays of NumPy and back, without a Python object for a row.

Buffers are shared where Arrow's layout is the one that chunks of rankings have.
"""

from __future__ import annotations

from functools import lru_cache

from rankscope.deferred import np
from rankscope.errors import FormatError
from rankscope.inputs.arrow import check_whole, fill_nulls, fill_texts, join, load_arrow, to_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    Foreign: TypeAlias = Any  # of PyArrow, which has no types
    Texts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint8]]
    """The offsets of texts, from 0, and the texts in UTF-8, end to end."""


def read_texts(column: Foreign, name: str) -> Texts:
    """Read ids or other texts: the offsets of the texts, and the texts in UTF-8, end to end.

    A whole number becomes its digits, and a missing text an empty one. Dictionaries are resolved.
    """
    pa = load_arrow()
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
    pa = load_arrow()
    starts, text = column
    return pa.LargeStringArray.from_buffers(
        len(starts) - 1, pa.py_buffer(starts), pa.py_buffer(text)
    )


def take_texts(column: Texts, places: NDArray[np.int64]) -> Texts:
    """Return the texts at some places."""
    return read_texts(write_texts(column).take(load_arrow().array(places)), "texts")


def find_texts(column: Texts, wanted: Sequence[str]) -> NDArray[np.bool_]:
    """Return which texts of a column are among some."""
    pa, compute = load_arrow(), load_arrow("pyarrow.compute")
    found = compute.is_in(write_texts(column), pa.array(list(wanted), pa.large_string()))
    return to_array(found)


def read_integers(column: Foreign, name: str) -> NDArray[np.int64]:
    """Read whole numbers."""
    pa = load_arrow()
    array = join(column)
    kind = array.type
    if not pa.types.is_integer(kind) or array.null_count:
        found = "missing values" if array.null_count else str(kind)
        raise FormatError(
            f"expected whole numbers in {name}, found {found}", code="input_type", file=name
        )
    return to_array(array.cast(pa.int64()))


def read_numbers(column: Foreign, name: str) -> NDArray[np.float64]:
    """Read numbers, with NaN where one is missing."""
    pa = load_arrow()
    array = join(column)
    kind = array.type
    is_number = pa.types.is_floating(kind) or pa.types.is_integer(kind)
    if not (is_number or pa.types.is_null(kind)):
        raise FormatError(f"expected numbers in {name}, found {kind}", code="input_type", file=name)
    array = array.cast(pa.float64())
    return fill_nulls(array, np.nan)


def to_micros(column: Foreign) -> Foreign:
    """Return timestamps in microseconds; those that don't fit are as far as microseconds go."""
    pa, unit = load_arrow(), column.type.unit
    zone = column.type.tz and "UTC"
    kind = pa.timestamp("us", zone)
    try:
        return column.cast(kind, safe=unit != "ns")
    except pa.ArrowInvalid:
        compute = load_arrow("pyarrow.compute")
        most = np.iinfo(np.int64).max // (1_000_000 if unit == "s" else 1000)
        near = compute.min_element_wise(column.cast(pa.int64()), most, skip_nulls=False)
        near = compute.max_element_wise(near, -most, skip_nulls=False)
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
    pa = load_arrow()
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
    return load_arrow().array(column, from_pandas=True)


def read_times(column: Foreign, name: str) -> NDArray[np.int64]:
    """Read times, in microseconds since 1970."""
    pa = load_arrow()
    array = join(column)
    kind = array.type
    if not pa.types.is_timestamp(kind) or array.null_count:
        found = "missing times" if array.null_count else str(kind)
        raise FormatError(f"expected times in {name}, found {found}", code="time_format", file=name)
    if kind.tz is None:
        raise FormatError(
            f"expected a time zone in {name}, found {kind}",
            hint="convert the column to times in UTC",
            code="time_zone",
            file=name,
        )
    # The values are in UTC, whatever the zone; nanoseconds are cut off.
    return to_array(array.cast(pa.timestamp("us", kind.tz), safe=False).cast(pa.int64()))


def write_times(column: NDArray[np.int64]) -> Foreign:
    """Return times as an array of Arrow, in UTC."""
    pa = load_arrow()
    return pa.array(column).cast(pa.timestamp("us", "UTC"))


def read_lists(column: Foreign, name: str) -> tuple[NDArray[np.int64], Foreign]:
    """Read a column of lists: the offsets of the lists, and all their elements.

    A missing list is an empty one; a column of maps is one of lists of keys and items.
    """
    pa = load_arrow()
    types = pa.types
    array = join(column)
    if types.is_map(array.type):
        entry = [("key", array.type.key_type), ("value", array.type.item_type)]
        array = array.cast(pa.list_(pa.struct(entry)))
    kind = array.type
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        raise FormatError(f"expected lists in {name}, found {kind}", code="input_type", file=name)
    compute = load_arrow("pyarrow.compute")
    sizes = compute.list_value_length(array)
    offsets = np.zeros(len(array) + 1, dtype=np.int64)
    np.cumsum(fill_nulls(sizes, 0), out=offsets[1:])
    return offsets, array.flatten()


def repeat_nan(count: int) -> NDArray[np.float64]:
    """Return an array of NaN that is shared and cannot be written."""
    return _share_nan(_round_up(count))[:count]


def count_ranks(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions in their lists, from 1, of all elements of lists; it may be shared."""
    sizes, total = np.diff(offsets), int(offsets[-1])
    most = int(sizes.max(initial=0))
    if total == most * len(sizes):
        return _share_ranks(most, _round_up(total))[:total]
    return np.arange(1, total + 1) - np.repeat(offsets[:-1], sizes)


def _round_up(count: int) -> int:
    """Return the next power of 2, so that few different arrays are shared."""
    return 1 << max(count - 1, 0).bit_length()


@lru_cache(maxsize=2)
def _share_nan(count: int) -> NDArray[np.float64]:
    """Return NaN, over and over."""
    values = np.full(count, np.nan)
    values.flags.writeable = False
    return values


@lru_cache(maxsize=2)
def _share_ranks(length: int, total: int) -> NDArray[np.int64]:
    """Return positions in lists of one length, over and over."""
    ranks = np.arange(total, dtype=np.int64) % max(length, 1) + 1
    ranks.flags.writeable = False
    return ranks


def number_lists(
    offsets: NDArray[np.int64], codes: NDArray[np.int64]
) -> tuple[list[tuple[int, ...]], NDArray[np.int64]]:
    """Find the different ones among many lists of whole numbers."""
    sizes = np.diff(offsets)
    places = np.zeros(len(sizes), dtype=np.int64)
    lists: list[tuple[int, ...]] = []
    for size in np.unique(sizes).tolist():
        rows = np.flatnonzero(sizes == size)
        if not size:
            found, inverse = np.zeros((1, 0), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        elif size == 1:
            one, inverse = number_codes(codes[offsets[rows]])
            found = one[:, None]
        else:
            table = codes[offsets[rows][:, None] + np.arange(size)]
            found, inverse = np.unique(table, axis=0, return_inverse=True)
        places[rows] = inverse.reshape(-1) + len(lists)
        lists += map(tuple, found.tolist())
    return lists, places


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


def encode(column: Foreign, name: str) -> tuple[list[str], NDArray[np.int64]]:
    """Read texts of which there are few different ones: those, and the place of each among them.

    A missing text is an empty one.
    """
    pa = load_arrow()
    array = join(column)
    if pa.types.is_dictionary(array.type) and not _is_text(array.type.value_type):
        array = array.dictionary_decode()
    if not pa.types.is_dictionary(array.type):
        array = write_texts(read_texts(array, name)).dictionary_encode()
    words = [word or "" for word in array.dictionary.to_pylist()]
    codes = fill_nulls(array.indices.cast(pa.int64()), len(words))
    return ([*words, ""] if array.null_count else words), codes


def _is_text(kind: Foreign) -> bool:
    types = load_arrow().types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    )


def check_columns(table: Foreign, source: str) -> None:
    """Raise `FormatError` for a table whose offsets or indices point outside of its buffers."""
    for name, column in zip(table.schema.names, table.columns, strict=True):
        check_whole(column, f"{name} of {source}")
