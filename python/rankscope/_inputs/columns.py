"""The columns of any library as arrays of Arrow, and these as IDs, numbers and values."""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from rankscope._inputs.column_names import ID_ROLES, NUMBER_ROLES
from rankscope._inputs.numbers import (
    HINTS,
    Foreign,
    bad_shape,
    check_whole,
    code_of,
    refuse,
    see_array,
    to_numbers,
)
from rankscope._inputs.numbers import to_doubles as numbers_of_numpy
from rankscope._show.table import MISSING, UUIDS
from rankscope.errors import FormatError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope._inputs.numbers import Doubles

    IdColumn: TypeAlias = NDArray[Any] | tuple[NDArray[Any], NDArray[np.uint8]]


INTEGER_TYPES = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
# What PyArrow, beside its own exceptions, and the library of a column raise at odd values.
FAILURES = (TypeError, ValueError, OverflowError, NotImplementedError)


def join(column: Foreign) -> Foreign:
    """Return one array of a column that may be in pieces."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.combine_chunks() if column.num_chunks else pa.nulls(0, column.type)


# PyArrow's own ways to and from NumPy, and its `scalar` and `fill_null`, load pandas where it is
# installed. That takes longer than to import everything else.


def to_array(column: Foreign) -> NDArray[Any]:
    """Return the numbers or truth values of an array of Arrow, none of which is missing."""
    import numpy as np
    import pyarrow as pa

    joined = join(column)
    if pa.types.is_boolean(joined.type):
        return np.from_dlpack(joined.cast("uint8")).view(np.bool_)
    return np.from_dlpack(joined)


def fill_nulls(column: Foreign, value: float) -> NDArray[Any]:
    """Return the numbers of an array, with a value where one is missing."""
    import numpy as np
    import pyarrow.compute as pc

    array = join(column)
    if array.null_count:
        array = pc.coalesce(array, of_array(np.full(len(array), value)).cast(array.type))
    return to_array(array)


def fill_texts(texts: Foreign, text: str) -> Foreign:
    """Return large texts with another one where one is missing."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets = np.array([0, len(text.encode())], dtype=np.int64)
    buffers = pa.py_buffer(offsets), pa.py_buffer(text.encode())
    (filler,) = pa.LargeStringArray.from_buffers(1, *buffers)
    return pc.fill_null(texts, filler)


def of_array(numbers: NDArray[Any]) -> Foreign:
    """Return numbers as an array of Arrow, without a copy if they lie end to end."""
    import numpy as np
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, buffer])


def as_arrow(column: Foreign, name: str, code: str = "column_type") -> Foreign:
    """Return a column of any library as one valid array of Arrow, of a plain type.

    The code is that of the error for a column that Arrow has no type for.
    """
    import pyarrow as pa

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
    import numpy as np
    import pyarrow as pa

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
    import pyarrow as pa

    kinds = {kind.__name__ for kind in map(type, cells)}
    if {"str", "bytes"} <= kinds:
        raise TypeError("expected texts or bytes, found both")
    if "Timestamp" in kinds:  # whose nanoseconds PyArrow drops
        return pa.array(sys.modules["pandas"].Series(cells))
    try:
        return pa.array(cells, from_pandas=True)
    except OverflowError:  # integers of any size are IDs
        if kinds <= {"int", "NoneType"}:
            return pa.array([None if cell is None else str(cell) for cell in cells])
        raise


def _of_numpy(values: NDArray[Any], name: str) -> Foreign:
    import numpy as np
    import pyarrow as pa

    if values.ndim != 1:
        raise bad_shape(name, (1,), values.shape)
    array, mask, kind = np.ma.getdata(values), np.ma.getmask(values), values.dtype.kind
    if kind in "OT":
        return pa.array(array.tolist(), from_pandas=True)
    if kind not in "fiubUMS" or (kind == "f" and array.dtype.itemsize > 8):
        array = numbers_of_numpy(values, name)
    array = np.require(array, array.dtype.newbyteorder("="), ["C", "A", "E"])
    if kind in "fiu" and not mask.any():
        return of_array(array)
    return pa.array(array, mask=None if mask is np.ma.nomask else mask)


