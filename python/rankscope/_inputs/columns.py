"""The columns of any library as arrays of Arrow, and these as IDs, numbers and values."""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.arrow import check_whole, fill_nulls, fill_texts, join, of_array, to_array
from rankscope._inputs.doubles import HINTS, bad_shape, code_of, refuse
from rankscope._inputs.doubles import to_doubles as numbers_of_numpy
from rankscope._inputs.numbers import see_array, to_numbers
from rankscope.deferred import pa, pc
from rankscope.errors import FormatError
from rankscope.output.ids import MISSING, UUIDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    Foreign: TypeAlias = Any  # a column of another library, or an array of PyArrow
    IdColumn: TypeAlias = NDArray[Any] | tuple[NDArray[Any], NDArray[np.uint8]]
    """Integers, or the offsets of texts and the texts end to end."""

INTEGER_TYPES = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
FAILURES = (TypeError, ValueError, OverflowError, NotImplementedError)
"""What PyArrow, beside its own exceptions, and the library of a column raise at odd values."""
DIGITS = 15
"""Each decimal of so many digits is that of one double."""
HYPHENS = [8, 12, 16, 20]
"""Where the hyphens of a UUID stand between its 32 digits."""


def as_arrow(column: Foreign, name: str, code: str = "column_type") -> Foreign:
    """Return a column of any library as one valid array of Arrow, of a plain type.

    The code is that of the error for a column that Arrow has no type for.
    """
    try:
        values = _export(column, name)
        check_whole(values, name)
        return decode(join(values))
    except FormatError as error:
        if error.code == "not_numeric":
            error.code, error.file = code, None
        raise
    except (pa.ArrowException, *FAILURES) as error:
        raise _explain(column, name, code, error) from error


def _export(column: Foreign, name: str) -> Foreign:
    """Convert a column with PyArrow, or as the library of the column does it."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    cells = list_cells(column)
    if cells is not None:
        return _of_cells(cells)
    dtype = getattr(column, "dtype", None)
    if not isinstance(dtype, np.dtype) and type(dtype).__name__ != "SparseDtype":
        if type(column).__module__.partition(".")[0] == "pandas":
            return pa.array(getattr(column, "array", column), from_pandas=True)
        if hasattr(column, "__arrow_c_stream__"):
            # Polars makes texts of its views faster than PyArrow checks and copies them.
            is_view = str(dtype) == "String"
            return pa.chunked_array(column, type=pa.large_string() if is_view else None)
        if hasattr(column, "__arrow_c_array__"):
            return pa.array(column)
    return _of_numpy(see_array(column, name), name)


def _of_cells(cells: list[Any]) -> Foreign:
    """Convert objects of Python, which have one type."""
    kinds = {kind.__name__ for kind in map(type, cells)}
    if {"str", "bytes"} <= kinds:
        raise TypeError("expected texts or bytes, found both")
    if "Timestamp" in kinds:  # whose nanoseconds PyArrow drops
        return pa.array(sys.modules["pandas"].Series(cells))
    return pa.array(cells, from_pandas=True)


def _of_numpy(values: NDArray[Any], name: str) -> Foreign:
    if values.ndim != 1:
        raise bad_shape(name, (1,), values.shape)
    array, mask, kind = np.ma.getdata(values), np.ma.getmask(values), values.dtype.kind
    if kind in "OT":
        return pa.array(array.tolist(), from_pandas=True)
    if kind not in "fiubUM" or (kind == "f" and array.dtype.itemsize > 8):
        array = numbers_of_numpy(values, name)
    array = np.require(array, array.dtype.newbyteorder("="), ["C", "A", "E"])
    if kind in "fiu" and not mask.any():
        return of_array(array)
    return pa.array(array, mask=None if mask is np.ma.nomask else mask)


def _explain(column: Foreign, name: str, code: str, error: Exception) -> FormatError:
    """Say what PyArrow couldn't convert, with the first row that it can't."""
    kind = str(getattr(column, "dtype", type(column).__name__))
    reason = str(error).splitlines()[0]
    message = f"expected one kind of values in {name}, found {kind} ({reason:.160})"
    cells = list_cells(column) or []
    row = _find_first(lambda end: _of_cells(cells[:end]), len(cells))
    if row < len(cells):
        message += f": {cells[row]!r:.120}"
    code = "surrogate" if isinstance(error, UnicodeEncodeError) else code
    return refuse(code, None, message, [row] if row < len(cells) else [])


def _find_first(convert: Callable[[int], object], count: int) -> int:
    """Return the first row that can't be converted, with those before it; the count if all can."""

    def is_refused(end: int) -> bool:
        try:
            convert(end)
        except (pa.ArrowException, *FAILURES):
            return True
        return False

    return bisect_left(range(1, count + 1), True, key=is_refused)


