"""What items are like: categories, of which a text may name several, or vectors of numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rankscope._core import Items as CoreItems
from rankscope._core import Judgments
from rankscope._file import File
from rankscope._inputs.column_names import SYNONYMS, USERS, list_usual
from rankscope._inputs.columns import (
    as_arrow,
    count_ids,
    decode,
    fill_nulls,
    is_list,
    read_ids,
    to_array,
    to_arrow,
)
from rankscope._inputs.labels import encode_texts
from rankscope._inputs.numbers import Foreign
from rankscope._inputs.reading import read_judgments, read_lines, refuse_unnamed_columns
from rankscope._inputs.recognition import is_single_column, is_table, recognise
from rankscope._inputs.rows import Columns, open_columns
from rankscope._names import MOST_NAMES, quote
from rankscope._settings import Reading
from rankscope._show.diagnostics import Diagnostic, describe
from rankscope.errors import EmptyError, FormatError, InputError
from rankscope.typing import HistoryLike

if TYPE_CHECKING:
    from rankscope._inputs.columns import IdColumn

    Described: TypeAlias = (
        tuple[IdColumn, int, NDArray[np.float64]]
        | tuple[IdColumn, NDArray[np.int64], NDArray[np.int64]]
    )
    """Items with the size and the numbers of their vectors, or the ends and codes of categories."""
    Parts: TypeAlias = tuple[IdColumn | None, Judgments | None, Described | None]
    """The catalogue, the history, and the items that are described."""


# What separates categories in one text, such as the genres of MovieLens.
SEPARATOR = "|"
# How lists look that were written to a CSV file.
PRINTED_LIST = r"^\[.*\]$"
# Fewer items may have a category of their own by chance.
FEWEST_NAMED = 20
# The share of different texts from which they are names of items, such as titles.
NAMED = 0.9


def describe_mapping(items: Mapping[Any, Any], notes: list[Diagnostic]) -> Described:
    """Describe items by a mapping of each to a category, several categories, or a vector."""
    values = list(items.values())
    if not all(isinstance(value, str | None) for value in values):
        values = [value.split(SEPARATOR) if isinstance(value, str) else value for value in values]
        values = [[*value] if _is_list(value) else value for value in values]
    return describe_columns(read_ids(list(items), "items"), {"items": values}, notes)


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, bytes)


def describe_columns(
    ids: IdColumn, columns: Mapping[str, Any], notes: list[Diagnostic]
) -> Described:
    """Describe items by the columns of a table."""
    arrays = {name: as_arrow(column, name) for name, column in columns.items()}
    names = [name for name, column in arrays.items() if _holds_names(column)]
    if len(names) < len(arrays):
        notes += [describe("item_names", 1, {"column": name}, file="items") for name in names]
        arrays = {name: column for name, column in arrays.items() if name not in names}
    if not arrays:
        raise _no_attributes("a table with no column beside the items")
    kinds = {name: _kind_of(column.type) for name, column in arrays.items()}
    if set(kinds.values()) == {"text"}:
        return _describe_categories(ids, arrays, notes)
    if [*kinds.values()] == ["vectors"]:
        vectors = _read_vectors(*arrays.values())
    elif set(kinds.values()) == {"number"}:
        vectors = np.column_stack(list(map(_to_numbers, arrays.values())))
    else:
        raise _no_attributes(", ".join(f"{quote(name)} ({kind})" for name, kind in kinds.items()))
    if np.isinf(vectors).any():
        raise _no_attributes("an infinite number")
    # Items that lack a number are left out.
    rows = np.flatnonzero(~np.isnan(vectors).any(axis=1))
    if len(rows) < len(vectors):
        ids, vectors = read_ids(to_arrow(ids).take(rows), "items"), vectors[rows]
    return ids, vectors.shape[1], vectors.reshape(-1)


def _to_numbers(column: Foreign) -> NDArray[np.float64]:
    return fill_nulls(column.cast("float64", safe=False), np.nan)


def _kind_of(kind: Foreign) -> str:
    value = kind.value_type if is_list(kind) else kind
    if pa.types.is_integer(value) or pa.types.is_floating(value) or pa.types.is_boolean(value):
        return "vectors" if is_list(kind) else "number"
    is_text = str(value).endswith(("string", "string_view"))
    return "text" if is_text else "empty" if pa.types.is_null(value) else str(kind)


def _holds_names(column: Foreign) -> bool:
    """Check whether a column has texts such as titles."""
    if column.type != pa.large_string():
        return False
    # Many combinations of few genres may all differ, too.
    has_several = pc.any(pc.match_substring(column, SEPARATOR)).as_py()
    different = pc.count_distinct(column).as_py()
    return not has_several and are_names(len(column) - column.null_count, different)


def _check_texts(name: str, texts: Foreign, notes: list[Diagnostic]) -> None:
    """Note texts that are split, and refuse those of printed lists."""
    printed = texts.filter(pc.match_substring_regex(texts, PRINTED_LIST))
    if len(printed):
        text = quote(printed[0].as_py())
        hint = f"separate categories by |, or pass lists: table[{name!r}].map(ast.literal_eval)"
        raise _refuse(f"expected categories in {name}, found the text of a list, {text}", hint)
    if count := pc.sum(pc.match_substring(texts, SEPARATOR)).as_py():
        notes.append(describe("categories_split", count, {"column": name}, file="items"))


def _describe_categories(
    ids: IdColumn, columns: Mapping[str, Foreign], notes: list[Diagnostic]
) -> Described:
    """Number the categories of columns by their order; equal texts of two columns differ."""
    count, rows, codes = 0, [], []
    for name, column in columns.items():
        lists = column
        if not is_list(column.type):
            _check_texts(name, column.drop_null(), notes)
            lists = pc.split_pattern(column, SEPARATOR)
        words = pc.utf8_trim_whitespace(decode(pc.list_flatten(lists)))
        row, encoded = encode_texts(lists, words)
        different = len(encoded.dictionary)
        places = to_array(pc.rank(encoded.dictionary)).astype(np.int64) - 1 + count
        rows.append(row)
        codes.append(places[to_array(encoded.indices)])
        count += different
        if are_names(len(encoded), different):
            notes.append(describe("item_names_alone", different, {"column": name}, file="items"))
    row = np.concatenate(rows)
    ends = np.append(0, np.cumsum(np.bincount(row, minlength=count_ids(ids)))).astype(np.int64)
    return ids, ends, np.concatenate(codes)[np.argsort(row, kind="stable")]


def are_names(count: int, different: int) -> bool:
    """Check whether nearly every text is that of one item, so that no two items share one."""
    return count >= FEWEST_NAMED and different >= NAMED * count


def _read_vectors(lists: Foreign) -> NDArray[np.float64]:
    """Read a column of vectors, which have one length; NaN where there is none."""
    counts = fill_nulls(pc.list_value_length(lists), 0)
    sizes = np.unique(counts[counts > 0]).tolist()
    if len(sizes) != 1:
        hint = "pass a vector of the same length for each item"
        lengths = " and ".join(map(str, sizes[:2])) or "none"
        raise _refuse(f"expected vectors of one length, found {lengths}", hint, "vector_length")
    vectors = np.full((len(counts), sizes[0]), np.nan)
    vectors[counts > 0] = _to_numbers(lists.flatten()).reshape(-1, sizes[0])
    return vectors


def _no_attributes(kinds: str) -> FormatError:
    hint = "pass only the columns by which items differ: items=table[['item_id', 'genre']]"
    return _refuse(f"expected attributes all categories, or all numbers, found {kinds}", hint)


def _refuse(message: str, hint: str, code: str = "item_attributes") -> FormatError:
    return FormatError(message, hint=hint, code=code)


# Names of queries, which aren't taken for the user of a history that has a column of users.
QUERIES = tuple(name for name in SYNONYMS["query"] if name not in USERS)
FILES = (str, bytes, os.PathLike, File)
PAIR = (tuple, list)


@dataclass(frozen=True, slots=True)
class Items:
    """What is known of items, from `read_items`, to pass to `evaluate`.

    Args:
        core: The history, the attributes and the catalogue in the core.
        parts: What the core was made of.
        arguments: What was passed to `read_items`.
        notes: What was suspicious but legal in the attributes.
    """

    core: CoreItems
    parts: Parts
    arguments: frozenset[str]
    notes: tuple[Diagnostic, ...] = ()

    @property
    def attributes(self) -> Literal["", "vectors", "categories"]:
        """Whether items have `"vectors"` of numbers, or `"categories"`; empty if neither."""
        has_categories = self.core.has_categories()
        return "" if has_categories is None else "categories" if has_categories else "vectors"

    def __repr__(self) -> str:
        return f"Items({', '.join(sorted(self.arguments))}; {self.core.offered()} items)"

    def __reduce__(self) -> tuple[object, ...]:
        return make_items, (self.parts, self.arguments, self.notes)


def make_items(
    parts: Parts, arguments: frozenset[str], notes: tuple[Diagnostic, ...] = ()
) -> Items:
    """Bring the parts together in the core."""
    return Items(CoreItems(*parts), parts, arguments, notes)


def read_history(history: HistoryLike, reading: Reading) -> Judgments:
    """Read the interactions of users with items; each pair counts once, whatever its grade."""
    try:
        rows = recognise(_name_pairs(history), "history", reading.columns)
        if rows.kind != "table":
            refuse_unnamed_columns(rows, "history")
            return read_judgments(rows, replace(reading, duplicates="max"), notes=[])[0]
        roles = {role: reading.columns.get(role) for role in ("query", "doc")}
        with open_columns(rows, reading, roles, required=list(roles), besides=QUERIES) as table:
            users, items = table.ids("query"), table.ids("doc")
            ones = np.ones(count_ids(items), dtype=np.int32)
            return Judgments.from_columns(users, items, ones, "max")
    except InputError as error:
        if error.file in {None, "qrels"}:
            error.file = "history"
        if error.code == "row_shape":
            error.message = "expected rows that are all (user, item), or all (user, item, grade)"
        if isinstance(error, EmptyError):
            error.message = "expected interactions of users with items, found none"
            error.hint = "is the history empty, or the download cut off?"
        raise


def _name_pairs(history: Any) -> Any:  # noqa: ANN401 - of any kind
    """Return pairs of user and item as rows with a grade, and an array of them as columns."""
    rows: Any = list(history) if isinstance(history, Iterator) else history
    if hasattr(rows, "dtype") and rows.shape[1:] == (2,):
        return dict(zip(("user_id", "item_id"), rows.T, strict=True))
    if isinstance(rows, PAIR) and rows and isinstance(rows[0], PAIR) and len(rows[0]) == 2:
        return [(*row, 1) if isinstance(row, PAIR) else row for row in rows]
    return rows


def read_catalogue(catalogue: Any, reading: Reading) -> IdColumn:  # noqa: ANN401 - of any kind
    """Read the items that can be recommended: ids, a table with a column of items, or lines."""
    if isinstance(catalogue, FILES):
        file = recognise(catalogue, "catalogue", reading.columns)
        if file.kind == "file":
            lines = read_lines(file, reading.encoding)
            has_header = bool(list_usual(lines[:1], "doc"))
            return read_ids(lines[has_header:], "catalogue")
    elif is_single_column(catalogue) or hasattr(catalogue, "dtype"):
        return read_ids(catalogue, "catalogue")
    elif isinstance(catalogue, Iterable) and not is_table(catalogue):
        catalogue = list(catalogue)
        if not catalogue or not isinstance(catalogue[0], Mapping):
            return read_ids(catalogue, "catalogue")
    with _open_items(catalogue, reading) as table:
        return table.ids("doc")


def describe_items(items: Any, reading: Reading) -> tuple[Described, tuple[Diagnostic, ...]]:  # noqa: ANN401 - of any kind
    """Read what items are like, and note what is suspicious but legal."""
    notes: list[Diagnostic] = []
    try:
        if isinstance(items, Mapping):
            named = [items[name] for name in list_usual(islice(items, MOST_NAMES), "doc")]
            if not any(isinstance(ids, Sized) and not isinstance(ids, str) for ids in named):
                return describe_mapping(items, notes), tuple(notes)
        with _open_items(items, reading) as table:
            item = table.columns["doc"]
            columns = {name: table.typed(name) for name in table.names if name != item}
            return describe_columns(table.ids("doc"), columns, notes), tuple(notes)
    except InputError as error:
        if error.code == "unknown_format":
            refuse_unnamed_columns(recognise(items, "items"), "items")
        if error.code == "columns" and hasattr(items, "reset_index"):
            error.hint = f"{error.hint}; if they are the index of the frame, .reset_index()"
        error.file = "items" if error.file in {None, "table"} else error.file
        raise


@contextmanager
def _open_items(items: object, reading: Reading) -> Iterator[Columns]:
    """Open a table of items with all of its columns."""
    roles = {"doc": reading.columns.get("doc")}
    with open_columns(items, reading, roles, None, required=["doc"]) as table:
        for user in list_usual(table.names, "user"):
            message = f"expected what items are like, found a column of users, {quote(user)}"
            hint = "if these are the interactions of users with items, write history="
            raise FormatError(message, hint=hint, code="columns")
        yield table
