"""What items are like: categories, of which a text may name several, or vectors of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.columns import as_arrow, count_ids, list_texts, read_ids
from rankscope._inputs.files.lists import is_list
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
    if set(kinds.values()) == {"number"}:
        return _describe_numbers(ids, arrays, notes)
    if set(kinds.values()) != {"text"}:
        raise _no_attributes(", ".join(f"{quote(name)} ({kind})" for name, kind in kinds.items()))
    for name, column in arrays.items():
        if not is_list(column.type):
            _check_texts(name, column.drop_null(), notes)
            arrays[name] = load_arrow("pyarrow.compute").split_pattern(column, SEPARATOR)
    return _describe_categories(ids, {name: _number(of) for name, of in arrays.items()}, notes)


def _kind_of(kind: Foreign) -> str:
    types = load_arrow().types
    value = kind.value_type if is_list(kind) else kind
    if types.is_integer(value) or types.is_floating(value) or types.is_boolean(value):
        return "number"
    is_text = types.is_string(value) or types.is_large_string(value)
    return "text" if is_text else "empty" if types.is_null(value) else str(kind)


def _holds_names(column: Foreign) -> bool:
    """Check whether nearly every text of a column differs, as titles do."""
    compute, present = load_arrow("pyarrow.compute"), len(column) - column.null_count
    if column.type != load_arrow().large_string() or present < FEWEST_NAMED:
        return False
    # Many combinations of few genres may all differ, too.
    has_several = compute.any(compute.match_substring(column, SEPARATOR)).as_py()
    return not has_several and compute.count_distinct(column).as_py() >= NAMED * present


def _check_texts(name: str, texts: Foreign, notes: list[Diagnostic]) -> None:
    """Note texts that are split, and other signs that a text names several categories."""
    compute = load_arrow("pyarrow.compute")
    printed = texts.filter(compute.match_substring_regex(texts, PRINTED_LIST))
    if len(printed):
        raise FormatError(
            f"expected categories in {name}, found the text of a list, {quote(printed[0].as_py())}",
            hint="separate the categories of a text by |, or pass lists: "
            f"table[{name!r}].map(ast.literal_eval)",
            code="item_attributes",
        )
    distinct = texts.unique()
    signs = {
        "categories_split": compute.match_substring(texts, SEPARATOR).to_pylist(),
        "categories_with_commas": compute.match_substring_regex(distinct, "[,;]").to_pylist(),
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


@dataclass(frozen=True, slots=True)
class Tokens:
    """The categories in a column: the row of each, and its place among the sorted texts."""

    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    texts: Sequence[str]

    @property
    def are_names(self) -> bool:
        """Whether nearly every category is that of one item, so that no two items share one."""
        return len(self.rows) >= FEWEST_NAMED and len(self.texts) >= NAMED * len(self.rows)


def _number(lists: Foreign) -> Tokens:
    """Number categories by their order, so that it doesn't depend on that of the items."""
    compute = load_arrow("pyarrow.compute")
    rows = compute.list_parent_indices(lists)
    words = compute.utf8_trim_whitespace(compute.list_flatten(lists))
    are_words = compute.fill_null(compute.not_equal(words, ""), False)
    encoded = words.filter(are_words).dictionary_encode()
    names = np.array(encoded.dictionary.to_pylist(), dtype=object)
    texts, places = np.unique(names, return_inverse=True)
    codes = places[np.asarray(encoded.indices)].astype(np.int64)
    return Tokens(np.asarray(rows.filter(are_words), dtype=np.int64), codes, texts.tolist())


def _describe_categories(
    ids: IdColumn, tokens: Mapping[str, Tokens], notes: list[Diagnostic]
) -> Described:
    """Bring the categories of several columns together; equal texts of two columns differ."""
    notes += [
        describe("item_names_alone", len(of.texts), {"column": name}, file="items")
        for name, of in tokens.items()
        if of.are_names
    ]
    starts = np.cumsum([0, *(len(of.texts) for of in tokens.values())])
    rows = np.concatenate([of.rows for of in tokens.values()])
    shifted = zip(tokens.values(), starts.tolist(), strict=False)
    codes = np.concatenate([of.codes + start for of, start in shifted])
    counts = np.bincount(rows, minlength=count_ids(ids))
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return ids, ends, codes[np.argsort(rows, kind="stable")]


def _describe_numbers(
    ids: IdColumn, columns: Mapping[str, Foreign], notes: list[Diagnostic]
) -> Described:
    """Describe items by a column of vectors, or by columns of numbers; leave out those without."""
    if len(columns) == 1 and is_list(next(iter(columns.values())).type):
        vectors = _read_vectors(next(iter(columns.values())))
    elif any(is_list(column.type) for column in columns.values()):
        raise _no_attributes("a column of vectors beside other numbers")
    else:
        numbers = {
            name: column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
            for name, column in columns.items()
        }
        _note_scales(numbers, notes)
        vectors = np.column_stack(list(numbers.values()))
    if np.isinf(vectors).any():
        raise _no_attributes("an infinite number")
    rows = np.flatnonzero(~np.isnan(vectors).any(axis=1))
    if len(rows) < len(vectors):
        texts = list_texts(ids)
        ids = ids[rows] if isinstance(ids, np.ndarray) else read_ids([texts[r] for r in rows], "")
    return ids, vectors.shape[1], vectors[rows].reshape(-1)


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
