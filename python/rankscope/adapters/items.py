"""Reads what is known of items: the history of interactions, the catalogue, and attributes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import SupportsFloat

from rankscope._core import Judgments
from rankscope.adapters.arrow import load_arrow
from rankscope.adapters.column_names import SYNONYMS, USERS
from rankscope.adapters.columns import count_ids, read_ids
from rankscope.adapters.files.cells import read_numbers
from rankscope.adapters.inputs import Input, recognise, recognise_table
from rankscope.adapters.reading import read_judgments, see_table
from rankscope.adapters.tables import FoundColumns, is_single_column, is_table, open_table
from rankscope.errors import FormatError, InputError
from rankscope.file import File
from rankscope.names import quote
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.adapters.columns import IdColumn
    from rankscope.data.items import Described
    from rankscope.typing import InputLike

INTERACTIONS = (("doc",), ("query",))
"""The columns of a history. Unlike judgments, it needs no grades, whatever columns there are."""

QUERIES = tuple(name for name in SYNONYMS["query"] if name not in USERS)
"""Names of queries, which aren't taken for the user of a history that has a column of users."""


TEXT_FORMATS = {"csv", "tsv"}
"""Formats in which numbers are text."""


@record(frozen=True, slots=True)
class Tokens:
    """The categories in a column: the row of each, and its place among the sorted texts."""

    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    texts: Sequence[str]


