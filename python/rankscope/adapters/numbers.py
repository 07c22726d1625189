"""Numbers: reads whatever holds them as float64, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import chain

from rankscope.adapters.doubles import keep_doubles, read_python, to_doubles
from rankscope.adapters.foreign import check_file, is_plain, is_row, open_array, see_array
from rankscope.adapters.mistakes import bad_shape, not_numbers, placed
from rankscope.errors import EmptyError, FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sized
    from typing import Any

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


def to_numbers(values: ArrayLike, name: str, *, dimensions: tuple[int, ...]) -> NDArray[np.float64]:
    """Read real numbers as float64, exactly; masked ones become NaN.

    Args:
        values: An array of NumPy or of another library in main memory, a buffer, or (nested) lists.
        name: What messages call it.
        dimensions: How many dimensions it may have.

    Raises:
        FormatError: It is no such array.
    """
    return to_doubles(_open_shaped(values, name, dimensions), name)


def keep_numbers(values: ArrayLike, name: str) -> NDArray[Any]:
    """Read a column of real numbers exactly; it stays as it is where the core reads it as it lies.

    Raises:
        FormatError: It is none.
    """
    return keep_doubles(_open_shaped(values, name, (1,)), name)


def _open_shaped(values: ArrayLike, name: str, dimensions: tuple[int, ...]) -> NDArray[Any]:
    array = open_array(values, name, max(dimensions))
    if array.ndim not in dimensions:
        raise bad_shape(name, dimensions, array.shape)
    return array


def join_lists(
    lists: Iterable[ArrayLike], name: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Read lists of numbers of whatever lengths as offsets and the numbers end to end.

    Raises:
        FormatError: They are not lists of numbers.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    is_unordered = isinstance(lists, str | bytes | bytearray | Mapping | AbstractSet)
    if is_unordered or not hasattr(lists, "__iter__"):
        raise not_numbers(name, type(lists).__name__)
    if isinstance(lists, np.ndarray | memoryview) and lists.ndim != 1:
        matrix = to_numbers(lists, name, dimensions=(2,))
        rows, columns = matrix.shape
        return np.arange(rows + 1, dtype=np.int64) * columns, matrix.ravel()
    given: list[Any] = list(lists)
    kinds = set(map(type, given))
    if is_plain(given, kinds):
        offsets = _count(given)
        items = list(chain.from_iterable(given))
        if len(items) != offsets[-1]:
            raise RuntimeError(f"{name} changed size while being read")
        return offsets, read_python(items, name, offsets)
    if kinds == {np.ndarray} and _are_alike(given):
        for one in {id(one.base): one for one in given}.values():
            check_file(one, name)
        offsets = _count(given)
        return offsets, to_doubles(np.concatenate(given), name, offsets)
    parts = []
    for at, one in enumerate(given):
        if not is_row(type(one)):
            raise not_numbers(name, type(one).__name__, (at,), wanted="lists of numbers")
        try:
            parts.append(to_numbers(one, name, dimensions=(1,)))
        except FormatError as error:
            raise placed(error, at) from error
    return _count(parts), np.concatenate([*parts, np.empty(0)])


def split_lists(values: object, name: str) -> tuple[Iterable[Any], bool]:
    """Tell one list of numbers from several; give lists, and whether it was one.

    Raises:
        FormatError: It is neither.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if isinstance(values, list | tuple):
        is_one = not values or _is_number(values[0], name)
        return [values] if is_one else values, is_one
    array = see_array(values, name)
    if array.ndim not in {1, 2}:
        raise bad_shape(name, (1, 2), array.shape)
    if array.ndim == 2:
        return array, False
    if array.dtype != object or len(array) == 0 or _is_number(np.ma.getdata(array)[0], name):
        return [values], True
    return array.tolist(), False


def _is_number(value: object, name: str) -> bool:
    """Whether the first of something is no list, as far as one can tell."""
    if isinstance(value, list | tuple):
        return False
    try:
        return not is_row(type(value)) or see_array(value, name).ndim == 0
    except FormatError as error:
        raise placed(error, 0) from error


def is_judged(grades: NDArray[np.float64]) -> bool:
    """Whether any of the grades is known."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    return len(grades) > 0 and not (np.isnan(grades[0]) and np.isnan(grades).all())


def no_judgments(file: str | None) -> EmptyError:
    """Refuse rows of which none is judged, as judgments without a document are refused."""
    return EmptyError(
        "expected judgments, found none",
        hint="give each query at least the grades that are known",
        code="empty_input",
        file=file,
    )


def _are_alike(arrays: Iterable[NDArray[Any]]) -> bool:
    """Whether arrays are lists of one type, which may be put end to end."""
    forms = {(one.ndim, one.dtype) for one in arrays}
    return len(forms) == 1 and all(ndim == 1 and dtype.kind in "fiu" for ndim, dtype in forms)


def _count(lists: Iterable[Sized]) -> NDArray[np.int64]:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    return count_offsets(np.fromiter(map(len, lists), dtype=np.int64))


def count_offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Say where lists of these lengths begin that stand end to end, and where the last one ends."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
