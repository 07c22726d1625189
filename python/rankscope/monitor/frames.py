"""Frames of any library as rows of Arrow, some at a time."""

from __future__ import annotations

from datetime import datetime

from rankscope.adapters.arrow import load_arrow
from rankscope.adapters.files.blocks import Lines
from rankscope.adapters.open_column import is_null, open_column
from rankscope.adapters.tables import open_table
from rankscope.monitor.event_rows import cut_rows
from rankscope.monitor.read_rows import no_column

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from rankscope.monitor.event_rows import Rows


def cut_frame(table: object) -> Iterator[Rows] | None:
    """Give the rows of a frame; none where a column holds values of several types.

    Args:
        table: A data frame of pandas or Polars, an Arrow table, or a mapping of names to columns.

    Raises:
        FormatError: It is no table.
    """
    arrow = load_arrow()
    source = open_table(table)
    columns = {name: _to_arrow(source.columns[name], name) for name in source.names}
    if any(column is None for column in columns.values()):
        return None
    if len({len(column) for column in columns.values()}) > 1:
        return None  # whoever reads it as a whole says which
    return _cut(arrow.table(columns))


def _cut(table: Any) -> Iterator[Rows]:  # noqa: ANN401 - PyArrow has no types
    rows = 0
    for batch in table.to_batches():
        yield from cut_rows([(batch, Lines(rows + 1))])
        rows += batch.num_rows


def _to_arrow(column: object, name: str) -> Any:  # noqa: ANN401 - as above
    arrow = load_arrow()
    values = open_column(column, name, lambda found: no_column(name, found))
    if isinstance(values, list):
        values = [None if is_null(value) else value for value in values]
        if not _are_alike(values):
            return None
    try:
        return arrow.array(values) if not isinstance(values, arrow.Array) else values
    except (TypeError, ValueError, OverflowError):  # Arrow's errors are of these
        return None


def _are_alike(values: list[Any]) -> bool:
    """Whether values are of one type, and times with a zone all or none."""
    given = [value for value in values if value is not None]
    is_zoned = {value.tzinfo is None for value in given if isinstance(value, datetime)}
    return len(set(map(type, given))) <= 1 and len(is_zoned) <= 1
