"""Turns tables of rankings and of labels into the columns that the core decodes.

A table has a document a row, a ranking a row with lists of documents, or a label a row. Only
columns of the usual types are taken; the reader of rows has the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rankscope._inputs.columns import decode, fill_nulls, to_array
from rankscope.monitor.arrays import read_texts
from rankscope.monitor.events.names import ITEM_NAMES
from rankscope.monitor.events.tables import differs_from_next

Foreign: TypeAlias = Any  # of PyArrow, which has no types
Texts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8]]
"""Offsets of texts, the texts end to end, and whether each is there, empty where all are."""
LabelColumns: TypeAlias = tuple[Any, ...]
"""Which rows of labels may be plain, and their columns, as the core takes them."""


HEADS = ("event_id", "query_key", "user_id", "model", "version", "environment")
ATTRIBUTES = ("attributes", "features", "tags")
LARGEST_WHOLE = 1e15
UBI_FIELD = "event_attributes"
"""User Behavior Insights have the document in there."""


class UnusualColumnError(Exception):
    """A column of another type than those that are taken here."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Rankings as columns.

    Args:
        count: The number of rankings.
        places: The places of those that the columns have, from 0.
        heads: The columns of rankings, as the core takes them.
        documents: The columns of documents, likewise.
    """

    count: int
    places: Sequence[int]
    heads: tuple[Any, ...]
    documents: tuple[Any, ...]


def find_starts(columns: Mapping[str, Foreign], name: str) -> NDArray[np.int64]:
    """Return where the rows of each ranking begin, and where the last end."""
    ids = columns[name]
    starts = np.flatnonzero(differs_from_next(ids)) + 1
    return np.concatenate([[0], starts, [len(ids)]]).astype(np.int64)


def list_rows(bounds: NDArray[np.int64], places: Sequence[int]) -> NDArray[np.int64]:
    """Return the rows of the rankings at some places."""
    rows = [np.arange(bounds[place], bounds[place + 1]) for place in places]
    return np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)


def split_documents(
    columns: Mapping[str, Foreign],
    roles: Mapping[str, str],
    attributes: Sequence[str],
    bounds: NDArray[np.int64],
) -> Columns:
    """Return rankings of which each row has one document."""
    needed = ["ranking_id", "doc_id", "time", "rank" if "rank" in roles else "score"]
    if not {roles.get(role) for role in needed} | set(attributes) <= columns.keys():
        raise UnusualColumnError
    count = len(bounds) - 1
    plain = np.ones(count, dtype=np.uint8)
    begins = pa.array(bounds[:-1])
    inside = np.ones(bounds[-1], dtype=bool)
    inside[bounds[1:] - 1] = False

    def first(name: str) -> Foreign:
        """Return the value that all rows of a ranking share."""
        if pa.types.is_nested(columns[name].type):
            raise UnusualColumnError
        differs = differs_from_next(columns[name])
        _exclude(plain, bounds, np.flatnonzero(differs & inside[:-1]))
        return columns[name].take(begins)

    heads = {role: first(roles[role]) for role in ("ranking_id", "time", *HEADS) if role in roles}
    named = [(name, _read_attribute(first(name))) for name in attributes]
    documents = {role: columns[roles[role]] for role in ITEM_NAMES if role in roles}
    # A grade that is not a number is none in a table.
    shown = _read_documents(documents, plain, bounds, nan_is_none=("relevance",))
    return Columns(
        count, range(count), _read_heads(heads, named, [], bounds, plain), (*shown, True)
    )


def split_lists(
    columns: Mapping[str, Foreign],
    names: Sequence[Mapping[str, str]],
    attributes: Sequence[str],
) -> Columns:
    """Return rankings of which each is a row, with lists of documents."""
    count = len(next(iter(columns.values())))
    # A column without any value is not there.
    columns = {name: column for name, column in columns.items() if column.null_count < count}
    as_list, as_lists, of_documents, _ = names
    has_items = any(as_list.get(name) == "items" for name in columns)
    others = [name for name in columns if name not in attributes]
    roles = find_list_roles(others, as_list if has_items else as_lists)
    if has_items:
        return _split_items(columns, roles, of_documents, attributes)
    lists = {role: columns[roles[role]] for role in ITEM_NAMES if role in roles}
    if "labels" in lists or "doc_id" not in lists or not {"ranking_id", "time"} <= roles.keys():
        raise UnusualColumnError
    columns, places = _keep_usual(columns, list(lists.values()))
    opened = {role: open_list(columns[roles[role]]) for role in lists}
    bounds, _ = opened["doc_id"]
    documents = {role: values for role, (_, values) in opened.items()}
    plain = np.ones(len(places), dtype=np.uint8)
    shown = _read_documents(documents, plain, bounds, nan_is_none=())
    heads = _read_rows(columns, roles, attributes, [], (bounds, plain))
    return Columns(count, places.tolist(), heads, (*shown, False))


def _split_items(
    columns: Mapping[str, Foreign],
    roles: Mapping[str, str],
    of_documents: Mapping[str, str],
    attributes: Sequence[str],
) -> Columns:
    """Return rankings whose documents are one list, of objects or of ids."""
    if not {"ranking_id", "time"} <= roles.keys():
        raise UnusualColumnError
    count = len(columns[roles["items"]])
    columns, places = _keep_usual(columns, [columns[roles["items"]]])
    bounds, shown = open_list(columns[roles["items"]])
    plain = np.ones(len(places), dtype=np.uint8)
    unknown = []
    documents = {"doc_id": shown}
    if pa.types.is_struct(shown.type):
        if shown.null_count:
            _exclude(plain, bounds, np.flatnonzero(np.asarray(shown.is_null())))
        fields = [field.name for field in shown.type]
        inside = dict(zip(fields, map(decode, shown.flatten()), strict=True))
        names = find_list_roles(fields, of_documents)
        if len(inside) < len(fields) or "labels" in names or "doc_id" not in names:
            raise UnusualColumnError
        documents = {role: inside[names[role]] for role in ITEM_NAMES if role in names}
        has_some = (np.diff(bounds) > 0).astype(np.uint8)
        for name in fields:
            if name not in of_documents:
                read_has(inside[name])  # lists and objects are looked into by the reader
                unknown.append((name, has_some))
    shown_columns = _read_documents(documents, plain, bounds, nan_is_none=())
    heads = _read_rows(columns, roles, attributes, unknown, (bounds, plain))
    return Columns(count, places.tolist(), heads, (*shown_columns, False))


def _read_rows(
    columns: Mapping[str, Foreign],
    roles: Mapping[str, str],
    attributes: Sequence[str],
    unknown: list[tuple[str, NDArray[np.uint8]]],
    extent: tuple[NDArray[np.int64], NDArray[np.uint8]],
) -> tuple[Any, ...]:
    """Return what rows say of their rankings, whose bounds are given and which may be plain."""
    named: list[Any] = [
        (name, _read_attribute(columns[name])) for name in attributes if name in columns
    ]
    for role in ATTRIBUTES:
        if role in roles:
            named += _read_maps(columns[roles[role]])
    used = {*roles.values(), *attributes}
    of_rows = [(name, read_has(column)) for name, column in columns.items() if name not in used]
    heads = {role: columns[roles[role]] for role in ("ranking_id", "time", *HEADS) if role in roles}
    return _read_heads(heads, named, [*of_rows, *unknown], *extent)


def _keep_usual(
    columns: Mapping[str, Foreign], lists: Sequence[Foreign]
) -> tuple[Mapping[str, Foreign], NDArray[np.int64]]:
    """Keep the rows that have lists of one length each, and return where they are."""
    if not all(
        pa.types.is_list(column.type) or pa.types.is_large_list(column.type) for column in lists
    ):
        raise UnusualColumnError
    sizes = [fill_nulls(pc.list_value_length(column), -1) for column in lists]
    usual = np.logical_and.reduce([sizes[0] >= 0, *(size == sizes[0] for size in sizes)])
    if not usual.all():
        kept = pa.array(usual)
        columns = {name: column.filter(kept) for name, column in columns.items()}
    return columns, np.flatnonzero(usual)


def open_list(column: Foreign) -> tuple[NDArray[np.int64], Foreign]:
    """Return the bounds of lists, and their values."""
    offsets = to_array(column.offsets).astype(np.int64)
    first, last = (int(offsets[0]), int(offsets[-1])) if len(offsets) else (0, 0)
    return offsets - first, column.values.slice(first, last - first)


def _read_heads(
    heads: Mapping[str, Foreign],
    attributes: Sequence[Any],
    unknown: Sequence[tuple[str, NDArray[np.uint8]]],
    bounds: NDArray[np.int64],
    plain: NDArray[np.uint8],
) -> tuple[Any, ...]:
    others = [read_ids(heads[role]) if role in heads else None for role in HEADS]
    ids = read_ids(heads["ranking_id"])
    return bounds, plain, read_times(heads["time"]), ids, others, attributes, unknown


def _read_documents(
    columns: Mapping[str, Foreign],
    plain: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    *,
    nan_is_none: Sequence[str],
) -> tuple[Any, ...]:
    """Return ids, whether these are integers, ranks, scores and grades."""
    ids = columns["doc_id"]
    numbers: dict[str, NDArray[np.float64]] = {}
    for role in ("score", "relevance"):
        if role in columns:
            column = columns[role]
            values = numbers[role] = read_numbers(column)
            is_odd = np.isinf(values) if role in nan_is_none else ~np.isfinite(values)
            if column.null_count:
                is_odd &= to_array(column.is_valid())
            _exclude(plain, bounds, np.flatnonzero(is_odd))
    is_integer = pa.types.is_integer(ids.type)
    ranks = _read_ranks(columns["rank"]) if "rank" in columns else None
    return read_ids(ids), is_integer, ranks, numbers.get("score"), numbers.get("relevance")


def _exclude(plain: NDArray[np.uint8], bounds: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Mark the rankings of some rows as not plain."""
    plain[bounds.searchsorted(rows, side="right") - 1] = 0


