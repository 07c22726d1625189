"""Batches of lists: padded with a mask or lengths, or ragged with lengths, offsets or group IDs."""

from __future__ import annotations

import math

from rankscope._inputs.doubles import bad_shape, not_numbers
from rankscope.array.ranked import Padded
from rankscope.array.space import find_space, shape_of, to_host
from rankscope.deferred import np
from rankscope.errors import FormatError, UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.array.space import Array, Space

DIVIDERS = ("mask", "lengths", "offsets", "groups")
FLAT_HINT = (
    "pass lengths, offsets or groups with flat arrays; to score one list, make it a row: "
    "grades[None, :]"
)


@record(frozen=True, slots=True)
class Batch:
    """Arrays and what divides them into lists.

    Args:
        space: The library and the device of the arrays.
        grades: Grades, shape (rows, columns), or flat.
        scores: Scores of the same shape.
        divider: What divides them: `mask`, `lengths`, `offsets`, `groups`, or `None`.
        parts: The array that does so.
        max_length: The number of documents of the longest list, if it was given.
        shape: The shape of the values; `None` if it depends on the lists.
    """

    space: Space
    grades: Array
    scores: Array
    divider: str | None
    parts: Array | None
    max_length: int | None
    shape: tuple[int, ...] | None

    @property
    def is_flat(self) -> bool:
        """Whether the lists are end to end."""
        return len(self.grades.shape) == 1


def read_batch(
    grades: object, scores: object, dividers: dict[str, object], max_length: object
) -> Batch:
    """Read a batch.

    Raises:
        InputError: The arrays don't fit together.
        UsageError: Several arguments divide it, or none divides flat arrays.
    """
    given = {name: value for name, value in dividers.items() if value is not None}
    if len(given) > 1:
        raise UsageError(
            f"expected one of {', '.join(DIVIDERS)}, found {' and '.join(given)}",
            hint="each of them says which documents a list has",
            code="bad_parameter",
        )
    space, arrays = find_space({"grades": grades, "scores": scores})
    _check_numbers(space, arrays)
    shape, other = shape_of(arrays["grades"]), shape_of(arrays["scores"])
    if shape != other:
        raise FormatError(
            f"expected grades and scores of one shape, found {shape} and {other}",
            hint="both have a row for each list and a column for each document, or both are flat",
            code="length_mismatch",
            file="scores",
        )
    divider, value = next(iter(given.items()), (None, None))
    _check_divider(divider, shape)
    parts = None if divider is None else _read_parts(space, divider, value, shape)
    is_flat = len(shape) == 1
    if len(shape) > 2:
        rows = math.prod(shape[:-1])
        reshape = space.xp.reshape
        arrays = {name: reshape(array, (rows, shape[-1])) for name, array in arrays.items()}
        if divider is not None:
            parts = reshape(parts, (rows, shape[-1]) if divider == "mask" else (rows,))
    return Batch(
        space=space,
        grades=arrays["grades"],
        scores=arrays["scores"],
        divider=divider,
        parts=parts,
        max_length=_read_max_length(max_length),
        shape=None if is_flat else shape[:-1],
    )


def _check_divider(divider: str | None, shape: tuple[int, ...]) -> None:
    if not shape:
        raise bad_shape("grades", (1, 2), shape)
    is_flat = len(shape) == 1
    if is_flat and divider in {None, "mask"}:
        raise FormatError(
            f"expected what divides flat grades into lists, found {divider or 'nothing'}",
            hint=FLAT_HINT,
            code="array_shape",
            file="grades",
        )
    if not is_flat and divider in {"offsets", "groups"}:
        raise FormatError(
            f"expected flat grades with {divider}, found shape {shape}",
            hint="a matrix is divided by mask or lengths",
            code="array_shape",
            file="grades",
        )


def _check_numbers(space: Space, arrays: dict[str, Array]) -> None:
    for name, array in arrays.items():
        kind = space.kind(array)
        if kind == "other" or (kind == "bool" and name == "scores"):
            raise not_numbers(name, str(array.dtype))


def _read_parts(space: Space, divider: str, parts: object, shape: tuple[int, ...]) -> Array:
    """Read the array that divides a batch, as booleans or integers."""
    if not hasattr(parts, "dtype") or type(parts).__module__.partition(".")[0] == "numpy":
        parts = _copy_over(space, parts, divider)
    found, arrays = find_space({"grades": space.make(0, None), divider: parts})
    array = arrays[divider]
    kind = found.kind(array)
    wanted = {"bool", "integer"} if divider == "mask" else {"integer"}
    if kind not in wanted:
        names = "booleans" if divider == "mask" else "integers"
        raise not_numbers(divider, str(array.dtype), wanted=names)
    fits = {
        "mask": shape,
        "lengths": shape[:-1] if len(shape) > 1 else None,
        "groups": shape,
        "offsets": None,
    }[divider]
    actual = shape_of(array)
    if (fits is None and len(actual) != 1) or (fits is not None and actual != tuple(fits)):
        wanted_shape = "one dimension" if fits is None else f"shape {tuple(fits)}"
        raise FormatError(
            f"expected {divider} with {wanted_shape}, found shape {actual}",
            hint=_HINTS[divider],
            code="length_mismatch",
            file=divider,
        )
    return array != 0 if divider == "mask" and kind == "integer" else array


