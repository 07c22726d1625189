"""Measures of batches in main memory, computed by the core on views of the arrays."""

from __future__ import annotations

import sys

from rankscope._core import values_of_rows
from rankscope._evaluate.settings import Settings as EvaluateSettings
from rankscope._inputs.doubles import is_in_place, to_doubles
from rankscope.array.batches import divide
from rankscope.array.ranked import Values
from rankscope.deferred import np
from rankscope.settings.policy import Policy
from rankscope.settings.reading import count_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.array.batches import Batch
    from rankscope.array.space import Array, Space
    from rankscope.array.values import Settings


def is_in_memory(batch: Batch) -> bool:
    """Check whether the core can read the arrays where they are."""
    return _is_plain(batch.space, batch.grades) and _is_plain(batch.space, batch.scores)


def _is_plain(space: Space, array: Array) -> bool:
    if not space.is_torch:
        return space.name == "numpy"
    torch = sys.modules["torch"]
    if type(array) not in {torch.Tensor, torch.nn.Parameter} or array.device.type != "cpu":
        return False
    if torch.compiler.is_compiling():
        return False
    try:
        array.detach().data_ptr()
    except RuntimeError:  # a tensor inside torch.func.vmap has no memory
        return False
    return True


def evaluate(batch: Batch, asked: Settings) -> list[Values]:
    """Return the values of measures, as NumPy arrays.

    Raises:
        InputError: Lengths or offsets don't fit the arrays.
    """
    offsets, order, mask = divide(batch)
    grades, scores = (
        _see(batch.space, array, order, name)
        for name, array in (("grades", batch.grades), ("scores", batch.scores))
    )
    values = []
    policy = Policy(ties=asked.ties, negative=asked.negative)
    for measure in asked.measures:
        plan = EvaluateSettings(measures=measure, policy=policy).request().plan()
        found, refused = values_of_rows(plan, grades, scores, offsets, mask, count_threads(None))
        numbers = np.asarray(memoryview(found)).view(np.float64)
        is_bad = np.zeros(len(numbers), dtype=bool)
        is_bad[np.asarray(memoryview(refused)).view(np.int64)] = True
        values.append(Values(numbers, np.isnan(numbers), is_bad))
    return values


def _see(space: Space, array: Array, order: NDArray[Any] | None, name: str) -> NDArray[np.number]:
    """Return the numbers of an array, one after another, in a type that the core reads."""
    if space.is_torch:
        if space.kind(array) == "float" and not space.is_wide(array):
            array = array.float()
        array = array.numpy()
    flat = np.ascontiguousarray(array).reshape(-1)
    if order is not None:
        flat = flat[order]
    if flat.dtype.kind == "f" and flat.dtype.itemsize == 2:
        return flat.astype(np.float32)
    if flat.dtype.kind == "b" or flat.dtype.itemsize < 4:
        return flat.astype(np.int32)
    # The core would read large integers as NaN, which is a grade.
    return flat if is_in_place(flat) and flat.dtype != np.int64 else to_doubles(flat, name)