def read_history(given: InputLike, *, columns: Mapping[str, str], encoding: str) -> Judgments:
    """Read the interactions of users with items; each pair counts once, whatever its grade.

    Raises:
        InputError: They are not of the format.
        FileError: The file can't be read.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    try:
        found = recognise(given, "history", columns)
        if found.kind != "table":
            return read_judgments(
                found, duplicates="max", encoding=encoding, columns=columns, notes=[]
            )[0]
        with see_table(
            found, INTERACTIONS, columns, encoding=encoding, notes=[], besides=QUERIES
        ) as (table, names, *_):
            held = FoundColumns(open_table(table), names, QUERIES)
            users, items = held.read_ids("query"), held.read_ids("doc")
            ones = np.ones(count_ids(items), dtype=np.int32)
            return Judgments.from_columns(users, items, ones, "max")
    except InputError as error:
        if error.file in {None, "qrels"}:
            error.file = "history"
        raise


def read_catalogue(given: object, *, columns: Mapping[str, str], encoding: str) -> IdColumn:
    """Read the items that can be recommended: ids, or a table with a column of items.

    Raises:
        InputError: They are not of the format.
        FileError: The file can't be read.
    """
    if isinstance(given, str | os.PathLike | File) or (
        is_table(given) and not is_single_column(given)
    ):
        with _see_items(given, columns, encoding) as (table, item):
            return read_ids(open_table(table).columns[item], item)
    if isinstance(given, Iterable) and not isinstance(given, bytes) and not _is_array(given):
        given = list(given)
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise FormatError(
            f"expected the ids of items, or a table of items, found {type(given).__name__}",
            hint="write catalogue=table['item_id']",
            code="input_type",
            file="catalogue",
        )
    return read_ids(given, "catalogue")


def _is_array(given: object) -> bool:
    return is_table(given) or is_single_column(given) or hasattr(given, "dtype")


def describe_items(given: object, *, columns: Mapping[str, str], encoding: str) -> Described:
    """Read what items are like: vectors of numbers, or categories.

    Raises:
        InputError: They are not of the format, or there are numbers and categories.
        FileError: The file can't be read.
    """
    try:
        if isinstance(given, Mapping):
            return _describe_mapping(given)
        if not isinstance(given, str | bytes | os.PathLike | File) and (
            not is_table(given) or is_single_column(given)
        ):
            raise FormatError(
                f"expected a table of items, or a mapping, found {type(given).__name__}",
                hint="write items={'a': 'pop', 'b': ['rock', 'folk']}",
                code="input_type",
            )
        with _see_items(given, columns, encoding) as (table, item):
            held = open_table(table)
            others = {name: column for name, column in held.columns.items() if name != item}
            return _describe_columns(read_ids(held.columns[item], item), others)
    except InputError as error:
        error.file = error.file or "items"
        raise


@contextmanager
def _see_items(
    given: object, columns: Mapping[str, str], encoding: str
) -> Iterator[tuple[object, str]]:
    """Open a table of items with all of its columns; return it and the column of items."""
    found = recognise_table(given)
    if not found.format:
        held = open_table(found.value)
        yield found.value, FoundColumns(held, {"doc": columns.get("doc")}).require("doc")
        return
    wanted = {"doc": columns.get("doc"), **found.columns}
    with _open(found, wanted, (), encoding) as file:
        item = file.columns["doc"]
        others = [name for name in file.names if name != item]
    with _open(found, wanted, others, encoding) as file:
        table = load_arrow().Table.from_batches(list(file), file.schema)
        yield _type_cells(table, others) if found.format in TEXT_FORMATS else table, item


def _type_cells(table: Any, names: Sequence[str]) -> Any:  # noqa: ANN401 - PyArrow has no types
    """Turn columns of text that all hold numbers into numbers, as other formats have them."""
    compute, arrow = load_arrow("pyarrow.compute"), load_arrow()
    for name in names:
        cells = table.column(name).combine_chunks()
        numbers, _ = read_numbers(cells, name)
        words = compute.utf8_lower(cells.drop_null())
        if numbers is None and set(words.unique().to_pylist()) <= {"true", "false"}:
            numbers = compute.cast(cells, arrow.bool_())
        if numbers is not None:
            table = table.set_column(table.column_names.index(name), name, numbers)
    return table


def _open(
    found: Input, wanted: Mapping[str, str | None], others: Sequence[str], encoding: str
) -> Any:  # noqa: ANN401 - a file of any format
    from rankscope.adapters.files.table import open_batches  # noqa: PLC0415 - only files need it

    return open_batches(
        found.location,
        wanted={"doc": wanted.get("doc")},
        needed=[["doc"]],
        others=others,
        format=found.format,
        name=found.name,
        encoding=encoding,
    )


def _describe_mapping(given: Mapping[Any, object]) -> Described:
    """Describe items by a mapping of each to a category, several categories, or a vector."""
    values = [_list_attributes(value) for value in given.values()]
    if not values:
        raise FormatError(
            "expected attributes of items, found none",
            hint="write items={'a': 'pop', 'b': ['rock', 'folk']}",
            code="empty_input",
        )
    ids = read_ids(list(given), "items")
    every = [each for each in chain.from_iterable(filter(None, values)) if each is not None]
    are_texts = {isinstance(each, str) for each in every}
    if are_texts <= {True}:
        return _join(ids, [_tokens_of_lists(load_arrow().array(values, _texts()))])
    odd = next((each for each in every if not isinstance(each, SupportsFloat)), None)
    if odd is not None:
        raise _no_attributes(f"{quote(odd)} beside numbers")
    return _describe_vectors(ids, load_arrow().array(values, load_arrow().list_(_doubles())))


def _list_attributes(value: object) -> list[Any] | None:
    """Return the attributes of an item as a list; `None` if it has none."""
    if value is None:
        return None
    if isinstance(value, str):
        return [value]
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise FormatError(
            "expected a category, several categories, or a vector for each item, found "
            f"{type(value).__name__} of one item",
            hint="write codes of categories as text: {'a': '7'}; a vector is a list of numbers",
            code="item_attributes",
        )
    return list(value)


def _describe_columns(ids: IdColumn, columns: Mapping[str, Any]) -> Described:
    """Describe items by the columns of a table."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    pa = load_arrow()
    held = {name: _to_arrow(column) for name, column in columns.items()}
    if not held:
        raise _no_attributes("a table with no column beside the items")
    kinds = {name: _kind_of(column.type) for name, column in held.items()}
    if set(kinds.values()) == {"text"}:
        tokens = [
            _tokens_of_lists(column) if _is_list(column.type) else _tokens_of_texts(column)
            for column in held.values()
        ]
        return _join(ids, tokens)
    if set(kinds.values()) != {"number"}:
        shown = ", ".join(f"{quote(name)} ({kind})" for name, kind in kinds.items())
        raise _no_attributes(shown)
    lists = [column for column in held.values() if _is_list(column.type)]
    if len(lists) == 1 and len(held) == 1:
        return _describe_vectors(ids, lists[0].cast(pa.list_(_doubles())))
    if lists:
        raise _no_attributes("a column of vectors beside other numbers")
    numbers = [column.cast(_doubles()).to_numpy(zero_copy_only=False) for column in held.values()]
    return _keep_described(ids, np.column_stack(numbers))


def _describe_vectors(ids: IdColumn, lists: Any) -> Described:  # noqa: ANN401 - PyArrow has no types
    """Describe items by a column of vectors, which have one length."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    lengths = np.array(lists.value_lengths().fill_null(0))
    present = lengths[lengths > 0]
    size = int(present[0]) if len(present) else 0
    if size == 0 or (present != size).any():
        raise FormatError(
            "expected vectors of one length, found "
            + ("none" if size == 0 else f"{size} and {int(present[present != size][0])} numbers"),
            hint="pass a vector of the same length for each item",
            code="vector_length",
        )
    vectors = np.full((len(lengths), size), np.nan)
    flat = lists.flatten().to_numpy(zero_copy_only=False)
    vectors[lengths > 0] = flat.reshape(-1, size)
    return _keep_described(ids, vectors)


def _keep_described(ids: IdColumn, vectors: NDArray[np.float64]) -> Described:
    """Leave out items that lack a number."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    if np.isinf(vectors).any():
        raise _no_attributes("an infinite number")
    is_whole = ~np.isnan(vectors).any(axis=1)
    if not is_whole.all():
        ids = _pick(ids, np.flatnonzero(is_whole))
        vectors = vectors[is_whole]
    return ids, vectors.shape[1], np.ascontiguousarray(vectors, dtype=np.float64).reshape(-1)


