"""Files of columns, by whatever they are written."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import os
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest
import rankscope as rs

from tests.inputs.tabled import parquet_of
from tests.refusals import refused

ROWS = 60
TABLE = pa.table(
    {
        "query_id": [f"q{row // 10}" for row in range(ROWS)],
        "doc_id": [f"d{row}" for row in range(ROWS)],
        "relevance": pa.array([row % 3 for row in range(ROWS)], pa.int32()),
        "score": [row * 7 % 11 / 2 for row in range(ROWS)],
    }
)


def test_a_page_that_does_not_fit_its_checksum_is_refused():
    good = parquet_of(TABLE, write_page_checksum=True, use_dictionary=False, compression="none")
    at = good.index(b"d33")
    damaged = good[:at] + b"e" + good[at + 1 :]
    refused(lambda: rs.evaluate(rs.File(damaged, "parquet"), "RR"), "parquet_invalid")


@pytest.mark.parametrize(
    "change",
    [{"query_id": list(range(ROWS))}, {"score": None}],
    ids=["another type", "no column"],
)
def test_files_that_do_not_fit_together_are_named(change, tmp_path):
    columns = dict(TABLE.to_pydict()) | change
    other = pa.table({name: column for name, column in columns.items() if column is not None})
    for name, table in (("a", TABLE), ("b", TABLE), ("c", other)):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    error = refused(lambda: rs.evaluate(tmp_path, "RR"), "schema_mismatch")
    assert str(tmp_path / "a.parquet") in error.summary
    assert str(tmp_path / "c.parquet") in error.summary


def test_numbers_of_several_widths_fit_together(tmp_path):
    """Grades of a file with unjudged rows are decimals where others are integers."""
    for name, grades in (("a", [1, 0]), ("b", [1.0, None])):
        table = {"query_id": [name] * 2, "score": [2.0, 1.0], "relevance": grades}
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    assert rs.evaluate(tmp_path, "P@2")["P@2"] == (1 / 2 + 1 / 2) / 2


def test_files_of_several_formats_are_no_table(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("query_id,score,relevance\nq,1,1\n")
    with pytest.raises(rs.errors.FormatError, match=r"a\.parquet.*b\.csv"):
        rs.evaluate(tmp_path, "RR")
    assert rs.evaluate(tmp_path / "*.csv", "RR")["RR"] == 1


def test_parquet_comes_through_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[parquet_of(TABLE)])
    writer.start()
    found = rs.evaluate(rs.File(path, "parquet"), "RR")
    writer.join()
    assert found["RR"] == rs.evaluate(TABLE, "RR")["RR"]


def test_texts_of_several_dictionaries_are_joined_as_texts():
    kind = pa.dictionary(pa.int8(), pa.string())
    batches = [
        pa.record_batch(
            {
                "query_id": ["q", "q"],
                "doc_id": pa.array([f"d{row}", f"e{row}"], kind),
                "score": [row, row + 0.5],
            }
        )
        for row in range(20)
    ]
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    run = rs.File(buffer.getvalue(), "arrow")
    assert rs.evaluate({"q": {"d0": 1}}, run, "RR")["RR"] == 1 / 40


DATA = Path(__file__).parent / "data"
NOON = dt.datetime(2026, 1, 1, 12)  # noqa: DTZ001 - tables often have no time zone
MEASURES = ["nDCG@10", "AP", "RR"]
ENCODINGS = (
    "DELTA_BYTE_ARRAY",
    "DELTA_LENGTH_BYTE_ARRAY",
    "DELTA_BINARY_PACKED",
    "BYTE_STREAM_SPLIT",
)


def add_columns():
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
        "category": TABLE["query_id"].combine_chunks().dictionary_encode(),
    }
    table = TABLE
    for name, column in beside.items():
        table = table.append_column(name, column if isinstance(column, pa.Array) else [column])
    return table


WIDE = add_columns()


def check(path):
    """The values of a file are those of the same columns in memory."""
    expected, found = (rs.evaluate(each, MEASURES) for each in (TABLE, str(path)))
    assert [found[name] for name in found] == [expected[name] for name in expected]


WRITTEN = {
    **{name: {"compression": name} for name in ("none", "gzip", "brotli", "lz4")},
    "other encodings": {
        "use_dictionary": False,
        "column_encoding": dict(zip(TABLE.column_names, ENCODINGS, strict=True)),
    },
    "many row groups": {"row_group_size": 1},
    "many small pages": {"data_page_size": 16, "write_batch_size": 4, "data_page_version": "2.0"},
    "times of 96 bits": {"use_deprecated_int96_timestamps": True},
    "no schema of Arrow": {"store_schema": False},
    "no statistics": {"write_statistics": False},
}


@pytest.mark.parametrize("how", WRITTEN)
def test_files_of_pyarrow_are_read(tmp_path, how):
    path = tmp_path / "table.parquet"
    pq.write_table(WIDE, path, **WRITTEN[how])
    check(path)


def test_files_of_polars_and_duckdb_are_read(tmp_path):
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
def test_files_of_spark_are_read(name):
    """With times of 96 bits, nulls and lists; the second has pages of version 2."""
    check(DATA / name)


class Keys(pe.KmsClient):
    """Keys that wrap others as text."""

    def __init__(self, _):
        super().__init__()

    def wrap_key(self, key_bytes, master_key_identifier):
        return f"{master_key_identifier}:{key_bytes.hex()}"

    def unwrap_key(self, wrapped_key, _):
        return bytes.fromhex(wrapped_key.partition(":")[2])


@pytest.mark.parametrize("plaintext_footer", [False, True])
def test_an_encrypted_file_is_refused(tmp_path, *, plaintext_footer):
    path = tmp_path / "table.parquet"
    settings = pe.EncryptionConfiguration(
        footer_key="f", column_keys={"c": ["score"]}, plaintext_footer=plaintext_footer
    )
    properties = pe.CryptoFactory(Keys).file_encryption_properties(
        pe.KmsConnectionConfig(), settings
    )
    pq.write_table(TABLE, path, encryption_properties=properties)
    error = refused(lambda: rs.evaluate(str(path), MEASURES), "parquet_invalid", "crypt")
    assert error.file == str(path)
