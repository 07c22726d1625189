"""Double precision: the numbers that it holds exactly, and the errors for everything else."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from rankscope.errors import EmptyError, FormatError

Foreign: TypeAlias = Any  # of another library: a table, a column, an array of PyArrow
Place: TypeAlias = Iterable[Any]  # the row, or the row and column, from 0
Scale: TypeAlias = tuple[float, float]
Dims: TypeAlias = Collection[int]

if TYPE_CHECKING:
    from decimal import Decimal

    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]
    Doubles: TypeAlias = NDArray[np.float64]
    Offsets: TypeAlias = NDArray[np.int64]


# Every integer up to here is a double; of larger ones only some are.
EXACT_UP_TO = 2**53
# Codes of mistakes in a grade and in a score.
CODES = {
    "text": ("rel_not_number", "score_not_number"),
    "nan": ("rel_not_number", "score_nan"),
    "infinite": ("rel_out_of_range", "score_overflow"),
    "missing": ("missing_relevance", "missing_score"),
}
# How to fix mistakes, by code.
HINTS = {
    "ambiguous_groups": "pass ids as text: groups=list(map(str, ids)); or turn sizes into ids: "
    "groups=np.repeat([f'q{n}' for n in range(len(sizes))], sizes)",
    "array_shape": "rows are queries, columns are documents; ravel() makes one dimension",
    "attribute_type": "convert the column to text first",
    "changed_while_reading": "load it into memory: numpy.load without mmap_mode",
    "column_type": "numbers are numbers; IDs are text, integers, UUIDs, dates, times or bytes",
    "device_array": "call .detach().cpu(), .get() or jax.device_get first, or use rankscope.array",
    "encoding": "decode the column first, or turn IDs into text",
    "group_sizes": "these are numbers of rows; if you have the query of each row, write "
    "Rankings.from_arrays(relevance, scores, groups=ids)",
    "id_type": "IDs are text, integers, UUIDs, dates, times, decimals or bytes: .astype(str) makes "
    "text, .astype('Int64') integers of whole numbers that became floats",
    "index_order": "bring both into one order; if the index is wrong, pass .to_numpy()",
    "inexact_number": "round them first",
    "length_mismatch": "each document has a grade and a score, and each list may have an ideal",
    "missing": "drop the rows without one",
    "missing_list": "an empty ranking is an empty list: []",
    "nested_lists": "write one row per query",
    "list": "write one row per document: df.explode([…]) with all columns of lists. Ranked lists "
    "without scores can be a mapping: dict(zip(df['query'], df['items']))",
    "not_numeric": "convert it first: 1 for yes, 0 for no, 5 instead of '5'",
    "rel_not_number": "leave out what isn't judged",
    "rel_out_of_range": "a grade is a finite number, NaN where unjudged",
    "score_nan": "if NaN fills up the rows of shorter lists, say so: padding='nan'",
    "score_overflow": "a score is a finite number",
    "size_order": "pass the query of each row, as Rankings.from_arrays(relevance, scores, "
    "groups=df['query']) takes it; sizes in the order of the rows can be sizes.to_numpy()",
    "surrogate": "it is half of a character: decode the text again",
}


def code_of(mistake: str, role: str) -> str:
    """Return the code of a mistake in a column, the same as for TREC text."""
    if role in {"relevance", "score"}:
        return CODES[mistake][role == "score"]
    return "missing_score" if (mistake, role) == ("missing", "rank") else "not_numeric"


def refuse(code: str, name: str, message: str, at: Place = (), hint: str = "") -> FormatError:
    """Return the error for a mistake in an array, or in a column if it has no name."""
    usual = "group_sizes" if (name, code) == ("group_sizes", "not_numeric") else code
    line, column = ([int(place) + 1 for place in at] + [None, None])[:2]
    hint, file = hint or HINTS[usual], name or None
    return FormatError(message, hint=hint, code=code, file=file, line=line, column=column)


def not_numbers(name: str, kind: str, at: Place = (), *, expected: str = "numbers") -> FormatError:
    """Return the error for a value that isn't a number."""
    return refuse("not_numeric", name, f"expected {name} as {expected}, found {kind}", at)


