"""Turns rows that hold a whole ranking as lists into one row per document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.arrow import of_array, to_array
from rankscope._inputs.columns import is_list
from rankscope.deferred import pa, pc
from rankscope.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

RANK = "rank"


def explode(
    batch: Any,  # noqa: ANN401 - as above
    columns: Mapping[str, str],
    lists: set[str],
    *,
    is_ranked: bool,
) -> tuple[dict[str, Any], NDArray[np.int64], int]:
    """Turn each element of the lists of a batch into a row."""
    taken = {name: batch.column(name) for name in sorted(lists)}
    lengths = np.empty(0, dtype=np.int64)
    first = next(iter(taken))
    for name, column in taken.items():
        if column.null_count:
            row = column.is_null().index(True).as_py()
            raise FormatError(
                f"expected a list in every row of {name}, found none",
                hint="an empty ranking is an empty list: []",
                code="missing_list",
                line=row + 1,
            )
        found = to_array(pc.list_value_length(column).cast(pa.int64()))
        lengths = found if name == first else lengths
        if not np.array_equal(lengths, found):
            row = int(np.flatnonzero(lengths != found)[0])
            raise FormatError(
                f"expected lists of one length in a row, found {lengths[row]} and {found[row]}",
                hint="every document needs a value in every list",
                code="length_mismatch",
                line=row + 1,
            )
        if is_list(column.type.value_type):
            raise FormatError(
                f"expected a list of documents in each row of {name}, found a list of lists",
                hint="write one row per query",
                code="nested_lists",
            )
    parents = pc.list_parent_indices(taken[first])
    made: dict[str, Any] = {}
    for name in columns.values():
        outer, _, inner = name.rpartition(".")
        if name in taken:
            made[name] = pc.list_flatten(taken[name])
        elif outer in taken:
            # A field is null where its struct is null.
            made[name] = pc.struct_field(pc.list_flatten(taken[outer]), inner)
        else:
            made[name] = batch.column(name).take(parents)
    if is_ranked:
        starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
        made[RANK] = of_array((np.arange(len(parents)) - starts + 1).astype(np.float64))
    return made, np.cumsum(lengths), int((lengths == 0).sum())
