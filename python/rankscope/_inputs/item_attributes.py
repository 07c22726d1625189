"""What items are like: categories, of which a text may name several, or vectors of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.arrow import fill_nulls, to_array
from rankscope._inputs.columns import as_arrow, count_ids, decode, is_list, read_ids, to_arrow
from rankscope._inputs.labels import encode_texts
from rankscope.deferred import pa, pc
from rankscope.errors import FormatError
from rankscope.names import quote
from rankscope.output.diagnostics import describe

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn
    from rankscope._inputs.doubles import Foreign
    from rankscope.output.diagnostics import Diagnostic

    Described: TypeAlias = (
        tuple[IdColumn, int, NDArray[np.float64]]
        | tuple[IdColumn, NDArray[np.int64], NDArray[np.int64]]
    )
    """Items with the size and the numbers of their vectors, or the ends and codes of categories."""

SEPARATOR = "|"
"""What separates categories in one text, such as the genres of MovieLens."""
PRINTED_LIST = r"^\[.*\]$"
"""How lists look that were written to a CSV file."""
FEWEST_NAMED = 20
"""Fewer items may have a category of their own by chance."""
NAMED = 0.9
"""The share of different texts from which they are names of items, such as titles."""


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


def _no_attributes(found: str) -> FormatError:
    hint = "pass only the columns by which items differ: items=table[['item_id', 'genre']]"
    return _refuse(f"expected attributes all categories, or all numbers, found {found}", hint)


def _refuse(message: str, hint: str, code: str = "item_attributes") -> FormatError:
    return FormatError(message, hint=hint, code=code)
