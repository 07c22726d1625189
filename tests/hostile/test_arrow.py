"""Arrow columns in memory that describe their memory wrongly end in an error, not in a signal."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs

from tests.hostile.children import outcomes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS = 4


def pack(*numbers: int, code: str = "i") -> pa.Buffer:
    return pa.py_buffer(struct.pack(f"<{len(numbers)}{code}", *numbers))


def texts(kind: pa.DataType, *offsets: int, text: bytes = b"hello") -> pa.Array:
    code = "q" if kind in {pa.large_string(), pa.large_binary()} else "i"
    buffers = [None, pack(*offsets, code=code), pa.py_buffer(text)]
    return pa.Array.from_buffers(kind, len(offsets) - 1, buffers)


def views(kind: pa.DataType, buffer: int, start: int) -> pa.Array:
    one = b"".join(struct.pack("<i4sii", 20, b"abcd", buffer, start) for _ in range(ROWS))
    return pa.Array.from_buffers(kind, ROWS, [None, pa.py_buffer(one), pa.py_buffer(b"x" * 30)])


def coded(*codes: int, values: pa.Array | None = None) -> pa.Array:
    values = pa.array(["a", "b"]) if values is None else values
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), values, safe=False)


def damaged_columns() -> dict[str, pa.Array]:
    """Columns of which no library may read all values."""
    back = texts(pa.string(), 0, 2**30, 2, 3, 4)
    return {
        "offset before the text": texts(pa.string(), 0, -5, 3, 4, 5),
        "offset after the text": back,
        "offset of 64 bits after the text": texts(pa.large_string(), 0, 2**50, 2, 3, 4),
        "bytes after the buffer": texts(pa.binary(), 0, 2**30, 2, 3, 4),
        "large bytes after the buffer": texts(pa.large_binary(), 0, 2**50, 2, 3, 4),
        "slice": texts(pa.string(), 0, 1, 2, 2**30, 3, 4, 5).slice(1, ROWS),
        "no UTF-8": texts(pa.string(), 0, 1, 2, 3, 4, text=b"\xff\xfe\xfd\xfc"),
        "view of no buffer": views(pa.string_view(), 9, 0),
        "view after its buffer": views(pa.string_view(), 0, 10**8),
        "view of bytes": views(pa.binary_view(), 0, 10**8),
        "code after the dictionary": coded(0, 1, 2**30, 1),
        "code before the dictionary": coded(0, 1, -7, 1),
        "damaged dictionary": coded(0, 1, 2, 3, values=back),
    }


DAMAGED = damaged_columns()


class Capsule:
    """What gives Arrow through the C interface, and is no PyArrow."""

    def __init__(self, inside: Any) -> None:  # noqa: ANN401 - PyArrow has no types
        self._inside = inside

    def __getattr__(self, name: str) -> object:
        if name in {"__arrow_c_array__", "__arrow_c_stream__"}:
            return getattr(self._inside, name)
        raise AttributeError(name)


NAMES = {"query": "query", "doc": "doc", "score": "score", "relevance": "relevance"}


def list_ways(column: pa.Array) -> Iterator[tuple[str, Callable[[], object]]]:
    """Return each way into the package that takes a column, by name."""
    numbers = pa.array(np.arange(ROWS) * 1.0)
    good = {
        "query": pa.array(["q"] * ROWS),
        "doc": pa.array([f"d{row}" for row in range(ROWS)]),
        "score": numbers,
        "relevance": numbers,
    }

    def table(**others: pa.Array) -> pa.Table:
        return pa.table(good | others)

    def evaluate(given: object, **others: object) -> object:
        return rs.evaluate(given, "nDCG@10", **(NAMES | others))

    for role in NAMES:
        yield f"table with {role}", lambda role=role: evaluate(table(**{role: column}))
    yield "attribute", lambda: evaluate(table(country=column), by="country")
    yield "stream", lambda: evaluate(Capsule(table(doc=column)))
    yield "array", lambda: evaluate(good | {"doc": Capsule(column)})
    yield "chunks", lambda: evaluate(good | {"doc": pa.chunked_array([column])})
    yield (
        "judgments",
        lambda: rs.evaluate(table(doc=column).drop("score"), table().drop("relevance"), "AP"),
    )
    judged = {"q": {"d0": 1}}
    for role in ("query", "doc"):
        run = table(**{role: column}).drop("relevance")
        yield f"run with {role}", lambda run=run: rs.evaluate(judged, run, "AP")
    inside = pd.arrays.ArrowExtensionArray(pa.chunked_array([column]))
    yield "pandas", lambda: evaluate(pd.DataFrame({**table().to_pydict(), "doc": inside}))
    yield (
        "labels",
        lambda: evaluate(table(labels=column), relevance=None, labels="labels", positive={"a": 1}),
    )
    yield "grades", lambda: rs.ndcg(column)
    yield "groups", lambda: rs.Rankings.from_groups(column, numbers, numbers)


WAYS = [name for name, _ in list_ways(pa.array(["a"] * ROWS))]


@pytest.mark.parametrize("way", WAYS)
def test_a_damaged_column_is_refused(way: str) -> None:
    outcomes = outcomes_of(dict(list_ways(column))[way] for column in DAMAGED.values())
    assert dict(zip(DAMAGED, outcomes, strict=True)) == dict.fromkeys(DAMAGED, "column_damaged")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
def test_good_columns_are_read_as_before(kind: pa.DataType) -> None:
    docs = pa.array(["a", "b", "c", "d"]).cast(kind)
    table = {"query": ["q"] * ROWS, "doc": docs, "score": [4, 3, 2, 1], "relevance": [1, 0, 0, 0]}
    for column in (docs, Capsule(docs), pl.Series(["a", "b", "c", "d"]), docs.slice(0)):
        found = rs.evaluate(table | {"doc": column}, "RR", policy="ties=doc_id", **NAMES)
        assert found["RR"] == 1.0
