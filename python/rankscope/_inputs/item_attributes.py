"""Reads what items are like: vectors of numbers, or categories."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sized
from itertools import chain
from typing import SupportsFloat

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.column_names import SYNONYMS
from rankscope._inputs.columns import read_ids
from rankscope._inputs.item_categories import (
    SEPARATOR,
    drop_names,
    join_tokens,
    note_names,
    note_other_separators,
    number_lists,
    number_texts,
)
from rankscope._inputs.item_tables import make_table, see_items
from rankscope._inputs.lists import is_list
from rankscope._inputs.recognition import is_single_column, is_table
from rankscope._inputs.tables import open_table
from rankscope.deferred import np
from rankscope.errors import FormatError, InputError
from rankscope.file import File
from rankscope.names import quote
from rankscope.output.diagnostics import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn
    from rankscope._inputs.items import Described
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.settings.reading import Reading

OTHER_SCALE = 10
"""Numbers that are so many times as large as most others are noted."""


def describe_items(given: object, reading: Reading) -> tuple[Described, tuple[Diagnostic, ...]]:
    """Read what items are like, and note what is suspicious but legal."""
    notes: list[Diagnostic] = []
    try:
        if isinstance(given, list | tuple) and given and isinstance(given[0], Mapping):
            given = make_table(given)
        if isinstance(given, Mapping) and not _holds_columns(given):
            return _describe_mapping(given, notes), tuple(notes)
        if not isinstance(given, str | bytes | os.PathLike | File | Mapping) and (
            not is_table(given) or is_single_column(given)
        ):
            hint = "write items={'a': 'pop', 'b': ['rock', 'folk']}"
            if is_single_column(given):
                hint = "pass a table with a column of items: items=table[['item_id', 'genre']]"
            raise FormatError(
                f"expected a table of items, or a mapping, found {type(given).__name__}",
                hint=hint,
                code="input_type",
            )
        with see_items(given, reading) as (table, item):
            held = open_table(table)
            others = {name: column for name, column in held.columns.items() if name != item}
            described = _describe_columns(read_ids(held.columns[item], item), others, notes)
            return described, tuple(notes)
    except InputError as error:
        error.file = error.file or "items"
        raise


def _holds_columns(given: Mapping[Any, object]) -> bool:
    """Check whether a mapping has columns of one length, one of them named as that of items."""
    lengths = {
        len(value) if isinstance(value, Sized) and not isinstance(value, str | Mapping) else -1
        for value in given.values()
    }
    return len(lengths) == 1 and -1 not in lengths and not {*SYNONYMS["doc"]}.isdisjoint(given)


def _describe_mapping(given: Mapping[Any, object], notes: list[Diagnostic]) -> Described:
    """Describe items by a mapping of each to a category, several categories, or a vector."""
    values = [_list_attributes(value) for value in given.values()]
    separated = sum(isinstance(value, str) and SEPARATOR in value for value in given.values())
    if separated:
        notes.append(describe("categories_split", separated, {"column": "items"}, file="items"))
    else:
        texts = [value for value in given.values() if isinstance(value, str)]
        note_other_separators("items", load_arrow().array(texts, load_arrow().string()), notes)
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
        lists = load_arrow().array(values, load_arrow().list_(load_arrow().string()))
        return join_tokens(ids, [note_names("items", number_lists(lists), notes)])
    odd = next((each for each in every if not isinstance(each, SupportsFloat)), None)
    if odd is not None:
        raise _no_attributes(f"{quote(odd)} beside numbers")
    return _describe_vectors(ids, load_arrow().array(values, load_arrow().list_(_doubles())))


def _list_attributes(value: object) -> list[Any] | None:
    """Return the attributes of an item as a list; `None` if it has none."""
    if value is None:
        return None
    if isinstance(value, str):
        return [word for part in value.split(SEPARATOR) if (word := part.strip())]
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise FormatError(
            "expected a category, several categories, or a vector for each item, found "
            f"{type(value).__name__} of one item",
            hint="write codes of categories as text: {'a': '7'}; a vector is a list of numbers",
            code="item_attributes",
        )
    return list(value)


def _describe_columns(
    ids: IdColumn, columns: Mapping[str, Any], notes: list[Diagnostic]
) -> Described:
    """Describe items by the columns of a table."""
    pa = load_arrow()
    held = drop_names({name: _to_arrow(column) for name, column in columns.items()}, notes)
    if not held:
        raise _no_attributes("a table with no column beside the items")
    kinds = {name: _kind_of(column.type) for name, column in held.items()}
    if set(kinds.values()) == {"text"}:
        tokens = [
            number_lists(column) if is_list(column.type) else number_texts(name, column, notes)
            for name, column in held.items()
        ]
        return join_tokens(ids, tokens)
    if set(kinds.values()) != {"number"}:
        shown = ", ".join(f"{quote(name)} ({kind})" for name, kind in kinds.items())
        raise _no_attributes(shown)
    lists = [column for column in held.values() if is_list(column.type)]
    if len(lists) == 1 and len(held) == 1:
        return _describe_vectors(ids, lists[0].cast(pa.list_(_doubles())))
    if lists:
        raise _no_attributes("a column of vectors beside other numbers")
    numbers = [column.cast(_doubles()).to_numpy(zero_copy_only=False) for column in held.values()]
    _note_scales(held, numbers, notes)
    return _keep_described(ids, np.column_stack(numbers))


def _note_scales(
    names: Iterable[str], numbers: Sequence[NDArray[np.float64]], notes: list[Diagnostic]
) -> None:
    """Note columns whose numbers are far larger than those of most others, such as years."""
    sizes = {
        name: float(np.fmax.reduce(abs(column), initial=0))
        for name, column in zip(names, numbers, strict=True)
    }
    ascending = sorted(size for size in sizes.values() if size > 0)
    usual = ascending[(len(ascending) - 1) // 2] if ascending else 0.0
    large = [quote(name) for name, size in sizes.items() if size >= OTHER_SCALE * usual > 0]
    if large:
        settings = {"column": ", ".join(large), "factor": OTHER_SCALE}
        notes.append(describe("item_scales", len(large), settings, file="items"))


def _describe_vectors(ids: IdColumn, lists: Any) -> Described:  # noqa: ANN401 - PyArrow has no types
    """Describe items by a column of vectors, which have one length."""
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
    from rankscope._inputs.query_table import decode  # noqa: PLC0415 - few tables lack numbers

    texts = decode(ids)
    return read_ids([texts[row] for row in rows], "items")


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


def _kind_of(kind: Any) -> str:  # noqa: ANN401 - PyArrow has no types
    types = load_arrow().types
    value = kind.value_type if is_list(kind) else kind
    if types.is_integer(value) or types.is_floating(value) or types.is_boolean(value):
        return "number"
    if types.is_string(value) or types.is_large_string(value) or types.is_string_view(value):
        return "text"
    return str(kind)


def _doubles() -> Any:  # noqa: ANN401 - PyArrow has no types
    return load_arrow().float64()


def _no_attributes(found: str) -> FormatError:
    return FormatError(
        f"expected attributes that are all categories, or all numbers, found {found}",
        hint="pass only the columns by which items differ: items=table[['item_id', 'genre']]",
        code="item_attributes",
    )