def read_ids(column: Foreign) -> Texts:
    """Return texts, or integers as texts."""
    kind = column.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not is_text and not (pa.types.is_integer(kind) and kind != pa.uint64()):
        raise UnusualColumnError
    return *read_texts(column, "ids"), _read_missing(column)


def _read_missing(column: Foreign) -> NDArray[np.uint8]:
    """Return whether each value is there; empty where all are."""
    return read_has(column) if column.null_count else np.zeros(0, dtype=np.uint8)


def read_has(column: Foreign) -> NDArray[np.uint8]:
    """Return whether each value is there."""
    if pa.types.is_nested(column.type):
        raise UnusualColumnError
    return to_array(column.is_valid()).astype(np.uint8)


def _read_attribute(column: Foreign) -> Texts:
    if pa.types.is_floating(column.type):
        return read_ids(_write_floats(column))
    # A truth value is written as JSON has it.
    return read_ids(column.cast(pa.string()) if pa.types.is_boolean(column.type) else column)


def _write_floats(column: Foreign) -> Foreign:
    """Write numbers as the reader does, each different one once."""
    values = fill_nulls(column.cast(pa.float64()), 0.0)
    if not np.isfinite(values).all():
        raise UnusualColumnError
    # Compared by their bits, as the two zeros are written in two ways.
    bits, codes = np.unique(values.view(np.int64), return_inverse=True)
    texts = pa.array(list(map(repr, bits.view(np.float64).tolist())), pa.large_string())
    missing = to_array(column.is_null())
    return texts.take(pa.array(codes.reshape(-1), mask=missing))


