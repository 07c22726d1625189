"""Decomposition of the change between two windows by slices and losses."""

from __future__ import annotations

import math

from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.records import replace
from rankscope.stats.exact_sums import sum_groups
from rankscope.trace.change_split import split_change
from rankscope.trace.decomposition_result import LOSSES, Decomposition, SliceChange
from rankscope.trace.shared_slices import join_axes, share_attribute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope.trace.change_split import ChangeSplit
    from rankscope.trace.document_regrets import Codes
    from rankscope.trace.query_columns import QueryColumns

    Slice: TypeAlias = tuple[tuple[str, str], ...]

MOST_VALUES = 50
"""The default number of values of an attribute that are slices of their own."""
ROUNDING = 1e-15


def decompose(
    before: QueryColumns,
    after: QueryColumns,
    by: str | Sequence[str],
    *,
    most_values: int = MOST_VALUES,
) -> Decomposition:
    """Split the change of a mean by the slices of one attribute, or of several together.

    Examples:
        >>> import numpy as np
        >>> from rankscope.trace.query_columns import QueryColumns, TextColumn
        >>> def window(values, devices):
        ...     value = np.array(values)
        ...     none = np.zeros(len(values))
        ...     return QueryColumns(
        ...         measure="nDCG@5",
        ...         value=value,
        ...         retrieval=none,
        ...         truncation=none,
        ...         ordering=1 - value,
        ...         undefined=none,
        ...         ideal=none + 1,
        ...         relevant=none + 1,
        ...         key=TextColumn.of(map(str, range(len(values)))),
        ...         attributes={"device": TextColumn.of(devices)},
        ...     )
        >>> found = decompose(
        ...     window([1.0, 1.0, 1.0, 0.0], ["tv", "tv", "phone", "phone"]),
        ...     window([0.5, 0.5, 1.0, 0.0], ["tv", "tv", "phone", "phone"]),
        ...     by="device",
        ... )
        >>> found.change, found.within, found.slices[0].name, found.slices[0].losses["ordering"]
        (-0.25, -0.25, 'device=tv', -0.25)
    """
    check_alike(before, after)
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        raise UsageError(
            "by has no attribute",
            hint="write by='device'",
            code="bad_parameter",
        )
    axes = [share_attribute(before, after, name, most_values) for name in names]
    groups, codes = join_axes(axes)
    slices = [tuple(zip(names, texts, strict=True)) for texts in groups]
    made = decompose_groups(before, after, slices, codes)
    return sort_slices(made)


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


def sort_slices(made: Decomposition) -> Decomposition:
    """Return the slices, largest contribution in the direction of the change first."""
    sign = 1.0 if made.change > 0 else -1.0
    order = sorted(made.slices, key=lambda each: (-sign * each.total, each.slice))
    return replace(made, slices=tuple(order))


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
    rest = split.within + split.entered + split.left
    found: dict[str, NDArray[np.float64] | None] = {}
    for loss in LOSSES[:-1]:
        columns = [getattr(window, loss) for window in windows]
        if columns[0] is None:
            found[loss] = None
            continue
        lost = split_change(counts, sum_windows(columns, groups, counts.shape[-1]))
        amounts = 0.0 - (lost.within + lost.entered + lost.left)
        found[loss] = amounts
        rest = rest - amounts
    # What rounding leaves of nothing is nothing; all of it together is below 1e-15.
    is_dust = np.abs(rest) * len(rest) < ROUNDING
    return found | {LOSSES[-1]: np.where(is_dust, 0.0, rest)}


def _mean(total: float, count: int) -> float | None:
    return float(total) / count if count else None