def simplify(values: Foreign) -> Foreign:
    """Decode dictionaries, runs, views and UUIDs."""
    kind = values.type
    if is_uuid_type(kind):
        return _spell_uuids(values)
    if isinstance(kind, pa.BaseExtensionType):
        return simplify(values.storage)
    if pa.types.is_run_end_encoded(kind):
        return simplify(pc.run_end_decode(values))
    if pa.types.is_dictionary(kind):
        return simplify(values.dictionary).take(values.indices)
    if pa.types.is_string_view(kind):
        return values.cast(pa.large_string())
    if pa.types.is_binary_view(kind):
        return values.cast(pa.large_binary())
    return values


def decode(values: Foreign) -> Foreign:
    """Simplify an array, with 64-bit offsets for text and bytes."""
    values = simplify(values)
    if pa.types.is_string(values.type):
        return values.cast(pa.large_string())
    return values.cast(pa.large_binary()) if pa.types.is_binary(values.type) else values


def list_cells(column: Foreign) -> list[Any] | None:
    """Return the objects of a list or of a column of Python objects; `None` for other columns."""
    if isinstance(column, list | tuple | range):
        return list(column)
    is_of_objects = str(getattr(column, "dtype", "")) in {"object", "Object"}
    return (
        list(column.to_list() if hasattr(column, "to_list") else column) if is_of_objects else None
    )


def is_null(value: object) -> bool:
    """Check whether a Python object stands for a missing value."""
    # Those of pandas answer no question about themselves, so they are known by their types.
    return is_null_type(type(value)) or (isinstance(value, float) and math.isnan(value))


def is_null_type(kind: type) -> bool:
    """Check whether a type holds only missing values."""
    return kind.__name__ in {"NoneType", "NAType", "NaTType"}


def is_uuid_type(kind: Foreign) -> bool:
    """Check whether a type is Arrow's type of UUIDs."""
    return getattr(kind, "extension_name", "") == "arrow.uuid"


def _spell_uuids(values: Foreign) -> Foreign:
    """Return UUIDs as texts in their usual form, with hyphens."""
    stored, count = values.storage, len(values)
    octets = memoryview(stored.buffers()[1] or b"")[16 * stored.offset :][: 16 * count]
    digits = np.frombuffer(octets.hex().encode(), np.uint8).reshape(count, 32)
    texts = np.insert(digits, HYPHENS, ord("-"), axis=1)
    ends = np.arange(count + 1, dtype=np.int64) * 36
    spelled = pa.LargeStringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(texts))
    return pc.if_else(stored.is_valid(), spelled, pa.nulls(1, pa.large_string())[0])


def read_ids(column: Foreign, name: str) -> IdColumn:
    """Read a column of IDs: integers, or whatever has a text of its own."""
    return ids_of(as_arrow(column, name, "id_type"), name)


def ids_of(values: Foreign, name: str) -> IdColumn:
    """Return the IDs in an array."""
    if values.null_count:
        message = f"expected an ID in every row of {name}, found none"
        raise refuse("missing_id", None, message, [values.is_null().index(True).as_py()])
    values = spell_ids(values, name) if len(values) else pa.array([], pa.int64())
    if not pa.types.is_integer(values.type):
        return _texts_of(values)
    numbers = to_array(values)
    if numbers.dtype == np.uint64 and (is_large := numbers > np.iinfo(np.int64).max).any():
        raise _bad_ids(name, "an integer beyond 64 bits", [np.argmax(is_large)])
    return np.ascontiguousarray(numbers, dtype=np.int64)


