"""Measures of batches: the values of several measures, one for each list."""

from __future__ import annotations

import math
import sys
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from rankscope._core import EMPTY_VALUES, values_of_rows
from rankscope._evaluate.settings import Settings
from rankscope._inputs.numbers import is_in_place, to_doubles
from rankscope._names import check_choice
from rankscope._settings import CHOICES, Empty, Negative, Policy, Ties, count_threads
from rankscope.array import program
from rankscope.array.batches import Batch, divide, pad, read_batch
from rankscope.array.program import BatchSettings
from rankscope.array.space import HOST, Array, Space, Values, to_host
from rankscope.errors import FormatError, MeasureError, PolicyError
from rankscope.measures import Measure
from rankscope.measures.parse import Measures, read_measures


class Choices(TypedDict, total=False):
    """How a batch is divided into lists, and how the lists are evaluated."""

    mask: Array
    lengths: Array
    offsets: Array
    groups: Array
    max_length: int
    ties: Ties
    empty: Empty
    negative: Negative
    dtype: Literal["float64", "float32"]
    check: bool | None


KERNELS = ("ndcg", "dcg", "ap", "rr", "precision", "recall", "success")
"""The measures that are defined for arrays."""
TIES = ("average", "input", "best", "worst")
NEGATIVE = ("nonrelevant", "gain", "error")


def evaluate_batch(
    measures: Measures,
    *,
    grades: Array,
    scores: Array,
    mask: Array | None = None,
    lengths: Array | None = None,
    offsets: Array | None = None,
    groups: Array | None = None,
    max_length: int | None = None,
    ties: Ties = "average",
    empty: Empty = "zero",
    negative: Negative = "nonrelevant",
    dtype: Literal["float64", "float32"] | None = None,
    check: bool | None = None,
) -> dict[str, Array]:
    """Return the values of several measures for each list of a batch, sorting it once.

    The values are in an array of the same library, on the same device. For `groups`, they are in
    the order in which the groups first appear.

    Args:
        measures: Measures or their names: nDCG, DCG, AP, RR, P, R and Success.
        grades: Grades, shape (..., lists, documents), or flat with `lengths`, `offsets` or
            `groups`. NaN means unjudged.
        scores: Scores of the same shape.
        mask: True where there is a document, of the same shape as `grades`.
        lengths: The number of documents of each list. Matrices have them in the first columns, and
            flat arrays one list after another.
        offsets: List i of flat arrays has the documents from `offsets[i]` up to `offsets[i + 1]`.
        groups: The ID of the list of each document of flat arrays, in any order.
        max_length: The number of documents of the longest list of flat arrays. On a GPU, the host
            doesn't wait for the device if it is given. A batch with a longer list gets NaN there.
        ties: How equal scores are ordered: `"average"` (the expected value over all orders),
            `"input"`, `"best"` or `"worst"`, as in `Policy`.
        empty: The value where a measure is undefined, as in `Policy`. With `"skip"` it is NaN.
        negative: `"nonrelevant"`, `"gain"` or `"error"`, as in `Policy`.
        dtype: The type of the values, in which sums are added (default: float64, or float32 if
            the device has no double precision).
        check: Whether to raise an error if a score is not finite, or a grade has no gain. If not,
            the value of the list is NaN. By default, arrays in main memory of NumPy and PyTorch are
            checked. On other devices, this would make the host wait.

    Raises:
        UsageError: A measure or setting is invalid, or has no definition for arrays.
        InputError: The arrays don't fit together, or contain what has no value.

    Examples:
        >>> import numpy as np
        >>> values = evaluate_batch(
        ...     ["nDCG@2", "RR"],
        ...     grades=np.array([[0, 1, 2], [1, 0, 0]]),
        ...     scores=np.array([[0.9, 0.8, 0.1], [0.3, 0.2, 0.0]]),
        ...     lengths=np.array([3, 2]),
        ... )
        >>> {name: numbers.round(4).tolist() for name, numbers in values.items()}
        {'nDCG@2': [0.2398, 1.0], 'RR': [0.5, 1.0]}
    """
    settings = read_settings(measures, ties, empty, negative, dtype, check=check)
    dividers = {"mask": mask, "lengths": lengths, "offsets": offsets, "groups": groups}
    batch = read_batch(grades, scores, dividers, max_length)
    pairs = zip(settings.measures, value_rows(batch, settings), strict=True)
    return {measure.name: _finish(batch, values, settings) for measure, values in pairs}


def read_settings(
    measures: Measures,
    ties: Ties,
    empty: Empty,
    negative: Negative,
    dtype: Literal["float64", "float32"] | None,
    *,
    check: bool | None,
) -> BatchSettings:
    """Read what to compute.

    Raises:
        MeasureError: A measure isn't defined for arrays.
        PolicyError: A word is none of its field.
    """
    requested, _ = read_measures(measures)
    for measure in requested:
        parameters = measure.parameters
        if measure.row.kernel not in KERNELS:
            raise _unavailable(measure, "nDCG, DCG, AP, RR, P, R or Success")
        if measure.judged_only:
            raise _unavailable(measure, "a measure without judged_only")
        if parameters.get("denominator") == "found":
            raise _unavailable(measure, "a denominator that doesn't depend on the order")
        if callable(parameters.get("gain")):
            raise _unavailable(measure, "a named gain or a table, such as {0: 0, 1: 1, 2: 3}")
        measure.kernel_spec(grades=())  # refuses measures without a cutoff that need one
    check_choice("ties", ties, TIES)
    check_choice("empty", empty, CHOICES["empty"])
    check_choice("negative", negative, NEGATIVE)
    return BatchSettings(requested, ties, empty, negative, dtype, check)


