"""Means over batches, with a state that can be merged, stored and sent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Literal, Self

import numpy as np

from rankscope._core import EMPTY_VALUES
from rankscope._settings import Empty, Negative, Ties
from rankscope.array.batches import Batch, read_batch
from rankscope.array.space import Array, Space, Values, find_space, space_of, to_host
from rankscope.array.values import read_settings, value_rows
from rankscope.errors import EmptyError, FormatError, PolicyError, UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import Measures

BITS = 30
"""A value is a whole number and two parts of so many bits, whose sums are integers: they are exact,
so that neither the order nor the number of batches, devices or processes changes a bit."""
LARGEST = 2.0**31


class RunningMeans:
    """The means of measures over the batches of a loop.

    Every list counts once, whatever the sizes of the batches. Sums are exact to 2^-60 per value,
    so that the means don't depend on how the lists are divided into batches or processes. The state
    stays on the device of the first batch. Only `compute` reads it.

    Args:
        measures: As in `evaluate_batch`.
        ties: As in `evaluate_batch`.
        empty: As in `evaluate_batch`. With `"skip"` and `"nan"`, undefined lists don't count.
        negative: As in `evaluate_batch`.
        dtype: As in `evaluate_batch`.
        check: As in `evaluate_batch`. A list that isn't checked and has no value is an error in
            `compute`.

    Raises:
        UsageError: A measure or a setting is invalid, or has no definition for arrays.

    Examples:
        >>> import numpy as np
        >>> means = RunningMeans(["nDCG@10", "RR"])
        >>> means.update(grades=np.array([[0, 1]]), scores=np.array([[0.9, 0.1]]))
        >>> other = RunningMeans(["nDCG@10", "RR"])
        >>> other.update(grades=np.array([[1, 0], [2, 0]]), scores=np.array([[2, 1], [2, 1]]))
        >>> {name: round(mean, 4) for name, mean in (means + other).compute().items()}
        {'nDCG@10': 0.877, 'RR': 0.8333}
    """

    def __init__(
        self,
        measures: Measures,
        *,
        ties: Ties = "average",
        empty: Empty = "zero",
        negative: Negative = "nonrelevant",
        dtype: Literal["float64", "float32"] | None = None,
        check: bool | None = None,
    ) -> None:
        self._settings = read_settings(measures, ties, empty, negative, dtype, check=check)
        self._state: dict[str, Array] = {}
        self.reset()

    def __repr__(self) -> str:
        names = ", ".join(measure.name for measure in self._settings.measures)
        return f"RunningMeans({names})"

    def update(
        self,
        *,
        grades: Array,
        scores: Array,
        mask: Array | None = None,
        lengths: Array | None = None,
        offsets: Array | None = None,
        groups: Array | None = None,
        max_length: int | None = None,
    ) -> None:
        """Add the lists of a batch. The arguments are those of `evaluate_batch`.

        With `groups`, a list has to be in one batch as a whole.

        Raises:
            InputError: The arrays don't fit together, or contain what has no value.
        """
        dividers = {"mask": mask, "lengths": lengths, "offsets": offsets, "groups": groups}
        batch = read_batch(grades, scores, dividers, max_length)
        self._add(_add_up(batch, value_rows(batch, self._settings), self._settings.empty))

    def compute(self) -> dict[str, float]:
        """Return the mean of each measure over all lists so far, NaN if no list counts.

        Raises:
            EmptyError: There was no list.
            FormatError: A list has no value, because a score isn't finite or a grade has no gain.
            PolicyError: A measure is undefined for a list, and `empty="error"` is set.
        """
        space, arrays = find_space(self._state)
        sums, counts, refused = (to_host(space, array).tolist() for array in arrays.values())
        measures, empty = self._settings.measures, self._settings.empty
        means = {}
        for measure, parts, count, without in zip(measures, sums, counts, refused, strict=True):
            if without:
                raise _no_value(measure, without, empty)
            total = 0
            for part in parts:
                total = (total << BITS) + part
            # Python divides its integers with one rounding.
            means[measure.name] = total / (count << 2 * BITS) if count else math.nan
        if not any(counts) and empty not in {"skip", "nan"}:
            problem, hint = (
                "expected at least one list, found none",
                "call update with a batch first",
            )
            raise EmptyError(problem, hint=hint, code="empty_input")
        return means

    def reset(self) -> None:
        """Forget all lists."""
        shapes = self._shapes().items()
        self._state = {name: np.zeros(shape, dtype=np.int64) for name, shape in shapes}

    def state(self) -> dict[str, Array]:
        """Return the state as integer arrays by name, which add up when states are merged.

        They are on the device of the batches. Gather or sum them over processes with your library,
        and pass them to `load_state`.
        """
        return dict(self._state)

    def load_state(self, state: Mapping[str, Array]) -> None:
        """Replace the state by one that `state` of the same measures returned.

        Raises:
            FormatError: It isn't such a state.
        """
        shapes = self._shapes()
        if state.keys() != shapes.keys():
            raise _not_a_state(f"the entries {', '.join(map(str, state))}")
        space, arrays = find_space({name: state[name] for name in shapes})
        for name, array in arrays.items():
            if tuple(array.shape) != shapes[name] or space.kind(array) != "integer":
                raise _not_a_state(f"{name} of shape {tuple(array.shape)} and type {array.dtype}")
        self._state = arrays

    def merge(self, other: RunningMeans) -> None:
        """Add the lists of another object with the same measures and settings.

        Raises:
            UsageError: Its measures or settings are others.
        """
        if self._settings != getattr(other, "_settings", None):
            problem = "expected RunningMeans with the same measures and settings as "
            problem += f"{self!r}, found {other!r}"
            hint = "make both with the same arguments"
            raise UsageError(problem, hint=hint, code="not_alike")
        self._add(other._state)

    def __add__(self, other: RunningMeans) -> Self:
        if not isinstance(other, RunningMeans):
            return NotImplemented
        merged = copy(self)
        merged.merge(other)
        return merged

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the arrays of a state.

        It has the sums of the values in three parts, how many lists count, and how many have no
        value. With `empty="error"`, undefined lists count among the latter.
        """
        count = len(self._settings.measures)
        return {"sums": (count, 3), "counts": (count,), "refused": (count,)}

    def _add(self, state: Mapping[str, Array]) -> None:
        self._state = {name: _plus(array, state[name]) for name, array in self._state.items()}