def spell_ids(values: Foreign, name: str) -> Foreign:
    """Return IDs as integers or texts.

    Dates and times are written as in ISO 8601, times with a zone in UTC, and fractions without
    zeros at the end. Equal decimals are one ID: `1.50` is `1.5`, and `2.00` is `2`.
    """
    types, kind = pa.types, values.type
    if types.is_integer(kind) or types.is_string(kind) or types.is_large_string(kind):
        return values
    if types.is_null(kind) or types.is_date(kind):
        return values.cast(pa.date32()).cast(pa.string())
    if types.is_decimal(kind):
        return _trim(values.cast(pa.string()))
    if types.is_timestamp(kind):
        moments = fill_nulls(values.cast(pa.int64()), 0).view(f"datetime64[{kind.unit}]")
        texts = _trim(pa.array(np.datetime_as_string(moments).tolist(), pa.string()))
        return texts if kind.tz is None else pc.binary_join_element_wise(texts, "Z", "")
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return _read_utf8(values.cast(pa.large_binary()), name)
    if is_list(kind):
        raise _lists_in_rows(name, "an ID", "id_type")
    place: list[Any] = [0] if types.is_boolean(kind) else []
    if types.is_floating(kind) and len(values):
        numbers = to_array(values.cast(pa.float64()))
        place = [np.argmax(numbers != np.floor(numbers))]
    raise _bad_ids(name, str(kind), place)


def _trim(texts: Foreign) -> Foreign:
    """Remove zeros at the end of fractions."""
    return pc.replace_substring_regex(texts, r"\.0*$|(\.\d*[1-9])0+$", r"\1")


def _read_utf8(values: Foreign, name: str) -> Foreign:
    try:
        return values.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        row = _find_first(lambda end: values[:end].cast(pa.large_string()), len(values))
        message = f"expected {name} in UTF-8, found {values[row].as_py()!r:.120}"
        raise refuse("encoding", None, message, [row]) from error


