"""Batches of lists: padded with a mask or lengths, or ragged with lengths, offsets or group IDs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope._inputs.numbers import bad_shape, not_numbers
from rankscope.array.space import Array, Padded, Space, find_space, shape_of, to_host
from rankscope.errors import FormatError, UsageError

FLAT_HINT = (
    "pass lengths, offsets or groups with flat arrays; to score one list, make it a row: "
    "grades[None, :]"
)


HINTS = {
    "scores": "both have a row for each list and a column for each document, or both are flat",
    "mask": "mask is True where there is a document",
    "lengths": "lengths has the number of documents of each list",
    "offsets": "list i has the documents from offsets[i] up to offsets[i + 1]",
    "groups": "groups has the ID of the list of each document",
    "max_length": "raise max_length",
}


@dataclass(frozen=True, slots=True)
class Batch:
    """Arrays of shape (rows, columns) or flat, and the array that divides them into lists.

    `shape` is that of the values, `None` for flat arrays, where it depends on the lists.
    """

    space: Space
    grades: Array
    scores: Array
    divider: str | None
    parts: Array
    max_length: int | None
    shape: tuple[int, ...] | None


def read_batch(
    grades: object, scores: object, dividers: Mapping[str, object], max_length: int | None
) -> Batch:
    """Read a batch.

    Raises:
        InputError: The arrays don't fit together.
        UsageError: Several arguments divide it, or none divides flat arrays.
    """
    passed = {name: value for name, value in dividers.items() if value is not None}
    if len(passed) > 1:
        problem = f"expected one of {', '.join(dividers)}, found {' and '.join(passed)}"
        hint = "each of them says which documents a list has"
        raise UsageError(problem, hint=hint, code="bad_parameter")
    space, arrays = find_space({"grades": grades, "scores": scores})
    for name, array in arrays.items():
        kind = space.kind(array)
        if kind == "other" or (kind == "bool" and name == "scores"):
            raise not_numbers(name, str(array.dtype))
    shape, other = shape_of(arrays["grades"]), shape_of(arrays["scores"])
    if shape != other:
        problem = f"expected grades and scores of one shape, found {shape} and {other}"
        raise _misfit("scores", problem)
    divider, parts = next(iter(passed.items()), (None, None))
    _check_divider(divider, shape)
    if divider is not None:
        parts = _read_parts(space, divider, parts, shape)
    if len(shape) > 2:
        rows = math.prod(shape[:-1])
        reshape = space.xp.reshape
        arrays = {name: reshape(array, (rows, shape[-1])) for name, array in arrays.items()}
        if divider is not None:
            parts = reshape(parts, (rows, shape[-1]) if divider == "mask" else (rows,))
    is_length = isinstance(max_length, int) and not isinstance(max_length, bool) and max_length > 0
    if max_length is not None and not is_length:
        problem = f"expected max_length to be a positive integer, found {max_length!r}"
        hint = "it is the number of documents of the longest list"
        raise UsageError(problem, hint=hint, code="bad_parameter")
    of_values = None if len(shape) == 1 else shape[:-1]
    return Batch(space, arrays["grades"], arrays["scores"], divider, parts, max_length, of_values)


def _misfit(name: str, problem: str, *, line: int | None = None) -> FormatError:
    return FormatError(problem, hint=HINTS[name], code="length_mismatch", file=name, line=line)


def _check_divider(divider: str | None, shape: tuple[int, ...]) -> None:
    if not shape:
        raise bad_shape("grades", (1, 2), shape)
    if len(shape) == 1 and divider in {None, "mask"}:
        problem = f"expected what divides flat grades into lists, found {divider or 'nothing'}"
        raise FormatError(problem, hint=FLAT_HINT, code="array_shape", file="grades")
    if len(shape) > 1 and divider in {"offsets", "groups"}:
        problem = f"expected flat grades with {divider}, found shape {shape}"
        hint = "a matrix is divided by mask or lengths"
        raise FormatError(problem, hint=hint, code="array_shape", file="grades")


def _read_parts(space: Space, divider: str, parts: object, shape: tuple[int, ...]) -> Array:
    """Read the array that divides a batch, as booleans or integers."""
    if not hasattr(parts, "dtype") or type(parts).__module__.partition(".")[0] == "numpy":
        parts = _copy_over(space, parts, divider)
    space, arrays = find_space({"grades": space.make(0, None), divider: parts})
    array = arrays[divider]
    kind = space.kind(array)
    if kind != "integer" and (kind, divider) != ("bool", "mask"):
        expected = "booleans" if divider == "mask" else "integers"
        raise not_numbers(divider, str(array.dtype), expected=expected)
    fits = shape if divider in {"mask", "groups"} else None
    if divider == "lengths" and len(shape) > 1:
        fits = shape[:-1]
    actual = shape_of(array)
    if len(actual) != 1 if fits is None else actual != fits:
        expected = "one dimension" if fits is None else f"shape {fits}"
        raise _misfit(divider, f"expected {divider} with {expected}, found shape {actual}")
    return array != 0 if divider == "mask" and kind == "integer" else array


def _copy_over(space: Space, values: object, name: str) -> Array:
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise not_numbers(name, "lists of different lengths") from error
    if array.dtype.kind not in "biuf":
        refusal = not_numbers(name, "text" if array.dtype.kind in "OUST" else str(array.dtype))
        if name == "groups":
            refusal.hint = "number the IDs: numpy.unique(groups, return_inverse=True)[1]"
        raise refusal
    # An empty list has no type.
    return space.make(array if array.size else array.astype(np.int64), None)


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
    if batch.shape is None:
        offsets = to_host(space, parts).astype(np.int64)
        if batch.divider == "lengths":
            offsets = np.concatenate([[0], np.cumsum(offsets)])
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
        problem = f"expected lengths from 0 to {columns}, found {array[is_bad][0]}"
        raise _misfit("lengths", problem, line=int(np.argmax(is_bad)) + 1)
    mask = np.arange(columns) < array[:, None]
    return offsets, None, mask.view(np.uint8).ravel()


def _group(ids: NDArray[Any]) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    """Return the order that brings documents of a group together, and where each group starts.

    Groups are in order of first appearance, and the documents of a group in their order.
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
    lengths, limit = np.diff(offsets), batch.max_length
    has_negative = bool((lengths < 0).any())
    if has_negative or len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != size:
        last = int(offsets[-1]) if len(offsets) else 0
        problem = f"expected {batch.divider} that divide {size} documents, found "
        problem += "a negative length" if has_negative else f"some for {last}"
        raise _misfit(str(batch.divider), problem)
    if limit is not None and (lengths > limit).any():
        problem = f"expected lists of up to max_length={limit} documents"
        raise _misfit("max_length", f"{problem}, found one of {lengths.max()}")