def _unavailable(measure: Measure, expected: str) -> MeasureError:
    hint = "rankscope.Rankings.from_arrays(grades, scores).evaluate has all measures"
    if measure.row.of_items:
        hint = "rankscope.evaluate has it, with the IDs of the items"
    problem = f"expected {expected} for arrays, found {measure.name}"
    return MeasureError(problem, hint=hint, code="bad_parameter")


def value_rows(batch: Batch, settings: BatchSettings) -> list[Values]:
    """Return the values of measures for each list, where they were computed.

    Raises:
        InputError: The arrays don't fit together, or contain what has no value and are checked.
    """
    in_memory = is_in_memory(batch)
    if in_memory:
        space, rows = HOST, _evaluate_in_memory(batch, settings)
    else:
        space, rows = batch.space, program.evaluate(batch.space, pad(batch), settings)
    if in_memory if settings.check is None else settings.check:
        for measure, values in zip(settings.measures, rows, strict=True):
            if space.read(space.xp.any(values.is_bad)):
                row = int(to_host(space, values.is_bad).argmax())
                raise _find_mistake(batch, measure, row, settings.negative)
    return rows


def _finish(batch: Batch, rows: Values, settings: BatchSettings) -> Array:
    """Return the values under a policy for lists without relevant documents.

    Raises:
        PolicyError: There is such a list, and the policy refuses it.
    """
    in_memory = is_in_memory(batch)
    space = HOST if in_memory else batch.space
    if settings.empty == "error":
        is_empty = rows.is_undefined & ~rows.is_bad
        if space.read(space.xp.any(is_empty)):
            row = int(to_host(space, is_empty).argmax())
            problem = f"expected a relevant document in every list, found none in list {row}"
            hint = 'set empty="zero", or empty="skip" to get NaN'
            raise PolicyError(problem, hint=hint, code="empty_query")
    fill = EMPTY_VALUES.get(settings.empty, math.nan)
    values = space.where(rows.is_undefined, fill, rows.values)
    values = space.where(rows.is_bad, math.nan, values)
    space = batch.space
    if in_memory:
        values = space.xp.from_numpy(values) if space.is_torch else values
        values = space.cast(values, space.real(settings.dtype))
    if batch.shape is None or len(batch.shape) == 1:
        return values
    return space.xp.reshape(values, batch.shape)


def _find_mistake(batch: Batch, measure: Measure, row: int, negative: Negative) -> FormatError:
    """Return the error about a list that has no value."""
    numbers = {
        name: to_host(batch.space, array).astype(np.float64).reshape(-1)
        for name, array in (("grades", batch.grades), ("scores", batch.scores))
    }
    offsets, order, mask = divide(batch)
    places = np.arange(offsets[row], offsets[row + 1])
    if order is not None:
        places = order[places]
    if mask is not None:
        places = places[mask[places] != 0]
    grades, scores = (numbers[name][places] for name in ("grades", "scores"))
    is_integer = batch.space.kind(batch.scores) == "integer"
    for name, is_wrong, code, expected in (
        ("scores", np.isnan(scores), "score_nan", "finite scores"),
        ("scores", np.isinf(scores), "score_overflow", "finite scores"),
        ("scores", (abs(scores) > 2.0**53) & is_integer, "inexact_number", "integers up to 2^53"),
        ("grades", np.isinf(grades), "rel_out_of_range", "finite grades"),
        ("grades", (grades < 0) & (negative == "error"), "negative_gain", "grades of 0 or more"),
    ):
        if is_wrong.any():
            at = int(places[int(is_wrong.argmax())])
            where: Any = (at,)
            if batch.shape is not None:
                where = np.unravel_index(at, (*batch.shape, batch.grades.shape[-1]))
            index = ", ".join(str(int(part)) for part in where)
            return FormatError(
                f"expected {expected}, found {numbers[name][at]} in {name}[{index}]",
                hint="pass mask, which is False where there is no document"
                if name == "scores"
                else 'NaN means unjudged; negative grades are refused by negative="error" only',
                code=code,
                file=name,
            )
    is_table = isinstance(measure.parameters.get("gain"), tuple)
    return FormatError(
        f"{measure.name}: expected a finite gain for every grade, found none for a grade of list "
        f"{row}",
        hint="add each grade to the table of gains"
        if is_table
        else 'use gain="linear", or map the grades to smaller ones',
        code="gain_missing" if is_table else "gain_overflow",
        file="grades",
    )


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


def _evaluate_in_memory(batch: Batch, settings: BatchSettings) -> list[Values]:
    """Return the values of measures, as NumPy arrays.

    Raises:
        InputError: Lengths or offsets don't fit the arrays.
    """
    offsets, order, mask = divide(batch)
    grades = _see(batch.space, batch.grades, order, "grades")
    scores = _see(batch.space, batch.scores, order, "scores")
    rows = []
    policy = Policy(ties=settings.ties, negative=settings.negative)
    for measure in settings.measures:
        plan = Settings(measures=measure, policy=policy).request().plan()
        packed, refused = values_of_rows(plan, grades, scores, offsets, mask, count_threads(None))
        values = np.asarray(memoryview(packed)).view(np.float64)
        is_bad = np.zeros(len(values), dtype=bool)
        is_bad[np.asarray(memoryview(refused)).view(np.int64)] = True
        rows.append(Values(values, np.isnan(values), is_bad))
    return rows


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