def _explain(column: Foreign, name: str, code: str, error: Exception) -> FormatError:
    """Say what PyArrow couldn't convert, with the first row that it can't."""
    kind, reason = getattr(column, "dtype", type(column).__name__), str(error).splitlines()[0]
    message = f"expected one kind of values in {name}, found {kind} ({reason:.160})"
    cells = list_cells(column) or []
    row = _find_first(lambda end: _of_cells(cells[:end]), len(cells))
    if row < len(cells):
        message += f": {cells[row]!r:.120}"
    code = "surrogate" if isinstance(error, UnicodeEncodeError) else code
    return refuse(code, "", message, range(row, len(cells))[:1])


def _find_first(convert: Callable[[int], object], count: int) -> int:
    """Return the first row that can't be converted, with those before it; the count if all can."""
    import pyarrow as pa

    def is_refused(end: int) -> bool:
        try:
            convert(end)
        except (pa.ArrowException, *FAILURES):
            return True
        return False

    return bisect_left(range(1, count + 1), True, key=is_refused)


def simplify(values: Foreign) -> Foreign:
    """Decode dictionaries, runs, views and UUIDs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if isinstance(kind, pa.BaseExtensionType):
        is_uuid = kind.extension_name == "arrow.uuid"
        return _spell_uuids(values) if is_uuid else simplify(values.storage)
    if pa.types.is_run_end_encoded(kind):
        return simplify(pc.run_end_decode(values))
    if pa.types.is_dictionary(kind):
        return simplify(values.dictionary).take(values.indices)
    name = str(kind).removesuffix("_view")
    return values if name == str(kind) else values.cast(f"large_{name}")


def decode(values: Foreign) -> Foreign:
    """Simplify an array, with 64-bit offsets for text and bytes."""
    values = simplify(values)
    is_narrow = str(values.type) in {"string", "binary"}
    return values.cast(f"large_{values.type}") if is_narrow else values


def list_cells(column: Foreign) -> list[Any] | None:
    """Return the objects of a list or of a column of Python objects; `None` for other columns."""
    if isinstance(column, list | tuple | range):
        return list(column)
    if str(getattr(column, "dtype", "")) not in {"object", "Object"}:
        return None
    return list(column.to_list() if hasattr(column, "to_list") else column)


def is_null(value: object) -> bool:
    """Check whether a Python object stands for a missing value."""
    # Those of pandas answer no question about themselves, so they are known by their types.
    return is_null_type(type(value)) or (isinstance(value, float) and math.isnan(value))


def is_null_type(kind: type) -> bool:
    """Check whether a type holds only missing values."""
    return kind.__name__ in {"NoneType", "NAType", "NaTType"}


def _spell_uuids(values: Foreign) -> Foreign:
    """Return UUIDs as texts in their usual form, with hyphens."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    stored, count = values.storage, len(values)
    octets = memoryview(stored.buffers()[1] or b"")[16 * stored.offset :][: 16 * count]
    digits = np.frombuffer(octets.hex().encode(), np.uint8).reshape(count, 32)
    texts = np.insert(digits, [8, 12, 16, 20], ord("-"), axis=1)
    ends = np.arange(count + 1, dtype=np.int64) * 36
    spelled = pa.LargeStringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(texts))
    return pc.if_else(stored.is_valid(), spelled, pa.nulls(1, pa.large_string())[0])


def read_ids(column: Foreign, name: str) -> IdColumn:
    """Read a column of IDs: integers, or whatever has a text of its own."""
    return ids_of(as_arrow(column, name, "id_type"), name)


def ids_of(values: Foreign, name: str) -> IdColumn:
    """Return the IDs in an array."""
    import numpy as np
    import pyarrow as pa

    if values.null_count:
        raise _missing("an ID", name, "missing_id", values.is_null().index(True).as_py())
    values = spell_ids(values, name) if len(values) else pa.array([], pa.int64())
    if not pa.types.is_integer(values.type):
        return texts_of(values)
    numbers = to_array(values)
    if numbers.dtype == np.uint64 and (numbers > np.iinfo(np.int64).max).any():
        return texts_of(values)
    return np.ascontiguousarray(numbers, dtype=np.int64)


