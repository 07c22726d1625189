"""The functions of an array library, under the names of the array API standard.

NumPy, JAX and array-api-strict follow the standard (2024.12, https://data-apis.org/array-api).
PyTorch has most of it under the same names; the few functions that differ are the methods here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, TypeAlias

import numpy as np

from rankscope._inputs.numbers import open_array
from rankscope._settings import Negative, Ties
from rankscope.errors import FormatError, UsageError

Array: TypeAlias = Any
"""An array of any library. Each has a type of its own."""
Kind: TypeAlias = Literal["bool", "integer", "float", "other"]
REALS = ("float64", "float32")


@dataclass(frozen=True, slots=True)
class Space:
    """The module with the functions of an array library, and the device of the arrays."""

    xp: ModuleType
    device: object

    @property
    def name(self) -> str:
        """The name of the library: `numpy`, `torch`, `jax`, and so on."""
        return self.xp.__name__.partition(".")[0]

    @property
    def is_torch(self) -> bool:
        """Whether the library is PyTorch."""
        return self.name == "torch"

    def real(self, dtype: object = None) -> Any:  # noqa: ANN401 - a type of the library
        """Return the type in which to add: double precision where there is one, by default.

        Raises:
            UsageError: It is neither float64 nor float32, or the device has no double precision.
        """
        is_jax = self.name == "jax"
        if is_jax:
            has_double = bool(sys.modules["jax"].config.jax_enable_x64)
        else:
            has_double = not (self.is_torch and getattr(self.device, "type", "") == "mps")
        if dtype is None:
            return self.xp.float64 if has_double else self.xp.float32
        name = getattr(dtype, "name", None) or getattr(dtype, "__name__", dtype)
        name = str(name).rpartition(".")[2]
        if name not in REALS:
            message = f"expected dtype to be float64 or float32, found {name}"
            hint = 'write dtype="float32", or leave it out'
            raise UsageError(message, hint=hint, code="bad_parameter")
        if name == "float64" and not has_double:
            to_do = 'call jax.config.update("jax_enable_x64", True) first'
            raise UsageError(
                f"expected a device with double precision for dtype=float64, found {self.device}",
                hint=to_do if is_jax else 'write dtype="float32"',
                code="bad_parameter",
            )
        return getattr(self.xp, name)

    def kind(self, array: Array) -> Kind:
        """Return what an array holds."""
        if self.is_torch:
            dtype = array.dtype
            if dtype == self.xp.bool:
                return "bool"
            if dtype.is_floating_point:
                return "float"
            return "other" if dtype.is_complex else "integer"
        if self.name == "numpy":
            kinds: dict[str, Kind] = {"b": "bool", "i": "integer", "u": "integer", "f": "float"}
            return kinds.get(array.dtype.kind, "other")
        for kind, name in (("bool", "bool"), ("integer", "integral"), ("float", "real floating")):
            if self.xp.isdtype(array.dtype, name):
                return kind  # type: ignore[return-value]  # one of the words
        return "other"

    def make(self, values: object, dtype: object) -> Array:
        """Return an array of this library on the device."""
        if self.is_torch:
            return self.xp.as_tensor(values, dtype=dtype, device=self.device)
        if self.name == "jax":  # it places arrays where the others are
            return self.xp.asarray(values, dtype=dtype)
        return self.xp.asarray(values, dtype=dtype, device=self.device)

    def count_up(self, stop: int) -> Array:
        """Return the integers from 0 up to `stop`, excluded."""
        return self.xp.arange(stop, **({} if self.name == "jax" else {"device": self.device}))

    def cast(self, array: Array, dtype: object) -> Array:
        """Return an array in another type, or itself."""
        if array.dtype == dtype:
            return array
        return array.to(dtype) if self.is_torch else self.xp.astype(array, dtype)

    def is_wide(self, array: Array) -> bool:
        """Check whether floating-point numbers have at least single precision."""
        return array.dtype in [getattr(self.xp, name, None) for name in REALS]

    def where(self, chosen: Array, first: Array | float, second: Array | float) -> Array:
        """Choose between two arrays, one of which may be a number."""
        if isinstance(first, int | float):
            first = self.xp.full_like(second, first)
        elif isinstance(second, int | float):
            second = self.xp.full_like(first, second)
        return self.xp.where(chosen, first, second)

    def order(self, keys: Array, *, descending: bool) -> Array:
        """Return the places of the numbers of each row in order; equal ones stay in order."""
        if self.name == "numpy":
            return self.xp.argsort(-keys if descending else keys, axis=-1, kind="stable")
        return self.xp.argsort(keys, axis=-1, descending=descending, stable=True)

    def largest(self, values: Array, count: int) -> Array:
        """Return the largest numbers of each row, the largest first."""
        count = min(count, values.shape[-1])
        if self.is_torch:
            return self.xp.topk(values, count, dim=-1).values
        if self.name == "jax":
            return sys.modules["jax"].lax.top_k(values, count)[0]
        return -self.xp.sort(-values, axis=-1)[..., :count]

    def pick(self, values: Array, places: Array) -> Array:
        """Return the numbers at these places of each row."""
        if self.is_torch:
            return self.xp.take_along_dim(values, places, -1)
        return self.xp.take_along_axis(values, places, axis=-1)

    def look_up(self, table: Array, places: Array) -> Array:
        """Return the numbers at these places of a list."""
        if self.is_torch:
            return table[places]
        flat = self.xp.take(table, self.xp.reshape(places, (-1,)), axis=0)
        return self.xp.reshape(flat, places.shape)

    def add_up(self, values: Array) -> Array:
        """Return the sums of the numbers of each row up to each of them."""
        if self.is_torch or self.name == "numpy":
            return self.xp.cumsum(values, -1)
        return self.xp.cumulative_sum(values, axis=-1)

    def multiply_up(self, values: Array) -> Array:
        """Return the products of the numbers of each row up to each of them."""
        if self.is_torch or self.name == "numpy":
            return self.xp.cumprod(values, -1)
        return self.xp.cumulative_prod(values, axis=-1)

    def highest_so_far(self, values: Array) -> Array:
        """Return the largest of the numbers of each row up to each of them."""
        if self.is_torch:
            return self.xp.cummax(values, -1).values
        if self.name == "jax":
            return sys.modules["jax"].lax.cummax(values, axis=values.ndim - 1)
        reach = 1  # the standard has no such function: each pass looks twice as far back
        while reach < values.shape[-1]:
            later = self.xp.maximum(values[..., reach:], values[..., :-reach])
            values = self.xp.concat([values[..., :reach], later], axis=-1)
            reach *= 2
        return values

    def reverse(self, values: Array) -> Array:
        """Return the columns, the last first."""
        return self.xp.flip(values, (-1,)) if self.is_torch else self.xp.flip(values, axis=-1)

    def largest_float(self, values: Array) -> float:
        """Return the number up to which all integers are numbers of this type."""
        return 2.0 / float(self.xp.finfo(values.dtype).eps)

    def read(self, value: Array) -> float:
        """Return one number of the device, for which the host waits.

        Raises:
            UsageError: It is being traced, so that there is none yet.
        """
        try:
            return float(value)
        except Exception as error:
            raise UsageError(
                "expected numbers that can be read now, found an array that is being traced",
                hint="leave check out, and pass max_length with lengths or offsets; group IDs and "
                'empty="error" depend on the numbers and can\'t be traced',
                code="bad_parameter",
            ) from error


HOST = Space(np, "cpu")
"""Arrays of NumPy."""


def find_space(arrays: Mapping[str, object]) -> tuple[Space, dict[str, Array]]:
    """Find the library and the device of arrays, and make arrays of lists.

    Raises:
        InputError: They are of different libraries or devices, or not arrays of numbers.
    """
    read = {name: _as_array(values, name) for name, values in arrays.items()}
    spaces = {name: space_of(array, name) for name, array in read.items()}
    (first, space), *others = spaces.items()
    for name, other in others:
        # JAX places arrays itself, and refuses those that it can't bring together.
        is_apart = other.device != space.device and space.name != "jax"
        if other.xp is not space.xp or is_apart:
            raise FormatError(
                f"expected {first} and {name} in one library and on one device, found "
                f"{space.name} on {space.device} and {other.name} on {other.device}",
                hint="move one of them: .to(device) in PyTorch, jax.device_put in JAX",
                code="device_array",
                file=name,
            )
    return space, read


def to_host(space: Space, array: Array) -> Any:  # noqa: ANN401 - a NumPy array
    """Return an array as NumPy's, copied where it isn't in main memory."""
    if space.is_torch:
        array = array.detach().cpu()
        narrow = array.dtype.is_floating_point and not space.is_wide(array)
        return (array.float() if narrow else array).numpy()
    if space.name == "jax" and space.kind(array) == "float" and not space.is_wide(array):
        array = space.cast(array, space.xp.float32)
    return np.asarray(array)


def _as_array(values: object, name: str) -> Array:
    torch = sys.modules.get("torch")
    is_tensor = torch is not None and isinstance(values, torch.Tensor)
    array = values
    if not (is_tensor or hasattr(values, "__array_namespace__")):
        array = open_array(values, name, 3)
    if type(array).__name__ == "MaskedArray":
        problem = f"expected {name} as a plain array, found a masked one"
        hint = "pass its data, and mask=~array.mask: True where there is a document"
        raise FormatError(problem, hint=hint, code="not_numeric", file=name)
    return array.detach() if is_tensor else array  # type: ignore[attr-defined]  # a tensor


def space_of(array: Array, name: str = "an array") -> Space:
    """Return the library and the device of an array.

    Raises:
        FormatError: It is a sparse or nested tensor.
    """
    if isinstance(array, np.ndarray):
        return HOST
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        if array.layout != torch.strided or array.is_nested:
            layout = "a nested one" if array.is_nested else str(array.layout)
            problem = f"expected {name} as a dense tensor, found {layout}"
            hint = "call .to_dense(), or pass flat arrays with lengths"
            raise FormatError(problem, hint=hint, code="not_numeric", file=name)
        return Space(torch, array.device)
    xp = array.__array_namespace__()
    try:
        device = array.device
    except Exception:  # noqa: BLE001 - a JAX array that is being traced may have none yet
        device = None
    return Space(xp, device)


def shape_of(array: Array) -> tuple[int, ...]:
    """Return the shape of an array as a tuple."""
    return tuple(array.shape)


@dataclass(frozen=True, slots=True)
class Padded:
    """A batch as matrices of shape (rows, columns), and which rows can't have a value.

    Without `is_there`, there is a document everywhere. Grades are NaN where unjudged.
    """

    grades: Array
    scores: Array
    is_there: Array | None
    is_bad: Array | None


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a measure, and the rows that have none because of what they contain."""

    values: Array
    is_undefined: Array
    is_bad: Array


