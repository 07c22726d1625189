"""Turns rows that hold a whole ranking as lists into one row per document."""

from __future__ import annotations

from rankscope._inputs.arrow import load_arrow
from rankscope.deferred import np
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

RANK = "rank"


def is_list(kind: Any) -> bool:  # noqa: ANN401 - PyArrow has no types
    """Check whether a type is a list type."""
    types = load_arrow().types
    forms = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
    return any(getattr(types, f"is_{form}")(kind) for form in forms)


def explode(
    batch: Any,  # noqa: ANN401 - as above
    columns: Mapping[str, str],
    lists: set[str],
    *,
    is_ranked: bool,
) -> tuple[dict[str, Any], NDArray[np.int64], int]:
    """Turn each element of the lists of a batch into a row."""
    arrow = load_arrow()
    compute = load_arrow("pyarrow.compute")
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
        found = np.asarray(compute.list_value_length(column), dtype=np.int64)
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
    parents = np.repeat(np.arange(batch.num_rows), lengths)
    made: dict[str, Any] = {}
    for name in columns.values():
        outer, _, inner = name.rpartition(".")
        if name in taken:
            made[name] = compute.list_flatten(taken[name])
        elif outer in taken:
            # A field is null where its struct is null.
            made[name] = compute.struct_field(compute.list_flatten(taken[outer]), inner)
        else:
            made[name] = batch.column(name).take(arrow.array(parents))
    if is_ranked:
        starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
        made[RANK] = arrow.array((np.arange(len(parents)) - starts + 1).astype(np.float64))
    return made, np.cumsum(lengths), int((lengths == 0).sum())
