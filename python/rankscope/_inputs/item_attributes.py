"""What items are like: categories, of which a text may name several, or vectors of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.arrow import fill_nulls
from rankscope._inputs.columns import as_arrow, count_ids, decode, is_list, read_ids, to_arrow
from rankscope.deferred import pa, pc
from rankscope.errors import FormatError
from rankscope.names import quote
from rankscope.output.diagnostics import describe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn
    from rankscope.output.diagnostics import Diagnostic

    Foreign: TypeAlias = Any  # an array of Arrow
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
OTHER_SCALE = 10
"""Numbers that are so many times as large as most others are noted."""


def describe_mapping(items: Mapping[Any, Any], notes: list[Diagnostic]) -> Described:
    """Describe items by a mapping of each to a category, several categories, or a vector."""
    values = list(items.values())
    if not all(isinstance(value, str | None) for value in values):
        values = [_list_attributes(value) for value in values]
    return describe_columns(read_ids(list(items), "items"), {"items": values}, notes)


def _list_attributes(value: Any) -> Any:  # noqa: ANN401 - what a caller has
    """Return several categories, or a vector, as a list."""
    if isinstance(value, str):
        return value.split(SEPARATOR)
    return list(value) if isinstance(value, Iterable) and not isinstance(value, bytes) else value


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
        return _keep_described(ids, _read_vectors(*arrays.values()))
    if set(kinds.values()) != {"number"}:
        raise _no_attributes(", ".join(f"{quote(name)} ({kind})" for name, kind in kinds.items()))
    numbers = {
        name: column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
        for name, column in arrays.items()
    }
    _note_scales(numbers, notes)
    return _keep_described(ids, np.column_stack(list(numbers.values())))


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
    """Note texts that are split, and other signs that a text names several categories."""
    printed = texts.filter(pc.match_substring_regex(texts, PRINTED_LIST))
    if len(printed):
        raise FormatError(
            f"expected categories in {name}, found the text of a list, {quote(printed[0].as_py())}",
            hint="separate the categories of a text by |, or pass lists: "
            f"table[{name!r}].map(ast.literal_eval)",
            code="item_attributes",
        )
    distinct = texts.unique()
    signs = {
        "categories_split": pc.match_substring(texts, SEPARATOR).to_pylist(),
        "categories_with_commas": pc.match_substring_regex(distinct, "[,;]").to_pylist(),
        "categories_with_blanks": _are_lists_with_blanks(distinct.to_pylist()),
    }
    for code, are_such in signs.items():
        if any(are_such):
            notes.append(describe(code, sum(are_such), {"column": name}, file="items"))
            break


def _are_lists_with_blanks(texts: Sequence[str]) -> list[bool]:
    """Return which texts, such as `Animation Comedy`, have words that are categories of others.

    Either all words are in other texts, or one begins another text or is all of it. The words of a
    name, such as `Science Fiction`, are seldom elsewhere, and keep their places.
    """
    split = [text.split() for text in texts]
    counts = Counter(word for words in split for word in {*words})
    moved = {words[0] for words in split if words} & {word for words in split for word in words[1:]}
    return [
        len(words) > 1 and (not moved.isdisjoint(words) or all(counts[word] > 1 for word in words))
        for words in split
    ]


def _describe_categories(
    ids: IdColumn, columns: Mapping[str, Foreign], notes: list[Diagnostic]
) -> Described:
    """Number the categories of columns by their order; equal texts of two columns differ."""
    count = 0
    rows, codes = [], []
    for name, column in columns.items():
        lists = column
        if not is_list(column.type):
            _check_texts(name, column.drop_null(), notes)
            lists = pc.split_pattern(column, SEPARATOR)
        words = pc.utf8_trim_whitespace(decode(pc.list_flatten(lists)))
        are_words = pc.fill_null(pc.not_equal(words, ""), False)
        encoded = words.filter(are_words).dictionary_encode()
        texts = np.array(encoded.dictionary.to_pylist(), dtype=object)
        places = np.unique(texts, return_inverse=True)[1]
        # Arrow's own list of parents counts the values below null.
        lengths = fill_nulls(pc.list_value_length(lists), 0)
        rows.append(np.repeat(np.arange(len(lists)), lengths)[np.asarray(are_words)])
        codes.append(places[np.asarray(encoded.indices)].astype(np.int64) + count)
        count += len(texts)
        if are_names(len(encoded), len(texts)):
            notes.append(describe("item_names_alone", len(texts), {"column": name}, file="items"))
    row = np.concatenate(rows)
    ends = np.append(0, np.cumsum(np.bincount(row, minlength=count_ids(ids)))).astype(np.int64)
    return ids, ends, np.concatenate(codes)[np.argsort(row, kind="stable")]


def are_names(count: int, different: int) -> bool:
    """Check whether nearly every text is that of one item, so that no two items share one."""
    return count >= FEWEST_NAMED and different >= NAMED * count


def _keep_described(ids: IdColumn, vectors: NDArray[np.float64]) -> Described:
    """Leave out items that lack a number."""
    if np.isinf(vectors).any():
        raise _no_attributes("an infinite number")
    rows = np.flatnonzero(~np.isnan(vectors).any(axis=1))
    if len(rows) < len(vectors):
        ids, vectors = read_ids(to_arrow(ids).take(rows), "items"), vectors[rows]
    return ids, vectors.shape[1], np.ascontiguousarray(vectors, dtype=np.float64).reshape(-1)


def _read_vectors(lists: Foreign) -> NDArray[np.float64]:
    """Read a column of vectors, which have one length; NaN where there is none."""
    lengths = np.array(lists.value_lengths().fill_null(0))
    sizes = np.unique(lengths[lengths > 0]).tolist()
    if len(sizes) != 1:
        raise FormatError(
            f"expected vectors of one length, found {' and '.join(map(str, sizes[:2])) or 'none'}",
            hint="pass a vector of the same length for each item",
            code="vector_length",
        )
    vectors = np.full((len(lengths), sizes[0]), np.nan)
    flat = lists.flatten().cast("float64", safe=False).to_numpy(zero_copy_only=False)
    vectors[lengths > 0] = flat.reshape(-1, sizes[0])
    return vectors


def _note_scales(numbers: Mapping[str, NDArray[np.float64]], notes: list[Diagnostic]) -> None:
    """Note columns whose numbers are far larger than those of most others, such as years."""
    sizes = {name: float(np.fmax.reduce(abs(of), initial=0)) for name, of in numbers.items()}
    ascending = sorted(size for size in sizes.values() if size > 0)
    usual = ascending[(len(ascending) - 1) // 2] if ascending else 0.0
    large = [quote(name) for name, size in sizes.items() if size >= OTHER_SCALE * usual > 0]
    if large:
        settings = {"column": ", ".join(large), "factor": OTHER_SCALE}
        notes.append(describe("item_scales", len(large), settings, file="items"))


def _no_attributes(found: str) -> FormatError:
    return FormatError(
        f"expected attributes that are all categories, or all numbers, found {found}",
        hint="pass only the columns by which items differ: items=table[['item_id', 'genre']]",
        code="item_attributes",
    )
