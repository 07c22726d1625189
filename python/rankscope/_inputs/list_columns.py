"""Tables in memory whose rows hold whole rankings as lists."""

from __future__ import annotations

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.column_names import ROLES, find_column
from rankscope._inputs.files.lists import is_list
from rankscope._inputs.files.roles import ITEMS
from rankscope._inputs.open_column import is_null, open_column
from rankscope.deferred import np
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from rankscope._inputs.batches import Batches
    from rankscope._inputs.tables import NamedColumns

IN_LISTS = ("doc", "relevance", "score", "rank")
USUAL = {*ITEMS, *(name for role in IN_LISTS for name in ROLES[role])}


def find_lists(
    source: NamedColumns, names: Mapping[str, str | None], besides: Collection[str | None] = ()
) -> Batches | None:
    """Return a table as batches if its rows hold whole rankings; `None` if each is a document.

    Lists in the columns besides are values of one row, such as labels.
    """
    given = {names.get(role) for role in IN_LISTS}
    likely = [
        name for name in source.names if (name in USUAL or name in given) and name not in besides
    ]
    lists = {name for name in likely if _holds_lists(source.columns[name])}
    docs = find_column(source.names, "doc", names.get("doc")) if lists else None
    if not lists or (docs is not None and docs not in lists):
        return None
    from rankscope._inputs.batches import Batches  # noqa: PLC0415 - few tables need it

    columns = {name: _to_arrow(column, name) for name, column in source.columns.items()}
    known = {name: column for name, column in columns.items() if column is not None}
    lengths = {name: len(column) for name, column in known.items()}
    if len(set(lengths.values())) > 1:
        one, other = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise FormatError(
            f"expected columns of one length, found {lengths[one]} rows in {one} and "
            f"{lengths[other]} in {other}",
            hint="every query needs a value in every column",
            code="length_mismatch",
        )
    held = load_arrow().table(known)

    def read(wanted: list[str]) -> Iterator[Any]:
        return iter(held.select(wanted).to_batches())

    return Batches(held.schema, read, is_once=False)


def _holds_lists(column: Any) -> bool:  # noqa: ANN401 - a column of another library
    kind = getattr(column, "dtype", None)
    kind = getattr(kind, "pyarrow_dtype", kind) if kind is not None else getattr(column, "type", "")
    if hasattr(kind, "num_fields"):  # of Arrow
        return is_list(kind)
    text = str(kind)
    if text.startswith(("List(", "Array(")):  # of Polars
        return True
    holds_objects = isinstance(column, list | tuple) or text in {"object", "Object"}
    if not holds_objects or getattr(column, "ndim", 1) != 1:
        return False
    first = next(
        (value for value in column if isinstance(value, list) or not _is_null(value)), None
    )
    return isinstance(first, list | tuple) or getattr(first, "ndim", 0) == 1


def _is_null(value: object) -> bool:
    return not hasattr(value, "__len__") and is_null(value)


def _to_arrow(column: Any, name: str) -> Any:  # noqa: ANN401 - as above
    """Convert a column to an Arrow array; `None` for one that has no type there."""
    holds_lists = _holds_lists(column)
    arrow = load_arrow()
    try:
        values = (
            column if holds_lists else open_column(column, name, lambda _: FormatError("", code=""))
        )
        if isinstance(values, arrow.Array | arrow.ChunkedArray):
            return values
        if hasattr(values, "to_arrow"):  # of Polars
            return values.to_arrow()
        if holds_lists and not isinstance(values, list):
            values = getattr(values, "array", values)
        if isinstance(values, np.ndarray) and values.dtype == object:
            values = values.tolist()
        return arrow.array(values, from_pandas=True)
    except (FormatError, arrow.ArrowException, TypeError, ValueError, OverflowError) as error:
        if not holds_lists:
            return None
        raise FormatError(
            f"expected a list of values of one type in each row of {name}, found others "
            f"({str(error).splitlines()[0]:.200})",
            hint="write IDs as text or as integers, and numbers as numbers; an empty ranking is an "
            "empty list: []",
            code="list_values",
        ) from error
