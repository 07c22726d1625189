"""Decomposition of the change between two windows by slices and losses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope._stats.sums import sum_groups
from rankscope.errors import UsageError
from rankscope.monitor.why.decomposition_result import (
    LOSSES,
    Decomposition,
    SliceChange,
    measure_losses,
)
from rankscope.monitor.why.query_columns import QueryColumns

Slice: TypeAlias = tuple[tuple[str, str], ...]

if TYPE_CHECKING:
    from rankscope.monitor.why.document_regrets import Codes


MOST_VALUES = 50
"""The default number of values of an attribute that are slices of their own."""
ROUNDING = 1e-15


def check_alike(before: QueryColumns, after: QueryColumns) -> None:
    """Check that two windows have values of the same definition."""
    if before.measure != after.measure:
        raise UsageError(
            f"the windows have different measures: {before.measure} and {after.measure}",
            hint="evaluate both windows with the same definition",
            code="not_alike",
        )
    if (before.retrieval is None) != (after.retrieval is None):
        raise UsageError(
            "the retrieval loss is observable in only one of the windows",
            hint="use the same kind of judgments for both windows",
            code="not_alike",
        )


def decompose_groups(
    before: QueryColumns,
    after: QueryColumns,
    slices: Sequence[Slice],
    groups: tuple[Codes, Codes],
) -> Decomposition:
    """Split the change of a mean by groups of queries."""
    windows = (before, after)
    counts = count_groups(groups, len(slices))
    sums = sum_windows([window.value for window in windows], groups, len(slices))
    split = split_change(counts, sums)
    losses = _split_losses(windows, groups, counts, split)
    whole = [len(window) for window in windows]
    means = [math.fsum(sums[at]) / whole[at] for at in range(2)]
    lines = []
    for at, name in enumerate(slices):
        number = [int(counts[window, at]) for window in range(2)]
        lines.append(
            SliceChange(
                slice=name,
                queries=(number[0], number[1]),
                shares=(number[0] / whole[0], number[1] / whole[1]),
                means=(_mean(sums[0, at], number[0]), _mean(sums[1, at], number[1])),
                mix=float(split.mix[at]),
                within=float(split.within[at]),
                entered=float(split.entered[at]),
                left=float(split.left[at]),
                losses={
                    loss: None if amounts is None else float(amounts[at])
                    for loss, amounts in losses.items()
                },
            )
        )
    return Decomposition(
        measure=before.measure,
        change=means[1] - means[0],
        means=(means[0], means[1]),
        queries=(whole[0], whole[1]),
        mix=math.fsum(split.mix),
        within=math.fsum(split.within),
        entered=math.fsum(split.entered),
        left=math.fsum(split.left),
        losses={
            loss: None if amounts is None else math.fsum(np.asarray(amounts))
            for loss, amounts in losses.items()
        },
        slices=tuple(lines),
    )


def count_groups(groups: tuple[Codes, Codes], count: int) -> NDArray[np.float64]:
    """Return the number of queries of each window and group."""
    return np.array([np.bincount(codes, minlength=count) for codes in groups], dtype=np.float64)


def sum_windows(
    columns: Iterable[NDArray[np.float64]], groups: tuple[Codes, Codes], count: int
) -> NDArray[np.float64]:
    """Return the sum of a column for each window and group."""
    return np.array(
        [sum_groups(column, codes, count) for column, codes in zip(columns, groups, strict=True)]
    )


def _split_losses(
    windows: tuple[QueryColumns, QueryColumns],
    groups: tuple[Codes, Codes],
    counts: NDArray[np.float64],
    split: ChangeSplit,
) -> dict[str, NDArray[np.float64] | None]:
    """Return the contributions of slices except for their mix, split by losses.

    The contribution of undefined queries is the remainder, so rounding in rows leaves no gap.
    """

    def measure(columns: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        lost = split_change(counts, sum_windows(columns, groups, counts.shape[-1]))
        return 0.0 - (lost.within + lost.entered + lost.left)

    found = measure_losses(windows, measure, LOSSES[:-1])
    rest = split.within + split.entered + split.left
    for amounts in found.values():
        rest = rest if amounts is None else rest - amounts
    # What rounding leaves of nothing is nothing; all of it together is below 1e-15.
    is_dust = np.abs(rest) * len(rest) < ROUNDING
    return found | {LOSSES[-1]: np.where(is_dust, 0.0, rest)}


def _mean(total: float, count: int) -> float | None:
    return float(total) / count if count else None


@dataclass(frozen=True, slots=True)
class ChangeSplit:
    """The contributions of slices to a change; the last axis is that of slices.

    Args:
        change: The change of the mean, which is the sum of the other fields.
        mix: The contributions of slices with queries in both windows through their share.
        within: The contributions of slices with queries in both windows through their mean.
        entered: The contributions of slices that only have queries after.
        left: The contributions of slices that only have queries before.
    """

    change: NDArray[np.float64]
    mix: NDArray[np.float64]
    within: NDArray[np.float64]
    entered: NDArray[np.float64]
    left: NDArray[np.float64]


def split_change(counts: NDArray[np.float64], sums: NDArray[np.float64]) -> ChangeSplit:
    """Split a change of means by slices.

    Examples:
        >>> import numpy as np
        >>> split = split_change(np.array([[3.0, 1.0], [2.0, 2.0]]), np.array([[3.0, 0], [1.0, 0]]))
        >>> split.change, split.mix.tolist(), split.within.tolist()
        (np.float64(-0.5), [-0.0625, -0.125], [-0.3125, 0.0])
    """
    whole = np.maximum(counts.sum(axis=-1), 1)
    shares = counts / whole[..., None]
    means = divide(sums, counts)
    overall = sums.sum(axis=-1) / whole
    centre = overall.mean(axis=-1)[..., None]
    before, after = counts[..., 0, :] > 0, counts[..., 1, :] > 0
    in_both = before & after
    share = shares[..., 1, :] - shares[..., 0, :]
    change = means[..., 1, :] - means[..., 0, :]
    mix = share * (means.mean(axis=-2) - centre)
    one_sided = shares * (means - centre[..., None, :])
    return ChangeSplit(
        overall[..., 1] - overall[..., 0],
        np.where(in_both, mix, 0.0),
        np.where(in_both, shares.mean(axis=-2) * change, 0.0),
        np.where(after & ~before, one_sided[..., 1, :], 0.0),
        np.where(before & ~after, -one_sided[..., 0, :], 0.0),
    )


def divide(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sums divided by counts, or 0 if a count is 0."""
    return sums / np.maximum(counts, 1)
