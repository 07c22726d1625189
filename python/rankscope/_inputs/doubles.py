"""Double precision: the numbers that it holds exactly, and the errors for everything else."""

from __future__ import annotations

import math
import sys

from rankscope.deferred import np
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from decimal import Decimal
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]
    Foreign: TypeAlias = Any  # of another library: a table, a column, an array of PyArrow
    Doubles: TypeAlias = NDArray[np.float64]
    Offsets: TypeAlias = NDArray[np.int64]
    Place: TypeAlias = Iterable[Any]  # the row, or the row and column, from 0

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


def not_numbers(name: str, found: str, at: Place = (), *, wanted: str = "numbers") -> FormatError:
    """Return the error for a value that isn't a number."""
    return refuse("not_numeric", name, f"expected {name} as {wanted}, found {found}", at)


def inexact(name: str, found: str, at: Place) -> FormatError:
    """Return the error for a number that double precision would round."""
    message = f"expected numbers in {name} that double precision holds, found {found:.120}"
    return refuse("inexact_number", name, message, at)


def bad_shape(name: str, dimensions: Iterable[int], shape: tuple[int, ...]) -> FormatError:
    """Return the error for an array with the wrong dimensions."""
    wanted = " or ".join(map(str, dimensions))
    message = f"expected {name} of dimension {wanted}, found shape {shape}"
    return refuse("array_shape", name, message)


def to_doubles(values: Array, name: str, *, are_grades: bool = False) -> Doubles:
    """Convert an array to contiguous float64 without rounding. Masked values become NaN."""
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
    is_plain = type(array) is np.ndarray and array.dtype.str in {"<f8", "<f4", "<i8", "<i4"}
    return is_plain and array.flags.c_contiguous and array.flags.aligned


def read_python(values: Sequence[Any], name: str) -> Doubles:
    """Read numbers of Python, NumPy and `decimal` without rounding."""
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
        clipped = [(one > 0 or -1) * math.inf if abs(one) > largest else one for one in values]
        return read_python(clipped, name)
    is_suspect = (np.abs(numbers) >= EXACT_UP_TO) | (np.longdouble in kinds)
    _check_exact(values, numbers, is_suspect, name)
    return numbers


def _check_exact(values: Any, numbers: Doubles, is_suspect: Array, name: str) -> None:  # noqa: ANN401 - an array or a list
    """Raise an error for the first suspect that conversion changed."""
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
