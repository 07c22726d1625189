"""Reads the history of interactions, the catalogue, and the table of items."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain

from rankscope._core import Judgments
from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.cells import read_numbers
from rankscope._inputs.column_names import SYNONYMS, USERS
from rankscope._inputs.columns import count_ids, read_ids
from rankscope._inputs.reading import read_judgments
from rankscope._inputs.recognition import (
    Input,
    is_single_column,
    is_table,
    recognise,
    recognise_table,
)
from rankscope._inputs.seen import see_table
from rankscope._inputs.tables import FoundColumns, open_table
from rankscope._inputs.text_lines import read_lines, refuse_unnamed_columns
from rankscope.deferred import np
from rankscope.errors import EmptyError, FormatError, InputError
from rankscope.file import File
from rankscope.names import quote
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from rankscope._inputs.columns import IdColumn
    from rankscope.settings.reading import Reading
    from rankscope.typing import HistoryLike

INTERACTIONS = (("doc",), ("query",))
"""The columns of a history. Unlike judgments, it needs no grades, whatever columns there are."""

QUERIES = tuple(name for name in SYNONYMS["query"] if name not in USERS)
"""Names of queries, which aren't taken for the user of a history that has a column of users."""

TEXT_FORMATS = {"csv", "tsv"}
"""Formats in which numbers are text."""

USER_AND_ITEM = ("user_id", "item_id")
"""The names of the columns of pairs."""


def read_history(given: HistoryLike, reading: Reading) -> Judgments:
    """Read the interactions of users with items; each pair counts once, whatever its grade."""
    try:
        found = recognise(_name_pairs(given), "history", reading.columns)  # type: ignore[arg-type]  # it checks
        if found.kind != "table":
            refuse_unnamed_columns(found, "history")
            return read_judgments(found, replace(reading, duplicates="max"), notes=[])[0]
        with see_table(found, INTERACTIONS, reading, notes=[], besides=QUERIES) as (
            table,
            names,
            *_,
        ):
            held = FoundColumns(open_table(table), names, QUERIES)
            users, items = held.read_ids("query"), held.read_ids("doc")
            ones = np.ones(count_ids(items), dtype=np.int32)
            return Judgments.from_columns(users, items, ones, "max")
    except InputError as error:
        if error.file in {None, "qrels"}:
            error.file = "history"
        if isinstance(error, EmptyError):
            raise EmptyError(
                "expected interactions of users with items, found none",
                hint="is the history empty, or the download cut off?",
                code=error.code,
                file=error.file,
            ) from None
        raise


def _name_pairs(given: object) -> object:
    """Return pairs of user and item, an array of them, or objects as a table."""
    shape: tuple[int, ...] = getattr(given, "shape", ())
    if len(shape) == 2 and shape[1] == 2 and not is_table(given) and hasattr(given, "dtype"):
        return dict(zip(USER_AND_ITEM, given.T, strict=True))  # type: ignore[attr-defined]  # an array
    if not isinstance(given, list | tuple | Iterator) or isinstance(given, File):
        return given
    rows = iter(given)
    first = next(rows, None)
    if isinstance(first, Mapping) or (isinstance(first, tuple | list) and len(first) == 2):
        every = list(chain([first], rows))
        if isinstance(first, Mapping):
            return make_table(every)
        _refuse_other_pairs(every)
        return dict(zip(USER_AND_ITEM, map(list, zip(*every, strict=True)), strict=True))
    return (
        given if isinstance(given, list | tuple) else chain([] if first is None else [first], rows)
    )


def _refuse_other_pairs(rows: Sequence[object]) -> None:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, tuple | list) or len(row) != 2:
            raise FormatError(
                "expected pairs of user and item, found another row",
                hint="a row is a tuple of two: (user, item)",
                code="row_shape",
                line=number,
            )