_HINTS = {
    "mask": "mask is True where there is a document",
    "lengths": "lengths has the number of documents of each list",
    "offsets": "list i has the documents from offsets[i] up to offsets[i + 1]",
    "groups": "groups has the ID of the list of each document",
}


def _copy_over(space: Space, values: object, name: str) -> Array:
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise not_numbers(name, "lists of different lengths") from error
    if array.dtype.kind not in "biuf":
        refused = not_numbers(name, "text" if array.dtype.kind in "OUST" else str(array.dtype))
        if name == "groups":
            refused.hint = "number the IDs: numpy.unique(groups, return_inverse=True)[1]"
        raise refused
    # An empty list has no type.
    return space.make(array if array.size else array.astype(np.int64), None)


def _read_max_length(given: object) -> int | None:
    if given is None or (isinstance(given, int) and not isinstance(given, bool) and given > 0):
        return given
    raise UsageError(
        f"expected max_length to be a positive integer, found {given!r}",
        hint="it is the number of documents of the longest list",
        code="bad_parameter",
    )


# On the host.


def divide(batch: Batch) -> tuple[NDArray[np.int64], NDArray[Any] | None, NDArray[Any] | None]:
    """Return offsets of the lists, the order of the documents or `None`, and a mask or `None`.

    Raises:
        FormatError: Lengths or offsets don't fit the arrays.
    """
    space, parts = batch.space, batch.parts
    size = int(np.prod(shape_of(batch.grades)))
    if batch.divider == "groups":
        order, starts = _group(to_host(space, parts))
        return np.append(starts, size).astype(np.int64), order, None
    if batch.is_flat:
        numbers = to_host(space, parts).astype(np.int64)
        offsets = numbers
        if batch.divider == "lengths":
            offsets = np.concatenate([[0], np.cumsum(numbers)])
        _check_offsets(offsets, size, batch)
        return offsets, None, None
    rows, columns = shape_of(batch.grades)
    offsets = np.arange(rows + 1, dtype=np.int64) * columns
    if batch.divider is None:
        return offsets, None, None
    array = to_host(space, parts)
    if batch.divider == "mask":
        return offsets, None, np.ascontiguousarray(array).view(np.uint8).ravel()
    is_bad = (array < 0) | (array > columns)
    if is_bad.any():
        raise FormatError(
            f"expected lengths from 0 to {columns}, found {array[is_bad][0]}",
            hint=_HINTS["lengths"],
            code="length_mismatch",
            file="lengths",
            line=int(np.argmax(is_bad)) + 1,
        )
    mask = np.arange(columns) < array[:, None]
    return offsets, None, mask.view(np.uint8).ravel()


def _group(ids: NDArray[Any]) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    """Return the order that brings documents of a group together, and where each group starts.

    Groups are in order of first appearance, and the documents of a group in the order given.
    """
    if len(ids) == 0:
        return None, np.zeros(0, dtype=np.int64)
    runs = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    by_id = np.argsort(ids[runs], kind="stable")
    sorted_ids = ids[runs][by_id]
    is_new = np.append(True, sorted_ids[1:] != sorted_ids[:-1])
    if is_new.all():
        return None, runs
    # Each run gets the first run of its group, by which a stable sort brings all of them together.
    first_runs = np.empty(len(runs), dtype=np.int64)
    first_runs[by_id] = by_id[np.flatnonzero(is_new)][np.cumsum(is_new) - 1]
    lengths = np.diff(np.append(runs, len(ids)))
    first_of_rows = np.repeat(first_runs, lengths)
    order = np.argsort(first_of_rows, kind="stable")
    grouped = first_of_rows[order]
    starts = np.flatnonzero(np.append(True, grouped[1:] != grouped[:-1]))
    return order, starts