def inexact(name: str, text: str, at: Place) -> FormatError:
    """Return the error for a number that double precision would round."""
    message = f"expected numbers in {name} that double precision holds, found {text:.120}"
    return refuse("inexact_number", name, message, at)


def bad_shape(name: str, dimensions: Iterable[int], shape: tuple[int, ...]) -> FormatError:
    """Return the error for an array with the wrong dimensions."""
    expected = " or ".join(map(str, dimensions))
    message = f"expected {name} of dimension {expected}, found shape {shape}"
    return refuse("array_shape", name, message)


def to_doubles(values: Array, name: str, *, are_grades: bool = False) -> Doubles:
    """Convert an array to contiguous float64 without rounding. Masked values become NaN."""
    import numpy as np

    array, mask = np.ma.getdata(values), np.ma.getmask(values)
    kinds = "fiub" if are_grades else "fiu"
    if array.dtype.kind not in kinds and not is_short(array.dtype.type):
        raise not_numbers(name, str(array.dtype))
    with np.errstate(over="ignore"):  # a long double becomes infinite
        numbers = np.require(array, np.float64, ["C", "A", "E"])
    if array.dtype.itemsize > 4 and array.dtype != np.float64:
        is_float = array.dtype.kind == "f"
        is_suspect = numbers != array if is_float else np.abs(numbers) >= EXACT_UP_TO
        _check_exact(array, numbers, is_suspect & ~mask, name)
    return numbers if mask is np.ma.nomask else np.where(mask, np.nan, numbers)


def is_in_place(array: Array) -> bool:
    """Check whether the core can read an array where it lies."""
    # A subclass may mean something else by its numbers, as a masked array does.
    import numpy as np

    is_plain = type(array) is np.ndarray and array.dtype.str in {"<f8", "<f4", "<i8", "<i4"}
    return is_plain and array.flags.c_contiguous and array.flags.aligned


def read_python(values: Sequence[Any], name: str) -> Doubles:
    """Read numbers of Python, NumPy and `decimal` without rounding."""
    import numpy as np

    kinds = set(map(type, values))
    if any(map(is_decimal, kinds)):
        read = [read_decimal(value) if is_decimal(type(value)) else value for value in values]
        if None in read:
            raise inexact(name, str(values[read.index(None)]), [read.index(None)])
        values = read
    try:
        with np.errstate(over="ignore"):
            numbers = np.array(values, dtype=np.float64)
    except OverflowError:  # from an integer beyond all doubles
        largest = sys.float_info.max
        clipped = [(n > 0 or -1) * math.inf if abs(n) > largest else n for n in values]
        return read_python(clipped, name)
    is_suspect = (np.abs(numbers) >= EXACT_UP_TO) | (np.longdouble in kinds)
    _check_exact(values, numbers, is_suspect, name)
    return numbers


def _check_exact(values: Any, numbers: Doubles, is_suspect: Array, name: str) -> None:  # noqa: ANN401 - an array or a list
    """Raise an error for the first suspect that conversion changed."""
    import numpy as np

    for at in np.argwhere(is_suspect & np.isfinite(numbers)).tolist():
        value = values[tuple(at)] if isinstance(values, np.ndarray) else values[at[0]]
        # Python compares its integers with its doubles exactly.
        if (int(value) if isinstance(value, np.integer) else value) != float(numbers[tuple(at)]):
            raise inexact(name, str(value), at)


def is_short(kind: type) -> bool:
    """Check whether a type is a real number of ml_dtypes, such as bfloat16, which JAX uses."""
    return kind.__module__ == "ml_dtypes" and "complex" not in kind.__name__


def is_decimal(kind: type) -> bool:
    """Check whether a type is `decimal.Decimal`, without importing `decimal`."""
    return hasattr(kind, "is_snan")


def read_decimal(number: Decimal) -> float | None:
    """Read a decimal as the nearest double, as text is read.

    Examples:
        >>> from decimal import Decimal
        >>> read_decimal(Decimal("0.1")), read_decimal(Decimal(2**70)) == 2**70
        (0.1, True)
        >>> read_decimal(Decimal("0.12345678901234567890")) is None
        True
    """
    if number.is_nan():
        return math.nan
    double = float(number)
    is_exact = math.isinf(double) or number in (double, type(number)(repr(double)))
    return double if is_exact else None


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
    import numpy as np

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
    import numpy as np

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
    import numpy as np

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
        reason = str(error).partition("\n")[0][:120]
        message = (
            f"expected {name} in main memory, found {type(values).__name__} elsewhere: {reason}"
        )
        raise refuse("device_array", name, message) from error
    if not isinstance(array, np.ndarray):
        raise not_numbers(name, f"{type(values).__name__} whose __array__ gives none")
    if array.dtype == object and hasattr(values, "isna"):  # the nulls of pandas
        array = np.ma.array(array, mask=np.asarray(values.isna(), dtype=bool))
    return array


