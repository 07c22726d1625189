"""The columns of any library as arrays of Arrow, and these as IDs, numbers and values."""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.arrow import check_whole, fill_nulls, fill_texts, join, of_array, to_array
from rankscope._inputs.doubles import bad_shape, code_of, inexact, not_numbers
from rankscope._inputs.numbers import see_array, to_numbers
from rankscope.deferred import pa, pc
from rankscope.errors import FormatError
from rankscope.output.ids import MISSING, UUIDS

if TYPE_CHECKING:
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


def as_arrow(column: Foreign, name: str) -> Foreign:
    """Return a column of any library as one valid array of Arrow, of a plain type."""
    try:
        values = join(_export(column, name))
    except FormatError as error:
        if error.code == "not_numeric":
            error.code, error.file = "column_type", None
        raise
    except (pa.ArrowException, *FAILURES) as error:
        raise _explain(column, name, error) from error
    if values is not column or not isinstance(column, pa.Array | pa.ChunkedArray):
        check_whole(values, name)
    return decode(values)


def _export(column: Foreign, name: str) -> Foreign:
    """Convert a column with PyArrow, or as the library of the column does it."""
    library = type(column).__module__.partition(".")[0]
    if isinstance(column, pa.Array | pa.ChunkedArray):
        check_whole(column, name)
        return column
    cells = list_cells(column)
    if cells is not None:
        return _of_cells(cells)
    if library == "polars":
        # Polars makes texts of its views faster than PyArrow checks and copies them.
        is_view = str(column.dtype) == "String"
        return pa.chunked_array(column, type=pa.large_string() if is_view else None)
    dtype = getattr(column, "dtype", None)
    if library == "pandas" and not isinstance(dtype, np.dtype):
        if type(dtype).__name__ != "SparseDtype":
            return pa.array(getattr(column, "array", column), from_pandas=True)
    elif not isinstance(dtype, np.dtype) and hasattr(column, "__arrow_c_stream__"):
        return pa.chunked_array(column)
    elif not isinstance(dtype, np.dtype) and hasattr(column, "__arrow_c_array__"):
        return pa.array(column)
    return _of_numpy(see_array(np.asarray(column) if library == "pandas" else column, name), name)


def _of_cells(cells: list[Any]) -> Foreign:
    """Convert objects of Python, which have one type."""
    kinds = {kind.__name__ for kind in map(type, cells)}
    if {"str", "bytes"} <= kinds:
        raise TypeError("expected texts or bytes, found both")
    if "Timestamp" in kinds:  # whose nanoseconds PyArrow drops
        return pa.array(sys.modules["pandas"].Series(cells))
    return pa.array(cells, from_pandas=True)


def _of_numpy(array: NDArray[Any], name: str) -> Foreign:
    if array.ndim != 1:
        raise bad_shape(name, (1,), array.shape)
    mask = np.ma.getmaskarray(array) if np.ma.isMaskedArray(array) else None
    array = np.ma.getdata(array)
    kind = array.dtype.kind
    if kind in "OT":
        return pa.array(array.tolist(), from_pandas=True)
    if kind in "fiu" and array.dtype.itemsize <= 8:
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        return of_array(native) if mask is None else pa.array(native, mask=mask)
    if kind in "bUM":
        return pa.array(array, mask=mask)
    return of_array(to_numbers(array, name, (1,)))


def _explain(column: Foreign, name: str, error: Exception) -> FormatError:
    """Say what PyArrow couldn't convert, with the first row that it can't."""
    kind = str(getattr(column, "dtype", type(column).__name__))
    wrong = FormatError(
        f"expected one kind of values in {name}, found {kind} ({str(error).splitlines()[0]:.160})",
        hint="IDs are text, integers, UUIDs, dates, times, decimals or bytes; numbers are numbers",
        code="column_type",
    )
    values = list_cells(column)
    if values is not None:
        row = bisect_left(range(1, len(values) + 1), 1, key=lambda end: _is_refused(values[:end]))
        if row < len(values):
            wrong.line = row + 1
            wrong.message = f"{wrong.message}: {values[row]!r:.120}"
        if isinstance(error, UnicodeEncodeError):
            wrong.code, wrong.hint = "surrogate", "it is half of a character: decode the text again"
    return wrong