def _check_offsets(offsets: NDArray[np.int64], size: int, batch: Batch) -> None:
    lengths = offsets[1:] - offsets[:-1]
    fits = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == size
    if fits and not (lengths < 0).any():
        if batch.max_length is not None and (lengths > batch.max_length).any():
            raise _too_long(int(lengths.max()), batch.max_length)
        return
    raise FormatError(
        f"expected {batch.divider} that divide {size} documents, found "
        f"{'a negative length' if (lengths < 0).any() else f'some for {_last(offsets)}'}",
        hint=_HINTS[str(batch.divider)],
        code="length_mismatch",
        file=batch.divider,
    )


def _last(offsets: NDArray[np.int64]) -> int:
    return int(offsets[-1]) if len(offsets) else 0


def _too_long(longest: int, max_length: int) -> FormatError:
    return FormatError(
        f"expected lists of up to max_length={max_length} documents, found one of {longest}",
        hint="raise max_length",
        code="length_mismatch",
        file="max_length",
    )


# On the device.


def pad(batch: Batch) -> Padded:
    """Return a batch as matrices, on its own device.

    The columns of ragged lists are as many as the longest list has documents. Without
    `max_length`, that is one number to read from the device.

    Raises:
        UsageError: A number has to be read, and the arrays are being traced.
    """
    space, xp, parts = batch.space, batch.space.xp, batch.parts
    if not batch.is_flat:
        columns = shape_of(batch.grades)[1]
        if batch.divider != "lengths":
            return _widen(space, Padded(batch.grades, batch.scores, parts, None))
        is_bad = (parts < 0) | (parts > columns)  # type: ignore[operator]  # an array
        is_there = space.count_up(columns)[None, :] < parts[:, None]  # type: ignore[index]  # too
        return _widen(space, Padded(batch.grades, batch.scores, is_there, is_bad))
    size = shape_of(batch.grades)[0]
    order = None
    if batch.divider == "groups":
        order, starts, lengths = _group_on_device(space, parts)
    elif batch.divider == "lengths":
        lengths = parts
        starts = _sums(space, lengths) - lengths
    else:
        starts, lengths = parts[:-1], parts[1:] - parts[:-1]  # type: ignore[index]  # an array
    longest = batch.max_length
    if longest is None:
        longest = int(space.read(xp.max(lengths))) if shape_of(lengths)[0] else 0
    ends = starts + lengths
    is_bad = (lengths < 0) | (lengths > longest) | (ends > size) | (starts < 0)
    if order is None and shape_of(lengths)[0]:
        # No list has a value if together they don't have all documents.
        is_bad = is_bad | (ends[-1:] != size) | (starts[:1] != 0)
    columns = space.count_up(max(longest, 1))[None, :]
    is_there = columns < lengths[:, None]
    places = space.where(is_there, starts[:, None] + columns, 0)
    places = xp.where((places < 0) | (places >= size), xp.zeros_like(places), places)
    if size == 0:
        empty = xp.zeros(places.shape, dtype=xp.float32, device=space.device)
        return Padded(empty, empty, is_there & False, is_bad)
    if order is not None:
        places = space.look_up(order, places)
    grades = batch.grades
    if space.kind(grades) == "bool":
        grades = space.cast(grades, space.real())
    return Padded(
        space.look_up(grades, places), space.look_up(batch.scores, places), is_there, is_bad
    )


def _widen(space: Space, batch: Padded) -> Padded:
    """Return a batch of lists without columns as one with a column in which nothing is."""
    xp, rows = space.xp, shape_of(batch.grades)[0]
    if shape_of(batch.grades)[1] > 0:
        return batch
    empty = xp.zeros((rows, 1), dtype=xp.float32, device=space.device)
    return Padded(empty, empty, empty != 0, batch.is_bad)


def _sums(space: Space, lengths: Array) -> Array:
    if space.is_torch or space.name == "numpy":
        return space.xp.cumsum(lengths, 0)
    return space.xp.cumulative_sum(lengths)


def _group_on_device(space: Space, ids: Array) -> tuple[Array, Array, Array]:
    """Return the order of the documents, and where each group starts and how long it is.

    Raises:
        UsageError: The IDs are being traced. How many groups there are depends on them.
    """
    xp, size = space.xp, shape_of(ids)[0]
    places = space.count_up(size)
    if size == 0:
        return places, places, places
    if space.name == "jax":
        space.read(ids[0])  # an explanation, if they are being traced
    order = space.order(ids, descending=False)
    grouped = space.look_up(ids, order)
    edge = grouped[:1] == grouped[:1]
    is_new = xp.concat([edge, grouped[1:] != grouped[:-1]])
    starts = places[is_new]
    ends = xp.concat([starts[1:], starts[:1] + size])
    # Rows of a group keep their order, so that its first row is the first there.
    by_first = space.order(space.look_up(order, starts), descending=False)
    starts, ends = space.look_up(starts, by_first), space.look_up(ends, by_first)
    return order, starts, ends - starts