@dataclass(frozen=True, slots=True)
class Ranked:
    """Lists in rank order; numbers are added in the type `real`.

    `grades` has the grade at each rank, NaN where unjudged, shape (rows, columns); `places` the
    columns, counted from 0, shape (1, columns); `start` and `end` the columns at which the tie of
    each rank starts and ends, `None` without ties; `retrieved` the number of documents of each row;
    `is_bad` the rows that can't have a value.
    """

    space: Space
    real: Any
    grades: Array
    places: Array
    start: Array | None
    end: Array | None
    retrieved: Array
    is_bad: Array
    negative: Negative

    @property
    def columns(self) -> int:
        """The number of columns."""
        return int(self.grades.shape[1])

    def number(self, integers: Array) -> Array:
        """Return integers as real numbers."""
        return self.space.cast(integers, self.real)

    def size(self) -> Array | float:
        """Return how many documents the tie of each rank has."""
        if self.start is None or self.end is None:
            return 1.0
        return self.number(self.end - self.start + 1)


def rank_batch(space: Space, batch: Padded, ties: Ties, negative: Negative, real: object) -> Ranked:
    """Put the lists of a batch in rank order, documents that are not there last."""
    xp = space.xp
    grades, scores, is_there = space.cast(batch.grades, real), batch.scores, batch.is_there
    if space.kind(scores) == "integer":
        scores = space.cast(scores, real)
        is_odd = xp.abs(scores) > space.largest_float(scores)
    else:
        if not space.is_wide(scores):
            scores = space.cast(scores, xp.float32)
        is_odd = ~xp.isfinite(scores)
    is_odd = is_odd | xp.isinf(grades)
    if space.kind(batch.grades) == "integer":
        is_odd = is_odd | (xp.abs(grades) > space.largest_float(grades))
    grades = space.where(xp.isinf(grades), 0.0, grades)
    if negative == "error":
        is_odd = is_odd | (grades < 0)
    if is_there is None:
        retrieved = xp.sum(xp.ones_like(grades), axis=-1)
    else:
        is_odd = is_odd & is_there
        retrieved = xp.sum(space.cast(is_there, real), axis=-1)
        grades = space.where(is_there, grades, math.nan)
        # Scores of documents are finite, so that all documents come first.
        scores = space.where(is_there, scores, -math.inf)
    is_bad = xp.any(is_odd, axis=-1)
    if batch.is_bad is not None:
        is_bad = is_bad | batch.is_bad
    order = _order(space, grades, scores, ties)
    places = xp.reshape(space.count_up(scores.shape[1]), (1, -1))
    start, end = None, None
    if ties == "average":
        start, end = _find_ties(space, space.pick(scores, order), places)
    grades = space.pick(grades, order)
    return Ranked(space, real, grades, places, start, end, retrieved, is_bad, negative)


def _order(space: Space, grades: Array, scores: Array, ties: Ties) -> Array:
    if ties not in {"best", "worst"}:
        return space.order(scores, descending=True)
    graded = space.where(space.xp.isnan(grades), 0.0, grades)
    by_grade = space.order(graded, descending=ties == "best")
    by_score = space.order(space.pick(scores, by_grade), descending=True)
    return space.pick(by_grade, by_score)


def _find_ties(space: Space, scores: Array, places: Array) -> tuple[Array, Array]:
    """Return the first and the last column of the tie that each column belongs to."""
    xp = space.xp
    is_new = scores[:, 1:] != scores[:, :-1]
    edge = scores[:, :1] == scores[:, :1]
    places = xp.broadcast_to(places, scores.shape)
    last = places.shape[1] - 1
    firsts = space.where(xp.concat([edge, is_new], axis=-1), places, 0)
    lasts = space.where(xp.concat([is_new, edge], axis=-1), last - places, 0)
    start = space.highest_so_far(firsts)
    end = last - space.reverse(space.highest_so_far(space.reverse(lasts)))
    return start, end