# On the device.


def pad(batch: Batch) -> Padded:
    """Return a batch as matrices, on its own device.

    The columns of ragged lists are as many as the longest list has documents. Without
    `max_length`, that is one number to read from the device.

    Raises:
        UsageError: A number has to be read, and the arrays are being traced.
    """
    space, xp, parts = batch.space, batch.space.xp, batch.parts
    if batch.shape is not None:
        return _pad_matrix(batch)
    size = shape_of(batch.grades)[0]
    order = None
    if batch.divider == "groups":
        order, starts, lengths = _group_on_device(space, parts)
    elif batch.divider == "lengths":
        lengths = parts
        starts = space.add_up(lengths) - lengths
    else:
        starts, lengths = parts[:-1], parts[1:] - parts[:-1]
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
    scores = space.look_up(batch.scores, places)
    return Padded(space.look_up(grades, places), scores, is_there, is_bad)


def _pad_matrix(batch: Batch) -> Padded:
    space, parts = batch.space, batch.parts
    rows, columns = shape_of(batch.grades)
    is_there, is_bad = parts, None
    if batch.divider == "lengths":
        is_bad = (parts < 0) | (parts > columns)
        is_there = space.count_up(columns)[None, :] < parts[:, None]
    if columns > 0:
        return Padded(batch.grades, batch.scores, is_there, is_bad)
    empty = space.xp.zeros((rows, 1), dtype=space.xp.float32, device=space.device)
    return Padded(empty, empty, empty != 0, is_bad)


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
