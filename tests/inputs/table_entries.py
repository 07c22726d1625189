"""What may be given where a table of rankings is wanted, and what must come of it."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from itertools import starmap
from typing import NamedTuple

import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tests.inputs.array_entries import CUDA, Tensor

PLAIN = {
    "qid": ["q1", "q1", "q2", "q1", "q2"],
    "doc_id": ["a", "b", "a", "é", "c"],
    "relevance": [2, 0, 1, 1, 0],
    "score": [1.5, 2.5, 0.5, 2.5, 3.0],
}
IDS = ("qid", "doc_id")


class Stream:
    """Anything that gives a stream of Arrow, and nothing else."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class Batch:
    """Anything that gives one batch of Arrow, and nothing else."""

    def __init__(self, table):
        self._batch = table.combine_chunks().to_batches()[0]

    def __arrow_c_array__(self, requested_schema=None):
        return self._batch.__arrow_c_array__(requested_schema)


def ids_as(kind):
    """Give a frame of pandas with its ids in another type."""
    return lambda columns: pd.DataFrame(columns).astype(dict.fromkeys(ids_of(columns), kind))


def ids_of(columns):
    """Give the names of the columns of ids."""
    return [name for name in columns if name in IDS]


def categories(columns):
    """Give a frame whose ids are categories, of which most are not used."""
    frame = pd.DataFrame(columns)
    for name in ids_of(columns):
        used = list(dict.fromkeys(columns[name]))
        frame[name] = pd.Categorical(columns[name], categories=["no", *used[::-1], "never"])
    return frame


def arrow_as(convert):
    """Give a table of Arrow with its ids in another encoding."""
    return lambda columns: pa.table(
        dict(columns) | {name: convert(pa.array(columns[name])) for name in ids_of(columns)}
    )


def chunked(columns):
    """Give a table in chunks, of which one is empty and each begins in the middle of its memory."""
    table = pa.table(dict(columns))
    return pa.concat_tables([table.slice(0, 2), table.slice(2, 0), table.slice(2)])


OK = {
    "mapping of lists": dict,
    "mapping of arrays": lambda columns: {name: np.array(columns[name]) for name in columns},
    "mapping of columns of all libraries": lambda columns: {
        name: kind(columns[name])
        for name, kind in zip(columns, [pa.array, pl.Series, pd.Series, tuple], strict=False)
    },
    "texts of any length": lambda columns: {
        name: np.array(columns[name], "T") if name in IDS else columns[name] for name in columns
    },
    "pandas": pd.DataFrame,
    "F2 pandas, objects": ids_as(object),
    "F2 pandas, texts of Python": ids_as(pd.StringDtype("python")),
    "F2 pandas, texts of Arrow": ids_as("string[pyarrow]"),
    "pandas, of Arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "pandas, nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "F4 pandas, of another index": lambda columns: pd.DataFrame(columns, index=[7, 7, 1, 0, 2]),
    "F4 pandas, filtered": lambda columns: pd.concat([pd.DataFrame(columns)] * 2).iloc[5:],
    "F4 pandas, of two levels of rows": lambda columns: pd.DataFrame(columns).set_index(
        "qid", append=True, drop=False
    ),
    "F5 pandas, categories": categories,
    "pandas, sparse": lambda columns: pd.DataFrame(columns).assign(
        **{
            name: pd.arrays.SparseArray(columns[name], fill_value=0)
            for name in columns
            if name not in IDS
        }
    ),
    "pandas, not together": lambda columns: pd.DataFrame(dict(columns) | {"x": 1})[list(columns)],
    "polars": pl.DataFrame,
    "F6 polars, lazy": pl.LazyFrame,
    "F2 polars, categories": lambda columns: pl.DataFrame(columns).cast(
        dict.fromkeys(ids_of(columns), pl.Categorical)
    ),
    "F2 polars, enumerations": lambda columns: pl.DataFrame(columns).cast(
        dict.fromkeys(ids_of(columns), pl.Enum(["zz", "q2", "q1", "é", "c", "b", "a"]))
    ),
    "polars, in chunks": lambda columns: pl.concat(
        [pl.DataFrame(columns)[:2], pl.DataFrame(columns)[2:]], rechunk=False
    ),
    "polars, decimals": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col([name for name in columns if name not in IDS]).cast(pl.Decimal(20, 3))
    ),
    "arrow": lambda columns: pa.table(dict(columns)),
    "arrow, batch": lambda columns: pa.RecordBatch.from_pydict(dict(columns)),
    "arrow, reader": lambda columns: pa.table(dict(columns)).to_reader(),
    "arrow, chunked": chunked,
    "arrow, structure": lambda columns: pa.table(dict(columns)).to_struct_array().combine_chunks(),
    "F2 arrow, dictionary": arrow_as(pa.Array.dictionary_encode),
    "P7 arrow, bytes": arrow_as(lambda ids: ids.cast(pa.binary())),
    "P7 arrow, views of bytes": arrow_as(lambda ids: ids.cast(pa.binary()).cast(pa.binary_view())),
    "arrow, long": arrow_as(lambda ids: ids.cast(pa.large_string())),
    "arrow, views": arrow_as(lambda ids: ids.cast(pa.string_view())),
    "arrow, runs": arrow_as(pc.run_end_encode),
    "arrow, dictionary of views": arrow_as(
        lambda ids: pa.DictionaryArray.from_arrays(
            ids.dictionary_encode().indices, ids.dictionary_encode().dictionary.cast("string_view")
        )
    ),
    "anything with a stream": lambda columns: Stream(pa.table(dict(columns))),
    "anything with a batch": lambda columns: Batch(pa.table(dict(columns))),
    "narwhals of pandas": lambda columns: narwhals.from_native(pd.DataFrame(columns)),
    "narwhals of arrow": lambda columns: narwhals.from_native(pa.table(dict(columns))),
}
"""Ways to hold a table, which give the values of plain lists."""

