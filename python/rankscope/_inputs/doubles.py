"""Double precision: which numbers it holds exactly, and which it would round."""

from __future__ import annotations

import math
import sys

from rankscope._inputs.mistakes import inexact, not_numbers
from rankscope.deferred import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal
    from typing import Any

    from numpy.typing import NDArray

EXACT_UP_TO = 2**53
"""Every integer up to here is a double; of larger ones only some are."""


def to_doubles(
    given: NDArray[Any],
    name: str,
    offsets: NDArray[np.int64] | None = None,
    *,
    are_grades: bool = False,
) -> NDArray[np.float64]:
    """Convert an array to contiguous float64 without rounding. Masked values become NaN."""
    array, mask = np.asarray(np.ma.getdata(given)), np.ma.getmask(given)
    if is_short(array.dtype.type):
        array = array.astype(np.float32)
    if array.dtype.kind not in ("fiub" if are_grades else "fiu"):
        raise not_numbers(name, str(array.dtype))
    numbers = _convert(array)
    is_rounded = _find_rounded(array, numbers)
    if is_rounded is not None:
        is_rounded &= ~np.ma.getmaskarray(given)
        if is_rounded.any():
            at = tuple(np.argwhere(is_rounded)[0].tolist())
            raise inexact(name, str(array[at]), at if offsets is None else place_in(at[0], offsets))
    return numbers if mask is np.ma.nomask else np.where(mask, np.nan, numbers)


def keep_doubles(given: NDArray[Any], name: str, *, are_grades: bool = False) -> NDArray[Any]:
    """Return an array unchanged if the core can read its type, and as float64 otherwise."""
    usual = (np.float64, np.float32, np.int64, np.int32)
    is_usual = type(given) is np.ndarray and given.dtype in usual
    is_read = is_usual and given.flags.c_contiguous and given.flags.aligned
    if is_read and (given.dtype != np.int64 or _are_small(given)):
        return given
    return to_doubles(given, name, are_grades=are_grades)


def _convert(array: NDArray[Any]) -> NDArray[np.float64]:
    if array.dtype.itemsize > 8:  # a long double may be beyond a double, which will be found
        with np.errstate(over="ignore"):
            return np.asarray(array, dtype=np.float64, order="C")
    numbers = np.asarray(array, dtype=np.float64, order="C")
    return numbers if numbers.flags.aligned else numbers.copy()


def _find_rounded(array: NDArray[Any], numbers: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """Find where conversion changed a finite number. Return `None` if the type rules that out."""
    if array.dtype.itemsize <= 4 or array.dtype == np.float64:
        return None
    if array.dtype.kind == "f":
        return np.asarray((numbers != array) & np.isfinite(numbers))
    if _are_small(array):
        return None
    is_large = np.asarray(array > EXACT_UP_TO)
    if array.dtype.kind == "i":
        is_large |= array < -EXACT_UP_TO
    # The largest integers round up to a power of two that the type does not hold.
    fits = numbers < 2.0 ** (64 if array.dtype.kind == "u" else 63)
    back = np.where(fits, numbers, 0).astype(array.dtype)
    return np.asarray(is_large & ~(fits & (back == array)))


def _are_small(integers: NDArray[Any]) -> bool:
    """Check whether all integers are small enough to be exact doubles."""
    if integers.size == 0:
        return True
    return bool(integers.max() <= EXACT_UP_TO and integers.min() >= -EXACT_UP_TO)


def read_python(
    values: Sequence[Any], name: str, offsets: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Read numbers of Python, NumPy and `decimal` without rounding."""
    if any(map(is_decimal, set(map(type, values)))):
        values = _read_decimals(values, name, offsets)
    try:
        with np.errstate(over="ignore"):
            numbers = np.array(values, dtype=np.float64)
    except OverflowError:
        numbers = np.array(list(map(_to_double, values)))
    # What came out below this bound was not rounded, unless it is a long double.
    is_suspect = np.abs(numbers) >= EXACT_UP_TO
    if np.longdouble in set(map(type, values)):
        is_suspect[:] = True
    for at in np.flatnonzero(is_suspect & np.isfinite(numbers)).tolist():
        value = values[at]
        # Python compares its integers with its doubles exactly.
        if (int(value) if isinstance(value, int | np.integer) else value) != float(numbers[at]):
            place = (at,) if offsets is None else place_in(at, offsets)
            raise inexact(name, str(value)[:120], place)
    return numbers


def is_short(kind: type) -> bool:
    """Check whether a type is a real number of ml_dtypes, such as bfloat16, which JAX uses.

    Single precision holds all of them.
    """
    return kind.__module__ == "ml_dtypes" and "complex" not in kind.__name__


def is_decimal(kind: type) -> bool:
    """Check whether a type is `decimal.Decimal`, without importing `decimal`."""
    module = sys.modules.get("decimal")
    return module is not None and issubclass(kind, module.Decimal)


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
    from decimal import Decimal  # noqa: PLC0415 - loaded by who made the number

    double = float(number)
    is_whole = math.isinf(double) or number in (double, Decimal(repr(double)))
    return double if is_whole else None


def _read_decimals(
    values: Sequence[Any], name: str, offsets: NDArray[np.int64] | None
) -> list[Any]:
    read = []
    for at, value in enumerate(values):
        number = read_decimal(value) if is_decimal(type(value)) else value
        if number is None:
            raise inexact(
                name, str(value)[:120], (at,) if offsets is None else place_in(at, offsets)
            )
        read.append(number)
    return read


def _to_double(value: Any) -> float:  # noqa: ANN401 - any number
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def place_in(at: int, offsets: NDArray[np.int64]) -> tuple[int, ...]:
    """Return which of several concatenated lists holds a position, and the place in that list."""
    row = int(np.searchsorted(offsets, at, side="right")) - 1
    return row, at - int(offsets[row])