def _pick(ids: IdColumn, rows: NDArray[np.int64]) -> IdColumn:
    if not isinstance(ids, tuple):
        return ids[rows]
    from rankscope.adapters.query_table import decode  # noqa: PLC0415 - few tables lack numbers

    texts = decode(ids)
    return read_ids([texts[row] for row in rows], "items")


def _tokens_of_texts(column: Any) -> Tokens:  # noqa: ANN401 - PyArrow has no types
    import numpy as np  # noqa: PLC0415 - loads with the first array

    rows = np.flatnonzero(np.asarray(column.is_valid()))
    return _number(rows, column.drop_null())


def _tokens_of_lists(column: Any) -> Tokens:  # noqa: ANN401 - PyArrow has no types
    import numpy as np  # noqa: PLC0415 - loads with the first array

    lengths = np.array(column.value_lengths().fill_null(0))
    rows = np.repeat(np.arange(len(lengths)), lengths)
    flat = column.flatten()
    is_there = np.asarray(flat.is_valid())
    return _number(rows[is_there], flat.drop_null())


def _number(rows: NDArray[Any], texts: Any) -> Tokens:  # noqa: ANN401 - PyArrow has no types
    """Number texts by their order, so that it doesn't depend on that of the items."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    encoded = (
        texts.dictionary_encode()
        if len(texts)
        else load_arrow().array([], _text()).dictionary_encode()
    )
    names = encoded.dictionary.to_pylist()
    places = np.empty(len(names), dtype=np.int64)
    order = sorted(range(len(names)), key=names.__getitem__)
    places[order] = np.arange(len(names))
    codes = places[np.asarray(encoded.indices)] if len(names) else np.zeros(0, dtype=np.int64)
    return Tokens(rows.astype(np.int64), codes, [names[at] for at in order])


def _join(ids: IdColumn, columns: Sequence[Tokens]) -> Described:
    """Bring the categories of several columns together; equal texts of two columns differ."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    starts = np.cumsum([0, *(len(column.texts) for column in columns)])
    rows = np.concatenate([column.rows for column in columns])
    shifted = zip(columns, starts.tolist(), strict=False)
    codes = np.concatenate([column.codes + start for column, start in shifted])
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows, minlength=count_ids(ids))
    ends = np.concatenate([[0], np.cumsum(counts)])
    return ids, ends.astype(np.int64), codes[order].astype(np.int64)


def _to_arrow(column: Any) -> Any:  # noqa: ANN401 - of a library
    """Return a column of any library as an array of Arrow."""
    pa = load_arrow()
    held = column.to_arrow() if hasattr(column, "to_arrow") else column
    if not isinstance(held, pa.Array | pa.ChunkedArray):
        try:
            held = pa.array(held, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise _no_attributes("a column of several types") from None
    if isinstance(held, pa.ChunkedArray):
        held = held.combine_chunks()
    if pa.types.is_dictionary(held.type):
        held = held.dictionary_decode()
    return held


def _is_list(kind: Any) -> bool:  # noqa: ANN401 - PyArrow has no types
    types = load_arrow().types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _kind_of(kind: Any) -> str:  # noqa: ANN401 - PyArrow has no types
    types = load_arrow().types
    value = kind.value_type if _is_list(kind) else kind
    if types.is_integer(value) or types.is_floating(value) or types.is_boolean(value):
        return "number"
    if types.is_string(value) or types.is_large_string(value) or types.is_string_view(value):
        return "text"
    return str(kind)


def _text() -> Any:  # noqa: ANN401 - PyArrow has no types
    return load_arrow().string()


def _texts() -> Any:  # noqa: ANN401 - PyArrow has no types
    return load_arrow().list_(_text())


def _doubles() -> Any:  # noqa: ANN401 - PyArrow has no types
    return load_arrow().float64()


def _no_attributes(found: str) -> FormatError:
    return FormatError(
        f"expected attributes that are all categories, or all numbers, found {found}",
        hint="pass only the columns by which items differ: items=table[['item_id', 'genre']]",
        code="item_attributes",
    )
