"""Columns with times beyond Python's, or with text that isn't UTF-8: what is wrong, and where."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAIN = pa.table(
    {
        "query_id": ["q0", "q0", "q1"],
        "doc_id": ["a", "b", "c"],
        "relevance": [1, 0, 2],
        "score": [1.0, 2.0, 3.0],
    }
)


def replace(column: str, values: pa.Array) -> pa.Table:
    """The plain table with another column."""
    return PLAIN.set_column(PLAIN.schema.get_field_index(column), column, values)


def write_parquet(folder: Path, table: pa.Table) -> Path:
    pq.write_table(table, folder / "table.parquet")
    return folder / "table.parquet"


def write_arrow(folder: Path, table: pa.Table) -> Path:
    with pa.ipc.new_file(folder / "table.arrow", table.schema) as writer:
        writer.write_table(table)
    return folder / "table.arrow"


FORMS: dict[str, Callable[[Path, pa.Table], Any]] = {
    "PyArrow": lambda _, table: table,
    "batches": lambda _, table: table.to_reader(),
    "mapping": lambda _, table: dict(zip(table.column_names, table.columns, strict=True)),
    "pandas": lambda _, table: table.to_pandas(),
    "pandas of Arrow": lambda _, table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": lambda _, table: pl.from_arrow(table),
    "lazy Polars": lambda _, table: pl.from_arrow(table).lazy(),
    "Parquet": write_parquet,
    "Arrow": write_arrow,
}
FAR = 10**17
TIMES = {
    "timestamp": pa.array([FAR, 0, None], pa.timestamp("ms")),
    "timestamp with a zone": pa.array([FAR, 0, -FAR], pa.timestamp("ms", "UTC")),
    "timestamp near": pa.array([0, 1, 2], pa.timestamp("us")),
    "nanoseconds": pa.array([0, 1, 2], pa.timestamp("ns")),
    "date": pa.array([2**31 - 1, 0, 1], pa.int32()).cast(pa.date32()),
    "duration": pa.array([FAR, 0, 1], pa.duration("ms")),
}
NAMED = {
    "date": "date|object",
    "duration": "duration|timedelta",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.parametrize(
    ("column", "code"), [("score", "score_not_number"), ("relevance", "rel_not_number")]
)
def test_times_are_no_numbers(tmp_path: Path, column: str, code: str, kind: str, form: str) -> None:
    if kind == "date" and form == "pandas":
        pytest.skip("pandas has no column of such dates")
    table = FORMS[form](tmp_path, replace(column, TIMES[kind]))
    said = NAMED.get(kind, "timestamp|datetime64")
    with pytest.raises(rs.FormatError, match=f"{column} as numbers, found ({said})") as raised:
        rs.evaluate(table, ["nDCG@10"])
    assert raised.value.code == code
    assert raised.value.file == (str(table) if form in {"Parquet", "Arrow"} else "table")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("column", ["query_id", "doc_id"])
def test_times_are_ids_however_far_they_are(tmp_path: Path, column: str, form: str) -> None:
    for unit in ("s", "ms"):
        if unit == "s" and form in {"Polars", "lazy Polars", "Parquet"}:
            continue  # these have no seconds
        ids = pa.array([FAR, 0, -FAR], pa.timestamp(unit))
        table = FORMS[form](tmp_path, replace(column, ids))
        found, expected = (
            rs.evaluate(one, "nDCG@10").per_query("nDCG@10").tolist()
            for one in (table, replace(column, pa.array(["x", "y", "z"])))
        )
        assert found == expected


def spoil(texts: list[bytes]) -> pa.Array:
    """Texts that PyArrow takes for UTF-8."""
    ends = [sum(map(len, texts[:count])) for count in range(len(texts) + 1)]
    offsets = pa.py_buffer(struct.pack(f"<{len(ends)}i", *ends))
    return pa.StringArray.from_buffers(len(texts), offsets, pa.py_buffer(b"".join(texts)))


BAD = spoil([b"x", b"x\xff", b"y"])


@pytest.mark.parametrize("form", ["PyArrow", "batches", "mapping", "Parquet", "Arrow"])
@pytest.mark.parametrize("column", ["query_id", "doc_id"])
@pytest.mark.parametrize(
    "values",
    [
        BAD,
        BAD.cast(pa.large_string()),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), BAD),
    ],
    ids=["text", "large text", "dictionary"],
)
def test_text_that_is_no_utf_8_is_refused_with_its_column(
    tmp_path: Path, column: str, values: pa.Array, form: str
) -> None:
    table = FORMS[form](tmp_path, replace(column, values))
    with pytest.raises(rs.FormatError, match=rf"column (in )?{column}\b.*UTF8.*index 1") as raised:
        rs.evaluate(table, ["nDCG@10"])
    if form in {"Parquet", "Arrow"}:
        assert raised.value.file == str(table)


@pytest.mark.parametrize("is_scattered", [False, True])
def test_a_gain_that_overflows_is_an_error_of_the_file_in_whatever_order_its_rows_are(
    tmp_path: Path, *, is_scattered: bool
) -> None:
    rows = 1 << 17  # the core is given half of them at once
    queries = [f"q{row % 2 if is_scattered else row // (rows // 2)}" for row in range(rows)]
    grades = [0.0] * (rows - 1) + [2000.0]
    columns = {"query_id": queries, "relevance": grades, "score": [*map(float, range(rows))]}
    path = write_parquet(tmp_path, pa.table(columns))
    overflows = "nDCG(gain='exp2')@5"
    for evaluate in (
        lambda: rs.evaluate(path, overflows),
        lambda: rs.Rankings.from_table(path).evaluate(overflows),
    ):
        with pytest.raises(rs.MeasureError) as raised:
            evaluate()
        assert (raised.value.code, raised.value.file) == ("gain_overflow", str(path))
