"""Turns tables of labels into the columns that the core decodes.

Only columns of the usual types are taken; the reader of rows has the others.
"""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.inputs.arrow import load_arrow
from rankscope.monitor.arrays import fill_nulls, to_array
from rankscope.monitor.events.columns import (
    UnusualColumnError,
    find_list_roles,
    open_list,
    read_has,
    read_ids,
    read_numbers,
    read_times,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope.monitor.events.columns import Foreign, Texts

    LabelColumns: TypeAlias = tuple[Any, ...]
    """Which rows may be plain, and their columns, as the core takes them."""

UBI_FIELD = "event_attributes"
"""User Behavior Insights have the document in there."""


def split_labels(columns: Mapping[str, Foreign], role_of: Mapping[str, str]) -> LabelColumns:
    """Return labels of which each is a row."""
    count = len(next(iter(columns.values()), ()))
    # A column without any value is not there.
    columns = {name: column for name, column in columns.items() if column.null_count < count}
    roles = find_list_roles(list(columns), role_of)
    if UBI_FIELD in columns or not {"ranking_id", "doc_id", "time"} <= roles.keys():
        raise UnusualColumnError
    column_of = {role: columns[name] for role, name in roles.items()}
    unknown = [(name, _read_given(columns[name])) for name in columns if name not in role_of]
    values = read_numbers(column_of["value"]) if "value" in column_of else None
    plain = np.ones(count, dtype=np.uint8)
    if values is not None:
        plain[np.isinf(values)] = 0
    return (
        plain,
        read_times(column_of["time"]),
        read_ids(column_of["ranking_id"]),
        read_ids(column_of["doc_id"]),
        read_ids(column_of["event_id"]) if "event_id" in column_of else None,
        _read_words(column_of["kind"]) if "kind" in column_of else None,
        _read_labels(column_of["labels"]) if "labels" in column_of else None,
        values,
        unknown,
    )


def _read_words(column: Foreign) -> Texts:
    types = load_arrow().types
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        raise UnusualColumnError
    return read_ids(column)


def _read_labels(
    column: Foreign,
) -> Texts | tuple[NDArray[np.int64], NDArray[np.uint8], Texts]:
    """Return a label a row, or the bounds of lists, which rows have one, and all labels."""
    types = load_arrow().types
    if not (types.is_list(column.type) or types.is_large_list(column.type)):
        return _read_words(column)
    bounds, labels = open_list(column)
    return bounds, to_array(column.is_valid()).astype(np.uint8), _read_words(labels)


def _read_given(column: Foreign) -> NDArray[np.uint8]:
    """Return which rows have something in a column; NaN is nothing."""
    has = read_has(column)
    if load_arrow().types.is_floating(column.type):
        has &= ~np.isnan(fill_nulls(column, 0))
    return has
