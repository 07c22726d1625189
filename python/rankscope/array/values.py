"""Measures of batches: the values of several measures, one for each list."""

from __future__ import annotations

import math

from rankscope._core import EMPTY_VALUES
from rankscope.array import batches, host, program
from rankscope.array.space import to_host
from rankscope.deferred import np
from rankscope.errors import FormatError, MeasureError, PolicyError
from rankscope.measures.reading import read_measures
from rankscope.names import check_choice
from rankscope.records import record
from rankscope.settings.policy import CHOICES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal, TypedDict

    from rankscope.array.batches import Batch
    from rankscope.array.ranked import Values
    from rankscope.array.space import Array, Space
    from rankscope.measures import Measure
    from rankscope.measures.reading import Measures
    from rankscope.settings.policy import Empty, Negative, Ties

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
    asked = read_settings(measures, ties, empty, negative, dtype, check=check)
    dividers = {"mask": mask, "lengths": lengths, "offsets": offsets, "groups": groups}
    batch = batches.read_batch(grades, scores, dividers, max_length)
    found = value_rows(batch, asked)
    return {
        measure.name: finish(batch, values, asked)
        for measure, values in zip(asked.measures, found, strict=True)
    }


@record(frozen=True, slots=True)
class Settings:
    """What to compute of lists.

    Args:
        measures: The measures.
        ties: The order of tied documents.
        empty: What a list without relevant documents counts as.
        negative: What a negative grade is.
        dtype: The type in which a device computes, that of the library if it isn't given.
        check: Whether to look for mistakes; by default, in main memory only.
    """

    measures: Sequence[Measure]
    ties: Ties
    empty: Empty
    negative: Negative
    dtype: Literal["float64", "float32"] | None
    check: bool | None


def read_settings(
    measures: Measures,
    ties: Ties,
    empty: Empty,
    negative: Negative,
    dtype: Literal["float64", "float32"] | None,
    *,
    check: bool | None,
) -> Settings:
    """Read what to compute.

    Raises:
        MeasureError: A measure isn't defined for arrays.
        PolicyError: A word is none of its field.
    """
    chosen = _read_measures(measures)
    check_choice("ties", ties, TIES)
    check_choice("empty", empty, CHOICES["empty"])
    check_choice("negative", negative, NEGATIVE)
    return Settings(chosen, ties, empty, negative, dtype, check)


def _read_measures(measures: Measures) -> list[Measure]:
    chosen, _ = read_measures(measures)
    for measure in chosen:
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
    return chosen


def _unavailable(measure: Measure, wanted: str) -> MeasureError:
    return MeasureError(
        f"expected {wanted} for arrays, found {measure.name}",
        hint="rankscope.evaluate has it, with the IDs of the items"
        if measure.row.of_items
        else "rankscope.Rankings.from_arrays(grades, scores).evaluate has all measures",
        code="bad_parameter",
    )


def value_rows(batch: Batch, asked: Settings) -> list[Values]:
    """Return the values of measures for each list, where they were computed.

    Raises:
        InputError: The arrays don't fit together, or contain what has no value and are checked.
    """
    if host.is_in_memory(batch):
        found = host.evaluate(batch, asked)
        for measure, values in zip(asked.measures, found, strict=True):
            if asked.check is not False and values.is_bad.any():
                raise find_mistake(batch, measure, int(values.is_bad.argmax()), asked.negative)
        return found
    found = program.evaluate(batch.space, batches.pad(batch), asked)
    for measure, values in zip(asked.measures, found, strict=True):
        if asked.check and batch.space.read(batch.space.xp.any(values.is_bad)):
            bad = to_host(batch.space, values.is_bad)
            raise find_mistake(batch, measure, int(bad.argmax()), asked.negative)
    return found


def finish(batch: Batch, found: Values, asked: Settings) -> Array:
    """Return the values under a policy for lists without relevant documents.

    Raises:
        PolicyError: There is such a list, and the policy refuses it.
    """
    space = batch.space
    values, is_undefined, is_bad = found.values, found.is_undefined, found.is_bad
    if asked.empty == "error":
        _refuse_undefined(space, is_undefined, is_bad)
    fill = EMPTY_VALUES.get(asked.empty, math.nan)
    if host.is_in_memory(batch):
        filled = np.where(is_undefined & ~is_bad, fill, values)
        values = filled if space.name == "numpy" else space.xp.from_numpy(filled)
        values = space.cast(values, space.real(asked.dtype))
    else:
        values = space.where(is_undefined, fill, values)
        values = space.where(is_bad, math.nan, values)
    if batch.shape is None or len(batch.shape) == 1:
        return values
    return space.xp.reshape(values, tuple(batch.shape))


def _refuse_undefined(space: Space, is_undefined: Array, is_bad: Array) -> None:
    is_empty = is_undefined & ~is_bad
    if space.read(is_empty.any() if hasattr(is_empty, "any") else space.xp.any(is_empty)):
        row = int(to_host(space, is_empty).argmax())
        raise PolicyError(
            f"expected a relevant document in every list, found none in list {row}",
            hint='set empty="zero", or empty="skip" to get NaN',
            code="empty_query",
        )


def find_mistake(batch: Batch, measure: Measure, row: int, negative: Negative) -> FormatError:
    """Return the error about a list that has no value."""
    grades, scores = (
        to_host(batch.space, array).astype(np.float64).reshape(-1)
        for array in (batch.grades, batch.scores)
    )
    offsets, order, mask = batches.divide(batch)
    places = np.arange(offsets[row], offsets[row + 1])
    if order is not None:
        places = order[places]
    if mask is not None:
        places = places[mask[places] != 0]
    integer = "integers up to 2^53"
    for name, is_wrong, code, wanted in (
        ("scores", np.isnan(scores[places]), "score_nan", "finite scores"),
        ("scores", np.isinf(scores[places]), "score_overflow", "finite scores"),
        ("scores", np.abs(scores[places]) > 2.0**53, "inexact_number", integer),
        ("grades", np.isinf(grades[places]), "rel_out_of_range", "finite grades"),
        (
            "grades",
            (grades[places] < 0) & (negative == "error"),
            "negative_gain",
            "grades of 0 or more",
        ),
    ):
        is_whole = batch.space.kind(getattr(batch, name)) == "integer"
        if code == "inexact_number" and not is_whole:
            continue
        if is_wrong.any():
            at = int(places[int(is_wrong.argmax())])
            found = (grades if name == "grades" else scores)[at]
            where: Any = (at,)
            if batch.shape is not None:
                where = np.unravel_index(at, (*batch.shape, batch.grades.shape[-1]))
            index = ", ".join(map(str, map(int, where)))
            return FormatError(
                f"expected {wanted}, found {found} in {name}[{index}]",
                hint=_hint(name),
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


def _hint(name: str) -> str:
    if name == "scores":
        return "pass mask, which is False where there is no document"
    return 'NaN means unjudged; negative grades are refused by negative="error" only'