def spell_ids(values: Foreign, name: str) -> Foreign:
    """Return IDs as integers or texts.

    Dates and times are written as in ISO 8601, times with a zone in UTC, and fractions without
    zeros at the end. Equal decimals are one ID: `1.50` is `1.5`, and `2.00` is `2`.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    types, kind = pa.types, values.type
    if types.is_integer(kind) or types.is_string(kind) or types.is_large_string(kind):
        return values
    if types.is_null(kind) or types.is_date(kind):
        return values.cast(pa.date32()).cast(pa.string())
    if types.is_decimal(kind):
        texts = values.cast(pa.string())
        if pc.any(pc.match_substring(texts, "E")).as_py():  # which Python writes out
            texts = pa.array([None if cell is None else f"{cell:f}" for cell in values.to_pylist()])
        return _trim(texts)
    if types.is_timestamp(kind):
        moments = fill_nulls(values.cast(pa.int64()), 0).view(f"datetime64[{kind.unit}]")
        texts = _trim(pa.array(np.datetime_as_string(moments).tolist(), pa.string()))
        texts = texts if kind.tz is None else pc.binary_join_element_wise(texts, "Z", "")
        return pc.if_else(values.is_valid(), texts, None)
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return _read_utf8(values.cast(pa.large_binary()), name)
    message = f"expected {name} as text or integers, found {kind}"
    rows = [0] if types.is_boolean(kind) or types.is_floating(kind) else []
    raise refuse("id_type", "", message, rows, HINTS["list"] if is_list(kind) else "")


def _trim(texts: Foreign) -> Foreign:
    """Remove zeros at the end of fractions."""
    import pyarrow.compute as pc

    return pc.replace_substring_regex(texts, r"\.0*$|(\.\d*[1-9])0+$", r"\1")


def _read_utf8(values: Foreign, name: str) -> Foreign:
    import pyarrow as pa

    try:
        return values.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        row = _find_first(lambda end: values[:end].cast(pa.large_string()), len(values))
        message = f"expected {name} in UTF-8, found {values[row].as_py()!r:.120}"
        raise refuse("encoding", "", message, [row]) from error


def texts_of(values: Foreign) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Return the buffers of an array of texts."""
    import numpy as np
    import pyarrow as pa

    values = values.cast(pa.large_string())
    _, offsets, texts = values.buffers()
    starts = np.frombuffer(offsets or bytes(8), np.int64)[values.offset :][: len(values) + 1]
    return starts, np.frombuffer(texts or b"", dtype=np.uint8)


def id_type(column: Foreign, values: Foreign) -> str:
    """Return the type of a column of IDs, and of its values in Arrow, as `name_id_type` does."""
    first = next((cell for cell in list_cells(column) or () if not is_null(cell)), None)
    declared = getattr(column, "dtype", getattr(column, "type", None))
    own = UUIDS if type(first).__name__ == "UUID" else name_id_type(declared)
    return own or name_id_type(values.type)


def name_id_type(kind: Foreign) -> str:
    """Return what a type of values is called in `output.ids.IdColumn`: nothing for text."""
    if "arrow.uuid" in str(kind):
        return UUIDS
    # NumPy, pandas, Polars and Arrow have the same names for integers but for their case.
    name = str(getattr(kind, "value_type", kind)).lower()
    return name if name in INTEGER_TYPES else ""


def count_ids(column: IdColumn) -> int:
    """Return the number of IDs in a column."""
    return len(column[0]) - 1 if isinstance(column, tuple) else len(column)


def to_arrow(ids: IdColumn) -> Foreign:
    """Return IDs as an Arrow array of texts, or of integers."""
    import numpy as np
    import pyarrow as pa

    if isinstance(ids, np.ndarray):
        return of_array(ids)
    offsets, texts = (pa.py_buffer(np.ascontiguousarray(part)) for part in ids)
    return pa.LargeStringArray.from_buffers(count_ids(ids), offsets, texts)


def list_texts(ids: IdColumn) -> list[str]:
    """Return IDs or values as text."""
    return list(map(str, to_arrow(ids).to_pylist()))


def read_typed_values(column: Foreign, name: str) -> tuple[IdColumn, str]:
    """Read any values as text or integers, null as one of them, and name their type.

    It is named as `AttributeColumn` does.
    """
    import numpy as np
    import pyarrow as pa

    values = as_arrow(column, name, "attribute_type")
    types, kind = pa.types, values.type
    if types.is_integer(kind) and kind != pa.uint64() and not values.null_count:
        return np.ascontiguousarray(to_array(values), dtype=np.int64), str(kind)
    try:
        texts = texts_of(fill_texts(values.cast(pa.large_string()), MISSING))
    except (pa.ArrowException, *FAILURES) as error:
        message = f"expected {name} to hold texts, numbers, dates or truth values, found {kind}"
        raise refuse("attribute_type", "", message) from error
    if types.is_integer(kind) or types.is_boolean(kind):
        return texts, str(kind)
    if types.is_floating(kind):
        return texts, "float64"
    return texts, "date" if types.is_date(kind) else "datetime" * types.is_timestamp(kind)