def _texts_of(values: Foreign) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Return the buffers of an array of texts, whose offsets have 32 or 64 bits."""
    _, offsets, texts = values.buffers()
    width = np.int64 if pa.types.is_large_string(values.type) else np.int32
    starts = np.frombuffer(offsets or bytes(8), dtype=width)[values.offset :][: len(values) + 1]
    return starts, np.frombuffer(texts or b"", dtype=np.uint8)


def id_type(column: Foreign) -> str:
    """Return the type of a column of IDs as `output.ids.IdColumn` does: nothing for text."""
    # NumPy, pandas, Polars and Arrow have the same names for integers but for their case.
    declared = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if declared in INTEGER_TYPES:
        return declared
    first = next((cell for cell in list_cells(column) or () if not is_null(cell)), None)
    if is_uuid_type(getattr(column, "type", None)) or type(first).__name__ == "UUID":
        return UUIDS
    with suppress(FormatError):
        ids = read_ids(column, "")
        return "int64" if isinstance(ids, np.ndarray) and len(ids) else ""
    return ""


def name_id_type(kind: Foreign) -> str:
    """Return what a type of Arrow is called in `output.ids.IdColumn`: nothing for text."""
    if is_uuid_type(kind):
        return UUIDS
    name = str(getattr(kind, "value_type", kind))
    return name if name in INTEGER_TYPES else ""


def count_ids(column: IdColumn) -> int:
    """Return the number of IDs in a column."""
    return len(column[0]) - 1 if isinstance(column, tuple) else len(column)


def to_arrow(ids: IdColumn) -> Foreign:
    """Return IDs as an Arrow array of texts, or of integers."""
    if isinstance(ids, np.ndarray):
        return of_array(ids)
    offsets, texts = (pa.py_buffer(np.ascontiguousarray(part)) for part in ids)
    is_wide = ids[0].dtype == np.int64
    kind = pa.LargeStringArray if is_wide else pa.StringArray
    return kind.from_buffers(count_ids(ids), offsets, texts)


def list_texts(ids: IdColumn) -> list[str]:
    """Return IDs or values as text."""
    texts: list[str] = to_arrow(ids).cast(pa.large_string()).to_pylist()
    return texts


def read_typed_values(column: Foreign, name: str) -> tuple[IdColumn, str]:
    """Read any values as text or integers, null as one of them, and name their type.

    It is named as `AttributeColumn` does.
    """
    values = as_arrow(column, name, "attribute_type")
    types, kind = pa.types, values.type
    if types.is_integer(kind) and kind != pa.uint64() and not values.null_count:
        return np.ascontiguousarray(to_array(values), dtype=np.int64), str(kind)
    try:
        texts = _texts_of(fill_texts(values.cast(pa.large_string()), MISSING))
    except (pa.ArrowException, *FAILURES) as error:
        message = f"expected {name} to hold texts, numbers, dates or truth values, found {kind}"
        raise refuse("attribute_type", None, message) from error
    if types.is_integer(kind) or types.is_boolean(kind):
        return texts, str(kind)
    if types.is_floating(kind):
        return texts, "float64"
    return texts, "date" if types.is_date(kind) else "datetime" * types.is_timestamp(kind)


def read_numbers(
    column: Foreign, name: str, role: str, *, allows_null: bool = False
) -> NDArray[np.float64]:
    """Read a column of numbers that doubles hold exactly, or of truth values as grades."""
    cells = list_cells(column)
    try:
        if cells is None:
            return numbers_of(as_arrow(column, name), name, role, allows_null=allows_null)
        # Python has numbers that Arrow hasn't, such as integers of any size.
        is_missing = [is_null_type(type(cell)) for cell in cells]
        if True in is_missing and not allows_null:
            raise _no_number(name, role, is_missing.index(True))
        cells = [np.nan if is_null_type(type(cell)) else cell for cell in cells]
        return to_numbers(cells, name, (1,), are_grades=role == "relevance")
    except FormatError as error:
        if error.code == "array_shape" and cells is not None:
            raise _lists_in_rows(name, "a number", code_of("text", role)) from error
        if error.code in {"column_type", "not_numeric", "array_shape"}:
            error.code = code_of("text", role)
        error.file = None
        raise


def numbers_of(
    values: Foreign, name: str, role: str, *, allows_null: bool = False
) -> NDArray[np.float64]:
    """Return the numbers in an array, NaN where there is none."""
    values = to_doubles(values, name, role)
    if values.null_count and not allows_null:
        raise _no_number(name, role, values.is_null().index(True).as_py())
    return fill_nulls(values, np.nan)


def _no_number(name: str, role: str, row: int) -> FormatError:
    message, hint = f"expected a number in every row of {name}, found none", HINTS["missing_id"]
    return refuse(code_of("missing", role), None, message, [row], hint=hint)


def to_doubles(values: Foreign, name: str, role: str) -> Foreign:
    """Convert an array of numbers, or grades that are truth values, to double precision."""
    types, kind = pa.types, values.type
    if types.is_floating(kind) or types.is_null(kind):
        return values.cast(pa.float64())
    if types.is_boolean(kind) and role == "relevance":
        return values.cast(pa.int8()).cast(pa.float64())
    if types.is_integer(kind):
        with suppress(pa.ArrowInvalid):  # for any beyond 2^53, also those that a double holds
            return values.cast(pa.float64())
    elif types.is_decimal(kind) and kind.precision <= DIGITS:
        # By text, for the direct way doesn't give the nearest double.
        return values.cast(pa.string()).cast(pa.float64())
    elif is_list(kind):
        raise _lists_in_rows(name, "a number", code_of("text", role))
    elif not types.is_decimal(kind):
        message, hint = f"expected {name} as numbers, found {kind}", HINTS["not_numeric"]
        raise refuse(code_of("text", role), None, message, hint=hint)
    numbers = read_numbers(values.to_pylist(), name, role, allows_null=True)
    return pc.if_else(values.is_valid(), of_array(numbers), None)


def is_list(kind: Foreign) -> bool:
    """Check whether a type is a list type."""
    forms = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    return any(getattr(pa.types, f"is_{form}")(kind) for form in forms)


def are_finite(column: Foreign) -> bool:
    """Check whether no number of an array, also in lists and objects, is NaN or infinite."""
    kind = column.type
    if is_list(kind):
        return are_finite(pc.list_flatten(column))
    if pa.types.is_struct(kind):
        return all(are_finite(pc.struct_field(column, at)) for at in range(kind.num_fields))
    return not pa.types.is_floating(kind) or pc.all(pc.is_finite(column)).as_py() is not False


def _bad_ids(name: str, found: str, at: Sequence[Any]) -> FormatError:
    message = f"expected {name} to hold text or integers, found {found}"
    return refuse("id_type", None, message, at)


def _lists_in_rows(name: str, wanted: str, code: str) -> FormatError:
    message = f"expected {wanted} in each row of {name}, found a list"
    hint = (
        f"write one row per document: df.explode([{name!r}, …]) with all columns of lists. Ranked "
        "lists without scores can be a mapping: dict(zip(df['query'], df['items']))"
    )
    return refuse(code, None, message, hint=hint)