def _is_refused(values: list[Any]) -> bool:
    try:
        _of_cells(values)
    except (pa.ArrowException, *FAILURES):
        return True
    return False


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
    try:
        return ids_of(as_arrow(column, name), name)
    except FormatError as error:
        error.code = "id_type" if error.code == "column_type" else error.code
        raise


def ids_of(values: Foreign, name: str) -> IdColumn:
    """Return the IDs in an array."""
    if values.null_count:
        raise FormatError(
            f"expected an ID in every row of {name}, found none",
            hint="drop the rows without one",
            code="missing_id",
            line=values.is_null().index(True).as_py() + 1,
        )
    values = spell_ids(values, name) if len(values) else pa.array([], pa.int64())
    if not pa.types.is_integer(values.type):
        return _texts_of(values)
    numbers = to_array(values)
    if numbers.dtype == np.uint64 and (is_large := numbers > np.iinfo(np.int64).max).any():
        error = _bad_ids(name, "an integer beyond 64 bits")
        error.hint, error.line = "turn such IDs into text", int(np.argmax(is_large)) + 1
        raise error
    return np.ascontiguousarray(numbers, dtype=np.int64)


def spell_ids(values: Foreign, name: str) -> Foreign:
    """Return IDs as integers or texts.

    Dates and times are written as in ISO 8601, times with a zone in UTC, and fractions without
    zeros at the end. Equal decimals are one ID: `1.50` is `1.5`, and `2.00` is `2`.
    """
    types, kind = pa.types, values.type
    if types.is_integer(kind) or types.is_string(kind) or types.is_large_string(kind):
        return values
    if types.is_null(kind):
        return values.cast(pa.string())
    if types.is_date(kind):
        return values.cast(pa.date32()).cast(pa.string())
    if types.is_decimal(kind):
        texts = values.cast(pa.string())
        return _trim(texts) if kind.scale > 0 else texts
    if types.is_timestamp(kind):
        moments = fill_nulls(values.cast(pa.int64()), 0).view(f"datetime64[{kind.unit}]")
        spelled = np.datetime_as_string(moments).astype(object)
        texts = pa.array(spelled, pa.string(), mask=to_array(values.is_null()))
        texts = texts if kind.unit == "s" else _trim(texts)
        return texts if kind.tz is None else pc.binary_join_element_wise(texts, "Z", "")
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return _read_utf8(values.cast(pa.large_binary()), name)
    if is_list(kind):
        raise _lists_in_rows(name, "an ID", "id_type")
    error = _bad_ids(name, str(kind))
    error.line = 1 if types.is_boolean(kind) or types.is_floating(kind) else None
    raise error


def _trim(texts: Foreign) -> Foreign:
    """Remove zeros at the end of fractions, which all of the texts have."""
    return pc.utf8_rtrim(pc.utf8_rtrim(texts, characters="0"), characters=".")


def _read_utf8(values: Foreign, name: str) -> Foreign:
    try:
        return values.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        row = bisect_left(
            range(1, len(values) + 1), 1, key=lambda end: not _is_utf8(values.slice(0, end))
        )
        raise FormatError(
            f"expected {name} in UTF-8, found {values[row].as_py()!r:.120}",
            hint="decode the column first, or turn IDs into text",
            code="encoding",
            line=row + 1,
        ) from error


def _is_utf8(values: Foreign) -> bool:
    try:
        values.cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