NUMBERS = {
    **{
        kind: lambda n, kind=kind: np.array(n, kind)
        for kind in ("i1", "u2", "i4", "i8", "u8", ">i4")
    },
    "list": list,
    "pandas": pd.Series,
    "pandas, nullable": lambda n: pd.Series(n, dtype="Int32"),
    "pandas, objects": lambda n: pd.Series(n, dtype=object),
    "pandas, categories": pd.Categorical,
    "polars": pl.Series,
    "arrow, unsigned": lambda n: pa.array(n, pa.uint64()),
    "arrow, dictionary": lambda n: pa.array(n).dictionary_encode(),
    "arrow, chunked": lambda n: pa.chunked_array([n[:1], n[1:]]),
}
"""Columns of integers, which are ids by their decimal text."""


class Refused(NamedTuple):
    """A table with a column that is refused, and the row of the error."""

    id: str
    column: str
    make: Callable[[], object]
    code: str
    line: int | None = None


ZONES = [
    dt.datetime(2026, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=hours))) for hours in range(5)
]
N = (1, 2, 3, 4, 5)


def among(odd, at, others=N):
    """Put something odd at a 1-based place among others."""
    return [*others[: at - 1], odd, *others[at:]]


def objects(odd, at, others=("a", "b", "c", "d", "e")):
    """Give a column of objects of pandas with something odd at a place."""
    return pd.Series(among(odd, at, others), dtype=object)


