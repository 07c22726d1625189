"""Files that Spark writes are read without Spark, whatever it writes them with."""

from __future__ import annotations

import pytest
import rankscope as rs

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark", reason="PySpark is not installed; it is in make test-integrations")


MEASURES = ["nDCG@10", "AP", "RR"]
WRITTEN = {
    "as usual": {},
    "pages of version 2": {"parquet.writer.version": "v2"},
    "no dictionaries": {"parquet.enable.dictionary": "false", "parquet.writer.version": "v2"},
    "a Bloom filter": {"parquet.bloom.filter.enabled#doc_id": "true"},
    "zstd": {"compression": "zstd"},
    "no compression": {"compression": "none"},
}


@pytest.mark.parametrize("times", ["INT96", "TIMESTAMP_MICROS"])
@pytest.mark.parametrize("how", WRITTEN)
def test_a_file_of_spark_is_read(spark, tmp_path, how, times):
    rows = [
        (f"q{row // 10}", f"d{row}", row % 3, row * 7 % 11 / 2, None if row % 4 else "x", [row])
        for row in range(60)
    ]
    names = ("query_id", "doc_id", "relevance", "score", "note", "numbers")
    types = ("string", "string", "int", "double", "string", "array<int>")
    frame = spark.createDataFrame(rows, ", ".join(map(" ".join, zip(names, types, strict=True))))
    frame = frame.selectExpr("*", "current_timestamp() AS time", "map('k', score) AS map")
    spark.conf.set("spark.sql.parquet.outputTimestampType", times)
    frame.coalesce(1).write.options(**WRITTEN[how]).parquet(str(tmp_path / "table"))
    (path,) = (tmp_path / "table").glob("*.parquet")
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names[:4])}
    expected, found = (rs.evaluate(each, MEASURES) for each in (columns, str(path)))
    assert [found[name] for name in found] == [expected[name] for name in expected]