def _texts_of(values: Foreign) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Return the buffers of an array of texts, whose offsets have 32 or 64 bits."""
    _, offsets, texts = values.buffers()
    width = np.int64 if pa.types.is_large_string(values.type) else np.int32
    starts = np.frombuffer(offsets or bytes(8), dtype=width)[values.offset :][: len(values) + 1]
    return starts, np.frombuffer(texts or b"", dtype=np.uint8)


def holds_uuids(column: Foreign) -> bool:
    """Check whether a column of any library holds UUIDs."""
    first = next((cell for cell in list_cells(column) or () if not is_null(cell)), None)
    return is_uuid_type(getattr(column, "type", None)) or type(first).__name__ == "UUID"


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
    try:
        values = as_arrow(column, name)
    except FormatError as error:
        error.code = "attribute_type" if error.code == "column_type" else error.code
        raise
    types, kind = pa.types, values.type
    if types.is_integer(kind) and kind != pa.uint64() and not values.null_count:
        return np.ascontiguousarray(to_array(values), dtype=np.int64), str(kind)
    try:
        texts = _texts_of(fill_texts(values.cast(pa.large_string()), MISSING))
    except (pa.ArrowException, *FAILURES) as error:
        raise FormatError(
            f"expected {name} to hold texts, numbers, dates or truth values, found {kind}",
            hint="convert the column to text first",
            code="attribute_type",
        ) from error
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
        is_missing = np.array([is_null_type(type(cell)) for cell in cells], dtype=bool)
        if is_missing.any() and not allows_null:
            raise _no_number(name, role, int(np.argmax(is_missing)))
        numbers = np.full(len(cells), np.nan)
        present = [cell for cell in cells if not is_null_type(type(cell))]
        numbers[~is_missing] = to_numbers(present, name, (1,), are_grades=role == "relevance")
    except FormatError as error:
        if error.code == "array_shape" and cells is not None:
            raise _lists_in_rows(name, "a number", code_of("text", role)) from error
        is_other = error.code in {"column_type", "not_numeric", "array_shape"}
        error.code, error.file = code_of("text", role) if is_other else error.code, None
        raise
    return numbers


def numbers_of(
    values: Foreign, name: str, role: str, *, allows_null: bool = False
) -> NDArray[np.float64]:
    """Return the numbers in an array, NaN where there is none."""
    values = to_doubles(values, name, role)
    if values.null_count and not allows_null:
        raise _no_number(name, role, values.is_null().index(True).as_py())
    return fill_nulls(values, np.nan) if len(values) else np.zeros(0)


def _no_number(name: str, role: str, row: int) -> FormatError:
    return FormatError(
        f"expected a number in every row of {name}, found none",
        hint="drop the rows without one",
        code=code_of("missing", role),
        line=row + 1,
    )


def to_doubles(values: Foreign, name: str, role: str) -> Foreign:
    """Convert an array of numbers, or grades that are truth values, to double precision."""
    types, kind = pa.types, values.type
    if types.is_floating(kind) or types.is_null(kind):
        return values.cast(pa.float64())
    if types.is_boolean(kind) and role == "relevance":
        return values.cast(pa.int8()).cast(pa.float64())
    if types.is_decimal(kind) and kind.precision > DIGITS:
        numbers = read_numbers(values.to_pylist(), name, role, allows_null=True)
        return pc.if_else(values.is_valid(), of_array(numbers), None)
    if types.is_decimal(kind):
        # By text, for the direct way doesn't give the nearest double.
        return values.cast(pa.string()).cast(pa.float64())
    if is_list(kind):
        raise _lists_in_rows(name, "a number", code_of("text", role))
    if not types.is_integer(kind):
        error = not_numbers(name, str(kind))
        error.code, error.file = code_of("text", role), None
        raise error
    try:
        return values.cast(pa.float64())
    except pa.ArrowInvalid:
        # Arrow refuses all integers beyond 2^53, also those that a double holds.
        for row, value in enumerate(values.to_pylist()):
            if value is not None and int(float(value)) != value:
                raise inexact(name, str(value), (row,)) from None
        return values.cast(pa.float64(), safe=False)


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


def _bad_ids(name: str, found: str) -> FormatError:
    return FormatError(
        f"expected {name} to hold text or integers, found {found}",
        hint="IDs are text, integers, UUIDs, dates, times, decimals or bytes: .astype(str) makes "
        "text, .astype('Int64') integers of whole numbers that became floats",
        code="id_type",
    )


def _lists_in_rows(name: str, wanted: str, code: str) -> FormatError:
    return FormatError(
        f"expected {wanted} in each row of {name}, found a list",
        hint=f"write one row per document: df.explode([{name!r}, …]) with all columns of lists. "
        "Ranked lists without scores can be a mapping: dict(zip(df['query'], df['items']))",
        code=code,
    )