TEXTS = ("a", "b", "c", "d", "e")
ROWS = (
    ("F2 floats of Arrow", "doc_id", lambda: pa.array([1.5, 2, 3, 4, 5]), "id_type", 1),
    ("F2 floats of pandas", "qid", lambda: pd.array([1.0] * 5, "Float64"), "id_type", 1),
    ("F2 truth values", "doc_id", lambda: np.array([True, False] * 2 + [True]), "id_type", 1),
    (
        "F2 bytes that are no text",
        "qid",
        lambda: pa.array([b"a", b"\xff"] * 2 + [b"c"]),
        "encoding",
        2,
    ),
    ("F2 a number among texts", "qid", lambda: objects(7, 3), "id_type", 3),
    ("F2 a text among numbers", "doc_id", lambda: objects("7", 4, N), "id_type", 4),
    ("F2 truth among integers", "qid", lambda: objects(True, 2, N), "id_type", 2),
    ("F2 lists", "qid", lambda: pa.array([["q"]] * 5), "id_type"),
    ("F2 structures", "qid", lambda: pa.array([{"a": 1}] * 5), "id_type"),
    ("F2 integers of 128 bits", "qid", lambda: pl.Series(N, dtype=pl.Int128), "id_type"),
    ("F3 NaN", "doc_id", lambda: objects(float("nan"), 4), "missing_id", 4),
    ("F3 NA among integers", "qid", lambda: pd.array(among(None, 2), "Int64"), "missing_id", 2),
    (
        "F3 null in a dictionary",
        "qid",
        lambda: pa.DictionaryArray.from_arrays([0, 1, 0, 1, 0], ["a", None]),
        "missing_id",
        2,
    ),
    (
        "F3 no category",
        "qid",
        lambda: pd.Categorical.from_codes([0, -1, 2, 1, 1], TEXTS),
        "missing_id",
        2,
    ),
    ("N5 a mask", "qid", lambda: np.ma.array(N, mask=[0, 1, 0, 0, 0]), "missing_id", 2),
    ("D11 a set", "qid", lambda: set(TEXTS), "id_type"),
    ("D11 a generator", "doc_id", lambda: iter(TEXTS), "id_type"),
    ("D11 a mapping", "qid", lambda: dict.fromkeys(TEXTS), "id_type"),
    ("D11 a text", "qid", lambda: "abcde", "id_type"),
    ("N17 a tensor of ids", "qid", lambda: Tensor(N, CUDA), "device_array"),
    ("D7 truth values", "score", lambda: pa.array([True] * 5), "score_not_number"),
    (
        "D7 truth values of pandas",
        "score",
        lambda: pd.array([True] * 5, "boolean"),
        "score_not_number",
    ),
    ("D7 truth among numbers", "score", lambda: objects(True, 3, N), "score_not_number", 3),
    ("D7 truth in a list", "score", lambda: among(True, 3), "score_not_number", 3),
    ("D9 NA", "score", lambda: pd.array(among(None, 3), "Float64"), "missing_score", 3),
    ("D9 complex numbers", "score", lambda: np.array(among(1j, 2)), "score_not_number"),
    ("D9 lists", "score", lambda: pl.Series([[1]] * 5), "missing_list"),
    ("D9 bytes", "score", lambda: b"12345", "score_not_number"),
    ("D11 a set of numbers", "score", lambda: set(N), "score_not_number"),
    ("D11 a generator of numbers", "relevance", lambda: iter(N), "rel_not_number"),
    ("N7 beyond 2^53", "score", lambda: np.array(among(2**53 + 1, 2)), "inexact_number", 2),
    (
        "N7 the same of Arrow",
        "relevance",
        lambda: pa.array(among(2**53 + 1, 2)),
        "inexact_number",
        2,
    ),
    (
        "N7 the same of pandas",
        "score",
        lambda: pd.array(among(2**53 + 1, 2), "Int64"),
        "inexact_number",
        2,
    ),
    (
        "N7 the same of Polars",
        "score",
        lambda: pl.Series(among(2**64 - 1, 2), dtype=pl.UInt64),
        "inexact_number",
        2,
    ),
    (
        "N7 a decimal beyond 2^53",
        "score",
        lambda: pa.array(among(decimal.Decimal(2**53 + 1), 2, tuple(map(decimal.Decimal, N)))),
        "inexact_number",
        2,
    ),
    ("F9 times of zones", "score", lambda: pd.Series(ZONES, dtype=object), "score_not_number", 1),
    ("N17 a tensor of scores", "score", lambda: Tensor(N, CUDA), "device_array"),
    ("N1 too short", "score", lambda: [1, 2, 3, 4], "length_mismatch"),
    ("N1 too long", "doc_id", lambda: [*TEXTS, "f"], "length_mismatch"),
    ("N2 a matrix", "score", lambda: np.ones((5, 1)), "array_shape"),
    ("N2 a matrix of texts", "qid", lambda: np.array([["q"]] * 5), "array_shape"),
)
REFUSED = [*starmap(Refused, ROWS)]
"""Columns that no table may hold in that place."""