def make_table(rows: Sequence[object]) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Return objects, each with the same keys, as a table of Arrow."""
    arrow = load_arrow()
    odd = next((number for number, row in enumerate(rows, 1) if not isinstance(row, Mapping)), None)
    try:
        if odd is None:
            names: dict[str, None] = dict.fromkeys(chain.from_iterable(rows))  # type: ignore[arg-type]  # mappings
            return arrow.table({name: [row.get(name) for row in rows] for name in names})  # type: ignore[attr-defined]  # as above
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):
        pass
    raise FormatError(
        "expected objects whose keys hold values of one type, found others",
        hint="make a data frame of them, and look at the types of its columns",
        code="input_type",
        line=odd,
    )


def read_catalogue(given: object, reading: Reading) -> IdColumn:
    """Read the items that can be recommended: ids, a table with a column of items, or lines."""
    if isinstance(given, str | os.PathLike | File):
        found = recognise(given, "catalogue", reading.columns)
        if found.kind == "file":
            return read_ids(_drop_header(read_lines(found, reading.encoding)), "catalogue")
    elif isinstance(given, Iterable) and not isinstance(given, bytes) and not _is_array(given):
        given = list(given)
        if given and isinstance(given[0], Mapping):
            given = make_table(given)
    if isinstance(given, str | os.PathLike | File) or (
        is_table(given) and not is_single_column(given)
    ):
        with see_items(given, reading) as (table, item):
            return read_ids(open_table(table).columns[item], item)
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise FormatError(
            f"expected the ids of items, or a table of items, found {type(given).__name__}",
            hint="write catalogue=table['item_id']",
            code="input_type",
            file="catalogue",
        )
    return read_ids(given, "catalogue")


def _drop_header(lines: list[str]) -> list[str]:
    return lines[1:] if lines and lines[0] in SYNONYMS["doc"] else lines


def _is_array(given: object) -> bool:
    return is_table(given) or is_single_column(given) or hasattr(given, "dtype")


@contextmanager
def see_items(given: object, reading: Reading) -> Iterator[tuple[object, str]]:
    """Open a table of items with all of its columns; return it and the column of items."""
    found = recognise_items(given)
    if not found.format:
        held = open_table(found.value)
        _refuse_users([*held.columns])
        try:
            item = FoundColumns(held, {"doc": reading.columns.get("doc")}).require("doc")
        except FormatError as error:
            if hasattr(found.value, "reset_index"):
                error.hint = f"{error.hint}; if they are the index of the frame, .reset_index()"
            raise
        yield found.value, item
        return
    wanted = {"doc": reading.columns.get("doc"), **found.columns}
    with _open(found, wanted, (), reading) as file:
        item = file.columns["doc"]
        others = [name for name in file.names if name != item]
    _refuse_users(others)
    with _open(found, wanted, others, reading) as file:
        table = load_arrow().Table.from_batches(list(file), file.schema)
        yield type_cells(table, others) if found.format in TEXT_FORMATS else table, item


def recognise_items(given: object) -> Input:
    """Recognize a table of items."""
    try:
        return recognise_table(given)
    except FormatError as error:
        if error.code == "unknown_format":
            refuse_unnamed_columns(recognise(given, "items"), "items")  # type: ignore[arg-type]  # a file
        raise


def _refuse_users(names: Sequence[str]) -> None:
    """Raise an error for a history in place of items, whose users would be categories."""
    found = next((name for name in names if name in USERS), None)
    if found is not None:
        raise FormatError(
            f"expected what items are like, found a column of users, {quote(found)}",
            hint="if these are the interactions of users with items, write history=",
            code="columns",
        )


def type_cells(table: Any, names: Sequence[str]) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Turn columns of text that all hold numbers into numbers, as other formats have them."""
    compute, arrow = load_arrow("pyarrow.compute"), load_arrow()
    for name in names:
        cells = table.column(name).combine_chunks()
        if not arrow.types.is_large_string(cells.type):  # as `score` is, by its name
            continue
        numbers, _ = read_numbers(cells, name)
        words = compute.utf8_lower(cells.drop_null())
        if numbers is None and set(words.unique().to_pylist()) <= {"true", "false"}:
            numbers = compute.cast(cells, arrow.bool_())
        if numbers is not None:
            table = table.set_column(table.column_names.index(name), name, numbers)
    return table


def _open(
    found: Input, wanted: Mapping[str, str | None], others: Sequence[str], reading: Reading
) -> Any:  # noqa: ANN401 - a file of any format
    from rankscope._inputs.roles import Wanted  # noqa: PLC0415 - only files need it
    from rankscope._inputs.table_files import TableFile  # noqa: PLC0415 - as above

    columns = Wanted({"doc": wanted.get("doc")}, others, [["doc"]], has_real_numbers=True)
    return TableFile(found, columns, reading)