def _export(values: Foreign) -> Foreign:
    """Let a library convert its array to one of NumPy."""
    import numpy as np

    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor) and values.device.type == "cpu":
        # A measure has no gradient, and NumPy lacks most floats of 8 and 16 bits.
        values = values.detach().resolve_conj().resolve_neg()
        is_narrow = values.dtype.is_floating_point and values.dtype.itemsize < 4
        values = values.float() if is_narrow else values
    return values.__array__() if hasattr(values, "__array__") else np.from_dlpack(values)


def check_file(array: Array, name: str) -> Array:
    """Return an array, unless it is memory-mapped and its file was truncated."""
    import mmap

    import numpy as np

    base: object = array
    while isinstance(base, np.ndarray | memoryview):
        base = base.obj if isinstance(base, memoryview) else base.base
    if isinstance(base, mmap.mmap) and base.size() < len(base):
        message = f"expected the file behind {name} as long as when it was mapped, found it cut"
        raise refuse("changed_while_reading", name, message)
    return array


def check_whole(values: Foreign, name: str) -> None:
    """Raise an error for an Arrow array whose offsets, views or indices point outside its buffers.

    PyArrow follows them wherever they point, and ends the process.
    """
    import pyarrow as pa

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


def check_batch(batch: Foreign) -> None:
    """Check the columns of a batch as `check_whole` does; the error is that of PyArrow."""
    import pyarrow as pa

    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            raise pa.ArrowInvalid(f"in column {name}: {error}") from error


def check_inside(values: object, name: str) -> None:
    """Check a PyArrow column, or a pandas column that wraps one, with `check_whole`."""
    import pyarrow as pa

    inner = getattr(values, "array", values)
    if "Arrow" in type(inner).__name__ and hasattr(inner, "__arrow_array__"):
        inner = inner.__arrow_array__()
    if sys.modules.get("pyarrow") and isinstance(inner, pa.Array | pa.ChunkedArray):
        check_whole(inner, name)


def refuse_where(bad: Array, numbers: Doubles, code: str, name: str, offsets: Any = None) -> None:  # noqa: ANN401 - an array
    """Raise an error for the first bad number of an array, or of lists with these offsets."""
    import numpy as np

    for place in np.argwhere(bad)[:1].tolist():
        message = f"expected finite numbers, found {numbers[tuple(place)]}"
        if offsets is not None:
            query = np.searchsorted(offsets, place[0], side="right") - 1
            place[:] = [query, place[0] - offsets[query]]
        raise refuse(code, name, message, place)


def join_lists(lists: Foreign, name: str) -> tuple[Offsets, Doubles]:
    """Concatenate lists of grades of any length, and return the offsets and the grades."""
    import numpy as np

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
    import numpy as np

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
    import numpy as np

    if issubclass(kind, bool | np.bool_):
        return are_grades
    is_real = issubclass(kind, int | float | np.integer | np.floating)
    return (is_real or is_decimal(kind) or is_short(kind)) and not issubclass(kind, np.timedelta64)


def is_integer(kind: type) -> bool:
    """Check whether a type holds integers."""
    if kind.__module__ == "builtins":
        return kind is int
    import numpy as np  # which builtins don't need

    return issubclass(kind, int | np.integer) and is_number(kind)


def is_row(kind: type) -> bool:
    """Check whether a type is an ordered sequence."""
    import numpy as np

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
    import numpy as np

    return len(grades) > 0 and not (np.isnan(grades[0]) and np.isnan(grades).all())


def widen_scale(scale: Scale | None, grades: Array) -> Scale | None:
    """Return the lowest and the highest grade of a scale and of more grades, NaN where unknown."""
    import numpy as np

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
    import numpy as np

    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