def read_numbers(column: Foreign, name: str, role: str, *, allows_null: bool = False) -> Doubles:
    """Read a column of numbers that doubles hold exactly, or of truth values as grades."""
    import numpy as np

    cells = list_cells(column)
    try:
        if cells is None:
            return numbers_of(as_arrow(column, name), name, role, allows_null=allows_null)
        # Python has numbers that Arrow hasn't, such as integers of any size.
        nulls = tuple(filter(is_null_type, set(map(type, cells))))
        if nulls and not allows_null:
            row = [isinstance(cell, nulls) for cell in cells].index(True)
            raise _missing("a number", name, code_of("missing", role), row)
        cells = [np.nan if isinstance(cell, nulls) else cell for cell in cells]
        return to_numbers(cells, name, (1,), are_grades=role == "relevance")
    except FormatError as error:
        if error.code == "array_shape":
            error.hint = HINTS["list"]
        is_other = error.code in {"column_type", "not_numeric", "array_shape"}
        error.code, error.file = code_of("text", role) if is_other else error.code, None
        raise


def numbers_of(values: Foreign, name: str, role: str, *, allows_null: bool = False) -> Doubles:
    """Return the numbers in an array, NaN where there is none."""
    import numpy as np

    values = to_doubles(values, name, role)
    if values.null_count and not allows_null:
        row = values.is_null().index(True).as_py()
        raise _missing("a number", name, code_of("missing", role), row)
    return fill_nulls(values, np.nan)


def to_doubles(values: Foreign, name: str, role: str) -> Foreign:
    """Convert an array of numbers, or grades that are truth values, to double precision."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types, kind = pa.types, values.type
    is_truth = types.is_boolean(kind) and role == "relevance"
    if types.is_floating(kind) or types.is_null(kind) or is_truth:
        return values.cast(pa.float64())
    if types.is_integer(kind):
        with suppress(pa.ArrowInvalid):  # for any beyond 2^53, also those that a double holds
            return values.cast(pa.float64())
    elif types.is_decimal(kind) and kind.precision <= 15:  # each is that of one double
        # By text, for the direct way doesn't give the nearest double.
        return values.cast(pa.string()).cast(pa.float64())
    elif not types.is_decimal(kind):
        hint = HINTS["list" if is_list(kind) else "not_numeric"]
        message = f"expected {name} as numbers, found {kind}"
        raise refuse(code_of("text", role), "", message, hint=hint)
    numbers = read_numbers(values.to_pylist(), name, role, allows_null=True)
    return pc.if_else(values.is_valid(), of_array(numbers), None)


def is_list(kind: Foreign) -> bool:
    """Check whether a type is a list type."""
    return hasattr(kind, "value_field")


def are_finite(column: Foreign) -> bool:
    """Check whether no number of an array, also in lists and objects, is NaN or infinite."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if is_list(kind):
        return are_finite(pc.list_flatten(column))
    if pa.types.is_struct(kind):
        return all(are_finite(pc.struct_field(column, at)) for at in range(kind.num_fields))
    return not pa.types.is_floating(kind) or pc.all(pc.is_finite(column)).as_py() is not False


def _missing(expected: str, name: str, code: str, row: int) -> FormatError:
    message = f"expected {expected} in every row of {name}, found none"
    return refuse(code, "", message, [row], HINTS["missing"])


def normalise(column: Foreign, name: str, role: str) -> Foreign:
    """Convert a column: IDs to text or integers of 64 bits, numbers to double precision."""
    import pyarrow as pa

    column = simplify(column)
    if role in NUMBER_ROLES:
        return to_doubles(column, name, role)
    if role not in ID_ROLES:
        return column
    column = spell_ids(column, name)
    is_small = pa.types.is_integer(column.type) and column.type != pa.uint64()
    return column.cast(pa.int64()) if is_small else column
