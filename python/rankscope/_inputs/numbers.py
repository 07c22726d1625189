"""Reads numbers of any input as float64, without rounding."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import chain

from rankscope._inputs.doubles import keep_doubles, read_python, to_doubles
from rankscope._inputs.foreign import check_file, is_plain, is_row, open_array, see_array
from rankscope._inputs.mistakes import bad_shape, not_numbers, placed
from rankscope.deferred import np
from rankscope.errors import EmptyError, FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sized
    from typing import Any, TypeAlias

    from numpy.typing import ArrayLike, NDArray

    Scale: TypeAlias = tuple[float, float]


def to_numbers(
    values: ArrayLike, name: str, *, dimensions: tuple[int, ...], are_grades: bool = False
) -> NDArray[np.float64]:
    """Read real numbers as float64 without rounding. Masked values become NaN."""
    array = _open_shaped(values, name, dimensions, are_grades=are_grades)
    return to_doubles(array, name, are_grades=are_grades)


def keep_numbers(values: ArrayLike, name: str, *, are_grades: bool = False) -> NDArray[Any]:
    """Read a column of real numbers without rounding, and without a copy if possible."""
    array = _open_shaped(values, name, (1,), are_grades=are_grades)
    return keep_doubles(array, name, are_grades=are_grades)


def _open_shaped(
    values: ArrayLike, name: str, dimensions: tuple[int, ...], *, are_grades: bool
) -> NDArray[Any]:
    array = open_array(values, name, max(dimensions), are_grades=are_grades)
    if array.ndim not in dimensions:
        raise bad_shape(name, dimensions, array.shape)
    return array


def join_lists(
    lists: Iterable[ArrayLike], name: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Concatenate lists of grades of any length, and return the offsets and the grades."""
    lists = _check_ordered(lists, name)
    if isinstance(lists, np.ndarray | memoryview) and lists.ndim != 1:
        matrix = to_numbers(lists, name, dimensions=(2,), are_grades=True)
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
            parts.append(to_numbers(one, name, dimensions=(1,), are_grades=True))
        except FormatError as error:
            raise placed(error, at) from error
    return _count(parts), np.concatenate([*parts, np.empty(0)])


def _check_ordered(lists: Any, name: str) -> Any:  # noqa: ANN401 - what a caller has
    """Return what has lists one after another; TensorFlow's ragged tensors have `to_list`."""
    if not hasattr(lists, "__iter__") and hasattr(lists, "to_list"):
        lists = lists.to_list()
    is_unordered = isinstance(lists, str | bytes | bytearray | Mapping | AbstractSet)
    if is_unordered or not hasattr(lists, "__iter__"):
        raise not_numbers(name, type(lists).__name__)
    return lists


def split_lists(values: object, name: str) -> tuple[Iterable[Any], bool]:
    """Return a list of lists of numbers, and whether the input was a single list."""
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
    """Check whether the first element isn't a list, as far as one can tell."""
    if isinstance(value, list | tuple):
        return False
    try:
        return not is_row(type(value)) or see_array(value, name).ndim == 0
    except FormatError as error:
        raise placed(error, 0) from error


def is_judged(grades: NDArray[np.float64]) -> bool:
    """Check whether any grade is known."""
    return len(grades) > 0 and not (np.isnan(grades[0]) and np.isnan(grades).all())


def widen_scale(scale: Scale | None, grades: NDArray[Any]) -> Scale | None:
    """Return the lowest and the highest grade of a scale and of more grades, NaN where unknown."""
    if not is_judged(grades):
        return scale
    lowest, highest = float(np.fmin.reduce(grades)), float(np.fmax.reduce(grades))
    return (lowest, highest) if scale is None else (min(lowest, scale[0]), max(highest, scale[1]))


def no_judgments(file: str | None) -> EmptyError:
    """Return the error for rows without any judged document."""
    return EmptyError(
        "expected judgments, found none",
        hint="give each query at least the grades that are known",
        code="empty_input",
        file=file,
    )


def _are_alike(arrays: Iterable[NDArray[Any]]) -> bool:
    """Check whether arrays are lists of one type, which can be concatenated."""
    forms = {(one.ndim, one.dtype) for one in arrays}
    return len(forms) == 1 and all(ndim == 1 and dtype.kind in "fiu" for ndim, dtype in forms)


def _count(lists: Iterable[Sized]) -> NDArray[np.int64]:
    return count_offsets(np.fromiter(map(len, lists), dtype=np.int64))


def count_offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offsets of concatenated lists of given lengths."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
