"""Tables with one row per query: its attributes, or its value under each run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.arrow import to_array
from rankscope._inputs.column_names import VISITS
from rankscope._inputs.columns import list_texts, to_arrow
from rankscope._inputs.rows import open_columns
from rankscope.errors import FormatError
from rankscope.names import quote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.settings.reading import Reading


BESIDES = ("query", "topic", "topic_id", "user_id", *VISITS)
"""Columns that can be those of queries, but are attributes in a table that has another one."""


@dataclass(frozen=True, slots=True)
class QueryTable:
    """A table with one row per query.

    Args:
        query_ids: The query of each row, as text.
        texts: Columns of text, by name.
        types: By name, the types of these columns, as in `AttributeColumn`.
        numbers: Columns of numbers, by name; NaN where there is none.
    """

    query_ids: list[str]
    texts: Mapping[str, list[str]]
    types: Mapping[str, str]
    numbers: Mapping[str, NDArray[np.float64]]


def read_query_table(
    table: object,
    reading: Reading,
    *,
    query: str | None = None,
    texts: Sequence[str] = (),
    numbers: Sequence[str] | None = (),
) -> QueryTable:
    """Read a table with one row per query, with all columns that are numbers if they are `None`."""
    others = None if numbers is None else list(dict.fromkeys([*texts, *numbers]))
    needed = [] if numbers is None and not texts else ["query"]
    besides = [*BESIDES, *texts]
    roles = {"query": query}
    with open_columns(table, reading, roles, others, required=needed, besides=besides) as columns:
        if numbers is None:
            known = {columns.columns.get("query"), *besides}
            numbers = [name for name in columns.names if name not in known]
        values = {name: columns.values(name) for name in texts}
        arrays = {name: to_arrow(column) for name, (column, _) in values.items()}
        if "query" in columns.columns:
            ids = columns.ids("query")
        else:  # columns of values alone: each row is a query
            ids = np.arange(len(columns.column(columns.names[0])) if columns.names else 0)
        first = _find_first(to_arrow(ids), arrays, are_unique=bool(numbers))
        query_ids = list_texts(ids)
        try:
            return QueryTable(
                [query_ids[row] for row in first.tolist()],
                {name: of.take(first).cast("string").to_pylist() for name, of in arrays.items()},
                {name: kind for name, (_, kind) in values.items()},
                {name: columns.numbers(name, kind="score", allows_null=True) for name in numbers},
            )
        except FormatError as error:
            error.hint = "name the columns of values: runs=['old', 'new'], query='query_id'"
            raise


def _find_first(ids: Any, columns: Mapping[str, Any], *, are_unique: bool) -> NDArray[np.int64]:  # noqa: ANN401 - PyArrow has no types
    """Return the first row of each query, of which all rows must be alike."""
    codes = to_array(ids.dictionary_encode().indices)
    first = np.unique(codes, return_index=True)[1]
    firsts = first[codes]
    again = np.flatnonzero(firsts < np.arange(len(codes)))
    for at in again[:are_unique].tolist():
        message = f"expected one row per query, found two of query {quote(str(ids[at]))}"
        hint = "keep one row per query in this table; values of several runs are columns"
        raise FormatError(message, hint=hint, code="duplicate_query")
    for name, values in columns.items():
        value = to_array(values.dictionary_encode().indices)
        for at in np.flatnonzero(value != value[firsts])[:1].tolist():
            both = " and ".join(quote(str(values[row])) for row in (int(firsts[at]), at))
            message = (
                f"expected one {name} in all rows of query {quote(str(ids[at]))}, found {both}"
            )
            hint = "an attribute belongs to the query; for names of runs, write runs=…"
            raise FormatError(message, hint=hint, code="attribute_conflict")
    return first
