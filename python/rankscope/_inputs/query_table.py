"""Tables with one row per query: its attributes, or its value under each run."""

from __future__ import annotations

import math
import sys
from itertools import pairwise

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.column_names import SYNONYMS
from rankscope._inputs.columns import read_ids, read_numbers, read_typed_values
from rankscope._inputs.recognition import recognise_table
from rankscope._inputs.tables import FoundColumns, open_table
from rankscope.deferred import np
from rankscope.errors import FormatError, InputError
from rankscope.names import quote
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn
    from rankscope._inputs.recognition import Input
    from rankscope._inputs.table_files import TableFile
    from rankscope.settings.reading import Reading


BESIDES = ("query", "topic", "topic_id", "user_id")
"""Columns that can be those of queries, but are attributes in a table that has another one."""


@record(frozen=True, slots=True)
class QueryTable:
    """A table with one row per query.

    Args:
        query_ids: The query of each row, as text.
        texts: Columns of text, by name.
        types: By name, the types of these columns, as in `AttributeColumn`.
        numbers: Columns of numbers, by name; NaN where there is none.
        names: The names of all columns.
    """

    query_ids: list[str]
    texts: Mapping[str, list[str]]
    types: Mapping[str, str]
    numbers: Mapping[str, NDArray[np.float64]]
    names: tuple[str, ...]


def read_query_table(
    table: object,
    reading: Reading,
    *,
    query: str | None = None,
    texts: Sequence[str] = (),
    numbers: Sequence[str] | None = (),
) -> QueryTable:
    """Read a table with one row per query."""
    given = recognise_table(table)
    try:
        if not given.format:
            return _read(given.value, query, texts, numbers)
        others = [
            *texts,
            *(_list_others(given, query, texts, reading) if numbers is None else numbers),
        ]
        with _open(given, query, list(dict.fromkeys(others)), reading) as file:
            held = load_arrow().Table.from_batches(list(file), file.schema)
            return _read(held, file.columns["query"], texts, numbers)
    except InputError as error:
        error.file = error.file or given.name
        raise


def _list_others(
    given: Input, query: str | None, texts: Sequence[str], reading: Reading
) -> list[str]:
    """Return the names of the columns of a file that are neither queries nor text."""
    with _open(given, query, texts, reading) as file:
        known = {file.columns["query"], *texts, *BESIDES}
        return [name for name in file.names if name not in known]


def _open(given: Input, query: str | None, others: Sequence[str], reading: Reading) -> TableFile:
    from rankscope._inputs.roles import Wanted  # noqa: PLC0415 - only files need it
    from rankscope._inputs.table_files import TableFile  # noqa: PLC0415 - as above

    wanted = Wanted({"query": query, **given.columns}, others, [["query"]], BESIDES)
    return TableFile(given, wanted, reading)


def _read(
    table: object, query: str | None, texts: Sequence[str], numbers: Sequence[str] | None
) -> QueryTable:
    source = open_table(_reset_index(table))
    found = FoundColumns(source, {"query": query}, (*texts, *BESIDES))
    name = found.seek("query")
    if name is None and numbers is None and not texts:
        # Columns of values alone: each row is a query.
        first: Any = next(iter(source.columns.values()), ())
        name, ids = "", [str(row) for row in range(len(first))]
    else:
        name = found.require("query")
        ids = decode(read_ids(source.columns[name], name))
    typed = {each: read_typed_values(source.find(each, "attributes"), each) for each in texts}
    held = {each: decode(column) for each, (column, _) in typed.items()}
    if len(set(ids)) < len(ids) and numbers is not None and len(numbers) == 0:
        ids, held = _merge_rows(ids, held)
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(each for each in ids if each in seen or seen.add(each))  # type: ignore[func-returns-value]  # adds it
        raise FormatError(
            f"expected one row per query, found two of query {quote(twice)}",
            hint="keep one row per query in this table; values of several runs are columns",
            code="duplicate_query",
        )
    if numbers is None:
        besides = {name, *texts, *BESIDES}
        numbers = [each for each in source.names if each not in besides]
    return QueryTable(
        ids,
        held,
        {each: dtype for each, (_, dtype) in typed.items()},
        {each: _read_doubles(source.find(each, "values"), each) for each in numbers},
        tuple(source.names),
    )


def _reset_index(table: object) -> object:
    """Make the queries a column if they are the index of a data frame, as after a pivot."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(table, pandas.DataFrame):
        return table
    name = table.index.name
    return table.reset_index() if name in SYNONYMS["query"] and name not in table else table


def _merge_rows(
    ids: list[str], columns: dict[str, list[str]]
) -> tuple[list[str], dict[str, list[str]]]:
    """Keep one row per query of a table whose rows are documents, such as a log."""
    first: dict[str, int] = {}
    for at, query in enumerate(ids):
        row = first.setdefault(query, at)
        for name, values in columns.items():
            if values[row] != values[at]:
                raise FormatError(
                    f"expected one {name} in all rows of query {quote(query)}, found "
                    f"{quote(values[row])} and {quote(values[at])}",
                    hint="an attribute belongs to the query, not to the document",
                    code="attribute_conflict",
                )
    kept = list(first.values())
    return list(first), {name: [values[at] for at in kept] for name, values in columns.items()}


def _read_doubles(column: Any, name: str) -> NDArray[np.float64]:  # noqa: ANN401 - of a library
    """Read numbers, also from text, as files without types have them."""
    if "string" not in str(getattr(column, "type", "")):
        try:
            read = read_numbers(column, name, "score", allows_null=True)
        except FormatError as error:
            raise FormatError(
                f"expected numbers in the column {quote(name)}: {error.message}",
                hint="name the columns of values and of queries: runs=['old', 'new'], "
                "query='query_id'",
                code=error.code,
            ) from None
        return np.asarray(read, dtype=np.float64)
    numbers = np.empty(len(column))
    for at, text in enumerate(column.to_pylist()):
        try:
            numbers[at] = math.nan if text in {None, ""} else float(text)
        except ValueError:
            raise FormatError(
                f"expected numbers in {name}, found {quote(text)}",
                hint="name the columns of values: runs=['old', 'new']",
                code="not_numeric",
                line=at + 2,
            ) from None
    return numbers


def decode(column: IdColumn) -> list[str]:
    """Return identifiers or values as text."""
    if not isinstance(column, tuple):
        return list(map(str, column.tolist()))
    offsets, texts = column
    held, ends = texts.tobytes(), offsets.tolist()
    return [held[start:end].decode() for start, end in pairwise(ends)]