def _add_up(batch: Batch, rows: Sequence[Values], empty: Empty) -> dict[str, Array]:
    """Return the state of the lists of a batch."""
    added = [_add_values(batch.space, values, empty) for values in rows]
    space = space_of(added[0]["sums"])
    state = {name: space.xp.stack([of[name] for of in added]) for name in added[0]}
    if batch.space.is_torch and not space.is_torch:  # the core has computed them
        return {name: batch.space.make(array, None) for name, array in state.items()}
    return state


def _add_values(space: Space, rows: Values, empty: Empty) -> dict[str, Array]:
    values, is_undefined, is_bad = rows.values, rows.is_undefined, rows.is_bad
    if space.name == "jax" and space.real() == space.xp.float32:
        # Without double precision, JAX has no large integers either.
        values, is_undefined, is_bad = (
            to_host(space, array) for array in (values, is_undefined, is_bad)
        )
    space = space_of(values)
    xp = space.xp
    values = space.cast(values, space.real())
    is_refused = is_bad | (xp.abs(values) > LARGEST)
    counts = ~is_refused
    if empty in {"skip", "nan"}:
        counts = counts & ~is_undefined
    elif empty == "error":
        is_refused = is_refused | is_undefined
    values = space.where(is_undefined, EMPTY_VALUES.get(empty, 0.0), values)
    rest = space.where(counts, values, 0.0)
    parts = []
    for _ in range(2):
        part = xp.floor(rest)
        parts.append(part)
        rest = (rest - part) * 2.0**BITS
    parts.append(xp.round(rest))
    sums = [xp.sum(space.cast(part, xp.int64)) for part in parts]
    number, without = (xp.sum(space.cast(mask, xp.int64)) for mask in (counts, is_refused))
    return {"sums": xp.stack(sums), "counts": number, "refused": without}


def _no_value(measure: Measure, count: int, empty: Empty) -> PolicyError | FormatError:
    problem = f"expected a value of {measure.name} for every list, found none for {count}"
    if empty == "error":
        hint = 'set empty="zero" or "skip", and check=True to find a score that is not finite'
        return PolicyError(problem, hint=hint, code="empty_query")
    problem += ": a score is not finite, a grade has no gain, or a value is above 2^31"
    hint = "set check=True to get an error with the place"
    return FormatError(problem, hint=hint, code="not_numeric")


def _plus(first: Array, second: Array) -> Array:
    """Add two arrays; the sum is where the second is."""
    space, from_space = space_of(second), space_of(first)
    if from_space != space:
        first = space.make(to_host(from_space, first), second.dtype)
    return first + second


def _not_a_state(actual: str) -> FormatError:
    problem = f"expected a state with sums, counts, refused of the same measures, found {actual}"
    hint = "pass what state() of the same measures returned"
    return FormatError(problem, hint=hint, code="array_shape", file="state")
