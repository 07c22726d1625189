"""Judgments, runs and tables in a bucket have the values of the same files here."""

from __future__ import annotations

import bz2
import gzip
import io

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from rankscope._cli import main

from tests.refusals import refused
from tests.services.buckets import serve_bucket

QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
ONE = b"q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\nq2 Q0 d3 1 1.0 t\n"
TWO = b"q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\nq2 Q0 d3 1 1.0 t\n"
COLUMNS = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d2", "d1", "d3"], "score": [2.0, 1.0, 1.0]}
VALUES = {"q1": {"RR": 0.5}, "q2": {"RR": 1.0}}


@pytest.fixture
def put(monkeypatch):
    """Puts a file into a bucket, and returns its address."""
    with serve_bucket(monkeypatch, "data") as system:

        def write(path, content):
            with system.open_output_stream(f"data/{path}", compression=None) as target:
                target.write(content)
            return f"s3://data/{path}"

        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")  # for deltalake
        yield write


def pack(table):
    packed = io.BytesIO()
    pq.write_table(pa.table(table), packed)
    return packed.getvalue()


def write_csv(columns):
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows), ""]).encode()


def test_files_of_every_format_are_read(put):
    qrels = put("qrels.txt", QRELS)
    runs = {
        "two.run": TWO,
        "two.run.gz": gzip.compress(TWO),
        "two.csv": write_csv(COLUMNS),
        "two.csv.bz2": bz2.compress(write_csv(COLUMNS)),
        "two.tsv": write_csv(COLUMNS).replace(b",", b"\t"),
        "trec.tsv": TWO.replace(b" ", b"\t"),
        "two.parquet": pack(COLUMNS),
    }
    for name, content in runs.items():
        run = put(f"files/{name}", content)
        assert rs.evaluate(qrels, run, "RR").to_dict() == VALUES
        assert rs.Rankings.from_run(qrels, run).evaluate("RR").to_dict() == VALUES


def test_folders_and_patterns_are_one_table(put):
    for at in range(3):
        for year in (2025, 2026):
            table = {"query_id": [f"q{at}{year}"], "relevance": [1], "score": [1.0]}
            put(f"log/year={year}/part-{at}.parquet", pack(table))
    put("log/_SUCCESS", b"")
    for address in ("s3://data/log", "s3://data/log/", "s3://data/log/**/*.parquet"):
        rankings = rs.Rankings.from_table(address, attributes=["year"])
        assert len(rankings.query_ids) == 6
        slices = rankings.evaluate("RR", by="year").slices
        assert slices is not None
        assert {key: row["queries"] for key, row in slices.to_dict().items()} == {
            "2025": 3,
            "2026": 3,
        }


def test_folders_and_patterns_are_several_runs(put, capsys):
    put("runs/a.run", ONE)
    put("runs/b.run", TWO)
    for address in ("s3://data/runs", "s3://data/runs/*.run"):
        found = rs.evaluate(QRELS, address, "RR")
        assert {name: each["RR"] for name, each in found.items()} == {"a.run": 1.0, "b.run": 0.75}
    qrels = put("qrels.txt", QRELS)
    assert main(["eval", qrels, "s3://data/runs", "-m", "RR"]) == 0
    out = capsys.readouterr().out
    assert out == "measure\ts3://data/runs/a.run\ts3://data/runs/b.run\nRR\t1.0000\t0.7500\n"


def test_a_delta_table_is_read(put):
    put("x", b"")
    deltalake.write_deltalake("s3://data/shown", pa.table(COLUMNS))
    for address in ("s3://data/shown", "s3://data/shown/"):
        assert rs.evaluate(QRELS, address, "RR").to_dict() == VALUES
    deltalake.DeltaTable("s3://data/shown").delete("query_id = 'q2'")
    assert rs.evaluate(QRELS, "s3://data/shown", "RR").to_dict()["q2"] == {"RR": 0.0}
    error = refused(
        lambda: rs.evaluate(QRELS, "s3://data/shown/*.parquet", "RR"), "lakehouse_table"
    )
    assert "s3://data/shown" in error.hint


def test_errors_name_the_address_and_the_line(put):
    run = put("bad.run", ONE + b"q3 Q0\n")
    error = refused(lambda: rs.evaluate(QRELS, run, "RR"), "field_count")
    assert (error.file, error.line) == (run, 4)
    run = put("bad.csv", write_csv({**COLUMNS, "score": [1, 2, "x"]}))
    error = refused(lambda: rs.evaluate(QRELS, run, "RR"), "score_not_number")
    assert (error.file, error.line) == (run, 4)
    for missing in ("s3://data/none.run", "s3://data/none.parquet", "s3://nowhere/x.run"):
        error = refused(lambda missing=missing: rs.evaluate(QRELS, missing, "RR"), "lake_read")
        assert error.file == missing
