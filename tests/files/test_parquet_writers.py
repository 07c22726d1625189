"""Intact Parquet files of PyArrow, Polars, DuckDB and Spark are read, however they are written."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest
import rankscope as rs

DATA = Path(__file__).parent / "data"
ROWS = 60
NOON = dt.datetime(2026, 1, 1, 12)  # noqa: DTZ001 - tables often have no time zone
JUDGED = pa.table(
    {
        "query_id": [f"q{row // 10}" for row in range(ROWS)],
        "doc_id": [f"d{row}" for row in range(ROWS)],
        "relevance": pa.array([row % 3 for row in range(ROWS)], pa.int32()),
        "score": [row * 7 % 11 / 2 for row in range(ROWS)],
    }
)
MEASURES = ["nDCG@10", "AP", "RR"]
ENCODINGS = (
    "DELTA_BYTE_ARRAY",
    "DELTA_LENGTH_BYTE_ARRAY",
    "DELTA_BINARY_PACKED",
    "BYTE_STREAM_SPLIT",
)


def add_columns() -> pa.Table:
    """Columns of all types beside those that are read."""
    numbers = pa.array(range(ROWS))
    beside = {
        "flag": [row % 2 == 0 for row in range(ROWS)],
        "note": [None if row % 3 else "x" * row for row in range(ROWS)],
        "nothing": pa.nulls(ROWS, pa.int64()),
        "tags": [[f"a{at}" for at in range(row % 4)] for row in range(ROWS)],
        "pair": [{"u": row, "v": [str(row)]} for row in range(ROWS)],
        "map": pa.array([[("k", row)] for row in range(ROWS)], pa.map_(pa.string(), pa.int64())),
        "time": [NOON + dt.timedelta(seconds=row) for row in range(ROWS)],
        "moment": pa.array([NOON] * ROWS, pa.timestamp("ns", "UTC")),
        "millis": pa.array([NOON] * ROWS, pa.timestamp("ms")),
        "day": [NOON.date()] * ROWS,
        "clock": [NOON.time()] * ROWS,
        "price": [decimal.Decimal(row) / 4 for row in range(ROWS)],
        "bytes": [b"\x00\xff"] * ROWS,
        "fixed": pa.array([b"abcd"] * ROWS, pa.binary(4)),
        "single": numbers.cast(pa.float32()),
        "tiny": numbers.cast(pa.int8()),
        "short": numbers.cast(pa.uint16()),
        "huge": numbers.cast(pa.uint64()),
        "category": JUDGED["query_id"].combine_chunks().dictionary_encode(),
    }
    table = JUDGED
    for name, column in beside.items():
        table = table.append_column(name, column if isinstance(column, pa.Array) else [column])
    return table


WIDE = add_columns()


def check(path: Path) -> None:
    """The values of a file are those of the same columns in memory."""
    expected, found = (rs.evaluate(each, MEASURES) for each in (JUDGED, str(path)))
    assert [found[name] for name in found] == [expected[name] for name in expected]


WRITTEN: dict[str, dict[str, Any]] = {
    **{name: {"compression": name} for name in ("none", "gzip", "brotli", "lz4")},
    "other encodings": {
        "use_dictionary": False,
        "column_encoding": dict(zip(JUDGED.column_names, ENCODINGS, strict=True)),
    },
    "many row groups": {"row_group_size": 1},
    "many small pages": {"data_page_size": 16, "write_batch_size": 4, "data_page_version": "2.0"},
    "times of 96 bits": {"use_deprecated_int96_timestamps": True},
    "no schema of Arrow": {"store_schema": False},
    "no statistics": {"write_statistics": False},
}


@pytest.mark.parametrize("how", WRITTEN)
def test_files_of_pyarrow_are_read(tmp_path: Path, how: str) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(WIDE, path, **WRITTEN[how])
    check(path)


def test_files_of_polars_and_duckdb_are_read(tmp_path: Path) -> None:
    polars, duckdb = map(pytest.importorskip, ("polars", "duckdb"))
    frame = polars.from_arrow(WIDE.drop_columns(["map"]))
    frame.write_parquet(tmp_path / "polars.parquet", row_group_size=7)
    check(tmp_path / "polars.parquet")
    with duckdb.connect() as connection:
        connection.register("wide", WIDE)
        copy = f"COPY wide TO '{tmp_path}/duckdb.parquet' (FORMAT PARQUET, PARQUET_VERSION V2)"
        connection.execute(copy)
    check(tmp_path / "duckdb.parquet")


@pytest.mark.parametrize("name", ["spark.parquet", "spark-v2.parquet"])
def test_files_of_spark_are_read(name: str) -> None:
    """With times of 96 bits, nulls and lists; the second has pages of version 2."""
    check(DATA / name)


class Keys(pe.KmsClient):  # type: ignore[misc] # PyArrow has no types
    """Keys that wrap others as text."""

    def __init__(self, _: object) -> None:
        super().__init__()

    def wrap_key(self, key_bytes: bytes, master_key_identifier: str) -> str:
        return f"{master_key_identifier}:{key_bytes.hex()}"

    def unwrap_key(self, wrapped_key: str, _: str) -> bytes:
        return bytes.fromhex(wrapped_key.partition(":")[2])


@pytest.mark.parametrize("plaintext_footer", [False, True])
def test_an_encrypted_file_is_refused(tmp_path: Path, *, plaintext_footer: bool) -> None:
    path = tmp_path / "table.parquet"
    settings = pe.EncryptionConfiguration(
        footer_key="f", column_keys={"c": ["score"]}, plaintext_footer=plaintext_footer
    )
    properties = pe.CryptoFactory(Keys).file_encryption_properties(
        pe.KmsConnectionConfig(), settings
    )
    pq.write_table(JUDGED, path, encryption_properties=properties)
    with pytest.raises(rs.FormatError, match="encrypted") as refused:
        rs.evaluate(str(path), MEASURES)
    assert refused.value.code == "parquet_invalid"
    assert refused.value.file == str(path)