def _read_maps(column: Foreign) -> list[Any]:
    """Return the attributes of rows, from a map or an object in each."""
    if pa.types.is_struct(column.type):
        names = [field.name for field in column.type]
        return [
            (name, _read_attribute(values))
            for name, values in zip(names, column.flatten(), strict=True)
        ]
    if not pa.types.is_map(column.type):
        raise UnusualColumnError
    offsets = to_array(column.offsets).astype(np.int64)
    if column.null_count and np.diff(offsets)[~to_array(column.is_valid())].any():
        raise UnusualColumnError
    first, size = int(offsets[0]), int(offsets[-1] - offsets[0])
    names, values = (part.slice(first, size) for part in (column.keys, column.items))
    return [(offsets - first, read_ids(names), _read_attribute(values))]


def read_times(
    column: Foreign,
) -> Texts | tuple[bool, NDArray[np.int64]] | NDArray[np.float64]:
    """Return times; null is no time."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return read_ids(column)
    if kind in {pa.float64(), pa.float32()}:
        return read_numbers(column)
    is_zoned = pa.types.is_timestamp(kind) and kind.tz in {"UTC", "+00:00"} and kind.unit == "us"
    if not is_zoned and not (pa.types.is_integer(kind) and kind != pa.uint64()):
        raise UnusualColumnError
    return is_zoned, fill_nulls(column.cast(pa.int64()), np.iinfo(np.int64).min)


def read_numbers(column: Foreign) -> NDArray[np.float64]:
    """Return numbers, null as NaN."""
    kind = column.type
    if kind not in {pa.float64(), pa.float32()} and not pa.types.is_integer(kind):
        raise UnusualColumnError
    try:
        return fill_nulls(column.cast(pa.float64()), np.nan)
    except pa.ArrowInvalid:  # an integer that no double is
        raise UnusualColumnError from None


def _read_ranks(column: Foreign) -> NDArray[np.int64]:
    """Return ranks; -1, which no rank is, in the place of what is not a whole number."""
    if pa.types.is_integer(column.type) and column.type != pa.uint64():
        return fill_nulls(column.cast(pa.int64()), -1)
    values = read_numbers(column)
    is_rank = (np.floor(values) == values) & (np.abs(values) < LARGEST_WHOLE)
    return np.where(is_rank, values, -1.0).astype(np.int64)


def find_list_roles(names: Sequence[str], roles: Mapping[str, str]) -> Mapping[str, str]:
    """Return the names of columns by role, from the roles of all names."""
    names_by_role: dict[str, str] = {}
    for name in names:
        role = roles.get(name)
        if role is not None and names_by_role.setdefault(role, name) != name:
            raise UnusualColumnError
    return names_by_role


def split_labels(columns: Mapping[str, Foreign], role_of: Mapping[str, str]) -> LabelColumns:
    """Return labels of which each is a row."""
    count = len(next(iter(columns.values()), ()))
    # A column without any value is not there.
    columns = {name: column for name, column in columns.items() if column.null_count < count}
    roles = find_list_roles(list(columns), role_of)
    if UBI_FIELD in columns or not {"ranking_id", "doc_id", "time"} <= roles.keys():
        raise UnusualColumnError
    column_of = {role: columns[name] for role, name in roles.items()}
    unknown = [(name, _read_present(columns[name])) for name in columns if name not in role_of]
    values = read_numbers(column_of["value"]) if "value" in column_of else None
    plain = np.ones(count, dtype=np.uint8)
    if values is not None:
        plain[np.isinf(values)] = 0
    return (
        plain,
        read_times(column_of["time"]),
        read_ids(column_of["ranking_id"]),
        read_ids(column_of["doc_id"]),
        read_ids(column_of["event_id"]) if "event_id" in column_of else None,
        _read_words(column_of["kind"]) if "kind" in column_of else None,
        _read_labels(column_of["labels"]) if "labels" in column_of else None,
        values,
        unknown,
    )


def _read_words(column: Foreign) -> Texts:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise UnusualColumnError
    return read_ids(column)


def _read_labels(
    column: Foreign,
) -> Texts | tuple[NDArray[np.int64], NDArray[np.uint8], Texts]:
    """Return a label a row, or the bounds of lists, which rows have one, and all labels."""
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        return _read_words(column)
    bounds, labels = open_list(column)
    return bounds, to_array(column.is_valid()).astype(np.uint8), _read_words(labels)


def _read_present(column: Foreign) -> NDArray[np.uint8]:
    """Return which rows have something in a column; NaN is nothing."""
    has = read_has(column)
    if pa.types.is_floating(column.type):
        has &= ~np.isnan(fill_nulls(column.cast(pa.float64()), 0))
    return has
